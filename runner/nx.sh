#!/bin/bash
# Marks an application as compatible with no-execute data pages: runner/nx.sh FILE
#   DllCharacteristics, bit 8 NX_COMPAT (PE format, "Optional Header Windows-Specific Fields"): the word at offset 70
#   of the optional header, which starts 24 bytes after the PE signature, whose offset is at 0x3C. objcopy leaves it 0.
set -eu
word() { od -An -tu"$2" -N"$2" -j"$1" "$file" | tr -d ' '; }
file=$1
pe=$(word 60 4)
[ "$(od -An -tx1 -N4 -j"$pe" "$file" | tr -d ' ')" = 50450000 ] || { echo "nx.sh: $file: no PE file" >&2; exit 1; }
at=$((pe + 24 + 70))
[ "$(word $at 2)" -eq 0 ] || { echo "nx.sh: $file: DllCharacteristics is set already" >&2; exit 1; }
printf '\000\001' | dd of="$file" bs=1 seek=$at conv=notrunc status=none
