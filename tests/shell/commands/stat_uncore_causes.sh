#!/bin/bash
# Events of Haswell-EP's boxes that a setting of the machine makes possible, each by its cause: what must move it moves it by as much as its
# description says, other work and the built-in machine do not. Numbers are those of one window, over all boxes of both sockets.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=${OUT:-out}/stallmeter

machine() { # NAME SECTION.KEY=VALUE...: the built-in machine with these settings
	local name=$1; shift
	awk -v settings="$*" 'BEGIN { n = split(settings, one, " "); for (i = 1; i <= n; i++) { split(one[i], part, "="); value[part[1]] = part[2] } }
		/^\[/ { if (section != "") rest(); section = substr($0, 2, length($0) - 2) }
		$2 == "=" && (section "." $1) in value { k = section "." $1; $0 = $1 " = " value[k]; done[k] }
		{ print }
		function rest(  k, part) { for (k in value) if (!(k in done)) { split(k, part, "."); if (part[1] == section) { print part[2] " = " value[k]; done[k] } } }
		END { rest(); for (k in value) if (!(k in done)) { split(k, part, "."); section = part[1]; print "[" section "]"; rest() } }' tables/machines/haswell-ep.machine >"$work/$name.machine"
}
# MACHINE WORKLOAD CONDITION EVENT...: the condition, in awk, holds of the events' counts v[1], v[2], ...
holds() {
	local machine=$1 workload=$2 condition=$3; shift 3
	[ -f "$work/$machine.machine" ] && machine=$work/$machine.machine
	"$s" stat --machine "$machine" --windows 1 --format csv -w "$workload" -e "$(IFS=,; echo "$*")" >"$work/counts" || return 1
	awk -F'"' 'function near(a, b, percent, more) { return a >= b * (1 - percent / 100) - more && a <= b * (1 + percent / 100) + more }
		NR > 1 { split($5, cell, ","); v[++n] = cell[2]; print "# " $2 " " cell[2] } END { exit n != '$#' || !('"$condition"') }' "$work/counts"
}

machine faulty fault.ecc_every=100 fault.heat_period_us=50 fault.heat_us=20
machine refreshed dram.refresh_ps=7800000
machine refreshed_open dram.refresh_ps=7800000 dram.open_page=1 dram.banks=128
machine clocked dram.power_down_cycles=100
machine slow dram.power_down_cycles=100 dram.power_down_slow=1
machine regions uncore.regions=12 uncore.device_cycles=20000 firmware.runs=0
machine indirect uncore.direct2core=0
machine credits1 uncore.sbo_credits=1
machine credits4 uncore.sbo_credits=4
machine c1e uncore.idle_state=2
machine c3 uncore.idle_state=3
machine c6 uncore.idle_state=6
machine c7 uncore.idle_state=7

corrected_lines() {
	holds faulty load.dram_local 'v[2] > 1000 && near(v[1], v[2] / 100, 0, 8)' UNC_M_ECC_CORRECTABLE_ERRORS UNC_M_CAS_COUNT.RD &&
		holds faulty write.dram_nt 'v[1] <= v[2] / 100 + 8 && v[3] > 1000' UNC_M_ECC_CORRECTABLE_ERRORS UNC_M_CAS_COUNT.RD UNC_M_CAS_COUNT.WR &&
		holds haswell-ep load.dram_local 'v[1] == 0 && v[2] > 1000' UNC_M_ECC_CORRECTABLE_ERRORS UNC_M_CAS_COUNT.RD
}
too_hot() { # 20 us in 50; the window begins and ends anywhere
	holds faulty load.dram_local 'v[1] > 0 && v[1] <= v[2] && near(v[1] / v[2], 0.4, 35, 0)' UNC_P_PROCHOT_INTERNAL_CYCLES UNC_P_CLOCKTICKS &&
		holds haswell-ep load.dram_local 'v[1] == 0' UNC_P_PROCHOT_INTERNAL_CYCLES
}
# A rank each 7.8 us, of 1067 MHz: 8320 clocks of a channel; whatever runs. The built-in machine has one rank a channel, the other eight.
refreshes() {
	holds refreshed load.dram_local 'near(v[1], v[2] / 8320, 2, 8) && v[3] == 0 && v[1] > 20' UNC_M_DRAM_REFRESH.HIGH UNC_M_DCLOCKTICKS UNC_M_DRAM_PRE_ALL &&
		holds refreshed load.l2 'near(v[1], v[2] / 8320, 2, 8)' UNC_M_DRAM_REFRESH.HIGH UNC_M_DCLOCKTICKS &&
		holds refreshed_open triad.dram 'near(v[1], 8 * v[2] / 8320, 2, 64)' UNC_M_DRAM_REFRESH.HIGH UNC_M_DCLOCKTICKS &&
		holds haswell-ep load.dram_local 'v[1] == 0' UNC_M_DRAM_REFRESH.HIGH
}
# Only ranks with an open row are closed; each refresh opens rows anew.
closed_for_a_refresh() {
	holds refreshed_open triad.dram 'v[1] > 0 && v[1] <= v[2] && v[3] >= v[1]' UNC_M_DRAM_PRE_ALL UNC_M_DRAM_REFRESH.HIGH UNC_M_ACT_COUNT.RD &&
		holds refreshed_open load.l2 'v[1] <= v[2] / 4' UNC_M_DRAM_PRE_ALL UNC_M_DRAM_REFRESH.HIGH
}
# A chase's load goes to one of four channels and leaves its clock on for 101 uncore cycles, 46.9 of the channel's: the rest is off.
clocks_off() {
	holds clocked load.dram_local 'near(v[1] + v[4], v[2], 1, 100) && near(v[4], v[3] * 46.85, 2, 400) && v[5] == 0' \
		UNC_M_POWER_CHANNEL_PPD UNC_M_DCLOCKTICKS UNC_M_CAS_COUNT.RD UNC_M_POWER_CKE_CYCLES.RANK0 UNC_M_POWER_CHANNEL_DLLOFF &&
		holds clocked load.l2 'v[1] > 0.98 * v[2]' UNC_M_POWER_CHANNEL_PPD UNC_M_DCLOCKTICKS &&
		holds clocked triad.dram_all 'v[1] < 0.2 * v[2]' UNC_M_POWER_CHANNEL_PPD UNC_M_DCLOCKTICKS &&
		holds haswell-ep load.l2 'v[1] == 0 && v[2] == v[3]' UNC_M_POWER_CHANNEL_PPD UNC_M_DCLOCKTICKS UNC_M_POWER_CKE_CYCLES.RANK0
}
dlls_off() {
	holds slow load.dram_local 'near(v[1] + v[3], v[2], 1, 100) && v[1] > 0 && v[4] == 0' \
		UNC_M_POWER_CHANNEL_DLLOFF UNC_M_DCLOCKTICKS UNC_M_POWER_CKE_CYCLES.RANK0 UNC_M_POWER_CHANNEL_PPD &&
		holds slow triad.dram_all 'v[1] < 0.2 * v[2]' UNC_M_POWER_CHANNEL_DLLOFF UNC_M_DCLOCKTICKS
}
# The device's lines lie at the end of its socket's memory, where nothing else runs here. For each that it writes its home gets two requests, for each that it reads one.
regions_of_memory() {
	holds regions load.dram_local 'v[1] > 10 && near(v[1], 2 * v[2] + v[3], 0, 6) && v[4] > 1000 && v[5] == 0' UNC_H_TAD_REQUESTS_G1.REGION11 \
		UNC_I_COHERENT_OPS.PCITOM UNC_I_COHERENT_OPS.PCIRDCUR UNC_H_REQUESTS.READS UNC_H_TAD_REQUESTS_G1.REGION8 &&
		holds haswell-ep load.dram_local 'v[1] == 0 && v[2] > 1000' UNC_H_TAD_REQUESTS_G1.REGION11 UNC_H_TAD_REQUESTS_G0.REGION0
}
straight_to_the_core() {
	holds indirect load.dram_local 'v[1] == v[2] && v[3] == 0 && v[4] > 1000' UNC_H_DIRECT2CORE_CYCLES_DISABLED UNC_H_CLOCKTICKS UNC_H_DIRECT2CORE_COUNT UNC_H_REQUESTS.READS &&
		holds haswell-ep load.dram_local 'v[1] == 0 && near(v[2], v[3], 1, 20)' UNC_H_DIRECT2CORE_CYCLES_DISABLED UNC_H_DIRECT2CORE_COUNT UNC_H_REQUESTS.READS
}
# Who sends waits where all credits are taken, the more the fewer there are. Each message to the other ring takes one.
sbo_credits() {
	local h=UNC_H_STALL_NO_SBO_CREDIT r=UNC_R3_STALL_NO_SBO_CREDIT
	holds credits1 triad.dram_all 'v[1] + v[2] > 100 && v[3] + v[4] > 100' $h.SBO0_BL $h.SBO1_BL UNC_C_RXR_IRQ_RETRY2.AD_SBO UNC_C_RXR_ISMQ_RETRY2.BL_SBO || return 1
	local one; one=$(awk -F'[ ]' '{ n += $3 } NR == 2 { print n }' "$work/said")
	holds credits4 triad.dram_all 'v[1] + v[2] > 0 && v[1] + v[2] < '"$one" $h.SBO0_BL $h.SBO1_BL &&
		holds credits1 triad.dram 'v[1] + v[2] + v[3] + v[4] > 0' $r.SBO0_AD $r.SBO1_AD $r.SBO0_BL $r.SBO1_BL &&
		holds credits1 load.l2 'v[1] + v[2] + v[3] + v[4] < 100' $h.SBO0_BL $h.SBO1_BL UNC_C_RXR_IRQ_RETRY2.AD_SBO UNC_C_RXR_ISMQ_RETRY2.BL_SBO &&
		holds haswell-ep triad.dram_all 'v[1] + v[2] + v[3] + v[4] == 0' $h.SBO0_BL $h.SBO1_BL UNC_C_RXR_IRQ_RETRY2.AD_SBO UNC_C_RXR_ISMQ_RETRY2.BL_SBO
}
# A device's stop sends one message after the other: with one credit the data of a line waits for its request's.
device_credits() {
	machine device1 uncore.sbo_credits=1 uncore.device_cycles=200
	holds device1 load.dram_local 'v[1] + v[2] > 0' UNC_R2_STALL_NO_SBO_CREDIT.SBO0_AD UNC_R2_STALL_NO_SBO_CREDIT.SBO0_BL &&
		holds credits1 load.dram_local 'v[1] + v[2] == 0' UNC_R2_STALL_NO_SBO_CREDIT.SBO0_AD UNC_R2_STALL_NO_SBO_CREDIT.SBO0_BL
}
queues_of_a_channel() {
	local r=UNC_H_RPQ_CYCLES_NO_REG_CREDITS w=UNC_H_WPQ_CYCLES_NO_REG_CREDITS
	holds haswell-ep load.dram_local 'v[1] + v[2] + v[3] + v[4] == 0' $r.CHN0 $r.CHN1 $w.CHN0 $w.CHN1 &&
		holds haswell-ep read.dram_all 'v[1] > 0 && v[2] > 0 && v[3] + v[4] == 0 && v[5] == 0' $r.CHN0 $r.CHN1 $w.CHN0 $w.CHN1 $r.CHN2 &&
		holds haswell-ep write.dram_nt_all 'v[1] > 0 && v[2] > 0 && v[3] + v[4] == 0' $w.CHN0 $w.CHN1 $r.CHN0 $r.CHN1
}
# What waits behind the tracker's 128 entries: at least one in each cycle in which any does, and what is left is at most 128 a cycle.
backup_tracker() {
	holds haswell-ep triad.dram_all 'v[1] >= v[2] && v[2] > 0 && v[3] + v[4] - v[1] <= 129 * v[5] && v[3] + v[4] - v[1] >= 126 * v[2]' \
		UNC_H_BT_OCCUPANCY UNC_H_BT_CYCLES_NE UNC_H_TRACKER_OCCUPANCY.READS_LOCAL UNC_H_TRACKER_OCCUPANCY.WRITES_LOCAL UNC_H_CLOCKTICKS &&
		holds haswell-ep load.dram_local 'v[1] == 0 && v[2] == 0' UNC_H_BT_OCCUPANCY UNC_H_BT_CYCLES_NE
}
# A job keeps its socket in C0; the other one sleeps as deep as it may, and both between jobs.
packages_sleep() {
	local p=UNC_P_PKG_RESIDENCY
	holds c1e load.dram_local 'near(v[1], v[2] / 2, 2, 10) && v[3] == 0 && near(v[4], v[2] / 2, 2, 10)' ${p}_C1E_CYCLES UNC_P_CLOCKTICKS UNC_P_POWER_STATE_OCCUPANCY.CORES_C6 ${p}_C0_CYCLES &&
		holds c7 load.dram_local 'near(v[1], v[2] / 2, 2, 10) && v[3] == 0 && near(v[4], v[2] / 2, 2, 10)' ${p}_C7_CYCLES UNC_P_CLOCKTICKS ${p}_C6_CYCLES ${p}_C0_CYCLES &&
		holds c7 triad.dram_all 'v[1] < 0.05 * v[2]' ${p}_C7_CYCLES UNC_P_CLOCKTICKS &&
		holds haswell-ep load.dram_local 'v[1] + v[2] == 0 && near(v[3], v[4], 0, 30)' ${p}_C7_CYCLES ${p}_C1E_CYCLES ${p}_C0_CYCLES UNC_P_CLOCKTICKS
}
# Off while both packages are in C6: between jobs. Each of two links has two ends; the PCU counts 800 MHz, a link 1200.
links_off() {
	holds c6 load.dram_local 'v[1] > 0 && v[1] < 0.02 * v[2] && near(v[1], 2 * (v[3] - v[4] / 2) * 1.5, 5, 20)' UNC_Q_L1_POWER_CYCLES UNC_Q_CLOCKTICKS UNC_P_PKG_RESIDENCY_C6_CYCLES UNC_P_CLOCKTICKS &&
		holds c3 load.dram_local 'v[1] == 0' UNC_Q_L1_POWER_CYCLES
}
check "uncore_lines_corrected" corrected_lines
check "uncore_package_too_hot" too_hot
check "uncore_refreshes" refreshes
check "uncore_rows_closed_for_a_refresh" closed_for_a_refresh
check "uncore_clock_of_a_rank_off" clocks_off
check "uncore_dlls_of_a_channel_off" dlls_off
check "uncore_regions_of_memory" regions_of_memory
check "uncore_data_straight_to_the_core" straight_to_the_core
check "uncore_credits_of_an_sbo" sbo_credits
check "uncore_credits_of_the_devices_stop" device_credits
check "uncore_queues_of_a_channel_full" queues_of_a_channel
check "uncore_backup_tracker" backup_tracker
check "uncore_packages_sleep" packages_sleep
check "uncore_links_off" links_off
tap_end
