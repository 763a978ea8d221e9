#!/bin/bash
# Each planted fault of tests/mutations still changes the file that its first line names (what finds it: mutations_long.sh).
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
applies() { # FILE
	local head source
	head=$(sed -n '1s/^# //p' "$1") source=${head%%:*}
	[ -r "$source" ] && ! sed -f "$1" "$source" | cmp -s - "$source"
}
for file in tests/mutations/*.sed; do
	check "mutation_$(basename "$file" .sed)_applies" applies "$file"
done
tap_end
