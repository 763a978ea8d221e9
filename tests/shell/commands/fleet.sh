#!/bin/bash
# `stallmeter fleet`: a thousand runs made of a simulated one, with noise; ten are altered. All ten are found and none else, in
# 500 MiB. Drift, firmware that differs, groups, the drawing; the same outliers by SQL.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
"$s" run --backend sim --machine nehalem-ep --suite quick --out "$work/one" >/dev/null
tests/results/many.sh "$work"/one/*/results.json "$work/runs" 3 64 155 222 333 418 507 640 771 986 | sort >"$work/altered"
fleet() { "$s" fleet "$@"; }
limited() { (ulimit -v 512000; ulimit -t 10; fleet "$work/runs" --all --html "$work/fleet.html" >"$work/said.fleet"); }
check "fleet_of_a_thousand_runs_in_500_mib_and_10_s" status 1 limited
found() { [ "$(wc -l <"$work/altered")" -eq 10 ] && diff "$work/altered" <(sed -n '/^Outlying/,/^Machines/p' "$work/said.fleet" | grep "^/" | sort); }
check "fleet_finds_all_altered_runs_and_none_else" found
check "fleet_counts" says 0 "^10 outlying runs, 0 machines drifted" tail -n 2 "$work/said.fleet"
check "fleet_has_groups" says 0 "  500 Two-socket A, " cat "$work/said.fleet"
firmware() { # behind each altered run of product A, and no other
	[ "$(grep -c "differs: environment.firmware_version: 0.9; .* have 1.0" "$work/said.fleet")" -eq "$(grep -c "[13579bdf]-0001$" "$work/altered")" ]
}
check "fleet_shows_the_firmware_that_differs" firmware
html() { xmllint --html --noout "$work/fleet.html" 2>&1 | grep -v "Tag \(header\|nav\|main\|figure\|figcaption\|svg\|rect\|text\|title\|polyline\) invalid\|^ *[<^]\|^\(.*\)<" | grep error && return 1; [ "$(grep -o '<rect class="[mlu]"' "$work/fleet.html" | wc -l)" -ge 10 ] && ! grep -i "<script\|http" "$work/fleet.html"; }
check "fleet_is_drawn_in_one_file" html
drawn() { while read -r run; do grep -qF "$run" "$work/fleet.html" || { echo "$run"; return 1; }; done <"$work/altered"; }
check "fleet_drawing_names_each" drawn
none() { mkdir -p "$work/some" && cp -r $(ls -d "$work"/runs/* | grep -vFf "$work/altered" | head -n 60) "$work/some/" && fleet "$work/some"; }
check "fleet_of_equal_machines_has_no_finding" says 0 "^0 outlying runs" none

# The same by SQL.
sed -n '/^```sql/,/^```/p' docs/fleet.md | grep -v '^```' >"$work/query.sql"
outliers() { awk '/^Outlying/ { on = 1 } /^Machines/ { on = 0 } on && /^\// { run = $1 } on && /^  [a-z]/ && !/differs:/ { print run "|" $1 }' "$work/said.fleet" | LC_ALL=C sort; }
"$s" export sql "$work/runs" >"$work/fleet.sql"
check "export_sql_is_read_by_sqlite3" sqlite3 -bail "$work/fleet.db" ".read $work/fleet.sql"
check "export_sql_holds_every_row" sh -c '[ "$(sqlite3 "$1" "SELECT COUNT(*) FROM results")" -eq $((1000 * $(jq ".rows | length" "$2"))) ]' - "$work/fleet.db" "$work"/one/*/results.json
by_sql() { [ "$(outliers | wc -l)" -ge 10 ] && diff <(outliers) <(sqlite3 "$work/fleet.db" ".read $work/query.sql" | cut -d'|' -f1,2 | LC_ALL=C sort); }
check "sql_finds_the_same_outliers" by_sql
"$s" export ndjson "$work/runs" >"$work/fleet.ndjson"
# Values as numbers, whatever their spelling.
same_spelling() { awk -F'|' -v OFS='|' '{ $4 = $4 == "" ? "" : sprintf("%.6e", $4); print }' | LC_ALL=C sort; }
ndjson() { diff <(sqlite3 "$work/fleet.db" "SELECT run, name, status, value, samples FROM results" | same_spelling) \
	<(jq -r '[.run, .name, .status, (.value // "" | tostring), (.samples | tostring)] | join("|")' "$work/fleet.ndjson" | same_spelling); }
