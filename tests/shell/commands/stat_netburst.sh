#!/bin/bash
# NetBurst by `stallmeter stat`: tags, comparison, cascade, ESCRs and threads on kernels whose counts are known.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=${OUT:-out}/stallmeter

count() { "$s" stat --machine "${machine:-pentium4}" --windows 1 --format csv -w "$1" -e "$2" >"$work/counts"; }
value() { awk -F, -v n="\"$1\"" '$1 == n && $2 == "\"\"" { print $3 }' "$work/counts"; }
# within TOLERANCE of WANTED: what the windows' own code adds
is() { # EVENT WANTED TOLERANCE
	local got; got=$(value "$1")
	[ -n "$got" ] && [ "$got" -ge $(($2 - $3)) ] && [ "$got" -le $(($2 + $3)) ] || { echo "# $1: $got, not $2"; return 1; }
}
metric() { # METRIC WORKLOAD EVENTS: so many of them in a window, and none of the others' metrics
	count "$2" "replay_event.NBOGUS:$1" && is "replay_event.NBOGUS:$1" "$3" $(($3 / 50 + 2))
}
check "stat_netburst_1stL_cache_load_miss_retired" metric 1stL_cache_load_miss_retired load.l2.latency 4096
check "stat_netburst_2ndL_cache_load_miss_retired" metric 2ndL_cache_load_miss_retired load.dram_local.latency 1024
check "stat_netburst_2ndL_cache_load_miss_retired_0_in_the_L2" metric 2ndL_cache_load_miss_retired load.l2.latency 0
# every second of 8192 branches, by chance; the same ones by another detector
mispredicted() {
	local r=replay_event.NBOGUS:tagged_mispred_branch
	count branch.conditional.penalty $r,mispred_branch_retired.NBOGUS && is $r 3584 200 && is $r "$(value mispred_branch_retired.NBOGUS)" 4
}
check "stat_netburst_tagged_mispred_branch" mispredicted
check "stat_netburst_MOB_load_replay_retired" metric MOB_load_replay_retired store.forward_fail.penalty 1024
check "stat_netburst_split_load_retired" metric split_load_retired split.load_line.penalty 1024
check "stat_netburst_split_load_retired_0_of_stores" metric split_load_retired split.store_line.penalty 0
check "stat_netburst_split_store_retired" metric split_store_retired split.store_line.penalty 1024
# every load of the chase walks; of a stream of stores to one page those that retire before its first walk ends: how many have begun depends on how
# many counters are read before them
walks() { # WORKLOAD METRIC-OF-THE-KIND METRIC-OF-THE-OTHER LEAST MOST
	local r=replay_event.NBOGUS
	count "$1" $r:DTLB_all_miss_retired,page_walk_type.DTMISS && local all walked && all=$(value $r:DTLB_all_miss_retired) walked=$(value page_walk_type.DTMISS) &&
		[ "$walked" -ge 1 ] && [ "$all" -ge "$4" ] && [ "$all" -le "$5" ] && count "$1" "$r:$2,page_walk_type.DTMISS" && is "$r:$2" "$all" 2 && count "$1" "$r:$3" && is "$r:$3" 0 2
}
check "stat_netburst_DTLB_misses_of_loads" walks tlb.walk_2m.penalty DTLB_load_miss_retired DTLB_store_miss_retired 2048 2050
check "stat_netburst_DTLB_misses_of_stores" walks write.l2.bandwidth DTLB_store_miss_retired DTLB_load_miss_retired 4 60

tags() {
	count copy.l1.bandwidth front_end_event.NBOGUS:uop_type.TAGLOADS,front_end_event.NBOGUS:uop_type.TAGSTORES,front_end_event.NBOGUS:uop_type.TAGLOADS+TAGSTORES || return 1
	local loads stores; loads=$(value front_end_event.NBOGUS:uop_type.TAGLOADS) stores=$(value front_end_event.NBOGUS:uop_type.TAGSTORES)
	[ "$loads" -gt 1000 ] && [ $((stores - loads)) -lt 20 ] && [ $((loads - stores)) -lt 40 ] &&
		is front_end_event.NBOGUS:uop_type.TAGLOADS+TAGSTORES $((loads + stores)) 20
}
check "stat_netburst_front_end_tags_tell_loads_from_stores" tags
# divisions of scalar doubles, one an event
executed() {
	count exec.divsd_hard.interval "$1" && is "$1" "$2" 2
}
check "stat_netburst_execution_tags_scalar_doubles" executed execution_event.NBOGUS0:scalar_DP_uop.ALL 512
check "stat_netburst_execution_tag_is_the_units" executed execution_event.NBOGUS3:scalar_DP_uop.ALL 512
check "stat_netburst_execution_tag_of_another_unit" executed execution_event.NBOGUS1:scalar_DP_uop.ALL:tag=1 0
check "stat_netburst_execution_tags_no_packed_singles" executed execution_event.NBOGUS0:packed_SP_uop.ALL 0
bogus() { count idle execution_event.BOGUS0:packed_SP_uop.ALL,front_end_event.BOGUS:uop_type.TAGLOADS && [ "$(grep -c 'not modelled' "$work/counts")" -eq 2 ]; }
check "stat_netburst_bogus_uops_are_not_modelled" bogus

