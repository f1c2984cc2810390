#!/bin/sh
# PostgreSQL of the Compose house: made on the first start, with the password from the keys' volume.
set -eu
bin=$(echo /usr/lib/postgresql/*/bin)
if [ ! -s /data/PG_VERSION ]; then
  "$bin/initdb" -D /data -U prefill -E UTF8 --locale=C.UTF-8 --auth-local=trust --auth-host=scram-sha-256 \
    --pwfile=/secrets/postgres_password
  echo 'host all all all scram-sha-256' >>/data/pg_hba.conf
fi
exec "$bin/postgres" -D /data -k /tmp -c listen_addresses='*'
