#!/bin/bash
# A hybrid's rows run once for each kind of its cores, in one run, and behind them on all cores together what several do at once.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s="$out/stallmeter"
printf '* = ok|unproven|unsupported\n' >"$work/any" # Gracemont has no event of forwarding; no event is one of both kinds
both() { "$s" run --backend sim --machine alder-lake --expect "$work/any" "$@"; }
rows='load.l1.latency,tlb.dtlb_4k.penalty,read.l1_all.bandwidth,read.dram_all.bandwidth,core_to_core.clean_same_socket.latency'

check "hybrid_rows_run_on_each_kind" says 0 "rows on p, e, all" both --suite "$rows" --trace "$work/trace" --out "$work/run"
results=("$work"/run/*/results.json)
check "hybrid_rows_are_named_with_their_kind" jq -e '[.rows[].name | sub(".*@"; "")] == ["p", "p", "p", "p", "p", "e", "e", "e", "e", "e", "all", "all"]' "$results"
check "hybrid_rows_of_all_cores_have_no_event_as_expected" "$s" run --backend sim --machine alder-lake --suite read.dram_all.bandwidth,core_to_core.clean_same_socket.latency --out "$work/all"
truth() { # alder-lake.machine: 5 and 3 cycles, 7 and 9 for the second TLB level, eight cores of each kind
	jq -e '[.rows[] | {(.name): .value}] | add | ."load.l1.latency@p" == 5 and ."load.l1.latency@e" == 3 and ."tlb.dtlb_4k.penalty@p" == 7 and
		(."tlb.dtlb_4k.penalty@e" - 9 | fabs) < 0.1' "$results"
}
check "hybrid_each_kind_has_its_own_truth" truth
pairs() { jq -e --arg n "$1" --argjson pairs "$2" '.rows[] | select(.name == "core_to_core.clean_same_socket.latency@" + $n) | .matrix.cells | length == $pairs' "$results"; }
check "hybrid_pairs_of_large_cores" pairs p 56
check "hybrid_pairs_of_small_cores_that_share_no_l2" pairs e 32
across() { # pairs of one kind with the other in either direction
	jq -e '.rows[] | select(.name == "core_to_core.clean_same_socket.latency@all") | .status == "unproven" and (.reason | test("no event is one of all kinds")) and
		([.matrix.cells[] | select((.[0] < 8) != (.[1] < 8))] | length == 128)' "$results"
}
check "hybrid_pairs_of_both_kinds" across
sums() { # two channels of 38.4 GB/s limit all of a kind, and all
	jq -e '[.rows[] | {(.name): .value}] | add | [."read.dram_all.bandwidth@p", ."read.dram_all.bandwidth@e", ."read.dram_all.bandwidth@all"] |
		all(. > 0.9 * 76.8e9 and . <= 76.8e9)' "$results"
}
check "hybrid_bandwidth_of_all_cores" sums
# A stream's rate is what its memory channels moved, also behind rows of the other kind, whose last windows left lines of it in their cores' L2.
moved() {
	"$s" run --backend sim --machine alder-lake --suite triad.dram_nt.bandwidth --repetitions 7 --out "$work/moved" || return 1
	jq -e '[.rows[] | .value / ([.memory_channels[] | .read + .write] | add)] | length == 2 and all(. > 0.99 and . < 1.01)' "$work"/moved/*/results.json
}
check "hybrid_streams_find_no_lines_of_the_other_kind" moved
kinds() {
	jq -e '[.core_kinds[] | [.name, .first, .machine.cores, .machine.descriptor]] == [["p", 0, 8, "alder-lake-p"], ["e", 8, 8, "alder-lake-e"], ["all", 0, 16, "x86-64"]] and
		([.summary.pinned[] | .core_kind] | unique == ["e", "p"])' "$results"
}
check "hybrid_results_describe_each_kind" kinds
check "hybrid_csv_has_the_kinds" sh -c 'grep -c "^load.l1.latency@[pe]," "$1" | grep -qx 2' - "$(dirname "$results")/penalties.csv"
check "hybrid_report_has_the_kinds" sh -c 'grep -q "load.l1.latency@p" "$1" && grep -q "load.l1.latency@e" "$1"' - "$(dirname "$results")/report.html"
check "hybrid_export_has_the_kinds" says 0 'load.l1.latency@e,' "$s" export csv "$results"
valid() { jsonschema -i "$results" results/schema.json; }
[ -z "$(command -v jsonschema)" ] && skip "hybrid_results_are_valid" "no jsonschema" || check "hybrid_results_are_valid" valid

