/* bench/catalogue/row.h: a benchmark is one row of data, never code of its own. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include "asm/kernel.h"
#include "pmu/base.h"
#include "pmu/text.h"

/* Each value has a name (row_value_name), which goes into fingerprints: its number may change. */

/* What a row aims at: where its loads are answered, or what they miss. */
enum target { TARGET_L1, TARGET_L2, TARGET_L3, TARGET_DRAM, TARGET_DTLB, TARGET_STLB,
	TARGET_CORE, /* nowhere: what happens within the core */
	TARGET_OTHER_CORE, /* lines in the caches of other cores that share the L3 */
	TARGET_OTHER_SOCKET, /* lines in the caches of a core of another socket */
	TARGET_SAME_CORE, /* lines that another thread of the core brought in */
	TARGET_SAME_CLUSTER, /* lines that another core with the same L2 brought in */
	TARGET_COUNT };
/* How the working set is laid out and in which order it is visited. Chases are one cycle through
 * all nodes (a node is a line); the seed decides which. */
enum order {
	ORDER_LINES,       /* every line of the footprint, full random */
	ORDER_SPARSE,      /* few lines, spread at random over many times the footprint of a DRAM page */
	ORDER_PAGES,       /* one line a page, full random over the pages */
	ORDER_PAGE_GROUPS, /* one line a page; groups of 8 pages, whose page-table entries share a line,
	                      in a fixed random order: the entries are always as old when used again */
	ORDER_STREAMS,     /* three arrays of a power of two of bytes, ascending */
	ORDER_PAIR,        /* struct row_pair: kernels over one buffer with stated contents, or none */
	ORDER_OPEN_PAGES,   /* the lines of a page in random order, then the next page's: most find their DRAM page open */
	ORDER_MATRIX,      /* a few hundred lines at random, once for each pair of cores that stand to each other as `place` says */
	ORDER_MULTICORE,  /* streams, one a core, on 1, 2, 4 ... and all cores at once */
	ORDER_NODES,       /* streams of all cores of a node in memory of a node: each pair of nodes that stand to each other as `node` says */
	ORDER_LOADED,      /* as ORDER_SPARSE, while other cores read streams at several paces */
	ORDER_LINE,        /* one line that two cores store to */
	ORDER_CURVE,  /* struct row_curve: code of a point over a ring of nodes */
	ORDER_REGIONS, /* every line of the footprint, at random within a region of few 2 MiB pages, then the next region's:
	                      the DTLB holds the pages of a region, no load waits for a walk */
	ORDER_STAIRS, /* a chase over size and stride: bench/curves/sweep2d.h */
	ORDER_GATHER,      /* a gather with prefetch over work and distance: bench/curves/sweep2d.h */
	ORDER_SKID_PRECISE, ORDER_SKID_INTERRUPT, ORDER_SKID_ADDRESSES, /* a load that misses, sampled: bench/curves/skid.h */
	ORDER_COUNT
};
/* How the working set comes into its state before a window; always by kernels. */
enum prepare {
	PREPARE_WARM,  /* visited once in the row's own order, then again in part before each window */
	PREPARE_FLUSH, /* what the window will visit is flushed out of all caches before each window */
	PREPARE_FILL,  /* streams: until the last-level cache has begun to write modified lines back */
	PREPARE_READ,  /* streams that store past the caches: until as many lines are read as the last level holds,
	                  so that none is left there from before */
	PREPARE_EXCLUSIVE, /* flushed, then read by one other core: E there */
	PREPARE_MODIFIED,       /* flushed, then written by one other core: M there */
	PREPARE_SHARED,         /* flushed, then read by two other cores: S in both */
	PREPARE_COUNT
};
/* What a penalty is over: the same kernel, as many loads. */
enum baseline {
	BASELINE_NONE,
	BASELINE_L1,    /* a ring that stays in the L1 data cache */
	BASELINE_PACKED, /* as many lines in consecutive lines: few pages, the same cache level */
	BASELINE_PAIR,   /* what struct row_pair says */
	BASELINE_OPEN_PAGES, /* lines whose DRAM page the load before opened, flushed as the test's */
	BASELINE_COUNT
};
/* Which statistic of the windows: the minimum where only this core's work counts, the median where
 * others share the level, so that a lucky window is no result. */
/* Of windows of the core alone, of those that share with others, and of streams in memory, each of whose windows may fall into a rhythm of its own. */
enum statistic { STAT_MINIMUM, STAT_MEDIAN, STAT_MEAN, STATISTIC_COUNT };
enum prefetch { PREFETCH_OFF, PREFETCH_AS_FOUND, PREFETCH_PAIR /* off, but for the one that brings the other line of an aligned pair */, PREFETCH_COUNT };
enum suites { SUITE_QUICK = 1, SUITE_FULL = 2 };

