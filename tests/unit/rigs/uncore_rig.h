/* tests/unit/rigs/uncore_rig.h: a simulated machine with uncore boxes below trace and guard, and arrays on each node. */
#ifndef TESTS_UNIT_UNCORE_RIG_H
#define TESTS_UNIT_UNCORE_RIG_H

#include "pmu/backend/msr_guard.h"
#include "pmu/sim/backend/sim.h"
#include "pmu/backend/trace.h"
#include "pmu/uncore/uncore.h"

#define RIG_TRACE_MAX 65536
#define RIG_BYTES (16 * PAGE_2M)
/* An array of RIG_BYTES on a node. */
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

/* Opens it below trace and guard, without arrays: whoever maps its own looks for the boxes then. */
void uncore_rig_open_bare(struct uncore_rig *r, const struct machine *m);
/* Opens it with arrays and lets the driver look for boxes; the prefetchers are off. Fails the test when something does not go. */
void uncore_rig_open(struct uncore_rig *r, const struct machine *m);
/* Puts everything back through the guard, which must succeed and have refused nothing. */
void uncore_rig_close(struct uncore_rig *r);
/* A kernel of asm/ on a core, through the measuring wrapper. */
void uncore_rig_run(struct uncore_rig *r, unsigned core, const char *kernel, const uint64_t *arguments, unsigned n);
/* Plans the events, all in one run, and starts them on a socket. */
void uncore_rig_start(struct uncore_rig *r, struct uncore_plan *plan, const char *const *names, unsigned n, unsigned socket);
/* Findings of the machine so far; the latest one's words, NULL if there is none. */
uint64_t uncore_rig_findings(struct uncore_rig *r, enum finding_kind *kind, const char **why);

#endif
