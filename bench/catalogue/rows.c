/* bench/catalogue/rows.c: the benchmark table. A new benchmark is one row, or one row and one kernel. */
#include "bench/catalogue/row.h"
#include "pmu/access.h"

static const char *const k_chase[] = { "k_chase", NULL };
static const char *const k_chase_cold[] = { "k_chase_cold", NULL };
/* The second one: where the first one's windows do not prove the row. */
static const char *const k_chase_matrix[] = { "k_chase", "k_chase_open", NULL };
static const char *const k_chase_loaded[] = { "k_chase_stop", "k_chase_stop_cold", NULL };
static const char *const k_share_add[] = { "k_share_add", NULL };
static const char *const k_read[] = { "k_read_avx512", "k_read_avx", "k_read_sse2", NULL };
static const char *const k_write[] = { "k_write_avx512", "k_write_avx", "k_write_sse2", NULL };
static const char *const k_write_nt[] = { "k_write_nt_avx512", "k_write_nt_avx", "k_write_nt_sse2", NULL };
static const char *const k_copy[] = { "k_copy_avx512", "k_copy_avx", "k_copy_sse2", NULL };
static const char *const k_copy_nt[] = { "k_copy_nt_avx512", "k_copy_nt_avx", "k_copy_nt_sse2", NULL };
static const char *const k_run_code[] = { "k_run_code", NULL };
static const char *const k_run_code_cold[] = { "k_run_code_cold", NULL };
static const char *const k_triad[] = { "k_triad_avx512", "k_triad_avx", "k_triad_sse2", NULL };
static const char *const k_triad_nt[] = { "k_triad_nt_avx512", "k_triad_nt_avx", "k_triad_nt_sse2", NULL };

/* Proofs: one count a load within 1 %, and none of a neighbour's beyond 1 %. Names are those of the
 * vendor's event lists, one set a generation; LONGEST_LAT_CACHE are the architectural events of CPUID 0xA
 * (SDM vol. 3, 18.2.1): they prove what the last of three levels did, and nothing about the others. */
#define ONCE 990, 1010, false
#define NEVER -10, 10, false
#define SELDOM -20, 20, false  /* of penalties, which are told to half a cycle: one line in 50 from the L3 */
#define MOSTLY 900, 1010, false /* a last level that still holds some of six times its size */
#define ONCE_A_LOAD 990, 1010, true

