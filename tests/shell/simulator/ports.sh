#!/bin/bash
# Judge: loops on the simulated Nehalem-EP and Core 2 against bounds worked out by hand from the published
# ports and latencies (tests/judge/port_bounds.txt), within 1 % or 50 cycles of 1000 iterations.
set -u
cd "$(dirname "$0")/../../.." || exit 2
out=${OUT:-out} work=$(mktemp -d) n=0 bad=0
trap 'rm -rf "$work"' EXIT
make -s judges >"$work/make" 2>&1 || { cat "$work/make"; echo "not ok 1 - judges build"; exit 1; }
for machine in nehalem-ep core2; do
	"$out/tests/judge/judge" loops "$machine" >"$work/$machine" || { echo "not ok 1 - $machine runs the loops"; exit 1; }
done
while read -r machine kernel bound why; do
	case $machine in \#*) continue;; esac
	milli=$(awk -v k="$kernel" '$1 == k { print $2 }' "$work/$machine")
	n=$((n + 1))
	if awk -v a="${milli:--1}" -v b="$bound" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 50 || d <= 0.01 * b) }'; then
		echo "ok $n - $machine $kernel: $milli: $why"
	else
		echo "not ok $n - $machine $kernel: ${milli:-nothing} instead of $bound: $why"; bad=1
	fi
done <tests/judge/port_bounds.txt
exit $bad
