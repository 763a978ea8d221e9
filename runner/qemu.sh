#!/bin/bash
# Boots a copy of a disk image in QEMU with OVMF, or SeaBIOS: runner/qemu.sh [OPTION]... [IMAGE]
#   --work DIR            folder for the copy (disk.img), logs (debugcon.log, serial.log) and variables; required
#   --bios                SeaBIOS instead of OVMF: the image's own loader starts the application (docs/netburst.md)
#   --device KIND         virtio (default), usb, ahci, nvme, ide (a PC from before PCI Express)
#   --smp N --nodes N     processors (1), memory nodes (1) with the processors spread over them
#   --empty-node          the last node gets memory and no processor
#   --memory MIB          total memory (1024)
#   --memory-files PREFIX the memory is in the files PREFIX.0, PREFIX.1, ..., one per node, which other programs can read
#   --options TEXT        settings of the application (fw_cfg opt/stallmeter/options)
#   --test TEXT           runs this self-test (fw_cfg opt/stallmeter/test)
#   --limit SECONDS       time until QEMU is killed (600)
#   --cpu MODEL           QEMU's name of a processor (max)
#   --accel KIND          tcg (default), or kvm: on the host's own processor, with the counters that KVM gives a guest; huge
#                         pages if enough are free, each virtual processor pinned to a processor of the host
#   --network KIND        pxe or http: boots over the network, through the tap device that packaging/server/serve.sh created; an IMAGE
#                         is then an additional medium. http-second and pxe-second: boots the image with the network present
#   --tap NAME --mac ADDRESS  that device (tap0), and the card's address (52:54:00:12:34:56)
#   --second              the image is second in the boot order: an ARGUMENT names a disk with bootindex=0
#   --in-place            no copy: the guest writes to IMAGE itself, as in a later boot of the same stick
#   --reboots             a reset boots again instead of ending QEMU
#   --crash KIND:ROW,...  stops the machine when the row begins (fw_cfg opt/stallmeter/crash; efi/firmware/fwcfg.h)
#   --secure-boot         Secure Boot enforced, with Debian's snakeoil keys enrolled
#   --read-only           the medium is write-protected
#   --log-writes FILE     logs each write to the medium in FILE, in the format of Linux' dm-log-writes
#   --keys PATH           bytes written to the pipe PATH.in are typed on the serial line; PATH.out must be read
#   --show                prints the application's console on standard output
#   -- ARGUMENT...        further arguments are passed to QEMU unchanged
# Exit status: the application's (efi/firmware/exit.h: 0 as expected, 1 a row was not, 2 bad settings,
# 3 nothing could be run or kept, 4 the user stopped it); 5 if the guest shut down, reset by a triple fault,
# crashed or ran out of time: one line says which. QEMU's own 0 is never success.
set -u
work= device=virtio smp=1 nodes=1 memory=1024 options= test= limit=600 cpu= read_only=off keys= show= image= in_place= no_reboot=-no-reboot crash= machine=q35,accel=tcg secure=() with= log_writes= bios= order=0 accel=tcg memory_files= network= tap=tap0 mac=52:54:00:12:34:56

