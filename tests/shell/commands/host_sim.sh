#!/bin/bash
# `stallmeter run --backend sim`: selection, files, exit statuses, the same bytes twice, machines that lack things.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter machine=tables/machines/nehalem-ep.machine
run() { "$s" run --backend sim --out "$work/runs" "$@"; }
# last FILE: of the newest run
last() { echo "$(find "$work/runs" -mindepth 1 -maxdepth 1 -type d | sort | tail -n 1)/$1"; }
results() { jq -e "$1" "$(last results.json)"; }

check "sim_quick_suite_is_status_0" run --suite quick
check "sim_every_quick_row_is_ok" results '([.rows[].status] | all(. == "ok")) and .summary.unexpected == 0'
check "sim_results_say_simulated" results '.simulated and .backend == "sim:nehalem-ep" and ([.rows[].simulated] | all)'
check "sim_quick_rows_are_all_there" sh -c 'diff "$1" "$2"' - \
	<("$s" list --rows | awk '$2 == "q" { print $1 }' | sort) <(jq -r '.rows[].name' "$(last results.json)" | sort)
check "sim_records_registers_before_the_first_write" results '.registers["0x186"] == "0x0" and .registers["0x38d"] == "0x0"'
check "sim_records_cpuid" results '[.cpuid[] | select(.[0] == "0x1")][0][2] == "0x000106a5"'
journal_is_json() { jq -e . "$(last journal.jsonl)" >/dev/null && [ "$(jq -r .event "$(last journal.jsonl)" | head -n 1)" = run ] && [ "$(jq -r .event "$(last journal.jsonl)" | tail -n 1)" = end ]; }
check "sim_journal_is_json_from_run_to_end" journal_is_json
first=$(last '')
check "sim_again_is_status_0" run --suite quick
again() { local f; for f in journal.jsonl results.json penalties.csv; do cmp <(grep -v environment "$first$f") <(grep -v environment "$(last $f)") || return 1; done; }
check "sim_again_gives_the_same_bytes" again
check "sim_again_has_a_directory_of_its_own" test "$first" != "$(last '')"

check "sim_only_selects_by_pattern" run --suite 'load.l?.penalty'
check "sim_only_ran_what_matches" results '[.rows[].name] == ["load.l2.penalty", "load.l3.penalty"]'
for bits in 128:sse2 256:avx; do
	check "sim_vectors_have_${bits%:*}_bits" run --machine skylake-sp --suite triad.l1.bandwidth --repetitions 3 --vector-bits ${bits%:*}
	check "sim_kernel_of_${bits%:*}_bits" results ".settings.vector_bits == ${bits%:*} and .rows[0].kernel == \"k_triad_${bits#*:}\""
done
check "sim_kernels_are_taken" run --machine zen4 --suite 'triad.l1.bandwidth,copy.l1_all.bandwidth,load.l1.latency' --repetitions 3 --kernels k_triad_grouped_sse2,k_copy_avx
check "sim_kernels_are_kept" results '.settings.kernels == "k_triad_grouped_sse2,k_copy_avx" and [.rows[].kernel] == ["k_chase", "k_triad_grouped_sse2", "k_copy_avx"]'
# A last level of Emerald Rapids' size: the arrays of a core are larger than a GiB.
awk '/^\[/ { l3 = $0 == "[l3]" } l3 && /^bytes =/ { $0 = "bytes = 335544320" } l3 && /^slices =/ { $0 = "slices = 40" } l3 && /^ways =/ { $0 = "ways = 16" } { print }' \
	tables/machines/sapphire-rapids.machine >"$work/large.machine"
check "sim_streams_exceed_a_last_level_of_320_mebibytes" says 0 '^read\.dram_all\.bandwidth .* ok$' run --machine "$work/large.machine" --suite read.dram_all.bandwidth --cores 0-1
check "sim_repetitions_are_taken" run --suite load.l1.latency --repetitions 3
check "sim_repetitions_are_kept" results '.settings.repetitions == 3 and .rows[0].samples <= 3'
check "sim_default_machine_is_the_built_in_one" says 0 "SIMULATED machine \(sim:nehalem-ep\)" run --suite load.l1.latency --machine nehalem-ep
cp "$machine" "$work/other.machine"
check "sim_machine_from_a_file" says 0 "SIMULATED machine \(sim:other\)" run --suite load.l1.latency --machine "$work/other.machine"

