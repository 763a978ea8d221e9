/* tests/unit/rigs/work_rig.h: counts events of workloads on a simulated machine, and the lines that its memory read and wrote
 * meanwhile. Failures fail the running cmocka test. */
#ifndef TESTS_WORK_RIG_H
#define TESTS_WORK_RIG_H

#include "bench/workloads/work.h"
#include "tests/unit/support/closed_loop.h"

struct work_rig {
	struct loop_run run;
	struct bench bench;
	uint64_t lines; /* lines that the first socket's memory read, or wrote in full, during the last work_rig_count */
};

void work_rig_open(struct work_rig *g, const char *text);
void work_rig_close(struct work_rig *g);
/* Runs `kind` once on each of the first `cores` processors while one or two events (second: NULL) are counted on processor 0. */
void work_rig_count(struct work_rig *g, enum work_kind kind, unsigned cores, const char *first, const char *second, uint64_t out[2]);

/* `counted` must be within 1 % of the true value, and this above 1000, so that 1 % of it is not 0. */
void within_a_hundredth(uint64_t counted, uint64_t true_value);
/* The "value" after an event's name in a run's results.json, in thousandths. */
int64_t loop_event_milli(const struct loop_run *run, const char *event);

#endif