static const struct row_proof_set proof_l1[] = {
	{ { { "MEM_LOAD_RETIRED.L1D_HIT", ONCE } } },
	{ { { "MEM_LOAD_UOPS_RETIRED.L1_HIT", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L1_HIT", ONCE } } },
	{ { { "INST_RETIRED.LOADS", ONCE }, { "MEM_LOAD_RETIRED.L1D_LINE_MISS", NEVER } } },
	{ { { "LOADS_RETIRED", ONCE }, { "L1_LOAD_MISS_RETIRED", NEVER } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_l2[] = {
	{ { { "MEM_LOAD_RETIRED.L2_HIT", ONCE }, { "DTLB_LOAD_MISSES.ANY", NEVER } } },
	{ { { "MEM_LOAD_RETIRED.L2_HIT", ONCE } } },
	{ { { "MEM_LOAD_UOPS_RETIRED.L2_HIT", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L1D_LINE_MISS", ONCE }, { "MEM_LOAD_RETIRED.L2_LINE_MISS", NEVER } } },
	{ { { "L1_LOAD_MISS_RETIRED", ONCE }, { "L2_LOAD_MISS_RETIRED", NEVER } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_l3[] = {
	{ { { "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT", ONCE }, { "DTLB_LOAD_MISSES.ANY", NEVER } } },
	{ { { "MEM_LOAD_UOPS_RETIRED.L3_HIT", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L3_HIT", ONCE } } },
	{ { { "LONGEST_LAT_CACHE.REFERENCE", ONCE }, { "LONGEST_LAT_CACHE.MISS", NEVER } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_dram_local[] = {
	{ { { "MEM_UNCORE_RETIRED.LOCAL_DRAM", ONCE }, { "DTLB_LOAD_MISSES.ANY", NEVER } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", ONCE } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", ONCE } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", ONCE } } },
	{ { { "LONGEST_LAT_CACHE.MISS", ONCE } } },
	{ { { "L2_LOAD_MISS_RETIRED", ONCE } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_dram_local_big[] = {
	{ { { "MEM_UNCORE_RETIRED.LOCAL_DRAM", MOSTLY }, { "DTLB_LOAD_MISSES.WALK_COMPLETED", NEVER } } },
	{ { { "MEM_LOAD_UOPS_L3_MISS_RETIRED.LOCAL_DRAM", MOSTLY } } },
	{ { { "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM", MOSTLY } } },
	{ { { "MEM_LOAD_RETIRED.L2_LINE_MISS", MOSTLY } } },
	{ { { "LONGEST_LAT_CACHE.MISS", MOSTLY } } },
	{ { { "L2_LOAD_MISS_RETIRED", MOSTLY } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_stlb_hit[] = {
	{ { { "DTLB_LOAD_MISSES.STLB_HIT", ONCE }, { "DTLB_LOAD_MISSES.WALK_COMPLETED", NEVER } } },
	{ { { "DTLB_MISSES.L0_MISS_LD", ONCE }, { "DTLB_MISSES.MISS_LD", NEVER } } },
	{ { { "", 0, 0, false } } }
};
/* What else comes into the L2 than the pages' lines pushes entries out of it: prefetchers that only seem to be off. */
static const struct row_proof_set proof_walk[] = {
	{ { { "DTLB_LOAD_MISSES.WALK_COMPLETED", ONCE }, { "L2_LINES_IN.ALL", SELDOM } } },
	{ { { "DTLB_LOAD_MISSES.WALK_COMPLETED", ONCE }, { "L2_LINES_IN.ANY", SELDOM } } },
	{ { { "DTLB_MISSES.MISS_LD", ONCE }, { "L2_LINES_IN.SELF.ANY", SELDOM } } },
	{ { { "DTLB_LOAD_MISSES.WALK_COMPLETED", ONCE } } },
	{ { { "DTLB_MISSES.MISS_LD", ONCE } } },
	{ { { "DTLB_LOAD_MISS_RETIRED", ONCE } } },
	{ { { "", 0, 0, false } } }
};

/* Streams touch 12 lines an iteration, 8 of them by non-temporal loops' loads. They must come into the level
 * below the aimed-at one, within 10 % (prefetchers may bring a line twice), and none from beyond it. */
#define NO_LINE -120, 120, false
#define LINES_12 10800, 13200, false
#define LINES_8 7200, 8800, false

static const struct row_proof_set proof_stream_l1[] = {
	{ { { "MEM_LOAD_RETIRED.L1D_HIT", ONCE_A_LOAD }, { "L1D.REPL", NO_LINE } } },
	{ { { "MEM_LOAD_UOPS_RETIRED.L1_HIT", ONCE_A_LOAD }, { "L1D.REPLACEMENT", NO_LINE } } },
	{ { { "MEM_LOAD_RETIRED.L1_HIT", ONCE_A_LOAD }, { "L1D.REPLACEMENT", NO_LINE } } },
	{ { { "INST_RETIRED.LOADS", ONCE_A_LOAD }, { "L1D_REPL", NO_LINE } } },
	{ { { "LOADS_RETIRED", ONCE_A_LOAD }, { "BSQ.L2_READ", NO_LINE } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_stream_l2[] = {
	{ { { "L1D.REPL", LINES_12 }, { "L2_LINES_IN.ANY", NO_LINE } } },
	{ { { "L1D.REPLACEMENT", LINES_12 }, { "L2_LINES_IN.ALL", NO_LINE } } },
	{ { { "L1D_REPL", LINES_12 }, { "L2_LINES_IN.SELF.DEMAND", NO_LINE }, { "L2_LINES_IN.SELF.PREFETCH", NO_LINE } } },
	{ { { "BSQ.L2_READ", LINES_12 }, { "BSQ.L2_READ_MISS", NO_LINE } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_stream_l3[] = {
	{ { { "L2_LINES_IN.ANY", LINES_12 }, { "LONGEST_LAT_CACHE.MISS", NO_LINE } } },
	{ { { "L2_LINES_IN.ALL", LINES_12 }, { "LONGEST_LAT_CACHE.MISS", NO_LINE } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_stream_dram[] = {
	{ { { "L2_LINES_IN.ANY", LINES_12 }, { "LONGEST_LAT_CACHE.MISS", LINES_12 } } },
	{ { { "LONGEST_LAT_CACHE.MISS", LINES_12 } } },
	{ { { "BSQ.L2_READ_MISS", LINES_12 } } },
	{ { { "", 0, 0, false } } }
};
static const struct row_proof_set proof_stream_dram_nt[] = {
	{ { { "L2_LINES_IN.ANY", LINES_8 }, { "LONGEST_LAT_CACHE.MISS", LINES_8 } } },
	{ { { "LONGEST_LAT_CACHE.MISS", LINES_8 } } },
	{ { { "BSQ.L2_READ_MISS", LINES_8 } } },
	{ { { "", 0, 0, false } } }
};

#define LATENCY KIND_LATENCY, UNIT_CYCLES
#define PENALTY KIND_PENALTY, UNIT_CYCLES
#define RATE    KIND_THROUGHPUT, UNIT_BYTES_PER_SECOND
#define BOTH    (SUITE_QUICK | SUITE_FULL)

/* Penalties within the core: two kernels, or one over two contents. */
#include "bench/catalogue/pair_proofs.h"
#include "bench/catalogue/cores_proofs.h"
#include "bench/catalogue/bandwidth_proofs.h"

const struct row rows[] = {
	{ "load.l1.latency", "load to use, line in the L1 data cache", LATENCY, k_chase,
	  TARGET_L1, ORDER_LINES, PAGE_2M, PREPARE_WARM, BASELINE_NONE, STAT_MINIMUM, PREFETCH_OFF, 0, 4096,
	  "own L1 data cache", proof_l1, "", 200000, 2, BOTH, NULL, NULL },
	{ "load.l2.latency", "load to use, line in the L2 cache", LATENCY, k_chase,
	  TARGET_L2, ORDER_LINES, PAGE_2M, PREPARE_WARM, BASELINE_NONE, STAT_MINIMUM, PREFETCH_OFF, 0, 4096,
	  "own L2 cache", proof_l2, "", 200000, 4, BOTH, NULL, NULL },
	{ "load.l3.latency", "load to use, line in the L3 cache, in no other core's caches", LATENCY, k_chase,
	  TARGET_L3, ORDER_LINES, PAGE_2M, PREPARE_WARM, BASELINE_NONE, STAT_MEDIAN, PREFETCH_OFF, 0, 4096,
	  "own L3 cache, unshared", proof_l3, "", 250000, 1, BOTH, NULL, NULL },
	{ "load.dram_local.latency", "load to use, line in memory of this node only", LATENCY, k_chase,
	  TARGET_DRAM, ORDER_SPARSE, PAGE_2M, PREPARE_FLUSH, BASELINE_NONE, STAT_MEDIAN, PREFETCH_OFF, 0, 1024,
	  "memory of this node", proof_dram_local, "load.dram_local_big.latency", 250000, 2, BOTH, NULL, NULL },
	{ "load.dram_local_big.latency", "the same by a chase through six times the last-level cache", LATENCY, k_chase,
	  TARGET_DRAM, ORDER_REGIONS, PAGE_2M, PREPARE_WARM, BASELINE_NONE, STAT_MEDIAN, PREFETCH_OFF, 0, 8192,
	  "memory of this node", proof_dram_local_big, "load.dram_local.latency", 4000000, 5, SUITE_FULL, NULL, NULL },

	{ "load.l2.penalty", "what a load costs more when the L2 answers, not the L1", PENALTY, k_chase,
	  TARGET_L2, ORDER_LINES, PAGE_2M, PREPARE_WARM, BASELINE_L1, STAT_MINIMUM, PREFETCH_OFF, 0, 4096,
	  "own L2 cache", proof_l2, "load.l2.latency", 250000, 5, BOTH, NULL, NULL },
	{ "load.l3.penalty", "what a load costs more when the L3 answers, not the L1", PENALTY, k_chase,
	  TARGET_L3, ORDER_LINES, PAGE_2M, PREPARE_WARM, BASELINE_L1, STAT_MEDIAN, PREFETCH_OFF, 0, 4096,
	  "own L3 cache, unshared", proof_l3, "load.l3.latency", 400000, 1, BOTH, NULL, NULL },
	{ "load.dram_local.penalty", "what a load costs more when memory of this node answers, not the L1", PENALTY, k_chase,
	  TARGET_DRAM, ORDER_SPARSE, PAGE_2M, PREPARE_FLUSH, BASELINE_L1, STAT_MEDIAN, PREFETCH_OFF, 0, 1024,
	  "memory of this node", proof_dram_local, "load.dram_local.latency", 250000, 2, BOTH, NULL, NULL },

	{ "tlb.dtlb_4k.penalty", "a load that misses the first-level DTLB and hits the second level", PENALTY, k_chase,
	  TARGET_DTLB, ORDER_PAGES, PAGE_4K, PREPARE_WARM, BASELINE_PACKED, STAT_MINIMUM, PREFETCH_OFF, 0, 2048,
	  "own L1 data cache", proof_stlb_hit, "", 200000, 2, BOTH, NULL, NULL },
	{ "tlb.stlb_walk_4k.penalty", "a load that misses both TLB levels: a walk with its entries cached", PENALTY, k_chase,
	  TARGET_STLB, ORDER_PAGE_GROUPS, PAGE_4K, PREPARE_WARM, BASELINE_PACKED, STAT_MINIMUM, PREFETCH_OFF, 0, 4096,
	  "own L2 cache", proof_walk, "", 320000, 6, BOTH, NULL, NULL },

	{ "tlb.walk_2m.penalty", "a load whose page of 2 MiB the DTLB does not hold: a walk with its entries cached", PENALTY, k_chase,
	  TARGET_STLB, ORDER_PAGES, PAGE_2M, PREPARE_WARM, BASELINE_PACKED, STAT_MINIMUM, PREFETCH_OFF, 0, 2048,
	  "own L1 data cache", proof_walk, "", 250000, 5, SUITE_FULL, NULL, NULL },
	{ "tlb.walk_1g.penalty", "a load whose page of 1 GiB the DTLB does not hold: a walk with its entries cached", PENALTY, k_chase,
	  TARGET_STLB, ORDER_PAGES, PAGE_1G, PREPARE_WARM, BASELINE_PACKED, STAT_MINIMUM, PREFETCH_OFF, 0, 2048,
	  "own L1 data cache", proof_walk, "", 250000, 5, SUITE_FULL, NULL, NULL },

	/* 24 bytes an element: two loads, one store. The line that a regular store reads for ownership is
	 * not counted; the non-temporal row shows what it costs. */
	{ "triad.l1.bandwidth", "a[i] = b[i] + s * c[i], arrays in the L1 data cache", RATE, k_triad,
	  TARGET_L1, ORDER_STREAMS, PAGE_2M, PREPARE_WARM, BASELINE_NONE, STAT_MINIMUM, PREFETCH_AS_FOUND, 0, 256,
	  "own L1 data cache", proof_stream_l1, "", 500000, 9, BOTH, NULL, NULL },
	{ "triad.l2.bandwidth", "the same, arrays in the L2 cache", RATE, k_triad,
	  TARGET_L2, ORDER_STREAMS, PAGE_2M, PREPARE_WARM, BASELINE_NONE, STAT_MINIMUM, PREFETCH_AS_FOUND, 0, 256,
	  "own L2 cache", proof_stream_l2, "", 500000, 11, BOTH, NULL, NULL },
	{ "triad.l3.bandwidth", "the same, arrays in the L3 cache", RATE, k_triad,
	  TARGET_L3, ORDER_STREAMS, PAGE_2M, PREPARE_WARM, BASELINE_NONE, STAT_MEDIAN, PREFETCH_AS_FOUND, 0, 512,
	  "own L3 cache", proof_stream_l3, "", 850000, 10, BOTH, NULL, NULL },
	{ "triad.dram.bandwidth", "the same, arrays in memory of this node", RATE, k_triad,
	  TARGET_DRAM, ORDER_STREAMS, PAGE_2M, PREPARE_FILL, BASELINE_NONE, STAT_MEAN, PREFETCH_AS_FOUND, 0, 768,
	  "memory of this node", proof_stream_dram, "", 2300000, 15, BOTH, NULL, NULL },
	{ "triad.dram_nt.bandwidth", "the same with non-temporal stores", RATE, k_triad_nt,
	  TARGET_DRAM, ORDER_STREAMS, PAGE_2M, PREPARE_READ, BASELINE_NONE, STAT_MEAN, PREFETCH_AS_FOUND, 0, 768,
	  "memory of this node", proof_stream_dram_nt, "", 2300000, 15, BOTH, NULL, NULL },
#include "bench/catalogue/pairs.def"
#include "bench/catalogue/curves.def"
#include "bench/catalogue/sweeps.def"
#include "bench/catalogue/cores.def"
#include "bench/catalogue/bandwidth.def"
#include "bench/catalogue/samples.def"
};
const unsigned rows_count = COUNT_OF(rows);
