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

# Made once more, later, in a directory of another name, with the same build id: what is generated, the assembler's part, the objects of a room, link and image. Of
# the other objects it is shown that the compiler is asked the same, by its commands, about the same text, as the preprocessor makes it of each source: compiling
# all of them takes ten times as long, which tests/shell/house/release_long.sh does, of the host command too.
copy=$work/another/directory
mkdir -p "$copy"
tar -c --exclude=./out --exclude=./.git . | tar -x -C "$copy"
id=$(sed 's/.*BUILD_ID "\(.*\)"/\1/' "$out/gen/bench/build.h")
make_() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make SAN= BUILD_ID="$id" "$@"; }
commands() { make_ -n -B -C "$1" OUT="$2" "$2/stallmeter.img" 2>"$work/dry" | grep -E ' -c -o [^ ]+ [^ ]+\.c$' | sort -u; } # commands DIRECTORY OUT
as_there() { sed "s#$1/#HERE/#g; s#$1=#HERE=#g; s#\\([ \"I]\\)$2/#\\1out/#g"; }
commands_are_the_same() {
	commands "$PWD" "$out" | as_there "$PWD" "$out" >"$work/here"
	commands "$copy" out | as_there "$copy" out >"$work/there"
	[ "$(wc -l <"$work/there")" -gt 200 ] && diff "$work/here" "$work/there"
}
texts() { # texts DIRECTORY OUT: a sum of what the compiler reads, and the source
	commands "$1" "$2" | sed -E 's/ -MMD -MP / /; s/ -c -o [^ ]+ / -E -fno-working-directory -Werror=date-time /' | (cd "$1" && xargs -d '\n' -P "$(nproc)" -n 1 sh -c '
		eval "$2" >"$0.$$" && echo "$(sed "s#\"$1/#\"out/#" "$0.$$" | md5sum) ${2##* }"; rm "$0.$$"' "$work/text" "$2") | sed "s#$2/gen#out/gen#" | sort
}
texts_are_the_same() {
	texts "$PWD" "$out" >"$work/here"
	texts "$copy" out >"$work/there"
	[ "$(wc -l <"$work/there")" -eq "$(commands "$copy" out | wc -l)" ] && diff "$work/here" "$work/there"
}
objects=$(cd "$out" && find pmu bench efi -name '*.o' -not -name '*.asm.o' -not -path 'efi/platform/*' -not -path 'efi/bios/*')
make_ -s -C "$copy" OUT=out out/gen/tables.c out/gen/machines.c out/gen/font.c out/gen/bench/build.h >"$work/build.log" 2>&1 || cat "$work/build.log"
check "image_build_asks_the_compiler_the_same" commands_are_the_same
check "image_build_reads_the_same" texts_are_the_same
for file in tables.c machines.c font.c; do check "image_build_generates_the_same_$file" cmp "$copy/out/gen/$file" "$out/gen/$file"; done
echo "$objects" | tar -c -C "$out" -T - | tar -x -m -C "$copy/out" # younger than what they are made of
make_ -s -C "$copy" OUT=out -j2 out/stallmeter.img >>"$work/build.log" 2>&1 || cat "$work/build.log"
same() { cmp "$copy/out/$1" "$out/$1"; }
for file in "$out"/efi/platform/*.o; do check "image_build_is_reproducible_$(basename "$file")" same "efi/platform/${file##*/}"; done
check "image_build_is_reproducible_application" same BOOTX64.EFI
check "image_build_is_reproducible_image" same stallmeter.img
tap_end
