#!/bin/bash
# make usb: each refusal, and the one way through, on files that stand for devices and a made-up /sys.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1 STALLMETER_SYS=$work/sys STALLMETER_PROC=$work/proc
image=$work/stallmeter.img
runner/image.sh "$out/BOOTX64.EFI" "$out/bios.bin" runner/stallmeter.ini "$image" || exit 1

# stick NAME: a removable device of 128 MiB with one partition, unmounted
stick() {
	rm -rf "$work/sys" "$work/proc"
	local b=$work/sys/block/$1
	mkdir -p "$b/${1}1/holders" "$b/holders" "$b/device" "$work/proc/self"
	echo 1 >"$b/removable"; echo 0 >"$b/ro"; echo 262144 >"$b/size"; echo 8:16 >"$b/dev"
	echo 8:17 >"$b/${1}1/dev"; echo 4096 >"$b/${1}1/start"
	echo "Fake" >"$b/device/vendor"; echo "Stick 3000" >"$b/device/model"
	echo "22 1 8:1 / / rw - ext4 /dev/sda1 rw" >"$work/proc/self/mountinfo"
	echo "Filename Type Size Used Priority" >"$work/proc/swaps"
	rm -f "$work/$1"; truncate -s 128M "$work/$1"
}
usb() { echo "${answer-}" | runner/usb.sh "$work/sdq" "$image"; }
untouched() { cmp -n 134217728 "$work/sdq" /dev/zero; }
answer=sdq

stick sdq; echo 0 >"$STALLMETER_SYS/block/sdq/removable"
check "usb_refuses_not_removable" says 1 "not a removable device" usb
check "usb_refused_device_is_untouched" untouched
fixed() { FIXED=yes usb; }
check "usb_takes_a_stick_that_says_it_is_fixed" says 0 "Written and read back" fixed
stick sdq; echo 1 >"$STALLMETER_SYS/block/sdq/ro"
check "usb_refuses_write_protected" says 1 "write-protected" usb
stick sdq; mkdir "$STALLMETER_SYS/block/sdq/queue"; echo 4096 >"$STALLMETER_SYS/block/sdq/queue/logical_block_size"
check "usb_refuses_sectors_of_4096_bytes" says 1 "its sectors have 4096 bytes" usb
stick sdq; echo "30 22 8:17 / /media/stick rw - vfat /dev/sdq1 rw" >>"$STALLMETER_PROC/self/mountinfo"
check "usb_refuses_mounted_partition" says 1 "sdq1 is mounted on /media/stick" usb
stick sdq; echo "30 22 8:16 / /media/whole rw - vfat /dev/sdq rw" >>"$STALLMETER_PROC/self/mountinfo"
check "usb_refuses_mounted_device" says 1 "sdq is mounted on /media/whole" usb
stick sdq; echo "/dev/sdq1 partition 1000 0 -2" >>"$STALLMETER_PROC/swaps"
check "usb_refuses_swap" says 1 "used as swap" usb
stick sdq; mkdir "$STALLMETER_SYS/block/sdq/sdq1/holders/dm-0"
check "usb_refuses_held" says 1 "held by dm-0" usb
stick sdq; echo 2048 >"$STALLMETER_SYS/block/sdq/size"
check "usb_refuses_too_small" says 1 "too small" usb
stick sdq
check "usb_refuses_partition" says 2 "not a whole device" runner/usb.sh "$image" "$image"
check "usb_refuses_missing_device" refuses "no such device" runner/usb.sh "$work/sdz" "$image"
check "usb_refuses_no_device" refuses "usage: make usb DEV=" runner/usb.sh "" "$image"
check "usb_refuses_file_without_fake_sys" refuses "not a block device" env -u STALLMETER_SYS runner/usb.sh "$work/sdq" "$image"

with_results() { # with_results OFFSET_MIB: a file system at this offset that holds a run
	stick sdq
	mkfs.vfat --invariant -F 32 -s 1 --offset $(($1 * 2048)) "$work/sdq" 60000 >/dev/null
	mmd -i "$work/sdq@@$1M" ::/stallmeter ::/stallmeter/results ::/stallmeter/results/pc-0001
}
for at in 0 1 2; do
	with_results $at
	check "usb_refuses_results_at_${at}_mib" says 1 "holds results" usb
	check "usb_results_at_${at}_mib_survive" mdir -i "$work/sdq@@${at}M" ::/stallmeter/results/pc-0001
