#!/bin/bash
# The streaming kernels on this machine against likwid-bench (Debian's likwid) and C loops of gcc -O3:
#   tests/bench/race.sh [ROUNDS [POINT ...]]     without points all twenty-six:
#   STREAM/LEVEL/STORES/THREADS: the triad (stream) in L1, L2, L3, memory, with regular and non-temporal (nt) stores, one and two threads;
#   copy, load, store, update and daxpy in the L2, one and two threads. Any other combination may be asked for.
# In a round every contender has as many goes, by turns
# and each as long, of which the best counts (likwid's are AVX without and with FMA and AVX-512 with FMA, where a stream multiplies): a race of one draw against the best of
# several would be lost by equals. WIDEST=avx hides AVX-512 from all: a host that has none. Ours tries its widths and offsets in each before it is timed. Who begins changes from round to round. Of the two others the one with the higher median
# is the best; a round's ratio is ours to it. Printed: medians in GB/s, the median ratio, its spread.
set -u
out=${OUT:-out} rounds=${1:-10}
[ $# = 0 ] || shift
race=$out/tests/bench/race
[ "${WIDEST:-avx512}" = avx512 ] || race=${race}_avx # gcc's loops would use AVX-512 otherwise
[ -x "$race" ] || { echo "race.sh: $race is missing: make $race" >&2; exit 3; }
units=(sse sse)
grep -qw avx /proc/cpuinfo && units=(avx avx)
grep -qw fma /proc/cpuinfo && units[1]=${units[1]}_fma
grep -qw avx512f /proc/cpuinfo && [ "${WIDEST:-avx512}" = avx512 ] && units+=(avx512_fma)
work=$(mktemp) || exit 3
trap 'rm -f "$work" "$work.all"' EXIT
# Where that is allowed, ahead of what else runs: among the processes of a group, and this group among the others. Not a
# real-time class: likwid-bench's threads wait for one another in a loop before they are on processors of their own.
first=(timeout 30)
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
declare -A gigabytes=([L1]=24 [L2]=24 [L3]=8 [memory]=6) # a thread: some 0.1 to 0.6 s
ours() { "${first[@]}" "$race" ours "$1" "${array[$2]}" "$3" "$4" "${gigabytes[$2]}"; } # STREAM LEVEL THREADS STORES GO
gcc() { "${first[@]}" "$race" gcc "$1" "${array[$2]}" "$3" "$4" "${gigabytes[$2]}"; }
likwid() { # 0 without likwid, or when it fails
	local unit=${units[$5]} all=$((array[$2] * arrays[$1]))
	[ -n "$likwid" ] || { echo 0; return; }
	# It has no non-temporal one with AVX-512 and FMA, and FMA only where there is a product and a sum.
	[ "$4" = nt ] && unit=${unit/avx512_fma/avx512}
	case $1 in stream | daxpy) ;; *) unit=${unit/_fma/} ;; esac
	[ "$4" = nt ] && unit=mem_$unit
	"${first[@]}" "$likwid" -t "$1_$unit" -i $((gigabytes[$2] * 1000000000 / (array[$2] * element_bytes[$1] / 8))) -w "S0:$((all * $3 / 1000))kB:$3" 2>/dev/null |
		awk '/^MByte\/s:/ { s = $2 / 1000 } END { printf "%.3f", s }'
}
# As likwid-bench counts them.
declare -A arrays=([stream]=3 [copy]=2 [load]=1 [store]=1 [update]=1 [daxpy]=2)
declare -A element_bytes=([stream]=24 [copy]=16 [load]=8 [store]=8 [update]=16 [daxpy]=24)
points=("$@")
if [ $# = 0 ]; then
	for level in L1 L2 L3 memory; do for stores in regular nt; do points+=("stream/$level/$stores/1" "stream/$level/$stores/2"); done; done
	for stream in copy load store update daxpy; do points+=("$stream/L2/regular/1" "$stream/L2/regular/2"); done
fi
printf '%-8s %-8s %-8s %s  %8s %8s %8s  %6s  %s\n' stream level stores threads ours likwid gcc ratio "lowest..highest"
for point in "${points[@]}"; do
	case $point in */*/*/*) ;; *) point=stream/$point ;; esac
	IFS=/ read -r stream level stores threads <<<"$point"
	if [ -z "${arrays[$stream]:-}" ] || [ -z "${array[$level]:-}" ] || [[ ! $stores/$threads =~ ^(regular|nt)/[12]$ ]]; then
		echo "race.sh: $point: no such point; STREAM/LEVEL/STORES/THREADS: ${!arrays[*]}, ${!array[*]}, regular or nt, 1 or 2" >&2
		exit 2
	fi
	: >"$work"
	order=(ours likwid gcc)
	for ((i = 0; i < rounds; i++)); do
		declare -A best=([ours]=0 [likwid]=0 [gcc]=0)
		for go in "${!units[@]}"; do for who in "${order[@]}"; do
			found=$($who "$stream" "$level" "$threads" "$stores" "$go") || exit 3
			best[$who]=$(printf '%s\n' "${best[$who]}" "$found" | sort -g | tail -n 1)
		done; done
		echo "${best[ours]} ${best[likwid]} ${best[gcc]}" >>"$work"
		order=("${order[@]:1}" "${order[0]}")
	done
	awk -v stream="$stream" -v level="$level" -v kind="$stores" -v threads="$threads" '
		function median(v, n,   i, j, x) {
			for (i = 2; i <= n; i++) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]; v[j + 1] = x }
			return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
		}
		{ o[NR] = a[NR] = $1; b[NR] = l[NR] = $2; c[NR] = g[NR] = $3 }
		END {
			lm = median(l, NR); gm = median(g, NR)
			for (i = 1; i <= NR; i++) r[i] = o[i] / (lm > gm ? b[i] > 0 ? b[i] : lm : c[i])
			m = median(r, NR); printf "%-8s %-8s %-8s %7d  %8.2f %8.2f %8.2f  %6.3f  %.3f..%.3f\n", stream, level, kind, threads,
				median(a, NR), lm, gm, m, r[1], r[NR]
		}' "$work" | tee -a "$work.all"
done
awk '{ s += log($8); if ($8 < 0.98) lost = lost " " $1 "/" $2 "/" $3 "/" $4 } END {
	printf "geometric mean of %d ratios: %.3f%s\n", NR, exp(s / NR), lost ? "; below 0.98 at" lost : "; none below 0.98" }' "$work.all"
