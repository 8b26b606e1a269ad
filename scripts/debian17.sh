#!/usr/bin/env bash
# Makes a Debian with Postgres 17, pgvector, pgTAP, plpgsql_check and PgBouncer in the cache, and prints its
# folder. An interrupted run, or one with other packages, is thrown away and made again.
set -euo pipefail

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "Postgres 17 comes from Debian's packages in a chroot: that needs Linux, root and debootstrap" >&2
    echo "(apt-get install debootstrap). With a Postgres 17 of your own, name it in PORCHLIGHT_POSTGRES_URL" >&2
    echo "and run: go test ./tests/sql/... ./tests/e2e/..." >&2
    exit 1
fi

root="$(bash "$(dirname "$0")/cache.sh")/debian-trixie-pg17"
packages=postgresql-17,postgresql-17-pgvector,postgresql-17-pgtap,postgresql-17-plpgsql-check,pgbouncer
mkdir -p "$(dirname "$root")"
exec 9>"$root.lock"
flock 9 # of two runs one makes it
if [ "$(cat "$root/complete" 2>/dev/null)" != "$packages" ]; then
    if mountpoint -q "$root/proc"; then umount "$root/proc"; fi
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    echo "Making a Debian with Postgres 17 (about a minute, 700 MB)" >&2
    if ! debootstrap --force-check-gpg --variant=minbase --include="$packages" trixie "$root" >"$root.log" 2>&1; then
        tail -n 20 "$root.log" >&2
        exit 1
    fi
    rm -rf "$root"/var/cache/apt/archives/*.deb
    echo "$packages" >"$root/complete"
fi
echo "$root"
