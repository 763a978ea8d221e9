#!/bin/bash
# `stallmeter account` and `events`: hand-computed decompositions of perf stat's two formats, open terms, bad input; a chase of
# the simulated machine is accounted for by its own penalties.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter results=tests/results/account.json
a() { "$s" account "$@"; }

# By hand, of tests/results/account.json and counts.csv: clock 2e6 / 1e6 * 2 GHz = 4 GHz, twice that of the results. Active cycles
# 1.2e6, of which 0.8e6 / (0.9e6 + 0.1e6) retired. L2: 1e4 * 6, overlapped 64 B at 21.3 GB/s less 64 B at 32 GB/s = 6 - 4 cycles. L3:
# 40 of which 30 in the uncore: 10 + 2 * 30 = 70, overlapped (12 - 4) * 2 = 16. Memory: 20 + 2 * 180 = 380, no stream of it.
# All of it is less than the stalls: each term is charged what its events cost alone.
jq -n '{cycles: 2000000, retired: 960000, wasted: 240000, stalled: 800000, sum_overlapped: 105000, sum_exposed: 620000, sum_charged: 620000, overlap: 0,
  rest: 180000, rest_of: "execution", open_terms: 21, clock_of_the_results: 2.0,
  terms: {l2: [10000, 2, 6, 20000, 60000, 60000], l3: [5000, 16, 70, 80000, 350000, 350000], local_dram: [500, 0, 380, 0, 190000, 190000],
    branch_conditional: [1000, 0, 15, 0, 15000, 15000], fp_assist: [0, 0, 0, 0, 0, 0], lcp: [5000, 1, 1, 5000, 5000, 5000]},
  open: ({other_core_clean: "no penalty", other_core_modified: "no penalty", forward_fail: "no penalty", stlb_hit: "multiplexed", remote_modified: "no event", lock: "no event"} +
    ([("smc", "remote_cache", "remote_dram", "walk", "alias_4k", "unknown_address", "split_load", "branch_indirect", "branch_return", "branch_unknown_target", "code_l2",
       "code_l3", "memory_order", "registers", "divide") | {(.): "not counted"}] | add))}' >"$work/by_hand"
by_hand() { # by_hand COUNTS [FILE]
	a "$results" "$1" --format json >"$work/account.json" || return 1
	jq '{cycles, retired, wasted, stalled, sum_overlapped, sum_exposed, sum_charged, overlap, rest, rest_of, open_terms, clock_of_the_results,
	  terms: ([.terms[] | select(.state == "ok") | {(.source): [.count, .overlapped_each, .exposed_each, .overlapped_cycles, .exposed_cycles, .charged_cycles]}] | add),
	  open: ([.terms[] | select(.state != "ok") | {(.source): .state}] | add)}' "$work/account.json" >"$work/shown"
	diff <(jq -S . "${2:-$work/by_hand}") <(jq -S . "$work/shown")
}
check "account_of_csv_is_the_one_by_hand" by_hand tests/results/counts.csv
check "account_of_json_is_the_one_by_hand" by_hand tests/results/counts.json
# What bounds the terms: 300,000 cycles with a miss in flight, of 600,000 that the misses cost alone; 3,000 cycles of starvation and a fifth
# of the 1,000 cycles that issue, of 20,000 for branches and prefixes; and 300,000 cycles in which nothing retires, which the misses
# leave nothing of.
bound() { cat tests/results/counts.csv; printf '%s\n' '300000,,L1D_PEND_MISS.PENDING.cmask1,1,100.00,,' '1999000,,UOPS_ISSUED.STALL_CYCLES,1,100.00,,' '1996000,,RESOURCE_STALLS.ANY,1,100.00,,' "$@"; }
bound >"$work/bound.csv"
jq '.sum_charged = 303200 | .overlap = 316800 | .rest = 496800 | .terms.l2[5] = 30000 | .terms.l3[5] = 175000 | .terms.local_dram[5] = 95000 |
  .terms.branch_conditional[5] = 2400 | .terms.lcp[5] = 800' "$work/by_hand" >"$work/bound"
