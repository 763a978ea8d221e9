#!/bin/bash
# A machine that has a system of its own and was told once to start the stick: a reset in the middle of a run, and those of a
# series of boots, start the stick again; when the run is over the machine starts its own system.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
make -s OUT="$out" "$out/tests/boot/firmware/hostile.efi" >/dev/null || exit 2
log=$work/q/debugcon.log
other=$work/other.img
cp --sparse=always "$out/stallmeter.img" "$other"
mcopy -o -i "$other@@1M" "$out/tests/boot/firmware/hostile.efi" ::/EFI/BOOT/BOOTX64.EFI
boot() { # boot SETTINGS OPTION...: fills $rc
	local settings=$1
	shift
	rc=0
	cp --sparse=always "$out/stallmeter.img" "$work/stick.img"
	runner/qemu.sh --work "$work/q" --in-place --second --reboots --limit 120 --options "backend=sim:pentium4 suite=load.l1.latency,load.l2.latency $settings" \
		"$work/stick.img" "$@" -- -fw_cfg name=opt/hostile,string=other \
		-drive "if=none,id=other,format=raw,file=$other" -device virtio-blk-pci,drive=other,bootindex=0 >"$work/boot" 2>&1 || rc=$?
}
told() { cat "$log" "$work/boot"; [ "$(grep -c "$2" "$log")" -eq "$1" ]; } # told TIMES LINE

boot end=exit --crash reset:load.l2.latency
check "next_stick_was_chosen_once" told 1 "hostile: option [0-9]* is chosen once"
check "next_reset_in_a_row_starts_the_stick_again" told 0 "another operating system is started"
check "next_run_goes_on_behind_the_reset" told 1 "broken off, goes on"
check "next_run_ends_with_its_status" test "$rc" -eq 1
boot "end=reboot boots=2"
check "next_resets_of_a_series_start_the_stick_again" told 1 "boots: 2 of 2 done"
check "next_own_system_comes_when_the_run_is_over" told 1 "another operating system is started"
tap_end
