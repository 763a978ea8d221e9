#!/bin/bash
# A simulated processor behind the real hw backend (tests/metal/metal.c): the quick suite's table is that of the simulated machine alone, and
# each register has its value from before when the run is over; three rows of NetBurst, of full-width counters, of AMD and its IBS likewise. Quick on
# all machines and planted faults: metal_long.sh.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
make -s OUT="$out" "$out/tests/metal/metal" "$out/stallmeter.img" >"$work/make" 2>&1 || { cat "$work/make"; exit 1; }
equal() { # MACHINE SUITE ROWS
	METAL_RUNS=$work/runs tests/metal/run.sh "$1" "$2" >"$work/told" 2>&1 || { tail -n 30 "$work/told"; return 1; }
	grep -E '^metal: [0-9]+ jobs|rows compared' "$work/told" | sed "s/^/# /" >>"$work/notes"
	grep -qE "^$3 rows compared" "$work/told"
}
check metal_quick_equals_the_simulated_machine equal "$(cat tables/machines/default)" quick 14
for machine in pentium4 skylake-sp; do
	REPETITIONS=5 check "metal_loads_of_${machine}_equal_the_simulated_machine" equal "$machine" load.l1.latency,load.l2.penalty,load.dram_local.latency 3
done
# of zen4 with a stream that takes another kernel behind hw than alone
REPETITIONS=5 check "metal_rows_of_zen4_equal_the_simulated_machine" equal zen4 load.l1.latency,load.l2.penalty,load.dram_local.latency,triad.l3.bandwidth 4
cat "$work/notes" 2>/dev/null
tap_end
