#!/bin/bash
# Firmware as it is met (tests/boot/firmware/hostile/): each switch ends in a number, a named refusal, or another try; never in a hang, and
# no row is lost. The table at the end has a line for each: what the firmware did, what was said, what was measured.
#   ONLY=SWITCH   that one alone
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
make -s OUT="$out" "$out/tests/boot/firmware/hostile.efi" >/dev/null || exit 2
log=$work/q/debugcon.log
: >"$work/table"
cp --sparse=always "$out/stallmeter.img" "$work/image"
mcopy -o -i "$work/image@@1M" "$out/tests/boot/firmware/hostile.efi" ::/EFI/BOOT/BOOTX64.EFI
mcopy -o -i "$work/image@@1M" "$out/BOOTX64.EFI" ::/EFI/BOOT/STALL.EFI

# hostile SWITCH STATUS ROWS|any SAID SETTINGS [OPTION]...: the end's status, so many rows with a value, a line that is said
hostile() {
	local switch=$1 name=${1//[-=,]/_} status=$2 rows=$3 said=$4 settings=$5 rc=0
	shift 5
	[ -z "${ONLY:-}" ] || [[ $switch == $ONLY* ]] || return 0
	cp --sparse=always "$work/image" "$work/disk.img"
	runner/qemu.sh --work "$work/q" --in-place --limit 100 --options "end=exit $settings" "$work/disk.img" "$@" \
		-fw_cfg "name=opt/hostile,string=${switch//,/,,}" >"$work/boot" 2>&1 || rc=$?
	tr -d '\r' <"$log" >"$work/log"
	rm -rf "$work/fetched"
	results=$(runner/fetch.sh "$work/disk.img" "$work/fetched")/results.json
	check "hostile_${name}_ends" test "$rc" -eq "$status"
	check "hostile_${name}_is_told" grep -E "$said" "$work/log"
	measured=$(grep -cE '^[a-z0-9_.]+ +([0-9]+\.[0-9]+|- +cycles +- +[0-9]+\.[0-9]+) ' "$work/log")
	[ "$rows" = any ] || check "hostile_${name}_loses_no_row" test "$measured" -eq "$rows"
	printf '# %-16s| %-60.60s | %-60.60s | %s rows, status %s\n' "$switch" "$(sed -n 's/^hostile: //p' "$work/log" | head -n 1)" \
		"$(grep -E "$said" "$work/log" | head -n 1)" "$measured" "$rc" >>"$work/table"
}
also() { [ -n "${ONLY:-}" ] && [[ $1 != $ONLY* ]] || { shift; check "$@"; }; } # also SWITCH, then as check
whole_run() { # results of both rows, and a journal that they can be made of again
	local run=${results%/*}
	[ "$(jq '.rows | length' "$results")" -eq 2 ] && [ -s "$run/report.html" ] && [ -s "$run/machine.txt" ] && "$out/stallmeter" report "$run" &&
		[ "$(jq -s '[.[] | select(.event == "end")] | length' "$run/journal.jsonl")" -eq 1 ]
}
two=load.l1.latency,load.l2.latency
sim="backend=sim:pentium4 suite=$two"

hostile none 0 2 '^2 rows: ' "suite=$two" --
hostile ap-fewer 0 2 '^processors: APIC id 1 did not answer and is left out' "suite=$two" --smp 4 --
also ap-fewer "hostile_fewer_processors_are_counted" jq -e '.machine.cores == 3 and .environment.processors_lost == "1"' "$results"
hostile ap-blocks 0 2 '^processors: .* block until the started code ends; INIT and start-up messages are tried' "suite=$two" --smp 4 --
also ap-blocks "hostile_waiting_start_has_all_processors" jq -e '.machine.cores == 4 and .environment.processors_lost == "0"' "$results"
hostile ap-dead 0 2 '^processors: their start hung in an earlier boot; they are started by INIT and start-up messages' "suite=$two watchdog=12" --smp 4 --reboots -- \
	-global ICH9-LPC.noreboot=false
also ap-dead "hostile_hanging_start_has_all_processors" jq -e '.machine.cores == 4 and .environment.processors_started_by == "start-up messages"' "$results"
hostile none,one 0 2 '^processors: only the boot processor is used' "suite=$two processors=one" --smp 4 --
hostile none,sipi 0 2 '^2 rows: ' "suite=$two processors=sipi" --smp 4 --
also none,sipi "hostile_messages_by_setting" jq -e '.machine.cores == 4 and .environment.processors_started_by == "start-up messages"' "$results"
hostile smbios-low 0 2 '^results: .*Standard-PC' "suite=$two" --
hostile pm-timer=112 0 2 '^clock: no ACPI timer that moves at its rate' "suite=$two" --
hostile mtrr-narrow=36 0 2 '^2 rows: ' "suite=$two" --
hostile mtrr-absent 0 2 '^2 rows: ' "suite=$two" --memory 5120 --
hostile map-holes 0 2 '^hostile: 0 of them in holes' "end=return suite=$two" --memory 5120 --
also map-holes "hostile_map_has_holes_and_memory_is_taken_beside_them" sh -c 'grep -E "^hostile: [1-9][0-9]* holes" "$1" && grep -E "^hostile: [1-9][0-9]* addresses" "$1"' - "$log"
hostile ap-reserved 0 2 '^processors: APIC id 1 is disabled or not healthy and left out' "suite=$two" --smp 4 --
also ap-reserved "hostile_reserved_processor_is_counted" jq -e '.machine.cores == 3' "$results"
for n in 1 2 3 4; do
	hostile damaged=$n 0 2 '^acpi: .*SRAT' "suite=$two" --smp 4 --nodes 2 --memory 2048 --
	also damaged "hostile_damaged_tables_${n}_leave_all_processors" jq -e '.machine.cores == 4' "$results"
done
hostile watchdog 0 2 '^hostile: the watchdog was fed [1-9]' "end=return suite=$two watchdog=60" --
also watchdog hostile_watchdog_is_in_the_results jq -e '.environment.watchdog == "ICH9 and the firmware'"'"'s, 60 s"' "$results"
# Between the lines of a row's begin and end, each quarter of a second: a row of seconds on any emulator. Without that it is fed 11 times.
hostile watchdog-only-counts 0 any '^hostile: the watchdog was fed (1[3-9]|[2-9][0-9]|[1-9][0-9]{2,}) times' "end=return suite=read.dram_all.bandwidth repetitions=9 watchdog=1" --smp 4 --
hostile none,bmc 0 2 "^watchdog: ICH9 and the management controller's and the firmware's, 60 s" "suite=$two watchdog=60" -- -device ipmi-bmc-sim,id=bmc -device isa-ipmi-kcs,bmc=bmc
also none,bmc hostile_bmc_is_put_back sh -c '! grep "could not be restored" "$1"' - "$log"
hostile none,bmc-none 0 2 '^watchdog: unknown chipset with the bridge 8086:7000' "suite=$two watchdog=60" -- -machine pc
hostile timer 0 2 '^2 rows: ' "suite=$two" --
# Every write and flush of a run in turn may fail once: the first ones make folder and state, the last ones the report.
for n in 2 3 4 9 12 15 18 20; do
	hostile write-fails=$n 0 2 "^hostile: (write|flush) $n fails" "$sim" --
	also write-fails "hostile_failed_write_${n}_leaves_a_whole_run" whole_run
	also write-fails "hostile_failed_write_${n}_leaves_no_start_counted" sh -c 'mtype -i "$1@@1M" ::/stallmeter/state.txt | grep "^starts = 0"' - "$work/disk.img"
done
hostile tls-none 0 2 '^upload: https://10.0.2.2/.*: this firmware has no TLS: give an http address; nothing is sent' "$sim upload=https://10.0.2.2/" -- \
	-netdev user,id=net -device virtio-net-pci,netdev=net,romfile=
hostile flush-refused 0 2 '^results: ' "$sim" --
also flush-refused hostile_refused_flush_leaves_a_whole_run whole_run
hostile volume-gone=10 3 2 '^results could not be written: i.o error' "$sim" --
hostile memory=6 0 0 '^no memory for page tables, code and stacks' "end=return suite=$two" --smp 4 --
also memory "hostile_refused_memory_gives_the_processors_back" grep '^hostile: 3 processors answer the firmware' "$log"
hostile nmi 0 2 '^hostile: 0 NMIs reached the firmware' "end=return suite=$two" --smp 8 --
also nmi "hostile_firmware_has_its_processors_back" grep '^hostile: 7 processors answer the firmware' "$log"
# A local APIC that is switched off by its spurious vector register: a job that never ends still ends by its limit, and the firmware finds it off.
if [ -z "${ONLY:-}" ] || [[ apic-off == $ONLY* ]]; then
	runner/qemu.sh --work "$work/q" --limit 100 --options end=return --test limits "$work/image" -- -fw_cfg name=opt/hostile,string=apic-off >"$work/boot" 2>&1
	check "hostile_apic_off_jobs_have_limits" grep -aE '^ok [0-9]+ - core 0: an endless job ends by its limit: time-out' "$log"
	check "hostile_apic_off_is_left_off" grep -a '^hostile: the local APIC was left off' "$log"
fi
hostile time-none 0 2 '^2 rows: ' "$sim" --
also time-none hostile_no_clock_of_the_day_leaves_a_whole_run whole_run
hostile variables-refused 0 2 '^boot: the firmware refuses this medium for its next boot' "$sim" --
hostile reset-returns 5 2 '^hostile: a reset of type 0 comes back' "$sim end=reboot" --
also reset-returns hostile_reset_is_done_without_the_firmware grep "shut down or reset" "$work/boot"
hostile gop-none 0 2 '^console: no framebuffer' "suite=$two" -- -device VGA
hostile gop-two 0 2 '^hostile: 0 pictures went to the screen that is not' "end=return suite=$two" -- -device VGA
hostile gop-blt 0 2 '^2 rows: ' "suite=$two" -- -device VGA

# The serial line on the second port: as ConOut has it, or SPCR; and one whose other end takes nothing.
second=(-device VGA -serial "file:$work/second.log")
for switch in conout=1 spcr=760; do
	hostile $switch 0 2 '^2 rows: ' "suite=$two" -- "${second[@]}"
	also ${switch%=*} "hostile_${switch%=*}_second_port_has_the_run" "$out/stallmeter" fetch --serial "$work/second.log" --out "$work/from-$switch"
done
mkfifo "$work/stuck.in" "$work/stuck.out"
exec 7<>"$work/stuck.out"
dd if=/dev/zero bs=4096 count=16 >&7 2>/dev/null # full
hostile none,serial-stuck 0 2 '^2 rows: ' "$sim" --keys "$work/stuck" -- -device VGA
exec 7>&-
cat "$work/table"
tap_end