enum row_kind { KIND_LATENCY, KIND_PENALTY, KIND_THROUGHPUT, KIND_INTERVAL /* from one to the next, independent */,
	KIND_SIZE /* of a buffer of the core */,
	KIND_SAMPLED /* what samples show */, ROW_KIND_COUNT };
enum row_unit { UNIT_CYCLES, UNIT_NS, UNIT_BYTES_PER_SECOND, UNIT_ENTRIES, UNIT_INSTRUCTIONS, UNIT_LINES, UNIT_COUNT };
/* "cycles", "ns", "bytes/s", "entries", "instructions", "lines". */
const char *row_unit_name(enum row_unit u);
/* "latency", "penalty", "throughput", "interval", "size", "sampled". */
const char *row_kind_name(enum row_kind k);

/* A concept of tables/concepts.csv whose count per unit of work must lie within [low, high], in thousandths. The unit is what
 * row.window counts, or, in a stream, a load or store of its kernel: how many an iteration has depends on the kernel.
 * Of a pair it is what the test counts more than the baseline. */
#define ROW_PROOFS_MAX 4
enum proof_unit { PER_UNIT, PER_LOAD, PER_STORE, PER_COUNT };
struct row_proof { const char *concept; int32_t low_milli, high_milli; enum proof_unit per; };
/* Concepts that together prove a row; the first without a name ends them. A row lists several sets where processors can tell
 * different things: the first set is used each of whose concepts the processor counts well enough (expression_proves). */
struct row_proof_set { struct row_proof proofs[ROW_PROOFS_MAX]; };

/* Who answers the row's loads, or takes its stores. */
enum source {
	SOURCE_L1, SOURCE_L2, SOURCE_FILL_BUFFER,
	SOURCE_L3, SOURCE_L3_UNSHARED, SOURCE_L3_SHARED, SOURCE_L3_CLEAN, SOURCE_L3_MODIFIED, /* by what other cores have of the line */
	SOURCE_OTHER_CORE, SOURCE_OWNER, SOURCE_REMOTE_CLEAN, SOURCE_REMOTE_MODIFIED,
	SOURCE_DRAM_LOCAL, SOURCE_DRAM_OF_CORE, SOURCE_DRAM_REMOTE,
	SOURCE_CORE, SOURCE_COUNTERS, SOURCE_ANY,
	SOURCE_COUNT
};
/* In words, for readers: "own L2 cache". */
const char *row_source_name(enum source s);

/* What a buffer holds. Random contents are drawn anew before each window: no predictor learns them. */
enum fill { FILL_ZERO, FILL_RANDOM_BIT /* bytes 0 or 1 */, FILL_RANDOM_4 /* bytes 0 to 3 */, FILL_COUNT };

/* Code that is written at run time (bench/measure/codegen.h), run by k_run_code; X and X_BASE make as many events. */
enum code {
	CODE_NONE,
	CODE_LCP, CODE_COMPARES_PLAIN,          /* comparisons with a 16-bit constant, with a 32-bit one */
	CODE_NOPS_LONG,                     /* NOPs of 8 bytes */
	CODE_TARGETS, CODE_TARGETS_BASE,    /* more jumps than a branch target buffer holds; few, as often */
	CODE_LINES_L2, CODE_LINES_L3,       /* lines that never stay in the L1I; nor in the L2 */
	CODE_LINES_BASE,
	CODE_PAGES_ITLB, CODE_PAGES_ITLB_BASE, /* one line a page, more than the ITLB holds; as many lines in few pages */
	CODE_PAGES_WALK, CODE_PAGES_WALK_BASE, /* more than the second level holds */
	CODE_SMC, CODE_SMC_BASE,            /* a store to the code's own line; to a buffer */
	CODE_LINES_FAR_BASE,                /* of CODE_LINES_L3, of which there are more */
	CODE_COUNT
};

/* Two kernels with equal arguments, or one over two contents: (iterations), or (buffer, iterations). The unit
 * of work is the event that the row is about, of which there are `events` in `iterations` iterations. */
struct row_pair {
	const char *base;          /* the baseline's kernel; NULL: the row's own */
	enum fill fill, base_fill; /* of the test's buffer, of the baseline's */
	uint32_t bytes;            /* of the buffer, 0 none */
	uint16_t events, iterations;
	enum code code, base_code;  /* CODE_NONE: the kernels are all */
	bool counted;              /* chance decides how many events there are: the first proof's count divides */
};