check "account_charges_what_the_bounds_leave" by_hand "$work/bound.csv" "$work/bound"
bound '300000,,UOPS_RETIRED.STALL_CYCLES,1,100.00,,' >"$work/retired.csv"
jq '.sum_charged = 300000 | .overlap = 320000 | .rest = 0 | .rest_of = "retirement" | .terms.branch_conditional[5] = 0 | .terms.lcp[5] = 0' "$work/bound" >"$work/retired"
check "account_is_never_more_than_the_stalls" by_hand "$work/retired.csv" "$work/retired"
check "account_says_what_overlapped" says 0 "^overlap +320000 " a "$results" "$work/retired.csv"
# Several runs of the program: the second file's took half as many cycles, and half as many of everything came.
grep -vE 'STLB_HIT|L2_HIT|COND|LCP' tests/results/counts.csv >"$work/run1.csv"
{ echo '1000000,,cycles,1,100.00,,'; grep -E 'STLB_HIT|L2_HIT|COND|LCP' tests/results/counts.csv | awk -F, 'BEGIN { OFS = "," } { $1 /= 2; print }'; } >"$work/run2.csv"
merged() { a "$results" "$work/run1.csv" "$work/run2.csv" --format json >"$work/merged.json" && a "$results" tests/results/counts.csv --format json | diff - "$work/merged.json"; }
check "account_merges_runs_at_the_cycles_of_the_first" merged
echo '7,,CPU_CLK_UNHALTED.THREAD,1,50.00,,' >"$work/part.csv"
check "account_takes_the_run_that_counted_all_the_time" says 0 "^cycles +2000000 " a "$results" "$work/part.csv" tests/results/counts.csv
# What perf printed on other people's machines, unchanged. In the first 23663214967 cycles passed in 27586073736 of the reference clock,
# 0.858 of it, which is the results' core clock too; nothing that a term asks for was counted. In the second 1256220 in 1006416.
jq -n '["l2", "l3", "other_core_clean", "other_core_modified", "remote_cache", "local_dram", "remote_dram", "stlb_hit", "walk", "forward_fail",
  "alias_4k", "unknown_address", "split_load", "branch_conditional", "branch_indirect", "branch_return", "branch_unknown_target", "code_l2", "code_l3",
  "lcp", "memory_order", "smc", "fp_assist", "registers", "divide"] as $all |
  {retired: null, wasted: null, stalled: null, rest: null, rest_of: "execution", sum_overlapped: 0, sum_exposed: 0, sum_charged: 0, overlap: 0, open_terms: 27, terms: null,
   open: (([$all[] | {(.): "not counted"}] | add) + {remote_modified: "no event", lock: "no event"})} as $none |
  ($none + {cycles: 23663214967, clock_of_the_results: 0.858}), ($none + {cycles: 1256220, clock_of_the_results: 1.248})' >"$work/both"
jq -s '.[0]' "$work/both" >"$work/first" && jq -s '.[1]' "$work/both" >"$work/second"
check "account_of_a_real_csv_is_the_one_by_hand" by_hand tests/results/real.csv "$work/first"
check "account_of_a_real_json_is_the_one_by_hand" by_hand tests/results/real.json "$work/second"
{ grep -v '^#' tests/results/counts.csv | grep -v STALL; } >"$work/nostalls.csv"
check "account_without_stalls_shares_cycles" says 0 "^mispredicted conditional branches +1000 .* 0 to +15000 +15000  0.8 %" a "$results" "$work/nostalls.csv"
# perf stat -r: a variance stands before the run time. -x';' where a comma is the decimals' sign.
awk -F, 'BEGIN { OFS = "," } /^#/ || NF < 4 { print; next } { $3 = $3 ",1.25%"; print }' tests/results/counts.csv >"$work/repeat.csv"
check "account_of_repeated_runs" by_hand "$work/repeat.csv"
sed -e '/^[^#]/{s/,/;/g;s/\./,/2;s/\([0-9]\)\.\([0-9]\)/\1,\2/g}' tests/results/counts.csv >"$work/comma.csv"
check "account_of_decimal_commas" by_hand "$work/comma.csv"
# Lines of a metric, other PMUs, and an event with terms of its own, which is another one: they change nothing.
{ cat tests/results/counts.csv; printf '%s\n' ',,,,,51.0,%  tma_frontend_bound,bad' '26472844,,cpu/UOPS_RETIRED.ANY,cmask=1/,16029009707,100.00,,' '5,,cpu_atom/cycles/,1,100.00,,' \
  '6,,cpu_atom/instructions/,1,100.00,,' '7,,msr/tsc/,1,100.00,,' '0.06,Joules,power/energy-pkg/,1,100.00,,'; } >"$work/more.csv"
