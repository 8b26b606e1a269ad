#!/usr/bin/env bash
# Runs Supabase's linters on the server in PORCHLIGHT_POSTGRES_URL; scripts/test-17.sh calls it.
set -euo pipefail
cd "$(dirname "$0")/.."

cli=$(bash scripts/supabase-cli.sh)
go run ./tests/lint "$cli"
