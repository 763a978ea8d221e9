#!/bin/bash
# More virtual processors than the host has: seven on one. A row of all of them may cost at most three times the processor time of a start without it;
# while those that are ready spin for the others, each of which then waits for a time slice of the host, it is six times. The time is QEMU's own, which
# other programs on the host hardly change.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export STALLMETER_FIRMWARE_STATES= # both boot as a whole
one=$(taskset -cp $$ | sed -E 's/.*: ([0-9]+).*/\1/')

spent() { # spent ROW: fills $used, QEMU's processor time in ms
	local TIMEFORMAT=%3U rc=0
	used=$({ time taskset -c "$one" runner/qemu.sh --work "$work/q" --cpu Icelake-Server --smp 7 --limit 280 --options "end=exit suite=$1" "$out/stallmeter.img" >"$work/boot" 2>&1; } 2>&1) || rc=$?
	used=${used/./}
	[ "$rc" -eq 0 ] || { cat "$work/boot" "$work/q/debugcon.log"; return 1; }
}
check "crowded_row_of_one_processor_ends" spent load.l1.latency
plain=$used
check "crowded_row_of_all_ends" spent read.l1_all.bandwidth
check "crowded_row_of_all_costs_no_waiting ($plain ms and $used ms of processor time)" test "$((10#$used))" -lt "$((3 * 10#$plain))"
tap_end
