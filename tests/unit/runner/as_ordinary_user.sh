#!/bin/sh
# Runs a test program as an ordinary user when the tests run as root; elsewhere all of them do so anyway.
set -eu
[ "$(id -u)" = 0 ] || exit 77
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp "$1" "$dir/program" # the tree may be closed to others
chmod 755 "$dir" "$dir/program"
cd "$dir"
setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$dir/program"
