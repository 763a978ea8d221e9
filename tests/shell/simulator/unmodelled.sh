#!/bin/bash
# Rows of a machine whose event map knows some events by name only: a 0 read for such an event is no count. Another event proves the row, or it is unproven
# and names the event, as expected. A map whose event counts something else, or whose modelled events contradict the row, is not as expected.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter machines=tables/machines
# machine NAME SCRIPT: Nehalem-EP with an event map that sed has changed
machine() {
	sed "s/^events = .*/events = $1/" $machines/nehalem-ep.machine >"$work/$1.machine"
	sed "$2" $machines/maps/nehalem.map >"$work/$1.map"
	! cmp -s $machines/maps/nehalem.map "$work/$1.map"
}
# row NAME ROW STATUS EXIT REASON: the row's status, the command's exit status and a pattern of the reason
row() {
	"$s" run --backend sim --machine "$work/$1.machine" --suite "$2" --out "$work/$1-$2" >"$work/log" 2>&1
	[ $? = "$4" ] || { cat "$work/log"; return 1; }
	jq -e --arg status "$3" --arg reason "$5" '.rows | length == 1 and (.[0] | .status == $status and (.reason | test($reason)))' "$work/$1-$2"/*/results.json || { cat "$work/log"; return 1; }
}
check "unmodelled_maps_are_written" eval 'machine divider "s/^0x14,0x01,0xF,exact,,ARITH.CYCLES_DIV_BUSY,.*/0x14,0x01,0xF,unmodelled,,ARITH.CYCLES_DIV_BUSY,/" &&
	machine branches "s/^0x89,0x01,0xF,,,BR_MISP_EXEC.COND,.*/0x89,0x01,0xF,unmodelled,,BR_MISP_EXEC.COND,/" &&
	machine other "s/^\(0x14,0x01,.*,\)DIVIDER_BUSY/\1BACLEAR/" && machine loads "s/^0xCB,0x02,.*/0xCB,0x02,0xF,unmodelled precise,,MEM_LOAD_RETIRED.L2_HIT,/" && machine walks "s/^0x08,0x02,.*/0x08,0x02,0xF,unmodelled,,DTLB_LOAD_MISSES.WALK_COMPLETED,/"'
check "unmodelled_event_leaves_a_row_unproven_as_expected" row divider exec.divsd_hard.latency unproven 0 "^this simulated machine does not model ARITH.CYCLES_DIV_BUSY$"
check "unmodelled_event_is_replaced_by_one_that_is_modelled" row branches branch.conditional.penalty ok 0 '^$'
check "unmodelled_event_of_a_chase" row loads load.l2.latency unproven 0 '^this simulated machine does not model MEM_LOAD_RETIRED.L2_HIT$'
check "unmodelled_event_leaves_other_rows" row loads load.l1.latency ok 0 '^$'
check "unmodelled_misses_leave_a_level_without_a_size" row walks size.stlb_4k.entries unproven 0 '^this simulated machine does not model DTLB_'
# The small cores' misses of the DTLB are the sum of an event that is modelled and one that is not: too many of the first are not mended by the second.
awk '/^\[/ { dtlb = $0 == "[dtlb]" } dtlb && /^(entries|ways) =/ { $3 = 32 } { print }' $machines/alder-lake-n.machine >"$work/small.machine"
check "unmodelled_part_of_a_sum_excuses_no_count_that_is_too_high" row small load.dram_local.latency unproven 1 '^counted '
check "unmodelled_is_not_an_event_that_counts_something_else" row other exec.divsd_hard.latency unproven 1 '^counted ARITH.CYCLES_DIV_BUSY'
tap_end
