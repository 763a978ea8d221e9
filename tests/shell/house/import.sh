#!/bin/bash
# tables/import.py and tables/import_uncore.py: what they take from a list of the vendor's form, what they leave out and say so, and what they refuse.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh

# event NAME CODE UMASK COUNTERS [MORE]: one entry of a list; MORE are further members.
event() { printf '{"EventName": "%s", "EventCode": "%s", "UMask": "%s", "Counter": "%s", "BriefDescription": "What it counts."%s}' "$1" "$2" "$3" "$4" "${5:+, $5}"; }
list() { local IFS=,; printf '{"Header": {"Info": "Events of a test - V7", "DatePublished": "01/02/2026"}, "Events": [%s]}' "$*" >"$work/list.json"; }
import() { python3 tables/import.py "$work/list.json" "$work/new" TST >"$work/said" 2>&1; }
# row NAME FIELDS: the written row of an event begins with these fields.
row() { grep -q "^$1,$2,.*,perfmon TST V7\$" "$work/new/events.csv" || { grep "^$1," "$work/new/events.csv" | sed 's/^/# /'; return 1; }; }

list "$(event A.PLAIN 0x2e 0x41 0,1,2,3 '"CounterHTOff": "0,1,2,3,4,5,6,7", "PEBS": "1", "Errata": "XYZ12, XYZ3"')" \
	"$(event A.STALLS 0xB1 0x01 0,1,2,3 '"CounterMask": "1", "Invert": "1", "EdgeDetect": "1", "AnyThread": "1"')" \
	"$(event A.GT_4 0xCD 0x01 3 '"PEBS": "2", "MSRIndex": "0x3F6", "MSRValue": "0x4"')" \
	"$(event A.GT_0 0xCD 0x01 3 '"PEBS": "2", "MSRIndex": "0x3F6", "MSRValue": "0x0"')" \
	"$(event A.OFFCORE '0xB7, 0xBB' 0x01 0,1,2,3 '"MSRIndex": "0x1a6,0x1a7", "MSRValue": "0x10800"')" \
	"$(event INST_RETIRED.ANY 0x00 0x01 'Fixed counter 0' '"PEBS": "0"')" \
	"$(event TOPDOWN.SLOTS 0x00 0x04 'Fixed counter 3')" \
	"$(event A.BOTH 0x00 0x02 'Fixed counter 1' '"AnyThread": "1"')" \
	"$(event A.OLD 0xF2 0x04 0,1,2,3 '"Deprecated": "1"')" \
	"$(event A.INVERTED 0xB1 0x02 0,1,2,3 '"Invert": "1"')" \
	"$(event A.EDGE 0x63 0x04 0,1,2,3 '"EdgeDetect": "1"')" \
	"$(event A.EQUAL 0xB1 0x02 0,1,2,3 '"CounterMask": "2", "Equal": "1"')" \
	"$(event TOPDOWN_RETIRING.ALL 0x00 0x07 'Fixed counter 6')" \
	"$(event A.WIDE 0xB1 0x02 0,1,2,3 '"UMaskExt": "0x01"')"
check "import_reads_a_list" import
check "import_takes_counters_without_hyper_threading_and_the_precise_flag" row A.PLAIN "0x2E,0x41,0,0,0,0,1,0,0,0xFF,0,0"
check "import_takes_errata" grep -q '^A.PLAIN,.*,What it counts; errata XYZ12 XYZ3,' "$work/new/events.csv"
check "import_takes_modifiers" row A.STALLS "0xB1,0x01,1,1,1,1,0,0,0,0xF,0,0"
check "import_takes_the_latency_threshold" row A.GT_4 "0xCD,0x01,0,0,0,0,3,0,0,0x8,0x3F6,0x4"
check "import_raises_a_threshold_that_the_register_does_not_take" row A.GT_0 "0xCD,0x01,0,0,0,0,3,0,0,0x8,0x3F6,0x3"
check "import_takes_the_first_of_two_registers" row A.OFFCORE "0xB7,0x01,0,0,0,0,0,0,0,0xF,0x1A6,0x10800"
check "import_gives_fixed_events_the_architectural_code" row INST_RETIRED.ANY "0xC0,0x00,0,0,0,0,0,1,0,0,0,0"
check "import_knows_the_fourth_fixed_counter" row TOPDOWN.SLOTS "0x00,0x04,0,0,0,0,0,4,0,0,0,0"
left() { ! grep -q "^$1," "$work/new/events.csv" && grep -q "^# Left out, .*$2.*: $1\\.\$" "$work/new/events.csv"; }
check "import_leaves_out_both_threads_of_a_fixed_counter" left A.BOTH "both threads"
check "import_leaves_out_deprecated_names" left A.OLD deprecated
check "import_leaves_out_inversion_without_a_threshold" left A.INVERTED "no effect"
check "import_takes_the_second_unit_mask" row A.WIDE "0xB1,0x102,0,0,0,0,0,0,0,0xF,0,0"
check "import_leaves_out_edges_without_a_threshold" left A.EDGE "never come"
check "import_leaves_out_an_equal_threshold" left A.EQUAL "met exactly"
check "import_knows_the_seventh_fixed_counter" row TOPDOWN_RETIRING.ALL "0x00,0x07,0,0,0,0,0,7,0,0,0,0"
check "import_names_the_list_and_its_licence" grep -q "BSD-3-Clause: tables/LICENSE.perfmon" "$work/new/events.csv"
cp "$work/new/events.csv" "$work/first.csv"
again() { import && cmp "$work/first.csv" "$work/new/events.csv"; }
check "import_writes_the_same_again" again

