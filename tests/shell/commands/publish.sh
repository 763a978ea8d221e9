#!/bin/bash
# `stallmeter publish` takes out what names a machine and nothing else, and refuses what is no hardware; `collect` gathers sticks.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
kept=tests/results/version1.json
real() { jq '.simulated = false | .backend = "hw" | .rows[].simulated = false' "$kept" | jq "$@"; }
real '.environment += {"system_serial": "SN-4711", "system_uuid": "x", "asset_tag": "LAB 7", "mac_address": "m", "hostname": "box7", "board": "X8 é",
  "note": "seen at 00:1b:21:aa:bb:cc and 12345678-9abc-def0-1234-56789abcdef0.", "hash": "00112233445566778899"} | .registers["0x4f"] = "0x123456789" | .cpuid += [["0x3", 0, "0x1", "0x2", "0x3", "0x4"]]' >"$work/real.json"
p() { "$s" publish --to "$work/published" "$@"; }
check "publish_real_results" says 0 "^published: $work/published/Intel-R-Xeon-R-CPU-X5570" p "$work/real.json"
copy=$(echo "$work/published"/*)
check "publish_takes_out_what_names_a_machine" sh -c '! grep -qiE "SN-4711|LAB 7|box7|00:1b:21|9abc-def0|0x123456789|system_uuid|mac_address|\"0x3\"" "$1"/results.json "$1"/report.html' - "$copy"
check "publish_keeps_everything_else" diff <(jq -S . "$copy/results.json") \
	<(jq -S 'del(.environment["system_serial", "system_uuid", "asset_tag", "mac_address", "hostname"], .registers["0x4f"]) | .cpuid |= .[:-1] | .environment.note = "seen at removed and removed."' "$work/real.json")
listed() { for key in system_serial system_uuid asset_tag mac_address hostname; do grep -q "^environment.$key: " "$copy/removed.txt" || return 1; done
	grep "^registers.0x4f: " "$copy/removed.txt" && grep "^environment.note: a UUID or MAC" "$copy/removed.txt" && grep '^cpuid\[3\]: ' "$copy/removed.txt" && [ "$(wc -l <"$copy/removed.txt")" -eq 8 ]; }
check "publish_lists_what_it_took_out" listed
check "publish_draws_the_report" grep "Penalty table" "$copy/report.html"
check "publish_copy_is_read" "$s" report "$copy" --out "$work/r.html"
check "publish_refuses_simulated_runs" says 1 "refused: a simulated machine" p "$kept"
real '.machine.virtual = true' >"$work/virtual.json"
check "publish_refuses_virtual_runs" says 1 "refused: measured in a virtual machine" p "$work/virtual.json"
check "publish_refuses_foreign_files" refuses "null:1:0" p /dev/null
check "publish_refused_ones_made_nothing" test "$(ls "$work/published" | wc -l)" -eq 1
no_simulated() { local f; for f in results/*/results.json; do [ ! -e "$f" ] || jq -e '(.simulated or .machine.virtual) | not' "$f" >/dev/null || { echo "$f"; return 1; }; done; }
check "publish_results_hold_no_simulated_run" no_simulated

# Two sticks as FAT shows them, one with letters in capitals; a cut journal; a folder that is no run.
stick() { mkdir -p "$1/$2/$3"; }
stick "$work/s1" STALLMETER/RESULTS box-1111-0001
cp "$work/real.json" "$work/s1/STALLMETER/RESULTS/box-1111-0001/results.json"
stick "$work/s2" stallmeter/results box-1111-0001
real '.label = "other"' >"$work/s2/stallmeter/results/box-1111-0001/results.json"
stick "$work/s2" stallmeter/results none
c() { "$s" collect "$@"; }
check "collect_first_stick" says 0 "^1 run: 1 taken, 0 were there, 0 cannot be read" c "$work/s1" "$work/all"
check "collect_second_stick" says 0 "^1 run: 1 taken, 0 were there" c "$work/s2" "$work/all"
check "collect_takes_none_twice" says 0 "^1 run: 0 taken, 1 were there" c "$work/s1" "$work/all"
check "collect_overwrites_nothing" cmp "$work/real.json" "$work/all/box-1111-0001/results.json"
check "collect_numbers_anew" cmp "$work/s2/stallmeter/results/box-1111-0001/results.json" "$work/all/box-1111-0002/results.json"
stick "$work/s3" stallmeter/results bad-2222-0001
echo '{' >"$work/s3/stallmeter/results/bad-2222-0001/results.json"
check "collect_tells_of_damaged_runs" says 1 "1 run: 1 taken, 0 were there, 1 cannot be read" c "$work/s3" "$work/all"
# Folders of runs, one run, an upload folder with a folder a machine.
"$s" run --backend sim --suite load.l1.latency --out "$work/host" >/dev/null
"$s" run --backend sim --machine core2 --suite load.l1.latency --out "$work/up/box7/" >/dev/null
check "collect_takes_folders_of_runs" says 0 "^2 runs: 2 taken, 0 were there" c "$work/host" "$work/up/" "$work/mixed"
check "collect_takes_a_run" says 0 "^1 run: 0 taken, 1 were there" c "$(echo "$work"/host/*)" "$work/mixed"
check "collect_copied_all_files" diff -r "$(echo "$work"/host/*)" "$(echo "$work"/mixed/sim-nehalem*)"
mkdir "$work/bare"
check "collect_refuses_what_has_no_run" says 3 "$work/bare: no run in it" c "$work/bare" "$work/x"
check "collect_refuses_what_is_not_there" refuses "$work/nothing: No such file" c "$work/nothing" "$work/x"
check "collect_refuses_one_operand" refuses "are expected" c "$work/s1"
tap_end