check "export_ndjson_holds_the_same" ndjson
by() { fleet "$work/runs" --by "$1" | sed -n '/^  *[0-9]* Two-socket/p' >"$work/groups"; cat "$work/groups"; [ "$(awk '{ n += $1 } END { print n }' "$work/groups")" -eq 1000 ] && [ "$(wc -l <"$work/groups")" -eq "$2" ]; }
check "fleet_by_product_has_two_groups" by product 2
check "fleet_by_bios_has_one_more" by bios 3
check "fleet_by_microcode_has_two" by microcode 2
check "export_of_a_folder_that_is_not_there" refuses "nowhere: no such folder" "$s" export sql "$work/nowhere"
quote() { jq '.environment.product = "O'"'"'Neill; DROP TABLE runs"' "$work"/one/*/results.json >"$work/odd.json"; "$s" export sql "$work/odd.json" | sqlite3 "$work/odd.db" && sqlite3 "$work/odd.db" "SELECT COUNT(*) FROM runs" | grep -x 1; }
check "export_sql_quotes" quote

# One machine, nine runs: one row creeps up by a percent a run.
mkdir "$work/drift"
for i in 1 2 3 4 5 6 7 8 9; do
	mkdir "$work/drift/m-00aa-000$i"
	jq --argjson i $i '.environment.started = "2026-11-0\($i)T00:00:00" | .rows |= map(if .name == "load.l2.latency" then .value *= (1 + $i / 100) | .value = (.value * 1000 | round) / 1000 else . end)' \
		"$work"/one/*/results.json >"$work/drift/m-00aa-000$i/results.json"
done
check "fleet_finds_a_drift" says 1 "load.l2.latency +10.800 cycles, at first 10.200" fleet "$work/drift"
check "fleet_finds_no_other_drift" sh -c '[ "$("$1" fleet "$2" | sed -n "/^Machines/,\$p" | grep -c "^  ")" -eq 1 ]' - "$s" "$work/drift"
# A row that one machine of ten does not have.
mkdir "$work/lost"
for i in 0 1 2 3 4 5 6 7 8 9; do mkdir "$work/lost/m-000$i-0001"; cp "$work"/one/*/results.json "$work/lost/m-000$i-0001/"; done
jq '.rows |= map(if .name == "load.l2.latency" then .status = "unproven" else . end)' "$work"/one/*/results.json >"$work/lost/m-0004-0001/results.json"
check "fleet_finds_a_row_that_is_not_proved" says 1 "load.l2.latency +unproven, most are ok" fleet "$work/lost"
echo '{' >"$work/lost/m-0005-0001/results.json"
check "fleet_leaves_out_what_cannot_be_read" says 0 "m-0005-0001/results.json.*; left out" fleet "$work/lost"
by_bios() { fleet "$work/runs" --by bios | grep -x "    *[0-9]* Two-socket A, .*, BIOS 0.9.*"; }
check "fleet_groups_by_bios" by_bios
check "fleet_refuses_a_folder_that_is_not_there" refuses "nowhere: no such folder" fleet "$work/nowhere"
mkdir "$work/empty"
check "fleet_refuses_a_folder_without_a_run" refuses "empty: no run in it" fleet "$work/empty"
check "fleet_wants_a_folder" refuses "a folder of runs is expected" fleet
tap_end
