#!/bin/bash
# For tests that boot often: boots OVMF alone until its drivers are loaded, and saves that state: runner/firmware_state.sh STATE VARIABLES QEMU-ARGUMENT...
# A boot that starts from it (-incoming) skips what all boots have in common, most of OVMF's processor time. The arguments are those common to
# both: machine, processors, memory. PCI devices have not been enumerated yet, so a boot may have any; a trial with a disk confirms it.
# SMBIOS tables and the number of root buses have been read: not for boots that change these. Status 1: there is no state, boot normally.
# In the same folder, `variables` is the flash of VARIABLES after a first boot from a disk, so that each boot writes less, as on a machine that
# is not new. QEMU writes that flash byte by byte.
set -u
state=$1 fresh=$2 folder=$(dirname "$1") code=/usr/share/OVMF/OVMF_CODE_4M.fd
shift 2
mkdir -p "$folder" || exit 1
exec 5>"$folder/variables.lock" 6>"$state.lock"
flock 6
[ ! -s "$state" ] || exit 0
[ "$(cat "$folder/failed" 2>/dev/null | wc -l)" -lt 3 ] || exit 1 # a different OVMF, or a host that is too busy
work=$(mktemp -d) || exit 1
guest=
trap '[ -z "$guest" ] || { kill "$guest" 2>/dev/null; wait "$guest"; } 2>/dev/null; rm -rf "$work"' EXIT # timeout passes TERM on to QEMU; KILL would end timeout alone
mkfifo "$work/monitor.in" "$work/monitor.out" || exit 1
exec 7<>"$work/monitor.in" 8<>"$work/monitor.out"

begin() { # begin VARIABLES QEMU-ARGUMENT...: a guest with a monitor
	cp "$1" "$work/vars.fd" || exit 1
	shift
	rm -f "$work/serial"
	timeout --signal=KILL 60 qemu-system-x86_64 "$@" -nodefaults -no-user-config -net none -display none -no-reboot -boot menu=off \
		-drive "if=pflash,format=raw,unit=0,readonly=on,file=$code" -drive "if=pflash,format=raw,unit=1,file=$work/vars.fd" \
		-serial "file:$work/serial" -chardev "pipe,id=monitor,path=$work/monitor" -mon chardev=monitor </dev/null >"$work/said" 2>&1 5>&- 6>&- &
	guest=$!
}
# answered COMMAND PATTERN: waits for the first line of the monitor's answers that matches; each wait is bounded
answered() {
	printf '%s\n' "$1" >&7
	while IFS= read -r -t 10 -u 8 line; do
		[[ ! $line =~ $2 ]] || return 0
	done
	return 1
}
ended() { printf 'quit\n' >&7; wait "$guest"; guest=; }
give_up() { echo "$state" >>"$folder/failed"; exit 1; }
translated() { answered "info jit" '^TB count +([0-9]+)' && blocks=${BASH_REMATCH[1]}; } # number of code blocks translated so far
no_pci_yet() { answered "info pci" 'BAR[0-9]: ' && [[ $line =~ 0xf+[ef]?\ ?\[ ]]; } # a device's BAR has no address yet
keep() { # keep FILE: stops the guest, and saves its state if the firmware has not advanced meanwhile
	printf 'stop\n' >&7
	no_pci_yet && printf 'migrate "exec:cat >%s"\n' "$1.new" >&7 && answered "info migrate" '^Migration status: completed' &&
		[ "$(stat -c %s "$1.new" 2>/dev/null || echo 0)" -gt 1000000 ] && mv "$1.new" "$1"
}
disk=(-drive "if=none,id=disk,driver=null-co,size=64M,read-zeroes=on" -device virtio-blk-pci,drive=disk,bootindex=0)
looks_at_disk() { # looks_at_disk [WATCH]: waits until it finds nothing to boot there; WATCH: records the blocks translated before PCI in $folder/blocks
	local i watch=${1:-}
	for ((i = 0; i < 1200; i++)); do
		if [ -n "$watch" ]; then
			translated || return 1
			if no_pci_yet; then echo "$blocks" >"$folder/blocks"; else watch=; fi
		fi
		! grep -qsa 'failed to load Boot' "$work/serial" || return 0
		kill -0 "$guest" 2>/dev/null || return 1
		sleep 0.03
	done
	return 1
}

flock 5
if [ ! -s "$folder/variables" ]; then
	begin "$fresh" -machine q35,accel=tcg -cpu max "${disk[@]}"
	looks_at_disk watch || give_up
	ended
	mv "$work/vars.fd" "$folder/variables"
fi
exec 5>&-
# The saved state omits the run state, which would be that of a stopped machine.
begin "$folder/variables" "$@" -global migration.store-global-state=off
for ((i = 0; i < 3000; i++)); do
	translated || give_up
	[ "$blocks" -lt $(($(cat "$folder/blocks") * 8 / 10)) ] || break
	sleep 0.01
done
printf 'migrate_set_parameter max-bandwidth 10G\n' >&7
keep "$state.trial" || give_up # the host was busy, and the firmware advanced too far
ended
begin "$folder/variables" "$@" "${disk[@]}" -incoming "exec:cat $state.trial"
looks_at_disk || give_up
ended
mv "$state.trial" "$state"