by_hand() { sed -i 1s/.*/#/ "$work/new/events.csv" && ! import && grep -q "written by hand" "$work/said"; }
check "import_keeps_a_file_written_by_hand" by_hand
rm "$work/new/events.csv"
refused() { printf '%s' "$1" >"$work/list.json" && ! import && grep -q "is no list of core events" "$work/said" && [ ! -e "$work/new/events.csv" ]; }
check "import_refuses_what_is_no_json" refused '{"Events": ['
check "import_refuses_a_list_without_events" refused '{"Header": {}}'
check "import_refuses_an_event_without_a_code" refused '{"Events": [{"EventName": "A.B"}]}'
check "import_refuses_a_number_that_is_none" refused "{\"Events\": [$(event A.B 0xZZ 0x01 0)]}"

# Events of boxes: one row a code, its unit masks in it.
printf '[cha]\nprefix = UNC_CHA_\nunit_events = uncore-events\n[iio]\nprefix = UNC_IIO_\nunit_events = uncore-events\n' >"$work/new/uncore.txt"
list "$(event UNC_CHA_TOR.IA_MISS_Drd 0x36 0x21 0 '"Unit": "CHA", "Filter": "Filter1", "FILTER_VALUE": "0x40433"')" \
	"$(event UNC_CHA_TOR.IA 0x36 0x31 0 '"Unit": "CHA", "Filter": "CHAFilter1[31:0]", "FILTER_VALUE": "0"')" \
	"$(event UNC_CHA_LOOKUP 0x34 0x03 0,1,2,3 '"Unit": "CHA", "Filter": "CHAFilter0[26:17]"')" \
	"$(event UNC_CHA_CLOCKTICKS 0x00 0x00 0,1,2,3 '"Unit": "CHA"')" \
	"$(event UNC_IIO_DATA.PART1 0x83 0x04 0,1 '"Unit": "IIO", "PortMask": "0x02", "FCMask": "0x07"')" \
	"$(event UNC_CHA_OLD 0x01 0x00 0 '"Unit": "CHA", "Deprecated": "1"')" "$(event UNC_U_CLOCKTICKS 0x00 0x01 FIXED '"Unit": "UBOX"')" "$(event UNC_H_ODD 0x02 0x00 0 '"Unit": "CHA"')"
import_uncore() { python3 tables/import_uncore.py "$work/new" TST "$work/list.json" >"$work/said" 2>&1; }
box_row() { grep -q "^$1,.*,perfmon TST V7\$" "$work/new/uncore-events.csv" || { sed 's/^/# /' "$work/new/uncore-events.csv"; return 1; }; }
check "import_uncore_reads_a_list" import_uncore
check "import_uncore_takes_masks_of_a_code_and_values_of_a_filter" box_row "cha,TOR,0x36,,0x1,0,IA_MISS_DRD=0x21:filter1=0x40433 IA=0x31:filter1=0x3B"
check "import_uncore_takes_a_filter_that_the_user_sets" box_row "cha,LOOKUP,0x34,,0xF,0,=0x03:state"
check "import_uncore_takes_an_event_without_a_mask" box_row "cha,CLOCKTICKS,0x00,,0xF,0,"
check "import_uncore_takes_ports_and_completions" box_row "iio,DATA,0x83,,0x3,0,PART1=0x70204"
box_left() { grep -q "^# Left out, .*$2.*: $1\\.\$" "$work/new/uncore-events.csv"; }
check "import_uncore_leaves_out_deprecated_names" box_left UNC_CHA_OLD deprecated
check "import_uncore_leaves_out_fixed_counters" box_left UNC_U_CLOCKTICKS "fixed counter"
check "import_uncore_leaves_out_another_box_s_names" box_left UNC_H_ODD "does not begin"
uncore_by_hand() { sed -i 1s/.*/#/ "$work/new/uncore-events.csv" && ! import_uncore && grep -q "written by hand" "$work/said"; }
check "import_uncore_keeps_a_file_written_by_hand" uncore_by_hand
tap_end