done

stick sdq
answer=no; check "usb_asks_and_obeys_no" says 1 "nothing was written" usb
answer=; check "usb_takes_silence_for_no" says 1 "nothing was written" usb
check "usb_end_of_input_is_no" says 1 "nothing was written" sh -c 'runner/usb.sh "$1" "$2" </dev/null' - "$work/sdq" "$image"
check "usb_unanswered_device_is_untouched" untouched
answer=sdq; check "usb_shows_what_it_erases" says 0 "Fake Stick 3000 128 MiB" usb
check "usb_writes_the_application" mcopy -n -i "$work/sdq@@1M" ::/EFI/BOOT/BOOTX64.EFI "$work/app.efi"
check "usb_written_application_is_whole" cmp "$work/app.efi" "$out/BOOTX64.EFI"
check "usb_keeps_the_boot_sector" cmp -n 440 "$work/sdq" "$out/bios.bin"
check "usb_protective_partition_is_active" test "$(od -An -tx1 -j 446 -N 1 "$work/sdq")" = " 80"
check "usb_partition_table_fits_the_device" says 0 "No problems found" sgdisk -v "$work/sdq"

# make usb-update: the application alone, settings and results of that stick stay to the byte.
head -c 5000 "$out/BOOTX64.EFI" >"$work/newer.efi"
runner/image.sh "$work/newer.efi" "$out/bios.bin" runner/stallmeter.ini "$work/newer.img" || exit 1
update() { runner/usb.sh --update "$work/sdq" "$work/newer.img" </dev/null; }
echo "label = mine" >"$work/mine.ini"
mcopy -o -i "$work/sdq@@1M" "$work/mine.ini" ::/stallmeter/stallmeter.ini
mmd -i "$work/sdq@@1M" ::/stallmeter/results/pc-0001
mcopy -i "$work/sdq@@1M" "$out/stallmeter" ::/stallmeter/results/pc-0001/results.json
others() { # all files but the application, with their sums
	rm -rf "$work/tree" && mkdir "$work/tree" && mcopy -s -n -m -i "$work/sdq@@1M" ::/ "$work/tree/" && rm -f "$work/tree/EFI/BOOT/BOOTX64.EFI"
	(cd "$work/tree" && find . -type f -exec sha256sum {} + | sort)
}
others >"$work/before"
check "update_replaces_the_application" says 0 "the application is replaced" update
check "update_application_is_the_new_one" sh -c 'mcopy -o -n -i "$1@@1M" ::/EFI/BOOT/BOOTX64.EFI "$2/app" && cmp "$2/app" "$2/newer.efi"' - "$work/sdq" "$work"
others >"$work/after"
check "update_keeps_settings_and_results" cmp "$work/before" "$work/after"
check "update_there_were_results_to_keep" grep -q 'pc-0001/results.json' "$work/after"
check "update_leaves_a_clean_file_system" sh -c 'dd if="$1" of="$2" bs=1M skip=1 status=none && fsck.fat -n "$2"' - "$work/sdq" "$work/esp"
check "update_again_changes_nothing" says 0 "has this application already" update
truncate -s "$(($(mdir -i "$work/sdq@@1M" ::/ | sed -n 's/ *\([0-9 ]*\) bytes free/\1/p' | tr -d ' ') - 1024))" "$work/filler"
mcopy -i "$work/sdq@@1M" "$work/filler" ::/filler
cp "$work/newer.efi" "$work/kept.efi"
head -c 6000 "$out/BOOTX64.EFI" >"$work/newer.efi"
runner/image.sh "$work/newer.efi" "$out/bios.bin" runner/stallmeter.ini "$work/newer.img"
check "update_without_room_is_refused" says 1 "the old one is still there" update
mcopy -o -n -i "$work/sdq@@1M" ::/EFI/BOOT/BOOTX64.EFI "$work/still.efi"
check "update_without_room_keeps_the_old_application" cmp "$work/kept.efi" "$work/still.efi"
stick sdq
check "update_refuses_what_is_no_stick_of_ours" says 1 "no stick of ours" update
stick sdq; echo "30 22 8:17 / /media/stick rw - vfat /dev/sdq1 rw" >>"$STALLMETER_PROC/self/mountinfo"
check "update_refuses_mounted" says 1 "is mounted on /media/stick" update
tap_end
