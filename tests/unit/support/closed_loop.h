/* tests/unit/support/closed_loop.h: the suite on a simulated machine.
 *
 * An invalid machine file or a lack of memory fails the running cmocka test. */
#ifndef TESTS_CLOSED_LOOP_H
#define TESTS_CLOSED_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "pmu/backend/msr_guard.h"
#include "pmu/core/freq_lock.h"
#include "pmu/sim/backend/sim.h"
#include "tests/unit/support/memory_host.h"

struct loop_run {
	struct machine machine;
	struct sim *sim;
	struct msr_guard guard;
	struct msr_guard_saved *saved;
	struct cpu cpu;
	struct memory_host host;
	struct suite_summary sum;
	uint64_t instructions;
	uint64_t cost[MEMORY_RESULTS_MAX]; /* instructions of each row */
	void (*row_done)(void *self, const struct row_result *r);
	uint64_t counted;
};

/* A machine file's text with the value of one key of a section replaced, or the line added; to be freed. */
char *loop_changed(const char *text, const char *section, const char *key, const char *value);
/* A built-in machine's text with the values of `count` fields replaced, each given as section, key and value; to be freed. */
char *loop_machine(const char *name, const char *const (*fields)[3], unsigned count);
/* The text of a built-in machine with each of "section.key=value,..." replaced or added; to be freed. */
char *loop_built_in_changed(const char *machine, const char *list);
/* Text of a machine file, to be freed; a path that does not open fails the test. */
char *loop_file(const char *path);
/* Text of a built-in machine; valid until the next call. */
const char *loop_built_in(const char *name);

void loop_open(struct loop_run *r, const char *text);
/* Runs rows (a comma list of names and patterns); their results are in r->host. */
void loop_suite(struct loop_run *r, const char *suite);
void loop_print(const struct loop_run *r);
/* Fails the test if a row took more instructions than its budget. */
void loop_keeps_to_budgets(const struct loop_run *r);
void loop_close(struct loop_run *r);

/* Value of a core's MSR, read from the simulator and not through the guard. */
uint64_t loop_msr(const struct loop_run *r, unsigned core, uint32_t address);
/* The lock of that name in that register; fails the test if there is none. */
const struct freq_lock_state *loop_lock_of(const struct freq_locks *p, const char *name, uint32_t address);

#endif
