#!/usr/bin/env bash
# Fetches the parts, builds the command and serves on 127.0.0.1 until Ctrl-C.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/parts.sh >/dev/null
echo 'Building bin/porchlight'
go build -o bin/porchlight ./functions/local
exec bin/porchlight serve --brands tests/corpora "$@"
