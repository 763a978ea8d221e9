#!/bin/bash
# Boots OVMF alone until it has unpacked itself, and keeps that state of the machine: runner/firmware_state.sh STATE QEMU-ARGUMENT...
# STATE is made unless it is there. A boot that begins with it (-incoming) spares two thirds of OVMF's processor time, of which unpacking
# takes most; no PCI device has been looked for yet, so that boot may have any. The arguments are those that the two have in common:
# machine, processors, memory, flash. Status 1: there is no state, and one boots as ever.
set -u
state=$1
shift
mkdir -p "$(dirname "$state")" || exit 1
exec 6>"$state.lock"
flock 6
[ ! -s "$state" ] || exit 0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
mkfifo "$work/monitor.in" "$work/monitor.out" || exit 1
exec 7<>"$work/monitor.in" 8<>"$work/monitor.out"
# Without the state of the run in it, which is that of a machine that stands still.
timeout --signal=KILL 60 qemu-system-x86_64 "$@" -global migration.store-global-state=off -nodefaults -no-user-config -net none -display none \
	-no-reboot -boot menu=off -chardev "pipe,id=monitor,path=$work/monitor" -mon chardev=monitor </dev/null >"$work/said" 2>&1 6>&- &
guest=$!

# answered COMMAND PATTERN: the first line of the monitor's answers that has the pattern, in $line; each wait has an end
answered() {
	printf '%s\n' "$1" >&7
	while IFS= read -r -t 10 -u 8 line; do
		[[ ! $line =~ $2 ]] || return 0
	done
	return 1
}
give_up() { kill -KILL "$guest" 2>/dev/null; wait "$guest" 2>/dev/null; exit 1; }

# What unpacks runs with registers of 32 bits, what was unpacked with those of 64.
for ((i = 0; i < 600; i++)); do
	answered "info registers" '(E|R)IP=[0-9a-f]+' || give_up
	[[ $line != *RIP=* ]] || break
	sleep 0.03
done
[[ $line == *RIP=* ]] || give_up
printf 'stop\n' >&7
# The host was busy, and the firmware got further: a device has its addresses already.
answered "info pci" 'BAR[0-9]: ' || give_up
[[ $line =~ 0xf+[ef]?\ ?\[ ]] || give_up
printf 'migrate "exec:cat >%s"\nquit\n' "$state.new" >&7
wait "$guest" || exit 1
[ "$(stat -c %s "$state.new" 2>/dev/null || echo 0)" -gt 1000000 ] && mv "$state.new" "$state"
