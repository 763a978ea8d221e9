#!/bin/bash
# The disk image: structure, and the same bytes from two builds.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1

check "image_builds" runner/image.sh "$out/BOOTX64.EFI" "$out/bios.bin" runner/stallmeter.ini "$work/a.img"
check "image_partition_table_is_valid" says 0 "No problems found" sgdisk -v "$work/a.img"
check "image_partition_is_an_esp" says 0 "EF00" sgdisk -p "$work/a.img"
dd if="$work/a.img" of="$work/esp.img" bs=1M skip=1 status=none
check "image_file_system_is_fat32" says 0 "2 FATs, 32 bit entries" fsck.fat -nv "$work/esp.img"
check "image_file_system_is_clean" fsck.fat -n "$work/esp.img"
check "image_has_a_bios_boot_partition" says 0 "2 +64 +2047 .*EF02" sgdisk -p "$work/a.img"
check "image_boot_sector_is_the_loaders" cmp -n 440 "$work/a.img" "$out/bios.bin"
check "image_protective_partition_is_active" test "$(od -An -tx1 -j 446 -N 1 "$work/a.img")" = " 80"
check "image_second_stage_is_the_loaders" sh -c 'cmp -n "$(($(stat -c %s "$2") - 512))" "$1" "$2" 32768 512' - "$work/a.img" "$out/bios.bin"
head -c 1100000 /dev/zero >"$work/long.bin"
check "image_refuses_a_loader_that_is_too_long" says 1 "long.bin: too long" runner/image.sh "$out/BOOTX64.EFI" "$work/long.bin" runner/stallmeter.ini "$work/long.img"
fetched() { mcopy -n -i "$work/a.img@@1M" "::$1" "$work/fetched" && cmp "$work/fetched" "$2"; }
check "image_holds_the_application" fetched /EFI/BOOT/BOOTX64.EFI "$out/BOOTX64.EFI"
rm -f "$work/fetched"
check "image_holds_the_settings" fetched /stallmeter/stallmeter.ini runner/stallmeter.ini

# A run that ended before its first line leaves an empty folder, which is no reason to leave the others.
cp --sparse=always "$work/a.img" "$work/runs.img"
mmd -i "$work/runs.img@@1M" ::/stallmeter/results/a-0001 ::/stallmeter/results/b-0001
mcopy -i "$work/runs.img@@1M" runner/stallmeter.ini ::/stallmeter/results/b-0001/results.json
check "image_fetch_leaves_out_an_empty_run" says 0 "b-0001$" runner/fetch.sh "$work/runs.img" "$work/runs"
check "image_fetch_takes_the_run_behind_it" cmp "$work/runs/b-0001/results.json" runner/stallmeter.ini

# Built once more from nothing, later, in a directory of another name, with the same build id. The host command: tests/shell/house/release_long.sh.
copy=$work/another/directory
mkdir -p "$copy"
tar -c --exclude=./out --exclude=./.git . | tar -x -C "$copy"
id=$(sed 's/.*BUILD_ID "\(.*\)"/\1/' "$out/gen/bench/build.h")
make -s -C "$copy" OUT=out SAN= BUILD_ID="$id" -j2 out/stallmeter.img >"$work/build.log" 2>&1 || cat "$work/build.log"
same() { cmp "$copy/out/$1" "$out/$1"; }
check "image_build_is_reproducible_application" same BOOTX64.EFI
check "image_build_is_reproducible_image" same stallmeter.img
tap_end
