#!/bin/bash
# A run, and the rewriting of its files, could end at each moment at which the medium changed: QEMU logs the writes, and they
# are applied one by one to the medium as it was before. At each moment the volume is whole, the journal holds what it held
# before, and a file in the run's directory is whole under its own name. From the moments at which the volume needs a repair
# a boot goes on, with every line written and the results of an uninterrupted run.
#   STATES=N (1)  booted from
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/boot/medium/volume.sh
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1
make -s OUT="$out" "$out/tests/boot/medium/writes" >/dev/null || exit 2
device=${DEVICE:-usb} states=${STATES:-1}
suite='load.l1.latency,load.l2.penalty,triad.l1.bandwidth'
"$out/stallmeter" run --backend sim --machine nehalem-ep --suite "$suite" --out "$work/host" >/dev/null || exit 1
plain=$(echo "$work/host"/*)/results.json

boot() { # boot IMAGE ARGUMENT...
	local image=$1
	shift
	runner/qemu.sh --work "$work/q" --in-place --limit 200 --device "$device" \
		--options "end=exit backend=sim:nehalem-ep suite=$suite" "$@" "$image"
}
of_run() { mtype -i "$work/volume" "::/stallmeter/results/$run/$1" 2>/dev/null; } # what a file holds
# Each file that has its own name holds what it holds in the end, or what it held in the beginning.
files_are_whole() {
	local name
	for name in results.json penalties.csv report.html; do
		of_run "$name" >"$work/file" && [ -s "$work/file" ] || continue
		cmp -s "$work/file" "$work/end/$name" || cmp -s "$work/file" "$work/begin/$name" || { echo "$name is neither"; return 1; }
	done
}
# What was there before, or what is there in the end, is whole under one of the names.
none_is_gone() {
	local name stem file
	for name in "$work/begin"/*; do
		[ -e "$name" ] || continue
		stem=${name##*/}
		for file in "$stem" "${stem%.*}.old" "${stem%.*}.tmp"; do
			of_run "$file" >"$work/file"
			cmp -s "$work/file" "$name" || cmp -s "$work/file" "$work/end/$stem" && continue 2
		done
		echo "$stem is gone"
		mdir -i "$work/volume" "::/stallmeter/results/$run"
		return 1
	done
}
lines_stay() {
	of_run journal.jsonl >"$work/now"
	cmp -s -n "$(stat -c %s "$work/lines")" "$work/now" "$work/lines" || { echo "lines are gone"; return 1; }
	if [ "$(tail -c 1 "$work/now" | wc -l)" -eq 1 ]; then
		cp "$work/now" "$work/lines"
	elif [ -s "$work/now" ]; then
		halves=$((halves + 1))
		half=yes
	fi
}
# Each moment of LOG from BEFORE on; copies of DISK that need a repair go to NAME.1, ...
moments() { # moments LOG BEFORE NAME
	local n last=0 faults=0 kept=0 bad=0 halves=0
	cp --sparse=always "$2" "$work/disk"
	dd if="$2" of="$work/volume" bs=1M skip=1 conv=sparse status=none
	: >"$work/lines"
	coproc WRITES { "$out/tests/boot/medium/writes" "$1" "$work/disk" "$work/volume"; }
	while read -r n <&"${WRITES[0]}"; do
		fsck.fat -n "$work/volume" >"$work/short" || true
		if grep -qE '^/stallmeter|^/EFI|FATs differ|Reclaim|^Orphaned|^Long' "$work/short"; then
			faults=$((faults + 1))
			volume_is_whole "$work/disk" >"$work/why" || { echo "moment $n:"; cat "$work/why"; bad=$((bad + 1)); }
		fi
		if [ "$kept" -lt "$states" ] && { grep -q 'chain length is >' "$work/short" || { [ "$3" = again ] && ! of_run results.json >"$work/file"; }; }; then
			kept=$((kept + 1))
			cp --sparse=always "$work/disk" "$work/$3.$kept"
		fi
		! grep -q 'Contains a free cluster' "$work/short" || cp --sparse=always "$work/disk" "$work/link.img"
		! grep -q 'entry in the first slot, found free entry' "$work/short" || cp --sparse=always "$work/disk" "$work/folder.img"
		half=
		{ lines_stay && files_are_whole && none_is_gone; } >"$work/why" || { echo "moment $n:"; cat "$work/why"; bad=$((bad + 1)); }
		[ -z "$half" ] || cp --sparse=always "$work/disk" "$work/half.img"
		echo >&"${WRITES[1]}"
		last=$n
	done
	echo "$last moments, $faults with something to repair, $halves with half a line, $bad bad" | tee -a "$work/figures"
	cmp "$work/disk" "$work/written.img" && [ "$bad" -eq 0 ]
}
completes() { # completes IMAGE: goes on, and says of no file that it cannot be written
	local rc=0
	boot "$1" || rc=$?
	! grep -a 'cannot be written' "$work/q/debugcon.log" && [ "$rc" -le 1 ] || return 1
	dd if="$1" of="$work/volume" bs=1M skip=1 conv=sparse status=none
	fsck.fat -n "$work/volume" | grep -E '^/(stallmeter|EFI)' && return 1
	grep -a 'broken off, goes on\|are made from its journal' "$work/q/debugcon.log" || return 1
	of_run results.json | jq -c '.rows[] | select(.status != "crashed") | del(.latency_event, .uncore_queue, .memory_channels, .socket_links)' | sort >"$work/a"
	jq -c '.rows[] | del(.latency_event, .uncore_queue, .memory_channels, .socket_links)' "$plain" | sort >"$work/b"
	comm -23 "$work/a" "$work/b" >"$work/others"
	[ ! -s "$work/others" ] && [ "$(of_run results.json | jq '.rows | length')" -eq 3 ] && [ -n "$(of_run report.html | head -c 1)" ]
}

