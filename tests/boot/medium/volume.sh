# Sourced by tests/boot/*.sh, after tests/tap.sh: what a sudden end may leave of the boot volume.
#
# volume_is_whole IMAGE: what it leaves costs nothing: the count of free clusters, the mark of use; an end between the two
# writes of the FATs one cluster that no file has, before the directory entry clusters behind a file's size, before the first
# cluster of a new folder one without "." and "..", between two sectors of a FAT a link behind a file's size to a cluster that is still free;
# and after the repair every file is as it was before.
volume_is_whole() {
	dd if="$1" of="$work/esp" bs=1M skip=1 conv=sparse status=none
	fsck.fat -n "$work/esp" >"$work/fsck" || true
	grep -vE '^fsck.fat|files, |Free cluster summary|Auto-correcting|Leaving filesystem|Dirty bit|not properly unmounted|^$' "$work/fsck" >"$work/faults" || return 0
	cat "$work/faults"
	! grep -vE 'FATs differ but appear to be intact|Using first FAT|Reclaimed [0-9]+ unused cluster|^/stallmeter/|File size is [0-9]+ bytes, cluster chain length is > [0-9]+ bytes|Truncating file to [0-9]+ bytes|Expected a valid .\.\.?. entry in the (first|second) slot, found free entry|^  Creating\.$|^  Contains a free cluster \([0-9]+\)\. Assuming EOF\.$' "$work/faults" || return 1
	fsck.fat -a "$work/esp" || [ $? -eq 1 ] || return 1
	rm -rf "$work/before" "$work/after"
	mkdir "$work/before" "$work/after"
	mcopy -s -n -Q -m -i "$1@@1M" '::/*' "$work/before" && mcopy -s -n -Q -m -i "$work/esp" '::/*' "$work/after" &&
		diff -r -x 'FSCK*.REC' "$work/before" "$work/after"
}
