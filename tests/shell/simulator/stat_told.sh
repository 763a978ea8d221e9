#!/bin/bash
# Uncore boxes whose places the machine tells: Ice Lake-SP's memory in a window, everything of Sapphire Rapids and Sierra Forest by a discovery table. `list --events` has
# the vendor's events, select by select (tests/oracle/uncore_lists.txt); `stat` takes every one, counts what the simulated machine models and flags the others with a
# reason in its map; boxes, channels, links and tables of requests agree with what a workload does; what a table does not hold is said.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/events.sh
s=${OUT:-out}/stallmeter

lists() { # PROCESSOR
	local events hash said
	read -r _ events hash < <(grep "^$1 " tests/oracle/uncore_lists.txt)
	said=$("$s" list --events "$1" | awk '/^event of box/ { on = 1; next } NF == 0 { on = 0 } on && $1 ~ /^UNC_/ && $3 ~ /^0x/ { print $1, $2, $3 }' | LC_ALL=C sort | tee "$work/list" | sha256sum)
	[ "$(wc -l <"$work/list")" -eq "$events" ] && [ "${said%% *}" = "$hash" ]
}
for p in ice-lake-sp sapphire-rapids emerald-rapids granite-rapids sierra-forest clearwater-forest grand-ridge; do check "list_has_${p//-/_}_s_selects" lists $p; done

check "stat_takes_every_event_of_ice_lake_sp" stat_every_uncore_event ice-lake-sp ice-lake-sp-uncore 150
check "stat_takes_every_event_of_sapphire_rapids" stat_every_uncore_event sapphire-rapids sapphire-rapids-uncore 100 'MDF|CXLCM|CXLDP'
check "stat_takes_every_event_of_sierra_forest" stat_every_uncore_event sierra-forest sierra-forest-uncore 60 'MDF|CXLCM|CXLDP|B2UPI|B2HOT|B2CXL'

# MACHINE WORKLOAD CONDITION EVENT...: the condition, in awk, holds of sums in v[event's number].
holds() {
	local machine=$1 workload=$2 condition=$3; shift 3
	"$s" stat --machine "$machine" --windows 1 --format csv -w "$workload" -e "$(IFS=,; echo "$*")" >"$work/counts" || return 1
	awk -F'"' -v n=$# 'function near(a, b, percent) { return a >= b * (1 - percent / 100) && a <= b * (1 + percent / 100) }
		NR > 1 { split($5, cell, ","); v[NR - 1] = cell[2] }
		END { if (NR - 1 != n || !('"$condition"')) { for (k in v) print "# " k ": " v[k]; exit 1 } }' "$work/counts"
}
# A chase in the other socket's memory: each load is a request of a slice here that misses, nine flits of a line, a read of a channel there.
remote() { # MACHINE
	holds "$1" load.dram_remote 'near(v[1], 1024, 5) && v[2] == 9 * 1024 && v[3] == v[2] && near(v[4], v[1], 3) && near(v[5], v[4], 1) && v[6] > 100 * v[1] && v[7] < 64 && v[8] >= 1024 && v[8] <= v[1]' \
		UNC_CHA_TOR_INSERTS.IA_MISS_DRD UNC_UPI_RXL_FLITS.ALL_DATA UNC_UPI_TXL_FLITS.ALL_DATA UNC_M2M_IMC_READS.ALL UNC_M_CAS_COUNT.RD UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD \
		UNC_CHA_TOR_INSERTS.IA_MISS_DRD_LOCAL UNC_CHA_TOR_INSERTS.IA_MISS_DRD_REMOTE
}
check "ice_lake_sp_s_boxes_see_each_load_of_a_chase" remote ice-lake-sp
check "sapphire_rapids_boxes_see_each_load_of_a_chase" remote sapphire-rapids
check "sierra_forest_s_boxes_see_each_load_of_a_chase" holds sierra-forest load.dram_local 'near(v[1], 1024, 5) && near(v[2], v[1], 3) && v[3] == 0 && near(v[4], v[2], 1) && v[5] > 100 * v[1]' \
	UNC_CHA_TOR_INSERTS.IA_MISS_DRD_OPT UNC_M_CAS_COUNT_SCH0.RD UNC_M_CAS_COUNT_SCH1.RD UNC_B2CMI_IMC_READS.ALL UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD_OPT
# A load that hits a slice is in its table and nowhere beyond.
check "ice_lake_sp_s_hits_stay_in_the_slices" holds ice-lake-sp load.l3 'v[1] >= 1024 && v[2] < v[1] / 20 && v[3] < v[1] / 20 && v[4] == 0' \
	UNC_CHA_TOR_INSERTS.IA_HIT_DRD UNC_CHA_TOR_INSERTS.IA_MISS_DRD UNC_M_CAS_COUNT.RD UNC_UPI_RXL_FLITS.ALL_DATA