bad() { echo "qemu.sh: $*" >&2; exit 2; }
number() { [[ $2 =~ ^[1-9][0-9]{0,6}$ ]] || bad "$1 \"$2\": a whole number expected, at least 1"; }
while [ $# -gt 0 ]; do
	case $1 in
	--work|--device|--smp|--nodes|--memory|--options|--test|--limit|--cpu|--keys|--crash|--log-writes|--accel|--memory-files|--network|--tap|--mac)
		[ $# -ge 2 ] || bad "$1: a value expected after it";;&
	--work) work=$2; shift 2;;
	--device) device=$2; shift 2;;
	--smp) number "$1" "$2"; smp=$2; shift 2;;
	--nodes) number "$1" "$2"; nodes=$2; shift 2;;
	--memory) number "$1" "$2"; memory=$2; shift 2;;
	--memory-files) memory_files=$2; shift 2;;
	--options) options=$2; shift 2;;
	--test) test=$2; shift 2;;
	--limit) number "$1" "$2"; limit=$2; shift 2;;
	--cpu) cpu=$2; shift 2;;
	--keys) keys=$2; shift 2;;
	--log-writes) log_writes=$2; shift 2;;
	--crash) crash=$2; shift 2;;
	--empty-node) with=0; shift;;
	--bios) bios=yes; shift;;
	--accel) accel=$2; shift 2;;
	--network) network=$2; shift 2;;
	--tap) tap=$2; shift 2;;
	--mac) mac=$2; shift 2;;
	--second) order=1; shift;;
	--secure-boot) secure=(-global "driver=cfi.pflash01,property=secure,value=on") machine+=,smm=on; shift;;
	--in-place) in_place=yes; shift;;
	--reboots) no_reboot=; shift;;
	--read-only) read_only=on; shift;;
	--show) show=yes; shift;;
	--) shift; break;;
	-*) bad "$1: no such option; the head of runner/qemu.sh lists them";;
	*) [ -z "$image" ] || bad "more than one image: $image $1"; image=$1; shift;;
	esac
done
[ -n "$work" ] || bad "--work DIR is required"
[ -r "$image" ] || { [ -z "$image" ] && [ -n "$network" ]; } || bad "${image:-no image given}: no such image"
[ "$nodes" -le "$smp" ] || bad "--nodes $nodes: at most as many as processors ($smp)"

firmware=/usr/share/OVMF/OVMF_CODE_4M.fd variables=/usr/share/OVMF/OVMF_VARS_4M.fd
[ ${#secure[@]} -eq 0 ] || { firmware=/usr/share/OVMF/OVMF_CODE_4M.secboot.fd; variables=/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd; }
[ -z "$bios" ] || { firmware=/usr/share/seabios/bios-256k.bin; variables=; }
[ -z "$bios" ] || [ ${#secure[@]} -eq 0 ] || bad "--bios has no --secure-boot"
for file in $firmware $variables; do [ -r "$file" ] || bad "$file: missing; runner/setup.sh run installs it"; done

# Checks what KVM needs; one line names what is missing. For tests STALLMETER_SYS and STALLMETER_DEV replace /sys and /dev.
sys=${STALLMETER_SYS:-/sys} dev=${STALLMETER_DEV:-/dev}
cannot() { echo "qemu.sh: --accel kvm: $*" >&2; exit 3; }
kvm_is_there() {
	local pmu
	[ -e "$dev/kvm" ] || cannot "$dev/kvm is missing: load kvm_intel or kvm_amd, or switch virtualization on in the firmware's setup; in a virtual machine its host must allow nesting"
	[ -r "$dev/kvm" ] && [ -w "$dev/kvm" ] || cannot "$dev/kvm may not be used by $(id -un): add that user to the group $(stat -c %G "$dev/kvm")"
	[ -d "$sys/bus/event_source/devices/cpu" ] || [ -d "$sys/bus/event_source/devices/cpu_core" ] ||
		cannot "this host has no performance counters itself (perf shows no device \"cpu\"): boot the stick on a machine instead"
	for pmu in "$sys/module/kvm/parameters/enable_pmu" "$sys/module/kvm_intel/parameters/pmu"; do
		[ ! -r "$pmu" ] || [ "$(cat "$pmu")" = Y ] || cannot "KVM gives guests no performance counters ($pmu is $(cat "$pmu")): load kvm with enable_pmu=1"
	done
}
case $accel in
tcg) cpu=${cpu:-max};;
kvm) kvm_is_there; cpu=${cpu:-host,pmu=on,migratable=off}; machine=${machine/accel=tcg/accel=kvm};;
*) bad "--accel \"$accel\": unknown; allowed: tcg kvm";;
esac

mkdir -p "$work"
disk_image=$image
[ -n "$in_place" ] || [ -z "$image" ] || { disk_image=$work/disk.img; cp --sparse=always "$image" "$disk_image" || exit 5; }
flash=(-bios "$firmware")
if [ -z "$bios" ]; then
	cp "$variables" "$work/vars.fd" || exit 5
	flash=(-drive "if=pflash,format=raw,unit=0,readonly=on,file=$firmware" -drive "if=pflash,format=raw,unit=1,file=$work/vars.fd")
fi
rm -f "$work/debugcon.log" "$work/serial.log"
printf '%s' "$options" >"$work/options.txt"
printf '%s' "$test" >"$work/test.txt"

# OVMF tries PXE, then HTTP, over each IP version; these switches leave one of them.
card=()
if [ -n "$network" ]; then
	switch() { card+=(-fw_cfg "name=opt/org.tianocore/$1,string=n"); }
	case $network in
	pxe|pxe-second) switch IPv6PXESupport;;
	http|http-second) switch IPv4PXESupport; switch IPv6PXESupport;;
	*) bad "--network \"$network\": unknown; allowed: pxe http pxe-second http-second";;
	esac
	case $network in *-second) first=1;; *) first=0 order=1;; esac
	card+=(-netdev "tap,id=net0,ifname=$tap,script=no,downscript=no")
	card+=(-device "virtio-net-pci,id=card,netdev=net0,mac=$mac,bootindex=$first,romfile=")
