#!/bin/bash
# The table generator refuses each kind of bad table with file, line, key and what is wrong.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh

good() { python3 tables/generate.py tables "$work/tables.c"; }
check "tables_as_they_are_pass" good
same() { good && cmp -s "$work/tables.c" "$out/gen/tables.c"; }
check "tables_generated_twice_are_equal" same

# Fewer processors, so that each refusal is soon seen: those that are edited below, and one of each kind that tables/not_restored.csv speaks of.
few=" clearwater-forest core2 elkhart-lake goldmont haswell haswell-ep intel lunar-lake-p nehalem-ep pentium4 rocket-lake sapphire-rapids sierra-forest skylake skylake-sp westmere x86-64 zen4 "
cp -r tables "$work/few"
for folder in "$work"/few/processors/*; do
	[ "${folder##*/}" = common ] || [[ $few == *" ${folder##*/} "* ]] || rm -r "$folder"
done
check "tables_of_fewer_processors_pass" python3 tables/generate.py "$work/few" "$work/few.c"

# bad FILE SED-EXPRESSION ERE: a copy of these tables with one edit must be refused by a line that matches.
bad() {
	local copy=$work/copy said file=$1 edit=$2 want=$3
	rm -rf "$copy"; cp -r "$work/few" "$copy"
	sed -i "$edit" "$copy/$file"
	if cmp -s "tables/$file" "$copy/$file"; then echo "# the edit changed nothing"; return 1; fi
	if said=$(python3 tables/generate.py "$copy" "$work/bad.c" 2>&1); then echo "# was not refused"; return 1; fi
	if [ -e "$work/bad.c" ]; then echo "# wrote a file all the same"; return 1; fi
	grep -qE "^tables/$file:[0-9]+: $want" <<<"$said" || { sed 's/^/# /' <<<"$said" | head -5; return 1; }
}
# bad_file FILE ERE: a copy of these tables with an empty file more must be refused by a line that matches.
bad_file() {
	local copy=$work/copy said
	rm -rf "$copy"; cp -r "$work/few" "$copy"
	mkdir -p "$copy/$(dirname "$1")"; : >"$copy/$1"
	if said=$(python3 tables/generate.py "$copy" "$work/bad.c" 2>&1); then echo "# was not refused"; return 1; fi
	grep -qE ": $2" <<<"$said" || { sed 's/^/# /' <<<"$said" | head -5; return 1; }
}
ev=processors/nehalem-ep/events.csv
row='/^UOPS_ISSUED.ANY,/'
check "tables_refuse_bad_name" bad $ev "${row}s/UOPS_ISSUED/uops_issued/" "uops_issued.ANY: is no event name"
check "tables_refuse_bad_number" bad $ev "${row}s/0x0E/0xZZ/" "select: '0xZZ' is no number"
check "tables_refuse_number_out_of_range" bad $ev "${row}s/0x0E/0x1FF/" "select: 0x1FF is outside 0 .. 255"
check "tables_refuse_missing_field" bad $ev "${row}s/,[^,]*\$//" "UOPS_ISSUED.ANY: has 14 fields, must have 15"
check "tables_refuse_missing_source" bad $ev "${row}s/,[^,]*\$/,/" "source: is missing"
check "tables_refuse_event_twice" bad $ev "${row}{p}" "UOPS_ISSUED.ANY: stands twice in nehalem-ep"
check "tables_refuse_edge_without_cmask" bad $ev "${row}s/0x0E,0x01,0,0,0/0x0E,0x01,0,0,1/" "UOPS_ISSUED.ANY: edge without cmask"
check "tables_refuse_inv_without_cmask" bad $ev "${row}s/0x0E,0x01,0,0,0/0x0E,0x01,0,1,0/" "UOPS_ISSUED.ANY: inv without cmask"
check "tables_refuse_event_without_counter" bad $ev "${row}s/0xF/0/" "UOPS_ISSUED.ANY: no counter can count it"
check "tables_refuse_precise_any_thread" bad $ev '/^UOPS_RETIRED.ANY,/s/0xC2,0x01,0,0,0,0,1/0xC2,0x01,0,0,0,1,1/' "UOPS_RETIRED.ANY: any-thread must be 0"
lat='/^MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD_0,/'
check "tables_refuse_latency_below_3" bad $ev "${lat}s/0x3F6,0x3/0x3F6,0x2/" ".*latency threshold 2 is outside 3"
check "tables_refuse_latency_event_without_threshold" bad $ev "${lat}s/0x3F6,0x3/0x1A6,0x3/" ".*needs its threshold in MSR 0x3F6"
check "tables_refuse_extra_msr_that_is_not_writable" bad $ev "${lat}s/,3,0,0,0x8,0x3F6,0x3,/,0,0,0,0x8,0x3F5,0x3,/" ".*0x3 in register 0x3F5 is not writable on nehalem-ep"
check "tables_refuse_characters_beyond_ascii" bad $ev "${row}s/fused-domain/µ-fused/" "what: has a character that is not printable ASCII"
check "tables_refuse_a_second_unit_mask_that_is_not_writable" bad $ev "${row}s/0x0E,0x01/0x0E,0x101/" "UOPS_ISSUED.ANY: the second unit mask 0x1 of register 0x186 is not writable on nehalem-ep"
check "tables_refuse_wrong_columns" bad $ev "s/^name,select/select,name/" "columns: are"
check "tables_refuse_overlapping_msrs" bad processors/nehalem-ep/msrs.csv 's/^0x1A6,0x1A6/0x1A6,0x1C8/' "0x1C8: overlaps tables/processors/nehalem-ep/msrs.csv"
check "tables_refuse_empty_mask" bad processors/nehalem-ep/msrs.csv 's/^0x301,0x301,0xFF/0x301,0x301,0x0/' "mask: 0x0 is outside 1"
check "tables_refuse_reversed_msr_range" bad processors/nehalem-ep/msrs.csv 's/^0x3B0,0x3B7/0x3B7,0x3B0/' "0x3B7: last must be first .. first . 255"
check "tables_refuse_a_register_that_is_neither_put_back_nor_excused" bad processors/nehalem-ep/msrs.csv '/^0x1C8,/s/,1,MSR/,0,MSR/' "0x1C8: is not put back at exit and not on the list not_restored.csv"
check "tables_refuse_an_excuse_for_a_register_that_is_put_back" bad not_restored.csv 's/^0xC1,0xC8,/0xC1,0x189,/' "0xC1: is put back at exit: tables/processors/"
check "tables_refuse_an_excuse_that_nobody_needs" bad not_restored.csv 's/^0x393,0x393,nehalem-ep/0x393,0x393,nehalem-ep core2/' "0x393: no register that may be written is so in core2"
check "tables_refuse_short_data_source_list" bad processors/nehalem-ep/sources.csv '/^15,/d' "code: has 15 rows, must have 16"
check "tables_refuse_data_sources_out_of_order" bad processors/nehalem-ep/sources.csv 's/^14,IO/13,IO/' "13: codes must be 0"
check "tables_refuse_quirk_write_that_is_not_listed" bad processors/common/quirks.txt 's/0x186=0x4300B5/0x185=0x4300B5/' "0x185: is not writable with this value on nehalem-ep"
check "tables_refuse_bad_quirk_write" bad processors/common/quirks.txt 's/0x186=0x4300B5/0x186/' "writes: '0x186' is not MSR=VALUE"
check "tables_refuse_unknown_key" bad processors/nehalem-ep/processor.txt 's/^lbr_pairs/lbr_pears/' "lbr_pears: unknown key; known: title"
check "tables_refuse_key_twice" bad processors/nehalem-ep/processor.txt '/^stlb_4k = 512/{p}' "stlb_4k: stands twice"
check "tables_refuse_a_bit_of_cpuid_that_is_none" bad processors/common/quirks.txt 's/^told = .*/told = 0x7.0.edx.32/' "told: '0x7.0.edx.32' is not LEAF.SUBLEAF.REGISTER.BIT"
check "tables_refuse_overcounts_of_no_event" bad processors/nehalem-ep/quirks.txt 's/L1D_CACHE_LOCK\./L1D_CACHE_LCK./' "overcounts: nehalem-ep has no event that begins with 'L1D_CACHE_LCK.'"
check "tables_refuse_unknown_quirk" bad processors/skylake-sp/processor.txt 's/tsx-force-abort/tsx/' "quirks: no quirk 'tsx'"
check "tables_refuse_unknown_event_file" bad processors/intel/processor.txt 's,common/architectural$,common/architektural,' "events: no file 'tables/processors/common/events/architektural.csv'"
check "tables_refuse_bad_model" bad processors/nehalem-ep/processor.txt 's/0x1A 0x1E/26 0x1E/' "models: '26' is no model"
check "tables_refuse_bad_vendor" bad processors/nehalem-ep/processor.txt '0,/GenuineIntel/s/GenuineIntel/Intel/' "vendor: 'Intel' must have 12 letters"
check "tables_refuse_prefetch_bits_that_are_not_writable" bad processors/nehalem-ep/processor.txt '0,/prefetch_off = 0xF/s//prefetch_off = 0x1F/' "prefetch_off: MSR 0x1A4 is not writable with 0x1F"
check "tables_refuse_a_pair_prefetcher_that_is_not_switched" bad processors/nehalem-ep/processor.txt '0,/prefetch_pair = 0x2/s//prefetch_pair = 0x12/' "prefetch_pair: has bits that prefetch_off does not have"
check "tables_refuse_a_hidden_descriptor" bad processors/haswell-ep/processor.txt 's/^models = 0x3F/models = 0x3F 0x3C/' "haswell-ep: matches processors that haswell matches too, and neither is the more specific"
check "tables_refuse_two_descriptors_of_the_same_processors" bad processors/skylake-sp/processor.txt 's/^models = 0x55/models = 0x3F/;/^steppings/d' "skylake-sp: matches processors that haswell-ep matches too, and neither"
check "tables_refuse_a_file_that_nobody_reads" bad_file processors/core2/event.csv "event.csv: is no file of a processor; known: events.csv"
check "tables_refuse_a_folder_that_is_for_no_processor" bad_file processors/core3/events.csv "core3: is missing: what the folder is for"
xs=processors/haswell-ep/concepts.csv
check "tables_refuse_a_concept_that_is_neither_expressed_nor_none" bad $xs '/^load.hit.l2,/d' "load.hit.l2: haswell-ep neither expresses it nor declares it none"
check "tables_refuse_an_expression_of_no_event" bad $xs 's/^load.hit.l2,MEM_LOAD_UOPS_RETIRED.L2_HIT/load.hit.l2,MEM_LOAD_UOPS_RETIRED.L2_HITS/' "load.hit.l2: haswell-ep has no event 'MEM_LOAD_UOPS_RETIRED.L2_HITS'"
check "tables_refuse_an_unknown_concept" bad $xs 's/^load.hit.l2,/load.hit.l9,/' "load.hit.l9: is no concept of tables/concepts.csv"
check "tables_refuse_a_concept_twice" bad $xs '/^load.hit.l2,/p' "load.hit.l2: stands twice"
check "tables_refuse_none_without_a_reason" bad $xs 's/^load.block.sta,,none,[^,]*,/load.block.sta,,none,,/' "load.block.sta: is none without a reason"
check "tables_refuse_a_superset_without_a_reason" bad $xs '/^load.hit.l2,/s/,exact,/,superset,/' "load.hit.l2: is superset without a reason"
check "tables_refuse_a_reason_that_is_too_long" bad processors/skylake-sp/concepts.csv '/^assist.avx_to_sse,/s/all assists but those of floating point/all assists but those of floating point and of pages and of dirty upper halves/' "assist.avx_to_sse: why has [0-9]+ characters, at most 64"
check "tables_refuse_an_unknown_exactness" bad $xs '/^load.hit.l2,/s/,exact,/,roughly,/' "load.hit.l2: 'roughly' must be one of none, exact"
check "tables_refuse_an_unknown_modifier" bad $xs 's/^load.hit.l2,MEM_LOAD_UOPS_RETIRED.L2_HIT/&:cmask=0/' "load.hit.l2: 'cmask=0' is no modifier"
check "tables_refuse_a_modifier_of_a_fixed_counter" bad processors/nehalem-ep/concepts.csv 's/^cycles,CPU_CLK_UNHALTED.THREAD,/cycles,CPU_CLK_UNHALTED.THREAD:cmask=2:inv,/' "cycles: a fixed counter has no modifiers"
check "tables_refuse_all_others_in_a_processors_own_file" bad $xs 's/^load.hit.l2,/*,/' "[*]: only a file of processors/common may speak of all others"
check "tables_refuse_an_unknown_event_of_the_uncore" bad $xs 's/^channel.read,UNC_M_CAS_COUNT.RD/channel.read,UNC_M_CAS_COUNT.READ/' "channel.read: haswell-ep has no event 'UNC_M_CAS_COUNT.READ'"
check "tables_refuse_an_event_of_the_uncore_without_its_filter" bad $xs 's/^queue.read.inserts,UNC_C_TOR_INSERTS.OPCODE:opc=0x182/queue.read.inserts,UNC_C_TOR_INSERTS.OPCODE/' "queue.read.inserts: UNC_C_TOR_INSERTS.OPCODE needs filter opc"
check "tables_refuse_a_sum_of_core_and_uncore" bad $xs 's/^channel.read,UNC_M_CAS_COUNT.RD/channel.read,UNC_M_CAS_COUNT.RD+INST_RETIRED.ANY/' "channel.read: has events of the core and of the uncore"
check "tables_refuse_a_difference_over_the_uncore" bad $xs 's/^channel.read,UNC_M_CAS_COUNT.RD/channel.read,UNC_M_CAS_COUNT.RD-UNC_M_CAS_COUNT.WR/' "channel.read: an expression over the uncore has no minus"
check "tables_refuse_an_event_that_likwid_spells_as_all" bad processors/nehalem-ep/likwid.csv 's/STORE_BLOCK_AT_RET/STORE_BLOCKS_AT_RET/' "STORE_BLOCKS.AT_RET: is likwid's spelling of every event"
check "tables_refuse_stall_terms_that_count_the_same" bad stall_terms.csv 's/,load.dram.remote,load.dram_remote.penalty,/,load.dram.local,load.dram_remote.penalty,/' "remote_dram: .*: counts .*, which local_dram counts too; take it off"
check "tables_refuse_a_stall_term_of_no_concept" bad stall_terms.csv 's/,load.dram.remote,load/,load.dram.far,load/' "remote_dram: 'load.dram.far' is no concept"
check "tables_refuse_a_stall_term_twice" bad stall_terms.csv '/^walk,/p' "walk: is no name, lower case; or stands twice"
check "tables_refuse_a_stall_term_without_a_bound" bad stall_terms.csv '/^walk,/s/,stalls,/,,/' "walk: bound must be one of stalls, misses, front_end, last"
check "tables_refuse_a_list_without_a_last_resort" bad processors/x86-64/processor.txt 's/^models = any/models = 0x01/' "processors: one folder must match any processor"
check "tables_refuse_offcore_part" bad processors/nehalem-ep/offcore.csv 's/^request,OTHER/reqest,OTHER/' "part: 'reqest' must be request or response"
check "tables_refuse_profile_of_unknown_event" bad processors/nehalem-ep/profiles.txt 's/LOAD_HIT_PRE/LOAD_HIT_POST/' "events: LOAD_HIT_POST: nehalem-ep has no such event"
check "tables_refuse_profile_with_an_event_twice" bad processors/nehalem-ep/profiles.txt 's/LOAD_HIT_PRE/ARITH.CYCLES_DIV_BUSY/' "events: must be at most 64 names, none twice"
check "tables_refuse_freq_lock_of_bits_that_are_not_writable" bad processors/common/freq_locks/turbo.csv 's/^turbo,0x1A0,38,38/turbo,0x1A0,37,37/' "0x1A0: is not writable and put back in bits 37-37 on nehalem-ep"
check "tables_refuse_freq_lock_to_a_narrower_field" bad processors/common/freq_locks/server.csv 's/,8,14,0-6,/,8,14,0-5,/' "to: 0-5 is not a field as wide as 8-14"
check "tables_refuse_freq_lock_to_a_number_too_large" bad processors/common/freq_locks/turbo.csv 's/^turbo,0x199,32,32,1/turbo,0x199,32,32,2/' "to: 2 is outside 0 .. 1"
check "tables_refuse_freq_lock_of_no_clock" bad processors/common/freq_locks/server.csv 's/^uncore_ratio/uncore/' "uncore: is none of turbo, core_ratio, hwp, uncore_ratio"
check "tables_refuse_unknown_freq_locks" bad processors/nehalem-ep/processor.txt 's,^freq_locks = common/turbo,freq_locks = turbot,' "freq_locks: no file 'tables/processors/turbot/freq_locks.csv'"
check "tables_refuse_tlb_descriptor_twice" bad tlb_descriptors.csv 's/^0x05,/0x03,/' "0x03: stands twice"
tap_end
