#!/bin/bash
# What `stallmeter list --events` has to print of the uncore, worked out from the vendor's lists: a line of uncore_lists.txt.
#   tests/oracle/uncore_lists.sh PROCESSOR UNIT,UNIT,... FILE.json...
# Of the boxes of these units every event that is not deprecated, not of a fixed counter and not counted without being asked: name, select, counters. Not from the tables
# and not by their import: the select is put together here, of the unit mask's upper bits from bit 32 on or of an IIO's ports from 36 on and completions from 48 on (a
# Skylake's: 44). FILE.json are of github.com/intel/perfmon.
[ $# -ge 3 ] || { sed -n 3p "$0" >&2; exit 2; }
processor=$1 units=$2
shift 2
for file; do sed '1s/^\xEF\xBB\xBF//' "$file"; done | jq -r --arg units "$units" '
	def number(key): (.[key] // 0) | tostring | if . == "" then "0" else split(",")[0] end;
	.Events[] | select((.Unit as $u | $units | split(",") | index($u)) and number("Deprecated") == "0" and (.Counter | contains("FIXED") | not) and .CounterType != "FREERUN") |
	[(.EventName | ascii_upcase | gsub("^\\s+|\\s+$"; "")), number("EventCode"), number("UMask"), number("ExtSel"), number("UMaskExt"), number("PortMask"), number("FCMask"), .Counter] | @tsv' |
while IFS=$'\t' read -r name code umask ext upper ports completions counter; do
	select=$((code & 0xFF | umask << 8 | ext << 21 | (upper ? upper << 32 : ports << 36 | completions << 48)))
	mask=0
	for n in ${counter//,/ }; do mask=$((mask | 1 << n)); done
	[[ $name != *COUNTER0_OCCUPANCY* ]] || mask=$((mask & ~1)) # counts what counter 0 counts, for the others
	printf '%s 0x%08X 0x%X\n' "$name" "$select" "$mask"
done | LC_ALL=C sort -u | { lines=$(cat); printf '%s %d %s\n' "$processor" "$(wc -l <<<"$lines")" "$(sha256sum <<<"$lines" | cut -d' ' -f1)"; }
