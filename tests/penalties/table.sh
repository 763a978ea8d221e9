#!/bin/sh
# Runs the full suite on five simulated machines and writes measured against expected into docs/penalties.md,
# between its two markers. usage: OUT=out ROWS=full tests/penalties/table.sh [DIR]
# ROWS: rows or patterns separated by commas; the lines of other rows stay as they are.
# DIR: where MACHINE.csv (the penalties.csv of one or several runs of it) lies, that machine is not run again.
set -eu
given=${1:-}
out=${OUT:-out}
machines="nehalem-ep core2 haswell-ep skylake-sp pentium4"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for m in $machines; do
	"$out/tests/penalties/expected" "$m" >"$work/$m.expected"
	if [ -n "$given" ] && [ -e "$given/$m.csv" ]; then
		cp "$given/$m.csv" "$work/$m.csv"
		continue
	fi
	# exit status 1: some rows are not proven on this machine; the table shows their values all the same
	"$out/stallmeter" run --backend sim --machine "$m" --suite "${ROWS:-full}" --out "$work/$m" >"$work/$m.log" || [ $? -eq 1 ]
	cat "$work/$m"/*/penalties.csv >"$work/$m.csv"
done
{
	echo "| row | unit | nehalem-ep | core2 | haswell-ep | skylake-sp | pentium4 |"
	echo "|---|---|---|---|---|---|---|"
	awk -F, -v work="$work" -v machines="$machines" '
	function strip(s) { gsub(/"/, "", s); return s }
	function number(milli) { return sprintf(milli % 1000 ? "%.1f" : "%d", milli / 1000) }
	BEGIN {
		n = split(machines, machine, " ")
		for (i = 1; i <= n; i++) {
			file = work "/" machine[i] ".expected"
			while ((getline line < file) > 0) { split(line, e, " "); least[i, e[1]] = e[2]; most[i, e[1]] = e[3] }
			file = work "/" machine[i] ".csv"
			head = 1
			while ((getline line < file) > 0) {
				m = split(line, c, ",")
				if (head || strip(c[1]) == "name") { for (k = 1; k <= m; k++) column[strip(c[k])] = k; head = 0; continue }
				row = strip(c[column["name"]])
				if (!(row in seen)) { seen[row] = 1; order[++rows] = row; unit[row] = strip(c[column["unit"]]) }
				value[i, row] = strip(c[column["value"]]); status[i, row] = strip(c[column["status"]])
			}
		}
		for (r = 1; r <= rows; r++) {
			row = order[r]
			big = unit[row] ~ /bytes/
			printf "| %s | %s |", row, big ? "GB/s" : unit[row]
			for (i = 1; i <= n; i++) {
				scale = big ? 1e9 : 1
				if (status[i, row] == "") { printf " - |"; continue } # not run
				if (status[i, row] == "unsupported") { printf " unsupported |"; continue }
				printf " %.2f", value[i, row] / scale
				if (least[i, row] != "-" && least[i, row] != "") {
					if (big) printf " (%.1f to %.1f)", least[i, row] / 1000 / scale, most[i, row] / 1000 / scale
					else if (most[i, row] - least[i, row] > 1100 && most[i, row] - least[i, row] > most[i, row] * 0.08) printf " (%s to %s)", number(least[i, row]), number(most[i, row])
					else printf " (%s)", number(int((least[i, row] + most[i, row]) / 2 + 0.5))
				}
				printf "%s |", status[i, row] == "ok" ? "" : ", " status[i, row]
			}
			printf "\n"
		}
	}'
} >"$work/table"
if [ -n "${ROWS:-}" ]; then # the lines of the others, in the order of the catalogue
	sed -n '/<!-- table begins -->/,/<!-- table ends -->/p' docs/penalties.md >"$work/old"
	"$out/stallmeter" list --rows | awk '{ print $1 }' >"$work/order"
	awk -F'[ |]+' 'FILENAME ~ /order$/ { order[++rows] = $1; next } /^\|/ && NF > 3 { if ($2 == "row" || $2 ~ /^-/) { if (FILENAME ~ /old$/) print } else line[$2] = $0 }
		END { for (i = 1; i <= rows; i++) if (order[i] in line) print line[order[i]] }' "$work/order" "$work/old" "$work/table" >"$work/merged"
	mv "$work/merged" "$work/table"
fi
awk -v table="$work/table" '
	/<!-- table begins -->/ { print; while ((getline line < table) > 0) print line; skip = 1 }
	/<!-- table ends -->/ { skip = 0 }
	!skip && !/<!-- table begins -->/ { print }' docs/penalties.md >"$work/page"
cp "$work/page" docs/penalties.md

sed -n '/<!-- table begins -->/,/<!-- table ends -->/p' docs/penalties.md
