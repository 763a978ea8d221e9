/* tests/unit/rigs/stall_rig.h: measures a simulated machine's penalties, and accounts for a row's kernel by its counts as for a
 * user's program. Failures fail the running cmocka test. */
#ifndef TESTS_STALL_RIG_H
#define TESTS_STALL_RIG_H

#include "bench/report/user_account.h"
#include "bench/workloads/profile.h"
#include "tests/unit/support/closed_loop.h"

#define STALL_RIG_EVENTS 80
struct stall_counts { const struct event *events[STALL_RIG_EVENTS]; int64_t count[STALL_RIG_EVENTS]; unsigned n; };

struct stall_rig {
	struct loop_run run;
	struct bench bench;
	struct document results;  /* the penalties measured on the machine */
	void *room[2];
};

/* Opens the machine and measures the rows of the comma list `suite`; NULL: all that a term of the accounting uses. */
void stall_rig_open(struct stall_rig *g, const char *machine, const char *suite);
void stall_rig_close(struct stall_rig *g);
/* Counts a million units of the row's kernel. False: the row's profile is not `ok`. */
bool stall_rig_count(struct stall_rig *g, const char *row, struct stall_counts *out);
/* Adds the counts, multiplied by `times`. */
void stall_rig_add(struct stall_counts *to, const struct stall_counts *from, int64_t times);
void stall_rig_account(struct stall_rig *g, const struct stall_counts *counts, struct account *out);
/* Cycles that the accounting explains: those in which uops retire, and those charged to a term. */
int64_t stall_rig_explained(const struct account *a);

#endif