# An event map beside the machine file: as the built-in one, then without the event that proves the row, then refused.
mkdir "$work/twin"
sed 's/^events *=.*/events = twin/' "$machine" >"$work/twin/twin.machine"
twin() { run --suite load.l2.latency --machine "$work/twin/twin.machine"; }
check "sim_event_map_that_is_nowhere_is_refused" says 2 'twin.machine:[0-9]+: pmu\.events: no such map beside this file; built in are .*nehalem' twin
cp tables/machines/maps/nehalem.map "$work/twin/twin.map"
check "sim_event_map_beside_is_taken" says 0 '^load\.l2\.latency .* ok$' twin
sed -i 's/^\(0xCB,0x02\),.*/\1,0xF,unmodelled,,NOT_THERE,/' "$work/twin/twin.map"
check "sim_event_map_decides_what_is_counted" says 0 '^load\.l2\.latency .* unproven 1$' twin
check "sim_event_map_names_the_event_that_it_lacks" grep -q '1: this simulated machine does not model MEM_LOAD_RETIRED\.L2_HIT$' "$work/says"
echo '0xCB,0x03,0xF,,,NOT_THERE,NO_SIGNAL' >>"$work/twin/twin.map"
check "sim_event_map_is_checked" says 2 "twin.map:[0-9]+: signals: 'NO_SIGNAL' is not a name" twin

# Zen 2 counts demand fills (0x43) without those of prefetch instructions, which bring in all of a gather's lines.
check "sim_zen2_counts_fills_by_prefetch_instructions_separately" says 0 '^  LS_REFILLS_FROM_SYS.BEYOND_L2 0.000 per element' run --machine zen2 --proofs --suite exec.gather_prefetch.interval
# Rows of several cores in processes of their own: the same values whatever their number, and those of one core as ever.
processes() { # N NAME
	"$s" run --backend sim --out "$work/$2" --machine zen2 --repetitions 3 ${1:+--processes "$1"} \
		--suite "load.l2.latency,load.dram_loaded.penalty,read.l2_all.bandwidth,copy.l1_all.bandwidth,core_to_core.modified_*.latency,store.forward.latency" || return 1
	jq '[.rows[], .summary]' "$work/$2"/*/results.json >"$work/$2.rows"
	jq -e --arg n "$1" '(.environment.processes // "") == $n' "$work/$2"/*/results.json
}
check "sim_processes_run_rows" processes 3 three
check "sim_one_process_runs_rows" processes 1 one
check "sim_values_do_not_depend_on_the_number_of_processes" cmp "$work/one.rows" "$work/three.rows"
check "sim_no_process_runs_rows" processes '' none
check "sim_rows_of_one_core_do_not_depend_on_processes" test "$(jq -c '.[0].value, .[0].spread' "$work/one.rows")" = "$(jq -c '.[0].value, .[0].spread' "$work/none.rows")"
check "sim_processes_give_the_same_verdicts_and_pairs" cmp <(jq -c '.[] | [.name, .status, (.matrix.cells // [] | map(.[:2]))]' "$work/one.rows") <(jq -c '.[] | [.name, .status, (.matrix.cells // [] | map(.[:2]))]' "$work/none.rows")
check "sim_processes_count_instructions" sh -c 'test "$(jq ".[-1].simulated_instructions" "$1")" -gt 100000' - "$work/one.rows"
check "sim_processes_are_for_simulated_machines" says 2 '^stallmeter run: --processes: only with --backend sim' "$s" run --processes 2 --suite load.l1.latency
check "sim_processes_leave_no_trace" says 2 '^stallmeter run: --processes: only with' run --processes 2 --trace "$work/t" --suite load.l1.latency

# A row that is not as expected: an event that counts double (0x02CB: MEM_LOAD_RETIRED.L2_HIT).
{ cat "$machine"; printf '[fault]\novercount_event = 0x02CB\novercount_thousandths = 2000\n'; } >"$work/double.machine"
double() { run --machine "$work/double.machine" --suite load.l1.latency,load.l2.latency "$@"; }
check "sim_failing_row_is_status_1" says 1 '^load\.l2\.latency .* unproven 1$' double
check "sim_failing_row_is_in_the_files" jq -e '.summary.unexpected == 1 and .rows[1].status == "unproven" and .rows[1].reason != ""' "$(echo "$work"/runs/sim-double-*-0001/results.json)"
printf 'load.l2.* = unproven\n' >"$work/expect"
check "sim_expect_overrides_by_row" double --expect "$work/expect"
printf 'load.l2.* = unproven\nload.l1.* = noisy|fault\n' >"$work/expect"
check "sim_expect_of_another_row_is_status_1" status 1 double --expect "$work/expect"

