/* tests/unit/rigs/sampling_rig.h: a simulated machine with a ring of nodes to chase, under the guard. */
#ifndef TESTS_SAMPLING_RIG_H
#define TESTS_SAMPLING_RIG_H

#include "asm/kernel.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/sampling_gate.h"
#include "pmu/sim/backend/sim.h"

struct sampling_rig {
	struct machine machine;
	struct sim *sim;
	struct msr_guard guard;
	struct msr_guard_saved *saved;
	struct cpu cpu;
	const struct access *a;  /* the guarded backend */
	struct mapping map;      /* of the ring, at SPACE_DATA */
	const struct sampling_gate *gate; /* what runs begin and end; NULL nothing */
	uint64_t at;             /* node where the next run continues */
};

/* Opens a built-in machine, changed by `change` (NULL: as it is), and maps `bytes` (2 MiB pages; 0: nothing). */
void sampling_open_machine(struct sampling_rig *r, const char *machine, void (*change)(struct machine *m), uint64_t bytes);
/* The same of nehalem-ep. */
void sampling_open(struct sampling_rig *r, void (*change)(struct machine *m), uint64_t bytes);
/* Links `nodes` lines in one cycle, at random distances of 1 to 4 lines. */
void sampling_ring(struct sampling_rig *r, unsigned nodes);
/* Runs a kernel under the wrapper; returns what it returned. */
uint64_t sampling_run(struct sampling_rig *r, const char *kernel, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
/* `loads` loads of k_chase from where the last one ended. */
void sampling_chase(struct sampling_rig *r, unsigned loads);
/* Checks that the guard puts all back to what it was when the machine was opened; closes. */
void sampling_close(struct sampling_rig *r);

#endif
