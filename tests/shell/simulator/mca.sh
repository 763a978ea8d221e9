#!/bin/bash
# Judge: cycles an iteration of every kernel's loop on the simulated Haswell-EP and Skylake-SP against
# llvm-mca, within 5 %. Where they differ, tests/judge/mca_reviewed.txt has the reason: "MACHINE KERNEL reason";
# a reason that is no longer needed fails too. Loops with data-dependent control flow are not mca's.
set -u
cd "$(dirname "$0")/../../.." || exit 2
out=${OUT:-out} work=$(mktemp -d) n=0 bad=0
trap 'rm -rf "$work"' EXIT
mca=$(command -v llvm-mca || ls /usr/bin/llvm-mca-* 2>/dev/null | tail -n 1)
[ -n "$mca" ] || { echo "not ok 1 - llvm-mca is not installed"; exit 1; }
make -s judges >"$work/make" 2>&1 || { cat "$work/make"; echo "not ok 1 - judges build"; exit 1; }
objdump -d --no-show-raw-insn -j .kernels "$out/asm/blob.o" >"$work/listing"

# The loop's body: from the label KERNEL.loop to the branch back to it.
body() {
	awk -v label="<$1.loop>:" '
		$2 == label { on = 1; next }
		on && /^[0-9a-f]+ <.*>:$/ { next }
		on { line = $0; sub(/^ *[0-9a-f]+:[ \t]*/, "", line); sub(/ *#.*/, "", line); back = line ~ label_of(label)
		     gsub(/<[^>]*>/, "", line); if (line ~ /^j/) sub(/ [0-9a-f]+ *$/, " 0", line); print line; if (back) exit }
		function label_of(l) { sub(/:$/, "", l); gsub(/[.+]/, "\\\\&", l); return "^j.*" l }
	' "$work/listing"
}

# The reason for a machine and a kernel, if there is one; patterns as the shell has them.
reviewed() {
	local machine kernel reason
	while read -r machine kernel reason; do
		# shellcheck disable=SC2254
		case $machine in \#*) continue;; esac
		case $1 in $machine) case $2 in $kernel) echo "$reason"; return;; esac;; esac
	done <tests/judge/mca_reviewed.txt
}

for pair in haswell-ep:haswell skylake-sp:skylake-avx512; do
	machine=${pair%%:*} model=${pair##*:}
	"$out/tests/judge/judge" loops "$machine" >"$work/sim" || { echo "not ok 1 - $machine runs the loops"; exit 1; }
	while read -r kernel milli instructions; do
		case $kernel in k_branch_*) continue;; esac
		body "$kernel" >"$work/body.s"
		[ -s "$work/body.s" ] || { n=$((n + 1)); echo "not ok $n - $machine $kernel: its loop was not found"; bad=1; continue; }
		lines=$(grep -c . "$work/body.s") # more than an iteration has: data-dependent, or two iterations a turn
		turns=$((2 * instructions == lines ? 500 : 1000 * (instructions > lines ? instructions / lines : 1))) # of the loop, in 1000 iterations
		cycles=$("$mca" -mtriple=x86_64 -mcpu="$model" -iterations="$turns" "$work/body.s" 2>"$work/err" | awk '/^Total Cycles:/ { print $3 }')
		n=$((n + 1))
		reason=$(reviewed "$machine" "$kernel")
		if [ -z "$cycles" ]; then
			echo "not ok $n - $machine $kernel: llvm-mca: $(head -n 1 "$work/err")"; bad=1
		elif awk -v a="$milli" -v b="$cycles" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(d <= 0.05 * b + 5) }'; then
			echo "ok $n - $machine $kernel: $milli against $cycles cycles in 1000 iterations"
		elif [ -n "$reason" ]; then
			echo "ok $n - $machine $kernel: $milli against $cycles: $reason"; echo "$reason" >>"$work/used"
		else
			echo "not ok $n - $machine $kernel: $milli cycles in 1000 iterations, llvm-mca $cycles"; bad=1
		fi
	done <"$work/sim"
done
# A reason that explains nothing any more is stale.
while read -r machine _ reason; do
	case $machine in \#*) continue;; esac
	grep -qxF "$reason" "$work/used" || { n=$((n + 1)); echo "not ok $n - a reason that nothing needs: $reason"; bad=1; }
done <tests/judge/mca_reviewed.txt
exit $bad
