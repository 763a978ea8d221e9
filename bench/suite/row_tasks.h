/* bench/suite/row_tasks.h: rows of several cores as tasks that the host runs beside the other rows, each on a copy of the machine as it was before the
 * first row. They take most of a simulated server's time, and no other row depends on what they find out. */
#ifndef BENCH_ROW_TASKS_H
#define BENCH_ROW_TASKS_H

#include "bench/measure/measure.h"

#define ROW_TASKS_MOST 128u

struct row_tasks {
	struct bench *b;
	struct suite_host quiet; /* b's host without its progress */
	const struct row *rows[ROW_TASKS_MOST];
	unsigned count;
	size_t bytes;            /* of what a task fills in */
	struct disturbances before;
};

/* Whether a row may be a task. */
bool row_tasks_may(const struct row *r);
/* Starts the listed rows, those with the largest budgets first. count is 0 afterwards where the host cannot: no row is a task then. */
void row_tasks_start(struct row_tasks *t, struct bench *b);
/* Waits for the row and takes its result, its disturbances and the instructions that it simulated. False: it is no task. A task whose process ended
 * early is a failed row. */
bool row_tasks_take(struct row_tasks *t, const struct row *r, struct row_result *out, uint64_t *instructions);
void row_tasks_end(struct row_tasks *t);

#endif
