#!/usr/bin/env bash
# Puts the Supabase CLI, pinned in tests/lint/package.json with its hashes, into the cache and prints its path.
# An interrupted run is thrown away and made again.
set -euo pipefail

pins="$(cd "$(dirname "$0")/../tests/lint" && pwd)"
if ! command -v npm >/dev/null; then
    echo "Supabase's linters come with its CLI, which npm fetches: install Node.js with npm" >&2
    echo "(apt-get install nodejs npm), then run this again" >&2
    exit 1
fi

cache=$(bash "$(dirname "$0")/cache.sh")
mkdir -p "$cache"
target="$cache/supabase-cli-$(sed -n 's/.*"supabase": "\(.*\)".*/\1/p' "$pins/package.json")"
if [ ! -e "$target" ]; then
    work=$(mktemp -d "$cache/.fetch.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    echo "Fetching the Supabase CLI (140 MB)" >&2
    cp "$pins"/*.json "$work"
    if ! npm ci --prefix "$work" --ignore-scripts --no-audit --no-fund >"$work/log" 2>&1; then
        cat "$work/log" >&2
        echo "npm could not fetch the Supabase CLI, for the reason above; mend that and run this again" >&2
        exit 1
    fi
    mv "$work" "$target"
fi
echo "$target/node_modules/.bin/supabase"
