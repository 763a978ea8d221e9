#!/bin/bash
# Firmware as it is met (tests/boot/hostile/): each switch ends in a number, a named refusal, or another try; never in a hang, and
# no row is lost. The table at the end has a line for each: what the firmware did, what was said, what was measured.
#   ONLY=SWITCH   that one alone
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
make -s OUT="$out" "$out/tests/boot/hostile.efi" >/dev/null || exit 2
log=$work/q/debugcon.log
cp --sparse=always "$out/stallmeter.img" "$work/image"
mcopy -o -i "$work/image@@1M" "$out/tests/boot/hostile.efi" ::/EFI/BOOT/BOOTX64.EFI
mcopy -o -i "$work/image@@1M" "$out/BOOTX64.EFI" ::/EFI/BOOT/STALL.EFI

# hostile SWITCH STATUS ROWS SAID SETTINGS [OPTION]...: the end's status, so many rows with a value, a line that is said
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
	measured=$(grep -cE '^[a-z0-9_.]+ +[0-9]+\.[0-9]+ ' "$work/log")
	check "hostile_${name}_loses_no_row" test "$measured" -eq "$rows"
	printf '# %-16s| %-60.60s | %-60.60s | %s rows, status %s\n' "$switch" "$(sed -n 's/^hostile: //p' "$work/log" | head -n 1)" \
		"$(grep -E "$said" "$work/log" | head -n 1)" "$measured" "$rc" >>"$work/table"
}
also() { [ -n "${ONLY:-}" ] && [[ $1 != $ONLY* ]] || { shift; check "$@"; }; } # also SWITCH, then as check
two=load.l1.latency,load.l2.latency
sim="backend=sim:pentium4 suite=$two"

hostile none 0 2 '^2 rows: ' "suite=$two" --
hostile ap-fewer 0 2 '^processors: APIC id 1 did not answer and is left out' "suite=$two" --smp 4 --
also ap-fewer "hostile_fewer_processors_are_counted" jq -e '.machine.cores == 3 and .environment.processors_lost == "1"' "$results"
hostile smbios-low 0 2 '^results: .*Standard-PC' "suite=$two" --
hostile pm-timer=112 0 2 '^clock: no ACPI timer that moves at its rate' "suite=$two" --
hostile timer 0 2 '^2 rows: ' "suite=$two" --
cat "$work/table"
tap_end
