#!/bin/bash
# 200 boots of firmware that does two or three things of tests/boot/firmware/hostile at once, on 1 to 8 processors: none hangs, each ends in
# two rows or in a refusal that says why, and no number is ok where nothing counts. The boot's number alone chooses what the firmware does.
#   BOOTS="FROM TO"   these boots alone
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
make -s OUT="$out" "$out/tests/boot/firmware/hostile.efi" >/dev/null || exit 2
read -r first last <<<"${BOOTS:-1 200}"
log=$work/q/debugcon.log
cp --sparse=always "$out/stallmeter.img" "$work/image"
mcopy -o -i "$work/image@@1M" "$out/tests/boot/firmware/hostile.efi" ::/EFI/BOOT/BOOTX64.EFI
mcopy -o -i "$work/image@@1M" "$out/BOOTX64.EFI" ::/EFI/BOOT/STALL.EFI

of_processors=(none ap-fewer ap-blocks nmi timer)
of_tables=(none smbios-low pm-timer=112 mtrr-narrow=36 spcr=760 watchdog)
of_screens=(none gop-none gop-two gop-blt conout=1)
of_writes=(none flush-refused write-fails volume-gone memory) # those with numbers: from 1 on
processors=(1 2 4 8)

# What the log says: two rows and the end's status 0; or no results, no row or no run, and why.
right() { # STATUS BACKEND
	local rows
	rows=$(grep -cE '^[a-z0-9_.]+ +([0-9]+\.[0-9]+|- +cycles +- +[0-9]+\.[0-9]+) ' "$work/log")
	[ "$2" != auto ] || ! grep -E '^[a-z0-9_.]+ +[0-9]+\.[0-9]+ .* ok$' "$work/log" || return 1
	case $1:$rows in
	0:2) return 0 ;;
	0:[01]) grep -E '^no memory for page tables, code and stacks' "$work/log" ||
		{ grep -E '^  1: mapping the working set: no memory for it' "$work/log" && [ "$(grep -cE '^load\.l[12]\.latency ' "$work/log")" -eq 2 ]; } ;;
	[13]:2) grep -E '^results could not be written: ' "$work/log" ;;
	[13]:0) grep -E '^no memory for |^results could not be written: ' "$work/log" ;;
	*) false ;;
	esac
}
boot() { # NUMBER: the same firmware for the same number
	local n=$1 rc=0 backend settings does write cpus
	RANDOM=$n
	write=${of_writes[RANDOM % 5]}
	case $write in write-fails | volume-gone) write=$write=$((1 + RANDOM % 30)) ;; memory) write=$write=$((1 + RANDOM % 12)) ;; esac
	does=${of_processors[RANDOM % 5]},${of_tables[RANDOM % 6]},${of_screens[RANDOM % 5]},$write
	cpus=${processors[RANDOM % 4]}
	[[ $does == none* || $does == timer* || $does == nmi* ]] || [ "$cpus" -gt 1 ] || cpus=2
	backend=auto
	[ $((RANDOM % 2)) -eq 0 ] || backend=sim:pentium4
	settings="end=exit backend=$backend suite=load.l1.latency,load.l2.latency"
	cp --sparse=always "$work/image" "$work/disk.img"
	runner/qemu.sh --work "$work/q" --in-place --limit 100 --smp "$cpus" --options "$settings" "$work/disk.img" -- -device VGA -serial null \
		-fw_cfg "name=opt/hostile,string=${does//,/,,}" >"$work/boot" 2>&1 || rc=$?
	tr -d '\r' <"$log" >"$work/log"
	echo "# $n: $does, $cpus processors, $backend: status $rc; $(grep -E '^[0-9]+ rows: |^no memory for |^results could not' "$work/log" | head -n 1)" >>"$work/notes"
	right "$rc" $backend || { echo "$does, $cpus processors, $backend: status $rc"; tail -n 15 "$work/log" "$work/boot"; return 1; }
}
for ((n = first; n <= last; n++)); do
	check "hostile_boot_$n" boot "$n"
done
cat "$work/notes"
tap_end
