#!/usr/bin/env bash
# Runs every test (or those of the packages named), starts and stops what they need, prints the counts last.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/parts.sh >/dev/null
bash scripts/pgtap.sh
go build -o bin/count ./tests/count
exec bin/count "${@:-./...}"
