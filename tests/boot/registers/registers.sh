#!/bin/bash
# The hw backend on a processor that looks like a Nehalem: a debugger on QEMU's stub answers each access to a register
# with what the golden traces recorded, and the guest must ask for exactly those, with all safety checks on.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/boot/registers/debugged.sh
for profile in memory-access branch-analysis; do # all of them: registers_long.sh
	check "registers_of_${profile}_in_the_guest_are_the_golden_ones" replayed $profile
	grep -h 'accesses as recorded' "$work/debugger" | sed 's/^/# /'
done

# A register that was left changed is found by the debugger, which keeps what was written; every write below goes there.
rows=load.l1.latency,load.l2.*,load.l3.latency
kept() { # kept STATUS FOUND PATTERN [DEBUGGER'S ARGUMENT]...
	local status=$1 want=$2 pattern=$3
	shift 3
	found=0
	debugged "backend=hw suite=$rows repetitions=1" --model --not-restored tables/not_restored.csv "$@" tests/golden/start.txt
	cat "$work/debugger" "$work/qemu"
	tail -n 20 "$work/q/debugcon.log"
	[ "$rc" -eq "$status" ] || { echo "end status $rc, not $status"; return 1; }
	[ "$found" -eq "$want" ] || { echo "the debugger's status $found, not $want"; return 1; }
	grep -qE "$pattern" "$work/q/debugcon.log"
}
check "registers_have_their_values_after_a_run" kept 0 0 '^4 rows: '
last=$(sed -n 's/^\([0-9]*\) writes, .*/\1/p' "$work/debugger")
smp=3 # each access of each processor stops them all
# The firmware waits two seconds whether more follows an Esc on a serial line: enough rows to be still at work then.
rows='load.*,tlb.*,store.*'
check "registers_have_their_values_after_esc" kept 4 0 'stopped by the user' --escape 20 "$work/q/keys.in"
check "registers_esc_ended_it_early" sh -c 'n=$(sed -n "s/^\([0-9]*\) rows: .*/\1/p" "$1"); [ "$n" -ge 1 ] && [ "$n" -lt 30 ]' - "$work/q/debugcon.log"
rows=load.l1.latency,load.l2.*,load.l3.latency
check "registers_have_their_values_after_a_fault" kept 0 0 '(^load\.| by the latency event).* fault( |\r|$)' --fault $((${last:-2} / 2))
# A kernel that never ends: the local APIC's timer ends the boot processor's, an NMI another's.
timed_out() { # CORE ROW
	rows=$2 kept 0 0 "^$2 .* timeout( |\r|\$)" --endless "$3" "$1" && grep -q "^endless job of core $1 " "$work/debugger"
}
check "registers_have_their_values_after_a_kernel_that_never_ends" timed_out 0 load.l2.latency 20
check "registers_have_their_values_after_another_cores_that_never_ends" timed_out 1 read.l1_all.bandwidth 20
smp=8
check "registers_that_stay_changed_are_told" kept 3 1 'a register could not be restored: fault' --fault $((${last:-2} - 1))
tap_end
