#!/bin/bash
# `run --profile EVENTS,records=N`: records of precise events, on processors of each kind.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=${OUT:-out}/stallmeter

take() { # MACHINE PROFILE ROWS: the run's results in $work/r
	rm -rf "$work/o"
	"$s" run --backend sim --machine "$1" --profile "$2" --suite "$3" --out "$work/o" >"$work/said" || return 1
	cp "$work"/o/*/results.json "$work/r"
}
one() { jq -e --arg e "$1" '.profile[0].records[] | select(.event == $e) | '"$2" "$work/r" || { cat "$work/r"; return 1; }; }

# Core 2: records of 144 bytes, a page of them, without an address; the chase's loads overwrite theirs
core2_misses() {
	take core2 MEM_LOAD_RETIRED.L2_LINE_MISS,records=113 load.dram_local.latency &&
		one MEM_LOAD_RETIRED.L2_LINE_MISS '.status == "ok" and .records >= 40 and .others == 0 and .full == false and .addresses == .records and
			.outside == 0 and .lines >= 25 and .pages >= 25 and (.places | length) == 8 and .sources == {} and .mean_latency == null' &&
		grep -q '^    MEM_LOAD_RETIRED.L2_LINE_MISS: [0-9]* records$' "$work/said" && grep -q '^      [0-9]* addresses from registers: ' "$work/said"
}
check "records_of_core2_name_the_lines_from_memory" core2_misses
core2_hits() { take core2 MEM_LOAD_RETIRED.L2_LINE_MISS,records=53 load.l2.latency && one MEM_LOAD_RETIRED.L2_LINE_MISS '.records == 0 and .lines == 0'; }
check "records_of_core2_are_none_where_the_L2_answers" core2_hits
core2_instructions() { take core2 INST_RETIRED.ANY_P,records=2003 triad.l2.bandwidth && one INST_RETIRED.ANY_P '.records >= 10 and (.places | length) > 3'; }
check "records_of_core2_of_all_instructions" core2_instructions
full() { take core2 INST_RETIRED.ANY_P,records=13 load.l2.latency && one INST_RETIRED.ANY_P '.full' && grep -q 'the buffer filled' "$work/said"; }
check "records_of_core2_say_that_the_buffer_filled" full
# SSE's loads: their addresses from base and index
streams() { take core2 MEM_LOAD_RETIRED.L2_LINE_MISS,records=13 read.dram.bandwidth && one MEM_LOAD_RETIRED.L2_LINE_MISS '.records > 50 and .addresses == .records and .outside == 0 and .lines > 50'; }
check "records_of_core2_name_the_lines_of_a_stream" streams

# the latency event has the address, the source and the latency in the record
sources() {
	take nehalem-ep MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_32,records=13 load.l3.latency &&
		one MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_32 '.addresses == .records and .lines > 100 and .sources == {"L3_UNSHARED": .records} and .mean_latency == 41'
}
check "records_of_nehalem_have_source_and_latency" sources
several() { take nehalem-ep memory-access,records=31 load.dram_local.latency && [ "$(jq '.profile[0].records | length' "$work/r")" = 9 ] && one MEM_LOAD_RETIRED.LLC_MISS '.records == 192 and .events == 6144'; }
check "records_of_each_precise_event_of_a_profile" several
both() { take nehalem-ep BR_INST_EXEC.ANY,MEM_INST_RETIRED.LOADS,lbr=all,records=31 load.l2.latency && one MEM_INST_RETIRED.LOADS '.records > 0' && jq -e '.profile[0].last_branches.records > 0' "$work/r"; }
check "records_beside_last_branches" both

# architectural records: 32 pairs, the newest first, each kind of core with its own descriptor
architectural() { # MACHINE
	take "$1" INST_RETIRED.ANY,lbr=NEAR_RET branch.return.penalty &&
		jq -e '.profile[0].last_branches | .records >= 64 and .status == "ok"' "$work/r"
}
for m in alder-lake sapphire-rapids sierra-forest; do check "records_of_architectural_branches_of_$m" architectural $m; done

# NetBurst: replay tags; events that leave no record are left out
netburst() { take pentium4 L1_LOAD_MISS_RETIRED,IOQ.READS,records=53 load.l2.latency && [ "$(jq '.profile[0].records | length' "$work/r")" = 1 ] && one L1_LOAD_MISS_RETIRED '.records > 100 and .addresses == .records and .outside == 0'; }
check "records_of_pentium4" netburst

none() { take nehalem-ep memory-access load.l1.latency && jq -e '.profile[0].records == null' "$work/r"; }
check "records_only_where_they_are_asked_for" none
no_pebs() {
	sed 's/^pebs_format *=.*/pebs_format = 255/' tables/machines/core2.machine >"$work/without.machine"
	take "$work/without.machine" MEM_LOAD_RETIRED.L2_LINE_MISS,records=53 load.l2.latency && one MEM_LOAD_RETIRED.L2_LINE_MISS '.status == "unsupported" and .reason != ""'
}
check "records_where_there_are_none_say_why" no_pebs
bad() { "$s" run --backend sim --profile "$1" 2>"$work/e"; [ $? = 2 ] && grep -F "$2" "$work/e"; }
check "records_of_every_0th_event" bad INST_RETIRED.ANY,records=0 'records="0": expected how many events lie between two records, 1 to 2147483647'
check "records_without_events" bad records=5 'name a profile or events before'
tap_end
