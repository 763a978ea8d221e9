#!/bin/bash
# `stallmeter stat`: every name that `list --events` and `list --metrics` print goes through it on every built-in machine (on one workload; all of
# them: stat_events_long.sh);
# what is counted agrees with what kernels are known to do; bad names are answered in one line.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/events.sh
s=${OUT:-out}/stallmeter

# One line a name: counted, zero, or why not; in lists as long as a command may have.
walk() { # MACHINE PROCESSOR WORKLOAD
	names_events "$2" >"$work/names"
	: >"$work/list"
	split -l 60 "$work/names" "$work/part."
	for part in "$work"/part.*; do
		"$s" stat --machine "$1" --windows 1 --format csv -w "$3" -e "$(paste -sd, "$part")" >"$work/one" 2>"$work/err" || {
			# which of them: alone
			while read -r name; do
				"$s" stat --machine "$1" --windows 1 --format csv -w "$3" -e "$name" 2>>"$work/refused" | tail -n +2 >>"$work/list"
			done <"$part"
			continue
		}
		tail -n +2 "$work/one" >>"$work/list"
	done
	rm -f "$work"/part.*
}
walked() { # MACHINE PROCESSOR WORKLOAD LEAST-COUNTED
	: >"$work/refused"
	walk "$1" "$2" "$3"
	local all counted zero unmodelled refused
	all=$(wc -l <"$work/names") refused=$(wc -l <"$work/refused")
	unmodelled=$(grep -c 'not modelled' "$work/list")
	counted=$(grep -cE '^"[^"]*","",[1-9]' "$work/list") zero=$(grep -cE '^"[^"]*","",0,' "$work/list")
	echo "# $1: $all names: $counted counted, $zero counted 0, $unmodelled not modelled, $refused refused"
	sed 's/^/# /' "$work/refused" | head -5
	[ "$refused" -eq 0 ] && [ "$all" -gt 8 ] && [ $((counted + zero + unmodelled)) -eq "$all" ] && [ "$counted" -ge "$4" ]
}
check "stat_takes_every_event_of_nehalem_ep" walked nehalem-ep nehalem-ep account.mixed 100
check "stat_takes_every_event_of_haswell_ep" walked haswell-ep haswell-ep account.mixed 100
check "stat_takes_every_event_of_skylake_sp" walked skylake-sp skylake-sp load.l2.latency 60
check "stat_takes_every_event_of_core2" walked core2 core2 account.mixed 50
check "stat_takes_every_event_of_sandy_bridge" walked sandy-bridge sandy-bridge account.mixed 100
# thread modes need a core of two threads
sed 's/^threads = 1$/threads = 2/' tables/machines/pentium4.machine >"$work/two.machine"
check "stat_takes_every_event_of_pentium4" walked "$work/two.machine" pentium4 load.l2.latency 30

