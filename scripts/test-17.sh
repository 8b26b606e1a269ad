#!/usr/bin/env bash
# Runs the SQL and end-to-end tests once more on Postgres 17, the version that Supabase runs, and Supabase's
# linters; then all that connect to it through PgBouncer in transaction mode.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$(bash scripts/debian17.sh)
bash scripts/parts.sh >/dev/null
go build -o bin/count ./tests/count

as_nobody=(chroot --userspec=65534:65534 "$root" env -i PATH=/usr/lib/postgresql/17/bin:/usr/bin:/bin)
home=$("${as_nobody[@]}" mktemp -d /tmp/porchlight-XXXXXXXX) # mode 0700; the password lies in it
processes=()
cleanup() {
    for process in "${processes[@]}"; do
        kill -QUIT "$process" 2>/dev/null || true
        wait "$process" || true
    done
    rm -rf "${root:?}$home"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

start() { # <name> <argument>…: runs scripts/<name>.sh on a port that no other program holds, and sets port
    for _ in 1 2 3; do
        port=$(shuf -i 20000-30000 -n 1)
        bash "scripts/$1.sh" "$root" "$home" "$port" "${@:2}" >"$root$home/$1.log" 2>&1 &
        processes=("$!" "${processes[@]}") # the last one ends first
        for _ in $(seq 300); do
            "${as_nobody[@]}" pg_isready -q -h 127.0.0.1 -p "$port" && kill -0 "${processes[0]}" && return
            kill -0 "${processes[0]}" 2>/dev/null || break
            sleep 0.2
        done
    done
    tail -n 12 "$root$home/$1.log" >&2
    exit 1
}

password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
"${as_nobody[@]}" sh -c "umask 077; cat >$home/password" <<<"$password"
start postgres17
export PORCHLIGHT_POSTGRES_URL="postgres://supabase_admin:$password@127.0.0.1:$port/postgres?sslmode=disable"
start pgbouncer "$port"

connecting=(./tests/e2e/... ./functions/internal/store/... ./functions/internal/app/...)
code=0
bash scripts/lint-17.sh || code=1
# one package at a time: they share the server
"${as_nobody[@]}" postgres --version
bin/count -p 1 ./tests/sql/... "${connecting[@]}" || code=1
chroot "$root" pgbouncer --version | head -n 1
PORCHLIGHT_POOLER="127.0.0.1:$port" bin/count -p 1 "${connecting[@]}" || code=1
exit "$code"
