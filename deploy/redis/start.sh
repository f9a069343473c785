#!/bin/sh
# Starts Redis with a password, that of REDIS_PASSWORD or a new one; the API and the workers read the queue's URL from the shared
# folder. Standard input carries the configuration, so that no command line shows the password.
set -eu
folder=/run/microcoder
umask 022
if [ -n "${REDIS_PASSWORD:-}" ]; then
    password=$REDIS_PASSWORD
elif [ -s "$folder/redis_password" ]; then # the others may still hold it
    password=$(cat "$folder/redis_password")
else
    password=$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')
fi
case $password in *[!A-Za-z0-9_.~-]*)
    echo "REDIS_PASSWORD may hold letters, digits and _ . ~ - only: it becomes part of a URL" >&2
    exit 2 ;;
esac
leave() { # write a file so that nobody reads half of it
    printf '%s\n' "$2" >"$folder/.$1"
    mv "$folder/.$1" "$folder/$1"
}
leave redis_password "$password"
leave microcoder_queue "redis://:$password@${REDIS_HOST:-redis}:6379/0"
unset REDIS_PASSWORD
# noeviction: a full Redis refuses new work, and drops none that it has accepted.
exec redis-server - <<CONFIG
dir /data
appendonly yes
appendfsync everysec
save ""
maxmemory ${REDIS_MAXMEMORY:-1gb}
maxmemory-policy noeviction
protected-mode no
requirepass $password
CONFIG
