/* bench/catalogue/rows.c: the benchmark table. A new benchmark is one row, or one row and one kernel. */
#include "bench/catalogue/row.h"
#include "pmu/access.h"
#include "pmu/core/concept.h"

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

#define LATENCY KIND_LATENCY, UNIT_CYCLES
#define PENALTY KIND_PENALTY, UNIT_CYCLES
#define RATE    KIND_THROUGHPUT, UNIT_BYTES_PER_SECOND
#define BOTH    (SUITE_QUICK | SUITE_FULL)

#include "bench/catalogue/proofs.h"

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
	  "own L2 cache", proof_12_lines_l2, "", 500000, 11, BOTH, NULL, NULL },
	{ "triad.l3.bandwidth", "the same, arrays in the L3 cache", RATE, k_triad,
	  TARGET_L3, ORDER_STREAMS, PAGE_2M, PREPARE_WARM, BASELINE_NONE, STAT_MEDIAN, PREFETCH_AS_FOUND, 0, 512,
	  "own L3 cache", proof_12_lines_l3, "", 850000, 10, BOTH, NULL, NULL },
	{ "triad.dram.bandwidth", "the same, arrays in memory of this node", RATE, k_triad,
	  TARGET_DRAM, ORDER_STREAMS, PAGE_2M, PREPARE_FILL, BASELINE_NONE, STAT_MEAN, PREFETCH_AS_FOUND, 0, 768,
	  "memory of this node", proof_12_lines_dram, "", 2300000, 15, BOTH, NULL, NULL },
	{ "triad.dram_nt.bandwidth", "the same with non-temporal stores", RATE, k_triad_nt,
	  TARGET_DRAM, ORDER_STREAMS, PAGE_2M, PREPARE_READ, BASELINE_NONE, STAT_MEAN, PREFETCH_AS_FOUND, 0, 768,
	  "memory of this node", proof_8_lines_dram, "", 2300000, 15, BOTH, NULL, NULL },
#include "bench/catalogue/pairs.def"
#include "bench/catalogue/curves.def"
#include "bench/catalogue/sweeps.def"
#include "bench/catalogue/cores.def"
#include "bench/catalogue/bandwidth.def"
#include "bench/catalogue/samples.def"
};
const unsigned rows_count = COUNT_OF(rows);
