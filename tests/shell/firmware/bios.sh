#!/bin/bash
# The BIOS loader's readers and its memory map under the sanitizers, with a disk and an application damaged in 2,000 seeded ways.
cd "$(dirname "$0")/../../.." || exit 2
out=${OUT:-out}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MTOOLS_SKIP_CHECK=1
make -s "$out/tests/bios/loader" "$out/stallmeter.img" OUT="$out" SAN= >&2 || { echo "not ok 1 - bios_builds"; exit 1; }
cp --sparse=always "$out/stallmeter.img" "$work/disk.img"
head -c 300000 "$out/bios.bin" >"$work/A file with a name of more than one entry, and Upper Case.bin"
mcopy -i "$work/disk.img@@1M" "$work"/A*.bin ::/stallmeter/ || exit 1
ASAN_OPTIONS=detect_leaks=0 "$out/tests/bios/loader" "$work/disk.img" "$out/BOOTX64.EFI" "$work"/A*.bin 2000
