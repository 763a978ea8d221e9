/* bench/catalogue/result.h: the result of a row: its value and verdict, and the findings of the methods that ran beside it. Data only; the
 * functions of each part are in the folder that fills it in. */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include "bench/catalogue/row.h"

enum row_status {
	ROW_OK, ROW_NOISY, ROW_UNPROVEN, ROW_UNSUPPORTED,
	ROW_FAULT,   /* the processor raised an exception */
	ROW_TIMEOUT, /* a job did not end, or a core did not answer, in time */
	ROW_FAILED,  /* something else did not work */
	ROW_CRASHED, ROW_STATUS_COUNT
};
const char *row_status_name(enum row_status s);
/* The status of a row whose call failed with `st`: unsupported for ST_UNSUPPORTED and ST_FULL, fault for ST_FAULT, timeout for ST_TIMEOUT, else
 * failed. */
enum row_status row_status_of(enum status st);
/* Whether it is one of fault, time-out and failed: the row was begun and not completed. */
bool row_was_ended(enum row_status s);

/* --- a curve, or a value for each pair of nodes: bench/catalogue/series.h, bench/curves/ */

#define SERIES_COLUMNS 4
#define SERIES_POINTS 64

/* Numbers in thousandths; a column has one unit. */
struct series {
	const char *const *columns; /* names, "cores", "bytes_per_second"; NULL: the row has no series */
	unsigned column_count, points;
	int64_t milli[SERIES_POINTS][SERIES_COLUMNS];
};

/* The points behind a row's value, in the order of their measurement. */
#define CURVE_POINTS_MAX 96
enum { CURVE_PLATEAU_L2 = 2, CURVE_PLATEAU_L3, CURVE_PLATEAU_MEMORY, CURVE_PLATEAUS };
struct curve {
	const char *x, *y;  /* names of the coordinates; y NULL: one only */
	const char *unit;   /* of the values, in thousandths */
	unsigned count;
	struct {
		uint32_t x, y;
		int64_t milli;
		bool noisy; /* measured again and still noisy */
		bool tlb;   /* staircase: loads miss the first-level data TLB, and the value includes that cost */
	} points[CURVE_POINTS_MAX];
	int64_t plateau_milli[CURVE_PLATEAUS]; /* staircase: by level; 0: no point shows the level alone */
};

/* --- loads sampled by the load-latency event: bench/sampling/sample.h */

#define SAMPLE_SOURCES 16  /* codes of the data source, bits 3:0 */
#define SAMPLE_BUCKETS 16  /* [0] below 2 cycles, [i] from 2^i to below 2^(i+1), the last without an upper limit */

/* Latencies of the records of one data source, in core cycles; percentiles by nearest rank. */
struct sample_source {
	uint32_t count;
	uint32_t median, p10, p90, p99;
	int64_t mean_milli;
	uint32_t histogram[SAMPLE_BUCKETS];
};

/* Cycles from the retirement of the previous instruction to that of the load, over the records that name the row's source (timed PEBS). */
struct sample_retire {
	uint32_t count;          /* 0: no record holds them */
	uint32_t least, most;
	uint64_t sum;
};

enum sample_verdict {
	SAMPLE_NONE,        /* the row's loads are not sampled */
	SAMPLE_AGREES,      /* within 2 % of the row's value */
	SAMPLE_DIFFERS,
	SAMPLE_UNPROVEN,    /* sources or addresses are not those of the chase, or there are too few records */
	SAMPLE_UNSUPPORTED, /* this processor or backend cannot sample */
	SAMPLE_FAULT, SAMPLE_TIMEOUT, SAMPLE_FAILED, /* as a row's status */
	SAMPLE_VERDICT_COUNT
};

/* The same lines, sampled by the counters of the core's L3 (bench/sampling/sample_l3.c). */
struct sample_l3 {
	enum sample_verdict verdict;
	uint32_t lines;          /* sampled */
	bool ns;                 /* the L3's unit is ns, else core cycles */
	int64_t value_milli;     /* load to use, core cycles, thousandths */
	int64_t difference_milli;/* from the chase's value, in thousandths of it */
};
struct sample_result {
	enum sample_verdict verdict;
	char reason[96];         /* why it does not agree, "" if it does */
	const char *event;       /* the event's name, "" if none */
	bool by_op;              /* by IBS, which tags ops or fetches of all kinds: losses are unknown, and `event` names the method */
	uint32_t threshold;      /* cycles: only slower loads are recorded */
	uint32_t records;        /* of the chase's own loads */
	uint32_t outside;        /* records of other loads, the wrapper's: discarded */
	uint32_t wrong_address;  /* records whose linear address is no node, or whose node holds a different value */
	uint32_t rejected;       /* bursts discarded because of an SMI */
	bool full;               /* the buffer filled: records are missing */
	bool lost_known;         /* `lost` is exact */
	uint32_t lost;           /* records that were due but missing, with lost_known */
	uint32_t lost_most;      /* upper bound without lost_known */
	int64_t shadow_milli;    /* events in the shadow of one overflow, with lost_known */
	int64_t fraction_milli;  /* share of the loads from the row's sources that the facility sampled; -1 unknown */
	const char *beside;      /* the event that counted all these loads, "" if none */
	int64_t value_milli;     /* mean latency of records from the row's sources, up to their 99th percentile, cycles */
	int64_t difference_milli;/* value_milli relative to the chase's value, minus 1, in thousandths */
	struct sample_retire retire;
	struct sample_source sources[SAMPLE_SOURCES];
	struct sample_l3 l3;     /* only with IBS */
};

