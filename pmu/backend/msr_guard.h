/* pmu/backend/msr_guard.h: a layer over any backend that writes only registers that the processor's description lists,
 * remembers their former values and restores them. Hardware and the simulated machine both run below it. */
#ifndef PMU_GUARD_H
#define PMU_GUARD_H

#include "pmu/access.h"
#include "pmu/backend/box_place.h"
#include "tables/processor.h"

#define MSR_GUARD_SAVED_MAX 4096   /* for tests: enough for 48 logical processors */
#define MSR_GUARD_SAVED_CORE 64u   /* registers of a logical processor that a run changes, at most */
#define MSR_GUARD_SAVED_REST 1024u /* and of the uncore and the PCI functions */

/* Entries that the guard of a machine needs. */
static inline unsigned msr_guard_capacity(const struct access *a)
{
	return MSR_GUARD_SAVED_REST + a->cores * MSR_GUARD_SAVED_CORE;
}

/* A register as it was found: an MSR of a core; with `pci` a doubleword of a function's configuration space; with `bytes` a register of that width
 * in memory. */
struct msr_guard_saved {
	uint32_t msr;
	uint16_t core;
	bool restore, pci;
	bool thaw; /* all boxes of a socket were frozen through a write-only register: `value` releases them */
	uint64_t value;
	struct pci_address at;
	uint64_t address;
	uint8_t bytes;
};

struct msr_guard {
	struct access access;          /* for the code above */
	const struct access *under;
	const struct processor *processor;
	struct msr_guard_saved *saved;     /* of `capacity` entries, given by the caller */
	unsigned capacity, count;
	struct pci_address known;      /* function whose device id was read last */
	bool known_good;               /* that function has the described device id */
	struct register_failure failure; /* the last one */
	struct box_places places;      /* of boxes that the machine itself locates */
	struct writable_msr placed;    /* the register of one of them that was looked up last */
	uint32_t refused;              /* writes refused so far; each is a bug of this program */
};

/* A register in configuration space that the boxes of a processor list: its writable bits, and whether it is restored. Its
 * function must have the id of *device, on the same bus. False: not listed. */
struct msr_guard_pci { uint32_t mask; bool restore; const struct uncore_device *device; const char *what; };
bool msr_guard_pci_listed(const struct processor *p, struct pci_address at, struct msr_guard_pci *out);

/* msr_guard_placed.c. A register of a box that the machine locates; `address` depends on the space: an MSR, an address of memory, or the value of
 * box_place_encoded. bytes: 4 in configuration space. False: not listed. */
struct msr_guard_placed { uint64_t mask; bool restore; uint8_t bytes; const struct uncore_box *box; uint32_t offset; const char *what; };
bool msr_guard_placed_listed(const struct box_places *l, const struct processor *p, unsigned space, uint64_t address, struct msr_guard_placed *out);

/* msr_guard_mapped.c. The same for any memory-mapped register that the boxes of a processor list; *a supplies the base. False: not listed. */
bool msr_guard_mapped_listed(const struct access *a, const struct processor *p, const struct box_places *l, uint64_t address, struct msr_guard_placed *out);
MUST_CHECK enum status msr_guard_mapped_write(struct msr_guard *g, uint64_t address, unsigned width_bytes, uint64_t value);
MUST_CHECK enum status msr_guard_mapped_put_back(struct msr_guard *g, const struct msr_guard_saved *s);
/* The address that the offsets of a box's registers are relative to. ST_MISSING: the function is absent, or its window is not enabled. */
MUST_CHECK enum status msr_guard_mapped_base(const struct access *a, const struct uncore_box *b, uint64_t *base);

/* If the description is for one kind of a machine's cores and lists registers, the code above sees only the cores of core 0's kind, from 0 up to
 * the first core of another kind. Searches for the boxes that the machine itself locates. */
void msr_guard_init(struct msr_guard *g, const struct access *under, const struct processor *p,
                struct msr_guard_saved *saved, unsigned capacity);
/* Restores every changed register, newest first, and reads it back where possible. Continues after a failure; the status is
 * the first failure's. May follow directly after a fault or time-out. */
MUST_CHECK enum status msr_guard_restore(struct msr_guard *g);

#endif
