#!/bin/bash
# `stallmeter stat` on AMD: counters of the L3 of each complex, of the data fabric and of the memory controllers agree with what one row's loads do.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=${OUT:-out}/stallmeter

stat() { # MACHINE ROW EVENTS [OPTION...]: value,event
	local machine=$1 row=$2 events=$3
	shift 3
	"$s" stat --machine "$machine" --windows 2 --format csv -w "$row" -e "$events" "$@" >"$work/csv" || return 1
	cat "$work/csv"
}
value() { # EVENT: of the last list
	awk -F, -v want="\"$1\"" '$1 == want { print $3; found = 1; exit } END { exit !found }' "$work/csv"
}
near() { # VALUE WANTED PERCENT
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a - b; exit !(a != "" && b > 0 && (d < 0 ? -d : d) * 100 <= b * p) }' || { echo "# $1 for $2"; return 1; }
}

lines_from_memory() {
	stat zen4 load.dram_local.latency LS_DMND_FILLS_FROM_SYS.DRAM_IO_NEAR,UMC_CAS_CMD.RD,UMC_CAS_CMD.ALL,L3_LOOKUP_STATE.L3_MISS,UMC_DATA_SLOT_CLKS.RD >/dev/null || return 1
	local loads
	loads=$(value LS_DMND_FILLS_FROM_SYS.DRAM_IO_NEAR)
	near "$(value UMC_CAS_CMD.RD)" "$loads" 4 && near "$(value UMC_CAS_CMD.ALL)" "$loads" 4 && near "$(value L3_LOOKUP_STATE.L3_MISS)" "$loads" 4 &&
		near "$(value UMC_DATA_SLOT_CLKS.RD)" $((8 * loads)) 4
}
check "amd_controllers_and_l3_count_the_lines_that_loads_get_from_memory" lines_from_memory

stations() { # the fabric's coherent stations are the channels
	stat zen4 load.dram_local.latency UMC_CAS_CMD.RD,LOCAL_PROCESSOR_READ_DATA_BEATS_CS0,LOCAL_PROCESSOR_READ_DATA_BEATS_CS1,REMOTE_PROCESSOR_READ_DATA_BEATS_CS0 >/dev/null || return 1
	near $(($(value LOCAL_PROCESSOR_READ_DATA_BEATS_CS0) + $(value LOCAL_PROCESSOR_READ_DATA_BEATS_CS1))) "$(value UMC_CAS_CMD.RD)" 1 &&
		[ "$(value REMOTE_PROCESSOR_READ_DATA_BEATS_CS0)" = 0 ]
}
check "amd_fabric_counts_what_the_controllers_count" stations

# 72 ns from the L3's miss on: in cycles of 4.5 GHz on one, in ns on the other, tenths of them; rounded to whole cycles there
sampled() { # MACHINE WANTED
	stat "$1" load.dram_local.latency L3_XI_SAMPLED_LATENCY.DRAM_NEAR,L3_XI_SAMPLED_LATENCY_REQUESTS.DRAM_NEAR,L3_XI_SAMPLED_LATENCY.ALL >/dev/null || return 1
	near "$(awk -v a="$(value L3_XI_SAMPLED_LATENCY.DRAM_NEAR)" -v b="$(value L3_XI_SAMPLED_LATENCY_REQUESTS.DRAM_NEAR)" 'BEGIN { print 10 * a / b }')" "$2" 1 &&
		[ "$(value L3_XI_SAMPLED_LATENCY.ALL)" -ge "$(value L3_XI_SAMPLED_LATENCY.DRAM_NEAR)" ]
}
check "amd_sampled_latency_is_in_cycles_on_zen4" sampled zen4 324
check "amd_sampled_latency_is_in_ns_on_zen5" sampled zen5 72