/* --- latency of loads in the uncore's queue and in each box on their path: bench/uncore/ */

/* Who answers a read in the table of outstanding requests. HIT: this socket. LOCAL: this node's memory, or another socket on its behalf. REMOTE:
 * another node. */
enum latency_breakdown_answer { BREAKDOWN_HIT, BREAKDOWN_LOCAL, BREAKDOWN_REMOTE, BREAKDOWN_ANSWERS };
enum latency_breakdown_page { BREAKDOWN_PAGE_HIT, BREAKDOWN_PAGE_EMPTY, BREAKDOWN_PAGE_MISS, BREAKDOWN_PAGES };

struct latency_breakdown_result {
	bool there;
	int64_t ingress_milli;                /* uncore cycles until the table entry is allocated; -1 unknown */
	int64_t held_milli[BREAKDOWN_ANSWERS];    /* uncore cycles in the table; -1: fewer than one load in twenty got this answer */
	int64_t entries_milli[BREAKDOWN_ANSWERS]; /* table entries per load */
	int64_t pages_milli[BREAKDOWN_PAGES];     /* DRAM accesses at the home, per load; -1 unknown */
	int64_t flits_milli;                  /* data flits received on this socket's links, per load; -1 unknown */
	int64_t home_milli;                   /* uncore cycles at the home agent, including its memory; -1 unknown */
	int64_t way_milli;                    /* from the table to the home and back: the lookup in the L3, and a link in both directions; -1 unknown */
	int64_t link_milli;                   /* the link's share of that, if a local chase of the same run gives the rest; -1 unknown */
	uint64_t uncore_hz;
};

enum uncore_latency_verdict {
	UNCORE_LATENCY_NONE,        /* not a row of loads served beyond the L2 */
	UNCORE_LATENCY_OK,
	UNCORE_LATENCY_UNPROVEN,    /* the counts are not those of the row's loads, or the clock moved */
	UNCORE_LATENCY_UNSUPPORTED, /* no uncore counters with these events here */
	UNCORE_LATENCY_FAULT, UNCORE_LATENCY_TIMEOUT, UNCORE_LATENCY_FAILED /* as a row's status */
};

struct uncore_latency_result {
	enum uncore_latency_verdict verdict;
	char reason[96];
	int64_t uncore_milli;      /* residence, uncore cycles */
	int64_t cycles_milli;      /* the same in core cycles */
	int64_t offset_milli;      /* load-to-use latency minus cycles_milli: core to queue and back, core cycles */
	int64_t inserts_milli;     /* entries allocated per load */
	int64_t response_milli;    /* until the L3 had answered, uncore cycles; -1 unknown */
	int64_t miss_milli;        /* L3 misses: from the miss to the fill; -1 none */
	int64_t home_milli;        /* time that the home agent holds this socket's reads; -1 none */
	uint64_t uncore_hz;
	unsigned samples;
	bool bus;                  /* the in-order queue of a front-side bus, in processor clocks: uncore_latency_bus.c */
	struct latency_breakdown_result breakdown; /* the same loads in each box on their path */
};

/* Reads of a socket from its memory, by the boxes that hold them: those of a chase that runs alone, and those of all cores while the other cores
 * read as fast as they can (bench/uncore/latency_loaded.h). */
enum latency_loaded_state { LATENCY_ALONE, LATENCY_LOADED, LATENCY_LOADED_STATES };

struct latency_loaded_result {
	enum uncore_latency_verdict verdict;
	char reason[96];
	int64_t entries_milli;                      /* in the table of requests, per load of the lone chase */
	int64_t table_milli[LATENCY_LOADED_STATES]; /* residence of a read in the table of requests, uncore cycles */
	int64_t home_milli[LATENCY_LOADED_STATES];  /* the part of it at the home, with its DRAM and its queue; -1 unknown */
	int64_t before_milli;                       /* the row's penalty minus the growth of table_milli under load, uncore cycles */
	uint64_t uncore_hz;
	unsigned windows;                           /* of each state */
};

