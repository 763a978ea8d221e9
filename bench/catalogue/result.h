/* bench/catalogue/result.h: what a row may give: its value and verdict, and what the methods beside it found. Data alone; the room that fills a
 * part in has its functions. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include "bench/catalogue/row.h"

enum row_status { ROW_OK, ROW_NOISY, ROW_UNPROVEN, ROW_UNSUPPORTED, ROW_FAULT, ROW_CRASHED, ROW_STATUS_COUNT };
const char *row_status_name(enum row_status s);

/* --- a curve, or a value for each pair of nodes: bench/catalogue/series.h, bench/curves/ */

#define SERIES_COLUMNS 4
#define SERIES_POINTS 64

/* Numbers in thousandths, those of a column in one unit. */
struct series {
	const char *const *columns; /* names, "cores", "bytes_per_second"; NULL: the row has no series */
	unsigned column_count, points;
	int64_t milli[SERIES_POINTS][SERIES_COLUMNS];
};

/* Points that a row's value was found from, in the order in which they were measured. */
#define CURVE_POINTS_MAX 96
struct curve {
	const char *x, *y;  /* what both coordinates are; y NULL: there is one */
	const char *unit;   /* what the values are, in thousandths */
	unsigned count;
	struct { uint32_t x, y; int64_t milli; bool noisy; /* measured again, and never sure */ } points[CURVE_POINTS_MAX];
};

/* --- loads sampled by the load-latency event: bench/sampling/sample.h */

#define SAMPLE_SOURCES 16  /* codes of the data source, bits 3:0 */
#define SAMPLE_BUCKETS 16  /* [0] below 2 cycles, [i] from 2^i to below 2^(i+1), the last: and above */

/* Latencies of the records of one data source, in core cycles; percentiles by nearest rank. */
struct sample_source {
	uint32_t count;
	uint32_t median, p10, p90, p99;
	int64_t mean_milli;
	uint32_t histogram[SAMPLE_BUCKETS];
};

enum sample_verdict {
	SAMPLE_NONE,        /* the row's loads are not sampled */
	SAMPLE_AGREES,      /* within 2 % of the chase */
	SAMPLE_DIFFERS,
	SAMPLE_UNPROVEN,    /* sources or addresses are not those of the chase, or there are too few records */
	SAMPLE_UNSUPPORTED, /* this processor or backend cannot sample */
	SAMPLE_FAULT,
	SAMPLE_VERDICT_COUNT
};

struct sample_result {
	enum sample_verdict verdict;
	char reason[96];         /* why it does not agree, "" if it does */
	const char *event;       /* the event's name, "" if none */
	uint32_t threshold;      /* cycles: only slower loads are recorded */
	uint32_t records;        /* of the chase's own loads */
	uint32_t outside;        /* records of other loads: the wrapper's, thrown away */
	uint32_t wrong_address;  /* records whose linear address is no node, or whose node holds another value */
	uint32_t rejected;       /* bursts thrown away since an SMI hit them */
	bool full;               /* the buffer filled: records are missing */
	bool lost_known;
	uint32_t lost;           /* records that were due and did not come */
	int64_t shadow_milli;    /* events that fell into the shadow of one overflow, with lost_known */
	int64_t fraction_milli;  /* loads that the facility sampled, of all from the row's sources; -1 unknown */
	const char *beside;      /* the event that counted all of them, "" if none */
	int64_t value_milli;     /* mean latency of records from the row's sources, up to their 99th percentile, cycles */
	int64_t difference_milli;/* of that from the chase's value, thousandths of it */
	struct sample_source sources[SAMPLE_SOURCES];
};

/* --- loads in the uncore's queue, and by each box on their way: bench/uncore/ */

/* Where a read that the table of requests holds is answered: in this socket, in this node's memory or by another socket for
 * it, in another node. */
enum latency_breakdown_answer { BREAKDOWN_HIT, BREAKDOWN_LOCAL, BREAKDOWN_REMOTE, BREAKDOWN_ANSWERS };
enum latency_breakdown_page { BREAKDOWN_PAGE_HIT, BREAKDOWN_PAGE_EMPTY, BREAKDOWN_PAGE_MISS, BREAKDOWN_PAGES };

struct latency_breakdown_result {
	bool there;
	int64_t ingress_milli;                /* uncore cycles before the table's entry is taken; -1 unknown */
	int64_t held_milli[BREAKDOWN_ANSWERS];    /* uncore cycles in the table; -1: fewer than one load in twenty */
	int64_t entries_milli[BREAKDOWN_ANSWERS]; /* for each load */
	int64_t pages_milli[BREAKDOWN_PAGES];     /* accesses of memory at the home, for each load; -1 unknown */
	int64_t flits_milli;                  /* of data that this socket's links brought, for each load; -1 unknown */
	uint64_t uncore_hz;
};

enum uncore_latency_verdict {
	UNCORE_LATENCY_NONE,        /* not a row of loads served beyond the L2 */
	UNCORE_LATENCY_OK,
	UNCORE_LATENCY_UNPROVEN,    /* the counts are not those of the row's loads, or the clock moved */
	UNCORE_LATENCY_UNSUPPORTED, /* no uncore counters with these events here */
	UNCORE_LATENCY_FAULT        /* a register failed */
};

