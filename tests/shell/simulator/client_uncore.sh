#!/bin/bash
# `stallmeter stat`, `list --events`, `plan` and `run` on clients' uncore: slices of the L3, requests to memory, the memory controller's lines in memory-mapped
# registers agree with what one row's loads and one stream do.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/events.sh
s=${OUT:-out}/stallmeter

count() { # MACHINE ROW EVENTS [OPTION...]
	local machine=$1 row=$2 events=$3
	shift 3
	"$s" stat --machine "$machine" --windows 2 --format csv -w "$row" -e "$events" "$@" >"$work/csv" || return 1
}
value() { # EVENT: of the last list
	awk -F, -v want="\"$1\"" '$1 == want { print $3; found = 1; exit } END { exit !found }' "$work/csv"
}
near() { # VALUE WANTED PERCENT
	awk -v a="$1" -v b="$2" -v p="$3" 'BEGIN { d = a - b; exit !(a != "" && b > 0 && (d < 0 ? -d : d) * 100 <= b * p) }' || { echo "# $1 for $2"; return 1; }
}

# Every name of the boxes is taken; what the machine's map knows counts.
every_event() { # MACHINE NAMES
	"$s" list --events "$1" | sed -n '/^event of box/,$p' | awk '/^(UNC_|[A-Z]+_[A-Z]+ )/ { print $1 }' >"$work/names"
	[ "$(wc -l <"$work/names")" -eq "$2" ] && count "$1" load.dram_local.latency "$(paste -sd, "$work/names")" && [ "$(tail -n +2 "$work/csv" | wc -l)" -eq "$2" ] &&
		[ "$(grep -c '^"UNC_CBO_CACHE_LOOKUP[^,]*","",[1-9]' "$work/csv")" -ge 4 ] && [ "$(grep -c '^"UNC_ARB[^,]*","",[1-9]' "$work/csv")" -ge 3 ]
}
check "client_every_event_of_sandy_bridge_is_taken" every_event sandy-bridge 39
check "client_every_event_of_skylake_is_taken" every_event skylake 28

lines_from_memory() { # MACHINE LOADS
	count "$1" load.dram_local.latency "imc.data_reads,imc.data_writes,imc.ia_requests,cbo.CACHE_LOOKUP.READ_I,arb.TRK_REQUESTS.ALL,arb.TRK_OCCUPANCY.ALL,clock.UNC_CLOCK.SOCKET,$2" || return 1
	local reads
	reads=$(value DATA_READS)
	near "$reads" "$(value "$2")" 4 && near "$(value UNC_CBO_CACHE_LOOKUP.READ_I)" "$reads" 2 && near "$(value UNC_ARB_TRK_REQUESTS.ALL)" "$reads" 2 &&
		near "$(value IA_REQUESTS)" "$reads" 2 && [ "$(value DATA_WRITES)" -lt $((reads / 20)) ] && [ "$(value UNC_ARB_TRK_OCCUPANCY.ALL)" -lt "$(value UNC_CLOCK.SOCKET)" ]
}
check "client_lines_that_loads_get_from_memory_on_sandy_bridge" lines_from_memory sandy-bridge OFFCORE_RESPONSE.DEMAND_DATA_RD.ANY_RESPONSE
check "client_lines_that_loads_get_from_memory_on_skylake" lines_from_memory skylake MEM_LOAD_RETIRED.L3_MISS

# A read's time beyond the L3 is the machine's: 60 ns and 65 ns.
metrics() { # MACHINE NS
	"$s" stat --machine "$1" --windows 2 -w load.dram_local.latency -M arb.READ_LATENCY,arb.CLOCK,imc.READ_PART,imc.READ_BANDWIDTH >"$work/metrics" || return 1
	near "$(awk '$3 == "arb.READ_LATENCY" && $2 == "ns" { print $1 }' "$work/metrics")" "$2" 2 && near "$(awk '$3 == "arb.CLOCK" && $2 == "MHz" { print $1 }' "$work/metrics")" 3400 1 &&
		near "$(awk '$3 == "imc.READ_PART" { print $1 }' "$work/metrics")" 100 2 && awk '$3 == "imc.READ_BANDWIDTH" && $2 == "GB/s" && $1 > 0.5 && $1 < 2 { found = 1 } END { exit !found }' "$work/metrics"
}
check "client_metrics_of_sandy_bridge" metrics sandy-bridge 65
check "client_metrics_of_skylake" metrics skylake 60

# One third of a triad's lines is written, and all of it is what the row says.
stream() { # MACHINE
	"$s" stat --machine "$1" --windows 2 -w triad.dram -M imc.BANDWIDTH,imc.READ_PART >"$work/stream" || return 1
	near "$(awk '$3 == "imc.READ_PART" { print $1 }' "$work/stream")" 75 3
}
check "client_stream_reads_three_lines_and_writes_one" stream sandy-bridge