fi

case $device in
virtio) disk=(-device "virtio-blk-pci,drive=disk,bootindex=$order");;
usb)    disk=(-device qemu-xhci -device "usb-storage,drive=disk,bootindex=$order,removable=on,id=stick");;
ide)    disk=(-device "ide-hd,drive=disk,bootindex=$order"); machine=pc${machine#q35};;
ahci)   disk=(-device "ide-hd,drive=disk,bootindex=$order");;
nvme)   disk=(-device "nvme,drive=disk,serial=1,bootindex=$order");;
*) bad "--device \"$device\": unknown; allowed: virtio usb ahci nvme ide";;
esac

medium=format=raw,file=$disk_image,readonly=$read_only
if [ -n "$log_writes" ]; then
	rm -f "$log_writes"
	truncate -s 1G "$log_writes" || exit 5 # sparse; QEMU does not extend it
	medium=driver=blklogwrites,file.driver=raw,file.file.driver=file,file.file.filename=$disk_image
	medium+=,log.driver=raw,log.file.driver=file,log.file.filename=$log_writes
fi

[ -z "$image" ] && disk=() || disk=(-drive "if=none,id=disk,$medium" "${disk[@]}")

numa=()
# Memory backend of node N with that many MiB.
backend() {
	if [ -n "$memory_files" ]; then echo "memory-backend-file,share=on,mem-path=$memory_files.$1,id=m$1,size=$2M"; else echo "memory-backend-ram,id=m$1,size=$2M"; fi
}
if [ -n "$memory_files" ] && [ "$nodes" -eq 1 ]; then
	numa=(-object "$(backend 0 "$memory")")
	machine+=,memory-backend=m0
fi
if [ "$nodes" -gt 1 ]; then
	with=${with:+$((nodes - 1))} with=${with:-$nodes} # nodes with processors
	for ((i = 0; i < nodes; i++)); do
		cpus=,cpus=$((i * smp / with))-$(((i + 1) * smp / with - 1))
		[ "$i" -lt "$with" ] || cpus=
		numa+=(-object "$(backend "$i" $((memory / nodes)))")
		numa+=(-numa "node,nodeid=$i,memdev=m$i$cpus")
		# 21 per hop, as dual-socket firmware commonly reports; in ACPI the local distance is 10.
		for ((j = 0; j < i; j++)); do numa+=(-numa "dist,src=$i,dst=$j,val=21" -numa "dist,src=$j,dst=$i,val=21"); done
	done
fi

# Huge pages, if enough are free: nested walks through small pages of the host would be measured as the guest's page walks.
if [ "$accel" = kvm ] && [ "$nodes" -eq 1 ] && [ -d "$dev/hugepages" ]; then
	free=$(cat "$sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages" 2>/dev/null || echo 0)
	[ "$((free * 2))" -lt "$memory" ] || { numa=(-object "memory-backend-file,id=ram,size=${memory}M,mem-path=$dev/hugepages,prealloc=on"); machine+=,memory-backend=ram; }
