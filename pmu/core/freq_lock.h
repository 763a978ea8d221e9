/* pmu/core/freq_lock.h: keeps the clocks where they are while rows are measured: turbo, P-state, uncore ratio, as far as the
 * processor's description lists how. Run it below the guard, which puts everything back. HWP is never switched on: that
 * would last until the next reset. Where firmware has switched it on, the ratio asked for means nothing and is not written. */
#ifndef PMU_PIN_H
#define PMU_PIN_H

#include "pmu/access.h"
#include "pmu/core/cpu.h"

#define PINS_MAX 8

struct pinned {
	const struct pin *pin;
	uint64_t found, wanted;         /* of the field, on the first processor that could be read */
	unsigned already, set, refused; /* processors: that had it so; that keep it now; that do not or cannot */
	const char *absent;             /* why it was not tried, NULL if it was */
};

struct pins {
	struct pinned list[PINS_MAX];
	unsigned count;
	bool hwp;                       /* firmware has switched hardware-controlled performance states on */
};

/* Sets what the descriptor lists on every logical processor and reads it back. A register that faults or keeps its value
 * is counted; nothing here ends a run. */
void freq_lock_clocks(const struct access *a, const struct cpu *cpu, struct pins *out);

#endif
