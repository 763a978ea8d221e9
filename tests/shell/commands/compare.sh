#!/bin/bash
# `stallmeter compare` as a user calls it: what differs around runs and in them, its exit status, fleets, revisions.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
rows='load.l1.latency,load.l2.latency,load.dram_local.latency,exec.*,triad.l1.*'
measure() { "$s" run --backend sim --machine "$2" --suite "$rows" --seed "$3" --out "$work/$1" >/dev/null || [ $? -eq 1 ]; }
# dram.local_ps 3 % of load to use more: 176 cycles are 60 ns
sed 's/^local_ps = 46000/local_ps = 47700/' tables/machines/nehalem-ep.machine >"$work/slow.machine"
for seed in 1 2 3; do
	measure a nehalem-ep "$seed"
	measure b nehalem-ep $((seed + 10))
	measure c "$work/slow.machine" "$seed"
done
c() { "$s" compare "$@"; }
check "compare_equal_runs" says 0 "^0 of [0-9]+ rows changed by more than the spread between boots; 0 beyond 1 %" c "$work"/a/* --vs "$work"/b/* --fail-over 1
check "compare_equal_runs_have_equal_surroundings" grep -A1 "^What differs around" "$work/says"
check "compare_equal_runs_differ_in_nothing_around" grep -x "  nothing" "$work/says"
check "compare_finds_slower_memory" says 0 "^load.dram_local.latency +17[56]\.[0-9]+ +18[0-2]\.[0-9]+ cycles +\+[23]\.[0-9]+ % .* changed$" c "$work"/a/* --vs "$work"/c/*
check "compare_finds_nothing_else" grep -E "^1 of [0-9]+ rows changed" "$work/says"
check "compare_fails_over_2_percent" says 1 "; 1 beyond 2 %" c "$work"/a/* --vs "$work"/c/* --fail-over 2
check "compare_fails_not_over_5_percent" says 0 "; 0 beyond 5 %" c "$work"/a/* --vs "$work"/c/* --fail-over 5
a=$(echo "$work"/a/*0001) b=$(echo "$work"/b/*0001) d=$(echo "$work"/c/*0001)
check "compare_refuses_a_run_twice" refuses "given twice on one side" c "$a" "$a" --vs "$b"
check "compare_one_boot_is_said" says 0 "A: 1 boot; B: 1 boot" c "$a" --vs "$d"
check "compare_one_boot_is_said_in_the_end" grep "one boot a side: how much boots differ is not known" "$work/says"
jq '.machine.microcode = "0x1a" | .environment.firmware_version = "2.0" | .registers["0x1a4"] = "0xf"' "$b/results.json" >"$work/other.json"
check "compare_shows_microcode" says 0 "machine.microcode: 0x0  ->  0x1a" c "$a" --vs "$work/other.json"
check "compare_shows_firmware" grep -F "environment.firmware_version: -  ->  2.0" "$work/says"
check "compare_shows_registers" grep -E "registers.0x1a4: .* ->  0xf" "$work/says"
jq '(.rows[] | select(.name == "load.l1.latency")).revision = 99' "$b/results.json" >"$work/revision.json"
check "compare_of_revisions_is_refused" says 0 "^load.l1.latency +not comparable: method revision [0-9]+, 99" c "$a" --vs "$work/revision.json"
jq '(.rows[] | select(.name == "load.l2.latency")) |= (.status = "unproven")' "$b/results.json" >"$work/unproven.json"
check "compare_of_status_is_shown" says 0 "^load.l2.latency +ok -> unproven" c "$a" --vs "$work/unproven.json"
check "compare_of_status_fails" status 1 c "$a" --vs "$work/unproven.json" --fail-over 50
jq 'del(.rows[0])' "$b/results.json" >"$work/fewer.json"
check "compare_of_a_missing_row_is_shown" says 0 "only on side A" c "$a" --vs "$work/fewer.json"
check "compare_fleet_shows_medians" says 0 "^load.l2.latency +10\.000 +0\.000 +6 *$" c "$work"/a/* "$work"/b/*
check "compare_fleet_has_the_l1_of_every_run" grep -E "^load.l1.latency +(3\.99|4\.00)[0-9] +0\.00[0-9] +6 *$" "$work/says"
check "compare_fleet_finds_the_slow_one" says 0 "^load.dram_local.latency .* 7 +$d/results.json 18[0-2]\.[0-9]+ \(\+[23]\.[0-9] %\)" c "$work"/a/* "$work"/b/* "$d"
check "compare_fleet_counts_it" grep -x "1 outlying value" "$work/says"
check "compare_refuses_no_runs" refuses "runs are expected: A... --vs B..." c
check "compare_refuses_an_empty_side" refuses "runs are expected" c "$a" --vs
check "compare_refuses_a_bad_file" refuses "null:1:0" c "$a" --vs /dev/null
tap_end
