/* bench/workloads/work.h: workloads of the cycle accounting: a kernel, what it works on, and how that comes into its state.
 *
 * Each can run on both threads of a core, with a working set a thread. Prepared by kernels alone, like rows. */
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
	uint32_t nodes;      /* of the ring, 0 none */
	uint64_t at;         /* where the next window goes on */
	uint64_t choices;    /* window address of its random bytes, 0 none */
};

/* "latency_bound", ... */
const char *work_name(enum work_kind k);
/* What it does, in words. */
const char *work_says(enum work_kind k);
/* The name of its kernel. */
const char *work_kernel(enum work_kind k);
/* Kernel iterations in the shorter window; a working set lasts for four times as many. */
uint64_t work_iterations(enum work_kind k);
/* Maps and fills a working set for a core; slot 0 or 1 tells those of two threads apart. After a failure too, work_close. */
MUST_CHECK enum status work_open(struct work *w, struct bench *b, enum work_kind kind, unsigned core, unsigned slot);
/* Brings it into its state before a window of so many iterations; the last job that ran is in *job. */
MUST_CHECK enum status work_prepare(struct work *w, uint64_t iterations, struct job *job);
/* Arguments of its kernel for so many iterations; `result` of the kernel goes into work_goes_on afterwards. */
void work_arguments(const struct work *w, uint64_t iterations, uint64_t arguments[6]);
void work_goes_on(struct work *w, uint64_t result);
MUST_CHECK enum status work_close(struct work *w);

#endif