/* A row whose value is found along a curve (bench/curves/curve.h).
 * Each point is a piece of code of its own, written at run time, which k_run_code runs over a ring of nodes: a node's first
 * 8 bytes are the address of the next (k_run_code_cold, where lines are many: it flushes those of the wrapper). At a node
 *   CURVE_OVERLAP  the load of the next address and x - 1 loads of other lines of the node start together
 *   CURVE_WALKS    as CURVE_OVERLAP, each load in a page of its own that no TLB level holds
 *   CURVE_TWICE    one line of the node is loaded, and in the same cycle the next address from the same line (x is 1)
 *   CURVE_WINDOW   the next address is loaded (A), then come x fillers, then a load of another line of the node (B), and the
 *                  next node waits for both: as long as B enters the core before A is there, both misses overlap (Wong,
 *                  http://blog.stuffedcow.net/2013/05/measuring-rob-capacity/). x is doubled from 1 until a turn is nearer to one of CURVE_SERIAL
 *                  than to what it takes by what fillers took so far, then the last x before that is searched by
 *                  bisection. Where no step is there to be seen the row says so.
 *   CURVE_SERIAL   as CURVE_WINDOW, but B's address needs the value that frees what B waits for: A's, or that of a filler that misses, which may
 *                  find A's DRAM page open and be there before A
 *   CURVE_SPREAD   as CURVE_OVERLAP, each load in a region of memory of its own, so that no two are of one DRAM page: what a
 *                  miss costs does not hang on which rows other loads have opened
 *   CURVE_PAIRS    lines of x entries of the super queue start together: half as many loads, the other line of each one's pair brought by
 *                  the prefetcher that does that, and for an odd x a load whose pair's other line the L2 has. Then the
 *                  other lines are loaded: what was not brought, since no entry was free, comes from memory now. The
 *                  value is the last x at which they do not take half of a load from memory.
 *   CURVE_CHAINS   no ring: x dependent additions a turn, turns independent of each other; the value is of one addition */
enum curve_what { CURVE_OVERLAP, CURVE_TWICE, CURVE_WINDOW, CURVE_CHAINS, CURVE_WALKS, CURVE_SPREAD, CURVE_PAIRS, CURVE_SERIAL, CURVE_COUNT };
/* What stands between the two loads of CURVE_WINDOW, and which of the core's buffers it fills. */
enum filler {
	FILLER_NOP,     /* reorder buffer: waits for nothing, leaves behind the first load alone */
	FILLER_WAITING, /* reservation station: waits for the first load's value */
	FILLER_LOAD,    /* load buffer: a line in the L1 */
	FILLER_STORE,   /* store buffer: likewise */
	FILLER_MISS     /* fill buffers: each another line that misses, B's as well in a region of its own, as with CURVE_SPREAD. CURVE_PAIRS: the other lines are loaded; any other: they are not */,
	FILLER_COUNT
};
/* How a curve becomes the row's value. */
enum curve_value { VALUE_FLAT /* the first that none undercuts by more than 1 % */, VALUE_LAST, VALUE_KNEE /* the last x before the knee, plus `both` */, VALUE_COUNT };

#define CURVE_REGIONS 24u        /* of CURVE_SPREAD: as many loads a node at most */

struct row_curve {
	enum curve_what what;
	enum filler filler;
	enum curve_value value;
	uint16_t most;  /* the largest x that is tried */
	uint8_t both;   /* of the two loads of CURVE_WINDOW, how many take an entry beside the fillers */
};

struct row {
	const char *name;            /* what.where.kind */
	const char *asks;            /* the question it answers */
	enum row_kind kind;
	enum row_unit unit;
	const char *const *kernels;  /* the first whose instruction set is there; NULL at the end */
	enum target target;
	enum order order;
	uint64_t page_bytes;         /* PAGE_2M falls back to PAGE_4K with a remark */
	enum prepare prepare;
	enum baseline baseline;
	enum statistic statistic;
	enum prefetch prefetch;
	uint8_t node;                /* memory node, 0 = that of core 0, 1 = another */
	uint32_t window;             /* units of work in the shorter window: loads, kernel iterations, events of a pair */
	enum source source;
	const struct row_proof_set *proofs; /* ends with an empty set; NULL: no concept means it, the instructions of its code are all that is counted */
	const char *confirmed_by;    /* another row with an independent method; NULL: none yet */
	uint32_t budget;             /* instructions that the row may cost on a simulated Nehalem-EP */
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

/* Whether the measuring loop runs rows of that order: one kernel on one core, whose iterations are counted. */
bool row_is_of_loop(const struct row *r);

extern const struct row rows[];
extern const unsigned rows_count;

/* The row of that name (name.kind); NULL: there is none. */
const struct row *row_find(const char *name);

#endif
