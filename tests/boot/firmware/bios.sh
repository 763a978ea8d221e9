#!/bin/bash
# The image on a PC BIOS (SeaBIOS): its own loader starts the same application. All quick rows of the simulated Pentium 4 over
# the serial line, rebuilt from a log of it, are the host's; processors, settings and machine files, the screen; nothing is
# written to the disk; and each failure is one line and an end.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
PATH=$PATH:/usr/sbin:/sbin
export MTOOLS_SKIP_CHECK=1
image=$out/stallmeter.img log=$work/q/serial.log
row="suite=load.l1.latency"
[ -f "$image" ] || { echo "not ok 1 - bios: no $image"; exit 1; }

boot() { # boot IMAGE OPTION...: fills $rc
	local image=$1
	shift
	rc=0
	runner/qemu.sh --bios --work "$work/q" --limit 200 "$image" "$@" >"$work/boot" 2>&1 || rc=$?
}
# 3 is the end of a run whose results cannot be kept: there is nothing to write to
ended() { [ "$rc" -eq "${1:-3}" ] || { echo "status $rc"; cat "$work/boot"; grep -av '^@sm' "$log"; return 1; }; }
said() { grep -aE -- "$1" "$log" || { grep -av '^@sm' "$log"; return 1; }; }
unwritten() { cmp "$work/q/disk.img" "$1"; }
fetched() { rm -rf "$work/run"; "$out/stallmeter" fetch --serial "$log" --out "$work/run" && result=$(echo "$work/run"/*/results.json); }

# --- the whole quick suite
boot "$image" --device ide --cpu core2duo --smp 4 --options "end=exit backend=sim:pentium4 suite=quick"
check "bios_quick_run_ends" ended
check "bios_quick_run_says_why_nothing_is_kept" said "no results were kept: the volume is write-protected"
check "bios_writes_nothing" unwritten "$image"
check "bios_quick_run_is_fetched" fetched
check "bios_host_runs_the_same" "$out/stallmeter" run --backend sim --machine pentium4 --suite quick --out "$work/host"
same() { # same FILE PATTERN-OF-THE-ONE-LINE-THAT-DIFFERS
	[ -s "$work/run"/*/"$1" ] && diff <(grep -v "$2" "$work/run"/*/"$1") <(grep -v "$2" "$work/host"/*/"$1")
}
check "bios_results_are_the_hosts" same results.json '^"environment": {.*}$'
check "bios_penalties_are_the_hosts" same penalties.csv 'nothing may differ'
check "bios_has_every_quick_row" sh -c 'diff "$1" "$2"' - <("$out/stallmeter" list --rows | awk '$2 == "q" { print $1 }' | sort) \
	<(jq -r '.rows[].name' "$work/host"/*/results.json | sort)
check "bios_says_what_it_ran_on" jq -e '.environment | .firmware_vendor == "SeaBIOS" and (.uefi_vendor | contains("BIOS")) and .product != "" and
	(.started | test("^20[0-9][0-9]-[01][0-9]-[0-3][0-9]T")) and (.acpi_0_FACP | length > 0)' "$work/run"/*/results.json

# --- on the machine itself: kinds of disks, numbers of processors, memory above 4 GiB
while read -r device cpu smp memory; do
	boot "$image" --device "$device" --cpu "$cpu" --smp "$smp" --memory "$memory" --options "end=exit $row"
	check "bios_${device}_${smp}_ends" ended
	check "bios_${device}_${smp}_is_fetched" fetched
	check "bios_${device}_${smp}_has_its_processors" jq -e --argjson n "$smp" '.machine.cores == $n and .environment.processors_lost == "0" and .summary.rows == 1' "$result"
done <<'END'
usb max 4 1024
ahci core2duo,-nx 1 5120
nvme max 2 64
END
boot "$image" --smp 2 --test all --options end=exit
check "bios_self_tests_end_well" ended 0
while read -r verdict number line; do
	check "guest's $number $line" test "$verdict" = ok
done < <(tr -d '\r' <"$log" | sed -nE 's/^(ok|not ok) ([0-9]+ - )/\1 \2/p' | sed 's/^not ok/not_ok/')

# --- files of the volume: settings, and a machine under a long name
machine="a machine of mine.machine"
(cat tables/machines/pentium4.machine; echo '# another text') >"$work/$machine"
printf 'end = exit\nsuite = load.l1.latency,load.l2.latency\nbackend = sim:\\stallmeter\\%s\n' "$machine" >"$work/ini"
cp --sparse=always "$image" "$work/files.img"
mcopy -i "$work/files.img@@1M" "$work/$machine" ::/stallmeter/
mcopy -o -i "$work/files.img@@1M" "$work/ini" ::/stallmeter/stallmeter.ini
boot "$work/files.img"
check "bios_files_are_read" ended
check "bios_files_are_fetched" fetched
check "bios_files_settings_count" jq -e '[.rows[].name] == ["load.l1.latency", "load.l2.latency"] and .simulated' "$result"
check "bios_files_volume_is_unwritten" unwritten "$work/files.img"

# --- ends
boot "$image" --reboots --options "end=shutdown watchdog=0 $row"
check "bios_shuts_down" sh -c 'grep "the guest shut down" "$1"' - "$work/boot"
boot "$image" --options "end=reboot watchdog=0 $row"
check "bios_reboots" sh -c 'grep "the guest shut down or reset" "$1"' - "$work/boot"
mkfifo "$work/key.in" "$work/key.out" "$work/monitor.in" "$work/monitor.out"
cat "$work/key.out" >"$work/key.log" & readers=$!
cat "$work/monitor.out" >"$work/monitor.log" & readers+=" $!"
boot "$image" --reboots --keys "$work/key" --options "end=menu watchdog=0 backend=sim:pentium4 $row" -- -chardev pipe,id=monitor,path="$work/monitor" -mon monitor & guest=$!
exec 8<>"$work/monitor.in" 9<>"$work/key.in"
shows() { for ((i = 0; i < 600; i++)); do grep -qaE "$1" "$log" 2>/dev/null && break; sleep 0.1; done; }
shows 'page 1 of 2.* S shut down'
echo "sendkey right" >&8
shows 'page 2 of 2.* S shut down'
printf 's' >&9
shows 'S again shuts down'
printf 's' >&9
wait $guest
: <>"$work/key.out" <>"$work/monitor.out" # a guest that never began has left their readers waiting
wait $readers
exec 8>&- 9>&-
check "bios_menu_takes_a_key_of_the_keyboard" said '^page 2 of 2'
check "bios_menu_takes_a_key_of_the_serial_line" said '^S again shuts down, another key does not: shut down'

# --- a screen: a picture by VBE while the application runs, text before and after it, and text alone without VBE
make -s "$out/tests/boot/firmware/picture" OUT="$out" || exit 1
screen() { # screen NAME DEVICE: boots to the menu, dumps the screen; leaves, dumps it and the text
	mkfifo "$work/$1.in" "$work/$1.out"
	cat "$work/$1.out" >"$work/$1.said" & readers=$!
	rm -f "$log"
	boot "$image" --options "end=menu watchdog=0 backend=sim:pentium4 $row" -- -device "$2" -chardev "pipe,id=monitor,path=$work/$1" -mon monitor & guest=$!
	exec 8<>"$work/$1.in"
	shows 'written: report|^1 row: 1 ok'
	for ((i = 0; i < 100; i++)); do
		dump "$1-menu"
		grep -qE 'page 1 of|F back' "$work/$1-menu.shown" && break
		sleep 0.2
	done
	echo "sendkey f" >&8
	shows 'Stallmeter: ended'
	sleep 0.3
	dump "$1-end"
	echo "sendkey spc" >&8
	wait $guest
	: <>"$work/$1.out"
	wait $readers
	exec 8>&-
}
dump() { # what a picture shows, and the text's memory
	local file=$work/$1
	rm -f "$file".*
	printf 'screendump "%s.ppm"\npmemsave 0xb8000 4000 "%s.text"\n' "$file" "$file" >&8
	for ((k = 0; k < 50; k++)); do [ "$(stat -c %s "$file.text" 2>/dev/null)" = 4000 ] && break; sleep 0.1; done
	"$out/tests/boot/firmware/picture" size "$file.ppm" >"$file.size"
	od -An -v -tu1 -w2 "$file.text" | awk '{ printf "%c", $1 == 0 ? 32 : $1 }' | fold -w 80 >"$file.shown"
	[ "$(cat "$file.size")" != "1024 768" ] || "$out/tests/boot/firmware/picture" text tables/fonts/spleen-8x16.txt "$file.ppm" >"$file.shown"
}
screen vga VGA
check "bios_screen_is_a_picture" sh -c 'cat "$1.size" "$1.shown" && grep -x "1024 768" "$1.size" && grep -E "^load\.l1\.latency +4\.000 cycles +ok" "$1.shown"' - "$work/vga-menu"
check "bios_screen_is_text_afterwards" sh -c 'cat "$1.size" "$1.shown" && ! grep -x "1024 768" "$1.size" && grep "^Stallmeter: ended; any key" "$1.shown"' - "$work/vga-end"
check "bios_screen_key_starts_the_machine_again" sh -c 'grep "the guest shut down or reset" "$1"' - "$work/boot"
screen text cirrus-vga # its VBE has no mode of 32 bits
check "bios_screen_without_such_a_mode_is_text" sh -c 'cat "$1.size" "$1.shown" && grep -E "^load\.l1\.latency +4\.000 cycles" "$1.shown"' - "$work/text-menu"

# --- failures: one line each. What the second stage says ends QEMU; the boot sector stops, and QEMU is ended from here.
line() { # line NAME LINE OPTION...: of $work/bad.img
	local name=$1 text=$2
	shift 2
	boot "$work/bad.img" --options "end=exit $row" "$@"
	check "bios_${name}_ends" ended
	check "bios_${name}_is_said" sh -c 'cat "$1"; tr -d "\r" <"$1" | grep -axF "Stallmeter: $2; nothing was started"' - "$log" "$text"
}
stops() { # stops NAME LINE: the same in the boot sector
	rm -f "$log" "$work/pid"
	boot "$work/bad.img" --device ide -- -pidfile "$work/pid" & guest=$!
	for ((i = 0; i < 600; i++)); do grep -qa 'nothing started' "$log" 2>/dev/null && break; sleep 0.1; done
	kill -KILL "$(cat "$work/pid")"
	wait "$guest"
	check "bios_$1_is_said" sh -c 'cat "$1"; tr -d "\r" <"$1" | grep -axF "Stallmeter: $2; nothing started"' - "$log" "$2"
}
fresh() { cp --sparse=always "$image" "$work/bad.img"; rm -f "$log"; }
poke() { printf "$2" | dd of="$work/bad.img" bs=1 seek="$1" conv=notrunc status=none; }
zero() { dd if=/dev/zero of="$work/bad.img" bs=512 seek="$1" count="$2" conv=notrunc status=none; }
file='\EFI\BOOT\BOOTX64.EFI'
fresh
line processor_without_64_bit_mode "this processor has no 64-bit mode" --cpu pentium3
mdel -i "$work/bad.img@@1M" ::/EFI/BOOT/BOOTX64.EFI
line missing_application "$file of drive 0x80: no such file"
head -c 100000 "$out/BOOTX64.EFI" >"$work/short.efi"
mcopy -i "$work/bad.img@@1M" "$work/short.efi" ::/EFI/BOOT/BOOTX64.EFI
line cut_application "$file: no 64-bit application for UEFI, or damaged"
fresh
# The allocation tables, 32 blocks into the partition: every chain ends in a free cluster.
size=$(dd if="$image" bs=1 skip=$((1048576 + 36)) count=4 status=none | od -An -tu4 | tr -d ' ')
zero $((2048 + 32 + 1)) $((size - 1))
line damaged_allocation_table "$file: the file system is damaged"
fresh
zero 2048 1
line missing_file_system "$file of drive 0x80: no FAT32 file system"
fresh
zero 1 1
line missing_partition_table "drive 0x80 has no GUID partition table"
fresh
zero 2 1
line missing_system_partition "drive 0x80 has no EFI system partition"
truncate -s 1M "$work/bad.img"
cp "$image" "$work/whole.img"; dd if="$work/whole.img" of="$work/bad.img" bs=1M count=1 conv=notrunc status=none
line short_drive "$file of drive 0x80: the drive cannot be read"
fresh
poke $((64 * 512 + 5000)) '\xA5\x5A'
stops damaged_second_stage "the second stage is missing or damaged"
fresh
zero 64 1
stops missing_second_stage "the second stage is missing or damaged"
truncate -s 32K "$work/bad.img"
stops unreadable_second_stage "the drive cannot be read"

check "bios_secure_boot_is_refused" refuses "no --secure-boot" runner/qemu.sh --bios --secure-boot --work "$work/q" "$image"
tap_end