complexes() { # the reader's L3 asks the other one
	stat zen5 load.other_complex_clean.latency L3_XI_SAMPLED_LATENCY_REQUESTS.NEAR_CACHE,LS_DMND_FILLS_FROM_SYS.NEAR_CACHE --per box >/dev/null || return 1
	cat "$work/csv" >"$work/boxes"
	local asked other
	asked=$(grep -c 'NEAR_CACHE' "$work/boxes")
	other=$(grep 'L3_XI_SAMPLED_LATENCY_REQUESTS' "$work/boxes" | cut -d, -f3 | sort -n | head -1)
	near "$(value L3_XI_SAMPLED_LATENCY_REQUESTS.NEAR_CACHE)" "$(value LS_DMND_FILLS_FROM_SYS.NEAR_CACHE)" 2 && [ "$other" = 0 ] && [ "$asked" -ge 4 ]
}
check "amd_each_complex_has_its_l3s_counters" complexes

channels() { # Zen 2: eight channels of a socket, four counters: two runs
	stat zen2 load.dram_local.latency "$(echo DRAM_CHANNEL_DATA_CONTROLLER_{0..7} | tr ' ' ,),XI_CCX_SDP_REQ1.ALL_L3_MISS_REQ_TYPS" >/dev/null || return 1
	near "$(grep DRAM_CHANNEL "$work/csv" | cut -d, -f3 | paste -sd+ | bc)" "$(value XI_CCX_SDP_REQ1.ALL_L3_MISS_REQ_TYPS)" 4
}
check "amd_fabric_of_zen2_counts_its_channels" channels

# Zen's boxes and their metrics are Zen 2's (the vendor's lists): 107 ns at 3.1 GHz are 332 cycles, 377 with the L3 before it.
zen1_metrics() {
	sed 's/^model = 49$/model = 1/' tables/machines/zen2.machine >"$work/zen1.machine"
	"$s" stat --machine "$work/zen1.machine" --windows 1 -w load.dram_local -M l3.MISS_LATENCY,df.BANDWIDTH --format csv >"$work/csv" || return 1
	near "$(value l3.MISS_LATENCY)" 331.7 1 && near "$(value df.BANDWIDTH)" "$(awk 'BEGIN { print 64 * 3100 / (12 + 33 + 331.7) }')" 2 && [ "$("$s" list --metrics hygon)" = "$("$s" list --metrics zen1)" ]
}
check "amd_metrics_of_zen1_are_zen2s" zen1_metrics

metrics() {
	"$s" stat --machine zen5 --windows 2 -w load.dram_local.latency -M l3.SAMPLED_LATENCY,umc.READ_BANDWIDTH,umc.READ_PART >"$work/metrics" || return 1
	grep -qE '^ +7[12]\.[0-9]+ +units +l3.SAMPLED_LATENCY' "$work/metrics" && grep -qE '^ +100\.000 +percent +umc.READ_PART' "$work/metrics" &&
		grep -qE '^ +[0-9.]+ +MB/s +umc.READ_BANDWIDTH' "$work/metrics"
}
check "amd_metrics_of_the_l3_and_of_memory" metrics

