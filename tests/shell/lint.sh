#!/bin/bash
# The register lint: traces in the order of Linux's drivers are accepted, each mistake planted in them is told where it takes effect, what
# this product writes itself replays without a finding, and the other forms of the report hold the same findings.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
s=$out/stallmeter traces=tests/traces
declare -A machine=([haswell-ep-uncore]=haswell-ep)
for name in nehalem-ep core2 haswell-ep skylake-sp pentium4 haswell-ep-uncore; do
	check "lint_accepts_linux_${name//-/_}" "$s" replay --machine "${machine[$name]:-$name}" --findings "$traces/$name.trace"
done
# Linux writes an SBo's event once where the manual asks for two writes.
once() { says 1 '; 1 findings$' "$s" replay --machine haswell-ep --findings "$traces/haswell-ep-sbox.trace" && grep -q '^6: missing latch' "$work/says"; }
check "lint_tells_an_sbo_event_that_was_written_once" once

# found TRACE MACHINE EDIT ADDRESS CLASS WORDS: the first finding stands at that line, and is this one
found() {
	sed "$3" "$traces/$1.trace" >"$work/planted"
	! cmp -s "$traces/$1.trace" "$work/planted" || { echo "the edit changes nothing"; return 1; }
	local line
	line=$(sed -n "$4=" "$work/planted" | head -n 1)
	status 1 "$s" replay --machine "$2" --format json "$work/planted" >"$work/json" || return 1
	jq -e --argjson line "${line:-0}" --arg class "$5" --arg words "$6" \
		'[.findings[] | select(.counts)] | .[0].line == $line and any(.[]; .line == $line and .class == $class and (.text | contains($words)))' \
		"$work/json" || { cat "$work/json"; echo "wanted at line $line"; return 1; }
}
n=0
while IFS=';' read -r trace of edit address class words; do
	case $trace in ''|'#'*) continue;; esac
	n=$((n + 1))
	check "lint_finds_planted_${n}_${class//[ ,]/_}_in_${trace//-/_}" found "$trace" "$of" "$edit" "$address" "$class" "$words"
done <$traces/planted.txt
check "lint_thirty_mistakes_are_planted" test "$n" -ge 30

# What the product itself does to the registers.
own() {
	"$s" plan --machine "$1" --trace "$work/plan" >/dev/null || return 1
	"$s" replay --machine "$1" --findings "$work/plan"
}
for name in nehalem-ep core2 haswell-ep skylake-sp pentium4; do
	check "lint_accepts_the_plan_of_${name//-/_}" own "$name"
done
ran() {
	"$s" run --backend sim --machine "$1" --suite "$2" --repetitions 1 --out "$work/run_$1" --trace "$work/ran" >/dev/null
	[ "$(grep -c '^wrmsr' "$work/ran")" -gt "$3" ] && "$s" replay --machine "$1" --findings "$work/ran"
}
check "lint_accepts_a_run_of_nehalem_ep" ran nehalem-ep load.l2.latency,load.l3.latency,load.dram_local.latency 100
check "lint_accepts_a_run_of_core2" ran core2 load.l2.latency 50
check "lint_accepts_a_run_of_haswell_ep" ran haswell-ep load.l1.latency,load.l2.latency 50
check "lint_accepts_a_run_of_skylake_sp" ran skylake-sp load.l1.latency,load.l2.latency 50
check "lint_accepts_a_run_of_pentium4" ran pentium4 load.l2.latency,sample.precise.skid 50

# Reports for CI.
sed 's/0x10c300c0 # select0/0x24300c0/' $traces/nehalem-ep.trace >"$work/planted"
report() { status 1 "$s" replay --format "$1" "$work/planted" >"$work/report"; }
sarif() { report sarif && jq -e '.version == "2.1.0" and ([.runs[0].results[] | select(.level != "note")] | length == 2 and .[0].ruleId == "undefined" and .[0].locations[0].physicalLocation.region.startLine > 1 and .[0].relatedLocations[0].physicalLocation.region.startLine > 1)' "$work/report"; }
check "lint_writes_sarif" sarif
junit() { report junit && [ "$(xmllint --xpath 'count(//failure)' "$work/report")" = 2 ] && xmllint --xpath 'string(//failure[1]/@message)' "$work/report" | grep -q 'counter 0, INSTRUCTION_RETIRED'; }
check "lint_writes_junit" junit
strict() { "$s" replay --findings $traces/nehalem-ep.trace && says 1 'unmodelled: register 0xc0000100' "$s" replay --findings --strict $traces/nehalem-ep.trace; }
check "lint_counts_what_is_not_modelled_if_strict" strict
tap_end