struct uncore_latency_result {
	enum uncore_latency_verdict verdict;
	char reason[96];
	int64_t uncore_milli;      /* residence, uncore cycles */
	int64_t cycles_milli;      /* the same in core cycles */
	int64_t offset_milli;      /* load to use minus that: core to queue and back, core cycles */
	int64_t inserts_milli;     /* entries taken for each load */
	int64_t response_milli;    /* until the L3 had answered, uncore cycles; -1 unknown */
	int64_t miss_milli;        /* of the L3's misses: from the miss to the fill; -1 none */
	int64_t home_milli;        /* reads of this socket held by its home; -1 none */
	uint64_t uncore_hz;
	unsigned samples;
	bool bus;                  /* the in-order queue of a front-side bus, in processor clocks: uncore_latency_bus.c */
	struct latency_breakdown_result apart; /* the same loads by each box on their way */
};

/* --- streams by channel and link: bench/uncore/traffic.h */

#define TRAFFIC_SOCKETS  4 /* of a row, at most: the first that take part */
#define TRAFFIC_CHANNELS 8 /* of a socket's memory, at most */
#define TRAFFIC_LINKS    3 /* of a socket, at most (manual 331051-002, 2.9) */

/* Counts of a socket: full lines of each channel, then flits of data of each link. */
enum {
	TRAFFIC_READ, TRAFFIC_WRITE = TRAFFIC_READ + TRAFFIC_CHANNELS, TRAFFIC_RECEIVED = TRAFFIC_WRITE + TRAFFIC_CHANNELS,
	TRAFFIC_SENT = TRAFFIC_RECEIVED + TRAFFIC_LINKS, TRAFFIC_COUNTS = TRAFFIC_SENT + TRAFFIC_LINKS
};

struct traffic_socket {
	unsigned socket;               /* as uncore_find numbered it */
	unsigned channels, links;      /* that it has; those that cannot be counted: 0 */
	int64_t bytes[TRAFFIC_COUNTS]; /* a second */
};
struct traffic_result { unsigned sockets; struct traffic_socket at[TRAFFIC_SOCKETS]; }; /* sockets 0: nothing was counted */

/* --- pairs of cores: bench/multicore/matrix.h */

/* A pair: `owner` prepared the lines, `reader` loaded them. Thousandths of a cycle a load. */
struct matrix_cell {
	uint16_t owner, reader;
	uint16_t counts[ROW_PROOFS_MAX]; /* for each concept of the proof in so many loads as the shorter window has, medians */
	int64_t median_milli, p10_milli, p90_milli;
	int64_t low_milli, high_milli; /* medians of the two groups of a bimodal result, -1 when there is one group */
};
struct matrix { unsigned cells; struct matrix_cell cell[]; };

/* --- the row */

struct row_result {
	const struct row *row;
	const char *name;          /* "load.l2.latency" */
	enum row_kind kind;
	enum row_unit unit;
	enum row_status status;
	char reason[128];          /* why it is not ok, "" if it is */
	int64_t value_milli;       /* in `unit`, thousandths */
	int64_t spread_milli;      /* median absolute deviation, same unit */
	int64_t range_milli;       /* of a latency without a cycle counter: how far apart the rounds lie whose mean the value is; else 0 */
	int64_t cycles_milli;      /* shared levels: core cycles as well, else -1 */
	int64_t ns_milli;          /* nanoseconds as well, else -1 */
	uint32_t samples, rejected;
	char proof[256];           /* what the processor counted for each concept of its proof: "MEM_LOAD_RETIRED.L2_HIT 1.000 per load" */
	uint32_t revision;         /* of the method */
	const char *kernel;        /* the one that ran, "" if none */
	uint64_t footprint_bytes;  /* of the test's working set */
	uint64_t page_bytes;       /* as mapped */
	uint64_t core_hz;          /* as measured in the row's own windows, 0 unknown */
	bool absent;               /* unsupported since the machine itself lacks what the row is about */
	bool unprovable;           /* unproven since no event of this processor proves the row: its concepts.csv says why */
	bool noisy;                /* the noise verdict, also under another status */
	char remark[96];           /* what a reader should know, "" if nothing */
	struct matrix *matrix;     /* ORDER_MATRIX: its pairs, else NULL; the suite gives the memory back */
	struct series series;      /* ORDER_MULTICORE, ORDER_NODES, ORDER_LOADED, ORDER_SKID_*: what was measured at each point */
	struct curve curve;        /* count 0: the row has none */
	struct sample_result sample; /* the same loads by the load-latency event */
	struct uncore_latency_result queue;   /* the same loads in the uncore's queue */
	struct traffic_result traffic; /* streams from memory: by channel and link */
	const struct latency_source *latency_sources; /* names of its data sources, NULL if the processor has none */
};

/* Whether its value is one: the row is ok, noisy or unproven, and something was measured. */
bool row_has_value(const struct row_result *r);

#endif
