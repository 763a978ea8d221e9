/* bench/catalogue/rows.c: the benchmark table. A new benchmark is one row, or one row and one kernel. */
#include "bench/catalogue/row.h"
#include "pmu/access.h"
#include "pmu/core/concept.h"

static const char *const k_chase[] = { "k_chase", NULL };
static const char *const k_chase_cold[] = { "k_chase_cold", NULL };
/* The second kernel runs where windows of the first do not prove the row. */
static const char *const k_chase_matrix[] = { "k_chase", "k_chase_open", NULL };
static const char *const k_chase_loaded[] = { "k_chase_stop", "k_chase_stop_cold", NULL };
static const char *const k_share_add[] = { "k_share_add", NULL };
static const char *const k_read[] = { "k_read_avx512", "k_read_avx", "k_read_short_avx", "k_read_sse2", NULL };
/* In the L1 the widest loop must not wait for itself: up to four loads of 64 bytes a cycle. */
static const char *const k_read_l1[] = { "k_read_long_avx512", "k_read_avx", "k_read_short_avx", "k_read_sse2", NULL };
static const char *const k_write[] = { "k_write_avx512", "k_write_avx", "k_write_sse2", "k_write_short_sse2", NULL };
static const char *const k_write_nt[] = { "k_write_nt_avx512", "k_write_nt_avx", "k_write_nt_sse2", NULL };
static const char *const k_copy[] = { "k_copy_avx512", "k_copy_avx", "k_copy_short_avx", "k_copy_sse2", "k_copy_short_sse2", NULL };
static const char *const k_copy_nt[] = { "k_copy_nt_avx512", "k_copy_nt_avx", "k_copy_nt_sse2", NULL };
static const char *const k_run_code[] = { "k_run_code", NULL };
static const char *const k_run_code_cold[] = { "k_run_code_cold", NULL };
static const char *const k_triad[] = { "k_triad_avx512", "k_triad_avx512_fma", "k_triad_avx", "k_triad_avx_fma", "k_triad_short_avx_fma", "k_triad_sse2", "k_triad_grouped_sse2", NULL };
static const char *const k_triad_nt[] = { "k_triad_nt_avx512", "k_triad_nt_avx", "k_triad_nt_sse2", NULL };

#define ROW(name_, asks_, ...) { .name = name_, .asks = asks_, __VA_ARGS__ },
#define BOTH    (SUITE_QUICK | SUITE_FULL)

#include "bench/catalogue/proofs.h"