every_metric() { # MACHINE METRIC-OF-READS
	"$s" stat --machine "$1" -M all --windows 1 -w read.dram --format csv >"$work/metrics" || return 1
	[ "$(names_metrics "$1" | sort)" = "$(tail -n +2 "$work/metrics" | cut -d'"' -f2 | sort)" ] && grep -qE "^\"$2\",\"metric\",[1-9]" "$work/metrics"
}
check "stat_takes_every_metric_of_haswell_ep" every_metric haswell-ep imc.MEM_BW_READS
check "stat_takes_every_metric_of_nehalem_ep" every_metric nehalem-ep imc.CH0_READ_RATE

# Counters of a core are read one after the other: cycles differ by a few a window.
# A chase of so many loads: each is a hit of its level, and one instruction of sixteen a turn with a count and a branch.
value() { awk -F, -v n="\"$1\"" '$1 == n && $2 == "\"\"" { print $3 }' "$work/counts"; }
chase() {
	"$s" stat -w load.l2.latency --windows 2 -e MEM_LOAD_RETIRED.L2_HIT,inst_retired.any,BR_INST_RETIRED.ALL_BRANCHES --format csv >"$work/counts" || return 1
	local loads=$((2 * 4096))
	awk -v hit="$(value MEM_LOAD_RETIRED.L2_HIT)" -v n="$(value INST_RETIRED.ANY)" -v b="$(value BR_INST_RETIRED.ALL_BRANCHES)" -v loads=$loads 'BEGIN {
		exit !(hit >= 0.99 * loads && hit <= 1.02 * loads && n >= 18 / 16 * loads && n <= 18 / 16 * loads + 200 && b >= loads / 16 && b <= loads / 16 + 40) }'
}
check "stat_counts_a_chase" chase
both() {
	"$s" stat -w load.l3.latency -e MEM_LOAD_RETIRED.LLC_UNSHARED_HIT,UNC_GQ_ALLOC.RT --format csv >"$work/counts" || return 1
	awk -v c="$(value MEM_LOAD_RETIRED.LLC_UNSHARED_HIT)" -v u="$(value UNC_GQ_ALLOC.RT)" 'BEGIN { exit !(c > 16000 && u >= c && u <= 1.02 * c) }'
}
check "stat_counts_the_uncore_beside_the_core" both
modified() {
	"$s" stat -w load.l3.latency -e UOPS_ISSUED.ANY:cmask=1:inv,UOPS_ISSUED.ANY:cmask=1,CPU_CLK_UNHALTED.THREAD --format csv >"$work/counts" || return 1
	[ $(($(value UOPS_ISSUED.ANY:cmask=1:inv) + $(value UOPS_ISSUED.ANY:cmask=1))) -ge $(($(value CPU_CLK_UNHALTED.THREAD) - 8)) ] &&
		[ $(($(value UOPS_ISSUED.ANY:cmask=1:inv) + $(value UOPS_ISSUED.ANY:cmask=1))) -le $(($(value CPU_CLK_UNHALTED.THREAD) + 8)) ]
}
check "stat_modifiers_split_cycles" modified
user_mode() { "$s" stat -w load.l1.latency -e INST_RETIRED.ANY_P:u --format csv >"$work/counts" && [ "$(value INST_RETIRED.ANY_P:u)" -eq 0 ]; }
check "stat_user_mode_alone_counts_nothing_in_the_kernel" user_mode
# ... and says so in each format; what counts in ring 0 has no note.
says_ring_3() {
	local e=INST_RETIRED.ANY_P note='counts ring 3; the workload runs in ring 0'
	"$s" stat -w load.l1.latency -e "$e:u,$e:uk,$e:k" --windows 1 >"$work/out" && [ "$(grep -c "$note" "$work/out")" -eq 1 ] && grep -qE "^ +0 .* $e:u \\($note\\)$" "$work/out" || return 1
	"$s" stat -w load.l1.latency -e "$e:u,$e:uk,$e:k" --windows 1 --format csv >"$work/counts" || return 1
	awk -F, -v note="$note" 'NR == 1 { if ($9 != "note") exit 1; next } $9 == (/:u"/ ? note : "") && ($3 > 0) == !/:u"/ { n++ } END { exit n != 3 }' "$work/counts" || return 1
	"$s" stat -w load.l1.latency -e "$e:u,$e:k" --windows 1 --format json | jq -e --arg note "$note" '[.events[].note] == [$note, null]' >/dev/null
}
check "stat_says_that_workloads_run_in_ring_0" says_ring_3

