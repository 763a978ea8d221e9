#!/bin/bash
# Every derived quantity of the uncore that `stallmeter stat -M` prints is that of the simulated machine: what the machine file says of latencies, links
# and clocks, and what the workload does by the units of its work and the time that it took; no uncore counter is asked. On chases and on streams.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/events.sh
s=${OUT:-out}/stallmeter

# key of a section of a machine file
key() { sed -n "/^\[$2\]/,/^\[/p" "tables/machines/$1.machine" | sed -n "s/^$3 = //p"; } # MACHINE SECTION KEY
# METRIC TRUTH [PERCENT], one a line on standard input; n is the units of work, i the instructions, t the seconds. What is not named is 0: less than a
# fiftieth of 64 bytes or one count a unit, of a cycle or of 1. `-`: unknown, nothing to divide by. `any`: stands below another workload.
holds() { # MACHINE WORKLOAD
	cat >"$work/truth"
	"$s" stat --machine "$1" -M "${3:-all}" -e INST_RETIRED.ANY_P --windows 2 -w "$2" --format csv >"$work/counts" || return 1
	awk -F'[,"]+' -v truth="$work/truth" -v dram="$(key "$1" dram local_ps)" -v far="$(key "$1" dram remote_ps)" -v l3="$(key "$1" l3 uncore_cycles)" \
		-v hz="$(($(key "$1" clock bus_hz_times_3) / 3 * $(key "$1" clock uncore_ratio)))" -v mts="$(key "$1" uncore qpi_mts)" '
		function of(x) { gsub(/dram/, dram * 1e-12 * hz, x); gsub(/far/, far * 1e-12 * hz, x); gsub(/l3/, l3, x); gsub(/mts/, mts / 1000, x); gsub(/n/, n, x); gsub(/i/, i, x); gsub(/t/, t, x); return product(x) }
		function product(x, part, count, k, v) { count = split(x, part, "+"); if (count > 1) { for (k = 1; k <= count; k++) v += product(part[k]); return v }
			count = split(x, part, "/"); if (count > 1) { v = product(part[1]); for (k = 2; k <= count; k++) v /= product(part[k]); return v }
			v = 1; count = split(x, part, "*"); for (k = 1; k <= count; k++) v *= part[k]; return v }
		BEGIN { while ((getline line < truth) > 0) { split(line, w, " "); say[w[1]] = w[2]; slack[w[1]] = w[3] == "" ? 2 : w[3] } }
		NR == 2 { i = $3; n = $3 / $5; t = $3 / $7; next }
		NR > 2 {
			name = $2; unknown = $3 != "metric"; value = $4; unit = $5; seen[name]
			if (name in say && say[name] == "any") next
			if (unknown || (name in say && say[name] == "-")) {
				if ($3 ~ /not modelled/ || (name in say && say[name] == "-" && unknown)) next
				print "# " name ": " $3 " " $4; bad = 1; next
			}
			if (!(name in say)) { most = 0.02 * (unit == "bytes" ? 64 * n : unit == "count" ? n : 1); if (value > most) { print "# " name ": " value " is not 0"; bad = 1 } else zero++; next }
			want = of(say[name]); exact++
			if (value < want * (1 - slack[name] / 100) - 0.002 || value > want * (1 + slack[name] / 100) + 0.002) { print "# " name ": " value ", not " want; bad = 1 }
		}
		END { for (name in say) if (!(name in seen)) { print "# " name " is not printed"; bad = 1 }
			print "# " exact + 0 " are as the machine has them, " zero + 0 " are 0"; exit bad || exact < 5 }' "$work/counts"
}
# Reads that miss the L3 and are answered by their own node, one at a time.
haswell_misses() { cat <<-END
	cbo.AVG_INGRESS_LATENCY_WHEN_NE -
	cbo.AVG_TOR_DRD_HIT_LATENCY -
	cbo.AVG_TOR_DRD_REM_MISS_LATENCY -
	cbo.LLC_RFO_MISS_PCT -
	cbo.AVG_TOR_DRDS_MISS_WHEN_NE 1
	cbo.AVG_TOR_DRDS_WHEN_NE 1
	cbo.AVG_TOR_DRD_LATENCY l3+dram
	cbo.AVG_TOR_DRD_LOC_MISS_LATENCY l3+dram
	cbo.AVG_TOR_DRD_MISS_LATENCY l3+dram
	cbo.LLC_DRD_MISS_PCT 1
	END
}
haswell_chase() { { haswell_misses; cat; } <<-END | holds haswell-ep load.dram_local
	cbo.LLC_MPI 2*n/i
	sbo.RING_THRU_DNODD_BYTES 32*n
	sbo.RING_THRU_UPEVEN_BYTES 64*n
	ha.PCT_RD_REQUESTS 1
	imc.MEM_BW_READS 64*n
	imc.MEM_BW_TOTAL 64*n
	imc.PCT_CYCLES_DRAM_RANKx_IN_CKE 1
	imc.PCT_REQUESTS_PAGE_EMPTY 1
	qpi.PCT_LINK_FULL_POWER_CYCLES 1
	qpi.QPI_LINK_BW 16*n
	qpi.QPI_SPEED mts
	r2pcie.RING_THRU_UP_BYTES 64*n
	END
}
haswell_remote_chase() { holds haswell-ep load.dram_remote <<-END
	cbo.AVG_INGRESS_LATENCY_WHEN_NE -
	cbo.AVG_TOR_DRD_HIT_LATENCY -
	cbo.LLC_RFO_MISS_PCT -
	cbo.AVG_TOR_DRDS_MISS_WHEN_NE 1
	cbo.AVG_TOR_DRDS_WHEN_NE 1
	cbo.AVG_TOR_DRD_LATENCY l3+far
	cbo.AVG_TOR_DRD_LOC_MISS_LATENCY any
	cbo.AVG_TOR_DRD_REM_MISS_LATENCY l3+far
	cbo.AVG_TOR_DRD_MISS_LATENCY l3+far
	cbo.LLC_DRD_MISS_PCT 1
	cbo.LLC_MPI 2*n/i
	sbo.RING_THRU_DNODD_BYTES any
	sbo.RING_THRU_UPEVEN_BYTES any
	sbo.RING_THRU_UPODD_BYTES any
	ha.PCT_RD_REQUESTS 1
	imc.MEM_BW_READS 64*n
	imc.MEM_BW_TOTAL 64*n
	imc.PCT_CYCLES_DRAM_RANKx_IN_CKE 1
	imc.PCT_REQUESTS_PAGE_EMPTY 1
	qpi.PCT_LINK_FULL_POWER_CYCLES 1
	qpi.DATA_FROM_QPI 64*n
	qpi.DATA_FROM_QPI_TO_LLC 64*n
	qpi.DRS_DATA_MSGS_FROM_QPI 64*n
	qpi.DRS_FULL_CACHELINE_MSGS_FROM_QPI 64*n
	qpi.DRS_F_OR_E_FROM_QPI 64*n
	qpi.QPI_DATA_BW 64*n
	qpi.QPI_LINK_BW 88*n
	qpi.QPI_SPEED mts
	r2pcie.RING_THRU_UP_BYTES any
	END
}
haswell_to_node() { holds haswell-ep load.dram_remote "qpi.DATA_FROM_QPI_TO_NODEx:node=0,qpi.DRS_DataC_FROM_QPI_TO_NODEx:node=0,qpi.DATA_FROM_QPI,qpi.QPI_DATA_BW,imc.MEM_BW_READS" <<-END
	qpi.DATA_FROM_QPI_TO_NODEx 64*n
	qpi.DRS_DataC_FROM_QPI_TO_NODEx any
	qpi.DATA_FROM_QPI 64*n
	qpi.QPI_DATA_BW 64*n
	imc.MEM_BW_READS 64*n
	qpi.DRS_DataC_FROM_QPI_TO_NODEx 64*n
	END
}
haswell_stream() { { haswell_misses; cat; } <<-END | holds haswell-ep copy.dram_nt
	cbo.LLC_MPI 8*n/i
	cbo.STREAMED_FULL_STORES 4*n
	cbo.RING_THRU_DN_BYTES any
	cbo.RING_THRU_UP_BYTES any
	sbo.RING_THRU_DNEVEN_BYTES any
	sbo.RING_THRU_DNODD_BYTES any
	sbo.RING_THRU_UPEVEN_BYTES any
	sbo.RING_THRU_UPODD_BYTES any
	ha.PCT_RD_REQUESTS 0.5
	ha.PCT_WR_REQUESTS 0.5
	imc.MEM_BW_READS 256*n
	imc.MEM_BW_WRITES 256*n
	imc.MEM_BW_TOTAL 512*n
	imc.PCT_CYCLES_DRAM_RANKx_IN_CKE 1
	imc.PCT_REQUESTS_PAGE_EMPTY 1
	qpi.PCT_LINK_FULL_POWER_CYCLES 1
	qpi.QPI_LINK_BW 64*n
	qpi.QPI_LINK_UTIL any
	qpi.QPI_SPEED mts
	r2pcie.CYC_USED_UP any
	r2pcie.RING_THRU_UP_BYTES 256*n
	r2pcie.RING_THRU_DN_BYTES any
	END
}
# A lone read keeps its channel for 64 bytes / its rate, 17.6 cycles of the core: the machine has whole ones, 17, of which the uncore has 20 for 22.
nehalem_chase() { holds nehalem-ep load.dram_local <<-END
	gq.READ_RESIDENCE l3+dram
	gq.READ_L3_RESPONSE l3
	gq.READ_MISS dram
	gq.WRITE_RESIDENCE l3
	gq.PEER_RESIDENCE l3
	gq.READ_LINK -
	qhl.LOCAL_RESIDENCE dram
	qhl.REMOTE_RESIDENCE -
	qhl.LOCAL_BUSY dram
	qhl.REMOTE_BUSY -
	imc.CH0_READ_RESIDENCE 17*20/22 4
	imc.CH1_READ_RESIDENCE 17*20/22 4
	imc.CH2_READ_RESIDENCE 17*20/22 4
	imc.CH0_READ_RATE any
	imc.CH1_READ_RATE any
	imc.CH2_READ_RATE any
	END
}
nehalem_remote_chase() { holds nehalem-ep load.dram_remote <<-END
	gq.READ_RESIDENCE l3+far
	gq.READ_L3_RESPONSE l3
	gq.READ_MISS far
	gq.WRITE_RESIDENCE l3
	gq.PEER_RESIDENCE l3
	gq.READ_LINK far
	qhl.LOCAL_RESIDENCE any
	qhl.LOCAL_BUSY any
	qhl.REMOTE_RESIDENCE dram
	qhl.REMOTE_BUSY dram
	imc.CH0_READ_RESIDENCE 17*20/22 4
	imc.CH1_READ_RESIDENCE 17*20/22 4
	imc.CH2_READ_RESIDENCE 17*20/22 4
	imc.CH0_READ_RATE any
	imc.CH1_READ_RATE any
	imc.CH2_READ_RATE any
	END
}
nehalem_stream() { holds nehalem-ep copy.dram_nt <<-END
	gq.READ_RESIDENCE any
	gq.READ_MISS any
	gq.READ_L3_RESPONSE l3
	gq.WRITE_RESIDENCE l3
	gq.PEER_RESIDENCE l3
	gq.READ_LINK -
	qhl.LOCAL_RESIDENCE any
	qhl.LOCAL_BUSY any
	qhl.REMOTE_RESIDENCE -
	qhl.REMOTE_BUSY -
	imc.CH0_READ_RESIDENCE any
	imc.CH1_READ_RESIDENCE any
	imc.CH2_READ_RESIDENCE any
	imc.CH0_READ_RATE 256*n/3/t/1000000
	imc.CH1_READ_RATE 256*n/3/t/1000000
	imc.CH2_READ_RATE 256*n/3/t/1000000
	imc.CH0_WRITE_RATE 256*n/3/t/1000000
	imc.CH1_WRITE_RATE 256*n/3/t/1000000
	imc.CH2_WRITE_RATE 256*n/3/t/1000000
	imc.UNCACHED_WRITES 4*n
	END
}
# A read under load, taken apart by the boxes that hold it: what the table holds it longer than its home is the L3's lookup, as without load, and for
# a home in another socket the link; what the home holds it longer than DRAM takes is the queue of its channel, which is then rarely empty.
loaded_read() { # WORKLOAD LOCAL|REMOTE WAY HOME CONDITION: shares of the table's residence in uncore cycles; w, h, q: the way, at the home, cycles not empty
	"$s" stat --machine haswell-ep --windows 2 --format csv -w "$1" \
		-e "UNC_C_TOR_OCCUPANCY.MISS_$2_OPCODE:opc=0x182,UNC_C_TOR_INSERTS.MISS_$2_OPCODE:opc=0x182,UNC_H_TRACKER_OCCUPANCY.READS_$2,UNC_H_REQUESTS.READS_$2,UNC_M_RPQ_CYCLES_NE,UNC_M_DCLOCKTICKS" >"$work/counts" || return 1
	awk -F'"' -v way="$3" -v dram="$(($(key haswell-ep dram local_ps) * 23 / 10000))" 'NR > 1 { split($5, cell, ","); v[NR - 1] = cell[2] }
		END { h = v[3] / v[4]; w = v[1] / v[2] - h; q = v[5] / v[6]; print "# way " w " home " h " queue not empty " q; exit !(w > way * 0.94 - 2 && w < way * 1.06 + 2 && ('"$4"')) }' "$work/counts"
}
lookup=$(key haswell-ep l3 uncore_cycles) link=$((($(key haswell-ep dram remote_ps) - $(key haswell-ep dram local_ps)) * 23 / 10000))
loaded_reads() {
	loaded_read load.dram_local LOCAL "$lookup" 'h > dram * 0.98 && h < dram * 1.02 && q < 0.01' &&
		loaded_read read.dram_all LOCAL "$lookup" 'h > dram * 2 && q > 0.5' &&
		loaded_read load.dram_remote REMOTE "$((lookup + link))" 'h > dram * 0.98 && h < dram * 1.02'
}
check "reads_under_load_taken_apart" loaded_reads
check "metrics_of_a_haswell_chase" haswell_chase
check "metrics_of_a_haswell_chase_in_the_other_node" haswell_remote_chase
check "metrics_of_a_haswell_link_by_node" haswell_to_node
check "metrics_of_a_haswell_stream" haswell_stream
check "metrics_of_a_nehalem_chase" nehalem_chase
check "metrics_of_a_nehalem_chase_in_the_other_node" nehalem_remote_chase
check "metrics_of_a_nehalem_stream" nehalem_stream
tap_end
