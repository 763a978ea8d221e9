#!/bin/bash
# Each format of `stallmeter export`, read back by something else: jq, xmllint, awk, and JSON Schema for the JSON ones.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
schema=$(command -v /usr/bin/jsonschema || command -v jsonschema)
"$s" run --backend sim --machine nehalem-ep --suite 'load.*,tlb.*,branch.*,read.*,core_to_core.*,frontend.*,exec.microcode*' --out "$work/runs" >/dev/null
run=$(echo "$work"/runs/*)
json=$run/results.json
e() { "$s" export "$@"; }
to() { e "$1" "${3:-$run}" >"$work/$2" 2>"$work/$2.notes"; }
value() { jq -r --arg n "$1" '.rows[] | select(.name == $n) | .value' "$json"; }
valid() { # valid FILE SCHEMA-TEXT
	echo "$2" >"$work/schema.json"
	[ -z "$schema" ] || "$schema" -i "$work/$1" "$work/schema.json"
}

check "export_says_simulated" says 0 "SIMULATED machine" e junit "$run"
check "export_csv" to csv x.csv
# a reader of RFC 4180 of its own: fields by state, quotes doubled
csv_fields() {
	awk -v RS='\r\n' '{ n = 0; q = 0; f = ""; for (i = 1; i <= length($0); i++) { c = substr($0, i, 1);
		if (c == "\"") { if (q && substr($0, i + 1, 1) == "\"") { f = f c; i++ } else q = !q } else if (c == "," && !q) { F[++n] = f; f = "" } else f = f c }
		F[++n] = f; if (q || n != 15) { print "line " NR ": " n " fields"; exit 1 } print F[1] "\t" F[5] "\t" F[15] }' "$work/x.csv"
}
normal() { awk -F'\t' '{ v = $2; if (v ~ /\./) { sub(/0+$/, "", v); sub(/\.$/, "", v) } print $1 "\t" v "\t" $3 }'; }
csv_same() { diff <(csv_fields | tail -n +2 | normal) <(jq -r '.rows[] | [.name, (.value // "" | tostring), .proof] | join("\t")' "$json" | normal); }
check "export_csv_holds_every_row" csv_same
check "export_core_to_core" to core-to-core c.csv
cells() { [ "$(tail -n +2 "$work/c.csv" | wc -l)" -eq "$(jq '[.rows[].matrix.cells // [] | length] | add' "$json")" ] && grep -E '^modified,0,4,305\.000,' "$work/c.csv" && head -1 "$work/c.csv" | grep -x $'state,owner,reader,median_cycles,p10_cycles,p90_cycles,low_cycles,high_cycles\r'; }
check "export_core_to_core_holds_every_pair" cells
check "export_curve" to curve v.csv
curves() { [ "$(tail -n +2 "$work/v.csv" | wc -l)" -eq "$(jq '[.rows[] | (.series // .curve // empty) | .points[] | length] | add' "$json")" ]; }
check "export_curve_holds_every_point" curves

check "export_junit" to junit j.xml
if command -v xmllint >/dev/null; then
	xml() { xmllint --xpath "$1" "$work/j.xml"; }
	check "export_junit_is_xml" xmllint --noout "$work/j.xml"
	counts() { [ "$(xml 'string(/testsuite/@tests)')" = "$(jq '.rows | length' "$json")" ] && [ "$(xml 'count(//testcase)')" = "$(jq '.rows | length' "$json")" ] &&
		[ "$(xml 'count(//skipped)')" = "$(jq '[.rows[] | select(.status == "unsupported")] | length' "$json")" ] && [ "$(xml 'count(//failure)')" = "$(xml 'string(/testsuite/@failures)')" ]; }
	check "export_junit_counts_rows" counts
	# As the run judged it: with the name in the list it fails, without it a row that is not ok is skipped.
	times() { [ "$(xml 'count(//testcase[@time >= 0])')" = "$(jq '.rows | length' "$json")" ] && [ "$(xml 'string(/testsuite/@time)')" != 0.000 ] &&
		xml 'string(/testsuite/@timestamp)' | grep -xE '20[0-9-]{8}T[0-9:]{8}'; }
	check "export_junit_has_times" times
	"$s" run --backend native --suite load.l1.latency,triad.l1.bandwidth --out "$work/native" >/dev/null
	check "export_junit_of_a_native_run" to junit j.xml "$(echo "$work"/native/*)"
	check "export_junit_of_a_native_run_has_no_failure" sh -c '[ "$1" = 0 ] && [ "$2" = 2 ]' - "$(xml 'count(//failure)')" "$(xml 'count(//skipped)')"
	jq '.rows |= map(if .status == "ok" then .status = "unproven" | .reason = "no counters" else . end)' "$json" >"$work/unproven.json"
	check "export_of_unproven_curves_is_refused" says 1 "no proved row with a curve" e curve "$work/unproven.json"
	check "export_unproven_curves" says 0 "^read.dram_all.bandwidth,0," e --unproven curve "$work/unproven.json"
	check "export_unproven_says_so" grep "values that nothing confirmed may be among these" "$work/says"
	printf 'load.l1.* = ok\n' >"$work/expect"
	"$s" run --backend native --suite load.l1.latency,triad.l1.bandwidth --expect "$work/expect" --out "$work/expected" >/dev/null
	check "export_junit_of_a_run_against_expectation" to junit j.xml "$(echo "$work"/expected/*)"
	check "export_junit_fails_what_was_not_expected" sh -c '[ "$1" = load.l1.latency ]' - "$(xml 'string(//testcase[failure]/@name)')"
	jq 'del(.summary.unexpected_rows) | .rows[0] |= (.status = "unproven" | .reason = "a < b & \"c\"")' "$json" >"$work/odd.json"
	check "export_junit_of_odd_strings" to junit j.xml "$work/odd.json"
	failure() { [ "$(xml 'string(//failure/@message)')" = 'unproven: a < b & "c"' ]; }
	check "export_junit_shows_failures" failure
else
	skip "export_junit_is_xml" "no xmllint"
fi

check "export_pmu_tools" to pmu-tools p.py
assigned() { awk -F' = | #' '/^[A-Za-z]/ { v[$1] = $2 } END { print v["Mem_STLB_Hit_Cost"], v["BAClear_Cost"] }' "$work/p.py" | grep -x "$(printf '%.3f %.3f' "$(value tlb.dtlb_4k.penalty)" "$(value frontend.baclear.penalty)")"; }
check "export_pmu_tools_has_the_measured_costs" assigned
check "export_pmu_tools_is_python" env PYTHONPYCACHEPREFIX="$work/cache" python3 -m py_compile "$work/p.py"
check "export_pmu_tools_leaves_out_what_it_cannot_hold" grep -x "# Avg_Assist_Cost: counted in issue slots, not in cycles" "$work/p.py"

check "export_perf_metrics" to perf-metrics m.json
check "export_perf_metrics_has_its_shape" valid m.json '{"type": "array", "minItems": 5, "items": {"type": "object", "required": ["MetricName", "MetricExpr", "MetricGroup", "BriefDescription"],
  "additionalProperties": {"type": "string"}, "properties": {"MetricExpr": {"pattern": "^[0-9.]+ \\* .* / CPU_CLK_UNHALTED.THREAD$"}, "ScaleUnit": {"const": "100%"}}}}'
metric() { jq -r '.[] | select(.MetricName == "stallmeter_l2") | .MetricExpr' "$work/m.json" | grep -x "$(printf '%.3f' "$(value load.l2.penalty)") \* MEM_LOAD_RETIRED.L2_HIT / CPU_CLK_UNHALTED.THREAD"; }
check "export_perf_metrics_has_the_measured_cost" metric
check "export_likwid" to likwid l.txt
likwid() { # each counter of the event set is used once in a metric, and only the machine's own
	awk '/^EVENTSET/ { s = 1 } /^METRICS/ { s = 2 } /^LONG/ { s = 3 } s == 1 && /^PMC/ { set[$1] = 1; n++ } s == 2 { for (p in set) if (index($0, p "*")) used[p]++ }
		END { for (p in set) if (used[p] != 1) exit 1; exit !(n == 4 && s == 3) }' "$work/l.txt" && grep -x "PMC0 MEM_LOAD_RETIRED_L2_HIT" "$work/l.txt"
}
check "export_likwid_is_a_group" likwid
if command -v likwid-perfctr >/dev/null && arch=$(likwid-perfctr -i 2>/dev/null | sed -n 's/^CPU short:[[:space:]]*//p') && [ -n "$arch" ] && [ "$arch" != nil ] && [ "$arch" != unknown ]; then # nil is Lua's; both of a processor it has no name for
	likwid_loads() { # by likwid itself, as a group of the processor at hand: its readers look at the shape, not at the events
		mkdir -p "$work/user/.likwid/groups/$arch" && cp "$work/l.txt" "$work/user/.likwid/groups/$arch/STALLS.txt" &&
			HOME=$work/user likwid-perfctr -a | grep -E "STALLS[[:space:]]+Stall cycles by source" && HOME=$work/user likwid-perfctr -H -g STALLS | grep "^Each share is the count times"
	}
	check "export_likwid_is_read_by_likwid" likwid_loads
else
	skip "export_likwid_is_read_by_likwid" "no likwid-perfctr that knows this processor"
fi
check "export_hmat" to hmat h.json
check "export_hmat_has_its_shape" valid h.json '{"type": "object", "required": ["hmat_latency", "slit"], "properties": {"slit": {"type": "array", "items": {"type": "array", "items": {"type": "integer", "minimum": 10, "maximum": 254}}}}}'
hmat() { jq -c '.hmat_latency.entries, .slit' "$work/h.json"; jq -e --argjson l "$(jq '.rows[] | select(.name == "load.dram_local.latency").ns' "$json")" '.slit[0][0] == 10 and .slit[0][1] > 10 and (.hmat_latency.entries[1][1] == ($l * 1000 | round))' "$work/h.json"; }
check "export_hmat_is_the_measured_one" hmat
bandwidth() { # each pair's as its series has it, in MB/s
	jq -c .hmat_bandwidth.entries "$work/h.json"
	jq -e --slurpfile r "$json" '[$r[0].rows[] | select(.name | startswith("read.node_")) | .series.points[]] as $points | .hmat_bandwidth.entries as $m |
		($points | length) == 4 and ([$points[] | . as $p | ($m[$p[0]][$p[1]] - $p[2] / 1e6) | fabs <= 0.5] | all)' "$work/h.json"
}
check "export_hmat_has_the_measured_bandwidths" bandwidth
check "export_hmat_says_that_the_firmwares_tables_are_missing" grep -F "the firmware's own tables are not in these results" "$work/h.json.notes"
# By hand: a firmware that says half of the measured local latency, nothing of the remote one, and distances 10 and 21.
half=$(jq '.rows[] | select(.name == "load.dram_local.latency").ns * 500 | round' "$json")
jq --arg half "$half" '.environment += {hmat_access_latency_0: "\($half) -", hmat_access_latency_1: "- \($half)", slit_0: "10 21", slit_1: "21 10"}' "$json" >"$work/said.json"
check "export_hmat_with_the_firmwares_tables" to hmat f.json "$work/said.json"
differs() {
	jq -c '.hmat_latency, .slit_difference' "$work/f.json"
	jq -e '.hmat_latency.firmware_difference_percent == [[-50.0, null], [null, -50.0]] and .hmat_latency.firmware_from == "hmat_access_latency" and (.slit[0][1] as $d |
		(.slit_difference.firmware_difference_percent[0][0] == 0) and ((.slit_difference.firmware_difference_percent[0][1] - (21 / $d - 1) * 100) | fabs) < 3)' "$work/f.json"
}
check "export_hmat_gives_the_difference" differs

