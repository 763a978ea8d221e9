#!/bin/bash
# QEMU is killed at random moments of a run, on virtio and on USB, and booted again from the same medium: no line that
# was flushed is lost, the file system needs no repair that costs data, and in the end there is a completed run with the
# results of an uninterrupted one, but for the rows that it was killed in.
#   KILLS=N (20)   over both media; KILL_SEED=N   of the moments
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1
kills=${KILLS:-20} RANDOM=${KILL_SEED:-20260107}
suite='load.l1.latency,load.l2.latency,load.l2.penalty,load.l3.latency,tlb.dtlb_4k.penalty,triad.l1.bandwidth'
log=$work/q/debugcon.log image=$work/disk.img
"$out/stallmeter" run --backend sim --machine nehalem-ep --suite "$suite" --out "$work/host" >/dev/null || exit 1
plain=$(echo "$work/host"/*)/results.json

start() { # start DEVICE: in the background; QEMU's process id in $work/pid
	rm -f "$work/pid" "$log"
	runner/qemu.sh --work "$work/q" --in-place --limit 120 --device "$1" --options "end=exit backend=sim:nehalem-ep suite=$suite" \
		"$image" -- -pidfile "$work/pid" >"$work/boot" 2>&1 &
	job=$!
}
# kill_at MS: so long behind the begin of the run, unless it has ended by itself
kill_at() {
	local i
	for ((i = 0; i < 2000; i++)); do
		grep -qs '^SIMULATED' "$log" && break
		kill -0 "$job" 2>/dev/null || break
		sleep 0.02
	done
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
	kill -KILL "$(cat "$work/pid" 2>/dev/null)" 2>/dev/null || true
	wait "$job"
}
volume_is_whole() { # what a sudden end may leave costs nothing: the count of free clusters, the mark of use
	dd if="$image" of="$work/esp" bs=1M skip=1 status=none
	fsck.fat -n "$work/esp" >"$work/fsck" || true
	! grep -vE '^fsck.fat|files, |Free cluster summary|Auto-correcting|Leaving filesystem|Dirty bit|not properly unmounted|^$' "$work/fsck"
}
# Each journal line that the serial line showed was flushed before: it must be in the file, at its place.
no_line_lost() {
	local run
	rm -rf "$work/serial" "$work/medium"
	grep -qa '@sm ' "$work/q/serial.log" || return 0
	"$out/stallmeter" fetch --serial "$work/q/serial.log" --out "$work/serial" >"$work/fetch" 2>&1
	run=$(ls "$work/serial" | head -n 1)
	runner/fetch.sh "$image" "$work/medium" >/dev/null || return 1
	while IFS= read -r line; do
		grep -qxF -- "$line" "$(ls -d "$work/medium"/* | tail -n 1)/journal.jsonl" || { echo "lost: ${line:0:120}"; return 1; }
	done <"$work/serial/$run/journal.jsonl"
	wc -l <"$work/serial/$run/journal.jsonl" >>"$work/lines"
}
# Of the run that is complete now: rows as in an uninterrupted one, the others crashed, each row once.
completed() {
	local run file
	run=$(ls -d "$work/medium"/* | tail -n 1)
	file=$run/results.json
	jq -e '.summary.rows == 6 and .summary.stopped == false' "$file" || return 1
	jq -c '.rows[] | select(.status != "crashed") | del(.latency_event, .uncore_queue, .memory_channels)' "$file" | sort >"$work/a"
	jq -c '.rows[] | del(.latency_event, .uncore_queue, .memory_channels)' "$plain" | sort >"$work/b"
	comm -23 "$work/a" "$work/b" >"$work/others"
	[ ! -s "$work/others" ] || { echo "not as uninterrupted:"; cut -c1-300 "$work/others"; return 1; }
	diff <(jq -r '.rows[].name' "$file" | sort) <(jq -r '.rows[].name' "$plain" | sort) || return 1
	test -s "$run/report.html" && test -s "$run/penalties.csv" || return 1
	jq '.summary.crashed' "$file" >>"$work/crashed"
}

for device in virtio usb; do
	cp --sparse=always "$out/stallmeter.img" "$image"
	for ((k = 0; k < kills / 2; k++)); do
		# how long a run takes here is not known: from its begin to a while behind its likely end
		start $device
		kill_at $((RANDOM % 2600))
		check "kill_${device}_$((k + 1))_volume_is_whole" volume_is_whole
		check "kill_${device}_$((k + 1))_no_flushed_line_lost" no_line_lost
	done
	# at most two: one start may be refused after three that ended no row
	rc=3
	for ((i = 0; i < 2 && rc == 3; i++)); do
		start $device
		rc=0
		wait "$job" || rc=$?
	done
	check "kill_${device}_the_next_boot_completes" test "$rc" -le 1
	check "kill_${device}_volume_is_whole_at_the_end" volume_is_whole
	check "kill_${device}_serial_log_agrees" no_line_lost
	check "kill_${device}_results_are_those_of_a_whole_run" completed
done
# The moments must have been moments of runs.
check "kill_rows_were_hit_and_lines_were_there" sh -c 'cat "$1/crashed" "$1/lines" && awk "{ s += \$1 } END { exit s < 20 }" "$1/lines"' - "$work"
tap_end
