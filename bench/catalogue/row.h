/* bench/catalogue/row.h: a benchmark is one row of data, never code of its own. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include "asm/kernel.h"
#include "pmu/base.h"
#include "pmu/text.h"

/* Fingerprints hash the name of each value (row_value_name), so its number may change. */

/* The level that answers a row's loads, or that they miss. */
enum target { TARGET_L1, TARGET_L2, TARGET_L3, TARGET_DRAM, TARGET_DTLB, TARGET_STLB,
	TARGET_CORE, /* no level: effects within the core */
	TARGET_OTHER_CORE, /* lines in the caches of other cores that share the L3 */
	TARGET_OTHER_COMPLEX, /* lines in the caches of a core of the socket that has another L3 */
	TARGET_OTHER_DIE, /* the same, on another die */
	TARGET_OTHER_SOCKET, /* lines in the caches of a core on another socket */
	TARGET_SAME_CORE, /* lines that another thread of the core brought in */
	TARGET_SAME_CLUSTER, /* lines that another core with the same L2 brought in */
	TARGET_COUNT };
/* Layout and access order of the working set. A chase is one cycle through all nodes (a node is a line); the seed selects the cycle. */
enum order {
	ORDER_LINES,       /* every line of the footprint in random order */
	ORDER_SPARSE,      /* few lines, spread at random over many times the footprint of a DRAM page; or, where these are pieces of 4 KiB, one of each
	                      piece in turn: before a bank gets the next line of a piece's DRAM page, it has opened those of its other pieces */
	ORDER_PAGES,       /* one line a page, pages in random order */
	ORDER_PAGE_GROUPS, /* one line a page; groups of 8 pages, whose page-table entries share a line, in a fixed random order: the reuse
	                      distance of the entries is constant */
	ORDER_STREAMS,     /* three arrays of a power of two of bytes, ascending */
	ORDER_PAIR,        /* struct row_pair: kernels over one buffer with given contents, or without a buffer */
	ORDER_OPEN_PAGES,   /* the lines of a page in random order, then those of the next page: most find their DRAM page open */
	ORDER_MATRIX,      /* a few hundred lines at random, for each pair of cores whose relation is that of `target` */
	ORDER_MULTICORE,  /* streams, one a core, on 1, 2, 4 ... and all cores at once */
	ORDER_NODES,       /* streams of all cores of one node in the memory of a node, for each pair of nodes (`node`: the same or another) */
	ORDER_LOADED,      /* as ORDER_SPARSE, while other cores read streams at several rates */
	ORDER_LINE,        /* one line that two cores store to */
	ORDER_CURVE,  /* struct row_curve: code of a point over a ring of nodes */
	ORDER_REGIONS, /* every line of the footprint, at random within a region of few 2 MiB pages, region after region: the DTLB holds the
	                      pages of a region, so no load waits for a walk */
	ORDER_STAIRS, /* a chase over size and stride: bench/curves/sweep2d.h */
	ORDER_GATHER,      /* a gather with prefetch over work and distance: bench/curves/sweep2d.h */
	ORDER_SKID_PRECISE, ORDER_SKID_INTERRUPT, ORDER_SKID_ADDRESSES, /* a load that misses, sampled: bench/curves/skid.h */
	ORDER_PRIORITY_RECORDS, ORDER_PRIORITY_OVERFLOWS, /* counters that are due at the same load: bench/sampling/priority.h */
	ORDER_TLB_SIZE,    /* rings of one line a page, larger and larger: bench/curves/tlb_entries.h */
	ORDER_COUNT
};
/* How kernels bring the working set into its cache state before a window. */
enum prepare {
	PREPARE_WARM,  /* touched once in the row's own order, then again in part before each window */
	PREPARE_FLUSH, /* the lines of the window are flushed from all caches before it */
	PREPARE_FILL,  /* streams: run until the last-level cache writes modified lines back */
	PREPARE_READ,  /* streams with non-temporal stores: reads as many lines as the last level holds, to evict all earlier ones */
	PREPARE_EXCLUSIVE, /* flushed, then read by one other core: E there */
	PREPARE_MODIFIED,       /* flushed, then written by one other core: M there */
	PREPARE_SHARED,         /* flushed, then read by two other cores: S in both */
	PREPARE_COUNT
};
/* The baseline that a penalty is measured over: the same kernel with the same number of loads. */
enum baseline {
	BASELINE_NONE,
	BASELINE_L1,    /* a ring that stays in the L1 data cache */
	BASELINE_PACKED, /* the same number of consecutive lines: few pages, the same cache level */
	BASELINE_PAIR,   /* the baseline of struct row_pair */
	BASELINE_OPEN_PAGES, /* lines whose DRAM page the previous load opened, flushed like the test's */
	BASELINE_COUNT
};
/* The statistic over windows. MINIMUM: core-private levels. MEDIAN: shared levels, where the minimum would report one lucky window; points of
 * curves and sweeps; pairs with a random number of events. MEAN: DRAM streams, whose windows settle into different steady states. */
