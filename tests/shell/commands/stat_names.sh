#!/bin/bash
# `stallmeter stat` takes other names of an event than the table's: a founding document's, perf's, a concept's, the uncore manual's without a box; and
# says what is wrong with a name that it does not take. What else its users meet: rates, what is said of a workload, a first window that counts nothing.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=${OUT:-out}/stallmeter

stat() { "$s" stat "$@"; }
# is MACHINE WORKLOAD NAME TABLE'S-NAME: the name is taken, and printed as the table has it
is() { stat --machine "$1" --windows 1 -w "$2" -e "$3" --format csv | tail -n +2 | grep -qE "^\"$4\","; }
refuses_name() { # PATTERN ARGUMENTS...
	local pattern=$1; shift
	refuses "$pattern" "$s" stat "$@"
}

# Each of tables/processors/*/spellings.csv.
every_spelling() { # PROCESSOR
	local list
	list=$(awk -F, '!/^#/ && $1 != "spelling" { print $1 }' "tables/processors/$1/spellings.csv")
	stat --machine "$1" --windows 1 -w idle -e "$(paste -sd, <<<"$list")" --format csv >"$work/counts" || return 1
	awk -F, '!/^#/ && $1 != "spelling" { print $2 }' "tables/processors/$1/spellings.csv" | sort -u >"$work/want"
	tail -n +2 "$work/counts" | cut -d'"' -f2 | sort -u | diff "$work/want" -
}
check "stat_takes_every_documents_spelling_of_core2" every_spelling core2
check "stat_takes_every_documents_spelling_of_nehalem_ep" every_spelling nehalem-ep
check "stat_takes_every_documents_spelling_of_haswell_ep" every_spelling haswell-ep
# perf's names take modifiers that a fixed counter does not: a general counter counts then.
general() {
	local m
	for m in nehalem-ep haswell-ep skylake-sp; do
		stat --machine $m -w load.l2 --windows 1 -e instructions,instructions:k,instructions:u,cycles:uk,cycles --format csv >"$work/counts" || return 1
		awk -F, 'NR > 1 { v[NR - 1] = $3 } END { exit !(NR == 6 && v[1] > 4096 && v[2] > 0.99 * v[1] && v[2] < 1.01 * v[1] && v[3] == 0 && v[4] > 0.99 * v[5] && v[4] < 1.01 * v[5]) }' "$work/counts" || { cat "$work/counts"; return 1; }
	done
}
check "stat_takes_modifiers_of_perfs_names" general
# The paper's :C=1:I=1 counts what CYCLES_NONE does, in the same run.
complement() {
	stat --machine core2 -w account.mixed -e RS_UOPS_DISPATCHED:C=1:I=1,RS_UOPS_DISPATCHED:cmask=1:inv=1 --format csv >"$work/counts" &&
		awk -F, 'NR == 2 { v = $3 } NR == 3 { exit !(v > 1000 && $3 > v - 20 && $3 < v + 20) }' "$work/counts"
}
check "stat_takes_cmask_and_inv_as_the_paper_and_perf_write_them" complement
latency() { # the SDM's name with a threshold: a third of the loads is sampled, and all take 41 cycles
	stat -w load.l3 -e MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD:ldlat=40,MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD:ldlat=60 --format csv >"$work/counts" &&
		awk -F, 'NR == 2 { v = $3 } NR == 3 { exit !(v > 4000 && v < 6000 && $3 < 100) }' "$work/counts"
}
check "stat_takes_the_latency_event_by_its_name_in_the_sdm" latency
check "stat_refuses_a_threshold_below_the_least" refuses_name 'ldlat=2 is out of range' -w load.l3 -e MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD:ldlat=2

perf_names() { # MACHINE: the work of a chase of 2 x 4096 loads, by perf's names
	stat --machine "$1" -w load.l2 --windows 2 -e cycles,instructions,branch-misses --format csv >"$work/counts" || return 1
	awk -F, '{ v[NR - 1] = $3 } END { exit !(NR == 4 && v[1] > 50000 && v[2] > 8192 && v[2] < 11000 && v[3] < 100) }' "$work/counts"
}
for m in nehalem-ep haswell-ep skylake-sp zen4; do
	check "stat_takes_perfs_names_on_${m//-/_}" perf_names "$m"
