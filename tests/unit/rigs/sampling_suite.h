/* tests/unit/rigs/sampling_suite.h: runs rows with their sampling on a built-in machine, with a host in memory. */
#ifndef TESTS_SAMPLING_SUITE_H
#define TESTS_SAMPLING_SUITE_H

#include "bench/suite/suite.h"
#include "tests/unit/rigs/sampling_rig.h"
#include "tests/unit/support/memory_host.h"

struct sampling_suite { struct sampling_rig rig; struct memory_host host; struct suite_summary summary; unsigned ibs_misses; /* a setting */ };

/* Opens the machine, changed by `change` (NULL: as it is), and an empty host. */
void sampling_suite_open(struct sampling_suite *s, const char *machine, void (*change)(struct machine *m));
/* Runs rows (a comma list of names and patterns). */
void sampling_suite_run(struct sampling_suite *s, const char *suite);
/* The result of a row; the test fails if there is none. */
const struct row_result *sampling_suite_row(const struct sampling_suite *s, const char *row);
/* Closes; the guard must restore all registers, and the suite must have returned all of the host's work memory. */
void sampling_suite_close(struct sampling_suite *s);

#endif