check "account_leaves_other_events_alone" by_hand "$work/more.csv"
tr ',' ';' <tests/results/counts.csv >"$work/semicolon.csv"
check "account_of_another_separator" by_hand "$work/semicolon.csv"
check "account_rescales_the_uncore" jq -e '[.terms[] | select(.source == "l3" or .source == "local_dram") | .rescaled] | all' "$work/account.json"
grep -v ref-cycles tests/results/counts.csv >"$work/noref.csv"
check "account_without_reference_cycles_says_so" says 0 "loads: L3 hit .* 40\.00 .*uncore part not rescaled" a "$results" "$work/noref.csv"
check "account_table_shows_open_terms" says 0 "^loads: DTLB miss, second level hit +- event multiplexed: left open" a "$results" tests/results/counts.csv
check "account_table_shows_the_rest" grep -E "^unaccounted rest +180000  22.5 %" "$work/says"
check "account_table_says_what_no_event_counts" grep -E "^locked instructions +- this processor counts none: its event counts cycles" "$work/says"
printf 'CPU_CLK_UNHALTED.THREAD,1000\nUOPS_EXECUTED.CORE_STALL_CYCLES,50\nMEM_LOAD_RETIRED.L2_HIT,100\n' >"$work/plain"
check "account_overlap_is_said" says 0 "^overlap +550  costs that overlapped: not charged" a "$results" "$work/plain"
# What it cannot use is said: an event that no term is of, one that perf counted for a part of the time, counts of two runs under one name.
printf 'cycles,100000\nFROB.NITZ,8\n' >"$work/unknown"
check "account_says_which_counts_no_term_is_of" says 0 "^stallmeter account: no term is of these counts, which are left out: FROB.NITZ$" a "$results" "$work/unknown"
printf '100000,,cycles,1,100.00,,\n80000,,UOPS_EXECUTED.CORE_STALL_CYCLES,1,50.00,,\n' >"$work/part"
check "account_says_which_stalls_were_multiplexed" says 0 "^stallmeter account: multiplexed, .* left open: UOPS_EXECUTED.CORE_STALL_CYCLES;" a "$results" "$work/part"
printf 'cycles,100000\nUOPS_EXECUTED.CORE_STALL_CYCLES,800000\n' >"$work/two_runs"
check "account_says_that_stalls_exceed_cycles" says 0 "^stallmeter account: more stalls than cycles were counted" a "$results" "$work/two_runs"
svg() { a "$results" tests/results/counts.csv --format svg >"$work/stack.svg" && grep -c "<rect" "$work/stack.svg"; }
check "account_svg" svg
command -v xmllint >/dev/null && check "account_svg_is_xml" xmllint --noout "$work/stack.svg" || skip "account_svg_is_xml" "no xmllint"
# the pieces of the stack are as high as their cycles: 600 for all
stack() { sed -n 's/^<rect x="20" y="[0-9.]*" width="120" height="\([0-9.]*\)".*/\1/p' "$work/stack.svg" | awk '{ sum += $1 } END { print sum, NR; exit !(sum > 599.9 && sum < 600.1 && NR == 8) }'; }
check "account_svg_adds_up" stack

check "events_are_perfs_syntax" says 0 "^cycles,ref-cycles,cpu/event=0xb1,umask=0x3f,cmask=1,inv=1,any=1,name=UOPS_EXECUTED.CORE_STALL_CYCLES/,.*cmask=1,name=L1D_PEND_MISS.PENDING.cmask1/,.*cpu/event=0xcb,umask=0x2,name=MEM_LOAD_RETIRED.L2_HIT/" "$s" events "$results"
every() { # each event that the accounting asks for is in the list and comes back from it
	"$s" events "$results" 2>/dev/null | grep -oE 'name=[A-Za-z0-9_.]+|(ref-)?cycles' | sed 's/name=//' | sort -u >"$work/listed"
	awk '{ print $1 "," 1000 }' "$work/listed" >"$work/all.csv"
	a "$results" "$work/all.csv" --format json | jq -e '[.terms[] | select(.state == "not counted")] | length == 0'
}
check "events_are_all_that_account_reads" every

