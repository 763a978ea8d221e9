#!/bin/bash
# `stallmeter run` natively: files of a run, numbering, Ctrl-C, expectations.
cd "$(dirname "$0")/../.." || exit 2
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

# Ctrl-C once: the current row ends, the files are whole, exit status 4. bash starts background jobs of a script
# with SIGINT ignored, which `env` undoes.
stopped() {
	env --default-signal=INT "$s" run --suite full --out "$work/stopped" >"$work/table" 2>&1 &
	local pid=$! rc=0 i
	for ((i = 0; i < 200; i++)); do grep -q '^load.l1' "$work/table" && break; sleep 0.05; done
	kill -INT "$pid"
	wait "$pid" || rc=$?
	cat "$work/table"
	[ "$rc" -eq 4 ] || { echo "exit status $rc, not 4"; return 1; }
}
check "ctrl_c_is_status_4" stopped
check "ctrl_c_leaves_valid_results" jq -e '.summary.stopped == true and (.rows | length) >= 1 and (.rows | length) < 15' "$work"/stopped/*/results.json
check "ctrl_c_leaves_an_ended_journal" sh -c 'tail -n 1 "$1"/*/journal.jsonl | jq -e ".event == \"end\""' - "$work/stopped"
tap_end
