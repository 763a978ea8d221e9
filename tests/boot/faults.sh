#!/bin/bash
# #GP, #UD, #PF and others, raised on the boot processor and on each application processor of a booted guest:
# each is a status and the run goes on. The guest's own TAP is passed on.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh

boot() { # boot DEVICE PROCESSORS NODES
	local rc=0 title="$1, $2 processors, $3 nodes" log=$work/q/debugcon.log
	runner/qemu.sh --work "$work/q" --device "$1" --smp "$2" --nodes "$3" --options end=exit --test faults \
		"$out/stallmeter.img" >"$work/boot" 2>&1 || rc=$?
	check "$title: guest ends with status 0" sh -c 'cat "$1" "$2"; exit $3' - "$log" "$work/boot" $rc
	check "$title: all are seen" grep -F "# $2 processors, $3 memory nodes" "$log"
	for ((core = 0; core < $2; core++)); do
		for fault in '#GP' '#UD' '#PF'; do
			check "$title: core $core: $fault is a status" grep -E "^ok [0-9]+ - core $core: $fault .*status fault" "$log"
		done
	done
	while read -r verdict number line; do
		check "$title: guest's $number $line" test "$verdict" = ok
	done < <(sed -n 's/\r$//; s/^not ok/not_ok/; /^\(ok\|not_ok\) [0-9]/p' "$log")
	check "$title: guest ran its whole plan" grep -E "^1\.\.$(grep -cE '^(not )?ok ' "$log")" "$log"
}
boot virtio 1 1
boot usb 4 2
tap_end
