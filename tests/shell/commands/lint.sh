#!/bin/bash
# The register lint: traces in the order of Linux's drivers are accepted, each mistake planted in them is told where it takes effect, what
# this product writes itself replays without a finding, and the other forms of the report hold the same findings.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter traces=tests/traces
declare -A machine=([haswell-ep-uncore]=haswell-ep [skylake-uncore]=skylake [skylake-sp-uncore]=skylake-sp)
for name in nehalem-ep core2 sandy-bridge haswell-ep skylake-sp ice-lake-sp sapphire-rapids pentium4 haswell-ep-uncore skylake-uncore skylake-sp-uncore zen4; do
	check "lint_accepts_linux_${name//-/_}" "$s" replay --machine "${machine[$name]:-$name}" --findings "$traces/$name.trace"
done
# found TRACE MACHINE EDIT ADDRESS CLASS WORDS: the finding stands at that line, and an earlier one is none but of the select that it names
found() {
	sed "$3" "$traces/$1.trace" >"$work/planted"
	! cmp -s "$traces/$1.trace" "$work/planted" || { echo "the edit changes nothing"; return 1; }
	local line
	line=$(sed -n "$4=" "$work/planted" | head -n 1)
	status 1 "$s" replay --machine "$2" --format json "$work/planted" >"$work/json" || return 1
	jq -e --argjson line "${line:-0}" --arg class "$5" --arg words "$6" \
		'[.findings[] | select(.counts)] as $found | any($found[]; .line == $line and .class == $class and (.text | contains($words)) and
			(.clash_line as $at | $found | all(.[]; .line >= $line or .line == $at)))' \
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
ran() { # ran MACHINE
	local rows=load.l1.latency,load.l2.latency
	case $1 in nehalem-ep) rows+=,load.l3.latency,load.dram_local.latency;; pentium4) rows+=,sample.precise.skid;; core2) rows=load.l2.latency;; esac
	"$s" run --backend sim --machine "$1" --suite $rows --repetitions 1 --out "$work/run_$1" --trace "$work/ran" >/dev/null
	[ "$(grep -c '^wrmsr' "$work/ran")" -gt 50 ] && "$s" replay --machine "$1" --findings "$work/ran"
}
names=$("$s" list --machines | sed 's/ .*//')
check "lint_knows_the_machines" test "$(wc -w <<<"$names")" -ge 6
for name in $names; do
	check "lint_accepts_the_plan_of_${name//-/_}" own "$name"
	check "lint_accepts_a_run_of_${name//-/_}" ran "$name"
done

# The same accesses as ftrace prints them, on processors 3 and 11 of 16, among other events, stack traces and losses: the same findings.
as_ftrace() { # as_ftrace CPU, from the own form
	awk -v cpu="$1" '
		BEGIN { print "# tracer: nop"; print "CPU:9 [LOST 17 EVENTS]" }
		function hex(s) { sub(/^0x/, "", s); return s }
		/^(rdmsr|wrmsr|rdpmc) / {
			name = $1 == "rdpmc" ? "rdpmc" : $1 == "rdmsr" ? "read_msr" : "write_msr"
			printf " Web [7] read_msr: 1-4711 [%03d] d..1. 87.%06d: sched_switch: prev_comm=a ==> next_comm=b\n", cpu, NR
			printf " Web [7] read_msr: 1-4711 [%03d] d..1. 87.%06d: %s:          %s, value %s%s\n", cpu, NR, name, hex($3), hex($4), $5 == "fault" ? " #GP" : ""
			printf " => native_%s\n", name
		}'
}
found_in() { "$s" replay --format json "$@" | jq -c '[.findings[] | select(.counts) | [.class, .counter, .text, .paragraph]]'; }
numbered() {
	sed 's/0x10c300c0 # select0/0x24300c0/' $traces/nehalem-ep.trace >"$work/own"
	found_in "$work/own" >"$work/want"
	{ as_ftrace 3 <"$work/own"; as_ftrace 11 <$traces/nehalem-ep.trace; } >"$work/ftrace"
	found_in "$work/ftrace" >"$work/got" && [ "$(jq length "$work/want")" = 2 ] && diff "$work/want" "$work/got" || return 1
	found_in --cpus 3=0,11=7 - <"$work/ftrace" >"$work/got" && diff "$work/want" "$work/got" || return 1
	{ echo "cpus 3-11=0-8"; cat "$work/ftrace"; } >"$work/mapped"
	found_in "$work/mapped" >"$work/got" && diff "$work/want" "$work/got"
}
check "lint_finds_the_same_in_ftraces_text_of_any_processor" numbered
check "lint_refuses_a_map_without_a_processor" says 2 'not all have a counterpart' "$s" replay --cpus 3=0 "$work/ftrace"
check "lint_refuses_a_map_that_is_none" refuses 'machine, linux, or a list' "$s" replay --cpus 3:0 "$work/ftrace"
mmio() { printf 'VERSION 20070824\nMAP 1.5 1 0xfed10000 0xffffc90000000000 0x8000 0x0 0\nR 4 1.635211 1 0xfed15000 0x1f 0x0 0\nW 4 1.635212 1 0xfed15000 0x1f 0x0 0\n' | says 0 '0 accepted; 2 unmodelled; 0 findings' "$s" replay -; }
check "lint_reads_mmiotrace" mmio

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
