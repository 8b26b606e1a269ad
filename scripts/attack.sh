#!/usr/bin/env bash
# Attacks a server of its own many times and at once, and prints what came of it as a table.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/parts.sh >/dev/null
exec go run ./tests/attack "$@"