enum statistic { STAT_MINIMUM, STAT_MEDIAN, STAT_MEAN, STATISTIC_COUNT };
enum prefetch { PREFETCH_OFF, PREFETCH_AS_FOUND, PREFETCH_PAIR /* off, except the adjacent-line prefetcher */, PREFETCH_COUNT };
enum suites { SUITE_QUICK = 1, SUITE_FULL = 2 };

enum row_kind { KIND_LATENCY, KIND_PENALTY, KIND_THROUGHPUT, KIND_INTERVAL /* from one to the next of independent operations */,
	KIND_SIZE /* capacity of a buffer of the core, or of a TLB */,
	KIND_SAMPLED /* shown by samples */, ROW_KIND_COUNT };
enum row_unit { UNIT_CYCLES, UNIT_NS, UNIT_BYTES_PER_SECOND, UNIT_ENTRIES, UNIT_INSTRUCTIONS, UNIT_LINES, UNIT_COUNTERS, UNIT_COUNT };
/* "cycles", "ns", "bytes/s", "entries", "instructions", "lines", "counters". */
const char *row_unit_name(enum row_unit u);
/* "latency", "penalty", "throughput", "interval", "size", "sampled". */
const char *row_kind_name(enum row_kind k);

/* A concept of tables/concepts.csv whose count per unit of work must lie within [low, high], in thousandths. The unit is that of row.window; in
 * a stream it may be a load or store, whose number per iteration depends on the kernel. For ORDER_PAIR the count is the test's minus the
 * baseline's. */
#define ROW_PROOFS_MAX 4
enum proof_unit { PER_UNIT, PER_LOAD, PER_STORE, PER_COUNT };
struct row_proof { const char *concept; int32_t low_milli, high_milli; enum proof_unit per; };
/* Concepts that together prove a row, ended by one without a name. A row lists several sets where processors distinguish different things. The
 * first set is used all of whose concepts the processor counts accurately enough (expression_proves). */
struct row_proof_set {
	struct row_proof proofs[ROW_PROOFS_MAX];
	bool without_l3, victim_l3, one_socket; /* holds only if no L3 lies between the cores; if it takes evicted lines only; if all memory nodes are of one socket */
};

/* The source of the row's loads, or the level that takes its stores. */
enum source {
	SOURCE_L1, SOURCE_L2, SOURCE_FILL_BUFFER,
	SOURCE_L3, SOURCE_L3_UNSHARED, SOURCE_L3_SHARED, SOURCE_L3_CLEAN, SOURCE_L3_MODIFIED, /* by the line's state in other cores */
	SOURCE_OTHER_CORE, SOURCE_OWNER, SOURCE_NEAR_CLEAN, SOURCE_NEAR_MODIFIED, SOURCE_REMOTE_CLEAN, SOURCE_REMOTE_MODIFIED,
	SOURCE_DRAM_LOCAL, SOURCE_DRAM_OF_CORE, SOURCE_DRAM_REMOTE, SOURCE_DRAM_DISTANT /* of another node of the socket */,
	SOURCE_CORE, SOURCE_COUNTERS, SOURCE_ANY,
	SOURCE_COUNT
};
/* A memory node: that of core 0; of another socket, or of no processors; another one of core 0's socket. */
enum row_node { NODE_OWN, NODE_REMOTE, NODE_DISTANT };
/* The source in words for readers: "own L2 cache". */
const char *row_source_name(enum source s);

