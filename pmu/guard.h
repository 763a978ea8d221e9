/* pmu/guard.h: a layer over any backend that writes only what the processor's description lists,
 * remembers what it found and puts it back. Hardware and the simulated machine both run under it. */
#ifndef PMU_GUARD_H
#define PMU_GUARD_H

#include "pmu/access.h"
#include "pmu/cpu.h"

#define GUARD_SAVED_MAX 4096

struct guard_saved { uint32_t msr; uint16_t core; bool restore; uint64_t value; };

struct guard {
	struct access access;          /* hand this to the rooms above */
	const struct access *under;
	const struct processor *processor;
	struct guard_saved *saved;     /* of `capacity` entries, given by the caller */
	unsigned capacity, count;
	uint32_t refused;              /* writes refused so far; a bug of ours each */
};

void guard_init(struct guard *g, const struct access *under, const struct processor *p,
                struct guard_saved *saved, unsigned capacity);
/* Puts back every register that was changed, newest first, and reads it back where it can be.
 * Goes on after a failure; the status is the first failure's. Also right after a fault or time-out. */
MUST_CHECK enum status guard_restore(struct guard *g);

#endif
