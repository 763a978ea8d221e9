/* tests/unit/rigs/uncore_rig.h: a simulated machine with uncore boxes, accessed through guard and trace, with an array on each of two nodes. */
#ifndef TESTS_UNIT_UNCORE_RIG_H
#define TESTS_UNIT_UNCORE_RIG_H

#include "pmu/backend/msr_guard.h"
#include "pmu/sim/backend/sim.h"
#include "pmu/backend/trace.h"
#include "pmu/uncore/uncore.h"

#define RIG_TRACE_MAX 65536
#define RIG_BYTES (16 * PAGE_2M)
/* Address of the array of RIG_BYTES on a node. */
#define RIG_ARRAY(node) (SPACE_DATA + (uint64_t)(node) * PAGE_1G)

struct uncore_rig {
	struct machine machine;
	struct sim *sim;
	struct cpu cpu;
	struct trace trace;
	struct msr_guard guard;
	struct trace_entry *entries;
	struct msr_guard_saved *saved;
	const struct access *a;
	struct uncore u;
	struct mapping array[2], lock;
};

/* Opens the machine without arrays and boxes: the test maps its own memory, then calls uncore_find. */
void uncore_rig_open_bare(struct uncore_rig *r, const struct machine *m);
/* Opens the machine with arrays and prefetchers off, and finds its boxes. Any failure fails the test. */
void uncore_rig_open(struct uncore_rig *r, const struct machine *m);
/* Closes; the guard must restore all registers and must have refused nothing. */
void uncore_rig_close(struct uncore_rig *r);
/* Runs a kernel of asm/ on a core in the measuring wrapper. */
void uncore_rig_run(struct uncore_rig *r, unsigned core, const char *kernel, const uint64_t *arguments, unsigned n);
/* Plans the events, which must fit in one run, and starts them on a socket. */
void uncore_rig_start(struct uncore_rig *r, struct uncore_plan *plan, const char *const *names, unsigned n, unsigned socket);
/* The number of the machine's findings so far; *why: the text of the latest, NULL if there is none. */
uint64_t uncore_rig_findings(struct uncore_rig *r, enum finding_kind *kind, const char **why);

#endif
