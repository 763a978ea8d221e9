#!/bin/bash
# `make run` as a user calls it: status 0 and the table when all is well; another status when a row fails, when the
# guest triple-faults, and on bad input. Processor time stands for the time it takes: tests may share the machine.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
machine=tables/machines/nehalem-ep.machine
unset STALLMETER_FIRMWARE_STATES # the whole boot, as users have it
run() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make run OUT="$out" "$@"; }

spent() { # spent COMMAND...: its processor time in seconds to $work/seconds
	local rc=0 TIMEFORMAT='%U %S'
	{ time "$@" >"$work/shown" 2>&1; } 2>"$work/time" || rc=$?
	awk '{ printf "%d\n", $1 + $2 }' "$work/time" >"$work/seconds"
	cat "$work/shown"
	return $rc
}
check "make_run_is_status_0" spent run
check "make_run_prints_the_table" grep -E '^load\.dram_local\.latency +[0-9]+\.[0-9]+ cycles .* ok$' "$work/shown"
check "make_run_prints_every_quick_row" sh -c 'diff "$1" "$2"' - \
	<("$out/stallmeter" list --rows | awk '$2 == "q" { print $1 }' | sort) <(grep -oE '^(load|tlb|triad)\.[a-z0-9_.]+' "$work/shown" | sort)
check "make_run_says_simulated" grep "SIMULATED machine (sim:nehalem-ep)" "$work/shown"
within() { cat "$work/seconds"; [ "$(cat "$work/seconds")" -le "$1" ]; }
check "make_run_takes_at_most_60_s_of_processor_time" within 60
fetched=$(sed -n 's/^fetched: //p' "$work/shown")
check "make_run_fetches_results" jq -e '.simulated and .summary.unexpected == 0' "$fetched/results.json"

# An event that counts double: the value is right and its proof is not. 0x02CB is MEM_LOAD_RETIRED.L2_HIT.
{ cat "$machine"; printf '[fault]\novercount_event = 0x02CB\novercount_thousandths = 2000\n'; } >"$work/double.machine"
check "make_run_with_a_failing_row_fails" says 2 '^load\.l2\.latency .* unproven 1$' \
	run MACHINE="$work/double.machine" SUITE=load.l1.latency,load.l2.latency
check "make_run_with_a_failing_row_says_why" grep '^  1: counted MEM_LOAD_RETIRED\.L2_HIT 2\.000 per load' "$work/says"
check "make_run_with_a_failing_row_says_so" grep "2 rows: 1 ok 1 unproven; 1 not as expected" "$work/says"
check "run_sh_with_a_failing_row_is_status_1" status 1 env OUT="$out" runner/run.sh "$work/double.machine" load.l2.latency
check "make_run_with_a_triple_fault_fails" says 2 "shut down or reset \(a triple fault looks so\)" run SELFTEST=triple
check "make_run_with_a_triple_fault_got_there" grep "# a triple fault comes now" "$work/says"
check "run_sh_with_a_triple_fault_is_status_5" status 5 env OUT="$out" SELFTEST=triple runner/run.sh nehalem-ep quick
check "make_run_with_an_unknown_machine_fails" says 2 'unknown machine "nehalem"; expected one of' run MACHINE=nehalem
check "make_run_with_an_unknown_row_fails" says 2 '"load.l9" is neither quick, full' run SUITE=load.l9
tap_end
