#!/bin/bash
# Without MP services (the protocol hidden by a switch) processors are started by INIT and start-up messages: the same
# processors, nodes and rows as with them, the same self tests, and an end that goes back to the firmware.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
log=$work/q/debugcon.log
hidden=(-fw_cfg name=opt/stallmeter/without,string=mp-services)

boot() { # boot NAME OPTION...: fills $rc and $results
	local name=$1
	shift
	rc=0
	runner/qemu.sh --work "$work/q" --limit 300 --options "end=exit suite=load.l1.latency" "$out/stallmeter.img" "$@" >"$work/boot" 2>&1 || rc=$?
	results=$(runner/fetch.sh "$work/q/disk.img" "$work/$name")/results.json
}
ended() { cat "$log" "$work/boot"; [ "$rc" -eq 0 ] || { echo "status $rc"; return 1; }; }
said() { cat "$log"; [ "$(grep -c "^processors: no MP services; $1 of the MADT are started" "$log")" -eq 1 ]; }
# What is measured differs from boot to boot; what there is and how a row ended does not. An emulator's products may or may not take as long as
# three of its additions; a row without counters is unproven either way.
same() {
	rm -f "$work"/*.facts
	for file in "$1" "$2"; do
		jq -S '{cores: .machine.cores, nodes: .machine.nodes, lost: .environment.processors_lost, ids: .environment.apic_id_and_node,
		        started: .environment.processors_started, clusters: .environment.clusters_on_die, summary: .summary | del(.boots, .windows, .windows_clock_moved, .windows_hot, .windows_modulated, .windows_by_smis),
		        rows: [.rows[] | [.name, .status, (.reason | sub("; noisy: .*"; "") | if test("^(core cycles are not known: a product|no performance counters)") then "no counters" else . end)]]}' "$file" >"$work/$(basename "$(dirname "$(dirname "$file")")").facts" || return 1
	done
	diff "$work"/with-*.facts "$work"/hidden-*.facts && grep '"cores"' "$work"/with-*.facts && rm -f "$work"/*.facts
}
by() { [ "$(jq -r .environment.processors_started_by "$1")" = "$2" ]; }

for size in "4 2 1024" "32 8 1024"; do
	read -r smp nodes memory <<<"$size"
	boot "with-$smp" --smp "$smp" --nodes "$nodes" --memory "$memory"
	with=$results
	check "wake_${smp}_with_mp_services_ends_well" ended
	check "wake_${smp}_with_mp_services_is_recorded" by "$with" "MP services"
	boot "hidden-$smp" --smp "$smp" --nodes "$nodes" --memory "$memory" -- "${hidden[@]}"
	check "wake_${smp}_ends_well" ended
	check "wake_${smp}_is_said_once" said $((smp - 1))
	check "wake_${smp}_is_recorded" by "$results" "start-up messages"
	check "wake_${smp}_same_as_with_mp_services" same "$with" "$results"
done

# MP services that are there and start nobody: the same messages, and no way back to a firmware whose processors were taken away.
for how in start answer; do
	hidden=(-fw_cfg name=opt/stallmeter/without,string=mp-$how)
	boot "mp-$how" --smp 4 --nodes 2 --memory 1024 -- "${hidden[@]}"
	check "wake_mp_services_that_${how}_nobody_is_said" sh -c 'cat "$1"; [ "$(grep -c "INIT and start-up messages are tried" "$1")" -eq 1 ]' - "$log"
	check "wake_mp_services_that_${how}_nobody_is_recorded" by "$results" "start-up messages"
	check "wake_mp_services_that_${how}_nobody_have_all_processors" jq -e '.machine.cores == 4 and .environment.processors_lost == "0" and .summary.rows == 1' "$results"
	rc=0
	runner/qemu.sh --work "$work/q" --limit 200 --smp 4 --options "end=return suite=load.l1.latency" "$out/stallmeter.img" -- "${hidden[@]}" >"$work/boot" 2>&1 || rc=$?
	check "wake_mp_services_that_${how}_nobody_end_in_a_reboot" grep "lost, or taken over from the firmware: rebooting instead of returning" "$log"
done
hidden=(-fw_cfg name=opt/stallmeter/without,string=mp-services)

# The self tests on processors started so, which come without memory types of their own; and one that is lost.
rc=0
runner/qemu.sh --work "$work/q" --limit 300 --smp 4 --nodes 2 --options end=exit --test all "$out/stallmeter.img" -- \
	-fw_cfg "name=opt/stallmeter/without,string=mp-services,,memory-types" >"$work/boot" 2>&1 || rc=$?
check "wake_self_tests_end_well" ended
while read -r verdict number line; do
	check "guest's $number $line" test "$verdict" = ok
done < <(sed -nE 's/^(ok|not ok) ([0-9]+ - )/\1 \2/p' "$log" | sed 's/^not ok/not_ok/' | tr -d '\r')
rc=0
runner/qemu.sh --work "$work/q" --limit 300 --smp 2 --options end=exit --test lost "$out/stallmeter.img" -- "${hidden[@]}" >"$work/boot" 2>&1 || rc=$?
check "wake_lost_processor_ends_in_a_reboot" sh -c 'cat "$1"; ! grep -q "^not ok" "$1" && grep -q "it is counted as lost" "$1"' - "$log"

# Back to the firmware, which has nothing else to boot and shows its menu.
menu='Boot Manager'
runner/qemu.sh --work "$work/q" --limit 100 --smp 4 --options "end=return suite=load.l1.latency" "$out/stallmeter.img" -- "${hidden[@]}" \
	-pidfile "$work/pid" >"$work/boot" 2>&1 &
job=$!
for ((i = 0; i < 400; i++)); do
	grep -qsa "$menu" "$work/q/serial.log" && break
	kill -0 "$job" 2>/dev/null || break
	sleep 0.2
done
kill -KILL "$(cat "$work/pid")"
wait "$job"
check "wake_returns_to_the_firmware" sh -c 'grep -a "stallmeter: end status 0" "$2" && grep -ac "$1" "$2"' - "$menu" "$work/q/serial.log"
tap_end