compared() { # cycles above a threshold and the others are all; NOPs retire three at a time or none
	local u=uops_retired.NBOGUS all edges
	count idle global_power_events.RUNNING,$u,$u:thresh=0,$u:thresh=0:complement,$u:cmask=1,$u:thresh=15 || return 1
	all=$(value global_power_events.RUNNING)
	is $u:thresh=0 $((all - $(value $u:thresh=0:complement))) 40 && is $u:cmask=1 "$(value $u:thresh=0)" 40 && is $u:thresh=15 0 0 && [ "$(value $u:thresh=0)" -gt $((all * 9 / 10)) ] || return 1
	# stretches with and without retirement take turns
	count idle $u:thresh=0:edge,$u:thresh=0:complement:edge && edges=$(value $u:thresh=0:edge) && is $u:thresh=0:complement:edge "$edges" 1 && [ "$edges" -gt 1 ]
}
check "stat_netburst_threshold_complement_and_edge" compared
# after=N: 100,000 instructions later there are 100,000 uops of NOPs fewer
cascade() {
	local i=instr_retired.NBOGUSNTAG u=uops_retired.NBOGUS early
	count idle "$i,$u:after=1000" && early=$(value $u:after=1000) && [ "$early" -lt "$(value $i)" ] && [ "$early" -gt 600000 ] &&
		count idle "$i,$u:after=101000" && is $u:after=101000 $((early - 100000)) 8 &&
		count idle "$i,$u:after=900000" && is $u:after=900000 0 0
}
check "stat_netburst_cascade_starts_after_n" cascade
forced() { count idle "instr_retired.NBOGUSNTAG:force_ovf,uops_retired.NBOGUS:cascade,uops_retired.NBOGUS" && is uops_retired.NBOGUS:cascade "$(value uops_retired.NBOGUS)" 400; }
check "stat_netburst_forced_overflow_starts_at_once" forced
unknown_overflow() { count idle "global_power_events.RUNNING,BPU_fetch_request.TCMISS:after=10" && grep -q 'TCMISS:after=10","not modelled' "$work/counts"; }
check "stat_netburst_cascade_that_is_not_modelled_says_so" unknown_overflow
either() { count split.load_line.penalty load_port_replay.SPLIT_LD:escr=0,load_port_replay.SPLIT_LD:escr=1 && is load_port_replay.SPLIT_LD:escr=0 1024 0 && is load_port_replay.SPLIT_LD:escr=1 1024 0; }
check "stat_netburst_either_escr" either

# A copy with two threads a core: thread 0 runs, thread 1 sleeps.
sed 's/^threads = 1$/threads = 2/' tables/machines/pentium4.machine >"$work/two.machine"
threads() {
	local machine=$work/two.machine u=uops_retired.NBOGUS all
	count idle "$u,$u:other,$u:any,$u:active_single,$u:active_both,$u:active_none" || return 1
	all=$(value $u)
	[ "$all" -gt 600000 ] && is $u:other 0 0 && is $u:any "$all" 200 && is $u:active_single "$all" 200 && is $u:active_both 0 0 && is $u:active_none 0 0
}
check "stat_netburst_threads_and_modes" threads

refuses() { # PATTERN LIST
	local rc=0
	"$s" stat --machine pentium4 -w idle -e "$2" >"$work/out" 2>"$work/err" || rc=$?
	[ "$rc" -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -qE "$1" "$work/err" || { cat "$work/err"; return 1; }
}
check "stat_netburst_untagged_uops_are_refused" refuses 'name the tagging event after a colon: one of .*uop_type.TAGLOADS' front_end_event.NBOGUS
check "stat_netburst_replays_without_a_metric_are_refused" refuses 'after a colon: one of 1stL_cache_load_miss_retired, ' replay_event.NBOGUS
check "stat_netburst_an_escr_that_it_has_not" refuses 'escr=0' BSQ_allocation.REQ_TYPE0:escr=1
check "stat_netburst_a_cascade_after_nothing" refuses 'the event named before it' uops_retired.NBOGUS:after=3
check "stat_netburst_a_cascade_that_never_starts" refuses 'does not overflow' instr_retired.NBOGUSNTAG,uops_retired.NBOGUS:cascade
check "stat_netburst_threads_of_one_thread" refuses 'two threads a core' uops_retired.NBOGUS:other
check "stat_netburst_threshold_out_of_range" refuses 'out of range' uops_retired.NBOGUS:thresh=16
tap_end
