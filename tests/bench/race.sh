#!/bin/bash
# The streaming kernels on this machine against likwid-bench's (Debian's likwid) and C loops of gcc -O3:
#   tests/bench/race.sh [ROUNDS [POINT ...]]     without points all twenty-six:
#   STREAM/LEVEL/STORES/THREADS: the triad (stream) in L1, L2, L3, memory, with regular and non-temporal (nt) stores, one and two threads;
#   copy, load, store, update and daxpy in the L2, one and two threads. Any other combination may be asked for.
# How a round is run, the head of tests/bench/race.c says: some 0.5 s. WIDEST=avx hides AVX-512 from all: a host that has none. Of the two others the one
# with the higher median is the best; a round's ratio is ours to it. Printed: medians in GB/s, the median ratio, its spread, and what was the fastest of
# ours, likwid-bench's and gcc's (bytes between arrays behind the +).
set -u
out=${OUT:-out} rounds=${1:-10}
[ $# = 0 ] || shift
race=$out/tests/bench/race
[ "${WIDEST:-avx512}" = avx512 ] || race=${race}_avx # gcc's loops would use AVX-512 otherwise
[ -x "$race" ] || { echo "race.sh: $race is missing: make $race" >&2; exit 3; }
work=$(mktemp) || exit 3
trap 'rm -f "$work" "$work.all"' EXIT
# Where that is allowed, ahead of what else runs: among the processes of a group, and this group among the others.
first=(timeout 300)
[ "$(nice -n -20 nice 2>/dev/null)" = -20 ] && first+=(nice -n -20)
if group=$(sed -n 's/.* nice //p' /proc/self/autogroup 2>/dev/null) && [ -n "$group" ] && { echo -20 >/proc/self/autogroup; } 2>/dev/null; then
	trap 'rm -f "$work" "$work.all"; echo "$group" >/proc/self/autogroup' EXIT
fi
likwid=$(command -v likwid-bench) || echo "likwid-bench: skipped, not installed (Debian package likwid)"
power() { # the largest power of two up to BYTES
	local a=4096
	while [ $((a * 2)) -le "$1" ]; do a=$((a * 2)); done
	echo $a
}
# sysfs first: what glibc answers for the L3 of some processors is that of all sockets' dies together
size() {
	local index
	for index in /sys/devices/system/cpu/cpu0/cache/index*; do
		[ "$(cat "$index/level")" = "$1" ] && [ "$(cat "$index/type")" != Instruction ] && numfmt --from=iec "$(cat "$index/size")" && return
	done
	echo "$2"
}
l1=$(size 1 32768) l2=$(size 2 262144) l3=$(size 3 8388608)
# Three arrays fill at most 3/4 of a cache, of an L3 for two threads; in memory each is as large as STREAM's rule wants, four L3s.
declare -A array=([L1]=$(power $((l1 / 4))) [L2]=$(power $((l2 / 4))) [L3]=$(power $((l3 / 8))) [memory]=$(power $((l3 * 4))))
points=("$@")
if [ $# = 0 ]; then
	for level in L1 L2 L3 memory; do for stores in regular nt; do points+=("stream/$level/$stores/1" "stream/$level/$stores/2"); done; done
	for stream in copy load store update daxpy; do points+=("$stream/L2/regular/1" "$stream/L2/regular/2"); done
fi
printf '%-8s %-8s %-8s %s  %8s %8s %8s  %6s  %-14s  %s\n' stream level stores threads ours likwid gcc ratio "lowest..highest" fastest
for point in "${points[@]}"; do
	case $point in */*/*/*) ;; *) point=stream/$point ;; esac
	IFS=/ read -r stream level stores threads <<<"$point"
	if [[ ! $stream =~ ^(stream|copy|load|store|update|daxpy)$ ]] || [ -z "${array[$level]:-}" ] || [[ ! $stores/$threads =~ ^(regular|nt)/[12]$ ]]; then
		echo "race.sh: $point: no such point; STREAM/LEVEL/STORES/THREADS: stream copy load store update daxpy, ${!array[*]}, regular or nt, 1 or 2" >&2
		exit 2
	fi
	"${first[@]}" "$race" "$stream" "${array[$level]}" "$threads" "$stores" "$rounds" ${likwid:+"$likwid"} >"$work" || exit 3
	awk -v stream="$stream" -v level="$level" -v kind="$stores" -v threads="$threads" '
		function median(v, n,   i, j, x) {
			for (i = 2; i <= n; i++) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]; v[j + 1] = x }
			return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
		}
		/^#/ { fastest = substr($0, 3); next }
		{ o[++n] = a[n] = $1; b[n] = l[n] = $2; c[n] = g[n] = $3 }
		END {
			lm = median(l, n); gm = median(g, n)
			if (lm + gm == 0) { print stream "/" level "/" kind "/" threads ": nobody to race against"; exit }
			for (i = 1; i <= n; i++) r[i] = o[i] / (lm > gm ? b[i] : c[i])
			m = median(r, n); printf "%-8s %-8s %-8s %7d  %8.2f %8.2f %8.2f  %6.3f  %.3f..%-7.3f  %s\n", stream, level, kind, threads,
				median(a, n), lm, gm, m, r[1], r[n], fastest
		}' "$work" | tee -a "$work.all"
done
awk '$8 > 0 { n++; s += log($8); if ($8 < 1) lost = lost " " $1 "/" $2 "/" $3 "/" $4 } END {
	printf "geometric mean of %d ratios: %.3f%s\n", n, n ? exp(s / n) : 0, lost ? "; below 1.000 at" lost : "; none below 1.000" }' "$work.all"