check "export_retire_latency_is_refused_without_timed_pebs" says 1 "refused: no retirement latencies .* load-to-use latency is not retirement latency" e retire-latency "$run"
check "export_retire_latency_refused_writes_nothing" sh -c '[ -z "$("$1" export retire-latency "$2" 2>/dev/null)" ]' - "$s" "$run"
jq '.retire_latency = [{event: "MEM_LOAD_RETIRED.L2_HIT", count: 500, min: 0, mean: 7.25, max: 210}, {event: "MEM_LOAD_RETIRED.L3_HIT", count: 0, min: 0, mean: 0, max: 0}]' "$json" >"$work/timed.json"
check "export_retire_latency" to retire-latency r.json "$work/timed.json"
check "export_retire_latency_has_its_shape" valid r.json '{"type": "object", "required": ["Platform", "Data"], "additionalProperties": false, "properties": {"Platform": {"type": "string"},
  "Data": {"type": "object", "minProperties": 1, "additionalProperties": {"type": "object", "required": ["MIN", "MEAN", "MAX"], "additionalProperties": {"type": "number", "minimum": 0}}}}}'
retire() { jq -e '.Data == {"MEM_LOAD_RETIRED.L2_HIT": {"MIN": 0, "MEAN": 7.25, "MAX": 210}}' "$work/r.json"; }
check "export_retire_latency_leaves_out_events_without_a_record" retire
check "export_refuses_an_unknown_format" refuses '"xls": no such format; allowed: csv, .*core-to-core' e xls "$run"
check "export_refuses_one_operand" refuses "a format and a run are expected" e csv
tap_end
