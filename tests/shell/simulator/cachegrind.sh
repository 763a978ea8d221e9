#!/bin/bash
# Judge: cache hits and misses of one pass of a random chase against valgrind's cachegrind, with the same
# two levels, the same lines and the same order. Programs with P and with P + 1 passes are run; what
# differs is one pass in a steady state, free of start and end.
set -u
cd "$(dirname "$0")/../../.." || exit 2
out=${OUT:-out} work=$(mktemp -d) n=0 bad=0
trap 'rm -rf "$work"' EXIT
make -s judges >"$work/make" 2>&1 || { cat "$work/make"; echo "not ok 1 - judges build"; exit 1; }

# "D-misses LL-misses" of data reads of a run of `stream`. events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw
watched() {
	valgrind --tool=cachegrind --cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=262144,8,64 \
		--cachegrind-out-file="$work/cg" "$out/tests/judge/stream" "$@" 2>"$work/err" || return 1
	awk '/^events:/ { for (i = 2; i <= NF; i++) at[$i] = i } /^summary:/ { print $at["Dr"], $at["D1mr"], $at["DLmr"] }' "$work/cg"
}

# 16, 40, 100, 240, 300 and 600 KiB: within both levels, beyond the first, around and beyond the last.
for words in 2048 5120 12800 30720 38400 76800; do
	seed=$((words + 7))
	less=$(watched "$words" 2 "$seed") && more=$(watched "$words" 3 "$seed") || { cat "$work/err"; echo "not ok 1 - cachegrind runs"; exit 1; }
	a=$("$out/tests/judge/judge" stream tests/judge/two-level.machine "$words" 2 "$seed") &&
		b=$("$out/tests/judge/judge" stream tests/judge/two-level.machine "$words" 3 "$seed") || { echo "not ok 1 - the simulated machine runs"; exit 1; }
	read -r theirs ours < <(echo "$less $more $a $b" | awk '{
		print ($4 - $1) "/" ($5 - $2) "/" ($6 - $3), ($10 - $7) "/" ($10 - $7 - ($11 - $8)) "/" ($10 - $7 - ($11 - $8) - ($12 - $9)) }')
	n=$((n + 1))
	if [ "$theirs" = "$ours" ]; then
		echo "ok $n - $words words: loads/L1 misses/last-level misses $ours"
	else
		echo "not ok $n - $words words: cachegrind $theirs, simulated $ours"; bad=1
	fi
done
exit $bad