image=$work/written.img
cp --sparse=always "$out/stallmeter.img" "$image"
mkdir -p "$work/begin" "$work/end"
check run_is_logged boot "$image" --log-writes "$work/log"
run=$(runner/fetch.sh "$image" "$work/fetched")
cp "$run"/* "$work/end"
run=$(basename "$run")
check each_moment_of_a_run_is_whole moments "$work/log" "$out/stallmeter.img" run
check moments_with_something_to_repair_were_there test -e "$work/run.1"
for state in "$work"/run.*; do
	check "run_goes_on_from_a_moment_in_need_of_repair_${state##*.}" completes "$state"
done

# The firmware linked the journal's next cluster in one sector of the table, and had yet to mark it taken in another (an
# application of other size: the journal need not come by such a place).
if [ -e "$work/link.img" ]; then
	check run_goes_on_behind_half_a_link completes "$work/link.img"
	check volume_is_whole_behind_half_a_link volume_is_whole "$work/link.img"
fi

# The firmware made the run's folder, but not yet what is in it: the next run has one of its own.
if [ -e "$work/folder.img" ]; then
	check run_begins_behind_half_a_folder boot "$work/folder.img"
	check volume_is_whole_behind_half_a_folder volume_is_whole "$work/folder.img"
	check run_has_another_folder sh -c 'mdir -b -i "$1@@1M" ::/stallmeter/results | sed "s/\/$//" | tail -n 1 | grep -e -0002$' - "$work/folder.img"
fi

# The boot that goes on behind half a line.
cp --sparse=always "$work/half.img" "$image"
check run_goes_on_behind_half_a_line boot "$image" --log-writes "$work/log"
rm -rf "$work/end"
mv "$(runner/fetch.sh "$image" "$work/fetched" | tail -n 1)" "$work/end"
cp "$work/half.img" "$work/before.img"
check each_moment_of_going_on_is_whole moments "$work/log" "$work/before.img" on
check no_half_line_is_left test "$(tail -c 1 "$work/end/journal.jsonl" | od -An -c | tr -d ' ')" = '\n'
check each_line_left_is_whole sh -c 'jq -c . "$1" >/dev/null' - "$work/end/journal.jsonl"

# One file of the run is not there, so all of them are made again from the journal; one has another content.
cp --sparse=always "$image" "$work/before.img"
mdel -i "$work/before.img@@1M" "::/stallmeter/results/$run/report.html"
{ cat "$work/end/results.json" && echo; } >"$work/begin/results.json"
mcopy -o -i "$work/before.img@@1M" "$work/begin/results.json" "::/stallmeter/results/$run/results.json"
cp --sparse=always "$work/before.img" "$image"
check files_are_made_again boot "$image" --log-writes "$work/log"
check each_moment_of_rewriting_is_whole moments "$work/log" "$work/before.img" again
for name in results.json penalties.csv report.html; do
	check "${name}_is_as_it_was" cmp <(of_run "$name") "$work/end/$name"
done
check what_was_there_is_kept_beside_it cmp <(of_run results.old) "$work/begin/results.json"
check file_of_the_same_content_was_not_touched sh -c '! mdir -b -i "$1" "$2" | grep -E "penalties.(tmp|old)"' - "$work/volume" "::/stallmeter/results/$run"
for state in "$work"/again.*; do
	[ ! -e "$state" ] || check "files_are_made_once_more_from_a_moment_without_results_${state##*.}" completes "$state"
done
sed 's/^/# /' "$work/figures"
tap_end
