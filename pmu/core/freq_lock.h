/* pmu/core/freq_lock.h: keeps frequencies constant while rows are measured: turbo, P-state, uncore ratio, as far as the
 * processor's description says how. Run it below the guard, which restores everything. It never enables HWP, which would
 * last until the next reset; if firmware has enabled it, a requested ratio has no effect and is not written, and each thread
 * asks for the guaranteed level alone instead. */
#ifndef PMU_FREQ_LOCK_H
#define PMU_FREQ_LOCK_H

#include "pmu/access.h"
#include "pmu/core/cpu.h"

#define FREQ_LOCKS_MAX 12

struct freq_lock_state {
	const struct freq_lock *lock;
	uint64_t found, wanted;         /* of the field, on the first processor that could be read; of a base ratio `wanted` also where it was not tried */
	unsigned already, set, refused; /* number of processors: had it already; keep it now; do not or cannot */
	const char *absent;             /* why it was not tried, NULL if it was */
};

struct freq_locks {
	struct freq_lock_state list[FREQ_LOCKS_MAX];
	unsigned count;
	bool hwp;                       /* firmware has enabled hardware-controlled performance states */
};

/* Sets the fields that the descriptor lists on every logical processor and reads them back. A register that faults or does
 * not keep its value is counted; nothing here ends a run. */
void freq_lock_clocks(const struct access *a, const struct cpu *cpu, struct freq_locks *out);

#endif