# Alder Lake: two controllers with a channel each; each load of a chase is a read that the arbiter sees, and one of the two says so by both of its ways of counting.
alder_lake() {
	"$s" list --events alder-lake-p | sed -n '/^event of box/,$p' | awk '/^(UNC_|[A-Z]+_[A-Z]+ )/ { print $1 }' | sort -u >"$work/names"
	[ "$(wc -l <"$work/names")" -eq 35 ] && count alder-lake load.dram_local.latency "$(head -20 "$work/names" | paste -sd,)" && cat "$work/csv" >"$work/both" && count alder-lake load.dram_local.latency "$(tail -n +21 "$work/names" | paste -sd,)" &&
		cat "$work/csv" >>"$work/both" && [ "$(grep -c '^"UNC' "$work/both")" -eq 35 ] && ! grep -q refused "$work/both" && cp "$work/both" "$work/csv" || return 1
	local reads free
	reads=$(value UNC_M_CAS_COUNT_RD) free=$(($(value UNC_MC0_RDCAS_COUNT_FREERUN) + $(value UNC_MC1_RDCAS_COUNT_FREERUN)))
	near "$reads" "$(value UNC_ARB_TRK_REQUESTS.RD)" 4 && near "$free" "$reads" 2 && [ "$(value UNC_MC0_RDCAS_COUNT_FREERUN)" -gt $((reads / 3)) ] && [ "$(value UNC_M_CLOCKTICKS)" -gt "$reads" ] && [ "$(value UNC_CLOCK.SOCKET)" -gt "$reads" ]
}
check "client_every_event_of_alder_lake_is_taken_and_its_reads_agree" alder_lake
alder_lake_methods() {
	"$s" run --backend sim --machine alder-lake --suite load.dram_local.latency,triad.dram.bandwidth --out "$work/run_adl" >"$work/table" || return 1
	grep -qE '^  in the uncore.* ok$' "$work/table" && grep -E '^  channels of memory, socket 0: read [0-9.]+ [0-9.]+, written [0-9.]+ [0-9.]+ GB/s$' "$work/table"
}
check "client_rows_have_the_controllers_lines_on_alder_lake" alder_lake_methods
# Tiger Lake: as Alder Lake's, but their counters always run, on -U (layout 6) and -H (5) at different places; the arbiter's registers are Rocket Lake's.
tiger_lake() { # MODEL LAYOUT
	sed -E "s/^model = .*/model = $1/; s/^small = .*/small = none/; s/^small_cores = .*/small_cores = 0/; s/^layout = .*/layout = $2/; s/^events = alder-lake-p/events = ice-lake-sp/" tables/machines/alder-lake.machine >"$work/tiger.machine"
	count "$work/tiger.machine" load.dram_local.latency UNC_MC0_RDCAS_COUNT_FREERUN,UNC_MC1_RDCAS_COUNT_FREERUN,UNC_MC0_TOTAL_REQCOUNT_FREERUN,UNC_ARB_TRK_REQUESTS.RD || return 1
	local first
	first=$(value UNC_MC0_RDCAS_COUNT_FREERUN)
	near "$((first + $(value UNC_MC1_RDCAS_COUNT_FREERUN)))" "$(value UNC_ARB_TRK_REQUESTS.RD)" 4 && near "$(value UNC_MC0_TOTAL_REQCOUNT_FREERUN)" "$first" 4 || return 1
	"$s" run --backend sim --machine "$work/tiger.machine" --suite triad.dram.bandwidth --out "$work/run_tgl" >"$work/table" || { cat "$work/table"; return 1; }
	grep -E '^  channels of memory, socket 0: read [0-9.]+ [0-9.]+, written [0-9.]+ [0-9.]+ GB/s$' "$work/table"
}
check "client_lines_and_rows_of_tiger_lake_u" tiger_lake 140 6
check "client_lines_and_rows_of_tiger_lake_h" tiger_lake 141 5
lists() { [ "$("$s" list --events "$1" | sed -n '/^event of box/,$p' | grep -cE '^UNC_')" -eq "$2" ] || { "$s" list --events "$1" | grep -cE '^UNC_'; return 1; }; }
check "client_list_has_meteor_lake_s_boxes" lists meteor-lake-p 28
check "client_list_has_arrow_lake_s_boxes" lists arrow-lake-p 26
check "client_list_has_lunar_lake_s_boxes" lists lunar-lake-p 27

window_closed() {
	sed '/^\[uncore\]$/a window = 0' tables/machines/skylake.machine >"$work/closed.machine"
	"$s" stat --machine "$work/closed.machine" -w load.dram_local.latency -e imc.data_reads 2>"$work/err"
	[ $? -ne 0 ] && grep -q 'no window in memory shows its registers' "$work/err" && count "$work/closed.machine" load.dram_local.latency arb.TRK_REQUESTS.DATA_READ &&
		[ "$(value UNC_ARB_TRK_REQUESTS.DATA_READ)" -gt 1000 ]
}
check "client_says_that_the_memory_controllers_window_is_closed" window_closed

planned() {
	"$s" plan --machine skylake --suite load.dram_local.latency >"$work/plan" || return 1
	grep -qE '^  core 0 +0x3B2 +<- 0x400280 +box arb: select of counter 0 \[SDM.*\]: UNC_ARB_TRK_OCCUPANCY.DATA_READ \[perfmon SKL\]$' "$work/plan" &&
		grep -qE '^  core 0 +0xE01 +<- 0x2000001F +starts all counters of the socket \[SDM' "$work/plan" && grep -qE '^  core 0 +0xE01 +back to 0x0 at the end$' "$work/plan"
}
check "client_plan_names_each_register" planned

# By the arbiter beside the chase, and the controller's lines beside a stream.
methods() { # MACHINE NS*CORE-GHZ
	"$s" run --backend sim --machine "$1" --suite load.dram_local.latency,triad.dram.bandwidth --out "$work/run_$1" >"$work/table" || return 1
	near "$(awk '/^  in the uncore/ && $NF == "ok" { print $5 }' "$work/table")" "$2" 2 && grep -qE '^  channels of memory, socket 0: read [0-9.]+, written [0-9.]+ GB/s$' "$work/table"
}
check "client_rows_have_the_arbiters_time_and_the_controllers_lines_on_skylake" methods skylake 204
check "client_rows_have_the_arbiters_time_and_the_controllers_lines_on_ivy_bridge" methods ivy-bridge 221
tap_end
