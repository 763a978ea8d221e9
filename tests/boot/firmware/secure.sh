#!/bin/bash
# Secure Boot enforced by OVMF, with Debian's snakeoil keys: the signed image boots and runs, the unsigned one is refused.
# The application's sections; and no file on the boot volume lets more registers be written.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
certificate=/usr/share/ovmf/PkKek-1-snakeoil.pem
log=$work/q/debugcon.log

openssl rsa -in "${certificate%.pem}.key" -passin pass:snakeoil -out "$work/key" 2>"$work/openssl" || cat "$work/openssl"
make_image() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s image OUT="$out" "$@"; }
check "make_image_signs" make_image SIGN_KEY="$work/key" SIGN_CERT="$certificate"
signed=$out/signed/stallmeter.img
check "signed_application_verifies" sbverify --cert "$certificate" "$out/signed/BOOTX64.EFI"
check "unsigned_application_does_not" status 1 sbverify --cert "$certificate" "$out/BOOTX64.EFI"
check "sign_needs_a_certificate" refuses "SIGN_KEY and SIGN_CERT are both needed" runner/sign.sh "$work/key" "" "$out/BOOTX64.EFI" "$work/x"
check "sign_needs_files" refuses "nokey: no such file" runner/sign.sh "$work/nokey" "$certificate" "$out/BOOTX64.EFI" "$work/x"

boot() { # boot IMAGE OPTION...: fills $rc
	local image=$1
	shift
	rc=0
	runner/qemu.sh --work "$work/q" --secure-boot --options "end=exit suite=load.l1.latency" "$@" "$image" >"$work/boot" 2>&1 || rc=$?
}
status_was() { [ "$rc" -eq "$1" ] || { echo "status $rc, not $1"; cat "$work/boot"; return 1; }; }
boot "$signed" --limit 200
check "signed_boots_and_runs" status_was 0
check "signed_writes_results" runner/fetch.sh "$work/q/disk.img" "$work/fetched"
for limit in 25 120; do # the firmware says it and waits on; on a host with other work it comes later
	boot "$out/stallmeter.img" --limit $limit
	! grep -qaE 'Security Violation|Access Denied' "$work/q/serial.log" || break
done
check "unsigned_is_refused" grep -aE 'QEMU|Virtio|Misc|UEFI.*(Security Violation|Access Denied)' <(grep -aE 'Security Violation|Access Denied' "$work/q/serial.log")
check "unsigned_never_starts" sh -c '[ ! -s "$1" ] || ! grep Stallmeter "$1"' - "$log"
check "unsigned_is_status_5" status_was 5

# --- sections: a line of name and flags each
objdump -h "$out/BOOTX64.EFI" | awk '/^ *[0-9]+ \./ { name = $2; address = $4; getline; print name, address, $0 }' >"$work/sections"
check "sections_have_sbat" grep -q '^\.sbat ' "$work/sections"
check "sections_sbat_is_a_table" sh -c 'objcopy -O binary -j .sbat "$1" "$2" && grep -qa "^sbat,1,SBAT Version,sbat,1," "$2" && grep -qa "^stallmeter,[1-9]" "$2"' - "$out/BOOTX64.EFI" "$work/sbat"
check "sections_none_is_writable_and_executable" sh -c '! grep CODE "$1" | grep -v READONLY' - "$work/sections"
check "sections_one_is_executable" test "$(grep -c CODE "$work/sections")" -eq 1
check "sections_are_aligned" sh -c '! awk "{ print \$2 }" "$1" | grep -v "000$"' - "$work/sections"
check "sections_execute_no_data" sh -c 'objdump -p "$1" | grep -E "DllCharacteristics.*0100"' - "$out/BOOTX64.EFI"

# --- registers: as the guest counts them, without and with files and settings that would like to add some
registers() {
	runner/qemu.sh --work "$work/q" --limit 100 --options "end=exit" --test guard "$1" || return 1
	grep 'registers may be written' "$log"
}
check "registers_plain" registers "$out/stallmeter.img"
grep 'registers may be written' "$log" >"$work/plain"
cp --sparse=always "$out/stallmeter.img" "$work/decoy.img"
printf 'first,last,mask,restore,what,source\n0x0,0x1FFF,0xFFFFFFFFFFFFFFFF,1,all,decoy\n' >"$work/msrs.csv"
printf '[any]\nvendor =\nmsrs = msrs.csv\n' >"$work/processors.txt"
for place in stallmeter stallmeter/msrs stallmeter/tables stallmeter/tables/msrs; do
	[ "$place" = stallmeter ] || mmd -i "$work/decoy.img@@1M" "::/$place"
	for file in msrs.csv processors.txt; do mcopy -i "$work/decoy.img@@1M" "$work/$file" "::/$place/$file"; done
	for name in nehalem.csv architectural-any.csv core-since-nehalem.csv; do mcopy -i "$work/decoy.img@@1M" "$work/msrs.csv" "::/$place/$name"; done
done
check "registers_with_decoys" registers "$work/decoy.img"
check "registers_are_the_same_with_decoys" diff "$work/plain" <(grep 'registers may be written' "$log")
for setting in 'msr = 0x0-0x1FFF' 'msrs = msrs.csv' 'processor = any' 'tables = \stallmeter\tables'; do
	printf '%s\n' "$setting" >"$work/ini"
	mcopy -o -i "$work/decoy.img@@1M" "$work/ini" ::/stallmeter/stallmeter.ini
	key=${setting%% *}
	refused() { runner/qemu.sh --work "$work/q" --limit 60 --options end=exit "$work/decoy.img"; [ $? -eq 2 ] && grep "unknown key \"$key\"" "$log"; }
	check "registers_no_setting_$key" refused
done
tap_end
