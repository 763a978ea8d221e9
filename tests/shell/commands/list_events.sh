#!/bin/bash
# `list --events` has every row of the tables that a processor takes its events from, core and uncore, each with its code.
cd "$(dirname "$0")/../../.." || exit 2
out=${OUT:-out} n=0
say() { n=$((n + 1)); if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; fi; }
list=$("$out/stallmeter" list --events nehalem-ep); say $? "list --events nehalem-ep ends well"
for table in nehalem-ep/events nehalem-ep/uncore-events; do
	missing=0
	while IFS=, read -r name select umask _; do
		grep -Eq "^$name +0x....${umask#0x}${select#0x} " <<<"$list" || { missing=1; echo "# $name ($umask$select) is not listed"; }
	done < <(grep -Ev '^(#|name,|$)' "tables/processors/$table.csv")
	say $missing "every event of tables/processors/$table.csv is listed with its code"
done
[ "$(grep -c '^L1D_CACHE_L[DO].*; counts too much (guide, note before table 16)$' <<<"$list")" -eq 9 ] && ! grep -v '^L1D_CACHE_L[DO]' <<<"$list" | grep -q 'counts too much'
say $? "events that an erratum makes count too much say so"
"$out/stallmeter" list --events nothing >/dev/null 2>"$out/log/list_events.err"; [ $? -eq 2 ] && grep -q 'nehalem-ep' "$out/log/list_events.err"
say $? "an unknown processor is refused and the known ones are named"
list=$("$out/stallmeter" list --events pentium4); missing=$?
while IFS=, read -r event _ _ _ _ _ _ _ _ units _; do
	for unit in $units; do
		grep -q "^$event\.${unit%%=*} " <<<"$list" || { missing=1; echo "# $event.${unit%%=*} is not listed"; }
	done
done < <(grep -Ev '^(#|event,|$)' tables/processors/pentium4/netburst-detectors.csv)
say $missing "every event of tables/processors/pentium4/netburst-detectors.csv is listed"
metrics=$("$out/stallmeter" list --metrics haswell-ep)
[ "$(grep -c '^ *= ' <<<"$metrics")" -eq 93 ] && tail -n 1 <<<"$metrics" | grep -q '^93 metrics of the uncore, 90 of them can be had$'
say $? "list --metrics haswell-ep has 93 metrics, and says of three what is lacking"
"$out/stallmeter" list --metrics nothing >/dev/null 2>"$out/log/list_events.err"; [ $? -eq 2 ] && grep -q 'haswell-ep' "$out/log/list_events.err"
say $? "metrics of an unknown processor are refused"
"$out/stallmeter" list --events haswell-ep | tail -n 1 | grep -q '^311 events of the uncore, 1197 with their unit masks, in 10 types of boxes$'
say $? "list --events haswell-ep has the 311 events of the uncore"
echo "1..$n"
