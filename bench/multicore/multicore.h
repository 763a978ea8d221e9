/* bench/multicore/multicore.h: several cores at work at once.
 *
 * Each member has its own working set and its own window. All windows of a run start together, and the longest one is the run's length. Runs
 * whose windows did not start together are rejected and counted. A core that does not answer in time fails the row. */
#ifndef BENCH_MULTICORE_H
#define BENCH_MULTICORE_H

#include "bench/measure/cores.h"

#define START_OFFSETS 16u /* pairs of windows that find room in an array */
#define MULTICORE_MAX CORES_MAX /* each has a part of the data space: multicore_map */

struct member {
	unsigned core;
	const struct kernel *kernel; /* NULL: the working set's */
	uint64_t units;              /* of work, for the working set's kernel */
	uint64_t arguments[6];       /* for another */
	struct working_set set;
	uint64_t touched_bytes;      /* of each array, since it was mapped: caches may hold them. With start offsets: by passes alone, */
	uint64_t touched_to;         /* up to this byte */
	struct window window;        /* out */
	uint64_t least[2];           /* ticks of its shortest shorter and longer window of a point */
};

struct multicore {
	struct bench *b;
	const struct row *row;
	struct counting counting;    /* on the first member's core */
	const struct kernel *stream; /* the row's fastest; NULL: not chosen yet */
	struct member *members;      /* MULTICORE_MAX */
	struct job *jobs;
	unsigned count;              /* of members */
	unsigned at_once;            /* ORDER_NODES: cores of the current node; ORDER_MULTICORE: members at work */
	bool settles;                /* resident arrays need more than two passes */
	bool cold;                   /* the wrapper's lines are flushed around windows */
	bool moves;                  /* DRAM: each pair of windows has its own start offset */
	unsigned pairs;              /* then: pairs since the arrays were mapped */
	uint64_t pair_bytes;         /* and the bytes of an array that a pair uses from its offset on */
	uint64_t starts_bytes;       /* without flushing: the part at the end of each array reserved for START_OFFSETS pairs */
	unsigned disturbed;          /* runs with an SMI, a thermal event or a changed clock */
	unsigned failed;             /* core of a job that failed */
	bool in_kernel;              /* it failed inside the kernel, by exception `vector` */
	uint8_t vector;
};

/* Allocates; multicore_end frees that memory and all working sets. */
MUST_CHECK enum status multicore_begin(struct multicore *c, struct bench *b, const struct row *r);
/* Flushes and unmaps all working sets. Otherwise lines of them would stay in some core's caches: a later row, mapped to the same memory, would
 * hit them, or have them written back in its windows. */
MUST_CHECK enum status multicore_give_back(struct multicore *c);
MUST_CHECK enum status multicore_end(struct multicore *c);
enum multicore_counts { MULTICORE_UNCOUNTED, MULTICORE_COUNTED };
/* Runs the windows of the first n members. MULTICORE_COUNTED: all read their counters, so that all start alike; only the first one's count.
 * *together: all began within the run's first eighth, undisturbed. */
MUST_CHECK enum status multicore_run(struct multicore *c, unsigned n, enum multicore_counts counts, bool *together);
/* Streams: flushes what each member's next window will visit; that window does not wrap round the arrays' end. */
MUST_CHECK enum status multicore_flush(struct multicore *c, unsigned n);
/* Where a member's pair of windows starts in its arrays. If lines are flushed: at any line. Otherwise at any page of a range that no earlier pair
 * used; prefetchers restart with each page, on all cores alike. */
uint64_t multicore_start_offset(const struct multicore *c, unsigned member, unsigned pair);
/* The longest window of the first n members, in TSC ticks. */
uint64_t multicore_ticks(const struct multicore *c, unsigned n);
/* Maps and fills the working set of a member on a memory node. */
MUST_CHECK enum status multicore_map(struct multicore *c, unsigned member, unsigned node, struct row_result *out);
/* Lists all cores that may take part: first threads before second ones, the measuring core's socket before others. */
void multicore_everybody(struct multicore *c);
/* Writes to `out` why a multicore row failed. */
void multicore_failed(const struct multicore *c, enum status st, struct row_result *out);

/* A row of all cores is noisy if fewer cores, at one of its earlier points, were faster by a quarter: other software has taken a core away. */
void multicore_judge_points(const unsigned *cores, const int64_t *rates_milli, unsigned count, struct row_result *out);
/* Measures a row of ORDER_MULTICORE, ORDER_NODES. */
void multicore_row(struct bench *b, const struct row *r, struct row_result *out);
/* Measures a row of ORDER_LOADED, ORDER_LINE. */
void loaded_latency_row(struct bench *b, const struct row *r, struct row_result *out);

#endif
