# One line a target: what it does is in the script of that name.
.DEFAULT_GOAL := help
.PHONY: help demo serve test test-17 build baseline fmt lint verify check bench attack

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "make %-9s %s\n", $$1, $$2 }' Makefile

demo: ## a rep's questions answered from two fictional brands, end to end, without a key
	@bash scripts/demo.sh

serve: ## the same, kept running on 127.0.0.1 with a database that stays
	@bash scripts/serve.sh

test: ## every test: Go, SQL, end to end; prints the counts last
	@bash scripts/test.sh

test-17: ## those of SQL and end to end on Postgres 17, straight and through PgBouncer (Debian as root)
	@bash scripts/test-17.sh

build: ## bin/porchlight and the Lambda zips
	@bash scripts/build.sh

baseline: ## write supabase/migrations from sql/
	@bash scripts/baseline.sh

fmt: ## format the Go code
	@go run mvdan.cc/gofumpt@v0.12.0 -w .

lint: ## vet, staticcheck, gofumpt
	@bash scripts/lint.sh

verify: ## prove that supabase/migrations is what sql/ says
	@bash scripts/verify.sh

check: lint verify test ## lint, verify and test

bench: ## ratios that matter, as a table
	@bash scripts/bench.sh

attack: ## attack a server many times and at once; a table of what came of it
	@bash scripts/attack.sh
