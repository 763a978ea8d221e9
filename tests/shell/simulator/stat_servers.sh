#!/bin/bash
# Uncore boxes of servers beside Haswell-EP's. `list --events` has the vendor's events; `stat` takes every one of Broadwell-EP's and Skylake-SP's,
# counts what the simulated machine models and flags the others with a reason in its map; boxes, channels, links and tables of requests agree with
# what a workload does; metrics of bandwidth give the workload's own.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/events.sh
s=${OUT:-out}/stallmeter

lists() { # PROCESSOR UNITS TYPES: as many as the vendor's list has that are not deprecated, and the fixed counters'
	"$s" list --events "$1" | grep -q "^[0-9]* events of the uncore, $2 with their unit masks, in $3 types of boxes\$"
}
check "list_has_sandy_bridge_ep_s_boxes" lists sandy-bridge-ep 505 8
check "list_has_ivy_bridge_ep_s_boxes" lists ivy-bridge-ep 1038 8
check "list_has_broadwell_ep_s_boxes" lists broadwell-ep 1283 10
check "list_has_skylake_sp_s_boxes" lists skylake-sp 2532 9
check "list_has_cascade_lake_s_boxes" lists cascade-lake 2643 9

check "stat_takes_every_event_of_broadwell_ep" stat_every_uncore_event broadwell-ep haswell-uncore 1150
check "stat_takes_every_event_of_skylake_sp" stat_every_uncore_event skylake-sp skylake-uncore 120

# MACHINE WORKLOAD CONDITION EVENT...: the condition, in awk, holds of v[event's number, socket, box], sums in v[event's number].
holds() {
	local machine=$1 workload=$2 condition=$3; shift 3
	"$s" stat --machine "$machine" --windows 1 --format csv --per channel -w "$workload" -e "$(IFS=,; echo "$*")" >"$work/counts" || return 1
	awk -F'"' -v n=$# 'function near(a, b, percent) { return a >= b * (1 - percent / 100) && a <= b * (1 + percent / 100) }
		NR > 1 { split($5, cell, ","); if (!($2 in at)) at[$2] = ++events
		         if (match($0, /socket [0-9]+ box [0-9]+/)) { split(substr($0, RSTART, RLENGTH), w, " "); v[at[$2], w[2], w[4]] = cell[2] } else v[at[$2]] = cell[2] }
		END { if (events != n || !('"$condition"')) { for (k in at) print "# " k ": " v[at[k]]; exit 1 } }' "$work/counts"
}
# A chase in the other socket's memory: each load is a request of a slice here that misses, nine flits of a line, a read of a channel there.
# Some lines more: pages of tables, and those around the window.
one_load_everywhere() {
	holds skylake-sp load.dram_remote 'v[1] >= 1024 && near(v[1], 1024, 5) && v[2] == 9 * 1024 && v[3] == v[2] && near(v[4], v[1], 3) && near(v[5], v[4], 1) && v[6] > 100 * v[1] && v[7] >= 1024 && v[7] <= v[1] && v[8] < 64' \
		UNC_CHA_TOR_INSERTS.IA_MISS_DRD UNC_UPI_RXL_FLITS.ALL_DATA UNC_UPI_TXL_FLITS.ALL_DATA UNC_M2M_IMC_READS.ALL UNC_M_CAS_COUNT.RD UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD \
		UNC_CHA_TOR_INSERTS.IA_MISS:filter1=0x40431 UNC_CHA_TOR_INSERTS.IA_MISS:filter1=0x40432
}
check "skylake_sp_s_boxes_see_each_load_of_a_chase" one_load_everywhere
# A load that hits a slice is in its table and nowhere beyond.
hits_stay() {
	holds skylake-sp load.l3 'v[1] >= 1024 && v[2] < v[1] / 20 && v[3] < v[1] / 20 && v[4] == 0' UNC_CHA_TOR_INSERTS.IA_HIT_DRD UNC_CHA_TOR_INSERTS.IA_MISS_DRD UNC_M_CAS_COUNT.RD UNC_UPI_RXL_FLITS.ALL_DATA
}
check "skylake_sp_s_hits_stay_in_the_slices" hits_stay
# Broadwell-EP has 22 slices and four channels a socket.
broadwell() {
	holds broadwell-ep load.dram_remote 'near(v[1], 1024, 5) && v[2] == 8 * 1024 && near(v[3], 1024, 5)' "UNC_C_TOR_INSERTS.MISS_OPCODE:opc=0x182" UNC_Q_RXL_FLITS_G1.DRS_DATA UNC_M_CAS_COUNT.RD
}
check "broadwell_ep_s_boxes_see_each_load_of_a_chase" broadwell
# Each load of a chase has one answer, by perfmon's values: the event of its supplier and snoop counts it, those of the others nothing.
suppliers() { # MACHINE LOCAL_DRAM REMOTE_DRAM HITM NO_FWD REMOTE_HITM REMOTE_HIT_FORWARD, each behind OFFCORE_RESPONSE.ALL_DATA_RD.
	local machine=$1 i=0 w; shift
	for w in load.dram_local load.dram_remote load.l3_modified_other_core load.l3_clean_other_core load.remote_l3_modified load.remote_l3_clean; do
		i=$((i + 1))
		holds "$machine" $w "v[$i] == $([ $i -le 2 ] && echo 1024 || echo 512) && v[1] + v[2] + v[3] + v[4] + v[5] + v[6] == v[$i]" "${@/#/OFFCORE_RESPONSE.ALL_DATA_RD.}" || return 1
	done
}
hits=(LLC_HIT.HITM_OTHER_CORE LLC_HIT.HIT_OTHER_CORE_NO_FWD)
check "broadwell_ep_s_answers_are_told_by_supplier" suppliers broadwell-ep LLC_MISS.LOCAL_DRAM LLC_MISS.REMOTE_DRAM "${hits[@]}" LLC_MISS.REMOTE_HITM LLC_MISS.REMOTE_HIT_FORWARD
check "haswell_ep_s_answers_are_told_by_supplier" suppliers haswell-ep LLC_MISS.LOCAL_DRAM LLC_MISS.REMOTE_DRAM "${hits[@]}" LLC_MISS.REMOTE_HITM LLC_MISS.REMOTE_HIT_FORWARD
check "skylake_sp_s_answers_are_told_by_supplier" suppliers skylake-sp L3_MISS_LOCAL_DRAM.SNOOP_MISS_OR_NO_FWD L3_MISS_REMOTE_DRAM.SNOOP_MISS_OR_NO_FWD "${hits[@]/#LLC/L3}" \
	L3_MISS.REMOTE_HITM L3_MISS.REMOTE_HIT_FORWARD
