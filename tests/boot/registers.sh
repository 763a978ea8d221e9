#!/bin/bash
# The hw backend on a processor that looks like a Nehalem: a debugger on QEMU's stub answers each access to a register
# with what the golden traces recorded, and the guest must ask for exactly those, with all safety checks on.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
make -s OUT="$out" "$out/tests/boot/debugger" "$out/stallmeter.img" >"$work/make" 2>&1 || { cat "$work/make"; exit 1; }
symbol() { nm "$out/stallmeter.so" | awk -v n="$1" '$3 == n { print $1 }'; }

# debugged OPTIONS-OF-THE-GUEST [DEBUGGER'S ARGUMENT]...: $rc is the guest's exit status, $said what the debugger found
debugged() {
	local options=$1 log=$work/q/debugcon.log
	shift
	rm -rf "$work/q" "$work/gdb"
	rc=0
	mkdir "$work/q"
	mkfifo "$work/q/keys.in" "$work/q/keys.out"
	cat "$work/q/keys.out" >/dev/null &
	runner/qemu.sh --work "$work/q" --smp 8 --memory 1536 --keys "$work/q/keys" --test debugger --options "$options end=exit" --limit 300 \
		"$out/stallmeter.img" -- -gdb "unix:$work/gdb,server=on,wait=off" >"$work/qemu" 2>&1 &
	local guest=$!
	exec 9<>"$work/q/keys.in"
	for ((i = 0; i < 600; i++)); do
		grep -q 'waiting for a debugger' "$log" 2>/dev/null && break
		sleep 0.2
	done
	"$out/tests/boot/debugger" --socket "$work/gdb" --wait "$(symbol debugger_wait)" --rdmsr "$(symbol site_rdmsr)" \
		--wrmsr "$(symbol site_wrmsr)" --cpuid "$(symbol site_cpuid)" "$@" >"$work/debugger" 2>&1 || found=$?
	wait $guest || rc=$?
	exec 9>&-
}
# replayed PROFILE: the guest's accesses are those of the golden trace
replayed() {
	found=0
	debugged "backend=hw profile=$1 suite=load.l1.latency repetitions=1" tests/golden/start.txt "tests/golden/$1.txt"
	cat "$work/debugger" "$work/qemu"
	tail -n 20 "$work/q/debugcon.log"
	[ "$found" -eq 0 ] && [ "$rc" -eq 0 ] && grep -q ' accesses as recorded' "$work/debugger" &&
		grep -q "^$1: load.l1.latency" "$work/q/debugcon.log" && ! grep -q 'refused\|could not be put back' "$work/q/debugcon.log"
}
for profile in memory-access client-analysis; do
	check "registers_of_${profile}_in_the_guest_are_the_golden_ones" replayed $profile
	grep -h 'accesses as recorded' "$work/debugger" | sed 's/^/# /'
done

# A register that was left changed is found by the debugger, which keeps what was written; every write below goes there.
rows=load.l1.latency,load.l2.*,load.l3.latency
kept() { # kept STATUS FOUND PATTERN [DEBUGGER'S ARGUMENT]...
	local status=$1 want=$2 pattern=$3
	shift 3
	found=0
	debugged "backend=hw suite=$rows repetitions=1" --model --not-restored tables/reviewed/not_restored.csv "$@" tests/golden/start.txt
	cat "$work/debugger" "$work/qemu"
	tail -n 20 "$work/q/debugcon.log"
	[ "$rc" -eq "$status" ] || { echo "end status $rc, not $status"; return 1; }
	[ "$found" -eq "$want" ] || { echo "the debugger's status $found, not $want"; return 1; }
	grep -qE "$pattern" "$work/q/debugcon.log"
}
check "registers_have_their_values_after_a_run" kept 0 0 '^4 rows: '
last=$(sed -n 's/^\([0-9]*\) writes, .*/\1/p' "$work/debugger")
# The firmware waits two seconds whether more follows an Esc on a serial line: enough rows to be still at work then.
rows='load.*,tlb.*,store.*'
check "registers_have_their_values_after_esc" kept 4 0 'stopped by the user' --escape 20 "$work/q/keys.in"
check "registers_esc_ended_it_early" sh -c 'n=$(sed -n "s/^\([0-9]*\) rows: .*/\1/p" "$1"); [ "$n" -ge 1 ] && [ "$n" -lt 30 ]' - "$work/q/debugcon.log"
rows=load.l1.latency,load.l2.*,load.l3.latency
check "registers_have_their_values_after_a_fault" kept 0 0 '^load.l1.latency .* fault ' --fault 30
check "registers_that_stay_changed_are_told" kept 3 1 'a register could not be put back: fault' --fault $((${last:-2} - 1))
tap_end