raw_codes() { # event codes of twelve bits: 0x0C0 is instructions, 0x1C0 is not; no bit for any thread
	stat zen4 load.l2.latency rC0,EX_RET_INSTR,r0000000C0 >/dev/null && [ "$(value rC0)" = "$(value EX_RET_INSTR)" ] && [ "$(value r0000000C0)" = "$(value EX_RET_INSTR)" ] &&
		[ "$(value rC0)" -gt 0 ] && stat zen4 load.l2.latency r1000000C1,EX_RET_UCODE_INSTR,r1000000C0 >/dev/null &&
		[ "$(grep -c '^"r1000000C0","not modelled by this simulated machine"\|^"r1000000C1","not modelled by this simulated machine"' "$work/csv")" -eq 2 ] &&
		"$s" stat --machine zen4 -w load.l2.latency -e r2000C0 2>&1 | grep -q 'bits 35:32, 31:23, 18 and 15:0' &&
		"$s" stat --machine nehalem-ep -w load.l2.latency -e r1000000C0 2>&1 | grep -q 'bits 47:40, 31:23, 21, 18 and 15:0'
}
check "amd_raw_codes_have_twelve_bits_of_event" raw_codes
hygon() { # a licensed Zen of another vendor and family: the same counters, events and L3
	sed -e 's/^vendor = .*/vendor = HygonGenuine/' -e 's/^family = .*/family = 24/' -e 's/^model = .*/model = 0/' tables/machines/zen2.machine >"$work/hygon.machine" &&
		stat "$work/hygon.machine" load.dram_local.latency EX_RET_INSTR,rC0,L3_MISSES,XI_CCX_SDP_REQ1.ALL_L3_MISS_REQ_TYPS >/dev/null || return 1
	[ "$(value rC0)" = "$(value EX_RET_INSTR)" ] && [ "$(value rC0)" -gt 0 ] && near "$(value L3_MISSES)" "$(value XI_CCX_SDP_REQ1.ALL_L3_MISS_REQ_TYPS)" 1 || return 1
	"$s" stat --machine "$work/hygon.machine" -w load.l2.latency -e r2000C0 2>&1 | grep -q 'bits 35:32, 31:23, 18 and 15:0'
}
check "hygon_has_the_counters_of_zen" hygon
likwid() { # no fixed counters: instructions and cycles take the first general ones
	"$s" run --backend sim --machine zen4 --suite load.l2.penalty,load.l3.penalty --out "$work/run" >/dev/null && "$s" export likwid "$work"/run/*/ >"$work/likwid" 2>/dev/null &&
		! grep -q FIXC "$work/likwid" && grep -qx "PMC0 RETIRED_INSTRUCTIONS" "$work/likwid" && grep -qx "PMC1 CPU_CLOCKS_UNHALTED" "$work/likwid" &&
		grep -qx "CPI PMC1/PMC0" "$work/likwid" && grep -qE '^Share of cycles, .* PMC2\*[0-9.]+/PMC1$' "$work/likwid"
}
check "amd_export_likwid_has_no_fixed_counters" likwid
three_methods() { # MACHINE UNIT ROW...: chase, IBS and the L3's own sampling of each row agree; chase and IBS of what the L3 and the L2 answer
	local machine=$1 unit=$2 rows
	shift 2
	rows=$(IFS=,; echo "$*")
	"$s" run --backend sim --machine "$machine" --suite "load.l2.latency,load.l3.latency,load.l3_*_other_core.latency,$rows" --out "$work/run" >"$work/methods" || return 1
	[ "$(grep -cE "^  by the L3's sampling +[0-9.]+ cycles +agrees" "$work/methods")" -eq $# ] && [ "$(grep -cE "lines, told in $unit" "$work/methods")" -eq $# ] &&
		[ "$(grep -cE '^  by IBS +[0-9.]+ cycles +agrees' "$work/methods")" -eq $(($# + 4)) ]
}
check "amd_l3_samples_agree_with_chase_and_ibs_on_zen4" three_methods zen4 cycles load.dram_local.latency
for machine in zen2 zen3; do # the mean of all lines
	check "amd_l3_latency_agrees_with_chase_and_ibs_on_$machine" three_methods $machine cycles load.dram_local.latency load.dram_remote.latency load.remote_l3_{clean,modified}.latency load.other_complex_{clean,modified}.latency
done
check "amd_l3_samples_agree_with_chase_and_ibs_on_zen5" three_methods zen5 ns load.dram_local.latency load.other_complex_clean.latency load.other_complex_modified.latency

listed() {
	"$s" list --events zen4 >"$work/events" && grep -q '^UMC_CAS_CMD.RD  *0x0000010A' "$work/events" && grep -q '^LOCAL_PROCESSOR_READ_DATA_BEATS_CS4 .*0x10700FE1F' "$work/events" &&
		"$s" list --events zen1 | grep -q '^XI_SYS_FILL_LATENCY' && "$s" list --events zen5 | grep -q '^L3_XI_SAMPLED_LATENCY.NEAR_CACHE'
}
check "amd_counters_beyond_the_cores_are_listed" listed
# 10 GiB of pages of 2 MiB, past the page of the bus lock that counting the uncore maps
check "stat_counts_the_uncore_beside_many_pages" "$s" stat --machine zen4 --windows 1 -w tlb.walk_2m.penalty -e L3_LOOKUP_STATE.ALL_COHERENT_ACCESSES_TO_L3
# where the slots of dispatch go, as the vendor accounts them: all of them somewhere, and where the machine's latencies say
slots() { # MACHINE ROW PART LOW HIGH
	"$s" stat --machine "$1" --windows 20 --format csv -w "$2" -M pipeline_utilization >"$work/slots" || return 1
	awk -F'[,"]+' -v part="$3" -v low="$4" -v high="$5" '{ sub(/.*[.]/, "", $2); v[$2] = $4 }
		END { all = v["FRONTEND_BOUND"] + v["BACKEND_BOUND"] + v["SMT_CONTENTION"] + v["BAD_SPECULATION"] + v["RETIRING"]
			if (all < 98 || all > 102) { print "# all are " all " per cent"; exit 1 }
			if (v[part] < low || v[part] > high) { print "# " part " is " v[part]; exit 1 } }' "$work/slots"
}
pipeline() {
	slots zen4 load.dram_local.latency BACKEND_BOUND_MEMORY 98 100 && slots zen5 load.dram_local.latency BACKEND_BOUND_BY_MEMORY 98 100 &&
		slots zen4 frontend.l1i_l3.penalty FRONTEND_BOUND_LATENCY 88 100 && slots zen5 frontend.l1i_l3.penalty FRONTEND_BOUND_BY_LATENCY 88 100 &&
		slots zen4 branch.conditional.penalty BAD_SPECULATION_MISPREDICTS 5 40 && slots zen5 branch.indirect.penalty BAD_SPECULATION_FROM_MISPREDICTS 2 40 &&
		slots zen4 exec.microcode_switch.penalty RETIRING_MICROCODE 20 60 && slots zen4 exec.div64_hard.latency BACKEND_BOUND_CPU 60 100
}
check "amd_slots_of_dispatch_are_all_accounted_for" pipeline
levels() { # the second level is the first one taken apart
	slots zen4 branch.indirect.penalty RETIRING 2 20 && awk -F'[,"]+' '{ sub(/.*[.]/, "", $2); v[$2] = $4 }
		function same(a, b) { return a - b < 0.01 && b - a < 0.01 }
		END { exit !(same(v["FRONTEND_BOUND"], v["FRONTEND_BOUND_LATENCY"] + v["FRONTEND_BOUND_BANDWIDTH"]) && same(v["BACKEND_BOUND"], v["BACKEND_BOUND_MEMORY"] + v["BACKEND_BOUND_CPU"]) &&
			same(v["BAD_SPECULATION"], v["BAD_SPECULATION_MISPREDICTS"] + v["BAD_SPECULATION_PIPELINE_RESTARTS"]) && same(v["RETIRING"], v["RETIRING_FASTPATH"] + v["RETIRING_MICROCODE"])) }' "$work/slots"
}
check "amd_slots_of_dispatch_at_the_second_level" levels
links() { # MACHINE: loads from the other socket's memory: each line goes out over its links, 32 bytes at a time, and over none of the reader's socket
	stat "$1" load.dram_remote.latency "$2,$(echo REMOTE_OUTBOUND_DATA_CONTROLLER_{0..3} | tr ' ' ,)" --per box >/dev/null || return 1
	near "$(grep 'CONTROLLER_[0-9]","",' "$work/csv" | cut -d, -f3 | paste -sd+ | bc)" $((2 * $(value "$2"))) 5 &&
		[ "$(grep -c 'CONTROLLER_[0-9]"," socket 0 box 0",0,' "$work/csv")" -eq 4 ] && [ "$(grep -c 'CONTROLLER_[0-9]"," socket 1 box 0",[1-9]' "$work/csv")" -eq 4 ]
}
check "amd_links_of_zen2_carry_the_lines_of_remote_loads" links zen2 LS_REFILLS_FROM_SYS.LS_MABRESP_RMT_DRAM
check "amd_links_of_zen3_carry_the_lines_of_remote_loads" links zen3 LS_DMND_FILLS_FROM_SYS.MEM_IO_REMOTE
moderators() { # a complex reads and writes through its place on the fabric what the controllers move: twice 32 bytes in, 64 bytes out; nothing to or from another socket
	stat zen4 write.dram.bandwidth UMC_CAS_CMD.RD,UMC_CAS_CMD.WR,LOCAL_SOCKET_INF0_INBOUND_DATA_BEATS_CCM0,LOCAL_SOCKET_INF0_OUTBOUND_DATA_BEATS_CCM0,REMOTE_SOCKET_INF0_OUTBOUND_DATA_BEATS_CCM0,LOCAL_SOCKET_OUTBOUND_DATA_BEATS_LINK0 >/dev/null || return 1
	near "$(value LOCAL_SOCKET_INF0_INBOUND_DATA_BEATS_CCM0)" $((2 * $(value UMC_CAS_CMD.RD))) 1 && near "$(value LOCAL_SOCKET_INF0_OUTBOUND_DATA_BEATS_CCM0)" "$(value UMC_CAS_CMD.WR)" 1 &&
		[ "$(value REMOTE_SOCKET_INF0_OUTBOUND_DATA_BEATS_CCM0)" = 0 ] && [ "$(value LOCAL_SOCKET_OUTBOUND_DATA_BEATS_LINK0)" = 0 ]
}
check "amd_moderators_of_zen4_pass_what_memory_moves" moderators
two_sockets() { # the same processor with another socket: what the reader's moderator gets from there goes out over the other's links
	sed -e 's/^sockets = 1/sockets = 2/' -e 's/^brand = .*/brand = two/' tables/machines/zen4.machine >"$work/two.machine" &&
		printf '\n[link]\nbytes_per_second = 60000000000\nclean_ps = 190000\nmodified_ps = 200000\ninvalidate_ps = 190000\n' >>"$work/two.machine" &&
		sed -i 's/^local_ps = .*/&\nremote_ps = 180000/' "$work/two.machine" &&
		stat "$work/two.machine" load.dram_remote.latency "LS_DMND_FILLS_FROM_SYS.DRAM_IO_FAR,REMOTE_SOCKET_INF0_INBOUND_DATA_BEATS_CCM0,$(echo LOCAL_SOCKET_OUTBOUND_DATA_BEATS_LINK{0..7} | tr ' ' ,)" >/dev/null || return 1
	local lines
	lines=$(value LS_DMND_FILLS_FROM_SYS.DRAM_IO_FAR)
	near "$(value REMOTE_SOCKET_INF0_INBOUND_DATA_BEATS_CCM0)" $((2 * lines)) 5 && near "$(grep LINK "$work/csv" | cut -d, -f3 | paste -sd+ | bc)" "$lines" 5 &&
		[ "$(value LOCAL_SOCKET_OUTBOUND_DATA_BEATS_LINK4)" = 0 ]
}
check "amd_links_of_two_sockets_of_zen4_carry_what_comes_from_the_other" two_sockets
fetches() { # MACHINE: fetches sampled by IBS beside the rows of code
	"$s" run --backend sim --machine "$1" --suite frontend.l1i_l2.penalty,frontend.l1i_l3.penalty,tlb.itlb.penalty --out "$work/run" >"$work/fetches" || return 1
	[ "$(grep -cE '^  by IBS fetch +[0-9.]+ cycles +agrees' "$work/fetches")" -eq 3 ] && [ "$(grep -cE '; (L2_HIT|L3_HIT|BEYOND_L2|SECOND_TLB_HIT) 48$' "$work/fetches")" -eq 3 ]
}
for machine in zen2 zen4 zen5; do check "amd_fetches_by_ibs_agree_with_rows_of_code_on_$machine" fetches $machine; done
tap_end
