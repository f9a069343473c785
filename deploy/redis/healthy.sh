#!/bin/sh
# Ends with 0 if Redis answers to whoever knows the password, with what it has loaded.
REDISCLI_AUTH=$(cat "/run/microcoder/redis_password") || exit 1
export REDISCLI_AUTH
[ "$(redis-cli -h 127.0.0.1 ping)" = PONG ]
