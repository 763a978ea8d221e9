/* bench/multicore/multicore.h: several cores at work at once.
 *
 * Each has a working set and a window of its own; all windows of a run begin together, and a run is as long as its
 * longest window. Runs whose windows did not begin together are thrown away and counted. A core that does not answer
 * in time fails the row. */
#ifndef BENCH_MULTICORE_H
#define BENCH_MULTICORE_H

#include "bench/measure/cores.h"

#define START_OFFSETS 16u /* for pairs of windows in arrays */
#define MULTICORE_MAX 256u /* cores: each has a GiB of the data window */

struct member {
	unsigned core;
	const struct kernel *kernel; /* NULL: the working set's */
	uint64_t units;              /* of work, for the working set's kernel */
	uint64_t arguments[6];       /* for another */
	struct working_set set;
	uint64_t visited_bytes;      /* of each array of a stream, since it was mapped: a cache may hold them; where crowd.moves, by visits alone, */
	uint64_t visited_to;         /* up to that byte of it */
	struct window window;        /* out */
};

struct multicore {
	struct bench *b;
	const struct row *row;
	struct counting counting;    /* on the first member's core */
	const struct kernel *stream; /* the row's fastest; NULL before that is known */
	struct member *members;      /* MULTICORE_MAX */
	struct job *jobs;
	unsigned count;              /* members that there are */
	unsigned at_once;            /* ORDER_NODES: cores of the node whose turn it is; ORDER_MULTICORE: members at work */
	bool settles;                /* arrays that are to stay need more visits than two */
	bool cold;                   /* windows begin and end without the wrapper's lines */
	bool moves;                  /* each pair of windows begins at places of its own in arrays in memory */
	unsigned pairs;              /* if so, how many there have been since arrays were mapped, */
	uint64_t pair_bytes;         /* and what one goes through from its place on in an array */
	uint64_t places_bytes;       /* where lines are not flushed, the part of the arrays that is for it, at their end: START_OFFSETS pairs have room in it */
	unsigned disturbed;          /* runs that SMIs, heat or another clock spoilt */
	unsigned failed;             /* core of the job that did not end well */
	bool in_kernel;              /* it is such a job that failed, by exception `vector` */
	uint8_t vector;
};

/* Gets the memory; multicore_end gives it back, and all working sets. */
MUST_CHECK enum status multicore_begin(struct multicore *c, struct bench *b, const struct row *r);
/* Flushes and unmaps all working sets: else a later row, whose arrays may lie in the same memory, finds lines of them in some core's
 * caches, and modified ones are written back in its windows. */
MUST_CHECK enum status multicore_give_back(struct multicore *c);
MUST_CHECK enum status multicore_end(struct multicore *c);
/* Runs the windows of the first n members. `counted`: all read their counters,
 * so that all begin alike; only the first one's count. *together: they all began before
 * an eighth of the run had passed, and nothing disturbed them. */
MUST_CHECK enum status multicore_run(struct multicore *c, unsigned n, bool counted, bool *together);
/* Of streams: flushes what the next window of each will visit, which then does not go round the end of the arrays. */
MUST_CHECK enum status multicore_flush(struct multicore *c, unsigned n);
/* Where a member's pair of windows begins in its arrays: where their lines are flushed at any line, else at any page of a place that no pair before
 * had (prefetchers begin anew with each page, on all cores alike). */
uint64_t start_offset(const struct multicore *c, unsigned member, unsigned pair);
/* The longest window of the first n members, in TSC ticks. */
uint64_t multicore_ticks(const struct multicore *c, unsigned n);
/* Maps and fills the working set of a member on a memory node. */
MUST_CHECK enum status multicore_map(struct multicore *c, unsigned member, unsigned node, struct row_result *out);
/* Lists all cores that may take part: first threads of cores before second ones, those of the measuring core's socket first. */
void multicore_everybody(struct multicore *c);
/* Says in `out` why a crowd's row failed. */
void multicore_failed(const struct multicore *c, enum status st, struct row_result *out);

/* Measures a row of ORDER_MULTICORE, ORDER_NODES. */
void multicore_row(struct bench *b, const struct row *r, struct row_result *out);
/* Measures a row of ORDER_LOADED, ORDER_LINE. */
void loaded_latency_row(struct bench *b, const struct row *r, struct row_result *out);

#endif
