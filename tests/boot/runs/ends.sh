#!/bin/bash
# runner/qemu.sh turns each end of a guest into the right exit status: only the application's own word is
# success, never a shutdown, a reset or the end of time.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
image=$out/stallmeter.img
boot() { runner/qemu.sh --work "$work/q" "$@" "$image"; }

check "end_shutdown_is_status_5" says 5 "the guest shut down or reset" boot --options end=shutdown --test faults
check "end_reboot_is_status_5" says 5 "the guest shut down or reset" boot --options end=reboot --test faults
check "end_time_out_is_status_5" says 5 "killed after 3 s" boot --limit 3 --options end=exit
check "end_of_qemu_itself_is_status_5" says 5 "QEMU ended with status" boot --cpu no-such-model
check "end_unknown_self_test_is_status_1" status 1 boot --options end=exit --test no-such-test
# An image without the application: the firmware finds nothing to boot.
truncate -s 64M "$work/empty.img"
image=$work/empty.img
check "end_of_an_empty_disk_is_status_5" says 5 "killed after 12 s" boot --limit 12
for bad in "--device floppy" "--smp 0" "--smp x" "--nodes 2" "--fast"; do
	check "qemu_refuses_$bad" refuses "qemu.sh: --" boot $bad
done
check "qemu_refuses_missing_image" refuses "no such image" runner/qemu.sh --work "$work/q" "$work/none.img"
tap_end
