#!/bin/bash
# Firmware of 32 bits starts \EFI\BOOT\BOOTIA32.EFI: it says why nothing runs, and the firmware goes on. Needs Debian's ovmf-ia32.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
code=/usr/share/OVMF/OVMF32_CODE_4M.secboot.fd variables=/usr/share/OVMF/OVMF32_VARS_4M.fd log=$work/serial.log
if [ ! -r "$code" ]; then
	skip ia32_firmware_is_told "there is no OVMF of 32 bits: package ovmf-ia32"
	tap_end
	exit
fi
cp "$variables" "$work/variables"
qemu-system-x86_64 -machine q35,smm=on,accel=tcg -cpu max -m 512 -global driver=cfi.pflash01,property=secure,value=on -no-user-config -nodefaults \
	-drive "if=pflash,format=raw,unit=0,readonly=on,file=$code" -drive "if=pflash,format=raw,unit=1,file=$work/variables" \
	-drive "if=none,id=stick,format=raw,readonly=on,file=$out/stallmeter.img" -device virtio-blk-pci,drive=stick,bootindex=0 \
	-net none -display none -serial "file:$log" </dev/null >"$work/qemu" 2>&1 &
guest=$!
for ((i = 0; i < 1200; i++)); do # it waits ten seconds for a reader
	! grep -q 'failed to start Boot0001.*: Unsupported' "$log" 2>/dev/null && kill -0 $guest 2>/dev/null || break
	sleep 0.1
done
kill $guest
wait $guest
check ia32_firmware_is_told grep -a "Stallmeter needs UEFI firmware of 64 bits, and this machine has one of 32" "$log"
check ia32_firmware_goes_on grep -a 'failed to start Boot0001.*: Unsupported' "$log"
tap_end