/* --- streams by channel and link: bench/uncore/traffic.h */

#define TRAFFIC_SOCKETS  4 /* at most, of a row: the first that take part */
#define TRAFFIC_CHANNELS 8 /* of a socket's memory, at most */
#define TRAFFIC_LINKS    3 /* of a socket, at most (manual 331051-002, 2.9) */

/* Counts of a socket: full lines of each channel, then data flits of each link. */
enum {
	TRAFFIC_READ, TRAFFIC_WRITE = TRAFFIC_READ + TRAFFIC_CHANNELS, TRAFFIC_RECEIVED = TRAFFIC_WRITE + TRAFFIC_CHANNELS,
	TRAFFIC_SENT = TRAFFIC_RECEIVED + TRAFFIC_LINKS, TRAFFIC_COUNTS = TRAFFIC_SENT + TRAFFIC_LINKS
};

struct traffic_socket {
	unsigned socket;               /* as uncore_find numbered it */
	unsigned channels, links;      /* of the socket; 0 if they cannot be counted */
	int64_t bytes[TRAFFIC_COUNTS]; /* per second */
	char missing[88];              /* the first channel that should be there and is not, "" if none */
};
struct traffic_result { unsigned sockets; struct traffic_socket at[TRAFFIC_SOCKETS]; }; /* sockets 0: nothing was counted */

/* --- pairs of cores: bench/multicore/matrix.h */

/* A pair: `owner` prepared the lines, `reader` loaded them. Thousandths of a cycle a load. */
struct matrix_cell {
	uint16_t owner, reader;
	uint16_t counts[ROW_PROOFS_MAX]; /* of each concept of the proof, over the loads of the shorter window, medians */
	int64_t median_milli, p10_milli, p90_milli; /* p10 below 0: the samples are scattered, and it is not stored */
	int64_t low_milli, high_milli; /* medians of the two groups of a bimodal result, -1 when there is one group */
};
struct matrix { unsigned cells; struct matrix_cell cell[]; };

/* --- the row */

struct row_result {
	const struct row *row;
	const char *name;          /* "load.l2.latency" */
	const char *core_kind;     /* kind of the cores on which it ran, "p"; NULL: kinds are not distinguished */
	enum row_kind kind;
	enum row_unit unit;
	enum row_status status;
	char reason[128];          /* why it is not ok, "" if it is */
	int64_t value_milli;       /* in `unit`, thousandths */
	int64_t spread_milli;      /* median absolute deviation, same unit */
	int64_t range_milli;       /* range of the rounds averaged into a value that was timed without a cycle counter (reduce_slope_by_clock); else 0 */
	int64_t cycles_milli;      /* the value in core cycles too, for shared levels; else -1 */
	int64_t ns_milli;          /* the value in nanoseconds too, else -1 */
	bool cycles_open;          /* measured, but the core's cycles are unknown: only ns_milli has a value */
	uint32_t samples, rejected;
	char proof[256];           /* counts of each concept of its proof: "MEM_LOAD_RETIRED.L2_HIT 1.000 per load" */
	uint32_t revision;         /* of the method */
	const char *kernel;        /* the one that ran, "" if none */
	uint64_t footprint_bytes;  /* of the test's working set */
	uint64_t page_bytes;       /* as mapped */
	uint64_t core_hz;          /* as measured in the row's own windows, 0 unknown */
	bool absent;               /* unsupported because the machine lacks the unit that the row measures */
	bool unprovable;           /* unproven because no event of this processor proves the row; its concepts.csv gives the reason */
	bool limited;              /* unproven because another structure, which the reason names, filled first */
	bool noisy;                /* the noise verdict, whatever the status */
	char remark[96];           /* a note for the reader, "" if none */
	struct matrix *matrix;     /* ORDER_MATRIX: its pairs, else NULL; the suite frees it */
	struct series series;      /* ORDER_MULTICORE, ORDER_NODES, ORDER_LOADED, ORDER_SKID_*: the points measured */
	struct curve curve;        /* count 0: the row has none */
	struct sample_result sample; /* the same loads by the load-latency event */
	struct uncore_latency_result queue;   /* the same loads in the uncore's queue */
	struct latency_loaded_result loaded;  /* ORDER_LOADED: its reads, by box */
	struct traffic_result traffic; /* streams from memory: by channel and link */
	const struct latency_source *latency_sources; /* names of its data sources, NULL if the processor has none */
};

/* Whether the row has a value: it is ok, noisy or unproven, and was measured. */
bool row_has_value(const struct row_result *r);

#endif
