#!/bin/bash
# A run ends at random moments, on virtio and on USB, and is booted again from the same medium: no line that was flushed is
# lost, the file system needs no repair that costs data, and in the end there is a completed run with the results of an
# uninterrupted one, but for the rows that it was stopped in.
# What a killed QEMU leaves is what its files hold while it stands still: so one boot gives several moments, at each of
# which it is stopped and its files are copied; at the last it is killed. The boot after that goes on where it was killed,
# and one copy of each medium is booted to the end as well.
#   KILLS=N (20)    moments over both media   MOMENTS=N (5)  of them in one boot; 1: killed at each
#   KILL_SEED=N     of the moments
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/boot/medium/volume.sh
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1
kills=${KILLS:-20} moments=${MOMENTS:-5} seed=${KILL_SEED:-20260107}
suite='load.l1.latency,load.l2.latency,load.l2.penalty,load.l3.latency,tlb.dtlb_4k.penalty,triad.l1.bandwidth'
"$out/stallmeter" run --backend sim --machine nehalem-ep --suite "$suite" --out "$work/host" >/dev/null || exit 1
plain=$(echo "$work/host"/*)/results.json

start() { # start DEVICE IMAGE: in the background; QEMU's process id in $work/pid
	rm -f "$work/pid" "$log"
	runner/qemu.sh --work "$work/q" --in-place --limit 400 --device "$1" --options "end=exit backend=sim:nehalem-ep suite=$suite" \
		"$2" -- -pidfile "$work/pid" >"$work/boot" 2>&1 &
	job=$!
}
# stands_still PID: all of its threads are stopped
stands_still() {
	local i
	for ((i = 0; i < 500; i++)); do
		! grep -hs '^State:' "/proc/$1"/task/*/status | grep -qv 'T (stopped)' && return 0
		sleep 0.01
	done
	return 1
}
# stop_at FIRST MS...: so long behind the begin of the run, unless it has ended by itself. Copies go to $work/FIRST, ...
stop_at() {
	local i at=0 n=$1 pid
	shift
	for ((i = 0; i < 4000; i++)); do
		grep -qs '^SIMULATED' "$log" && break
		kill -0 "$job" 2>/dev/null || break
		sleep 0.02
	done
	pid=$(cat "$work/pid" 2>/dev/null)
	while [ $# -gt 1 ]; do
		sleep "$(printf '%d.%03d' $((($1 - at) / 1000)) $((($1 - at) % 1000)))"
		at=$1
		mkdir -p "$work/$n"
		kill -STOP "$pid" 2>/dev/null && stands_still "$pid"
		cp --sparse=always "$image" "$work/$n/disk.img"
		cp "$work/q/serial.log" "$work/$n/serial.log"
		kill -CONT "$pid" 2>/dev/null || true
		n=$((n + 1))
		shift
	done
	sleep "$(printf '%d.%03d' $((($1 - at) / 1000)) $((($1 - at) % 1000)))"
	kill -KILL "$pid" 2>/dev/null || true
	wait "$job"
}
# Each journal line that the serial line showed was flushed before: it must be in the file, at its place. IMAGE LOG
no_line_lost() {
	local run
	rm -rf "$work/serial" "$work/medium"
	grep -qa '@sm ' "$2" || return 0
	"$out/stallmeter" fetch --serial "$2" --out "$work/serial" >"$work/fetch" 2>&1
	run=$(ls "$work/serial" | head -n 1)
	[ -s "$work/serial/$run/journal.jsonl" ] || return 0 # only the run's name was seen
	runner/fetch.sh "$1" "$work/medium" >/dev/null || return 1
	while IFS= read -r line; do
		grep -qxF -- "$line" "$(ls -d "$work/medium"/* | tail -n 1)/journal.jsonl" || { echo "lost: ${line:0:120}"; grep -a 'cannot be written' "$log"; return 1; }
	done <"$work/serial/$run/journal.jsonl"
	wc -l <"$work/serial/$run/journal.jsonl" >>"$work/lines"
}
# Of the run that is complete now: rows as in an uninterrupted one, the others crashed, each row once.
completed() {
	local run file same
	run=$(ls -d "$work/medium"/* | tail -n 1)
	file=$run/results.json
	jq -e '.summary.rows == 6 and .summary.stopped == false' "$file" || return 1
	# What runs between jobs comes at other moments in another boot: spreads, and counts and values in their last digits, differ.
	same='.proof |= gsub("-?[0-9.]+"; "N") | del(.value, .cycles, .spread, .core_hz, .ns, .latency_event, .uncore_queue, .memory_channels, .socket_links)'
	jq -c '.rows[] | select(.status != "crashed") | '"$same" "$file" | sort >"$work/a"
	jq -c '.rows[] | '"$same" "$plain" | sort >"$work/b"
	comm -23 "$work/a" "$work/b" >"$work/others"
	[ ! -s "$work/others" ] || { echo "not as uninterrupted:"; cut -c1-300 "$work/others"; return 1; }
	jq -es '([.[1].rows[] | {(.name): .value}] | add) as $whole | [.[0].rows[] | select(.status != "crashed") |
		select(((.value // 0) - ($whole[.name] // 0) | fabs) > 0.01 * ($whole[.name] // 0 | fabs)) | [.name, .value, $whole[.name]]] | . == [] or (tostring | halt_error(1))' "$file" "$plain" || return 1
	diff <(jq -r '.rows[].name' "$file" | sort) <(jq -r '.rows[].name' "$plain" | sort) || return 1
	test -s "$run/report.html" && test -s "$run/penalties.csv" || return 1
	jq '.summary.crashed' "$file" >>"$work/crashed"
}
# goes_on DEVICE IMAGE WHAT: boots it to the end
goes_on() {
	local i rc=3
	# at most two: one start may be refused after three that ended no row
	for ((i = 0; i < 2 && rc == 3; i++)); do
		start "$1" "$2"
		rc=0
		wait "$job" || rc=$?
	done
	check "kill_$3_next_boot_completes" test "$rc" -le 1
	check "kill_$3_volume_is_whole_at_the_end" volume_is_whole "$2"
	check "kill_$3_serial_log_agrees" no_line_lost "$2" "$work/q/serial.log"
	check "kill_$3_results_are_those_of_a_whole_run" completed
}
medium() { # medium DEVICE SEED
	local device=$1 k n i at copy=
	RANDOM=$2 log=$work/q/debugcon.log image=$work/disk.img
	cp --sparse=always "$out/stallmeter.img" "$image"
	for ((k = 1; k <= kills / 2; k += n)); do
		n=$((kills / 2 - k + 1 < moments ? kills / 2 - k + 1 : moments))
		# how long a run takes here is not known: from its begin to a while behind its likely end
		at=$(for ((i = 0; i < n; i++)); do echo $((RANDOM % 2600)); done | sort -n)
		RANDOM=$(($2 + k))
		start "$device" "$image"
		stop_at "$k" $at
		for ((i = k; i < k + n - 1; i++)); do
			check "kill_${device}_${i}_volume_is_whole" volume_is_whole "$work/$i/disk.img"
			check "kill_${device}_${i}_no_flushed_line_lost" no_line_lost "$work/$i/disk.img" "$work/$i/serial.log"
			if [ -z "$copy" ] && [ "$i" -ge $((k + (n - 1) / 2)) ]; then copy=$i; else rm -r "$work/$i"; fi
		done
		check "kill_${device}_${i}_volume_is_whole" volume_is_whole "$image"
		check "kill_${device}_${i}_no_flushed_line_lost" no_line_lost "$image" "$work/q/serial.log"
	done
	[ -z "$copy" ] || goes_on "$device" "$work/$copy/disk.img" "${device}_from_a_copy"
	goes_on "$device" "$image" "$device"
	# The moments must have been moments of runs.
	check "kill_${device}_rows_were_hit_and_lines_were_there" sh -c 'cat "$1/crashed" "$1/lines" && awk "{ s += \$1 } END { exit s < 10 }" "$1/lines"' - "$work"
}
virtio() { medium virtio "$seed"; }
usb() { medium usb $((seed + 1)); }
lanes virtio usb
tap_end
