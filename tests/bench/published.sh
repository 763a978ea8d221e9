#!/bin/bash
# published.sh [RUN]: a table of what this machine measured natively beside published figures of its processor (tables/processors/NAME/published.csv).
# RUN: results.json of a run; without it one is made, of the rows that have a figure. Run it alone on an idle machine: what noise spoilt is said to be.
# within: the value lies in the published range, or at most 5 % beside it. Exit status 1: a row that was measured without noise does not.
cd "$(dirname "$0")/../.." || exit 2
s=${OUT:-out}/stallmeter
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run=$1
if [ -z "$run" ]; then
	"$s" run --backend native --suite load.l1.latency --out "$work" >/dev/null || exit 2
	name=$(jq -r .machine.descriptor "$work"/*/results.json)
	figures=tables/processors/$name/published.csv
	[ -f "$figures" ] || { echo "no published figures of $name"; exit 2; }
	rows=$(grep -v '^#' "$figures" | tail -n +2 | cut -d, -f1 | paste -sd,)
	"$s" run --backend native --suite "$rows" --out "$work/all" >/dev/null || exit 2
	run=$(ls "$work"/all/*/results.json)
fi
name=$(jq -r .machine.descriptor "$run")
figures=tables/processors/$name/published.csv
[ -f "$figures" ] || { echo "no published figures of $name"; exit 2; }
printf '%s, %s\n%-30s %10s %8s %12s %8s  %s\n' "$(jq -r .machine.brand "$run")" "$name" row measured spread published beside within
grep -v '^#' "$figures" | tail -n +2 | cut -d, -f1-3 | while IFS=, read -r row low high; do
	jq -r --arg row "$row" '.rows[] | select(.name == $row or .name == $row + "@p") | [.cycles // .value // "", .spread // "", if .status == "noisy" or .noise != "clean" or (.reason | test("noisy|disturbed")) then 1 else 0 end, .status] | @tsv' "$run" |
		awk -v row="$row" -v low="$low" -v high="$high" -F'\t' '{
			published = low == high ? low : low " to " high
			if ($1 == "") { printf "%-30s %10s %8s %12s %8s  %s\n", row, "-", "-", published, "-", $4; exit }
			off = $1 < low ? ($1 - low) / low : $1 > high ? ($1 - high) / high : 0
			ok = off >= -0.05 && off <= 0.05
			printf "%-30s %10.3f %8.3f %12s %7.1f%%  %s\n", row, $1, $2, published, 100 * off, ok ? "yes" : $3 ? "noise" : "no"
			exit !ok && !$3
		}' || echo 1 >>"$work/beyond"
done
[ ! -s "$work/beyond" ]
