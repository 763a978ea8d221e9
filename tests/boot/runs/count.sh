#!/bin/bash
# The settings count, metrics, workload and interval_ms do on the stick what `stallmeter stat` does: the same text to the byte.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
log=$work/q/debugcon.log
boot() { # boot SETTINGS: fills $rc and $counts
	rc=0
	runner/qemu.sh --work "$work/q" --limit 200 --options "end=exit $1" "$out/stallmeter.img" >"$work/boot" 2>&1 || rc=$?
	counts=$(mdir -b -i "$work/q/disk.img@@1M" ::/stallmeter/results 2>/dev/null | sed -n 's,/$,,p' | tail -n 1)/counts.txt
	rm -f "$work/counts"
	mcopy -i "$work/q/disk.img@@1M" "$counts" "$work/counts" 2>/dev/null
}
ended() { tail -n 20 "$log"; [ "$rc" -eq "$1" ] || { echo "status $rc, not $1"; cat "$work/boot"; return 1; }; }
as_on_host() { "$out/stallmeter" stat --per box "$@" >"$work/host" && cmp "$work/host" "$work/counts"; }

# Bandwidth by channel, interval by interval.
boot "backend=sim:haswell-ep count=imc.CAS_COUNT.RD metrics=imc.MEM_BW_READS workload=triad.dram cores=2 interval_ms=0.06 duration_ms=0.25"
check "count_metrics_end_well" ended 0
check "count_metrics_are_the_hosts" as_on_host --machine haswell-ep -e imc.CAS_COUNT.RD -M imc.MEM_BW_READS -w triad.dram --cores 2 -I 0.06 --for 0.25
check "count_metrics_come_by_interval" sh -c '[ "$(grep -c "^after" "$1")" -ge 3 ]' - "$work/counts"
check "count_metrics_come_by_channel" grep -E '[1-9].*CAS_COUNT.RD socket 0 box [0-9]' "$work/counts"
check "count_metrics_are_on_the_console" grep -E '[1-9].*MEM_BW_READS' "$log"
boot "backend=sim:pentium4 count=LOADS_RETIRED workload=load.l2.latency,idle"
check "count_events_end_well" ended 0
check "count_events_are_the_hosts" as_on_host --machine pentium4 -e LOADS_RETIRED -w load.l2.latency,idle
# What does not fit is one line and nothing runs: tests/boot/runs/settings.sh.
boot "backend=hw count=INST_RETIRED workload=idle"
check "count_without_counters_is_status_3" ended 3
# Whether the backend insists on counters or not, and whatever is named: without counters nothing can be counted.
without='^nothing was run: count and metrics need performance counters, and this processor has none'
check "count_without_counters_says_why" grep "$without" "$log"
for settings in "backend=auto count=INST_RETIRED" "backend=hw metrics=ipc"; do
	boot "$settings workload=idle"
	check "count_without_counters_is_status_3: $settings" ended 3
	check "count_without_counters_says_why: $settings" test "$(grep -c "$without" "$log")" -eq 1
done
tap_end