# Boxes of the uncore that are hidden, or keep nothing: said once, and what the others say stays.
{ cat tables/machines/haswell-ep.machine; printf '[fault]\nuncore_hidden = 4\n'; } >"$work/hidden.machine"
{ cat tables/machines/haswell-ep.machine; printf '[fault]\nuncore_stuck = 2\n'; } >"$work/stuck.machine"
once() { [ "$(run --machine "$work/$1.machine" --suite load.l3.latency,load.dram_local.latency | grep -c "^uncore: $2")" = 1 ]; }
of() { jq -e "$2" "$work"/runs/sim-"$1"-*-0001/results.json; }
check "sim_hidden_boxes_are_said_once" once hidden "ha: no such function"
check "sim_hidden_boxes_are_in_the_files" of hidden '.summary.uncore[] | select(.box == "ha") | .boxes == 0 and (.absent | test("hidden"))'
check "sim_without_home_agents_the_table_of_requests_counts" of hidden '[.rows[].uncore_queue] | all(.verdict == "ok" and .home == null and .parts.held != null)'
check "sim_stuck_boxes_are_said_once" once stuck "cbo: its counters do not keep what is written"
check "sim_rows_beside_stuck_boxes_are_unsupported_there" of stuck '[.rows[].uncore_queue.verdict] | all(. == "unsupported")'

# An unknown processor, without counters: the generic rows, and a reason on each of the others. A simulated machine
# owes every proof, unless --expect says that it does not.
sed 's/^vendor *=.*/vendor = UnknownChip!/' "$machine" >"$work/unknown.machine"
printf '* = unproven|unsupported\n' >"$work/expect"
check "sim_unknown_processor_is_as_expected" run --machine "$work/unknown.machine" --suite quick --expect "$work/expect"
check "sim_unproven_rows_are_status_1" status 1 run --machine "$work/unknown.machine" --suite load.l1.latency
unknown=$(echo "$work"/runs/sim-unknown-*-0001/results.json)
check "sim_unknown_processor_has_reasons" jq -e '.machine.vendor == "UnknownChip!" and .machine.descriptor == "x86-64" and ([.rows[] | select(.status != "ok" and .reason == "")] | length) == 0' "$unknown"

# Ctrl-C.
. tests/shell/commands/interrupted.sh
check "sim_ctrl_c_is_status_4" interrupted --backend sim --suite full --repetitions 256
check "sim_ctrl_c_beside_processes_is_status_4" interrupted --backend sim --suite full --repetitions 256 --processes 2 --label beside_processes
none_left() { local i; for ((i = 0; i < 100; i++)); do grep -qsa '[b]eside_processes' /proc/[0-9]*/cmdline || return 0; sleep 0.1; done; return 1; }
check "sim_ctrl_c_ends_the_processes" none_left
check "sim_ctrl_c_leaves_valid_results" jq -e '.summary.stopped and (.rows | length) >= 1 and .summary.rows == (.rows | length)' "$work"/stopped/*/results.json
# The start-up sequence of Nehalem's counters (AAK100) is that of Westmere's too (BD53).
# 1A is Nehalem-EP's own model; 25 and 2C are Westmere's, 2E and 2F those of Nehalem-EX and Westmere-EX.
westmere() { sed "s/^model = .*/model = $1/" tables/machines/nehalem-ep.machine >"$work/westmere.machine"; grep -q "^model = $1" "$work/westmere.machine" && "$out/stallmeter" run --backend sim --machine "$work/westmere.machine" --suite load.l3.latency --out "$work/westmere"; }
for model in 37 44 46 47; do check "sim_westmere_starts_its_counters_$model" says 0 "^load.l3.latency .* ok$" westmere $model; done
# Core 2's front-side bus while cores stream: all four of a socket saturate it, one alone does not, and then all lines are its own.
bus() { # CORES LEAST MOST LINES: share of the bus clocks with data, in percent; lines of all agents for each of the core's
	rm -rf "$work/bus"
	"$out/stallmeter" run --backend sim --machine core2 --cores "$1" --suite read.dram_all.bandwidth --out "$work/bus" >"$work/said" || return 1
	jq -r '.rows[0].remark' "$work"/bus/*/results.json | tee "$work/remark"
	[[ $(cat "$work/remark") =~ ^"bus: data in "([0-9.]+)" % of its clocks, "([0-9.]+)" lines of all agents for each of this core's"$ ]] || return 1
	awk -v used="${BASH_REMATCH[1]}" -v lines="${BASH_REMATCH[2]}" -v least="$2" -v most="$3" -v want="$4" \
		'BEGIN { exit !(used >= least && used <= most && lines > 0.95 * want && lines < 1.05 * want) }' && grep -q '^  bus: data in ' "$work/said"
}
check "sim_core2_cores_saturate_their_bus" bus 0-7 99 100 4
check "sim_core2_one_core_a_socket_does_not" bus 0,4 60 85 1
tap_end
