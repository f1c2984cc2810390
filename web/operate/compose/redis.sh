#!/bin/sh
# Redis of the Compose house: the password comes from the keys' volume and goes in by standard input, not by argument.
set -eu
printf 'port 6379\nbind 0.0.0.0\nprotected-mode no\ndir /data\nappendonly yes\nappendfsync everysec\nsave ""\nrequirepass %s\n' \
  "$(cat /secrets/redis_password)" | exec redis-server -
