#!/usr/bin/env bash
# Puts pgTAP beside the extensions of the embedded Postgres. It is plain SQL, so Debian's package for
# any server version does; apt checks its signature.
set -euo pipefail

extensions="$("$(dirname "$0")/cache.sh")/postgres-18.6.3/share/extension"
[ -e "$extensions/pgtap.control" ] && exit 0

if ! command -v apt-get >/dev/null; then
    echo "pgTAP is missing: put pgtap.control and pgtap--<version>.sql (from the pgtap source: make) into $extensions" >&2
    exit 1
fi
package() { apt-cache search --names-only '^postgresql-[0-9]+-pgtap$' | awk '{print $1}' | sort -V | tail -n 1; }
if [ -z "$(package)" ] && [ "$(id -u)" = 0 ]; then
    apt-get update -qq
fi
name=$(package)
if [ -z "$name" ]; then
    echo "pgTAP is missing and apt knows no postgresql-*-pgtap: run apt-get update as root, then again" >&2
    exit 1
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo "Fetching pgTAP ($name)"
apt-get download -qq "$name" 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
dpkg-deb -x ./*.deb files
# the upgrade scripts between versions are not needed; the control file comes last and completes it
version=$(sed -n "s/^default_version *= *'\(.*\)'.*/\1/p" files/usr/share/postgresql/*/extension/pgtap.control)
install -m 644 files/usr/share/postgresql/*/extension/"pgtap--$version.sql" "$extensions/"
install -m 644 files/usr/share/postgresql/*/extension/pgtap.control "$extensions/"
