#!/bin/bash
# Plan mode and profiles in the guest: the same text and the same results as the host command's.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
guest() { # guest OPTIONS: boots; the fetched run's directory in $run
	local rc=0
	rm -rf "$work/fetched"
	runner/qemu.sh --work "$work/q" --options "end=exit backend=sim:nehalem-ep $1" "$out/stallmeter.img" >"$work/boot" 2>&1 || rc=$?
	cat "$work/boot"; tail -n 5 "$work/q/debugcon.log"
	run=$(runner/fetch.sh "$work/q/disk.img" "$work/fetched")
	return $rc
}
rows=load.l3.latency,load.dram_remote.latency
check "plan_in_the_guest_ends_with_0" guest "mode=plan suite=$rows"
check "plan_in_the_guest_is_the_host_s" diff "$run/plan.txt" <("$out/stallmeter" plan --suite $rows | sed '$d')
check "plan_in_the_guest_is_on_the_console" diff "$run/plan.txt" <(sed -n '/^before the first row/,/^[0-9]* writes in/p' "$work/q/debugcon.log" | sed '$d')
check "plan_in_the_guest_says_that_nothing_was_written" grep -E '^[0-9]+ writes in 4 sections; [0-9]+ registers of cores are restored at the end; nothing was written' "$work/q/debugcon.log"
check "plan_in_the_guest_measures_nothing" test ! -e "$run/results.json"

check "profile_in_the_guest_ends_with_0" guest "profile=memory-access"
"$out/stallmeter" run --backend sim --profile memory-access --out "$work/host" >"$work/host.log"
same() { diff <(grep -v '^"environment": {.*}$' "$run/results.json") <(grep -v '^"environment": {.*}$' "$work"/host/*/results.json); }
check "profile_in_the_guest_gives_the_host_s_results" same
check "profile_in_the_guest_has_its_rows" jq -e '[.profile[].row] | length == 9' "$run/results.json"

check "records_in_the_guest_end_with_0" guest "backend=sim:core2 suite=load.dram_local.latency profile=MEM_LOAD_RETIRED.L2_LINE_MISS,records=113"
"$out/stallmeter" run --backend sim --machine core2 --suite load.dram_local.latency --profile MEM_LOAD_RETIRED.L2_LINE_MISS,records=113 --out "$work/records" >"$work/host.log"
records() { diff <(jq .profile "$run/results.json") <(jq .profile "$work"/records/*/results.json); }
check "records_in_the_guest_are_the_host_s" records
check "records_in_the_guest_name_lines" jq -e '.profile[0].records[0].lines >= 25' "$run/results.json"
tap_end
