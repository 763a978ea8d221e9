#!/bin/bash
# What the suite writes is what results/schema.json says, on each machine; what cannot be is refused by the schema and by
# the reader; the results of version 1 that are kept here can always be read.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
schema=$(command -v /usr/bin/jsonschema || command -v jsonschema)

valid() { "$schema" -i "$1" results/schema.json; }
invalid() { ! "$schema" -i "$1" results/schema.json; }
read_it() { "$s" report "$1" --out "$work/read.html"; }
results_of() { "$s" run "${@:2}" --out "$work/$1" >"$work/ran" && run=$(echo "$work/$1"/*) && ln -sfn "$run" "$work/run-$1"; }

check "results_run_nehalem" full_run
ln -sfn "$full" "$work/run-nehalem"
check "results_run_core2" results_of core2 --backend sim --machine core2 --suite quick
check "results_run_skylake" results_of skylake --backend sim --machine skylake-sp --suite quick
check "results_run_unknown_seed" results_of seed --backend sim --machine core2 --suite load.l1.latency --seed 18446744073709551615
check "results_run_profile" results_of profile --backend sim --machine nehalem-ep --profile general-exploration --suite 'load.l1.*'
check "results_run_native" results_of native --backend native --suite load.l1.latency,triad.l1.bandwidth
# Every window is disturbed by the other thread of the core: a noisy row without a value.
{ cat tables/machines/nehalem-ep.machine; printf '\n[fault]\nbusy_core = 2\nbusy_us = 0\n'; } | sed 's/^threads = .*/threads = 2/; s/^sockets = .*/sockets = 1/; s/^cores = .*/cores = 2/' >"$work/busy.machine"
disturbed() { results_of disturbed --backend sim --machine "$work/busy.machine" --suite load.l1.latency; [ $? = 1 ] && grep '0 *noisy\|- noisy' "$work/ran"; }
check "results_run_disturbed" disturbed
ln -sfn "$(echo "$work/disturbed"/*)" "$work/run-disturbed"
for name in nehalem core2 skylake seed profile native disturbed; do
	[ -z "$schema" ] && skip "results_valid_$name" "no jsonschema" || check "results_valid_$name" valid "$work/run-$name/results.json"
	check "results_read_$name" read_it "$work/run-$name"
	# the journal says the same as the results: the same report comes of it
	check "results_journal_read_$name" "$s" report "$work/run-$name/journal.jsonl" --out "$work/journal.html"
	check "results_journal_is_the_same_$name" cmp "$work/run-$name/report.html" "$work/journal.html"
done
check "results_seed_of_64_bits_is_shown" grep -F 18446744073709551615 "$work/run-seed/report.html"
check "results_of_version_1_are_read" read_it tests/results/version1.json
[ -z "$schema" ] && skip "results_of_version_1_are_valid" "no jsonschema" || check "results_of_version_1_are_valid" valid tests/results/version1.json

# A later build's file of this version: sections, keys and rows that are not known are read, drawn and kept.
jq '.later_section = {"of_a_later_build": 4711} | .rows[0].later_key = [1, 2] | .machine.later = "x" | .rows += [.rows[0] | .name = "later.row.latency" | .value = 5.5 | .cycles = 5.5]' \
	tests/results/version1.json >"$work/later.json"
check "results_of_a_later_build_are_read" read_it "$work/later.json"
check "results_of_a_later_build_are_drawn" grep -c "4711" "$work/read.html"
check "results_of_a_later_build_have_their_rows" grep "5.50" <("$s" report "$work/later.json" --out -)
exports() { "$s" export csv "$work/later.json" | grep '^later.row.latency,latency,cycles,ok,5.5'; }
check "results_of_a_later_build_are_exported" exports
[ -z "$schema" ] && skip "results_of_a_later_build_are_valid" "no jsonschema" || check "results_of_a_later_build_are_valid" valid "$work/later.json"
# An earlier one's, without what came later within the version.
jq 'del(.summary.unexpected_rows, .environment, .study, .rows[].core_hz, .rows[].memory_channels)' tests/results/version1.json >"$work/earlier.json"
check "results_of_an_earlier_build_are_read" read_it "$work/earlier.json"

bad() { # bad NAME JQ-EDIT PATTERN: refused by both, by the reader with one line
	jq "$2" tests/results/version1.json >"$work/$1.json"
	check "results_refuses_$1" refuses "$work/$1.json: $3" "$s" report "$work/$1.json"
	[ -z "$schema" ] && skip "schema_refuses_$1" "no jsonschema" || check "schema_refuses_$1" invalid "$work/$1.json"
}
bad negative_latency '.rows[0].value = -4' 'rows\[0\] \(load.l1.latency\): a latency of -4 cannot be'
bad no_samples '.rows[1].samples = 0' 'rows\[1\] .*has a value of no sample'
bad unknown_status '.rows[2].status = "good"' 'rows\[2\] .*"status" is "good", must be one of'
bad negative_spread '.rows[0].spread = -1' 'rows\[0\].spread: -1 is below zero'
bad version_2 '.version = 2' 'head: version 2 is newer than this program, which reads 1 to 1'
bad other_schema '.schema = "lmbench"' 'head: "schema" is not "stallmeter-results": no file of this program'
bad no_machine 'del(.machine)' 'head: "machine" is missing'
bad no_cores '.machine.cores = 0' 'machine: "cores" is 0, must be a whole number of at least 1'
head -c 3000 tests/results/version1.json >"$work/half.json"
check "results_refuses_half_a_file" refuses "half.json:1:[0-9]+: " "$s" report "$work/half.json"
check "results_refuses_a_binary" refuses "stallmeter:1:[0-9]+: " "$s" report "$s"
check "results_refuses_nothing" refuses "null:1:0: " "$s" report /dev/null
check "results_refuses_a_missing_file" refuses "$work/none: No such file" "$s" report "$work/none"
tap_end
