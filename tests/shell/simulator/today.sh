#!/bin/bash
# Simulated machines of processors that are sold today: each proves its quick suite, but for rows that are listed with the reason.
#   MACHINES=LIST   these alone; SUITE=full: the full suite (today_long.sh)
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
suite=${SUITE:-quick}
least() { # rows that are ok at least, of the quick suite and of the full one
	case $1-$suite in
	skylake-quick) echo 13 ;; broadwell-ep-quick) echo 13 ;; *-quick) echo 14 ;;
	sierra-forest-full) echo 95 ;; *-full) echo 120 ;;
	esac
}
listed() { # MACHINE [ALTERNATIVE]: the rows that are unproven; with `|unsupported`, those that may be that instead
	sed -n "s/^$1 \([^ ]*\) = unproven${2-} .*/\1/p" tests/shell/simulator/today.txt | LC_ALL=C sort
}
unproven() { # MACHINE: those that are; what cores of both kinds do together is no processor's
	jq -r '.rows[] | select(.status == "unproven" and (.name | endswith("@all") | not)) | .name' "$work/$1"/*/results.json | LC_ALL=C sort
}
proves() { # MACHINE: exit status 0, and the rows that are unproven are listed, those of the full suite all of them and at most 8 of each kind of cores
	local rc=0
	sed -n "s/^$1 //p" tests/shell/simulator/today.txt | sed 's/ *#.*//' >"$work/$1.expect"
	"$out/stallmeter" run --backend sim --machine "$1" --suite "$suite" --expect "$work/$1.expect" --trace "$work/$1.trace" --out "$work/$1" >"$work/$1.log" 2>&1 || rc=$?
	cat "$work/$1.log"
	[ $rc -eq 0 ] || { jq -r '"not as expected: " + (.summary.unexpected_rows[]? // "more than its rows")' "$work/$1"/*/results.json; return 1; }
	"$out/stallmeter" replay --findings --machine "$1" "$work/$1.trace" >"$work/$1.findings" || { cat "$work/$1.findings"; return 1; }
	[ "$(jq '[.rows[] | select(.status == "ok")] | length' "$work/$1"/*/results.json)" -ge "$(least "$1")" ] || return 1
	unproven "$1" | LC_ALL=C comm -23 - <(listed "$1" '\(|unsupported\)*') >"$work/$1.unlisted"
	[ ! -s "$work/$1.unlisted" ] || { cat "$work/$1.unlisted"; return 1; }
	[ "$suite" = quick ] || listed "$1" | LC_ALL=C comm -23 - <(unproven "$1") >"$work/$1.proved"
	[ ! -s "$work/$1.proved" ] || { cat "$work/$1.proved"; return 1; }
}
few() { # no processor has more than 8 rows that may be unproven
	sed -n 's/^\([^ #]*\) [^ @]*\(@[a-z]*\)* = unproven.*/\1\2/p' tests/shell/simulator/today.txt | sort | uniq -c | awk '$1 > 8 { print; bad = 1 } END { exit bad || NR < 8 }'
}
check "today_few_rows_are_unproven" few
for machine in ${MACHINES:-skylake sandy-bridge-ep broadwell-ep ice-lake-sp sapphire-rapids sierra-forest alder-lake}; do
	check "today_${suite}_of_${machine//-/_}" proves "$machine"
done
[ "$suite" = quick ] || { tap_end; exit; }

