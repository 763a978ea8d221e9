#!/bin/bash
# Events with a second unit mask (bits 47:40 of a select), on machine files with the CPUID of Lunar Lake and Clearwater Forest: their rows are proven and
# their counts are those of the machine; where CPUID leaf 0x23 does not report the mask, nothing is written and the reason is given.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter machines=tables/machines
# Codes: perfmon, Lunar Lake's and Clearwater Forest's lists. The small cores of alder-lake have no second mask.
sed '/^\[cpuid\]/,/^\[clock\]/{s/^model = .*/model = 189/;s/^core_kind = .*/core_kind = 0x40000003/}
	/^\[pmu\]/a second_mask = 1
	s/^events = .*/events = lunar/; s/^highest_leaf = .*/highest_leaf = 35/' $machines/alder-lake.machine >"$work/lunar.machine"
sed 's/^0x11,0x20,0xF,/0x11,0x120,0xFF,/; s/^0x1\([23]\),0x20,0xF,/0x1\1,0x320,0xFF,/; s/^0xC\([45]\),0x11,/0xC\1,0x111,/; s/^0xD1,0x01,/0xD1,0x101,/
	s/^0x51,0x01,/0x51,0x05,/' $machines/maps/alder-lake-p.map >"$work/lunar.map"
sed '/^\[cpuid\]/,/^\[clock\]/s/^model = .*/model = 221/; s/^events = .*/events = clearwater/; /^\[pmu\]/a second_mask = 1' $machines/sierra-forest.machine >"$work/clearwater.machine"
sed 's/^0x24,0x01,/0x24,0x17F,/; s/^0x24,0x02,/0x24,0x1BF,/' $machines/maps/sierra-forest.map >"$work/clearwater.map"
for name in lunar clearwater; do sed '/^second_mask = 1$/d' "$work/$name.machine" >"$work/$name-hidden.machine"; done
printf '* = ok|unproven|unsupported\n' >"$work/any"

