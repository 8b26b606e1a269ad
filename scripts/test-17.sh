#!/usr/bin/env bash
# Runs the SQL and end-to-end tests once more on Postgres 17, the version that Supabase runs, and Supabase's
# linters.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$(bash scripts/debian17.sh)
bash scripts/parts.sh >/dev/null
go build -o bin/count ./tests/count

as_nobody=(chroot --userspec=65534:65534 "$root" env -i PATH=/usr/lib/postgresql/17/bin:/usr/bin:/bin)
home=$("${as_nobody[@]}" mktemp -d /tmp/porchlight-XXXXXXXX) # mode 0700; the password lies in it
server=
cleanup() {
    if [ -n "$server" ]; then
        kill -INT "$server" 2>/dev/null || true
        wait "$server" || true
    fi
    rm -rf "${root:?}$home"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
"${as_nobody[@]}" sh -c "umask 077; cat >$home/password" <<<"$password"
"${as_nobody[@]}" initdb -D "$home/data" --username=supabase_admin --auth=scram-sha-256 --encoding=UTF8 \
    --pwfile="$home/password" --locale=C.UTF-8 --no-sync --no-instructions >/dev/null

start() { # returns whether the server answers; another program may hold the port
    port=$(shuf -i 20000-30000 -n 1)
    "${as_nobody[@]}" postgres -D "$home/data" -p "$port" -c listen_addresses=127.0.0.1 \
        -c unix_socket_directories= -c fsync=off -c log_min_error_statement=panic \
        -c log_error_verbosity=terse -c timezone=UTC -c shared_preload_libraries=plpgsql,plpgsql_check \
        >"$root$home/log" 2>&1 &
    server=$!
    for _ in $(seq 300); do
        "${as_nobody[@]}" pg_isready -q -h 127.0.0.1 -p "$port" && kill -0 "$server" && return
        kill -0 "$server" 2>/dev/null || return 1
        sleep 0.2
    done
    return 1
}
start || start || start || { tail -n 12 "$root$home/log" >&2; exit 1; }

"${as_nobody[@]}" postgres --version
export PORCHLIGHT_POSTGRES_URL="postgres://supabase_admin:$password@127.0.0.1:$port/postgres?sslmode=disable"
bash scripts/lint-17.sh
# one package at a time: they share the server
bin/count -p 1 ./tests/sql/... ./tests/e2e/...
