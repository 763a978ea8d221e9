#!/bin/bash
# Each planted fault of tests/mutations still changes the file that its first line names, by each of its commands: one that changes a declaration
# alone would plant nothing (what finds it: mutations_long.sh).
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
applies() { # FILE
	local head source
	head=$(sed -n '1s/^# //p' "$1") source=${head%%:*}
	[ -r "$source" ] || return 1
	while IFS= read -r command; do
		! sed -e "$command" "$source" | cmp -s - "$source" || { echo "changes nothing: $command"; return 1; }
	done < <(sed '1d; s/|;s|/|\ns|/g' "$1")
}
for file in tests/mutations/*.sed; do
	check "mutation_$(basename "$file" .sed)_applies" applies "$file"
done
tap_end
