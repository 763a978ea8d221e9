#!/bin/bash
# tests/results/many.sh ONE FOLDER [INDEX...]: the runs of many.jq in folders machine-XXXX-0001 below FOLDER; prints the folders of those altered.
set -eu
one=$1 to=$2
shift 2
mkdir -p "$to"
seq 0 999 | while read -r i; do printf '%s/machine-%04x-0001\n' "$to" "$i"; done >"$to/.names"
xargs mkdir <"$to/.names"
jq -c --argjson altered "$(printf '%s\n' "$@" | jq -sc .)" -f "$(dirname "$0")/many.jq" "$one" |
	awk -v names="$to/.names" '{ getline folder <names; file = folder "/results.json"; print >file; close(file) }'
for i in "$@"; do sed -n "$((i + 1))p" "$to/.names"; done
rm "$to/.names"