/* Contents of a buffer. Random contents are drawn anew before each window, so no predictor learns them. */
enum fill { FILL_ZERO, FILL_RANDOM_BIT /* bytes 0 or 1 */, FILL_RANDOM_4 /* bytes 0 to 3 */, FILL_COUNT };

/* Code generated at run time (bench/measure/codegen.h), run by k_run_code. X and X_BASE perform the same number of operations. */
enum code {
	CODE_NONE,
	CODE_LCP, CODE_COMPARES_PLAIN,          /* comparisons with a 16-bit constant, with a 32-bit one */
	CODE_NOPS_LONG,                     /* NOPs of 8 bytes */
	CODE_TARGETS, CODE_TARGETS_BASE,    /* more jumps than a branch target buffer holds; the same number from few jumps */
	CODE_LINES_L2, CODE_LINES_L3,       /* lines that never stay in the L1I; those of L3 not in the L2 either */
	CODE_LINES_BASE,
	CODE_PAGES_ITLB, CODE_PAGES_ITLB_BASE, /* one line a page, more pages than the ITLB holds; the same lines packed into few pages */
	CODE_PAGES_WALK, CODE_PAGES_WALK_BASE, /* the same beyond the STLB */
	CODE_SMC, CODE_SMC_BASE,            /* a store to the code's own line; to a buffer */
	CODE_LINES_FAR_BASE,                /* base of CODE_LINES_L3, which has more lines */
	CODE_COUNT
};

/* Two kernels with equal arguments, or one kernel over two contents; arguments: (iterations) or (buffer, iterations). The unit of work is the
 * row's event: `events` of them occur in `iterations` iterations. */
struct row_pair {
	const char *base;          /* the baseline's kernel; NULL: the row's own */
	enum fill fill, base_fill; /* of the test's buffer, of the baseline's */
	uint32_t bytes;            /* of the buffer, 0 none */
	uint16_t events, iterations;
	enum code code, base_code;  /* CODE_NONE: kernels only */
	bool counted;              /* the number of events is random: divide by the first proof's count */
	bool ahead;                /* part of the kernel runs in a window's job before the window, so that no window pays for translations of its buffer */
	bool beyond_l1;            /* the L1 holds nothing of the buffer on the next round, and the L2 all of it; no `bytes`. Its size in bytes less 1 is the third argument */
	bool lacked;               /* a stall that some processors lack: if it is neither counted nor costs anything, there is none */
	bool uncached;             /* code that no cache of decoded uops holds: if fewer instructions are decoded than retire, one holds it */
};

/* A row whose value is found along a curve (bench/curves/curve.h).
 * Each point has its own code, generated at run time. k_run_code runs it over a ring of nodes; the first 8 bytes of a node are the address of
 * the next. (k_run_code_cold, for points with many lines, also flushes the wrapper's lines.) At each node:
 *   CURVE_OVERLAP  the load of the next address and x - 1 loads of other lines of the node start together.
 *   CURVE_WALKS    as CURVE_OVERLAP, each load in a page of its own that no TLB level holds.
 *   CURVE_TWICE    a line of the node is loaded, and in the same cycle the next address from the same line (x is 1).
 *   CURVE_WINDOW   the next address is loaded (A), followed by x fillers and a load of another line of the node (B); the next node waits for
 *                  both. The two misses overlap as long as B enters the core before A returns (Wong,
 *                  http://blog.stuffedcow.net/2013/05/measuring-rob-capacity/). x doubles from 1 until an iteration takes closer to one of
 *                  CURVE_SERIAL than to the overlapped time extrapolated from smaller x; bisection then finds the last x that overlaps. The row
 *                  reports when the curve has no step.
 *   CURVE_SERIAL   as CURVE_WINDOW, but B's address depends on the value whose arrival unblocks B: A's, or that of a missing filler, which may
 *                  hit A's open DRAM page and return before A.
 *   CURVE_SPREAD   as CURVE_OVERLAP, each load in a memory region of its own. No two loads share a DRAM page, so the cost of a miss does not
 *                  depend on the DRAM pages that other loads opened.
 *   CURVE_PAIRS    x super-queue entries are requested together: x / 2 loads, each of whose pair lines the adjacent-line prefetcher fetches, and
 *                  for odd x one more load whose pair line is already in the L2. Then the pair lines are loaded: one whose prefetch found no
 *                  free entry comes from DRAM now. The value is the last x at which they take less than half of a DRAM load.
 *   CURVE_CHAINS   no ring: x dependent additions per iteration, iterations independent of each other; the value is for one addition.
 *   CURVE_BESIDE   the next address is loaded (A), then x lines that miss too, then a number that the L1 (FILLER_LOAD) or the L2 (FILLER_MISS)
 *                  holds, of which `roots` square roots are taken one after the other; the next node waits for A and the last root. Where the
 *                  number's load waits until A returns, an iteration takes a miss longer. */
