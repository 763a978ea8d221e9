#!/bin/bash
# `stallmeter fleet`: a thousand runs made of a simulated one, with noise; ten are altered. All ten are found and none else, in
# 500 MiB. Drift, firmware that differs, groups, the drawing; the same outliers by SQL.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
"$s" run --backend sim --machine nehalem-ep --suite quick --out "$work/one" >/dev/null
cat >"$work/make.py" <<'P'
# make.py ONE TO: 1,000 machines of two products, normal noise of 0.4 % and values as if written by the suite.
import copy, json, os, random, sys
one, to = json.load(open(sys.argv[1])), sys.argv[2]
random.seed(37)
altered = set(random.sample(range(1000), 10))
for i in range(1000):
    r = copy.deepcopy(one)
    e = r["environment"]
    r["simulated"], r["backend"] = False, "hw"
    e["product"] = "Two-socket A" if i % 2 else "Two-socket B"
    e["firmware_version"], r["machine"]["microcode"] = "1.0", "0x1d"
    e["started"] = "2026-11-%02dT%02d:00:00Z" % (1 + i // 40, i % 24)
    for x in r["rows"]:
        x["simulated"] = False
    measured = [x for x in r["rows"] if x["status"] == "ok" and x["value"]]
    for x in measured:
        x["value"] = round(x["value"] * (1 + (0.02 if i % 2 else 0)) * random.gauss(1, 0.004), 3)
    if i in altered:
        for x in random.sample(measured, random.randint(1, 4)):
            x["value"] = round(x["value"] * random.choice([0.9, 1.08, 1.1, 1.3]), 3)
        if i % 2:
            e["firmware_version"] = "0.9"
    folder = os.path.join(to, "machine-%04x-0001" % i)
    os.makedirs(folder)
    json.dump(r, open(os.path.join(folder, "results.json"), "w"))
    if i in altered:
        print(folder)
P
python3 "$work/make.py" "$work"/one/*/results.json "$work/runs" | sort >"$work/altered"
fleet() { "$s" fleet "$@"; }
limited() { (ulimit -v 512000; fleet "$work/runs" --all --html "$work/fleet.html" >"$work/said.fleet"); }
check "fleet_of_a_thousand_runs_in_500_mib" status 1 limited
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
ndjson() { diff <(sqlite3 "$work/fleet.db" "SELECT run, name, status, printf('%.6e', value), samples FROM results ORDER BY run, name" | LC_ALL=C sort) \
	<(python3 -c 'import json, sys
for l in open(sys.argv[1]):
    j = json.loads(l); print(j["run"], j["name"], j["status"], "" if j["value"] is None else "%.6e" % j["value"], j["samples"], sep="|")' "$work/fleet.ndjson" | LC_ALL=C sort); }
check "export_ndjson_holds_the_same" ndjson
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
