#!/bin/bash
# The rows on a guest's own processors under TCG, natively: none faults, crashes or is skipped without a reason; what they
# found means nothing there, is not proved, and says that it was measured in a virtual machine.
# usage: rows.sh [SUITE]; without it one row of each kind
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
suite=${1:-load.l?.latency,load.fill_buffer.*,tlb.dtlb_4k.penalty,store.forward.*,store.nt.penalty,split.*,frontend.lcp.penalty,branch.*,exec.div*,exec.fp_assist*,exec.gather*,size.rob.entries,sync.*,read.l1_all.*}
rc=0
runner/qemu.sh --work "$work/q" --limit "${LIMIT:-400}" --smp 2 --options "end=exit backend=auto repetitions=3 suite=$suite" "$out/stallmeter.img" >"$work/boot" 2>&1 || rc=$?
results=$(runner/fetch.sh "$work/q/disk.img" "$work/results")
ended() { tail -n 30 "$work/q/debugcon.log" "$work/boot"; [ "$rc" -eq 0 ] || { echo "status $rc"; return 1; }; }
holds() { jq -e "$1" "$results/results.json" || { jq -c '.rows[] | [.name, .status, .reason]' "$results/results.json"; return 1; }; }
all_there() { # every row of the suite that was asked for
	local n
	n=$(jq '.rows | length' "$results/results.json")
	echo "$n rows"
	[ "$n" -ge "$1" ]
}
check "rows_run_ends_well" ended
check "rows_are_all_there" all_there "${2:-25}"
check "rows_none_faults_or_crashes" holds '[.rows[] | select(.status == "fault" or .status == "timeout" or .status == "failed" or .status == "crashed")] == []'
check "rows_unsupported_say_why" holds '[.rows[] | select(.status == "unsupported" and .reason == "")] == []'
check "rows_nothing_is_proved_there" holds '[.rows[] | select(.status == "ok")] == []'
check "rows_are_marked_virtual" holds '.machine.virtual == true'
tap_end
