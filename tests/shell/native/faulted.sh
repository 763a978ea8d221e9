#!/bin/bash
# The native backend on this processor with the leaves of others: `stallmeter simulate` makes CPUID fault and answers for a simulated machine, and kernels
# run on this processor, so values are judged too. Where the leaves tell other caches than this processor's, rows of levels may be noisy or marked.
# FULL=1: the full suite, and on every built-in machine.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
unit=$(ls "$out"/tests/unit/*/test_suite_native)
as() { timeout -k 5 300 "$out/stallmeter" simulate --machine "$1" -- "${@:2}"; }
# ends MACHINE SUITE: status 0, this machine's name and descriptor, values in half of the rows, the L1's latency within 10 % of that without another's
# leaves (where no neighbour disturbed it), and no row that failed or lacks a reason. Rows may contradict each other: the caches are not those told.
ends() {
	rm -rf "$work/run"
	as "$1" "$out/stallmeter" run --backend native --suite "$2" --out "$work/run" || return 1
	jq -e --slurpfile sim <(cat "$work"/sim/*/results.json) --slurpfile own <(cat "$work"/own/*/results.json) '
		def l1: [.rows[] | select(.name == "load.l1.latency") | .value | numbers];
		([.rows[] | select(.value != null)] | length) * 2 >= (.rows | length) and ([.machine.descriptor, .machine.brand] == ($sim[0].machine | [.descriptor, .brand])) and
		([l1[] / ($own[0] | l1[])] | all(. > 0.9 and . < 1.1)) and
		all(.rows[]; .status == "fault" or .status == "crashed" | not) and all(.rows[]; (.value != null and .status != "ok") or .reason != "")' \
		"$work"/run/*/results.json >/dev/null || { jq -c '.machine, (.rows[] | [.name, .status, .value, .reason])' "$work"/run/*/results.json; return 1; }
}
# cannot MACHINE: says why this processor cannot run programs that read the machine's leaves
cannot() {
	local seven
	grep -q cpuid_fault /proc/cpuinfo || { echo "this processor or kernel cannot make CPUID fault"; return; }
	rm -rf "$work/sim"
	"$out/stallmeter" run --backend sim --machine "$1" --suite load.l1.latency --out "$work/sim" >/dev/null
	seven=$(jq -r '.cpuid[] | select(.[0] == "0x7" and .[1] == 0) | .[3]' "$work"/sim/*/results.json) # EBX: bit 5 AVX2, bit 16 AVX-512
	((${seven:-0} >> 16 & 1)) && ! grep -qw avx512f /proc/cpuinfo && echo "this processor has no AVX-512"
	((${seven:-0} >> 5 & 1)) && ! grep -qw avx2 /proc/cpuinfo && echo "this processor has no AVX2"
}
check "native_quick_with_own_leaves" "$out/stallmeter" run --backend native --suite quick --out "$work/own"
machines="nehalem-ep haswell-ep alder-lake zen2 zen4 zen5"
[ -z "${FULL:-}" ] || machines=$("$out/stallmeter" list --machines | awk '{ print $1 }' | grep -vxE 'core2|pentium4') # their wrapper serialises by CPUID, which faults within windows
for machine in $machines; do
	why=$(cannot "$machine")
	if [ -n "$why" ]; then skip "native_as_$machine" "$why"; continue; fi
	check "native_quick_as_$machine" ends "$machine" quick
	check "native_rows_as_$machine" as "$machine" "$unit" '*_with*' # rows of TLBs map up to 16 GiB with the second levels told here
	[ -z "${FULL:-}" ] || check "native_full_as_$machine" ends "$machine" full
done
tap_end