const struct row rows[] = {
	ROW("load.l1.latency", "load to use, line in the L1 data cache", .kind = KIND_LATENCY, .unit = UNIT_CYCLES, .kernels = k_chase, .target = TARGET_L1,
	    .order = ORDER_LINES, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_NONE, .statistic = STAT_MINIMUM,
	    .prefetch = PREFETCH_OFF, .window = 4096, .source = SOURCE_L1, .proofs = proof_l1, .budget = 200000, .revision = 4, .suites = BOTH)
	ROW("load.l2.latency", "load to use, line in the L2 cache", .kind = KIND_LATENCY, .unit = UNIT_CYCLES, .kernels = k_chase, .target = TARGET_L2,
	    .order = ORDER_LINES, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_NONE, .statistic = STAT_MINIMUM,
	    .prefetch = PREFETCH_OFF, .window = 4096, .source = SOURCE_L2, .proofs = proof_l2, .budget = 200000, .revision = 5, .suites = BOTH)
	ROW("load.l3.latency", "load to use, line in the L3 cache, in no other core's caches", .kind = KIND_LATENCY, .unit = UNIT_CYCLES, .kernels = k_chase,
	    .target = TARGET_L3, .order = ORDER_LINES, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_NONE, .statistic = STAT_MEDIAN,
	    .prefetch = PREFETCH_OFF, .window = 4096, .source = SOURCE_L3_UNSHARED, .proofs = proof_l3, .budget = 250000, .revision = 5,
	    .suites = BOTH)
	ROW("load.dram_local.latency", "load to use, line in memory of this node only", .kind = KIND_LATENCY, .unit = UNIT_CYCLES, .kernels = k_chase,
	    .target = TARGET_DRAM, .order = ORDER_SPARSE, .page_bytes = PAGE_2M, .prepare = PREPARE_FLUSH, .baseline = BASELINE_NONE,
	    .statistic = STAT_MEDIAN, .prefetch = PREFETCH_OFF, .window = 1024, .source = SOURCE_DRAM_LOCAL, .proofs = proof_dram_local,
	    .confirmed_by = "load.dram_local_big.latency", .budget = 250000, .revision = 7, .suites = BOTH)
	ROW("load.dram_local_big.latency", "load to use, by a chase through six times the last-level cache", .kind = KIND_LATENCY, .unit = UNIT_CYCLES,
	    .kernels = k_chase, .target = TARGET_DRAM, .order = ORDER_REGIONS, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_NONE,
	    .statistic = STAT_MEDIAN, .prefetch = PREFETCH_OFF, .window = 8192, .source = SOURCE_DRAM_LOCAL, .proofs = proof_dram_local_big,
	    .confirmed_by = "load.dram_local.latency", .budget = 4000000, .revision = 10, .suites = SUITE_FULL)

	ROW("load.l2.penalty", "the additional cost of a load that hits the L2 instead of the L1", .kind = KIND_PENALTY, .unit = UNIT_CYCLES, .kernels = k_chase,
	    .target = TARGET_L2, .order = ORDER_LINES, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_L1, .statistic = STAT_MINIMUM,
	    .prefetch = PREFETCH_OFF, .window = 4096, .source = SOURCE_L2, .proofs = proof_l2, .confirmed_by = "load.l2.latency", .budget = 250000,
	    .revision = 6, .suites = BOTH)
	ROW("load.l3.penalty", "the additional cost of a load that hits the L3 instead of the L1", .kind = KIND_PENALTY, .unit = UNIT_CYCLES, .kernels = k_chase,
	    .target = TARGET_L3, .order = ORDER_LINES, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_L1, .statistic = STAT_MEDIAN,
	    .prefetch = PREFETCH_OFF, .window = 4096, .source = SOURCE_L3_UNSHARED, .proofs = proof_l3, .confirmed_by = "load.l3.latency",
	    .budget = 400000, .revision = 5, .suites = BOTH)
	ROW("load.dram_local.penalty", "the additional cost of a load from memory of this node instead of the L1", .kind = KIND_PENALTY, .unit = UNIT_CYCLES,
	    .kernels = k_chase, .target = TARGET_DRAM, .order = ORDER_SPARSE, .page_bytes = PAGE_2M, .prepare = PREPARE_FLUSH, .baseline = BASELINE_L1,
	    .statistic = STAT_MEDIAN, .prefetch = PREFETCH_OFF, .window = 1024, .source = SOURCE_DRAM_LOCAL, .proofs = proof_dram_local,
	    .confirmed_by = "load.dram_local.latency", .budget = 250000, .revision = 7, .suites = BOTH)

	ROW("tlb.dtlb_4k.penalty", "a load that misses the first-level DTLB and hits the second level", .kind = KIND_PENALTY, .unit = UNIT_CYCLES,
	    .kernels = k_chase, .target = TARGET_DTLB, .order = ORDER_PAGES, .page_bytes = PAGE_4K, .prepare = PREPARE_WARM, .baseline = BASELINE_PACKED,
	    .statistic = STAT_MINIMUM, .prefetch = PREFETCH_OFF, .window = 2048, .source = SOURCE_L1, .proofs = proof_stlb_hit, .budget = 200000,
	    .revision = 4, .suites = BOTH)
	ROW("tlb.stlb_walk_4k.penalty", "a load that misses both TLB levels: a walk with its entries cached", .kind = KIND_PENALTY, .unit = UNIT_CYCLES,
	    .kernels = k_chase, .target = TARGET_STLB, .order = ORDER_PAGE_GROUPS, .page_bytes = PAGE_4K, .prepare = PREPARE_WARM,
	    .baseline = BASELINE_PACKED, .statistic = STAT_MINIMUM, .prefetch = PREFETCH_OFF, .window = 4096, .source = SOURCE_L2, .proofs = proof_walk_l2,
	    .budget = 320000, .revision = 10, .suites = BOTH)

	ROW("tlb.walk_2m.penalty", "a load whose 2 MiB page misses the TLB: a walk with its entries cached", .kind = KIND_PENALTY,
	    .unit = UNIT_CYCLES, .kernels = k_chase, .target = TARGET_STLB, .order = ORDER_PAGES, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM,
	    .baseline = BASELINE_PACKED, .statistic = STAT_MINIMUM, .prefetch = PREFETCH_OFF, .window = 2048, .source = SOURCE_L1,
	    .proofs = proof_walk, .budget = 250000, .revision = 6, .suites = SUITE_FULL)
	ROW("tlb.walk_1g.penalty", "a load whose 1 GiB page misses the TLB: a walk with its entries cached", .kind = KIND_PENALTY,
	    .unit = UNIT_CYCLES, .kernels = k_chase, .target = TARGET_STLB, .order = ORDER_PAGES, .page_bytes = PAGE_1G, .prepare = PREPARE_WARM,
	    .baseline = BASELINE_PACKED, .statistic = STAT_MINIMUM, .prefetch = PREFETCH_OFF, .window = 2048, .source = SOURCE_L1,
	    .proofs = proof_walk, .budget = 250000, .revision = 6, .suites = SUITE_FULL)

	/* 24 bytes an element: two loads, one store. The line that a regular store reads for ownership is
	 * not counted; the non-temporal row shows what it costs. */
	ROW("triad.l1.bandwidth", "a[i] = b[i] + s * c[i], arrays in the L1 data cache", .kind = KIND_THROUGHPUT, .unit = UNIT_BYTES_PER_SECOND,
	    .kernels = k_triad, .target = TARGET_L1, .order = ORDER_STREAMS, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_NONE,
	    .statistic = STAT_MINIMUM, .prefetch = PREFETCH_AS_FOUND, .window = 256, .source = SOURCE_L1, .proofs = proof_stream_l1,
	    .budget = 500000, .revision = 16, .suites = BOTH)
	ROW("triad.l2.bandwidth", "a[i] = b[i] + s * c[i], arrays in the L2 cache", .kind = KIND_THROUGHPUT, .unit = UNIT_BYTES_PER_SECOND, .kernels = k_triad,
	    .target = TARGET_L2, .order = ORDER_STREAMS, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_NONE,
	    .statistic = STAT_MINIMUM, .prefetch = PREFETCH_AS_FOUND, .window = 256, .source = SOURCE_L2, .proofs = proof_12_lines_l2, .budget = 500000,
	    .revision = 17, .suites = BOTH)
	ROW("triad.l3.bandwidth", "a[i] = b[i] + s * c[i], arrays in the L3 cache", .kind = KIND_THROUGHPUT, .unit = UNIT_BYTES_PER_SECOND, .kernels = k_triad,
	    .target = TARGET_L3, .order = ORDER_STREAMS, .page_bytes = PAGE_2M, .prepare = PREPARE_WARM, .baseline = BASELINE_NONE, .statistic = STAT_MEDIAN,
	    .prefetch = PREFETCH_AS_FOUND, .window = 512, .source = SOURCE_L3, .proofs = proof_12_lines_l3, .budget = 850000, .revision = 17,
	    .suites = BOTH)
	ROW("triad.dram.bandwidth", "a[i] = b[i] + s * c[i], arrays in memory of this node", .kind = KIND_THROUGHPUT, .unit = UNIT_BYTES_PER_SECOND, .kernels = k_triad,
	    .target = TARGET_DRAM, .order = ORDER_STREAMS, .page_bytes = PAGE_2M, .prepare = PREPARE_FILL, .baseline = BASELINE_NONE, .statistic = STAT_MEAN,
	    .prefetch = PREFETCH_AS_FOUND, .window = 768, .source = SOURCE_DRAM_LOCAL, .proofs = proof_12_lines_dram, .budget = 2300000, .revision = 19,
	    .suites = BOTH)
	ROW("triad.dram_nt.bandwidth", "a[i] = b[i] + s * c[i], arrays in memory of this node, non-temporal stores", .kind = KIND_THROUGHPUT, .unit = UNIT_BYTES_PER_SECOND, .kernels = k_triad_nt,
	    .target = TARGET_DRAM, .order = ORDER_STREAMS, .page_bytes = PAGE_2M, .prepare = PREPARE_READ, .baseline = BASELINE_NONE, .statistic = STAT_MEAN,
	    .prefetch = PREFETCH_AS_FOUND, .window = 768, .source = SOURCE_DRAM_LOCAL, .proofs = proof_8_lines_dram, .budget = 2300000, .revision = 16,
	    .suites = BOTH)
#include "bench/catalogue/pairs.def"
#include "bench/catalogue/curves.def"
#include "bench/catalogue/sweeps.def"
#include "bench/catalogue/cores.def"
#include "bench/catalogue/bandwidth.def"
#include "bench/catalogue/samples.def"
};
const unsigned rows_count = COUNT_OF(rows);
