#!/bin/bash
# `stallmeter run` natively: files of a run, numbering, Ctrl-C, expectations.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
runs=$work/runs

# A latency in a private cache has no value where another thread of the core takes every window; a bandwidth has.
check "native_quick_suite_runs" says 0 "^triad.l1.bandwidth +[0-9]+\.[0-9]+ GB/s " "$s" run --backend native --suite quick --out "$runs"
one=$(echo "$runs"/*-0001)
check "native_results_are_json" jq -e . "$one/results.json"
check "native_results_say_not_simulated" jq -e '.simulated == false and (.environment.place == "linux")' "$one/results.json"
lines_are_json() { jq -c . "$one/journal.jsonl" >"$work/parsed" && [ "$(wc -l <"$work/parsed")" -eq "$(wc -l <"$one/journal.jsonl")" ]; }
check "native_journal_lines_are_json" lines_are_json
rows() { jq -r '.rows[].name' "$one/results.json" | sort; }
check "native_quick_rows_are_all_there" sh -c 'diff "$1" "$2"' - <("$s" list --rows | awk '$2 == "q" { print $1 }' | sort) <(rows)
csv_rows() { tail -n +2 "$one/penalties.csv" | cut -d, -f1 | sort | diff - <(rows); }
check "native_csv_has_the_same_rows" csv_rows
check "native_leaves_no_temporary_file" sh -c '! ls "$1" | grep tmp' - "$one"

# For a terminal of 80 columns; what is common to many rows is said once, the rows have its number.
fits() { awk 'length > 79 && /[^ ] +[^ ]/ && !/^ +[^ ]+$/ { print; bad = 1 } END { exit bad }' "$1"; }
check "native_table_fits_80_columns" fits "$work/says"
"$s" run --backend sim --machine pentium4 --suite 'load.l1.latency,load.l3.*,triad.l3.*' --out "$work/lacks" >"$work/lacks.txt"
check "reason_of_several_rows_is_said_once" sh -c '[ "$(grep -c "^  1: no L3 cache$" "$1")" -eq 1 ] && [ "$(grep -cE " unsupported 1$" "$1")" -eq 3 ]' - "$work/lacks.txt"
"$s" run --backend sim --suite 'load.*,core_to_core.*,read.*' --proofs --out "$work/wide" >"$work/wide.txt"
check "proofs_fit_80_columns" fits "$work/wide.txt"
check "proofs_stand_below_their_row" sh -c 'grep -A1 "^load.l2.penalty .* ok$" "$1" | grep "^  MEM_LOAD_RETIRED.L2_HIT 1.000 per load"' - "$work/wide.txt"
"$s" >"$work/usage" --help && for c in $(sed -n 's/^COMMAND(\(.*\))$/\1/p' runner/commands/commands.def); do "$s" "$c" --help; done >>"$work/usage"
check "help_fits_80_columns" fits "$work/usage"

# On a terminal: how long a row has taken and what is left, also while it runs.
progress() {
	TERM=xterm script -qec "$s run --backend sim --suite load.l1.latency,read.dram_all.bandwidth --repetitions 120 --out $work/long" /dev/null </dev/null | tr '\r' '\n' | sed 's/^.\[K//' >"$work/progress"
	grep -xE '\[2/2\] read.dram_all.bandwidth: [2-9] s, about [0-9]+ s left' "$work/progress" || { cat "$work/progress"; return 1; }
}
check "progress_goes_on_within_a_row" progress

# The reader of a pipe leaves after a line: the run ends as it would have, with its files.
leaves() { "$s" run --backend sim --suite quick --out "$work/piped" 2>"$work/noise" | head -n 1; [ "${PIPESTATUS[0]}" -eq 0 ] || return 1; cat "$work/noise"; grep -q "^results: $work/piped" "$work/noise"; }
check "run_goes_on_when_its_reader_leaves" leaves
check "run_without_reader_has_results" jq -e '.summary.rows > 10 and (.summary.stopped | not)' "$work"/piped/*/results.json

# Nothing is overwritten: the next run has the next number and the first one's bytes stay.
sum() { cat "$one"/* | cksum; }
before=$(sum)
"$s" run --suite load.l1.latency --label 'a "label"' --out "$runs" >/dev/null
check "run_takes_the_next_number" test -d "${one%1}2"
check "run_leaves_earlier_results_alone" test "$before" = "$(sum)"
check "run_carries_the_label" jq -e '.label == "a \"label\""' "${one%1}2/results.json"
mkdir "${one%0001}0041"
"$s" run --suite load.l1.latency --out "$runs" >/dev/null
check "run_counts_from_the_highest" test -d "${one%0001}0042"

printf 'load.* = crashed\n' >"$work/wrong"
check "run_row_against_expectation_is_status_1" status 1 "$s" run --suite load.l1.latency --expect "$work/wrong" --out "$runs"
printf 'load.* = ok|noisy|unproven\n' >"$work/right"
check "run_row_as_expected_is_status_0" status 0 "$s" run --suite load.l1.latency --expect "$work/right" --out "$runs"

# Ctrl-C.
. tests/shell/commands/interrupted.sh
check "ctrl_c_is_status_4" interrupted --suite full
check "ctrl_c_leaves_valid_results" jq -e '.summary.stopped == true and (.rows | length) >= 1 and (.rows | length) < 15' "$work"/stopped/*/results.json
check "ctrl_c_leaves_an_ended_journal" sh -c 'tail -n 1 "$1"/*/journal.jsonl | jq -e ".event == \"end\""' - "$work/stopped"
tap_end
