#!/bin/bash
# Copies results out of a disk image: runner/fetch.sh IMAGE FOLDER
#   Every run directory of \stallmeter\results becomes FOLDER/NAME-NNNN with the next free number; nothing is
#   overwritten. Prints the new directories. Exit status 1 if there is no result to fetch.
set -u
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1 MTOOLSRC=/dev/null
[ $# -eq 2 ] || { echo "usage: runner/fetch.sh IMAGE FOLDER" >&2; exit 2; }
image=$1 folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mcopy -s -n -Q -m -i "$image@@1M" ::/stallmeter/results "$work/" 2>"$work/err" || { echo "fetch.sh: $image: no results ($(head -n 1 "$work/err"))" >&2; exit 1; }
mkdir -p "$folder" || exit 1
found=1
for run in "$work"/results/*/; do
	[ -d "$run" ] || continue
	name=$(basename "$run")
	[ -n "$(ls -A "$run")" ] || { echo "fetch.sh: $name: nothing was written, left out" >&2; continue; }
	stem=${name%-[0-9][0-9][0-9][0-9]} number=1
	# mkdir fails if a number is taken, even by a concurrent fetch.
	while ! mkdir "$folder/$(printf '%s-%04d' "$stem" "$number")" 2>/dev/null; do
		[ -w "$folder" ] || { echo "fetch.sh: $folder: not writable" >&2; exit 1; }
		number=$((number + 1))
	done
	target=$folder/$(printf '%s-%04d' "$stem" "$number")
	cp -p "$run"* "$target/" || exit 1
	echo "$target"
	found=0
done
[ "$found" -eq 0 ] || echo "fetch.sh: $image: no results" >&2
exit $found
