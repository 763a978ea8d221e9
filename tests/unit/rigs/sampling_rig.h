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
	struct mapping map;      /* the ring's, at SPACE_DATA */
	const struct sampling_gate *gate; /* sampling that a run starts and stops; NULL: none */
	uint64_t at;             /* address of the node at which the next chase begins */
};

/* Opens a built-in machine, changed by `change` (NULL: as it is), and maps `bytes` (2 MiB pages; 0: nothing). */
void sampling_open_machine(struct sampling_rig *r, const char *machine, void (*change)(struct machine *m), uint64_t bytes);
/* The same of nehalem-ep. */
void sampling_open(struct sampling_rig *r, void (*change)(struct machine *m), uint64_t bytes);
/* Links the first `nodes` lines in one random cycle. */
void sampling_ring(struct sampling_rig *r, unsigned nodes);
/* Runs a kernel in the wrapper; returns its result. */
uint64_t sampling_run(struct sampling_rig *r, const char *kernel, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3);
/* Runs `loads` loads of k_chase from the node at which the last chase ended. */
void sampling_chase(struct sampling_rig *r, unsigned loads);
/* Closes; the guard must restore every register that sampling writes to its value at opening. */
void sampling_close(struct sampling_rig *r);

#endif