boxes_of() { # MACHINE EVENT BOXES
	"$s" stat --machine "$1" --windows 1 --format csv --per box -w idle -e "$2" | grep -c 'socket [01] box' | grep -qx "$3"
}
each_box() {
	boxes_of ice-lake-sp UNC_CHA_CLOCKTICKS 80 && boxes_of ice-lake-sp imc.CLOCKTICKS 16 && boxes_of ice-lake-sp UNC_M2M_CLOCKTICKS 8 && boxes_of ice-lake-sp UNC_UPI_CLOCKTICKS 6 &&
		boxes_of ice-lake-sp UNC_M2P_CLOCKTICKS 12 && boxes_of sapphire-rapids UNC_CHA_CLOCKTICKS 112 && boxes_of sapphire-rapids imc.CLOCKTICKS 16 && boxes_of sapphire-rapids UNC_UPI_CLOCKTICKS 6 &&
		boxes_of sierra-forest UNC_CHA_CLOCKTICKS 32 && boxes_of sierra-forest imc.CLOCKTICKS 8 && boxes_of sierra-forest UNC_B2CMI_CLOCKTICKS 4
}
check "stat_has_a_figure_for_each_told_box" each_box

# The chase has its time in the table of requests beside it, and the stream each channel's lines: 8 of them.
methods() { # MACHINE
	"$s" run --backend sim --machine "$1" --suite load.dram_local.latency,triad.dram.bandwidth --out "$work/run-$1" >"$work/table" || return 1
	grep -E 'in the uncore|channels of memory' -A1 "$work/table" | sed 's/^/# /'
	awk '/^load.dram_local.latency/ { load = $2 } /in the uncore/ && $NF == "ok" { queue = $5 } END { exit !(queue > 0.85 * load && queue < load) }' "$work/table" &&
		grep -A1 'channels of memory, socket 0' "$work/table" | tr -d '\n' | grep -qE 'read( +[0-9.]+){8}, written( +[0-9.]+){8} GB/s'
}
check "ice_lake_sp_s_rows_have_the_uncore_beside_them" methods ice-lake-sp
check "sapphire_rapids_rows_have_the_uncore_beside_them" methods sapphire-rapids

# Firmware without the table: nothing that it tells counts, and that is said; links, which it does not tell, do.
no_table() {
	sed 's/^fault.*//' tables/machines/sapphire-rapids.machine >"$work/no.machine"; printf '[fault]\nuncore_hidden = 1\n' >>"$work/no.machine"
	"$s" stat --machine "$work/no.machine" --windows 1 -w idle -e UNC_M_CAS_COUNT.RD >"$work/said" 2>&1; [ $? -eq 2 ] && grep -q "UNC_M_CAS_COUNT.RD: the machine's tables have none of them" "$work/said" &&
		"$s" stat --machine "$work/no.machine" --windows 1 -w idle -e UNC_UPI_CLOCKTICKS | grep -Eq '^ +[1-9][0-9]+ .*UNC_UPI_CLOCKTICKS'
}
check "stat_says_that_there_is_no_table" no_table
no_window() {
	sed 's/^fault.*//' tables/machines/ice-lake-sp.machine >"$work/no.machine"; printf '[fault]\nuncore_hidden = 8\n' >>"$work/no.machine"
	"$s" stat --machine "$work/no.machine" --windows 1 -w idle -e UNC_M_CAS_COUNT.RD >"$work/said" 2>&1; [ $? -eq 2 ] && grep -q 'no window in memory shows its registers' "$work/said"
}
check "stat_says_that_there_is_no_window" no_window

# What plan says is what a run does: every write of each row, and each register's last value; each named with its box and source.
planned() { # MACHINE REGISTER...: patterns of lines
	local machine=$1; shift
	"$s" plan --machine "$machine" --suite load.dram_local.latency >"$work/plan" || return 1
	! grep -q 'not on the list' "$work/plan" && for p in "$@"; do grep -qE "$p" "$work/plan" || { echo "# no line is $p"; return 1; }; done
}
check "plan_names_ice_lake_sp_s_registers" planned ice-lake-sp 'core 0 +0xE01 +<- 0xC817FF00400136 +box cha: select.*UNC_CHA_TOR_OCCUPANCY.IA_DRD' 'core 0 +0x700 +<- 0x8000000000000000' 'core 0 +0xB69'
check "plan_names_sapphire_rapids_registers" planned sapphire-rapids 'core 0 +0x2002 +<- 0xC817FF00400136 +box cha: select.*UNC_CHA_TOR_OCCUPANCY.IA_DRD' 'core 0 +0x2FF0 +<- 0x1' 'core 0 +0x2000 +<- 0x300'
tap_end