fi
# Pins each virtual processor's thread, once it exists, to a processor of the host.
pin() {
	local cpus i task
	mapfile -t cpus < <(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | while IFS=- read -r a b; do seq "$a" "${b:-$a}"; done)
	for ((i = 0; i < 100; i++)); do
		sleep 0.1
		[ "$(grep -lsE '^CPU [0-9]+/KVM' /proc/"$1"/task/*/comm | wc -l)" -lt "$smp" ] || break
	done
	for task in /proc/"$1"/task/*; do
		i=$(sed -nE 's,^CPU ([0-9]+)/KVM.*,\1,p' "$task/comm" 2>/dev/null)
		[ -z "$i" ] || taskset -cp "${cpus[$((i % ${#cpus[@]}))]}" "${task##*/}" >/dev/null
	done
}

console=(-chardev "file,id=console,path=$work/debugcon.log")
[ -z "$show" ] || console=(-chardev "stdio,id=console,signal=off,logfile=$work/debugcon.log")
serial=(-serial "file:$work/serial.log")
[ -z "$keys" ] || serial=(-chardev "pipe,id=serial,path=$keys,logfile=$work/serial.log" -serial chardev:serial)
told=(-fw_cfg "name=opt/stallmeter/options,file=$work/options.txt")
[ -z "$test" ] || told+=(-fw_cfg "name=opt/stallmeter/test,file=$work/test.txt")

[ -z "$crash" ] || told+=(-fw_cfg "name=opt/stallmeter/crash,string=${crash//,/,,}")

# STALLMETER_FIRMWARE_STATES=DIR, for tests that boot often: a boot of OVMF starts with its drivers loaded (runner/firmware_state.sh), unless it
# changes what these have already read, or uses a device with which QEMU cannot restore a state.
common=(-machine "$machine" -cpu "$cpu" -smp "$smp" -m "$((memory / nodes * nodes))M" "${numa[@]}")
incoming=()
if [ -n "${STALLMETER_FIRMWARE_STATES:-}" ] && [ "$accel$bios$network$memory_files${secure[*]}" = tcg ] && [ "$device" != nvme ]; then
	case " $* " in *" -machine "* | *" -cpu "* | *" -smp "* | *" -m "* | *" -numa "* | *" -object "* | *" -global "* | *" -smbios "* | *pxb* | *ipmi*) ;; *)
		state=$STALLMETER_FIRMWARE_STATES/$(printf '%s ' "${common[@]}" | md5sum | cut -c 1-12)
		if "$(dirname "$0")/firmware_state.sh" "$state" "$variables" "${common[@]}" && cp "$STALLMETER_FIRMWARE_STATES/variables" "$work/vars.fd"; then
			incoming=(-incoming "exec:cat $state")
		fi;;
	esac
fi

rc=0
named=()
if [ "$accel" = kvm ]; then
	named=(-name "stallmeter,debug-threads=on" -pidfile "$work/pid")
	rm -f "$work/pid"
	(for ((i = 0; i < 100; i++)); do [ ! -s "$work/pid" ] || { pin "$(cat "$work/pid")"; break; }; sleep 0.1; done) &
fi
timeout --signal=KILL "$limit" qemu-system-x86_64 "${common[@]}" "${secure[@]}" "${incoming[@]}" "${named[@]}" -nodefaults -no-user-config -net none -display none -boot menu=off $no_reboot \
	"${flash[@]}" \
	"${disk[@]}" "${card[@]}" \
	"${console[@]}" -device isa-debugcon,iobase=0xe9,chardev=console \
	"${serial[@]}" -device isa-debug-exit,iobase=0xf4,iosize=0x04 \
	"${told[@]}" "$@" </dev/null 2>"$work/qemu.err" || rc=$?

case $rc in
33|35|37|39|41) exit $(((rc - 33) / 2));;
43) why="the application met a fault that it could not recover from";;
0) why="the guest shut down or reset (a triple fault looks so) instead of ending";;
137) why="killed after $limit s";;
*) why="QEMU ended with status $rc: $(head -n 3 "$work/qemu.err" | tr '\n' ' ')";;
esac
echo "qemu.sh: $why; the console's last lines are:" >&2
tail -n 5 "$work/debugcon.log" >&2
exit 5
