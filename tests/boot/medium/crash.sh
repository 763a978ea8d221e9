#!/bin/bash
# A row that hangs, triple-faults or resets the machine: watchdog or reset, another boot, and a completed run with that
# row marked. Starts that come to nothing are counted, a run is repeated over boots, damaged files of ours cost a line.
# The serial line's log is the run: rebuilt to the byte, also over two boots, also where no file could be written.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
suite=load.l1.latency,load.l2.latency,load.l2.penalty,tlb.dtlb_4k.penalty,triad.l1.bandwidth
short=load.l1.latency,load.l2.latency,load.l2.penalty
"$out/stallmeter" run --backend sim --machine nehalem-ep --suite "$suite" --out "$work/host" >/dev/null || exit 1
plain=$(echo "$work/host"/*)/results.json

begin() { log=$work/q/debugcon.log image=$work/disk.img; fresh; }
fresh() { cp --sparse=always "$out/stallmeter.img" "$image"; }
boot() { # boot SETTINGS OPTION...: fills $rc
	local settings=$1
	shift
	rc=0
	runner/qemu.sh --work "$work/q" --in-place --limit 400 --options "end=exit backend=sim:nehalem-ep suite=$suite $settings" "$image" "$@" >"$work/boot" 2>&1 || rc=$?
}
ended() { [ "$rc" -eq "$1" ] || { echo "status $rc, not $1"; cat "$log" "$work/boot"; return 1; }; }
fetched() { rm -rf "$work/fetched"; runner/fetch.sh "$image" "$work/fetched" >/dev/null; results=$(ls -d "$work/fetched"/* | tail -n 1)/results.json; }
# What runs between jobs comes at other moments in another boot: spreads, and counts in their last digits, differ.
values() { jq -c '.rows[] | select(.status != "crashed") | .proof |= gsub("-?[0-9.]+"; "N") | del(.spread, .core_hz, .ns, .latency_event, .uncore_queue, .memory_channels, .socket_links)' "$1"; }
# the results as an uninterrupted run has them, up to the records of samples, with these rows crashed
same_but() { # same_but "ROW..." RESULTS
	local row
	values "$plain" >"$work/a"
	for row in $1; do sed -i "/^{\"name\":\"$row\"/d" "$work/a"; done
	values "$2" >"$work/b"
	diff "$work/a" "$work/b" && [ -s "$work/a" ] && [ "$(jq -r '[.rows[] | select(.status == "crashed") | .name] | sort | join(" ")' "$2")" = "$1" ]
}
recovers() { # recovers NAME CRASHES "ROW..." BOOTS BOOT-OPTION...: rows sorted by name; $seconds of the watchdog
	local name=$1 crashes=$2 crashed=$3 boots=$4 one
	shift 4
	boot "watchdog=$seconds" --reboots --crash "$crashes" "$@"
	check "crash_${name}_run_completes_after_reboot" ended 1
	for one in ${crashes//,/ }; do
		check "crash_${name}_${one%%:*}_came_once" test "$(grep -c "# ${one%%:*} in ${one#*:} comes now" "$log")" -eq 1
	done
	fetched
	check "crash_${name}_results_are_those_of_a_whole_run_but_those_rows" same_but "$crashed" "$results"
	check "crash_${name}_one_run_directory" sh -c '[ $(ls "$1" | wc -l) -eq 1 ] && jq -e ".summary.boots == '"$boots"'" "$2"' - "$work/fetched" "$results"
}

# One after the other in one run: a reset, a triple fault, a row that hangs until the chipset's watchdog bites. QEMU's board
# has the strap against that by default, which shows in no register.
chain() {
	local seconds=12 # a row may take long where the host is busy
	begin
	recovers chain reset:load.l1.latency,triple:load.l2.latency,hang:load.l2.penalty "load.l1.latency load.l2.latency load.l2.penalty" 4 \
		-- -global ICH9-LPC.noreboot=false
	check "crash_tco_is_said" grep "^watchdog: ICH9 and the firmware's, $seconds s" "$log"
	# The serial line's log of these four boots is the run: byte for byte, and three damaged lines by name.
	check "serial_log_is_fetched" "$out/stallmeter" fetch --serial "$work/q/serial.log" --out "$work/serial"
	check "serial_log_is_the_run_to_the_byte" diff -r "$work/serial"/* "$work/fetched"/*
	sed -E 's/(@sm [0-9a-f]+ j 2 1 .*)e/\1X/; s/(@sm [0-9a-f]+ j 4 1 .*)[0-9]/\1z/; /@sm [0-9a-f]+ j 5 1 /d' "$work/q/serial.log" >"$work/damaged.log"
	check "serial_log_three_damaged_lines_are_named" named
	check "serial_log_damaged_keeps_the_whole_lines" diff <(sed '2d;4d;5d' "$work/serial"/*/journal.jsonl) "$(echo "$work/serial-damaged"/*)/journal.jsonl"
	# All there is when the medium is write-protected.
	fresh
	boot "" --read-only
	check "read_only_is_status_3" ended 3
	check "read_only_serial_log_is_fetched" "$out/stallmeter" fetch --serial "$work/q/serial.log" --out "$work/serial-ro"
	check "read_only_serial_log_has_all_rows" cmp <(jq -c .rows "$plain") <(jq -c .rows "$work/serial-ro"/*/results.json)
	echo nothing >"$work/nothing.log"
	check "fetch_refuses_a_log_without_a_run" refuses "no line of a run is in it" "$out/stallmeter" fetch --serial "$work/nothing.log"
	check "fetch_refuses_no_log" refuses "serial LOG is required" "$out/stallmeter" fetch
}
named() {
	says 1 "in part" "$out/stallmeter" fetch --serial "$work/damaged.log" --out "$work/serial-damaged" || return 1
	for line in 2 4 5; do grep "journal.jsonl: line $line is missing or damaged" "$work/says" || return 1; done
	[ "$(grep -c "is missing or damaged" "$work/says")" -eq 3 ]
}

# Other watchdogs; and a series of boots, which ends by itself.
hangs() {
	local seconds=8
	suite=$short
	begin
	values "$plain" | head -n 3 >"$work/short.jsonl"
	jq -s '{rows: .}' "$work/short.jsonl" >"$work/short.json"
	plain=$work/short.json
	recovers by_i6300esb hang:load.l2.latency load.l2.latency 2 -- -device i6300esb
	check "crash_i6300esb_is_said" grep "^watchdog: 6300ESB watchdog timer and the firmware's, $seconds s" "$log"
	fresh
	# The board's strap keeps ICH9's from resetting, which shows in no register: the management controller's does it.
	recovers by_bmc hang:load.l2.latency load.l2.latency 2 -- -device ipmi-bmc-sim,id=bmc -device isa-ipmi-kcs,bmc=bmc
	check "crash_bmc_is_said" grep "^watchdog: ICH9 and the management controller's and the firmware's, $seconds s" "$log"
	fresh
	recovers by_firmware idle:load.l2.latency load.l2.latency 2 -- -fw_cfg name=opt/stallmeter/without,string=watchdog
	check "crash_no_chip_is_said" grep "^watchdog: the firmware's alone, $seconds s; it cannot act while interrupts are off" "$log"
	fresh
	boot "boots=2" --reboots
	check "boots_two_end_by_themselves" ended 0
	fetched
	check "boots_two_runs" test "$(ls "$work/fetched" | wc -l)" -eq 2
	check "boots_spread_is_written" jq -e '.boots == 2 and ([.rows[] | .values == 2 and .ok == 2 and .least <= .median and .median <= .most] | all) and (.rows | length) == 3' "$(dirname "$results")/boots.json"
	boot "boots=2"
	check "boots_next_series_starts_anew" sh -c 'mtype -i "$1@@1M" ::/stallmeter/state.txt | tee /dev/stderr | grep -E "^series = [0-9]+$"' - "$image"
}

# Starts that end no row: one is counted, and after three the next does not run, but says so and counts anew.
# Then what a crash left is damaged: state, and lines of the journal. `resume = no` begins anew.
starts() {
	suite=$short
	begin
	boot "" --crash reset:load.l1.latency
	check "starts_one_is_counted" sh -c 'mtype -i "$1@@1M" ::/stallmeter/state.txt | grep "^starts = 1"' - "$image"
	printf 'starts = 3\n' >"$work/state.txt"
	mcopy -o -i "$image@@1M" "$work/state.txt" ::/stallmeter/state.txt
	boot ""
	check "starts_after_three_is_status_3" ended 3
	check "boots_after_three_is_said" grep "the last 3 boots completed no row" "$log"
	boot "" --crash reset:load.l2.penalty
	check "starts_once_more_runs_and_resumes" grep "# reset in load.l2.penalty comes now" "$log"
	check "starts_zero_after_a_row" sh -c 'mtype -i "$1@@1M" ::/stallmeter/state.txt | grep "^starts = 0"' - "$image"
	cp --sparse=always "$image" "$work/crashed.img"
	printf 'starts = \001\002many\nkey' >"$work/state.txt"
	mcopy -o -i "$image@@1M" "$work/state.txt" ::/stallmeter/state.txt
	run=$(mdir -b -i "$image@@1M" ::/stallmeter/results | sed -n 's,.*/results/\([^/]*\)/$,\1,p')
	mcopy -n -i "$image@@1M" "::/stallmeter/results/$run/journal.jsonl" "$work/journal"
	line=$(grep -n '"event": "row"' "$work/journal" | head -n 1 | cut -d: -f1)
	sed -e "${line}s/value/\x01\x02/" "$work/journal" >"$work/damaged" && printf '{"event": "ro' >>"$work/damaged"
	mcopy -o -i "$image@@1M" "$work/damaged" "::/stallmeter/results/$run/journal.jsonl"
	boot ""
	check "damaged_state_is_one_line" grep -c 'state.txt is damaged and left out' "$log"
	check "damaged_journal_is_one_line" grep "lines of its journal are damaged and left out, the first is line $line" "$log"
	fetched
	check "damaged_journal_ends_with_every_row" jq -e '[.rows[].name] | length == 3' "$results"
	check "damaged_journal_report_is_there" test -s "$(dirname "$results")/report.html"
	zeros
	# 17 MiB, which hundreds of processors' pairs have: blanks in a row's line.
	cp --sparse=always "$work/crashed.img" "$image"
	awk -v line="$line" 'NR == line { printf "{"; for (i = 0; i < 17 * 1024; i++) printf "%1024s", ""; $0 = substr($0, 2) } { print }' "$work/journal" >"$work/large"
	mcopy -o -i "$image@@1M" "$work/large" "::/stallmeter/results/$run/journal.jsonl"
	boot ""
	check "large_journal_goes_on" grep "broken off, goes on" "$log"
	fetched
	check "large_journal_ends_with_every_row" jq -e '(.rows | length) == 3 and .summary.boots >= 2' "$results"
	mv "$work/crashed.img" "$image"
	boot "resume=no"
	fetched
	check "resume_no_begins_anew" sh -c '[ $(ls "$1" | wc -l) -eq 2 ] && jq -e ".summary.boots == 1 and .summary.crashed == 0" "$2"' - "$work/fetched" "$results"
	mdel -i "$image@@1M" "::/stallmeter/results/$(basename "$(dirname "$results")")/results.json"
	boot ""
	fetched
	check "lost_files_are_made_from_the_journal" sh -c '[ $(ls "$1" | wc -l) -eq 2 ] && jq -e ".summary.rows == 3" "$2"' - "$work/fetched" "$results"
}