groups() { # each event of the list is in one line, and no line needs more than N counters; L1D_PEND_MISS has two of them
	"$s" events --groups "$1" "$results" 2>/dev/null >"$work/groups" || return 1
	grep -oE 'name=[A-Za-z0-9_.]+' "$work/groups" | sort >"$work/grouped"
	"$s" events "$results" 2>/dev/null | grep -oE 'name=[A-Za-z0-9_.]+' | sort | diff - "$work/grouped" &&
		awk -v n="$1" '{ if (gsub(/cpu\//, "") > n || !/^perf stat -x, -o counts\.[0-9]+\.csv -e cycles,/) exit 1; lines++ } END { exit !(lines >= 30 / n) }' "$work/groups"
}
for n in 1 2 4 8; do check "events_in_groups_of_$n" groups "$n"; done
perf_of() { # perf_of MACHINE: a run of it, for lists
	mkdir -p "$work/perf$1" && "$s" run --backend sim --machine "$1" --suite load.l1.latency --out "$work/perf$1" >/dev/null && echo "$work/perf$1"/*
}
core2=$(perf_of core2) pentium4=$(perf_of pentium4)
check "events_of_core_2_have_its_master_equation" says 0 "name=RS_UOPS_DISPATCHED/.*name=UOPS_RETIRED.FUSED/.*umask=0x0,cmask=1,name=L1D_PEND_MISS.cmask1/" "$s" events "$core2"
check "events_of_netburst_are_refused" says 0 "UOPS_RETIRED.NO_CYCLES is left out: perf has its own encoding of NetBurst's events" sh -c '"$0" events "$1" 2>&1' "$s" "$pentium4"
check "profile_of_netburst_says_what_is_left_out" says 0 "MISPRED_BRANCH_RETIRED is left out: perf has its own encoding" sh -c '"$0" events --profile first-pass "$1" 2>&1' "$s" "$pentium4"
# edge, inv, any, ldlat and offcore_rsp of a profile
nehalem=$(perf_of nehalem-ep)
check "events_have_edge_and_inv" says 0 "event=0x14,umask=0x1,cmask=1,inv=1,edge=1,period=[0-9]+,name=ARITH.DIV/" "$s" events --profile client-analysis "$nehalem"
check "events_have_ldlat" grep -E "event=0xb,umask=0x10,ldlat=0x20,period=[0-9]+,name=MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_32/p" "$work/says"
check "events_have_any" grep -E "any=1,period=[0-9]+,name=UOPS_EXECUTED.CORE_STALL_CYCLES/" "$work/says"
check "events_have_offcore_rsp" says 0 "event=0xb7,umask=0x1,offcore_rsp=0x[0-9a-f]+,period" "$s" events --profile memory-access "$nehalem"

for part in '     0.050101425,74,,cycles,1229634,100.00,,' 'CPU0,7198,,cycles,112273372,100.00,,' 'S0,2,5643,,cycles,212954120,100.00,,' '  summary,74,,cycles,1,100.00,,' \
	'{"socket" : "S0", "aggregate-number" : 2, "counter-value" : "912.000000", "unit" : "", "event" : "cycles", "event-runtime" : 1, "pcnt-running" : 100.00}' \
	'{"interval" : 0.05, "counter-value" : "912.000000", "unit" : "", "event" : "cycles", "event-runtime" : 1, "pcnt-running" : 100.00}'; do
	echo "$part" >"$work/part.csv"
	check "account_refuses_parts_of_a_run_$(echo "$part" | tr -c 'a-z0-9\n' _ | cut -c1-20)" refuses "part.csv:1: (counts of a part|not a count|.*third field)" a "$results" "$work/part.csv"
done
for bad in 'a' 'x,y,z' '5,,cycles,1,250.00' '-5,,cycles,1,100.00' '1e9,,cycles,1,100.00' '99999999999999999999,,cycles,1,100' 'S0,1,5,,cycles,1,100' '{"event": "cycles"}' '{"a"' ''; do
	echo "$bad" >"$work/bad.csv"
	check "account_refuses_$(echo "$bad" | tr -c 'a-z0-9\n' _)" refuses "bad.csv:?[0-9]*:" a "$results" "$work/bad.csv"
done
printf '1,,cycles,1,100\n2,,cpu-cycles,1,100\n' >"$work/twice.csv"
check "account_refuses_an_event_twice" refuses "twice.csv:2: cycles stands there twice" a "$results" "$work/twice.csv"
echo '5,,page-faults,1,100' >"$work/other.csv"
check "account_refuses_counts_of_nothing" refuses "neither cycles nor execution stalls were counted" a "$results" "$work/other.csv"
jq '.machine.descriptor = "x86-64"' "$results" >"$work/no_events.json" 2>/dev/null || jq '.machine.descriptor = "x86-64"' "$results/results.json" >"$work/no_events.json"
check "events_of_a_processor_without_any_say_why" says 1 "perf can program no event of the accounting on x86-64 processor" "$s" events "$work/no_events.json"
printf '5000000,,cycles,1,62.50\n100000,,UOPS_EXECUTED.CORE_STALL_CYCLES,1,62.50\n' >"$work/part_of_time.csv"
check "account_names_multiplexed_counts" refuses "perf multiplexed cycles, UOPS_EXECUTED.CORE_STALL_CYCLES, and counted for a part" a "$results" "$work/part_of_time.csv"
check "account_refuses_one_operand" refuses "files are expected" a "$results"
if command -v perf >/dev/null && perf stat -x, -e page-faults true 2>/dev/null; then
	perf_reads() { perf stat "$@" -o "$work/perf" -e page-faults,task-clock,context-switches true && status 2 a "$results" "$work/perf" && refuses "neither cycles nor" a "$results" "$work/perf"; }
	check "account_parses_this_perfs_csv" perf_reads -x,
	check "account_parses_this_perfs_json" perf_reads -j
else
	skip "account_parses_this_perf" "no perf"
fi

# The simulated machine's own counts of a chase through the L3 and of one through memory, with the penalties that it measured.
"$s" run --backend sim --machine nehalem-ep --suite 'load.*,tlb.*,branch.*,read.*,account.*' --out "$work/penalties" >/dev/null
penalties=$(echo "$work/penalties"/*)
# The suite's own workloads: with their counts as perf would write them, of a thousand times the work, the command charges what the suite charged. Counts
# of other runs than that of the stalls have the share of its cycles that they have of their own.
own() { # own WORKLOAD
	jq -r --arg w "$1" '.accounting[] | select(.workload == $w) | .counts as $c | .cycles as $n | def brought($count; $cycles): $count * 1000 * $n / $cycles | round;
		(["CPU_CLK_UNHALTED.THREAD", $n * 1000], ["UOPS_EXECUTED.CORE_STALL_CYCLES", brought($c.execute_stall.count; $c.execute_stall.cycles)],
		["UOPS_RETIRED.STALL_CYCLES", brought($c.retire_stall.count; $c.retire_stall.cycles)], ["L1D_PEND_MISS.PENDING:cmask=1", ($c.queue_busy // empty | brought(.count; .cycles))],
		["UOPS_ISSUED.ANY", $c.issued_uops.count], ["UOPS_ISSUED.FUSED", $c.issued_fused.count], ["UOPS_RETIRED.ANY", $c.retired_uops.count],
		(.terms[] | select(.cycles != null and (.event | test("[-+]") | not)) | [.event, brought(.count; .count_cycles)])) | "\(.[0]),\(.[1])"' "$penalties/results.json" >"$work/own.csv"
	a "$penalties" "$work/own.csv" --format json >"$work/own.json" || return 1
	# cycles and stalls as counted; what retired and what was wasted share the rest as the uops do; each term is P x N, and charged as the suite does
	jq -n --arg w "$1" --slurpfile r "$penalties/results.json" --slurpfile o "$work/own.json" '
		($r[0].accounting[] | select(.workload == $w)) as $s | $o[0] as $o | $s.counts as $c |
		($c.issued_uops.count + $c.issued_fused.count) as $issued | ($s.cycles - $s.levels["execution.core"].stalls) as $active |
		[$o.terms[] | select(.state == "ok") | .source as $k | ($s.terms[] | select(.name == $k)) as $t | {source, shown: (.exposed_cycles / 1000), suite: $t.alone, charged: (.charged_cycles / 1000), suites: $t.cycles}] as $terms |
		{cycles: [$o.cycles / 1000, $s.cycles], stalled: [$o.stalled / 1000, $s.levels["execution.core"].stalls], explained: [$o.stalls_explained / 1000, $s.levels["retirement.thread"].stalls],
		 retired: [$o.retired / 1000, ([$active * $c.retired_uops.count / $issued, $active] | min)], wasted: [$o.wasted / 1000, ($active - ([$active * $c.retired_uops.count / $issued, $active] | min))], $terms,
		 misses: [([$terms[] | select(.source | test("^l[23]$|dram|remote|other")) | .charged] | add), ([$terms[] | select(.source | test("^l[23]$|dram|remote|other")) | .suites] | add)]}' >"$work/own"
	jq -c . "$work/own"
	jq -e '([.cycles, .stalled, .explained, .retired, .wasted, .misses] + [.terms[] | [.shown, .suite]] | map((.[0] - .[1]) | fabs) | max) <= 4 and (.terms | length) >= 20 and .cycles[0] > 1000' "$work/own"
}
for workload in latency_bound bandwidth_bound branchy mixed; do check "account_is_the_suites_own_decomposition_$workload" own "$workload"; done
# Core 2 by its master equation, Pentium 4 by retirement: as their suites do.
older() { # older MACHINE WORKLOAD
	local run; run=$(echo "$work/older$1"/*)
	jq -r --arg w "$2" --arg m "$1" '.accounting[] | select(.workload == $w) | .counts as $c | .cycles as $n | def brought($count; $cycles): $count * 1000 * $n / $cycles | round;
		((if $m == "core2" then (["CPU_CLK_UNHALTED.CORE", $n * 1000], ["RS_UOPS_DISPATCHED.CYCLES_NONE", brought($c.execute_stall.count; $c.execute_stall.cycles)],
		["RS_UOPS_DISPATCHED", $c.dispatched_uops.count], ["UOPS_RETIRED.FUSED", $c.retired_pairs.count], ["UOPS_RETIRED.ANY:cmask=1:inv", brought($c.retire_stall.count; $c.retire_stall.cycles)],
		["L1D_PEND_MISS:cmask=1", ($c.queue_busy // empty | brought(.count; .cycles))])
		else (["CYCLES_RUNNING", $n * 1000], ["UOPS_RETIRED.NO_CYCLES", brought($c.retire_stall.count; $c.retire_stall.cycles)], ["UOPS_QUEUED", $c.issued_uops.count]) end),
		[(if $m == "core2" then "UOPS_RETIRED.ANY" else "UOPS_RETIRED" end), $c.retired_uops.count],
		(.terms[] | select(.cycles != null and (.event | test("[-+]") | not)) | [.event, brought(.count; .count_cycles)])) | "\(.[0]),\(.[1])"' "$run/results.json" >"$work/older.csv"
	a "$run" "$work/older.csv" --format json >"$work/older.json" || { cat "$work/older.csv"; return 1; }
	jq -n --arg w "$2" --slurpfile r "$run/results.json" --slurpfile o "$work/older.json" '($r[0].accounting[] | select(.workload == $w)) as $s | $o[0] as $o | $s.counts.execute_stall.cycles as $n |
		def masters($x): if $x then $x * $s.cycles / $n else null end;
		{retired: [$o.retired / 1000, (masters($s.master.retired) // $o.retired / 1000)], wasted: [$o.wasted / 1000, (masters($s.master.non_retired) // $o.wasted / 1000)],
		 explained: [$o.stalls_explained / 1000, $s.levels["retirement.thread"].stalls],
		 terms: [$o.terms[] | select(.state == "ok") | .source as $k | ($s.terms[] | select(.name == $k)) as $t | [.exposed_cycles / 1000, $t.alone]]}' >"$work/older.out"
	jq -c . "$work/older.out"
	jq -e '([.retired, .wasted, .explained] + .terms | map((.[0] - .[1]) | fabs) | max) <= 4 and (.terms | length) >= 5' "$work/older.out" && jq -e '.wasted >= 0 and .rest >= 0 and .sum_charged > 0' "$work/older.json"
}
for machine in core2 pentium4; do
	"$s" run --backend sim --machine "$machine" --suite 'account.*' --out "$work/older$machine" >/dev/null
	"$s" report "$(echo "$work/older$machine"/*)" >/dev/null 2>&1
	for workload in latency_bound branchy mixed; do check "account_of_${machine}_is_its_suites_$workload" older "$machine" "$workload"; done
done

"$s" events "$penalties" 2>/dev/null | grep -oE 'name=[A-Za-z0-9_.]+' | sed 's/name=//' | grep -v cmask >"$work/names"
{ echo CPU_CLK_UNHALTED.THREAD; cat "$work/names"; } | paste -sd, >"$work/profile"
"$s" run --backend sim --machine nehalem-ep --profile "$(cat "$work/profile")" --suite 'load.*.latency' --out "$work/profiled" >"$work/profile.log" 2>&1
counts_of() { jq -r --arg row "$1" '.profile[] | select(.row == $row) | .events[] | "\(.name),\([0, (.value * 1000000 | round)] | max)"' "$work/profiled"/*/results.json; }
for row in load.l2.latency load.l3.latency load.dram_local.latency load.dram_remote.latency; do
	counts_of "$row" >"$work/chase.csv"
	# What stays is what a load that hits the L1 makes the next one wait: 3 of its 4 cycles, of a million loads.
	explained() {
		a "$penalties" "$work/chase.csv" --format json >"$work/chase.json" || { cat "$work/chase.csv"; return 1; }
		jq -c '{cycles, stalled, sum_charged, rest}' "$work/chase.json"
		jq -e '.rest >= 2700000 and .rest <= 3100000 and .stalled > 0' "$work/chase.json"
	}
	check "account_explains_$row" explained
