/* bench/catalogue/pair_proofs.h: what proves the rows of bench/catalogue/pairs.def; included by bench/catalogue/rows.c alone.
 *
 * Counts are test less baseline, for each event that the loop makes. One set a generation: Nehalem, then the
 * names of Haswell and Skylake, then Core 2, then NetBurst. Where an event counts cycles, there must be at least one each. */
#ifndef BENCH_PAIR_PROOFS_H
#define BENCH_PAIR_PROOFS_H

#define SOME_CYCLES 900, 1000000, false
#define NO_MORE -20, 20, false        /* the baseline has as many */
#define END_OF_SETS { { { "", 0, 0, false } } }

/* A gather: a line of data comes in for each element, whoever asked for it. */
static const struct row_proof_set proof_gather[] = {
	{ { { "L1D.REPL", 950, 1100, false } } },
	{ { { "L1D.REPLACEMENT", 950, 1100, false } } },
	{ { { "L1D_REPL", 950, 1100, false } } },
	{ { { "BSQ.L2_READ", 950, 1100, false } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_forward[] = {
	{ { { "MEM_LOAD_RETIRED.L1D_HIT", ONCE }, { "STORE_BLOCKS.AT_RET", NEVER } } },
	{ { { "MEM_LOAD_UOPS_RETIRED.L1_HIT", ONCE }, { "LD_BLOCKS.STORE_FORWARD", NEVER } } },
	{ { { "MEM_LOAD_RETIRED.L1_HIT", ONCE }, { "LD_BLOCKS.STORE_FORWARD", NEVER } } },
	{ { { "INST_RETIRED.LOADS", ONCE }, { "LOAD_BLOCK.OVERLAP_STORE", NEVER } } },
	{ { { "LOADS_RETIRED", ONCE }, { "MOB_REPLAY.PARTIAL_DATA", NEVER } } },
	END_OF_SETS
};
static const struct row_proof_set proof_forward_fail[] = {
	{ { { "STORE_BLOCKS.AT_RET", ONCE } } },
	{ { { "LD_BLOCKS.STORE_FORWARD", ONCE } } },
	{ { { "LOAD_BLOCK.OVERLAP_STORE", ONCE } } },
	{ { { "MOB_REPLAY.PARTIAL_DATA", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_alias[] = {
	{ { { "PARTIAL_ADDRESS_ALIAS", ONCE } } },
	{ { { "LD_BLOCKS_PARTIAL.ADDRESS_ALIAS", ONCE } } },
	{ { { "LOAD_BLOCK.OVERLAP_STORE", ONCE } } },
	END_OF_SETS
};
/* Each eighth is forwarded instead. */
static const struct row_proof_set proof_unknown_address[] = {
	/* A predictor that trusts after fewer than eight loads lets one in eight go ahead, which is cleared; forwarded it counts here or not. */
	{ { { "LOAD_DISPATCH.MOB", 800, 1010, false }, { "MACHINE_CLEARS.MEM_ORDER", NEVER } } },
	{ { { "LOAD_BLOCK.STA", 950, 1010, false } } },
	{ { { "MOB_REPLAY.NO_STA", 950, 1010, false } } },
	END_OF_SETS
};
static const struct row_proof_set proof_disambiguation[] = {
	{ { { "MEMORY_DISAMBIGUATION.RESET", ONCE }, { "MACHINE_CLEARS.MEM_ORDER", ONCE } } },
	{ { { "MACHINE_CLEARS.MEMORY_ORDERING", ONCE } } },
	{ { { "MACHINE_CLEAR.MEMORY", ONCE } } },
	{ { { "MEMORY_DISAMBIGUATION.RESET", ONCE }, { "MACHINE_NUKES.MEM_ORDER", ONCE } } },
	END_OF_SETS
};
/* Nehalem has no documented event for them: a split access asks the L1 twice. */
static const struct row_proof_set proof_split_load[] = {
	{ { { "L1D_ALL_REF.ANY", ONCE } } },
	{ { { "MEM_UOPS_RETIRED.SPLIT_LOADS", ONCE } } },
	{ { { "MEM_INST_RETIRED.SPLIT_LOADS", ONCE } } },
	{ { { "L1D_SPLIT.LOADS", ONCE } } },
	{ { { "SPLIT_LOAD_RETIRED", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_split_store[] = {
	{ { { "L1D_ALL_REF.ANY", ONCE } } },
	{ { { "MEM_UOPS_RETIRED.SPLIT_STORES", ONCE } } },
	{ { { "MEM_INST_RETIRED.SPLIT_STORES", ONCE } } },
	{ { { "L1D_SPLIT.STORES", ONCE } } },
	{ { { "SPLIT_STORE_RETIRED", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_lcp[] = {
	{ { { "ILD_STALL.LCP", SOME_CYCLES } } },
	{ { { "ILD_STALL", SOME_CYCLES } } },
	END_OF_SETS
};
/* As many as random choices make be foreseen wrongly by chance, as far as so few tell. */
#define BY_CHANCE 850, 1150, false
static const struct row_proof_set proof_mispredict_cond[] = {
	{ { { "BR_MISP_EXEC.COND", BY_CHANCE } } },
	{ { { "BR_MISP_RETIRED.CONDITIONAL", BY_CHANCE } } },
	{ { { "BR_CND_MISSP_EXEC", BY_CHANCE } } },
	{ { { "MISPRED_BRANCH_RETIRED", BY_CHANCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_mispredict_indirect[] = {
	{ { { "BR_MISP_EXEC.INDIRECT_NON_CALL", BY_CHANCE } } },
	{ { { "BR_MISP_RETIRED.ALL_BRANCHES", BY_CHANCE } } },
	{ { { "BR_IND_MISSP_EXEC", BY_CHANCE } } },
	{ { { "MISPRED_BRANCH_RETIRED", BY_CHANCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_mispredict_return[] = {
	{ { { "BR_MISP_EXEC.RETURN_NEAR", ONCE } } },
	{ { { "BR_MISP_RETIRED.ALL_BRANCHES", ONCE } } },
	{ { { "BR_RET_MISSP_EXEC", ONCE } } },
	{ { { "MISPRED_BRANCH_RETIRED", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_divider[] = {
	{ { { "ARITH.CYCLES_DIV_BUSY", SOME_CYCLES } } },
	{ { { "ARITH.DIVIDER_UOPS", SOME_CYCLES } } },
	{ { { "ARITH.DIVIDER_ACTIVE", SOME_CYCLES } } },
	{ { { "CYCLES_DIV_BUSY", SOME_CYCLES } } },
	END_OF_SETS
};
static const struct row_proof_set proof_assist[] = {
	{ { { "FP_ASSIST.ALL", ONCE } } },
	{ { { "FP_ASSIST.ANY", ONCE } } },
	{ { { "FP_ASSIST", ONCE } } },
	END_OF_SETS
};
/* Of two loads of a line one brings it and the other finds it on its way. */
static const struct row_proof_set proof_fill_buffer[] = {
	{ { { "MEM_UNCORE_RETIRED.LOCAL_DRAM", ONCE }, { "MEM_LOAD_RETIRED.HIT_LFB", ONCE }, { "DTLB_LOAD_MISSES.ANY", NEVER } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", ONCE }, { "MEM_LOAD_UOPS_RETIRED.HIT_LFB", ONCE } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", ONCE }, { "MEM_LOAD_RETIRED.FB_HIT", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", ONCE } } },
	{ { { "L2_LOAD_MISS_RETIRED", ONCE } } },
	END_OF_SETS
};
/* Lines that the L2 takes in, loaded or brought beside: one for each entry that a turn takes. */
static const struct row_proof_set proof_pairs[] = {
	{ { { "L2_LINES_IN.ANY", ONCE }, { "LONGEST_LAT_CACHE.MISS", ONCE } } },
	{ { { "L2_LINES_IN.ALL", ONCE }, { "LONGEST_LAT_CACHE.MISS", ONCE } } },
	{ { { "L2_LINES_IN.SELF.ANY", ONCE } } },
	{ { { "BSQ.L2_READ_MISS", ONCE } } },
	END_OF_SETS
};
/* Every line that comes is one that was loaded: a prefetcher that is on would take places of them. */
static const struct row_proof_set proof_dram_alone[] = {
	{ { { "MEM_UNCORE_RETIRED.LOCAL_DRAM", ONCE }, { "DTLB_LOAD_MISSES.ANY", NEVER }, { "L2_LINES_IN.ANY", ONCE } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", ONCE }, { "L2_LINES_IN.ALL", ONCE } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", ONCE }, { "L2_LINES_IN.ALL", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", ONCE }, { "L2_LINES_IN.SELF.ANY", ONCE } } },
	{ { { "LONGEST_LAT_CACHE.MISS", ONCE } } },
	{ { { "L2_LOAD_MISS_RETIRED", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_no_assist[] = {
	{ { { "FP_ASSIST.ALL", NEVER } } },
	{ { { "FP_ASSIST.ANY", NEVER } } },
	{ { { "FP_ASSIST", NEVER } } },
	END_OF_SETS
};
/* Eight instructions a line, each decoded anew. */
static const struct row_proof_set proof_decode[] = {
	{ { { "MACRO_INSTS.DECODED", 7900, 8100, false } } },
	{ { { "IDQ.MITE_UOPS", 7900, 8100, false } } },
	{ { { "UOPS_FROM_BUILD", 7900, 8100, false } } },
	END_OF_SETS
};
static const struct row_proof_set proof_microcode[] = {
	{ { { "IDQ.MS_SWITCHES", ONCE } } },
	{ { { "UOPS_DECODED.MS", SOME_CYCLES } } },
	{ { { "UOPS_FROM_ROM", SOME_CYCLES } } },
	{ { { "MACRO_INSTS.CISC_DECODED", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_transition[] = {
	{ { { "OTHER_ASSISTS.AVX_TO_SSE", 490, 510, false }, { "OTHER_ASSISTS.SSE_TO_AVX", 490, 510, false } } },
	END_OF_SETS
};
static const struct row_proof_set proof_partial_flags[] = {
	{ { { "RAT_STALLS.FLAGS", SOME_CYCLES } } },
	END_OF_SETS
};
static const struct row_proof_set proof_partial_register[] = {
	{ { { "RAT_STALLS.REGISTERS", SOME_CYCLES } } },
	{ { { "RAT_STALLS.PARTIAL_CYCLES", SOME_CYCLES } } },
	END_OF_SETS
};
/* Writing a control word is microcode; whether allocation waits for it too depends on the generation. Haswell and
 * Skylake need few uops, one or two of them on port 0, where no load has any (instruction_tables.pdf, LDMXCSR). */
#define ON_PORT_0 900, 2100, false
static const struct row_proof_set proof_mxcsr[] = {
	{ { { "UOPS_DECODED.MS", SOME_CYCLES } } },
	{ { { "UOPS_EXECUTED_PORT.PORT_0", ON_PORT_0 } } },
	{ { { "UOPS_DISPATCHED_PORT.PORT_0", ON_PORT_0 } } },
	{ { { "UOPS_FROM_ROM", SOME_CYCLES } } },
	END_OF_SETS
};
static const struct row_proof_set proof_fpcw[] = {
	{ { { "INST_RETIRED.X87", ONCE } } },
	{ { { "UOPS_FROM_ROM", SOME_CYCLES } } },
	END_OF_SETS
};
static const struct row_proof_set proof_lock[] = {
	{ { { "L1D_CACHE_LOCK.HIT", ONCE } } },
	{ { { "MEM_UOPS_RETIRED.LOCK_LOADS", ONCE } } },
	{ { { "MEM_INST_RETIRED.LOCK_LOADS", ONCE } } },
	{ { { "L1D_CACHE_LOCK.MESI", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_split_lock[] = {
	{ { { "SQ_MISC.SPLIT_LOCK", ONCE } } },
	{ { { "BUS_LOCK_CLOCKS.SELF", SOME_CYCLES } } },
	END_OF_SETS
};
static const struct row_proof_set proof_lfence[] = {
	{ { { "RAT_STALLS.SCOREBOARD", SOME_CYCLES } } },
	{ { { "PARTIAL_RAT_STALLS.SCOREBOARD", SOME_CYCLES } } },
	{ { { "UOPS_ISSUED.STALL_CYCLES", SOME_CYCLES } } }, /* Haswell: it holds allocation, NOPs never do */
	END_OF_SETS
};
/* Lines far apart that meet in a small target buffer cost a clear each too, or those of the baseline do: no more than half a
 * cycle of it. */
static const struct row_proof_set proof_l1i_l2[] = {
	{ { { "L1I.MISSES", ONCE }, { "L2_RQSTS.IFETCH_HIT", ONCE }, { "BACLEAR.CLEAR", SELDOM } } },
	{ { { "ICACHE.MISSES", ONCE }, { "L2_RQSTS.CODE_RD_MISS", NEVER }, { "BACLEARS.ANY", SELDOM } } },
	{ { { "ICACHE_64B.IFTAG_MISS", ONCE }, { "L2_RQSTS.CODE_RD_MISS", NEVER }, { "BACLEARS.ANY", SELDOM } } },
	{ { { "L1I_MISSES", ONCE }, { "L2_IFETCH.SELF.I_STATE", NEVER }, { "BACLEARS", SELDOM } } },
	{ { { "TRACE_CACHE_MISS", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_l1i_l3[] = {
	{ { { "L1I.MISSES", ONCE }, { "L2_RQSTS.IFETCH_MISS", ONCE }, { "BACLEAR.CLEAR", SELDOM } } },
	{ { { "L2_RQSTS.CODE_RD_MISS", ONCE }, { "BACLEARS.ANY", SELDOM } } },
	END_OF_SETS
};
static const struct row_proof_set proof_baclear[] = {
	{ { { "BACLEAR.CLEAR", ONCE } } },
	{ { { "BACLEARS.ANY", ONCE } } },
	{ { { "BACLEARS", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_itlb[] = {
	{ { { "ITLB_MISSES.STLB_HIT", ONCE }, { "ITLB_MISSES.WALK_COMPLETED", NEVER }, { "BACLEAR.CLEAR", SELDOM } } },
	{ { { "ITLB_MISSES.STLB_HIT", ONCE }, { "ITLB_MISSES.WALK_COMPLETED", NEVER }, { "BACLEARS.ANY", SELDOM } } },
	END_OF_SETS
};
static const struct row_proof_set proof_itlb_walk[] = {
	{ { { "ITLB_MISSES.WALK_COMPLETED", ONCE }, { "BACLEAR.CLEAR", SELDOM } } },
	{ { { "ITLB_MISSES.WALK_COMPLETED", ONCE }, { "BACLEARS.ANY", SELDOM } } },
	{ { { "PAGE_WALK.CODE", ONCE } } },
	{ { { "ITLB.MISSES", ONCE }, { "BACLEARS", SELDOM } } },
	END_OF_SETS
};
static const struct row_proof_set proof_smc[] = {
	{ { { "MACHINE_CLEARS.SMC", ONCE } } },
	{ { { "MACHINE_NUKES.SMC", ONCE } } },
	{ { { "MACHINE_CLEAR.CODE", ONCE } } },
	END_OF_SETS
};
static const struct row_proof_set proof_read_port[] = {
	{ { { "RAT_STALLS.ROB_READ_PORT", 500, 1500, false } } },
	END_OF_SETS
};

#endif