second='^wrmsr [0-9]+ 0x18[6-9a-dA-D] 0x[0-9a-fA-F]{11,12}( |$)' # a select with some of bits 47:40
# run_of NAME ROWS: the results are in $results, the accesses in $work/NAME.trace
run_of() {
	"$s" run --backend sim --machine "$work/$1.machine" --expect "$work/any" --suite "$2" --trace "$work/$1.trace" --out "$work/$1.out" || return 1
	results=("$work/$1.out"/*/results.json)
}
statuses() { jq -e --arg want "$1" '[.rows[] | select(.name | endswith("@e") | not) | .status] | unique == [$want]' "$results"; }
proven() { # NAME ROWS
	run_of "$@" && statuses ok && grep -qE "$second" "$work/$1.trace" && says 0 ' 0 findings' "$s" replay --machine "$work/$1.machine" "$work/$1.trace"
}
unproven() { # NAME ROWS EVENT: with the reason; no select has such bits, and the machine accepts every access
	run_of "$1" "$2" && statuses unproven &&
		jq -e --arg event "$3" '[.rows[] | select(.name | endswith("@e") | not) | .reason] |
			all(startswith($event + ": it needs a second unit mask (select bits 47:40); CPUID 0x23 reports none"))' "$results" &&
		[ "$(grep -c '^wrmsr' "$work/$1.trace")" -gt 50 ] && ! grep -E "$second" "$work/$1.trace" &&
		says 0 ' 0 findings' "$s" replay --machine "$work/$1.machine" "$work/$1.trace"
}
check "second_mask_proves_lunar_lakes_rows" proven lunar load.l2.latency,tlb.dtlb_4k.penalty
check "second_mask_proves_clearwater_forests_rows" proven clearwater read.l2.bandwidth
check "second_mask_that_leaf_23_hides_leaves_lunar_lakes_rows_unproven" unproven lunar-hidden load.l2.latency,tlb.dtlb_4k.penalty DTLB_LOAD_MISSES.STLB_HIT
check "second_mask_that_leaf_23_hides_leaves_clearwater_forests_rows_unproven" unproven clearwater-hidden read.l2.bandwidth L2_REQUEST.HIT
hidden_writes() { # what one machine takes, the other refuses
	says 1 'reserved, faults' "$s" replay --machine "$work/$1-hidden.machine" "$work/$1.trace"
}
check "second_mask_is_reserved_where_lunar_lake_lacks_it" hidden_writes lunar
check "second_mask_is_reserved_where_clearwater_forest_lacks_it" hidden_writes clearwater

# The table of trust judges the events that remain, also those of the same row.
trusted() { # NAME CONCEPT VERDICT REASON
	run_of "$1" trust >/dev/null; jq -e --arg concept "$2" --arg verdict "$3" --arg reason "$4" \
		'[.trust[] | select(.row == "load.l1.latency")] | (.[] | select(.concept == $concept) | .verdict == $verdict and (.reason | startswith($reason))) and
			(.[] | select(.concept == "load.retired") | .verdict == "right")' "$work/$1.out"/*/results.json
}
rm -rf "$work"/lunar.out "$work"/lunar-hidden.out
check "second_mask_is_trusted" trusted lunar load.hit.l1 right ''
check "second_mask_that_leaf_23_hides_is_unknown_to_trust" trusted lunar-hidden load.hit.l1 unknown 'it needs a second unit mask'

modelled() { # MACHINE yes|no, of an event whose code without the second mask is in the machine's map
	"$s" list --events lunar-lake-p --machine "$1" >"$work/events" && grep -qE "^DTLB_LOAD_MISSES.STLB_HIT +0x30000002012 .* $2 +Loads that miss" "$work/events"
}
check "second_mask_is_modelled_in_lists_of_events" modelled "$work/lunar.machine" yes
aligned() { # the columns behind a select of 12 digits are where the head has them
	awk '/^event of a core/ { at = index($0, "counters") } /^DTLB_LOAD_MISSES.STLB_HIT / { n++; wrong += !at || substr($0, at, 6) != "0x3FF " } END { exit wrong || n != 1 }' "$work/events"
}
check "second_mask_keeps_the_columns_of_lists_of_events" aligned
sed 's/^events = .*/events = alder-lake-p/' "$work/lunar-hidden.machine" >"$work/low.machine"
check "second_mask_that_is_reserved_is_not_modelled_in_lists_of_events" modelled "$work/low.machine" no

# stat: by name, by perf's terms, as a raw code; the code with another second mask counts another event.
counts() { # most loads miss the first level of the TLB, and hit the second
	"$s" stat --machine "$work/lunar.machine" -w tlb.dtlb_4k.penalty --windows 4 --format json \
		-e DTLB_LOAD_MISSES.STLB_HIT,cpu/event=0x12,umask=0x320/,r30000002012,MEM_INST_RETIRED.ALL_LOADS >"$work/counts" || return 1
	cat "$work/counts"
	jq -e '[.events[].value] | length == 4 and .[0] == .[1] and .[0] == .[2] and .[0] / .[3] > 0.8 and .[0] / .[3] <= 1' "$work/counts"
}
check "second_mask_counts_by_name_terms_and_code" counts
check "second_mask_of_another_value_is_another_event" says 0 'umask=0x20/: not modelled' "$s" stat --machine "$work/lunar.machine" -w load.l1.latency -e cpu/event=0x12,umask=0x20/
lacks='it needs a second unit mask \(select bits 47:40\); CPUID 0x23 reports none'
check "second_mask_is_refused_by_stat" refuses "DTLB_LOAD_MISSES.STLB_HIT: $lacks" "$s" stat --machine "$work/lunar-hidden.machine" -w load.l1.latency -e DTLB_LOAD_MISSES.STLB_HIT
check "second_mask_is_refused_as_a_raw_code" refuses "r30000002012: $lacks" "$s" stat --machine skylake -w load.l1.latency -e r30000002012
check "second_mask_is_refused_on_amd" refuses "umask=0x320/: $lacks" "$s" stat --machine zen4 -w load.l1.latency -e cpu/event=0x12,umask=0x320/
check "second_mask_is_refused_by_profiles" refuses "DTLB_LOAD_MISSES.STLB_HIT: $lacks" "$s" run --backend sim --machine "$work/lunar-hidden.machine" --profile DTLB_LOAD_MISSES.STLB_HIT
tap_end
