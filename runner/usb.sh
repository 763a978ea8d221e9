#!/bin/bash
# Writes the disk image to a USB stick: runner/usb.sh [--update] DEVICE IMAGE
#   --update: replaces only the application of a stick that was written before; settings and results stay. Asks nothing.
#   Refuses a device that is not removable (for sticks that report so, set FIXED=yes in the environment), is in use, is too small or holds
#   results; shows what it would erase and asks. Exit status: 0 written and read back, 1 refused or failed, 2 bad arguments.
# For tests STALLMETER_SYS and STALLMETER_PROC replace /sys and /proc; with STALLMETER_SYS set DEVICE may
# be a file.
set -u
PATH=$PATH:/usr/sbin:/sbin
sys=${STALLMETER_SYS:-/sys} proc=${STALLMETER_PROC:-/proc}
export MTOOLS_SKIP_CHECK=1 MTOOLSRC=/dev/null

refuse() { echo "usb.sh: $device: $*" >&2; exit 1; }

update=
[ "${1:-}" != --update ] || { update=yes; shift; }
if [ $# -ne 2 ] || [ -z "${1:-}" ]; then
	echo "usage: make usb${update:+-update} DEV=/dev/sdX (the whole device, not a partition of it)" >&2
	exit 2
fi
device=$1 image=$2
[ -r "$image" ] || { echo "usb.sh: $image: no such image; make image builds it" >&2; exit 2; }
[ -e "$device" ] || { echo "usb.sh: $device: no such device" >&2; exit 2; }
path=$(readlink -f "$device") name=$(basename "$path") block=$sys/block/$(basename "$path")
if [ -z "${STALLMETER_SYS:-}" ] && [ ! -b "$path" ]; then echo "usb.sh: $device: not a block device" >&2; exit 2; fi
if [ ! -d "$block" ]; then
	echo "usb.sh: $device: not a whole device (allowed: $(cd "$sys/block" && echo *))" >&2
	exit 2
fi

[ "$(cat "$block/removable")" = 1 ] || [ "${FIXED:-}" = yes ] ||
	refuse "not a removable device (its removable flag is $(cat "$block/removable")); if it is a stick that says so, FIXED=yes behind make's words overrides it"
[ "$(cat "$block/ro")" = 0 ] || refuse "write-protected"

sector=$(cat "$block/queue/logical_block_size" 2>/dev/null || echo 512)
[ "$sector" -eq 512 ] || refuse "its sectors have $sector bytes; the image is made for 512"

# In use: the device or a partition is mounted, used as swap, or held by another device (LUKS, LVM, RAID).
for part in "$block" "$block/$name"*; do
	[ -d "$part" ] || continue
	number=$(cat "$part/dev")
	where=$(awk -v d="$number" '$3 == d { print $5; exit }' "$proc/self/mountinfo")
	[ -z "$where" ] || refuse "$(basename "$part") is mounted on $where"
	! grep -q "^/dev/$(basename "$part")[[:space:]]" "$proc/swaps" || refuse "$(basename "$part") is used as swap"
	holders=$(ls "$part/holders" 2>/dev/null)
	[ -z "$holders" ] || refuse "$(basename "$part") is held by $holders"
done

sectors=$(cat "$block/size") need=$((($(stat -c %s "$image") + 511) / 512))
[ -n "$update" ] || [ "$sectors" -ge "$need" ] || refuse "too small: $sectors sectors of 512 bytes, the image needs $need"
[ -r "$path" ] && [ -w "$path" ] || refuse "may not be read and written by $(id -un): try as root"

# The new application is complete on the stick before the old one is deleted: a stick that is pulled out in between still has one of them.
update_application() {
	local stick="$path@@1M" folder=::/EFI/BOOT work
	work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT || exit 1
	mcopy -n -i "$stick" $folder/BOOTX64.EFI "$work/old" 2>/dev/null && mdir -b -i "$stick" ::/stallmeter >/dev/null 2>&1 ||
		refuse "no stick of ours: no \\EFI\\BOOT\\BOOTX64.EFI or no \\stallmeter in its first partition; make usb writes one"
	mcopy -n -i "$image@@1M" $folder/BOOTX64.EFI "$work/new" || refuse "the image has no application"
	if cmp -s "$work/old" "$work/new"; then echo "$device: has this application already"; exit 0; fi
	mdel -i "$stick" $folder/BOOTX64.NEW 2>/dev/null
	mcopy -i "$stick" "$work/new" $folder/BOOTX64.NEW && mcopy -n -i "$stick" $folder/BOOTX64.NEW "$work/back" && cmp -s "$work/new" "$work/back" || {
		mdel -i "$stick" $folder/BOOTX64.NEW 2>/dev/null
		refuse "the new application does not fit or was not read back as written; the old one is still there"
	}
	sync "$path"
	mdel -i "$stick" $folder/BOOTX64.EFI && mren -i "$stick" $folder/BOOTX64.NEW BOOTX64.EFI || refuse "renaming failed: \\EFI\\BOOT\\BOOTX64.NEW is the new application"
	sync "$path"
	echo "$device: the application is replaced; settings and results are as they were."
	exit 0
}
[ -z "$update" ] || update_application

# Results of earlier runs, on any partition and on a device without partitions.
for start in 0 2048 $(cat "$block/$name"*/start 2>/dev/null); do
	kept=$(mdir -b -i "$path@@$((start * 512))" ::/stallmeter/results 2>/dev/null | grep -c .)
	[ "$kept" -eq 0 ] || refuse "holds results ($kept in stallmeter/results): copy them away and delete them first"
done

echo "This will erase everything on $device:"
echo "  $(cat "$block/device/vendor" "$block/device/model" 2>/dev/null | tr -s ' \n' ' ' | sed 's, *$,,')" \
	"$((sectors / 2048)) MiB"
lsblk -o NAME,SIZE,FSTYPE,LABEL "$path" 2>/dev/null | sed 's/^/  /'
printf 'Type %s to go on: ' "$name"
read -r answer || answer=
if [ "$answer" != "$name" ]; then echo; echo "usb.sh: nothing was written" >&2; exit 1; fi

dd if="$image" of="$path" bs=4M conv=notrunc,fsync status=none || refuse "writing failed"
cmp -n "$(stat -c %s "$image")" "$image" "$path" || refuse "what was read back is not what was written"
# The backup partition table belongs at the end of the device (UEFI specification, 5.3.2).
sgdisk -e "$path" >/dev/null || refuse "moving the second partition table to the end failed"
printf '\200' | dd of="$path" bs=1 seek=446 conv=notrunc status=none || refuse "marking the partition as active failed" # sgdisk cleared it
sync "$path"
echo "Written and read back: $device is a Stallmeter stick."
