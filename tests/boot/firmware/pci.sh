#!/bin/bash
# Functions in PCI configuration space: found by ECAM, by ports where there is no MCFG, the same ones; those on a bus that no
# bridge leads to as well, and machine.txt has them.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
log=$work/q/debugcon.log
# a second root at bus 0x40, and behind a port of it a device
roots=(-device pxb-pcie,id=second,bus_nr=64,bus=pcie.0 -device pcie-root-port,id=below,bus=second,chassis=1 -device virtio-rng-pci,bus=below)
boot() { # boot NAME ARGUMENT...: fills $rc and $pci
	local name=$1
	shift
	rc=0
	runner/qemu.sh --work "$work/q" --limit 150 --options "end=exit suite=load.l1.latency" "$out/stallmeter.img" -- "${roots[@]}" "$@" >"$work/boot" 2>&1 || rc=$?
	pci=$work/$name.pci
	machine=$(runner/fetch.sh "$work/q/disk.img" "$work/$name")/machine.txt
	sed -n '/^\[pci\]/,$p' "$machine" >"$pci"
}
ended() { cat "$log" "$work/boot"; [ "$rc" -eq 0 ] || { echo "status $rc"; return 1; }; }
has() { cat "$pci"; grep -E "$1" "$pci"; }

boot ecam
check "pci_ecam_ends_well" ended
check "pci_ecam_is_said" grep -E "^pci: [0-9]+ functions by ECAM, [1-9][0-9]* of them on buses that no bridge leads to" "$log"
check "pci_host_bridge" has '^0000:00:00\.0 = 29c0:8086, 060000$'
check "pci_function_beyond_0" has '^0000:00:1f\.2 = 2922:8086, 010601$'
check "pci_bus_without_a_bridge" has '^0000:40:00\.0 = 000c:1b36, 060400, no bridge$'
check "pci_behind_its_port_a_bridge_leads" has '^0000:4[1-9]:00\.0 = 1044:1af4, 00ff00$'
check "pci_identify_reads_them" says 0 "^$(($(wc -l <"$pci") - 1)) PCI functions$" "$out/stallmeter" list --identify "$machine"
sed 's/^0000:00:00.0 = /0000:00:00 = /' "$machine" >"$work/bad.txt"
check "pci_identify_names_a_bad_line" refuses "line [0-9]+: expected SEGMENT:BUS:DEVICE.FUNCTION" "$out/stallmeter" list --identify "$work/bad.txt"
cp "$pci" "$work/by-ecam"

boot ports -fw_cfg name=opt/stallmeter/acpi,string=MCFG:cut:2
check "pci_ports_end_well" ended
check "pci_ports_are_said" grep -E "^pci: [0-9]+ functions by ports 0xCF8 and 0xCFC, [1-9][0-9]* of them" "$log"
check "pci_ports_find_the_same" sh -c '[ -s "$1" ] && diff "$1" "$2"' - "$work/by-ecam" "$pci"
tap_end