# Adaptive records: the second method, by the load-latency event, agrees, and with timed ones each source has its retire latency.
timed() { # in a chase each load waits for the one before
	jq -e '.rows[] | select(.name == "load.l2.latency") | .latency_event | .verdict == "agrees" and .retire_latency.count >= 200 and
		.retire_latency.event == "MEM_LOAD_RETIRED.L2_HIT" and (.retire_latency.mean - .value | fabs) < 1' "$work/sapphire-rapids"/*/results.json
}
check "today_adaptive_records_of_ice_lake" jq -e '[.rows[].latency_event | select(. != null) | .verdict] | length == 4 and all(. == "agrees")' "$work/ice-lake-sp"/*/results.json
check "today_ice_lake_has_no_timed_records" jq -e '[.rows[].latency_event | select(. != null) | has("retire_latency")] | all(. == false)' "$work/ice-lake-sp"/*/results.json
check "today_timed_records_hold_retire_latencies" timed
exported() {
	"$out/stallmeter" export retire-latency "$work/sapphire-rapids"/*/results.json >"$work/retire.json" 2>/dev/null || return 1
	jq -e '.Platform == "sapphire-rapids" and (.Data["MEM_LOAD_RETIRED.L2_HIT"] | .MIN > 0 and .MEAN >= .MIN and .MAX >= .MEAN)' "$work/retire.json"
}
check "today_retire_latencies_are_exported" exported
# Without the auxiliary event the data sources of Golden Cove are wrong: so they are where another event than the driver's is the auxiliary one.
sed 's/^latency_auxiliary = .*/latency_auxiliary = 0x8103/' tables/machines/sapphire-rapids.machine >"$work/other.machine"
check "today_sources_are_wrong_without_the_auxiliary_event" says 1 'load.l2.latency .* unproven' "$out/stallmeter" run --backend sim --machine "$work/other.machine" --suite load.l2.latency --out "$work/other"
check "today_the_missing_auxiliary_event_is_told" says 1 'without the auxiliary event' "$out/stallmeter" replay --machine "$work/other.machine" "$work/sapphire-rapids.trace"

# A hybrid: rows run on the kind of cores that is asked for, with its descriptor, and nothing is written to a core of another kind.
small() {
	"$out/stallmeter" run --backend sim --machine alder-lake --kind e --suite 'load.l?.latency,tlb.dtlb_4k.penalty' --trace "$work/small.trace" --out "$work/small" || return 1
	jq -e '.machine.descriptor == "alder-lake-e" and .machine.cores == 8 and .environment.core_kinds == "p: cores 0 to 7, e: cores 8 to 15; rows on e" and
		([.rows[] | {(.name): .value}] | add | ."load.l1.latency@e" == 3 and ."load.l2.latency@e" == 20 and (."tlb.dtlb_4k.penalty@e" - 9 | fabs) < 0.1)' "$work/small"/*/results.json
}
check "today_rows_run_on_small_cores" small
check "today_nothing_is_written_to_large_ones" sh -c '[ "$(grep -c "^wrmsr 8 " "$1")" -gt 100 ] && ! grep -qE "^wrmsr [0-7] " "$1"' - "$work/small.trace"
check "today_what_is_written_to_small_cores_has_no_findings" "$out/stallmeter" replay --machine alder-lake "$work/small.trace"
check "today_large_cores_are_told" jq -e '.machine.descriptor == "alder-lake-p" and (.environment.core_kinds | endswith("rows on p, e, all"))' "$work/alder-lake"/*/results.json
# Lines that large cores have kept from their rows are none of the small ones' L3.
check "today_small_cores_meet_no_lines_of_large_ones" "$out/stallmeter" run --backend sim --machine alder-lake --suite load.l3.latency,load.dram_page_hit.latency --out "$work/kept"
# A processor of another record format than its descriptor says: its own word is taken, and that is said.
sed 's/^pebs_format = .*/pebs_format = 5/' tables/machines/ice-lake-sp.machine >"$work/differs.machine"
check "today_a_contradiction_is_said" says 0 'ice-lake-sp: CPUID contradicts the description: precise records are of format 5, not 4; the values of CPUID are used' \
	"$out/stallmeter" run --backend sim --machine "$work/differs.machine" --suite load.l2.latency --out "$work/differs"
check "today_its_own_word_is_taken" jq -e '.environment.not_as_described == "precise records are of format 5, not 4" and (.rows[0].latency_event.verdict == "agrees")' "$work/differs"/*/results.json
check "today_no_contradiction_elsewhere" sh -c '! grep -l not_as_described "$1"/*/*/results.json | grep -v /differs/' - "$work"
# An Intel processor that nobody describes: architectural rows, and a machine.txt by which its folder can be written.
sed 's/^model = .*/model = 254/' tables/machines/ice-lake-sp.machine >"$work/nobody.machine"
nobody() {
	local rc=0
	"$out/stallmeter" run --backend sim --machine "$work/nobody.machine" --suite quick --out "$work/nobody" || rc=$?
	[ $rc -le 1 ] && jq -e '.machine.descriptor == "intel" and ([.rows[] | select(.status != "ok" and .reason == "")] | length) == 0' "$work/nobody"/*/results.json &&
		"$out/stallmeter" list --identify "$work/nobody"/*/machine.txt | grep -q intel
}
check "today_an_unknown_intel_processor_has_architectural_rows_and_is_described" nobody
check "today_a_kind_that_is_not_there_is_refused" refuses '--kind e: this machine has no cores of that kind' "$out/stallmeter" run --backend sim --machine skylake --kind e
tap_end
