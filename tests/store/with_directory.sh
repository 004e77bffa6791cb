#!/bin/sh
# Runs a program in a fresh directory that is removed afterwards: with_directory.sh PROGRAM ARG…; @DIR@ in an argument is
# the directory.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
program=$1
shift
for arg in "$@"; do
    shift
    set -- "$@" "$(printf '%s' "$arg" | sed "s|@DIR@|$dir|")"
done
"$program" "$@"
