#!/bin/bash
# Every row of a core, on every built-in machine treated as a real one (MACHINES="..."): its values and verdicts are those of the same machine treated as
# simulated. tests/unit/closed_loop/test_real_rows.c
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
unit=$(ls "$out"/tests/unit/*/test_real_rows)
rows=$("$out/stallmeter" list --rows | awk '$1 ~ /\./ { print $1 }' | grep -vE '_all|node_|core_to_core|other_core|same_core|staircase|dram_loaded|sample|false_sharing|remote|distant' | paste -sd,)
for machine in ${MACHINES:-$("$out/stallmeter" list --machines | awk '{ print $1 }')}; do
	check "rows_of_real_$machine" env REAL_MACHINES="$machine" REAL_ROWS="$rows" timeout -k 5 900 "$unit"
done
tap_end
