#!/usr/bin/env bash
# Writes the baseline migration from sql/, or prints it with --print. Until the first release it is the
# only migration; after it the file is frozen and each change gets a migration of its own.
#
# Everything stands in one DO block because the Supabase CLI cuts a file into statements itself, takes
# the "end" of a CASE for the end of a "begin atomic" body, and commits each statement: as one
# statement the baseline arrives whole or not at all.
set -euo pipefail
cd "$(dirname "$0")/.."
export LC_ALL=C # one order of the files everywhere

baseline=supabase/migrations/20261201000000_baseline.sql

generate() {
    echo "-- Generated from sql/ by scripts/baseline.sh. Edit there, then run make baseline."
    printf 'do $baseline$ begin execute $statements$\n'
    for file in sql/*/*.sql; do
        printf '\n-- ==== %s ====\n\n' "$file"
        cat "$file"
    done
    printf '\n$statements$; end $baseline$;\n'
}

if grep -lF -e '$baseline$' -e '$statements$' sql/*/*.sql >&2; then
    echo "baseline: these files use the quotes that the baseline itself needs" >&2
    exit 1
elif [ "${1:-}" = --print ]; then
    generate
else
    mkdir -p "$(dirname "$baseline")"
    generate >"$baseline.partial"
    mv "$baseline.partial" "$baseline"
    echo "$baseline: $(grep -c . "$baseline") lines of $(ls sql/*/*.sql | wc -l | tr -d ' ') files"
fi
