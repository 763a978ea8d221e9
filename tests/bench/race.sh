#!/bin/bash
# The streaming kernels on this machine against likwid-bench (Debian's likwid) and a C loop of gcc -O3:
#   tests/bench/race.sh [ROUNDS]
# Sixteen points: L1, L2, L3, memory; regular and non-temporal stores; one and two threads. The contenders take turns;
# the ratio of a round is ours to the better of the two others. Printed: medians in GB/s, the median ratio, its spread.
set -u
out=${OUT:-out} rounds=${1:-10}
race=$out/tests/bench/race
units=sse
grep -qw avx /proc/cpuinfo && units=avx
grep -qw fma /proc/cpuinfo && units="$units ${units}_fma" # the better of both counts
first=""
[ "$(nice -n -20 nice 2>/dev/null)" = -20 ] && first="nice -n -20" # where that is allowed, ahead of what else runs
likwid=$(command -v likwid-bench) || echo "likwid-bench: skipped, not installed (Debian package likwid)"
half() { # the largest power of two of which three arrays fill at most 3/4 of BYTES
	local a=4096
	while [ $((a * 2 * 3)) -le $(($1 * 3 / 4)) ]; do a=$((a * 2)); done
	echo $a
}
size() { getconf "$1" 2>/dev/null | grep -E '^[1-9]' || echo "$2"; }
l1=$(size LEVEL1_DCACHE_SIZE 32768) l2=$(size LEVEL2_CACHE_SIZE 262144) l3=$(size LEVEL3_CACHE_SIZE 8388608)
declare -A array=([L1]=$(half "$l1") [L2]=$(half "$l2") [L3]=$(half $((l3 / 2))) [memory]=$(half $((l3 * 6))))
work=$(mktemp) || exit 3
trap 'rm -f "$work" "$work.all"' EXIT
theirs() { # BYTES THREADS KIND
	local test=stream_$4 total=$(($1 * 3 * $2 / 1000)) iterations=$((96 * 1048576 * 12 / $1))
	[ "$3" = nt ] && test=stream_mem_$4
	$first timeout 30 "$likwid" -t "$test" -i "$iterations" -w "S0:${total}kB:$2" 2>/dev/null | awk '/^MByte\/s:/ { printf "%.3f", $2 / 1000 }'
}
printf '%-8s %-8s %s  %8s %8s %8s  %6s  %s\n' level stores threads ours likwid gcc ratio "lowest..highest"
for level in L1 L2 L3 memory; do for kind in regular nt; do for threads in 1 2; do
	: >"$work"
	for ((i = 0; i < rounds; i++)); do
		a=$($first timeout 30 "$race" ours "${array[$level]}" $threads $kind) || exit 3
		b=0
		for unit in ${likwid:+$units}; do
			b=$(printf '%s\n' "$b" "$(theirs "${array[$level]}" $threads $kind "$unit")" | sort -g | tail -n 1)
		done
		c=$($first timeout 30 "$race" gcc "${array[$level]}" $threads $kind) || exit 3
		echo "$a ${b:-0} $c" >>"$work"
	done
	awk -v level=$level -v kind=$kind -v threads=$threads '
		function median(v, n,   i, j, x) {
			for (i = 2; i <= n; i++) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]; v[j + 1] = x }
			return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
		}
		{ a[NR] = $1; b[NR] = $2; c[NR] = $3; best = $2 > $3 ? $2 : $3; r[NR] = $1 / best }
		END { m = median(r, NR); printf "%-8s %-8s %7d  %8.2f %8.2f %8.2f  %6.3f  %.3f..%.3f\n", level, kind, threads,
			median(a, NR), median(b, NR), median(c, NR), m, r[1], r[NR] }' "$work" | tee -a "$work.all"
done; done; done
awk '{ s += log($7); if ($7 < 1) lost = lost " " $1 "/" $2 "/" $3 } END {
	printf "geometric mean of %d ratios: %.3f%s\n", NR, exp(s / NR), lost ? "; behind at" lost : "" }' "$work.all"
