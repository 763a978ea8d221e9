#!/bin/bash
# The native backend on processors that this machine is not: QEMU's user mode executes the program with another processor's CPUID. Values are
# meaningless there. The processor is identified, and every row ends: measured, or unsupported with a reason.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
unit=$(ls "$out"/tests/unit/*/test_suite_native)
emulated() { timeout 300 qemu-x86_64 -cpu "$@" 2> >(grep -v "TCG doesn't support" >&2); }
# ends CPU DESCRIPTOR SUITE: exit status 0 or 1, this descriptor, and no row without a value but those that say why
ends() {
	local rc=0
	rm -rf "$work/run"
	emulated "$1" "$out/stallmeter" run --backend native --suite "$3" --out "$work/run" || rc=$?
	[ "$rc" -le 1 ] || { echo "exit status $rc"; return 1; }
	jq -e --arg d "$2" '(.machine.descriptor == $d) and (.rows | length >= 14) and all(.rows[]; .status == "fault" or .status == "crashed" | not) and
		all(.rows[]; (.value != null and .status != "ok") or .reason != "")' "$work"/run/*/results.json >/dev/null ||
		{ jq -c '.machine.descriptor, (.rows[] | select(.reason == "" or .status == "fault" or .status == "crashed") | [.name, .status, .value])' "$work"/run/*/results.json; return 1; }
}
while read -r cpu descriptor; do
	if ! qemu-x86_64 -cpu help | grep -qw -- "$cpu"; then skip "native_quick_on_$cpu" "this QEMU has no such processor"; continue; fi
	check "native_quick_on_$cpu" ends "$cpu" "$descriptor" quick
done <<'END'
EPYC-Milan zen3
EPYC-Rome zen2
EPYC-v1 zen1
Dhyana hygon
Opteron_G5 x86-64
phenom x86-64
Conroe core2
Nehalem nehalem-ep
SandyBridge sandy-bridge
Haswell haswell
Skylake-Server skylake-sp
Icelake-Server-v4 ice-lake-sp
Snowridge snow-ridge
END
check "native_full_on_EPYC-Milan" ends EPYC-Milan zen3 full
for cpu in EPYC-Milan EPYC-v1; do check "native_rows_by_leaves_on_$cpu" emulated "$cpu" "$unit" '*gives_values'; done
tap_end
