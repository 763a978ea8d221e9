#!/bin/bash
# A second emulator, a strict one: Bochs raises #GP for each register that its processor lacks. The stick starts through the PC
# BIOS's route and runs the suite. No row may end in a fault, and no number be ok: nothing counts there.
#   MODELS="NAME..."   Bochs' names of processors (nine that this program runs on)   SUITE=LIST
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
nine="p4_prescott_celeron_336 core2_penryn_t9600 corei5_lynnfield_750 corei7_sandy_bridge_2600k corei7_haswell_4770 corei7_skylake_x tigerlake zambezi ryzen"
models=${MODELS:-$nine} suite=${SUITE:-quick,size.super_queue.entries,size.fill_buffers.entries,sync.mfence.penalty} limit=${LIMIT:-500}
bios=/usr/share/bochs/BIOS-bochs-latest video=/usr/share/bochs/VGABIOS-lgpl-latest

# boot MODEL: until the end's status is on the serial line; its log is $work/MODEL.log
boot() {
	local dir=$work/$1 log=$work/$1.log
	mkdir -p "$dir"
	cp --sparse=always "$out/stallmeter.img" "$dir/disk.img"
	printf 'suite = %s\nrepetitions = %s\nbackend = auto\nend = shutdown\n' "$suite" "$repetitions" >"$dir/stallmeter.ini"
	mcopy -o -i "$dir/disk.img@@1M" "$dir/stallmeter.ini" ::/stallmeter/stallmeter.ini
	cat >"$dir/bochsrc" <<-END
		megs: 512
		romimage: file=$bios
		vgaromimage: file=$video
		vga: extension=none
		cpu: model=$1, count=1, ips=50000000, reset_on_triple_fault=0, ignore_bad_msrs=0
		ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
		ata0-master: type=disk, path=$dir/disk.img, mode=flat
		boot: disk
		com1: enabled=1, mode=file, dev=$dir/serial
		log: $dir/bochs.log
		panic: action=fatal
		error: action=ignore
		info: action=ignore
		debug: action=ignore
		display_library: term
		clock: sync=none
	END
	echo c >"$dir/debugger" # Debian's build waits for a command
	# its text screen wants a terminal
	TERM=vt100 script -qec "echo \$\$ >'$dir/pid'; exec bochs -q -f '$dir/bochsrc' -rc '$dir/debugger'" /dev/null >"$dir/screen" 2>&1 </dev/null &
	local job=$! end=$((SECONDS + limit))
	until grep -qsaE '^stallmeter: end status|the machine stops' "$dir/serial" || [ $SECONDS -gt $end ] || ! kill -0 $job 2>/dev/null; do sleep 0.3; done
	[ ! -s "$dir/pid" ] || kill -KILL "$(cat "$dir/pid")" 2>/dev/null
	wait $job 2>/dev/null
	grep -av '^@sm' "$dir/serial" | tr -d '\r' >"$log"
}
ended() { tail -n 20 "$1"; grep -qE '^stallmeter: end status [013]$' "$1"; } # 3: nothing is written on this route
with() { tr -d "\r" <"$2" | grep -cE "^[a-z][a-z0-9_.]+ +[-0-9.]+ .* $1( [0-9]+)?\$"; } # with VERDICT LOG: rows
none() { tr -d "\r" <"$2" | grep -E "^[a-z][a-z0-9_.]+ +[-0-9.]+ .* $1( [0-9]+)?\$"; [ "$(with "$1" "$2")" -eq 0 ]; }

repetitions=0 # the rows' own
for model in $models; do
	if ! command -v bochs >/dev/null || [ ! -r "$bios" ] || [ ! -r "$video" ]; then
		skip "bochs_$model" "Bochs is missing; runner/setup.sh test installs it"
		continue
	fi
	boot "$model"
	repetitions=1 # processors differ in registers and instructions, not in how often a row is repeated
	log=$work/$model.log
	check "bochs_${model}_ends" ended "$log"
	check "bochs_${model}_has_rows" test "$(with '(unproven|noisy|unsupported|ok|fault)' "$log")" -ge 14
	check "bochs_${model}_no_row_faults" none fault "$log"
	check "bochs_${model}_no_number_is_ok" none '(ok|noisy)' "$log"
	[ -z "${KEEP:-}" ] || cp "$log" "$KEEP/"
	echo "# $model: $(with unproven "$log") unproven, $(with unsupported "$log") unsupported, $(with fault "$log") fault, $SECONDS s"
done
tap_end
