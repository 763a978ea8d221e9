#!/bin/bash
# `stallmeter export sql-copy` in PostgreSQL, where it is installed: COPY takes the rows of 100,000 runs, and the query of docs/fleet.md
# finds in them what `stallmeter fleet` found in the thousand that they were made of.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
if [ -z "$bin" ] || [ "$(id -u)" -eq 0 ] && ! id postgres >/dev/null 2>&1; then
	skip "postgresql_takes_the_rows" "no PostgreSQL"
	tap_end
	exit
fi
as() { if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
db=$(as mktemp -d) && trap 'as "$bin/pg_ctl" -D "$db/data" -m immediate stop >/dev/null 2>&1; rm -rf "$work" "$db"' EXIT
sql() { as "$bin/psql" -X -q -v ON_ERROR_STOP=1 -h "$db" -d postgres "$@"; }
as "$bin/initdb" -D "$db/data" -A trust >"$work/initdb" 2>&1
check "postgresql_starts" as "$bin/pg_ctl" -D "$db/data" -w -o "-c listen_addresses='' -k $db -c fsync=off" -l "$db/log" start

"$s" run --backend sim --machine nehalem-ep --suite quick --out "$work/one" >/dev/null
tests/results/many.sh "$work"/one/*/results.json "$work/runs" 17 170 717 >/dev/null
"$s" export sql-copy "$work/runs" >"$work/fleet.sql"
check "postgresql_takes_the_rows" sql <"$work/fleet.sql"
sed -n '/^```sql/,/^```/p' docs/fleet.md | grep -v '^```' >"$work/query.sql"
same() {
	"$s" fleet "$work/runs" --all | awk '/^Outlying/ { on = 1 } /^Machines/ { on = 0 } on && /^\// { run = $1 } on && /^  [a-z]/ && !/differs:/ { print run "|" $1 }' | sort >"$work/said"
	[ -s "$work/said" ] && diff "$work/said" <(sql -At <"$work/query.sql" | cut -d'|' -f1,2 | sort)
}
check "postgresql_finds_the_same_outliers" same
# A hundred times as many: each run a hundred times, under other names.
many() {
	sql -c "CREATE TEMP TABLE more AS SELECT generate_series(1, 99) AS k" -c "INSERT INTO runs SELECT run || '/' || k, machine || k, product || k, bios, microcode, started, build, backend, simulated FROM runs, generate_series(1, 99) AS k" \
		-c "COPY (SELECT run || '/' || k, name, kind, unit, status, value, spread, cycles, ns, samples, rejected, revision FROM results, generate_series(1, 99) AS k) TO STDOUT" >"$work/more.copy" &&
		sql -c "COPY results FROM STDIN" <"$work/more.copy" && sql -At -c "SELECT COUNT(*) FROM runs" | grep -x 100000 &&
		[ "$(sql -At -c "SELECT COUNT(*) FROM results")" -eq $((100000 * $(jq '.rows | length' "$work"/one/*/results.json))) ]
}
check "postgresql_copies_the_rows_of_100000_runs" many
hundredfold() { [ "$(sql -At <"$work/query.sql" | wc -l)" -eq $((100 * $(wc -l <"$work/said.one"))) ]; }
"$s" fleet "$work/runs" --all | awk '/^Outlying/ { on = 1 } /^Machines/ { on = 0 } on && /^  [a-z]/ && !/differs:/' >"$work/said.one"
check "postgresql_finds_them_a_hundredfold" hundredfold
tap_end
