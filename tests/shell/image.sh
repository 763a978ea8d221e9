#!/bin/bash
# The disk image: structure, and the same bytes from two builds in two directories.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1

check "image_builds" runner/image.sh "$out/BOOTX64.EFI" runner/stallmeter.ini "$work/a.img"
check "image_partition_table_is_valid" says 0 "No problems found" sgdisk -v "$work/a.img"
check "image_partition_is_an_esp" says 0 "EF00" sgdisk -p "$work/a.img"
dd if="$work/a.img" of="$work/esp.img" bs=1M skip=1 status=none
check "image_file_system_is_fat32" says 0 "2 FATs, 32 bit entries" fsck.fat -nv "$work/esp.img"
check "image_file_system_is_clean" fsck.fat -n "$work/esp.img"
fetched() { mcopy -n -i "$work/a.img@@1M" "::$1" "$work/fetched" && cmp "$work/fetched" "$2"; }
check "image_holds_the_application" fetched /EFI/BOOT/BOOTX64.EFI "$out/BOOTX64.EFI"
rm -f "$work/fetched"
check "image_holds_the_settings" fetched /stallmeter/stallmeter.ini runner/stallmeter.ini

# Two source directories of different names, built from nothing at different times.
for copy in first/one second/number/two; do
	mkdir -p "$work/$copy"
	tar -c --exclude=./out --exclude=./.git . | tar -x -C "$work/$copy"
	[ $copy = first/one ] || sleep 3
	make -s -C "$work/$copy" OUT=out -j2 image host >"$work/$(basename $copy).log" 2>&1 || cat "$work/$(basename $copy).log"
done
same() { cmp "$work/first/one/out/$1" "$work/second/number/two/out/$1"; }
check "image_build_is_reproducible_application" same BOOTX64.EFI
check "image_build_is_reproducible_image" same stallmeter.img
check "image_build_is_reproducible_host_command" same stallmeter
tap_end
