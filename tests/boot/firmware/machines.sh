#!/bin/bash
# Machines that lack things: an unknown processor, no SRAT, no framebuffer, no MP services: said once, and the run
# goes on. Esc ends after the current row with valid files.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
log=$work/q/debugcon.log results=

boot() { # boot NAME SETTINGS OPTION...: fills $rc and $results
	local name=$1 settings=$2
	shift 2
	rc=0
	runner/qemu.sh --work "$work/q" --options "end=exit $settings" "$out/stallmeter.img" "$@" >"$work/boot" 2>&1 || rc=$?
	results=$(runner/fetch.sh "$work/q/disk.img" "$work/$name")
}
ended() { cat "$log" "$work/boot"; [ "$rc" -eq "$1" ] || { echo "status $rc, not $1"; return 1; }; }
once() { [ "$(grep -cE -- "$1" "$log")" -eq 1 ] || { cat "$log"; echo "not once: $1"; return 1; }; }
never() { ! grep -E -- "$1" "$log"; }
# in_results FILTER: jq's filter is true of results.json
in_results() { jq -e "$1" "$results/results.json" || { jq -c '{machine, summary}' "$results/results.json"; return 1; }; }

boot unknown suite=quick --cpu "qemu64,vendor=UnknownChip!"
check "unknown_processor_is_status_0" ended 0
check "unknown_processor_is_named" in_results '.machine.vendor == "UnknownChip!"'
check "unknown_processor_gets_the_generic_descriptor" in_results '.machine.descriptor == "x86-64"'
check "unknown_processor_gets_the_generic_rows" in_results '[.rows[] | select(.name == "load.l1.latency") | .value // .ns] | .[0] > 0'
check "unknown_processor_has_a_reason_on_every_other_row" in_results '[.rows[] | select(.status != "ok" and .reason == "")] | length == 0'
check "unknown_processor_claims_no_proof" in_results '[.rows[] | select(.status == "ok")] | length == 0'
check "virtual_machine_is_marked" in_results '.machine.virtual == true'
check "no_srat_is_said_once" once "no SRAT"
check "no_framebuffer_is_said_once" once "no framebuffer"
check "fetched_results_are_whole" in_results '.summary.rows == (.rows | length)'

boot present suite=load.l1.latency --smp 4 --nodes 2 -- -vga std
check "framebuffer_and_srat_are_found" never "no framebuffer|no SRAT"
check "four_processors_two_nodes" in_results '.machine.cores == 4 and .machine.nodes == 2'

boot alone suite=load.l1.latency --smp 4 -- -fw_cfg name=opt/stallmeter/without,string=processors
check "no_mp_services_is_status_0" ended 0
check "no_mp_services_is_said_once" once "only the boot processor is used"
check "no_mp_services_leaves_one_core" in_results '.machine.cores == 1'

# `hw` insists on counters, which this processor does not show.
boot insists "suite=load.l1.latency backend=hw"
check "hw_without_counters_is_status_3" ended 3
check "hw_without_counters_says_why" once "backend = hw, and this processor has no performance counters"

# The user's wish to stop while rows run: Esc on the keyboard, through QEMU's monitor, and Ctrl-C on the serial line.
# Both read from a pipe.
press() { # press BYTES: once the first row is there
	local i
	for ((i = 0; i < 1200; i++)); do grep -qs '^load.l1' "$log" && break; sleep 0.05; done
	printf "$1" >"$work/pipe.in"
}
stopped() {
	check "$1_is_status_4" ended 4
	check "$1_is_said" once "; stopped by the user$"
	check "$1_leaves_valid_results" in_results '.summary.stopped == true and (.rows | length) >= 1 and .summary.rows == (.rows | length)'
	check "$1_leaves_an_ended_journal" sh -c 'tail -n 1 "$1/journal.jsonl" | jq -e ".event == \"end\""' - "$results"
}
mkfifo "$work/pipe.in" "$work/pipe.out"
rm -f "$log"
press 'sendkey esc\n' &
boot esc suite=full -- -chardev "pipe,id=mon,path=$work/pipe" -mon chardev=mon
wait
stopped esc
rm -f "$log"
cat "$work/pipe.out" >/dev/null &
reader=$!
press '\003' &
boot ctrl_c suite=full --keys "$work/pipe"
kill "$reader" 2>/dev/null
wait
stopped ctrl_c
tap_end
