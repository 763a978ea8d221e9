#!/bin/bash
# What a row's value must be to its own value behind other rows, with other seeds and on slower machines (test_loop_relations), on more machines than make check has.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
hold() { # MACHINES ROWS
	local machine files=""
	for machine in $1; do files+=" $(echo tests/machines/*/"$machine.machine")"; done
	check "relations hold on $1: $2" env LOOP_FILES="$files" LOOP_ROWS="$2" "$out/tests/unit/closed_loop/test_loop_relations"
}
hold "look shared" copy.dram_all.bandwidth,triad.dram.bandwidth,read.l3.bandwidth
hold "above tracker" write.dram_all.bandwidth,copy.dram_all.bandwidth
hold "slice" read.dram_all.bandwidth
hold "slice tree" write.dram.bandwidth,copy.dram.bandwidth,triad.dram_all.bandwidth
hold "narrow wide laptop" read.l2.bandwidth,copy.l2.bandwidth,triad.l3.bandwidth,write.l3.bandwidth
hold "narrow wide laptop" load.l3.latency,load.dram_local.latency,load.dram_overlap.interval,tlb.stlb_walk_4k.penalty,branch.conditional.penalty
tap_end
