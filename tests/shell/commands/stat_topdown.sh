#!/bin/bash
# `stat -M topdown`: shares of allocation slots by PERF_METRICS, against what the simulated machine did: its general counters of slots and of uops in like
# windows, and what the machine file says of a misprediction. Within 2 % of all slots.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
counts=TOPDOWN.SLOTS,UOPS_RETIRED.SLOTS,UOPS_ISSUED.ANY,IDQ_UOPS_NOT_DELIVERED.CORE,TOPDOWN.BACKEND_BOUND_SLOTS
second=$counts,TOPDOWN.BAD_SPEC_SLOTS,TOPDOWN.MEMORY_BOUND_SLOTS
shares() { # MACHINE WORKLOAD EVENTS AWK: v[NAME] a count or a share of 1, w slots; the awk program says what is wrong
	"$s" stat --machine "$1" -M topdown -e "$3" -w "$2" --windows 8 --format csv >"$work/counts" || return 1
	awk -F, "$awk_begin"' END { w = v["TOPDOWN.SLOTS"]; if (!w) bad("no slots"); '"$4"'; exit wrong }' "$work/counts" || { cat "$work/counts"; return 1; }
}
awk_begin='function bad(why) { print why; wrong = 1 } function near(a, b, what) { if (a - b > 0.02 || b - a > 0.02) bad(what ": " a " is not " b) }
	NR > 1 { gsub(/"/, "", $1); v[$1] = $2 ~ /metric/ ? $3 / 100 : $3 }'
first='near(v["topdown.retiring"], v["UOPS_RETIRED.SLOTS"] / w, "retiring"); near(v["topdown.frontend_bound"], v["IDQ_UOPS_NOT_DELIVERED.CORE"] / w, "frontend");
	near(v["topdown.backend_bound"], v["TOPDOWN.BACKEND_BOUND_SLOTS"] / w, "backend");
	near(v["topdown.retiring"] + v["topdown.bad_speculation"] + v["topdown.frontend_bound"] + v["topdown.backend_bound"], 1, "all four")'
for machine in ice-lake-sp sapphire-rapids; do
	for row in load.dram_local.latency load.l3.latency branch.conditional.penalty frontend.lcp.penalty frontend.l1i_l3.penalty load.l1.latency; do
		check "topdown_of_${row}_on_${machine//-/_}" shares "$machine" "$row" "$counts" "$first"
	done
done
# Which part of the tree a workload is.
check "topdown_memory_is_memory" shares sapphire-rapids load.dram_local.latency "$second" \
	'if (v["topdown.backend_bound.memory_bound"] < 0.97) bad("memory bound"); near(v["topdown.backend_bound.memory_bound"], v["TOPDOWN.MEMORY_BOUND_SLOTS"] / w, "memory")'
check "topdown_code_beyond_the_l1_is_fetch_latency" shares sapphire-rapids frontend.l1i_l2.penalty "$second" 'if (v["topdown.frontend_bound.fetch_latency"] < 0.8) bad("fetch latency")'
check "topdown_chain_in_the_l1_is_not_memory" shares sapphire-rapids load.l1.latency "$second" 'if (v["topdown.backend_bound.core_bound"] < 0.85) bad("core bound")'
# Bad speculation by other counts and the machine file: uops that were allocated and not retired, and the slots until the right path came.
width=6 misses=$(sed -n 's/^mispredict_cycles = //p' tables/machines/sapphire-rapids.machine)
wrong_path() { # MACHINE CYCLES: of a misprediction
	shares "$1" branch.conditional.penalty TOPDOWN.SLOTS,UOPS_RETIRED.SLOTS,UOPS_ISSUED.ANY,BR_MISP_RETIRED.ALL_BRANCHES \
		'near(v["topdown.bad_speculation"], (v["UOPS_ISSUED.ANY"] - v["UOPS_RETIRED.SLOTS"] + v["BR_MISP_RETIRED.ALL_BRANCHES"] * '"$2 * $width"') / w, "bad speculation");
		near(v["topdown.bad_speculation.branch_mispredicts"], v["topdown.bad_speculation"], "mispredictions")'
}
check "topdown_bad_speculation_is_the_machines" wrong_path sapphire-rapids "$misses"
sed "s/^mispredict_cycles = .*/mispredict_cycles = $((2 * misses))/" tables/machines/sapphire-rapids.machine >"$work/slow.machine"
check "topdown_bad_speculation_moves_with_the_machine" wrong_path "$work/slow.machine" $((2 * misses))
# Formats, cores added up, intervals; where there is none; what is written leaves no finding.
check "topdown_in_json" sh -c '"$1" stat --machine ice-lake-sp -M topdown -w load.l1.latency --cores 0-1 --format json |
	jq -e "[.metrics[] | select(.metric | startswith(\"topdown.\"))] | length == 4 and (map(.value) | add | . > 99 and . < 101)"' - "$s"
check "topdown_in_intervals" sh -c '[ "$("$1" stat --machine sapphire-rapids -M topdown -w load.dram_local.latency -I 0.2 --for 1 --format csv | grep -c "topdown.backend_bound\"")" -eq 5 ]' - "$s"
check "topdown_on_a_hybrid_is_of_large_cores" says 0 'topdown.backend_bound.memory_bound' "$s" stat --machine alder-lake -M all -w load.l1.latency
check "topdown_is_refused_before_ice_lake" refuses '"topdown": skylake has no metric of that name' "$s" stat --machine skylake -M topdown -w load.l1.latency
sed 's/^metrics = .*/metrics = 0/' tables/machines/ice-lake-sp.machine >"$work/none.machine"
check "topdown_without_the_register_says_so" refuses 'no PERF_METRICS' "$s" stat --machine "$work/none.machine" -M topdown -w load.l1.latency
check "topdown_misspelt_is_suggested" refuses 'topdown' "$s" stat --machine ice-lake-sp -M topdwon -w load.l1.latency
tap_end