# Lists of cores as of perf stat -C and taskset -c, with or without core 0.
cores_of() { "$s" stat -w load.l2 --windows 1 "$1" "$2" -e inst_retired.any --per core --format csv | sed -nE 's/.*," core ([0-9]+)",[1-9].*/\1/p' | paste -sd' '; }
lists() {
	[ "$(cores_of --cores 2-3)" = "2 3" ] && [ "$(cores_of -C 1,3-5,7)" = "1 3 4 5 7" ] && [ "$(cores_of --cores 0-6:3)" = "0 3 6" ] && [ "$(cores_of --cores all)" = "0 1 2 3 4 5 6 7" ]
}
check "stat_takes_lists_and_ranges_of_cores" lists
# Core 5 is of the second socket: its chase is in memory of its own node, and its socket's boxes alone see it.
elsewhere() {
	"$s" stat -w load.dram_local --windows 1 --cores 5 -e MEM_UNCORE_RETIRED.LOCAL_DRAM,UNC_QHL_REQUESTS.LOCAL_READS --per socket --format csv >"$work/counts" || return 1
	awk -F, '/LOCAL_DRAM/ { n = $3 } / socket 0"/ { zero = $3 } / socket 1"/ { one = $3 } END { exit !(n > 1000 && one >= n && one < 1.1 * n && zero < n / 20) }' "$work/counts"
}
check "stat_measures_where_the_cores_are" elsewhere
two_at_once() { "$s" stat -w triad.dram_all --windows 1 --cores 2-3 -e inst_retired.any --per core --format csv | grep -cE '," core [23]",[1-9]' | grep -qx 2; }
check "stat_runs_a_row_of_several_cores_on_those_given" two_at_once
# An iteration of the triad reads four lines of each of three arrays and writes four back; copy reads eight, whatever filled the last level before.
streams_move() { # READS WRITES WORKLOAD
	"$s" stat -w "$3" --cores 0-3 --windows 1 -e UNC_IMC_NORMAL_READS.ANY,UNC_IMC_WRITES.FULL.ANY --format csv >"$work/counts" || return 1
	awk -F, -v r="$1" -v w="$2" 'NR == 2 { reads = $5 } NR == 3 { writes = $5 } END { exit !(reads >= r && reads < 1.03 * r && writes > 0.97 * w && writes < 1.03 * w) }' "$work/counts" || { cat "$work/counts"; return 1; }
}
check "stat_triad_of_several_cores_moves_its_lines" streams_move 12 4 triad.dram_all
check "stat_copy_of_several_cores_moves_its_lines" streams_move 8 4 copy.dram_all
# One load in three is tagged; the event counts those above its threshold, with PEBS_EN and LL_EN set.
latencies() {
	local e=MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4
	"$s" stat -w load.l3.latency --windows 1 -e $e:ldlat=32,$e:ldlat=64 --format csv >"$work/counts" || return 1
	[ "$(value $e:ldlat=32)" -gt 1200 ] && [ "$(value $e:ldlat=32)" -lt 1500 ] && [ "$(value $e:ldlat=64)" -lt 20 ]
}
check "stat_counts_loads_above_a_latency" latencies
sed 's/^pebs_format = .*/pebs_format = 255/; s/^load_latency = .*/load_latency = 0/' tables/machines/nehalem-ep.machine >"$work/no_pebs.machine"
without_pebs() {
	"$s" stat --machine "$work/no_pebs.machine" -w idle -e MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4 >"$work/out" 2>"$work/err"
	[ $? -eq 2 ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -q 'needs PEBS\|with PEBS alone\|0x3f6 does not answer' "$work/err" || { cat "$work/err"; return 1; }
}
check "stat_refuses_latencies_without_pebs" without_pebs
boxes() {
	"$s" stat --machine haswell-ep -w read.dram_all --per box -e imc.CAS_COUNT.RD --format csv >"$work/counts" || return 1
	awk -F, '$2 == "\"\"" { all = $3 } $2 ~ /box/ { sum += $3; if ($3 > 0) n++ } END { exit !(all > 0 && sum == all && n == 8) }' "$work/counts"
}
check "stat_shows_each_channel" boxes
one_box() { "$s" stat --machine haswell-ep -w read.dram_all -e 'imc[4].CAS_COUNT.RD,imc.CAS_COUNT.RD' --format csv >"$work/counts" &&
	awk -F, 'NR == 2 { one = $3 } NR == 3 { all = $3 } END { exit !(one > 0 && one < all / 3 && one > all / 12) }' "$work/counts"; }
check "stat_counts_one_box" one_box
intervals() { "$s" stat -I 0.06 --for 0.3 -w triad.dram_all -e UNC_IMC_NORMAL_READS.CH0,UNC_IMC_NORMAL_READS.CH1,UNC_IMC_NORMAL_READS.CH2 --format csv >"$work/counts" &&
	awk -F, 'NR > 1 && $4 > 1000 { n++ } END { exit n != 15 }' "$work/counts"; }
check "stat_prints_intervals" intervals
# two whole intervals, and the rest; a window takes 0.05 ms
rest() { "$s" stat -I 0.1 --for 0.26 -w triad.dram_all -e UNC_IMC_NORMAL_READS.CH0 --format csv >"$work/counts" && [ "$(wc -l <"$work/counts")" = 4 ]; }
check "stat_prints_the_rest_of_an_interval" rest
json() { "$s" stat -w idle -e inst_retired.any --format json | grep -q '"event": "INST_RETIRED.ANY", "where": "", "value": [1-9]'; }
check "stat_writes_json" json

refuses() { # STATUS PATTERN ARGUMENTS...
	local rc=0 status=$1 pattern=$2; shift 2
	"$s" stat "$@" >"$work/out" 2>"$work/err" || rc=$?
	[ "$rc" -eq "$status" ] && [ "$(wc -l <"$work/err")" -eq 1 ] && grep -qE "$pattern" "$work/err" || { cat "$work/err"; return 1; }
}
check "stat_names_the_nearest_events" refuses 2 'nearest: MEM_LOAD_RETIRED.L2_HIT, ' -w idle -e MEM_LOAD_RETIRD.L2_HIT
check "stat_names_the_nearest_workloads" refuses 2 'nearest: .*load.l2.latency' -w load.l2.latncy -e inst_retired.any
check "stat_names_the_nearest_metrics" refuses 2 'nearest: imc.MEM_BW_READS' --machine haswell-ep -w idle -M imc.MEM_BW_READ
# AnyThread: of Nehalem to Skylake; the others' selects fault with bit 21.
no_any() {
	local m
	for m in core2 ice-lake-sp sapphire-rapids sierra-forest zen2 zen5; do
		refuses 2 'counters count for their own thread alone: they have no any' --machine "$m" -w load.l1 --windows 1 -e instructions:any || return 1
	done
	refuses 2 'they have no any' --machine sapphire-rapids -w load.l1 -e r2001c2 && refuses 2 'they have no any' --machine zen4 -w load.l1 -e cpu/event=0xc0,any/ &&
		"$s" stat --machine nehalem-ep -w load.l1 -e inst_retired.any_p:any && "$s" stat --machine skylake -w load.l1 -e inst_retired.any_p:any
}
check "stat_refuses_any_where_selects_lack_it" no_any
check "stat_refuses_two_lengths_of_a_run" refuses 2 '^stallmeter stat: --windows and --for: each says how long' -w idle -e cycles --windows 2 --for 1
one_line_of_names() { "$s" stat -w load.l1,load.l2 --windows 1 -e cycles --format csv >"$work/counts" && [ "$(grep -c '^name,' "$work/counts")" -eq 1 ] && [ "$(wc -l <"$work/counts")" -eq 3 ]; }
check "stat_csv_of_several_workloads_has_one_line_of_names" one_line_of_names
# Two events of one register need two runs, an interval has one: refused before a line is printed.
whole_intervals() {
	local e=OFFCORE_RESPONSE_0.ANY_DATA
	refuses 2 'these events take 2 runs, an interval has one' -w idle -I 0.05 -e $e.LOCAL_DRAM,$e.REMOTE_DRAM --format csv && ! [ -s "$work/out" ]
}
check "stat_refuses_intervals_of_several_runs_at_once" whole_intervals
# Two occupancies take counter 0 in turn: the second's inserts are of the other run, which its quotient says.
quotient_of_two_runs() {
	"$s" stat --machine haswell-ep -w load.l3 --windows 1 -M cbo.AVG_TOR_DRD_MISS_LATENCY,cbo.AVG_TOR_DRD_LOC_MISS_LATENCY --format csv >"$work/counts" &&
		[ "$(cut -d, -f9 "$work/counts" | paste -sd,)" = "note,,its events are of runs 0 to 1" ]
}
check "stat_says_which_metrics_are_of_two_runs" quotient_of_two_runs
check "stat_refuses_a_modifier" refuses 2 'no modifier of this event' -w idle -e INST_RETIRED.ANY_P:warm
# perf's modifiers that cannot be had, alone and together
modifiers() {
	local m
	for m in p ppp P S G H h I e D W X R b upp kH; do
		refuses 2 "perf's [pPSGHhIeDWXRb] " -w idle -e "INST_RETIRED.ANY_P:$m" || { echo "$m"; return 1; }
	done
	refuses 2 "perf's p takes precise samples" -w idle -e MEM_LOAD_RETIRED.L2_HIT:upp && refuses 2 "perf's G " --machine pentium4 -w idle -e instr_retired.NBOGUSNTAG:G &&
		refuses 2 'u and k are of cores; box' -w idle -e UNC_GQ_ALLOC.RT:u && refuses 2 'a fixed counter alone counts' -w idle -e INST_RETIRED.ANY:u
}
check "stat_refuses_perfs_other_modifiers_by_name" modifiers
check "stat_refuses_a_core_that_is_not_there" refuses 2 'cores: no core 8 in "2-8"; there are 0 to 7' -w idle -e cycles --cores 2-8
# 512 logical processors; those beyond the 256th were left out without a word.
sed '/^\[topology\]/,/^\[/{s/^sockets = .*/sockets = 8/;s/^cores = .*/cores = 64/}' tables/machines/skylake-sp.machine >"$work/many.machine"
check "stat_refuses_more_cores_than_it_counts" refuses 2 'cores: at most 256 count at once' --machine "$work/many.machine" -w idle -e cycles --cores all
check "stat_refuses_what_is_no_list_of_cores" refuses 2 'cores: expected all, or numbers and ranges such as 0-3,8; found "3-"' -w idle -e cycles --cores 3-
check "stat_refuses_a_missing_filter" refuses 2 'the event needs :opc=N; ' --machine haswell-ep -w idle -e UNC_C_TOR_INSERTS.OPCODE
check "stat_names_a_box_that_is_absent" refuses 2 "imc\[2\].*no such box here; there are 0, 1, 4, 5" --machine haswell-ep -w idle -e "imc[2].CAS_COUNT.RD"
check "stat_refuses_curves" refuses 2 'code of its own' -w size.rob.entries -e inst_retired.any
check "stat_refuses_intervals_of_several_runs" refuses 2 'an interval has one' -I 1 -w idle -e OFFCORE_RESPONSE_0.ANY_DATA.LOCAL_DRAM,OFFCORE_RESPONSE_0.ANY_DATA.REMOTE_DRAM
# MSR 0x3F7 chooses what an event of the front end counts: its causes, or the model says that it does not tell them apart.
frontend() { # 4096 lines of code, each missed once in the L1I and found in the L2
	"$s" stat --machine sapphire-rapids -e FRONTEND_RETIRED.L1I_MISS,FRONTEND_RETIRED.L2_MISS,FRONTEND_RETIRED.LATENCY_GE_16 -w frontend.l1i_l2.penalty --format json |
		jq -e '[.events[] | .per_unit] as [$l1, $l2, $late] | ($l1 > 0.98 and $l1 < 1.05 and $l2 < 0.05 and $late == null) and .events[2].why == "not modelled by this simulated machine"'
}
check "stat_counts_causes_at_the_front_end" frontend
# Transactions take counter 3 unless MSR 0x10F gives it back, where CPUID tells so: four events need all four counters.
four() { # MACHINE
	sed '/^\[pmu\]/a tsx_counter = 1' "tables/machines/$1.machine" >"$work/$1.machine"
	"$s" stat --machine "$work/$1.machine" --windows 1 -w load.l2.latency -e INST_RETIRED.ANY_P,CPU_CLK_UNHALTED.THREAD_P,UOPS_ISSUED.ANY,UOPS_RETIRED.RETIRE_SLOTS --format json |
		jq -e '.runs == 1 and ([.events[].value] | length == 4 and all(. > 1000))'
}
for m in skylake-sp skylake; do check "stat_counts_with_the_counter_of_transactions_on_$m" four $m; done
tap_end
