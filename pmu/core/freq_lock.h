/* pmu/core/freq_lock.h: keeps frequencies constant while rows are measured: turbo, P-state, uncore ratio, as far as the
 * processor's description says how. Called through the guard, which restores everything. It never enables HWP, which would
 * last until the next reset; if firmware has enabled it, a requested ratio has no effect and is not written, and each thread
 * requests the guaranteed level only. */
#ifndef PMU_FREQ_LOCK_H
#define PMU_FREQ_LOCK_H

#include "pmu/access.h"
#include "pmu/core/cpu.h"

#define FREQ_LOCKS_MAX 12

struct freq_lock_state {
	const struct freq_lock *lock;
	uint64_t found, wanted;         /* the field on the first processor that could be read; `wanted` of a base ratio also if it was not tried */
	unsigned already, set, refused; /* number of processors that had the value; that keep it now; that do not keep it or cannot be read */
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
