#!/usr/bin/env bash
# Proves that the baseline is what sql/ says now, and that both make the same schema.
set -euo pipefail
cd "$(dirname "$0")/.."

bash scripts/parts.sh >/dev/null
go test -count=1 -run '^TestSchema' ./tests/house
echo "verify: supabase/migrations is what sql/ says"
