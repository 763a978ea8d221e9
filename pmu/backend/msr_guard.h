/* pmu/backend/msr_guard.h: a layer over any backend that writes only what the processor's description lists,
 * remembers what it found and puts it back. Hardware and the simulated machine both run under it. */
#ifndef PMU_GUARD_H
#define PMU_GUARD_H

#include "pmu/access.h"
#include "pmu/core/cpu.h"

#define MSR_GUARD_SAVED_MAX 4096

/* A register as it was found: an MSR of a core, or with `pci` a doubleword of a function's configuration space. */
struct msr_guard_saved {
	uint32_t msr;
	uint16_t core;
	bool restore, pci;
	bool thaw; /* the write-only register that stops all boxes of a socket was told so: `value` lets them go on */
	uint64_t value;
	struct pci_address at;
};

struct msr_guard {
	struct access access;          /* hand this to the rooms above */
	const struct access *under;
	const struct processor *processor;
	struct msr_guard_saved *saved;     /* of `capacity` entries, given by the caller */
	unsigned capacity, count;
	struct pci_address known;      /* function whose device id was read last, and */
	bool known_good;               /* whether it was the one that the description has there */
	uint32_t refused;              /* writes refused so far; a bug of ours each */
};

/* A register in configuration space that the boxes of a processor list: bits that may be written, and whether they are put
 * back. The function that it belongs to has the id of *device, at the same bus. False: not listed. */
struct msr_guard_pci { uint32_t mask; bool restore; const struct uncore_device *device; const char *what; };
bool msr_guard_pci_listed(const struct processor *p, struct pci_address at, struct msr_guard_pci *out);

void msr_guard_init(struct msr_guard *g, const struct access *under, const struct processor *p,
                struct msr_guard_saved *saved, unsigned capacity);
/* Puts back every register that was changed, newest first, and reads it back where it can be.
 * Goes on after a failure; the status is the first failure's. Also right after a fault or time-out. */
MUST_CHECK enum status msr_guard_restore(struct msr_guard *g);

#endif