done
check "stat_takes_what_an_event_means" is nehalem-ep idle load.hit.l2 MEM_LOAD_RETIRED.L2_HIT
check "stat_takes_what_an_event_means_of_netburst" is pentium4 load.l2 cycles CYCLES_RUNNING

# perf's terms, as `stallmeter events` prints them too: the same counts as by name, modifiers behind the slash, the names that they are given.
perf_terms() {
	stat -w load.dram_local --windows 1 --format csv -e cpu/event=0x3c,umask=0/,CPU_CLK_UNHALTED.THREAD_P,cpu/event=0x0e,umask=0x1,cmask=1,inv=1,name=ISSUE_STALL/k,UOPS_ISSUED.ANY:cmask=1:inv >"$work/counts" || return 1
	stat -w load.dram_local --windows 1 --format csv -e cpu/event=0xb7,umask=0x1,offcore_rsp=0x4001,name=OFFCORE/,OFFCORE_RESPONSE_0.DEMAND_DATA.LOCAL_DRAM | tail -n +2 >>"$work/counts"
	stat -w load.l3 --windows 1 --format csv -e cpu/event=0xb,umask=0x10,ldlat=40,name=LATER/,MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_4:ldlat=40 | tail -n +2 >>"$work/counts"
	sed 's/,umask[^"]*"/"/' "$work/counts" | awk -F, 'NR > 1 { v[NR - 1] = $3; name[NR - 1] = $1 } END {
		exit !(NR == 9 && v[1] > 1e5 && v[1] == v[2] && v[3] > 1e5 && v[3] == v[4] && v[5] >= 1024 && v[5] == v[6] && v[7] > 1000 && v[7] > 0.95 * v[8] && v[7] < 1.05 * v[8] && name[3] == "\"ISSUE_STALL\"") }'
}
check "stat_takes_perfs_terms" perf_terms
perf_terms_u() { stat -w load.l2 --windows 1 --format csv -e cpu/event=0x3c,umask=0/u | tail -n +2 | sed 's/,umask[^"]*"/"/' | grep -qE '^"[^"]*","",0,'; }
check "stat_takes_modifiers_behind_perfs_terms" perf_terms_u
refuses_terms() {
	refuses_name "perf's p takes precise samples" -w idle -e cpu/event=0xcb,umask=0x2/pp && refuses_name 'umask=0x20000 is out of range' -w idle -e cpu/event=0xcb,umask=0x20000/ &&
		refuses_name 'unask=1 is no term here: event=N' -w idle -e cpu/event=0xcb,unask=1/ && refuses_name 'the term event=N is missing' -w idle -e cpu/umask=1/ &&
		refuses_name "perf's uncore_imc_0/.../ is not known here; name an event" -w idle -e uncore_imc_0/cas_count_read/ &&
		refuses_name 'has no event 0x3c,0x0 that takes ldlat' -w idle -e cpu/event=0x3c,ldlat=8/ && refuses_name 'is not known here' --machine pentium4 -w idle -e cpu/event=0x3c/
}
check "stat_says_which_of_perfs_terms_is_wrong" refuses_terms
# A raw code is counted where the table says that its event counts: Haswell's misses in flight on counter 2 alone. A unit mask that the table lacks goes
# where all others of its event do.
raw() {
	stat --machine haswell-ep -w load.dram_local --windows 1 --format csv -e r0148,L1D_PEND_MISS.PENDING,r1000148,L1D_PEND_MISS.PENDING:cmask=1,cpu/event=0x48,umask=0x1/ >"$work/counts" &&
		awk -F'"' 'NR > 1 { split($5, cell, ","); v[NR - 1] = cell[2] } END { exit !(NR == 6 && v[1] > 2e5 && v[1] == v[2] && v[3] > 1e5 && v[3] == v[4] && v[5] == v[2]) }' "$work/counts"
}
check "stat_counts_a_raw_code_where_its_event_counts" raw
unlisted() { [ "$(stat -w idle --windows 1 -e r0340,r0540,r0640 --format json | jq .runs)" -eq 2 ]; } # L1D_CACHE_LD on counters 0 and 1
check "stat_counts_an_unlisted_unit_mask_where_the_others_count" unlisted
# What a register of its own says of a code has to be said.
registers() {
	refuses_name 'register 0x1a6 says what 0xb7,0x1 counts' -w idle -e r01b7 && refuses_name 'register 0x1a6 says what 0xb7,0x1 counts' -w idle -e cpu/event=0xb7,umask=1/ &&
		refuses_name 'register 0x3f6 says what 0xb,0x10 counts' -w idle -e r100b && refuses_name '0xb,0x10 that takes offcore_rsp' -w idle -e cpu/event=0xb,umask=0x10,offcore_rsp=0x40/ &&
		refuses_name 'ldlat=2 is out of range' -w idle -e cpu/event=0xb,umask=0x10,ldlat=2/
}
check "stat_refuses_a_code_without_its_registers_value" registers
twice() {
	refuses_name 'cmask is given twice' -w idle -e instructions:cmask=1:cmask=2 && refuses_name 'c is given twice' -w idle -e instructions:c=1:cmask=2 && refuses_name 'thresh is given twice' --machine pentium4 -w idle -e uops_retired.NBOGUS:thresh=3:cmask=2 &&
		refuses_name 'opc is given twice' --machine haswell-ep -w idle -e TOR_INSERTS.OPCODE:opc=0x182:OPC=0x1c8 &&
		stat -w idle --windows 1 --format csv -e cpu/event=0xc0,umask=0,cmask=1,name=A/,cpu/event=0xc0,umask=0,cmask=3,name=A/ >"$work/counts" && [ "$(wc -l <"$work/counts")" -eq 3 ]
}
check "stat_keeps_one_of_two_values_of_nothing" twice
too_long() { local zeros; zeros=$(printf '%0100d' 182); refuses_name 'at most 111 characters' --machine haswell-ep -w idle -e "TOR_INSERTS.OPCODE:opc=0x$zeros" && refuses_name 'at most 111 characters' -w idle -e "INST_RETIRED.ANY_P:cmask=$zeros"; }
check "stat_cuts_no_name_short" too_long
idle_filter() {
	refuses_name 'nid has no effect here: it acts only on events that select it' --machine haswell-ep -w idle -e TOR_INSERTS.OPCODE:opc=0x182:nid=1 &&
		refuses_name 'opc has no effect here' --machine haswell-ep -w idle -e UNC_C_CLOCKTICKS:opc=0x182 && refuses_name 'band1 has no effect here' --machine haswell-ep -w idle -e UNC_P_FREQ_BAND0_CYCLES:band0=12:band1=13 &&
		refuses_name 'edge and invert are of the comparison that thresh=N makes' --machine haswell-ep -w idle -e UNC_C_CLOCKTICKS:edge
}
check "stat_refuses_a_filter_that_does_nothing" idle_filter
# The model has no non-coherent requests, and says that it cannot tell them.
coherent() { stat --machine haswell-ep -w load.l3 --windows 1 -e TOR_INSERTS.OPCODE:opc=0x182:nc=1 | grep -q 'not modelled by this simulated machine: which requests are non-coherent'; }
check "stat_says_that_non_coherent_requests_are_not_told" coherent
# `events` and `stat` speak of the same events.
of_events() {
	"$s" run --backend sim --suite load.l2.penalty --out "$work/runs" >/dev/null && "$s" events --profile memory-access "$(echo "$work"/runs/*)" >"$work/perf" 2>"$work/err" || { cat "$work/err"; return 1; }
	stat -w load.l2 --windows 1 -e "$(sed 's:/pp*\(,\|$\):/\1:g' "$work/perf")" --format csv >"$work/counts" && [ "$(wc -l <"$work/counts")" -gt 5 ]
}
check "stat_counts_what_events_prints_for_perf" of_events
check "stat_says_what_linux_alone_counts" refuses_name 'Linux counts it, and no Linux runs here' -w idle -e context-switches
check "stat_says_what_no_one_event_counts" refuses_name 'no one event of zen4 counts llc.miss; name what does together: LS_ANY_FILLS_FROM_SYS.DRAM_IO_ALL\+' --machine zen4 -w idle -e cache-misses
check "stat_says_why_nothing_counts_a_name_of_perf" refuses_name 'no one event of nehalem-ep counts load.miss.l1 \(retired loads are counted by where they hit\)' -w idle -e L1-dcache-load-misses
check "stat_takes_perfs_names_of_caches" is skylake-sp load.l2 LLC-load-misses MEM_LOAD_RETIRED.L3_MISS
check "stat_refuses_groups_of_events" refuses_name 'no groups; name the events alone' -w idle -e '{cycles,instructions}'
check "stat_refuses_likwids_counters" refuses_name 'FIXC0 is a counter as likwid names it' -w idle -e INST_RETIRED_ANY:FIXC0
check "stat_refuses_likwids_counters_of_boxes" refuses_name 'MBOX0C0 is a counter as likwid names it' --machine haswell-ep -w idle -e CAS_COUNT_RD:MBOX0C0
check "stat_takes_what_an_event_of_the_uncore_means" is skylake-sp idle queue.read.inserts UNC_CHA_TOR_INSERTS.IA:filter1=0x40433
check "stat_takes_perfs_name_of_a_hybrids_large_cores" is alder-lake load.l2 cpu_core/event=0xc0,name=RETIRED/ RETIRED
check "stat_refuses_a_hybrids_other_cores" refuses_name "perf's cpu_atom/.../ is not known here" --machine alder-lake -w idle -e cpu_atom/event=0xc0/
# A box by its number, as stat, Linux and likwid write it.
numbered() {
	stat --machine haswell-ep -w triad.dram_all --windows 1 -e 'imc[1].CAS_COUNT.RD,imc1.CAS_COUNT.WR,imc_1.CAS_COUNT.ALL' --format csv >"$work/counts" &&
		awk -F, 'NR == 2 { r = $3 } NR == 3 { w = $3 } NR == 4 { exit !(r > 1000 && w > 100 && $3 > 0.99 * (r + w) && $3 < 1.01 * (r + w) && $1 == "\"imc[1].UNC_M_CAS_COUNT.ALL\"") }' "$work/counts"
}
check "stat_takes_numbers_of_boxes_in_each_spelling" numbered
check "stat_a_profile_says_what_counts_account" says 2 'account.NAME: .stallmeter stat -w' "$s" run --backend sim --profile memory-access --suite account.branchy
check "stat_takes_uncore_events_without_a_box" is haswell-ep idle CAS_COUNT.RD UNC_M_CAS_COUNT.RD
check "stat_refuses_what_several_boxes_have" refuses_name 'no event of that name; nearest: ' --machine haswell-ep -w idle -e CLOCKTICKS
bare() { stat --machine haswell-ep --windows 1 -w triad.dram_all -M mem_bw_total --format csv | grep -qE '^"imc.MEM_BW_TOTAL","metric",[1-9]'; }
check "stat_takes_metrics_without_a_box" bare
# A metric that has no rank takes none; one that is named alone and with its box stands there once.
terms_of_metrics() {
	refuses_name 'imc.MEM_BW_TOTAL has no rank' --machine haswell-ep -w idle -M mem_bw_total:rank=1 && refuses_name 'has no node' --machine haswell-ep -w idle -M imc.PCT_CYCLES_DRAM_RANKx_IN_CKE:node=1 &&
		refuses_name 'rank is given twice' --machine haswell-ep -w idle -M imc:rank=1:rank=2 &&
		[ "$(stat --machine haswell-ep -w idle --windows 1 -M imc:rank=1,imc.MEM_BW_TOTAL,imc.PCT_CYCLES_DRAM_RANKx_IN_CKE --format csv | cut -d'"' -f2 | sort | uniq -d)" = imc.PCT_CYCLES_DRAM_RANKx_IN_CKE ]
}
check "stat_takes_a_metrics_own_terms" terms_of_metrics
check "stat_says_how_many_boxes_there_are" refuses_name 'at most 18 boxes cbo, 0 to 17' --machine haswell-ep -w idle -e "cbo[99].LLC_LOOKUP.ANY"
check "stat_says_what_is_no_number" refuses_name 'opc=DRD is no number; box cbo takes' --machine haswell-ep -w idle -e TOR_INSERTS.OPCODE:opc=DRD

# Bytes of a metric are a rate too: reads and writes of memory together, less than four channels of two sockets carry.
rates() {
	stat --machine haswell-ep -w triad.dram_all -M imc.MEM_BW_READS,imc.MEM_BW_TOTAL --format csv >"$work/counts" || return 1
	awk -F, 'NR == 2 { r = $7 } NR == 3 { exit !(r > 6e10 && $7 > r && $7 < 2 * 4 * 17.1e9) }' "$work/counts" &&
		stat --machine haswell-ep -w triad.dram_all -M imc.MEM_BW_TOTAL | grep -qE 'bytes +[1-9][0-9]+\.[0-9]{3} GB/s +imc.MEM_BW_TOTAL'
}
check "stat_gives_rates_of_bytes" rates
# A metric's bytes a second are those of the event that it is made of.
same_rate() {
	stat --machine skylake-sp -w triad.dram_all -e imc.CAS_COUNT.RD -M imc.MEM_BW_READS --format csv >"$work/counts" || return 1
	awk -F, 'NR == 2 { r = $7 * 64 } NR == 3 { exit !(r > 1e11 && $7 > 0.999 * r && $7 < 1.001 * r) }' "$work/counts"
}
check "stat_gives_a_metric_the_rate_of_its_event" same_rate
# Without fixed counters, cycles that are counted beside the others are those to divide by.
per_cycle() { stat --machine zen4 -w load.l3 --windows 1 -e ex_ret_instr,cycles --format csv >"$work/counts" && awk -F, 'NR == 2 { n = $6 } NR == 3 { exit !($6 == 1 && n > 0.02 && n < 0.03) }' "$work/counts"; }
check "stat_counts_per_cycle_on_amd_too" per_cycle
# Workloads in turn: each line and each object says which.
in_turn() {
	stat -w account.mixed,load.l2 --windows 1 -e cycles --format csv >"$work/counts" && [ "$(grep -v ^name, "$work/counts" | awk -F, '{ print $NF }' | paste -sd' ')" = "account.mixed load.l2.latency" ] &&
		[ "$(stat -w account.mixed,load.l2 --windows 1 -e cycles --format json | jq -r .workload | paste -sd' ')" = "account.mixed load.l2.latency" ]
}
check "stat_says_which_workload_a_line_is_of" in_turn
check "stat_prints_figures_by_core" says 0 'INST_RETIRED.ANY core 2' "$s" stat -w idle --cores 0,2 --per core -e instructions
# A core's figures are by its own work and its own cycles.
own_figures() {
	local one="stat -w idle --cores 0-3 --per core --windows 1 -e instructions,cycles"
	$one --format json | jq -e '[.events[] | select(.where == " core 3")] as $c | [.events[] | select(.where == "")] as $all |
		($c | length) == 2 and $c[0].units * 4 == $all[0].units and $c[0].per_unit > 9 and $c[0].per_unit < 11 and $c[0].per_cycle > 3.9 and $c[1].per_cycle == 1 and $all[1].per_cycle == 1' &&
		$one --format csv | awk -F, '$2 == "\" core 2\"" { p[++n] = $6 } END { exit !(n == 2 && p[1] > 3.9 && p[2] == 1) }' && $one | grep -Eq ' 1\.000 .*THREAD core 1$'
}
check "stat_divides_a_cores_figures_by_its_own_cycles" own_figures
check "stat_names_a_workload_as_it_is_asked_for" says 0 'account\.mixed on 1 core; 1 run' "$s" stat -w account.mixed --windows 1 -e instructions
# The call of the kernel is mispredicted in the first window of a run, and lines of code come from memory.
warm() {
	stat --windows 1 -w load.dram_remote -e BR_MISP_EXEC.NEAR_CALLS,OFFCORE_RESPONSE_0.ANY_IFETCH.LOCAL_DRAM --format csv | awk -F, 'NR > 1 && $3 != 0 { bad = 1 } END { exit bad || NR != 3 }'
}
check "stat_does_not_count_the_first_window" warm
tap_end