# "All requests" has kinds that the model does not tell from others.
all_requests() { "$s" stat --machine haswell-ep --windows 1 --format csv -w load.dram_local -e "OFFCORE_RESPONSE.ALL_REQUESTS.LLC_MISS.ANY_RESPONSE" | grep -q '"not modelled by this simulated machine",,'; }
check "haswell_ep_s_answers_to_all_requests_are_flagged" all_requests
# A unit mask above bit 31 leaves 31:24 for the threshold (Linux, uncore_snbep.c: umask_ext4 and thresh8 of spr_uncore_cha): a chase has one read at a time in the table,
# which is as many entries added up over cycles as cycles with one, and none with two.
threshold() {
	holds sapphire-rapids load.dram_local 'v[1] > 100 * 1024 && near(v[2], v[1], 2) && v[3] < v[1] / 100' UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD:thresh=1 \
		UNC_CHA_TOR_OCCUPANCY.IA_MISS_DRD:thresh=2
}
check "stat_takes_a_threshold_beside_a_high_unit_mask" threshold
check "stat_takes_no_threshold_where_a_select_has_none" refuses 'a value does not fit; box umc takes no modifier' "$s" stat --machine zen4 -w idle -e UMC_CAS_CMD.RD:thresh=128
# One figure for each of 28 slices, 6 channels, 2 ways to memory and 3 links a socket; the words for --per say the same.
boxes_of() { # MACHINE EVENT BOXES
	"$s" stat --machine "$1" --windows 1 --format csv --per box -w idle -e "$2" | grep -c 'socket [01] box' | grep -qx "$3"
}
each_box() {
	boxes_of skylake-sp UNC_CHA_CLOCKTICKS 56 && boxes_of skylake-sp imc.CLOCKTICKS 12 && boxes_of skylake-sp UNC_M2M_CLOCKTICKS 4 && boxes_of skylake-sp UNC_UPI_CLOCKTICKS 6 &&
		boxes_of skylake-sp UNC_IIO_CLOCKTICKS 12 && boxes_of broadwell-ep UNC_C_CLOCKTICKS 44 && boxes_of broadwell-ep imc.CAS_COUNT.RD 8 && boxes_of broadwell-ep UNC_S_CLOCKTICKS 8
}
check "stat_has_a_figure_for_each_box" each_box
# The metric's rate is the channels' own that the row reports beside its arrays: 14.2 and 12.6 GB/s here; within a fifth of the row's.
bandwidth() { # MACHINE
	local row metric
	row=$("$s" run --backend sim --machine "$1" --suite triad.dram.bandwidth --out "$work/run-$1" | awk '$1 == "triad.dram.bandwidth" { print $2; exit }')
	metric=$("$s" stat --machine "$1" --windows 4 -w triad.dram -M imc.MEM_BW_TOTAL | awk '/imc.MEM_BW_TOTAL/ { for (i = 1; i < NF; i++) if ($(i + 1) == "GB/s") print $i }')
	echo "# $1: the row $row GB/s, the channels $metric GB/s"
	awk -v row="$row" -v metric="$metric" 'BEGIN { exit !(row > 1 && metric > row && metric < 1.5 * row) }'
}
check "metrics_give_skylake_sp_s_bandwidth" bandwidth skylake-sp
check "metrics_give_broadwell_ep_s_bandwidth" bandwidth broadwell-ep
# A function that firmware hides is named, and the other boxes count.
hidden() {
	sed 's/^fault.*//' tables/machines/skylake-sp.machine >"$work/hidden.machine"; printf '[fault]\nuncore_hidden = 40\n' >>"$work/hidden.machine"
	"$s" stat --machine "$work/hidden.machine" --windows 1 -w idle -e UNC_M_CAS_COUNT.RD >"$work/said" 2>&1; [ $? -eq 2 ] || return 1
	grep -q 'UNC_M_CAS_COUNT.RD: .*hidden or fused off' "$work/said" && "$s" stat --machine "$work/hidden.machine" --windows 1 -w idle -e UNC_CHA_CLOCKTICKS | grep -Eq '^ +[1-9][0-9]+ .*UNC_CHA_CLOCKTICKS'
}
check "stat_says_which_function_is_hidden" hidden
tap_end