enum curve_what { CURVE_OVERLAP, CURVE_TWICE, CURVE_WINDOW, CURVE_CHAINS, CURVE_WALKS, CURVE_SPREAD, CURVE_PAIRS, CURVE_SERIAL, CURVE_BESIDE, CURVE_COUNT };
/* The fillers between the two loads of CURVE_WINDOW, and the buffer of the core that they fill. */
enum filler {
	FILLER_NOP,     /* reorder buffer: has no inputs and waits for retirement of the first load only */
	FILLER_WAITING, /* reservation station: waits for the first load's value */
	FILLER_LOAD,    /* load buffer: a line in the L1 */
	FILLER_STORE,   /* store buffer: likewise */
	FILLER_MISS     /* fill buffers: each misses on another line; these and B's lie in regions of their own, as with CURVE_SPREAD.
	                 * CURVE_PAIRS: loads the pair lines; with any other filler they are not loaded */,
	FILLER_COUNT
};
/* How a curve becomes the row's value. */
enum curve_value { VALUE_FLAT /* the first point that no other undercuts by more than 1 % */, VALUE_LAST, VALUE_KNEE /* the last x before the knee, plus `both` */, VALUE_COUNT };

#define CURVE_REGIONS 24u        /* of CURVE_SPREAD: limits the loads per node */

struct row_curve {
	enum curve_what what;
	enum filler filler;
	enum curve_value value;
	uint16_t most;  /* the largest x tried */
	uint8_t both;   /* how many of CURVE_WINDOW's two loads take an entry of the fillers' buffer */
	uint8_t roots;  /* of CURVE_BESIDE */
};

struct row {
	const char *name;            /* what.where.kind */
	const char *asks;            /* the question it answers */
	enum row_kind kind;
	enum row_unit unit;
	const char *const *kernels;  /* the first that the processor supports is used; NULL at the end */
	enum target target;
	enum order order;
	uint64_t page_bytes;         /* PAGE_2M falls back to PAGE_4K with a remark */
	enum prepare prepare;
	enum baseline baseline;
	enum statistic statistic;
	enum prefetch prefetch;
	enum row_node node;          /* whose memory */
	uint32_t window;             /* units of work in the shorter window: loads, kernel iterations, events of a pair */
	enum source source;
	const struct row_proof_set *proofs; /* ends with an empty set; NULL: no concept expresses the row, only instructions are counted */
	const char *confirmed_by;    /* another row with an independent method; NULL: none yet */
	uint32_t budget;             /* limit of instructions on a simulated Nehalem-EP */
	uint32_t revision;           /* of the method; tests/methods.txt holds the fingerprint */
	uint8_t suites;              /* enum suites */
	const struct row_pair *pair; /* ORDER_PAIR, else NULL */
	const struct row_curve *curve; /* ORDER_CURVE, else NULL */
};

/* The enums of a row, and the name of each value: "order", "lines". NULL: no such value. */
enum row_field {
	FIELD_KIND, FIELD_UNIT, FIELD_TARGET, FIELD_ORDER, FIELD_PREPARE, FIELD_BASELINE, FIELD_STATISTIC, FIELD_PREFETCH, FIELD_SOURCE, FIELD_PER,
	FIELD_FILL, FIELD_CODE, FIELD_CURVE, FIELD_FILLER, FIELD_VALUE, FIELD_COUNT
};
const char *row_value_name(enum row_field field, unsigned value);

/* Whether the measuring loop runs the row: one kernel on one core, whose iterations are counted. */
bool row_is_of_loop(const struct row *r);

extern const struct row rows[];
extern const unsigned rows_count;

/* The row of that name (name.kind); NULL: there is none. */
const struct row *row_find(const char *name);

#endif
