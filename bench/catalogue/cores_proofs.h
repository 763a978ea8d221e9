/* bench/catalogue/cores_proofs.h: what proves the rows of bench/catalogue/cores.def; included by bench/catalogue/rows.c alone. */
#ifndef BENCH_CORES_PROOFS_H
#define BENCH_CORES_PROOFS_H

/* Nehalem tells a snoop of another core's caches from none, and a modified line there from a clean one. */
static const struct row_proof_set proof_other_clean[] = {
	{ { { "MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM", ONCE }, { "MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM", NEVER } } },
	{ { { "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HIT", ONCE } } },
	{ { { "MEM_LOAD_L3_HIT_RETIRED.XSNP_HIT", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", ONCE } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_other_modified[] = {
	{ { { "MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM", ONCE }, { "MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM", ONCE } } },
	{ { { "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HITM", ONCE } } },
	{ { { "MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", ONCE } } },
	{ { { "", 0, 0, false } } }
};
/* Several sharers: an inclusive L3 answers without a snoop; without a copy in the L3 a sharer forwards the line. */
static const struct row_proof_set proof_shared[] = {
	{ { { "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT", ONCE } } },
	{ { { "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_NONE", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L3_HIT", ONCE }, { "MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", NEVER } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_remote_clean[] = {
	{ { { "MEM_UNCORE_RETIRED.REMOTE_CACHE_LOCAL_HOME_HIT", ONCE } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_FWD", ONCE } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.REMOTE_FWD", ONCE } } },
	{ { { "", 0, 0, false } } }
};
/* Nehalem: the line is also written back, so the load counts as one from its home's memory (guide, after
 * table 3). That it was modified is what the helper's kernel did: no load event says it. */
static const struct row_proof_set proof_remote_modified[] = {
	{ { { "MEM_UNCORE_RETIRED.LOCAL_DRAM", ONCE }, { "MEM_UNCORE_RETIRED.REMOTE_CACHE_LOCAL_HOME_HIT", NEVER } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_HITM", ONCE } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.REMOTE_HITM", ONCE } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_dram_remote[] = {
	{ { { "MEM_UNCORE_RETIRED.REMOTE_DRAM", ONCE }, { "DTLB_LOAD_MISSES.ANY", NEVER } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_DRAM", ONCE } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.REMOTE_DRAM", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", ONCE } } },
	{ { { "", 0, 0, false } } }
};
/* Over all pairs of sockets the home is the reader's node or another: what counts is that no cache of its own socket
 * answered, and whether another one did. Core 2 sees that the line came from beyond its L2. */
static const struct row_proof_set proof_pair_remote_clean[] = {
	{ { { "MEM_LOAD_RETIRED.LLC_MISS", ONCE }, { "MEM_UNCORE_RETIRED.LOCAL_DRAM", NEVER } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_FWD", ONCE } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.REMOTE_FWD", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", ONCE } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_pair_remote_modified[] = {
	{ { { "MEM_LOAD_RETIRED.LLC_MISS", ONCE }, { "MEM_UNCORE_RETIRED.REMOTE_CACHE_LOCAL_HOME_HIT", NEVER } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.REMOTE_HITM", ONCE } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.REMOTE_HITM", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", ONCE } } },
	{ { { "", 0, 0, false } } }
};

static const struct row_proof_set proof_same_l2[] = {
	{ { { "MEM_LOAD_RETIRED.L2_HIT", ONCE } } },
	{ { { "MEM_LOAD_UOPS_RETIRED.L2_HIT", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L1D_LINE_MISS", ONCE }, { "LONGEST_LAT_CACHE.MISS", NEVER } } },
	{ { { "", 0, 0, false } } }
};
/* Lines that come from another core's caches; several additions may pass before the other core takes the line back. */
#define SOMETIMES 50, 1010, false
static const struct row_proof_set proof_false_sharing[] = {
	{ { { "MEM_UNCORE_RETIRED.OTHER_CORE_L2_HITM", SOMETIMES } } },
	{ { { "MEM_LOAD_UOPS_L3_HIT_RETIRED.XSNP_HITM", SOMETIMES } } },
	{ { { "MEM_LOAD_L3_HIT_RETIRED.XSNP_HITM", SOMETIMES } } },
	{ { { "L1D_REPL", SOMETIMES } } },
	{ { { "", 0, 0, false } } }
};

#endif
