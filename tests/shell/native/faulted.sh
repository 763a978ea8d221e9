#!/bin/bash
# The native backend on this processor with the leaves of others, by CPUID faulting (tests/shell/native/cpuid_as.c): kernels run at full speed, so values
# are judged too. The leaves are those of simulated machines; where they tell other caches than this processor's, rows of levels may be noisy or marked.
# FULL=1: the full suite, and on every built-in machine.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
unit=$(ls "$out"/tests/unit/*/test_suite_native)
${CC:-gcc} -std=gnu11 -O1 -Wall -Wextra -Werror -shared -fPIC -o "$work/cpuid_as.so" tests/shell/native/cpuid_as.c -ldl || exit 2
faulted() { CPUID_AS=$work/$1.cpuid LD_PRELOAD=$work/cpuid_as.so timeout -k 5 300 "${@:2}"; }
# leaves MACHINE: those of the simulated machine's first processor, in the form that cpuid_as.c reads
leaves() {
	"$out/stallmeter" run --backend sim --machine "$1" --suite load.l1.latency --out "$work/sim.$1" &&
		jq -r '.cpuid[] | map(tostring | ltrimstr("0x")) | join(" ")' "$work/sim.$1"/*/results.json >"$work/$1.cpuid" && [ -s "$work/$1.cpuid" ]
}
# ends MACHINE SUITE: status 0, this machine's name and descriptor, values in half of the rows, the L1's latency within 10 % of that without another's
# leaves (where no neighbour disturbed it), and no row that failed or lacks a reason. Rows may contradict each other: the caches are not those told.
ends() {
	rm -rf "$work/run"
	faulted "$1" "$out/stallmeter" run --backend native --suite "$2" --out "$work/run" || return 1
	jq -e --slurpfile sim <(cat "$work/sim.$1"/*/results.json) --slurpfile own <(cat "$work"/own/*/results.json) '
		def l1: [.rows[] | select(.name == "load.l1.latency") | .value | numbers];
		([.rows[] | select(.value != null)] | length * 2 >= 14) and (.machine.descriptor == $sim[0].machine.descriptor) and (.machine.brand == $sim[0].machine.brand) and ([l1[] / ($own[0] | l1[])] | all(. > 0.9 and . < 1.1)) and
		all(.rows[]; .status == "fault" or .status == "crashed" | not) and all(.rows[]; (.value != null and .status != "ok") or .reason != "")' \
		"$work"/run/*/results.json >/dev/null || { jq -c '.machine, (.rows[] | [.name, .status, .value, .reason])' "$work"/run/*/results.json; return 1; }
}
check "native_quick_with_own_leaves" "$out/stallmeter" run --backend native --suite quick --out "$work/own"
machines="nehalem-ep haswell-ep alder-lake zen2 zen4 zen5"
[ -z "${FULL:-}" ] || machines=$("$out/stallmeter" list --machines | awk '{ print $1 }' | grep -vxE 'core2|pentium4') # their wrapper serialises by CPUID, which faults within windows
for machine in $machines; do
	check "leaves_of_$machine" leaves "$machine"
	rc=0; faulted "$machine" true || rc=$?
	if [ "$rc" -eq 77 ]; then skip "native_as_$machine" "this processor, or its virtual machine, does not fault on CPUID"; continue; fi
	check "native_quick_as_$machine" ends "$machine" quick
	check "native_rows_as_$machine" faulted "$machine" "$unit" '*_with*' # rows of TLBs map up to 16 GiB with the second levels told here
	[ -z "${FULL:-}" ] || check "native_full_as_$machine" ends "$machine" full
done
tap_end
