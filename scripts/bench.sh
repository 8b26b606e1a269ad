#!/usr/bin/env bash
# Measures on this machine and prints ratios within one run as a table. No test depends on it.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/parts.sh >/dev/null
exec go run ./tests/bench "$@"
