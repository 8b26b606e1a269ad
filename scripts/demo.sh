#!/usr/bin/env bash
# Fetches the parts, builds the command and lets it show itself. Leaves nothing running.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/parts.sh >/dev/null
echo 'Building bin/porchlight'
go build -o bin/porchlight ./functions/local
exec bin/porchlight demo "$@"