# A block of zeros in the journal, which a file system leaves after a power cut: what was before and after it is kept, what it cost is said in a
# line and measured again, and no earlier file changes. The machine had stopped in load.l1.latency, whose row is the first, and then in load.l2.penalty,
# whose start is the last line.
zeros() {
	local at
	jq '{rows: .rows[:3]}' "$plain" >"$work/first.json"
	local plain=$work/first.json
	zeroed() { # zeroed FILE BYTES OFFSET: puts FILE on the stick with zeros there
		cp "$1" "$work/zeroed" && dd if=/dev/zero of="$work/zeroed" bs=1 seek="$3" count="$2" conv=notrunc status=none
		mcopy -o -i "$image@@1M" "$work/zeroed" "::/stallmeter/results/$run/journal.jsonl"
	}
	lost() { tail -n 12 "$log"; [ "$(grep -c "$run: .* of its journal .* damaged and left out" "$log")" -eq 1 ] && grep "$1" "$log"; }
	at=$(($(head -n $((line - 1)) "$work/journal" | wc -c) / 512 * 512 + 512)) # the first sector that begins in the row's line
	cp --sparse=always "$work/crashed.img" "$image"
	zeroed "$work/journal" 512 "$at"
	boot ""
	check "zeros_in_a_row_are_one_line" lost "1 line of its journal is damaged and left out, the first is line $line at byte $(head -n $((line - 1)) "$work/journal" | wc -c): [0-9]* bytes are lost, 512 of them zeros"
	fetched
	check "zeros_in_a_row_cost_it_another_measurement_and_no_other_row" same_but "load.l2.penalty" "$results"
	# Such a run that had ended, and lost its files too.
	mcopy -n -o -i "$image@@1M" "::/stallmeter/results/$run/journal.jsonl" "$work/ended"
	at=$(grep -abo '"row": {"name": "load.l2.latency"' "$work/ended" | cut -d: -f1)
	zeroed "$work/ended" 128 "$at"
	mdel -i "$image@@1M" "::/stallmeter/results/$run/results.json"
	boot ""
	check "zeros_in_an_ended_run_are_one_line" lost "2 lines of its journal are damaged and left out, the first is line $line"
	fetched
	check "zeros_in_an_ended_run_cost_a_row_another_measurement" same_but "load.l2.penalty" "$results"
	# Behind the last line: the row had ended, since something was being written after its start.
	cp --sparse=always "$work/crashed.img" "$image"
	cp "$work/journal" "$work/longer" && truncate -s +1536 "$work/longer"
	zeroed "$work/longer" 1 "$(wc -c <"$work/journal")"
	boot ""
	check "zeros_at_the_end_are_one_line" lost "1 line .* at byte $(wc -c <"$work/journal"): 1536 bytes are lost, 1536 of them zeros"
	fetched
	check "zeros_at_the_end_are_no_crash" same_but "load.l1.latency" "$results"
	# In the first line, without which nothing tells what run it is.
	cp --sparse=always "$work/crashed.img" "$image"
	zeroed "$work/journal" 512 0
	boot ""
	check "zeros_in_the_first_line_are_one_line" grep "$run: its journal is left alone and a new run begins: the first line, $(head -n 1 "$work/journal" | wc -c) bytes, is damaged (512 zeros), and 2 rows" "$log"
	fetched
	check "zeros_in_the_first_line_leave_the_file_alone" cmp "$work/zeroed" "$work/fetched/$run/journal.jsonl"
	check "zeros_in_the_first_line_begin_a_new_run" same_but "" "$results"
}
lanes chain hangs starts
tap_end
