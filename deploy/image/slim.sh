#!/bin/sh
# Makes installed packages smaller without changing what they do: slim.sh SITE_PACKAGES OTHER_SITE_PACKAGES
#
# - tests of packages go: nothing imports them (numpy and matplotlib have 30 MB of them);
# - extension modules lose their symbols for debuggers (60 MB); libraries in *.libs stay as their wheels' tools made them;
# - packages of both folders are kept once, in the first, where all their files are the same.
set -eu

for folder in "$1" "$2"; do
    find "$folder" -type d -name tests -prune -exec rm -rf {} +
    find "$folder" -path '*.libs' -prune -o -type f -name '*.cpython-*.so' -exec strip --strip-unneeded {} +
done

for part in numpy numpy.libs; do
    if diff -rq --no-dereference "$1/$part" "$2/$part" >&2; then
        rm -rf "${2:?}/$part"
        ln -s "$1/$part" "$2/$part"
    fi
done
