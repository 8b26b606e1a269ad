#!/usr/bin/env bash
# Prints the folder of the fetched parts; CacheDir in functions/local/postgres says the same to Go.
set -euo pipefail

if [ -n "${PORCHLIGHT_CACHE:-}" ]; then
    echo "$PORCHLIGHT_CACHE"
elif [ "$(id -u)" = 0 ]; then
    echo /var/cache/porchlight # the user that Postgres runs as cannot enter root's home
elif [ "$(uname)" = Darwin ]; then
    echo "$HOME/Library/Caches/porchlight"
else
    echo "${XDG_CACHE_HOME:-$HOME/.cache}/porchlight"
fi
