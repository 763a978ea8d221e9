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
[ "$(grep -c '^ *= ' <<<"$metrics")" -eq 93 ] && tail -n 1 <<<"$metrics" | grep -q '^93 metrics, 90 of them can be had$'
say $? "list --metrics haswell-ep has 93 metrics, and says of three what is lacking"
"$out/stallmeter" list --metrics nothing >/dev/null 2>"$out/log/list_events.err"; [ $? -eq 2 ] && grep -q 'haswell-ep' "$out/log/list_events.err"
say $? "metrics of an unknown processor are refused"
hsx=$("$out/stallmeter" list --events haswell-ep); grep -q '^311 events of the uncore, 1197 with their unit masks, in 10 types of boxes$' <<<"$hsx"
say $? "list --events haswell-ep has the 311 events of the uncore"
# Counters, precise, modelled: the columns from position 96 on, as of the header.
says() { grep -Eq "^$1 +0x[0-9A-F]+ +(0x[0-9A-F]+=0x[0-9A-F]+ +)?$2 " <<<"$3"; } # NAME COLUMNS LIST
nhm=$("$out/stallmeter" list --events nehalem-ep)
says MEM_LOAD_RETIRED.L2_HIT '0xF +yes +yes' "$nhm" && says UOPS_ISSUED.ANY '0xF +- +yes' "$nhm" && says MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_8 '0x8 +latency +yes' "$nhm" &&
	says UOP_UNFUSION '0xF +- +no' "$nhm" && says INST_RETIRED.ANY 'fixed 0 +- +yes' "$nhm"
say $? "list --events says which events are precise and which the simulated machine models"
grep -q '^event of box cbo; filters: .*opc' <<<"$hsx" && grep -Eq '^modelled: the simulated machine haswell-ep counts 1[0-9]{3} of these' <<<"$hsx"
say $? "list --events says which filters a box has, and how many events the simulated machine counts"
p4=$("$out/stallmeter" list --events pentium4)
grep -Eq '^replay_event.NBOGUS .* yes +yes ' <<<"$p4" && grep -Eq '^TC_deliver_mode.DD .* - +no ' <<<"$p4" && grep -q '^LOADS_RETIRED .*with another .*yes +yes .*detected with it: uop_type$' -E <<<"$p4"
say $? "list --events pentium4 says what is detected with an event"
# What is listed as modelled is what stat counts: both ways.
agree() { # PROCESSOR LISTED-AS STAT-SAYS
	local name
	name=$("$out/stallmeter" list --events "$1" | awk -v as="$2" '$4 == "-" && $5 == as { print $1; exit }')
	[ -n "$name" ] && "$out/stallmeter" stat --machine "$1" -w idle --windows 1 --format csv -e "$name" | tail -n 1 | grep -q "$3"
}
agree haswell-ep no 'not modelled' && agree haswell-ep yes ',[0-9]'
say $? "what list calls not modelled, stat does"
cp tables/machines/core2.machine "$out/log/listed.machine" && "$out/stallmeter" list --events core2 --machine "$out/log/listed.machine" | grep -q 'simulated machine .*listed.machine counts'
say $? "list --events takes a machine file"
"$out/stallmeter" list --events core2 --machine nehalem-ep >/dev/null 2>"$out/log/list_events.err"; [ $? -eq 2 ] && grep -q 'is nehalem-ep, not core2' "$out/log/list_events.err"
say $? "a machine of another processor is refused"
"$out/stallmeter" list --events intel | grep -q '^modelled: no built-in machine is of this processor' && "$out/stallmeter" list --events x86-64 | grep -q '^x86-64: no events are known$'
say $? "processors without a machine or without events say so"
echo "1..$n"
