#!/bin/bash
# Booted from virtio and from USB storage, with 1 and with 4 processors on 2 nodes: #GP, #UD, #PF and others, raised
# on the boot processor and on each application processor: each is a status and the run goes on. Then job limits,
# jobs together, memory by page size and node, and a processor that is lost. The guest's own TAP is passed on.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh

boot() { # boot DEVICE PROCESSORS NODES SELFTEST
	local rc=0 title="$1, $2 processors, $3 nodes" log=$work/q/debugcon.log
	runner/qemu.sh --work "$work/q" --device "$1" --smp "$2" --nodes "$3" --options end=exit --test "$4" \
		"$out/stallmeter.img" >"$work/boot" 2>&1 || rc=$?
	check "$title: guest ends with status 0" sh -c 'cat "$1" "$2"; exit $3' - "$log" "$work/boot" $rc
	check "$title: all are seen" grep -F "# $2 processors, $3 memory nodes" "$log"
	for ((core = 0; core < $2; core++)); do
		for fault in '#GP' '#UD' '#PF'; do
			check "$title: core $core: $fault is a status" grep -E "^ok [0-9]+ - core $core: $fault .*status fault" "$log"
		done
	done
	check "$title: what could not be undone is told for each" test "$(grep -c 'had left on could not be restored' "$log")" -eq "$2"
	while read -r verdict number line; do
		check "$title: guest's $number $line" test "$verdict" = ok
	done < <(sed -n 's/\r$//; s/^not ok/not_ok/; /^\(ok\|not_ok\) [0-9]/p' "$log")
	check "$title: guest ran its whole plan" grep -E "^1\.\.$(grep -cE '^(not )?ok ' "$log")" "$log"
}
boot virtio 1 1 faults
boot usb 1 1 faults
boot virtio 4 2 faults
boot usb 4 2 all

# A processor that does not answer forbids a return to the firmware: the end becomes a reboot.
rc=0
runner/qemu.sh --work "$work/q" --smp 4 --options end=return --test lost "$out/stallmeter.img" >"$work/boot" 2>&1 || rc=$?
log=$work/q/debugcon.log
check "lost processor: the guest's checks pass" sh -c '! grep "^not ok" "$1" && grep "^ok .* it is counted as lost" "$1"' - "$log"
check "lost processor: said" grep "1 processors were lost on the way" "$log"
check "lost processor: a reboot instead of a return" grep "a processor was lost, or taken over from the firmware: rebooting instead of returning" "$log"
check "lost processor: the guest reset" test "$rc" -eq 5
tap_end
