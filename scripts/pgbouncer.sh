#!/usr/bin/env bash
# Runs PgBouncer until it gets a signal, in front of a Postgres: the connections of the runtime login are
# handed out per transaction, as by the pooler of a hosted project, but fewer and with nothing to help.
#   pgbouncer.sh <chroot> <folder in it with the superuser's password in the file "password"> <port> <port of Postgres>
set -euo pipefail
root=$1 home=$2 port=$3 postgres=$4
as_nobody=(chroot --userspec=65534:65534 "$root" env -i PATH=/usr/sbin:/usr/bin:/bin)

"${as_nobody[@]}" sh -c "umask 077; cat >$home/users" <<<"\"porchlight_runtime\" \"$(cat "$root$home/password")\""
"${as_nobody[@]}" sh -c "cat >$home/pgbouncer.ini" <<EOF
[databases]
* = host=127.0.0.1 port=$postgres

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = scram-sha-256
auth_file = $home/users
pool_mode = transaction
; of each database
default_pool_size = 2
max_client_conn = 100
; no named statements: some poolers know none
max_prepared_statements = 0
; ask a server that came back at once
server_login_retry = 1
log_connections = 0
log_disconnections = 0
log_stats = 0
EOF
exec "${as_nobody[@]}" pgbouncer -q "$home/pgbouncer.ini"