done
# report.html has the console's numbers: the master equation, each charged term, the sum, what overlapped, the formulas.
drawn() { # drawn WORKLOAD
	local run html; run=$(echo "$work/oldercore2"/*)
	html=$(sed 's/<small>[^<]*<\/small>//g; s/<[^>]*>/|/g; s/|\+/|/g' "$run/report.html")
	jq -r --arg w "$1" '.accounting[] | select(.workload == $w) | "^.\($w).*.\(.master.retired).\(.master.non_retired).\(.master.stalls).*.\(.sum).\(.overlap).",
		(.terms[] | select(.cycles != null and .cycles > 0) | "^.\($w).*.\(.count).*.\(.cycles | floor).$"), "^.\($w).dispatch_rate.\(.values.dispatch_rate.value | tostring)", "^.\($w).cycles that start 0 uops.\(.ilp[0]).$"' "$run/results.json" >"$work/lines"
	while read -r line; do
		echo "$html" | grep -qE "$line" || { echo "not in the report: $line"; return 1; }
	done <"$work/lines"
	[ "$(wc -l <"$work/lines")" -ge 5 ]
}
for workload in latency_bound bandwidth_bound branchy mixed; do check "report_has_the_consoles_numbers_of_$workload" drawn "$workload"; done
# Sample-after values of the Core 2's lists: two million cycles by what the run measured, the paper's values where it has them.
samples() {
	mkdir -p "$work/core2" && "$out/stallmeter" run --backend sim --machine core2 --suite load.dram_local.penalty,load.l2.penalty --out "$work/core2" >"$work/said" || return 1
	"$out/stallmeter" events --profile "$1" "$work"/core2/*-0001 >"$work/list" 2>"$work/why" || return 1
	grep -q "$2" "$work/list" && grep -q "$3" "$work/why" || { cat "$work/list" "$work/why"; return 1; }
	rm -r "$work/core2"
}
check "account_samples_by_measured_penalties" samples big-four 'cycles/period=2000000/.*event=0xcb,umask=0x8,period=104[0-9][0-9],name=MEM_LOAD_RETIRED.L2_LINE_MISS/p' \
	'^MEM_LOAD_RETIRED.L2_LINE_MISS .*for 19[12]\.[0-9]* cycles: load.dram_local.penalty'
check "account_samples_without_a_penalty_as_cycles" samples second-level 'umask=0x2,period=166[0-9]*,name=MEM_LOAD_RETIRED.L1D_LINE_MISS/p' \
	'^LOAD_BLOCK.STA .* 2000000, as cycles: no row'
mkdir -p "$work/core2" && "$out/stallmeter" run --backend sim --machine core2 --suite load.l1.latency --out "$work/core2" >/dev/null
check "account_samples_of_no_profile" says 2 'has no profile "nine"' "$out/stallmeter" events --profile nine "$work"/core2/*-0001
tap_end
