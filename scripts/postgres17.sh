#!/usr/bin/env bash
# Runs a new Postgres 17 until it gets a signal, in the chroot that debian17.sh made.
#   postgres17.sh <chroot> <folder in it with the superuser's password in the file "password"> <port>
set -euo pipefail
root=$1 home=$2 port=$3
as_nobody=(chroot --userspec=65534:65534 "$root" env -i PATH=/usr/lib/postgresql/17/bin:/usr/bin:/bin)

rm -rf "${root:?}$home/data"
"${as_nobody[@]}" initdb -D "$home/data" --username=supabase_admin --auth=scram-sha-256 --encoding=UTF8 \
    --pwfile="$home/password" --locale=C.UTF-8 --no-sync --no-instructions >/dev/null
exec "${as_nobody[@]}" postgres -D "$home/data" -p "$port" -c listen_addresses=127.0.0.1 \
    -c unix_socket_directories= -c fsync=off -c log_min_error_statement=panic -c log_error_verbosity=terse \
    -c timezone=UTC -c shared_preload_libraries=plpgsql,plpgsql_check