# What is written: rows of a kind write to its cores alone, all cores together write nothing, and no write is one that a core would refuse.
check "hybrid_writes_have_no_findings" says 0 ' 0 findings' "$s" replay --machine alder-lake "$work/trace"
written() { # CORES BEFORE|AFTER: numbers of the lines before or after "at the end" that write to these cores
	awk -v small="$1" -v part="$2" '/^# at the end/ { end = 1 } /^wrmsr/ && (end ? "AFTER" : "BEFORE") == part && ($2 > 7) == small { print NR }' "$work/trace"
}
apart() { # rows of large cores come first: their last write is before the first one to a small core
	[ "$(written 0 BEFORE | wc -l)" -gt 100 ] && [ "$(written 1 BEFORE | wc -l)" -gt 100 ] &&
		[ "$(written 0 BEFORE | tail -n 1)" -lt "$(written 1 BEFORE | head -n 1)" ]
}
nothing() { ! awk '/^# read.dram_all.bandwidth/ { n++ } /^# at the end/ { n = 0 } n == 3 && /^wrmsr/' "$work/trace" | grep -q .; }
put_back() { [ "$(written 0 AFTER | wc -l)" -gt 8 ] && [ "$(written 1 AFTER | wc -l)" -gt 8 ]; }
check "hybrid_rows_write_to_cores_of_their_kind_alone" apart
check "hybrid_all_cores_together_write_nothing" nothing
check "hybrid_registers_of_both_are_put_back" put_back

# Choices.
check "hybrid_one_kind_is_chosen" says 0 '^load.l1.latency@e .* ok' both --kind e --suite load.l1.latency --out "$work/one"
check "hybrid_run_compares_with_another" says 0 "load.l1.latency@e" "$s" compare --all "$results" --vs "$work"/one/*/results.json
check "hybrid_cores_need_a_kind" refuses 'numbers are those of one kind of cores: choose it' both --cores 0-3 --suite load.l1.latency --out "$work/cores"
check "hybrid_a_profile_is_of_the_first_kind" says 0 'load.l1.latency@p' both --profile MEM_LOAD_RETIRED.L1_HIT --suite load.l1.latency --out "$work/profile"
printf 'store.forward.latency = ok\nstore.forward.latency@e = unproven\n' >"$work/by_kind"
check "hybrid_expectations_are_by_kind" "$s" run --backend sim --machine alder-lake --suite store.forward.latency --expect "$work/by_kind" --out "$work/expected"
printf 'store.forward.latency@p = unproven\nstore.forward.latency@e = unproven\n' >"$work/by_kind"
check "hybrid_an_unexpected_row_is_named_with_its_kind" says 1 'not as expected' "$s" run --backend sim --machine alder-lake --suite store.forward.latency --expect "$work/by_kind" --out "$work/odd"
check "hybrid_unexpected_rows_have_the_kind" jq -e '.summary.unexpected_rows == ["store.forward.latency@p"]' "$work"/odd/*/results.json

# The journal has what the results have, also when it is read on its own.
journal() {
	mkdir "$work/journal" && cp "$(dirname "$results")/journal.jsonl" "$work/journal/" &&
		"$s" export csv "$work/journal/journal.jsonl" >"$work/a.csv" && "$s" export csv "$results" >"$work/b.csv" && cmp "$work/a.csv" "$work/b.csv"
}
check "hybrid_journal_gives_the_same" journal
tap_end
