#!/bin/bash
# Makes a disk image: runner/image.sh EFI_APPLICATION BIOS_LOADER INI IMAGE [EFI_APPLICATION_OF_32_BITS]
#   GPT; partition 1, EFI system: FAT32, \EFI\BOOT\BOOTX64.EFI and BOOTIA32.EFI, \stallmeter\stallmeter.ini and \stallmeter\results.
#   For a PC BIOS: the loader's first 440 bytes in front of the protective MBR's partition table, and the blocks after its
#   first in partition 2, BIOS boot (efi/bios/boot.asm reads it from the same block).
# Needs neither root nor a loop device. The same inputs give the same bytes: GUIDs, volume id and times are fixed.
set -eu
PATH=$PATH:/usr/sbin:/sbin
[ $# -eq 4 ] || [ $# -eq 5 ] || { echo "usage: runner/image.sh EFI_APPLICATION BIOS_LOADER INI IMAGE [EFI_APPLICATION_OF_32_BITS]" >&2; exit 2; }
application=$1 loader=$2 ini=$3 image=$4 of_32=${5:-}
for file in "$application" "$loader" "$ini" ${of_32:+"$of_32"}; do
	[ -r "$file" ] || { echo "image.sh: $file: no such file" >&2; exit 2; }
done

# FAT32 needs at least 65525 clusters (Microsoft FAT specification, "FAT type determination"): 33 MiB at
# one sector per cluster. 96 MiB leave room for many runs and are sparse.
mib=96 start=2048 bios_start=64
last=$(((mib - 1) * 2048 - 1))
disk_guid=5741114E-0001-4D45-8000-000000000001
part_guid=5741114E-0001-4D45-8000-000000000002
bios_guid=5741114E-0001-4D45-8000-000000000003
volume_id=57A11000
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-1767225600} TZ=UTC0 MTOOLS_SKIP_CHECK=1 MTOOLSRC=/dev/null

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
new=$work/disk.img
truncate -s "${mib}M" "$new"
sgdisk -a 2048 -n "1:$start:$last" -t 1:EF00 -c 1:STALLMETER -u "1:$part_guid" \
	-a 1 -n "2:$bios_start:$((start - 1))" -t 2:EF02 -c 2:BIOS -u "2:$bios_guid" -U "$disk_guid" "$new" >"$work/log" 2>&1 ||
	{ cat "$work/log" >&2; exit 1; }
[ "$(stat -c %s "$loader")" -le $(((start - bios_start + 1) * 512)) ] || { echo "image.sh: $loader: too long" >&2; exit 1; }
dd if="$loader" of="$new" bs=440 count=1 conv=notrunc status=none
# Some BIOSes skip a disk without an active partition; UEFI firmware must ignore the flag (UEFI 2.10, table 5.4).
printf '\200' | dd of="$new" bs=1 seek=446 conv=notrunc status=none
dd if="$loader" of="$new" bs=512 skip=1 seek=$bios_start conv=notrunc status=none
# The size is in KiB; without it mkfs.vfat would overwrite the backup partition table. Clusters of 1 KiB, so that a run's folder fits
# in one: the firmware extends a folder in two writes, and a power cut between them leaves a link to a free cluster.
mkfs.vfat --invariant -F 32 -s 2 -h "$start" -i "$volume_id" -n STALLMETER --offset "$start" "$new" $(((last + 1 - start) / 2)) >"$work/log" 2>&1 ||
	{ cat "$work/log" >&2; exit 1; }

# mtools stamps directories with the current time, so the whole tree is copied with its own times.
# A power cut while the firmware creates a folder can leave it without "." and "..", and the next entries take their place,
# so the folder of the runs exists from the start.
mkdir -p "$work/tree/EFI/BOOT" "$work/tree/stallmeter/results"
cp "$application" "$work/tree/EFI/BOOT/BOOTX64.EFI"
[ -z "$of_32" ] || cp "$of_32" "$work/tree/EFI/BOOT/BOOTIA32.EFI"
cp "$ini" "$work/tree/stallmeter/stallmeter.ini"
find "$work/tree" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
mcopy -s -m -Q -i "$new@@1M" "$work/tree/EFI" "$work/tree/stallmeter" ::/
mkdir -p "$(dirname "$image")"
cp --sparse=always "$new" "$image.new"
mv "$image.new" "$image"
