#!/bin/bash
# The streaming kernels on this machine against likwid-bench (Debian's likwid) and a C loop of gcc -O3:
#   tests/bench/race.sh [ROUNDS [LEVEL/STORES/THREADS ...]]     without points all sixteen:
# L1, L2, L3, memory; regular and non-temporal stores; one and two threads. In a round every contender has as many goes, by turns
# and each as long, of which the best counts (likwid's are AVX without and with FMA and AVX-512 with FMA): a race of one draw against the best of
# several would be lost by equals. WIDEST=avx hides AVX-512 from all: a host that has none. Ours tries its widths in each before it is timed. Who begins changes from round to round. Of the two others the one with the higher median
# is the best; a round's ratio is ours to it. Printed: medians in GB/s, the median ratio, its spread.
set -u
out=${OUT:-out} rounds=${1:-10}
shift
race=$out/tests/bench/race
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
ours() { "${first[@]}" "$race" ours "${array[$1]}" "$2" "$3" "${gigabytes[$1]}"; }
gcc() { "${first[@]}" "$race" gcc "${array[$1]}" "$2" "$3" "${gigabytes[$1]}"; }
likwid() { # LEVEL THREADS STORES GO; 0 without likwid, or when it fails
	local test=stream_${units[$4]} all=$((array[$1] * 3))
	[ -n "$likwid" ] || { echo 0; return; }
	[ "$3" = nt ] && test=stream_mem_${units[$4]/avx512_fma/avx512} # it has no such one with FMA
	"${first[@]}" "$likwid" -t "$test" -i $((gigabytes[$1] * 1000000000 / all)) -w "S0:$((all * $2 / 1000))kB:$2" 2>/dev/null |
		awk '/^MByte\/s:/ { s = $2 / 1000 } END { printf "%.3f", s }'
}
printf '%-8s %-8s %s  %8s %8s %8s  %6s  %s\n' level stores threads ours likwid gcc ratio "lowest..highest"
for level in L1 L2 L3 memory; do for kind in regular nt; do for threads in 1 2; do
	case " ${*:-$level/$kind/$threads} " in *" $level/$kind/$threads "*) ;; *) continue ;; esac
	: >"$work"
	order=(ours likwid gcc)
	for ((i = 0; i < rounds; i++)); do
		declare -A best=([ours]=0 [likwid]=0 [gcc]=0)
		for go in "${!units[@]}"; do for who in "${order[@]}"; do
			found=$($who $level $threads $kind $go) || exit 3
			best[$who]=$(printf '%s\n' "${best[$who]}" "$found" | sort -g | tail -n 1)
		done; done
		echo "${best[ours]} ${best[likwid]} ${best[gcc]}" >>"$work"
		order=("${order[@]:1}" "${order[0]}")
	done
	awk -v level=$level -v kind=$kind -v threads=$threads '
		function median(v, n,   i, j, x) {
			for (i = 2; i <= n; i++) { x = v[i]; for (j = i - 1; j > 0 && v[j] > x; j--) v[j + 1] = v[j]; v[j + 1] = x }
			return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
		}
		{ o[NR] = a[NR] = $1; b[NR] = l[NR] = $2; c[NR] = g[NR] = $3 }
		END {
			lm = median(l, NR); gm = median(g, NR)
			for (i = 1; i <= NR; i++) r[i] = o[i] / (lm > gm ? b[i] > 0 ? b[i] : lm : c[i])
			m = median(r, NR); printf "%-8s %-8s %7d  %8.2f %8.2f %8.2f  %6.3f  %.3f..%.3f\n", level, kind, threads,
				median(a, NR), lm, gm, m, r[1], r[NR]
		}' "$work" | tee -a "$work.all"
done; done; done
awk '{ s += log($7); if ($7 < 0.98) lost = lost " " $1 "/" $2 "/" $3 } END {
	printf "geometric mean of %d ratios: %.3f%s\n", NR, exp(s / NR), lost ? "; below 0.98 at" lost : "; none below 0.98" }' "$work.all"
