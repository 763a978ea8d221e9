#!/bin/bash
# A simulated machine measured in the guest and by the host command: the same bytes outside the environment block,
# for a built-in machine and for one from a file on the boot volume. The guest's log on serial and on the debug port.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
machine=tables/machines/nehalem-ep.machine
(cat "$machine"; echo '# another text, another directory') >"$work/mine.machine"
cp --sparse=always "$out/stallmeter.img" "$work/base.img"
mcopy -i "$work/base.img@@1M" "$work/mine.machine" ::/stallmeter/mine.machine

# both NAME GUEST'S-MACHINE HOST'S-MACHINE SUITE SEED: fills $guest and $host with the run directories
both() {
	local name=$1 rc=0
	runner/qemu.sh --work "$work/q" --options "end=exit backend=sim:$2 suite=$4 seed=$5" "$work/base.img" >"$work/boot" 2>&1 || rc=$?
	check "same_${name}_guest_ends_with_0" sh -c 'cat "$1"; exit $2' - "$work/boot" $rc
	guest=$(runner/fetch.sh "$work/q/disk.img" "$work/guest-$name")
	check "same_${name}_host_ends_with_0" "$out/stallmeter" run --backend sim --machine "$3" --suite "$4" --seed "$5" --out "$work/host-$name"
	host=$(echo "$work/host-$name"/*)
}
without() { grep -v "$1" "$2"; }
same() { # same FILE PATTERN-OF-THE-LINES-THAT-MAY-DIFFER
	cmp <(without "$2" "$guest/$1") <(without "$2" "$host/$1") && [ -s "$guest/$1" ] &&
		[ $(($(wc -l <"$guest/$1") - $(without "$2" "$guest/$1" | wc -l))) -le 1 ]
}
environment_out() { sed '/<caption>Firmware and place of the run/,/<\/table>/d' "$1"; }
compare() {
	check "same_$1_results" same results.json '^"environment": {.*}$'
	check "same_$1_penalties" same penalties.csv 'nothing may differ'
	check "same_$1_report" cmp <(environment_out "$guest/report.html") <(environment_out "$host/report.html")
	check "same_$1_journal" same journal.jsonl '^{"event": "environment", '
	check "same_$1_directory" test "$(basename "$guest")" = "$(basename "$host")"
	check "same_$1_environments_differ" sh -c '! cmp -s "$1/results.json" "$2/results.json"' - "$guest" "$host"
	check "same_$1_says_simulated" jq -e '.simulated and ([.rows[].simulated] | all)' "$guest/results.json"
}
both builtin nehalem-ep nehalem-ep quick 0
compare builtin
report_in_time() { # what the guest said of drawing and writing report.html
	sed -n 's/^drawn and written: report.html, \([0-9]*\) bytes in \([0-9]*\) ms.*/\1 \2/p' "$work/q/debugcon.log" >"$work/drawn"
	cat "$work/drawn"
	read -r bytes ms <"$work/drawn" && [ "$bytes" -gt 20000 ] && [ "$bytes" -le 1048576 ] && [ "$ms" -le 2000 ]
}
check "report_within_1_mib_and_2_s_in_the_guest" report_in_time
check "same_builtin_has_every_quick_row" sh -c 'diff "$1" "$2"' - \
	<("$out/stallmeter" list --rows | awk '$2 == "q" { print $1 }' | sort) <(jq -r '.rows[].name' "$guest/results.json" | sort)
first=$(basename "$guest")
both file mine.machine "$work/mine.machine" load.l1.latency,load.l2.penalty 7
compare file
check "same_file_has_a_directory_of_its_own" test "${first%-*}" != "$(basename "${guest%-*}")"
check "log_serial_has_the_table" grep -aE 'load\.l1\.latency +4\.000 cycles' "$work/q/serial.log"
check "log_serial_shows_progress" grep -aE '\[[0-9]+/[0-9]+\] load\.' "$work/q/serial.log"
check "log_debug_port_says_where_results_are" grep -E 'results: .*\\stallmeter\\results\\sim-mine-' "$work/q/debugcon.log"
tap_end
