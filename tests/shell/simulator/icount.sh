#!/bin/bash
# Judge: instructions that the simulated machine retires for every kernel against QEMU's icount, which
# counts them in a guest of its own with nothing of this project's interpreter in it.
# At -icount shift=7 an instruction is 2^7 ticks of the 1 GHz virtual TSC, to the tick, while IF = 0.
set -u
cd "$(dirname "$0")/../../.." || exit 2
out=${OUT:-out} work=$(mktemp -d) n=0 bad=0
trap 'rm -rf "$work"' EXIT
make -s judges >"$work/make" 2>&1 || { cat "$work/make"; echo "not ok 1 - judges build"; exit 1; }
"$out/tests/judge/judge" plan "$work/plan" && "$out/tests/judge/judge" retired nehalem-ep >"$work/sim" ||
	{ echo "not ok 1 - the simulated machine runs the calls"; exit 1; }
timeout 300 qemu-system-x86_64 -accel tcg -icount shift=7,sleep=off -cpu max -m 3072 -nodefaults -net none -display none \
	-debugcon "file:$work/guest" -device isa-debug-exit,iobase=0xf4,iosize=4 -no-reboot \
	-kernel "$out/tests/judge/guest.elf" -initrd "$work/plan" >"$work/qemu" 2>&1
if [ $? -ne 33 ] || ! grep -qx end "$work/guest"; then # (0x10 << 1) | 1
	cat "$work/qemu"; tail -n 3 "$work/guest"; echo "not ok 1 - the guest ran to its end"; exit 1
fi
empty_ticks=$(awk '$1 == "k_empty/10" { print $2 }' "$work/guest")
empty_count=$(awk '$1 == "k_empty/10" { print $2 }' "$work/sim")
while read -r name count; do
	ticks=$(awk -v name="$name" '$1 == name { print $2 }' "$work/guest")
	n=$((n + 1))
	if [ "$ticks" = unsupported ]; then
		echo "ok $n - $name # SKIP this QEMU emulates no such instruction set"
	elif [ -n "$ticks" ] && [ $(((ticks - empty_ticks) % 128)) -eq 0 ] && [ $(((ticks - empty_ticks) / 128)) -eq $((count - empty_count)) ]; then
		echo "ok $n - $name: $count instructions"
	else
		echo "not ok $n - $name: icount says $(((${ticks:-0} - empty_ticks) / 128)) more than k_empty, the simulated machine $((count - empty_count))"
		bad=1
	fi
done <"$work/sim"
[ "$n" -gt 100 ] || { echo "not ok $((n + 1)) - only $n calls were compared"; bad=1; }
exit $bad
