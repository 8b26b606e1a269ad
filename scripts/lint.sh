#!/usr/bin/env bash
# Looks for what the compiler lets pass: go vet, staticcheck, gofumpt, and the grammar of the scripts.
set -euo pipefail
cd "$(dirname "$0")/.."

unformatted=$(go run mvdan.cc/gofumpt@v0.12.0 -l .)
if [ -n "$unformatted" ]; then
    printf 'not formatted (make fmt):\n%s\n' "$unformatted" >&2
    exit 1
fi
for script in scripts/*.sh .ci/run; do bash -n "$script"; done
go vet ./...
go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
echo "lint: nothing found"
