#!/bin/bash
# The boot volume full, write-protected, or pulled out in the middle: the table still appears on the console, with
# the reason, the exit status is 3, and an earlier run's results keep every byte.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/boot/medium/volume.sh
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1
suite=load.l1.latency,load.l2.latency,load.l2.penalty
log=$work/q/debugcon.log

# An image with an earlier run of the machine that QEMU shows.
earlier=$work/earlier
mkdir "$earlier"
head -c 70000 "$out/BOOTX64.EFI" >"$earlier/results.json"
cp --sparse=always "$out/stallmeter.img" "$work/base.img"
runner/qemu.sh --work "$work/q" --options "end=exit suite=load.l1.latency" "$work/base.img" || exit 1
run=$(mdir -b -i "$work/q/disk.img@@1M" ::/stallmeter/results | sed -n 's,.*/results/\([^/]*\)/$,\1,p')
check "medium_first_run_is_numbered_one" grep -E '^Standard-PC.*-0001$' <(echo "$run")
mmd -i "$work/base.img@@1M" "::/stallmeter/results/$run"
mcopy -i "$work/base.img@@1M" "$earlier/results.json" "::/stallmeter/results/$run/"

boot() { # boot IMAGE OPTION...: fills $rc
	local image=$1
	shift
	rc=0
	runner/qemu.sh --work "$work/q" --options "end=exit suite=$suite" "$image" "$@" >"$work/boot" 2>&1 || rc=$?
}
table() { # the whole table is on the console
	local row
	for row in ${suite//,/ }; do
		grep -E "^$row +([0-9]+\.|- +cycles +- +[0-9]+\.)" "$log" || { cat "$log"; return 1; } # an emulator's clock may leave cycles open
	done
}
status_was() { [ "$rc" -eq "$1" ] || { echo "status $rc, not $1"; cat "$log" "$work/boot"; return 1; }; }
unharmed() {
	rm -f "$work/again"
	mcopy -i "$work/q/disk.img@@1M" "::/stallmeter/results/$run/results.json" "$work/again" && cmp "$work/again" "$earlier/results.json"
}
volume_is_clean() { # "free cluster summary wrong" is all that a sudden end may leave
	dd if="$work/q/disk.img" of="$work/esp" bs=1M skip=1 status=none
	fsck.fat -n "$work/esp" >"$work/fsck" || true
	! grep -vE '^fsck.fat|files, |Free cluster summary|Auto-correcting|Leaving filesystem|Dirty bit|not properly unmounted|^$' "$work/fsck"
}

# room KIB: fills the image's file system until so much is free
room() {
	cp --sparse=always "$work/base.img" "$work/full.img"
	local free
	free=$(mdir -i "$work/full.img@@1M" ::/ | sed -n 's/ *\([0-9 ]*\) bytes free/\1/p' | tr -d ' ')
	truncate -s $((free - $1 * 1024)) "$work/filler"
	mcopy -i "$work/full.img@@1M" "$work/filler" ::/filler
}
for kib in 0 6; do
	room $kib
	boot "$work/full.img"
	check "medium_full_${kib}_kib_left_table_appears" table
	check "medium_full_${kib}_kib_left_reason_appears" grep -E '(results|files).*(full|room)' "$log"
	check "medium_full_${kib}_kib_left_is_status_3" status_was 3
	check "medium_full_${kib}_kib_left_earlier_results_unharmed" unharmed
	check "medium_full_${kib}_kib_left_volume_is_clean" volume_is_clean
done

boot "$work/base.img" --read-only
check "medium_read_only_table_appears" table
check "medium_read_only_reason_appears" grep -E '(results|files).*(refused|read-only|protected)' "$log"
check "medium_read_only_is_status_3" status_was 3
check "medium_read_only_earlier_results_unharmed" unharmed

# Pulled out after the first row; QEMU's monitor reads from a pipe. Another stick has an earlier run of the same name.
suite=quick
cp --sparse=always "$work/base.img" "$work/other.img"
mmd -i "$work/other.img@@1M" "::/stallmeter/results/${run%-0001}-0002"
mkdir "$work/others"
head -c 70000 "$out/BOOTX64.EFI" >"$work/others/journal.jsonl"
mcopy -i "$work/other.img@@1M" "$work/others/journal.jsonl" "$earlier/results.json" "::/stallmeter/results/${run%-0001}-0002/"
boot_usb() {
	rc=0
	mkfifo "$work/mon.in" "$work/mon.out"
	rm -f "$log"
	(
		for ((i = 0; i < 600; i++)); do grep -qs '^load.l1' "$log" && break; sleep 0.05; done
		echo "device_del stick" >"$work/mon.in"
	) &
	boot "$work/base.img" --device usb -- -chardev "pipe,id=mon,path=$work/mon" -mon chardev=mon \
		-drive "if=none,id=other,format=raw,file=$work/other.img" -device usb-storage,drive=other,bootindex=1
	wait
}
boot_usb
suite=load.l1.latency,load.l2.latency,load.l2.penalty,triad.dram.bandwidth
check "medium_vanished_table_appears" table
check "medium_vanished_reason_appears" grep -E '(results|files).*(could not|cannot|vanished|gone|io)' "$log"
check "medium_vanished_is_status_3" status_was 3
check "medium_vanished_earlier_results_unharmed" unharmed
others_unharmed() {
	local folder=::/stallmeter/results/${run%-0001}-0002
	mdir -b -i "$work/other.img@@1M" "$folder"
	rm -rf "$work/now" && mkdir "$work/now" && mcopy -i "$work/other.img@@1M" "$folder/*" "$work/now" &&
		cmp "$work/now/journal.jsonl" "$work/others/journal.jsonl" && cmp "$work/now/results.json" "$earlier/results.json" && [ "$(ls "$work/now" | wc -l)" -eq 2 ]
}
check "medium_vanished_leaves_another_sticks_run_of_that_name_alone" others_unharmed
check "medium_vanished_volume_is_whole" volume_is_whole "$work/q/disk.img"
tap_end
