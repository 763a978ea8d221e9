/* tests/unit/rigs/stall_rig.h: a simulated machine's penalties, and the accounting of a row's kernel by its counts as a user's
 * program is accounted for. Failures fail the running cmocka test. */
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
	struct document results;  /* the penalties that the machine measured */
	void *room[2];
};

/* Opens the machine and measures the rows of the comma list `suite`; NULL: all that feed a term. */
void stall_rig_open(struct stall_rig *g, const char *machine, const char *suite);
void stall_rig_close(struct stall_rig *g);
/* Counts a million units of the row's kernel. False: the machine cannot run it. */
bool stall_rig_count(struct stall_rig *g, const char *row, struct stall_counts *out);
/* Adds `times` the counts. */
void stall_rig_add(struct stall_counts *to, const struct stall_counts *from, int64_t times);
void stall_rig_account(struct stall_rig *g, const struct stall_counts *counts, struct account *out);
/* Cycles that the accounting explains: in which uops retire, and what is charged. */
int64_t stall_rig_explained(const struct account *a);

#endif
