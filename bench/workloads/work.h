/* bench/workloads/work.h: workloads of the cycle accounting: a kernel, its data, and how that data is brought into its state.
 *
 * Each can run on both threads of a core, with a working set per thread. Like rows, they are prepared by kernels alone. */
#ifndef BENCH_WORK_H
#define BENCH_WORK_H

#include "bench/measure/loop.h"

enum work_kind { WORK_LATENCY, WORK_BANDWIDTH, WORK_BRANCHY, WORK_MIXED, WORK_KINDS };

struct work {
	struct bench *b;
	enum work_kind kind;
	unsigned core;
	const struct kernel *kernel;
	struct mapping map;
	bool mapped;
	uint32_t nodes;      /* of the ring; 0: none */
	uint64_t first, at;  /* its first node, and where the next window continues */
	uint64_t choices;    /* virtual address of its random bytes; 0: none */
};

/* "latency_bound", ... */
const char *work_name(enum work_kind k);
/* A description in words. */
const char *work_description(enum work_kind k);
/* The name of its kernel. */
const char *work_kernel(enum work_kind k);
/* Kernel iterations of the shorter window; a working set is large enough for four times as many. */
uint64_t work_iterations(enum work_kind k);
/* Maps and fills a working set for a core; `slot` 0 or 1 separates those of two threads. Call work_close after a failure too. */
MUST_CHECK enum status work_open(struct work *w, struct bench *b, enum work_kind kind, unsigned core, unsigned slot);
/* Brings it into its state for a window of that many iterations; *job: the last job that ran. */
MUST_CHECK enum status work_prepare(struct work *w, uint64_t iterations, struct job *job);
/* Kernel arguments for that many iterations. Pass the kernel's `result` to work_goes_on afterwards. */
void work_arguments(const struct work *w, uint64_t iterations, uint64_t arguments[6]);
void work_goes_on(struct work *w, uint64_t result);
/* The next window begins where the first one did: runs that count different events have the same loads. */
void work_again(struct work *w);
MUST_CHECK enum status work_close(struct work *w);

#endif
