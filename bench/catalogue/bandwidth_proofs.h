/* bench/catalogue/bandwidth_proofs.h: what proves the rows of bench/catalogue/bandwidth.def; included by bench/catalogue/rows.c alone.
 *
 * As the triad's: an iteration touches 4 lines of each array. They must come into the level below the one that is
 * aimed at, within 10 %, and none from beyond it. */
#ifndef BENCH_BANDWIDTH_PROOFS_H
#define BENCH_BANDWIDTH_PROOFS_H

#define LINES_4 3600, 4400, false
/* Written lines: one that the L2 gave up before the L1 did comes in a second time, written back. */
#define LINES_4_WRITTEN 3600, 8800, false
#define LINES_8_WRITTEN 7200, 13200, false
#define LINES_12_WRITTEN 10800, 17600, false

#define END_OF_SETS { { { "", 0, 0, false } } }
/* What is written in the L1 is in state M there; nothing comes in. */
static const struct row_proof_set proof_write_l1[] = {
	{ { { "L1D_CACHE_ST.M_STATE", 990, 1010, PER_STORE }, { "L1D.REPL", NO_LINE } } },
	{ { { "L1D.REPLACEMENT", NO_LINE } } },
	{ { { "L1D_REPL", NO_LINE } } },
	{ { { "STORES_RETIRED", 990, 1010, PER_STORE }, { "BSQ.L2_READ", NO_LINE } } },
	END_OF_SETS
};
#define PROOFS_L2(name, lines) \
	static const struct row_proof_set name[] = { \
		{ { { "L1D.REPL", lines }, { "L2_LINES_IN.ANY", NO_LINE } } }, \
		{ { { "L1D.REPLACEMENT", lines }, { "L2_LINES_IN.ALL", NO_LINE } } }, \
		{ { { "L1D_REPL", lines }, { "LONGEST_LAT_CACHE.MISS", NO_LINE } } }, /* the L2 is the last level */ \
		{ { { "BSQ.L2_READ", lines }, { "BSQ.L2_READ_MISS", NO_LINE } } }, \
		END_OF_SETS \
	};
#define PROOFS_L3(name, lines) \
	static const struct row_proof_set name[] = { \
		{ { { "L2_LINES_IN.ANY", lines }, { "LONGEST_LAT_CACHE.MISS", NO_LINE } } }, \
		{ { { "L2_LINES_IN.ALL", lines }, { "LONGEST_LAT_CACHE.MISS", NO_LINE } } }, \
		END_OF_SETS \
	};
#define PROOFS_DRAM(name, lines, in_l2) \
	static const struct row_proof_set name[] = { \
		{ { { "L2_LINES_IN.ANY", in_l2 }, { "LONGEST_LAT_CACHE.MISS", lines } } }, \
		{ { { "LONGEST_LAT_CACHE.MISS", lines } } }, \
		{ { { "BSQ.L2_READ_MISS", lines } } }, \
		END_OF_SETS \
	};
/* Nehalem tells which node's memory answered, prefetches too. */
#define PROOFS_NODE(name, memory, lines) \
	static const struct row_proof_set name[] = { \
		{ { { "L2_LINES_IN.ANY", lines }, { "OFFCORE_RESPONSE_0.DATA_IN." memory "_DRAM", lines } } }, \
		{ { { "L2_LINES_IN.ANY", lines }, { "LONGEST_LAT_CACHE.MISS", lines } } }, \
		{ { { "LONGEST_LAT_CACHE.MISS", lines } } }, \
		{ { { "BSQ.L2_READ_MISS", lines } } }, \
		END_OF_SETS \
	};
PROOFS_NODE(proof_4_lines_local, "LOCAL", LINES_4)
PROOFS_NODE(proof_4_lines_remote, "REMOTE", LINES_4)
PROOFS_NODE(proof_8_lines_local, "LOCAL", LINES_8)
PROOFS_NODE(proof_8_lines_remote, "REMOTE", LINES_8)
PROOFS_L2(proof_4_lines_l2, LINES_4)
PROOFS_L2(proof_8_lines_l2, LINES_8)
PROOFS_L2(proof_12_lines_l2, LINES_12)
PROOFS_L3(proof_4_lines_l3, LINES_4)
PROOFS_L3(proof_4_written_l3, LINES_4_WRITTEN)
PROOFS_L3(proof_8_lines_l3, LINES_8)
PROOFS_L3(proof_8_written_l3, LINES_8_WRITTEN)
PROOFS_DRAM(proof_4_lines_dram, LINES_4, LINES_4)
PROOFS_DRAM(proof_4_written_dram, LINES_4, LINES_4_WRITTEN)
PROOFS_DRAM(proof_8_lines_dram, LINES_8, LINES_8)
PROOFS_DRAM(proof_8_written_dram, LINES_8, LINES_8_WRITTEN)
/* What is written past the caches brings no line into any. */
static const struct row_proof_set proof_write_nt[] = {
	{ { { "L1D.REPL", NO_LINE }, { "L2_LINES_IN.ANY", NO_LINE } } },
	{ { { "L1D.REPLACEMENT", NO_LINE }, { "L2_LINES_IN.ALL", NO_LINE } } },
	{ { { "L1D_REPL", NO_LINE }, { "L2_LINES_IN.SELF.DEMAND", NO_LINE } } },
	{ { { "BSQ.L2_READ", NO_LINE } } },
	END_OF_SETS
};

/* A store to a line that the L2 misses, and the last level too. Misses are counted with those of prefetches, which bring lines
 * in order: so the store's own request is counted beside them. */
static const struct row_proof_set proof_rfo[] = {
	{ { { "L2_RQSTS.RFO_MISS", ONCE }, { "LONGEST_LAT_CACHE.MISS", ONCE } } },
	{ { { "L2_LINES_IN.SELF.DEMAND", ONCE }, { "LONGEST_LAT_CACHE.MISS", ONCE } } },
	{ { { "LONGEST_LAT_CACHE.MISS", ONCE } } },
	{ { { "BSQ.L2_READ_MISS", ONCE }, { "BSQ.RFOS", ONCE } } },
	END_OF_SETS
};
/* A baseline stores four times to a line that it has in state M, the test never; the test's lines leave the core. */
static const struct row_proof_set proof_nt[] = {
	{ { { "L1D_CACHE_ST.M_STATE", -4040, -3960, false } } },
	{ { { "OFFCORE_RESPONSE.STREAMING_STORES.ANY_RESPONSE", ONCE } } },
	{ { { "OFFCORE_REQUESTS.ALL_REQUESTS", ONCE } } },
	{ { { "BUS_TRANS_BURST.SELF", ONCE } } },
	END_OF_SETS
};
#undef END_OF_SETS

#endif
