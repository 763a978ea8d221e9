#!/bin/bash
# Machine checks, which QEMU's monitor raises. One that leaves the processor's context whole costs the job that it came in, on the boot
# processor and on another; one that says it is corrupt (PCC) ends the run at once, and so does one on a processor that has nothing to do.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
log=$work/q/debugcon.log
recovered=0xBC00000000000000 corrupt=0xBE00000000000000 # valid, uncorrected, enabled, address and more known; and PCC

# boot WHICH...: the n-th machine check, "PROCESSOR STATUS", comes when processor n - 1 waits for it
boot() {
	rc=0
	rm -f "$work/mon.in" "$work/mon.out" "$log"
	mkfifo "$work/mon.in" "$work/mon.out"
	(
		core=0
		for check; do
			for ((i = 0; i < 1200; i++)); do grep -qs "^# core $core waits for a machine check" "$log" && break; sleep 0.05; done
			sleep 0.5
			echo "mce ${check% *} 1 ${check#* } 0x5 0x1000 0x0"
			core=$((core + 1))
		done >"$work/mon.in"
	) &
	runner/qemu.sh --work "$work/q" --smp 2 --options end=exit --test check "$out/stallmeter.img" -- \
		-chardev "pipe,id=mon,path=$work/mon" -mon chardev=mon >"$work/boot" 2>&1 || rc=$?
	wait
}
boot "0 $recovered" "1 $recovered"
for core in 0 1; do
	check "check_of_core_${core}_is_a_status" grep "^ok [0-9]* - core $core: #MC is a status: fault, vector 18" "$log"
	check "check_of_core_${core}_leaves_it_working" grep "^ok [0-9]* - core $core: a kernel runs after it" "$log"
done
check "check_recovered_ends_with_0" sh -c 'cat "$1"; exit $2' - "$log" "$rc"
boot "0 $corrupt"
check "check_of_a_corrupt_context_is_told" grep "^machine check on core 0, bank 1, status 0xbe00000000000000: its state is corrupt" "$log"
check "check_of_a_corrupt_context_ends_the_run" sh -c 'grep "^stallmeter: end status 5" "$1" && ! grep "is a status" "$1"' - "$log"
boot "0 $recovered" "1 $corrupt"
check "check_of_another_cores_corrupt_context_is_told" grep "^machine check on core 1, bank 1, status 0xbe00000000000000: its state is corrupt" "$log"
check "check_of_another_cores_corrupt_context_ends_the_run" grep "^stallmeter: end status 5" "$log"
boot "1 $recovered"
check "check_of_an_idle_core_ends_the_run" grep "^fault outside every recovery: core 1 vector 18 " "$log"
tap_end
