/* pmu/backend/dry_run.h: a layer over any backend that changes nothing: it stores the writes itself, reads of those registers
 * return the stored values, and no kernel runs. Reads of other registers reach the backend, as do CPUID, the TSC and mappings
 * of memory. So the code above makes the accesses of a real run, and the machine stays unchanged.
 *
 * Not modelled: effects of a write on other registers (write 1 to clear), counting, faults of writes. */
#ifndef PMU_DRY_H
#define PMU_DRY_H

#include "pmu/access.h"

/* An MSR of a core; with `pci` a doubleword of configuration space; with `bytes` a register of that width in memory. */
struct dry_run_register { uint32_t msr; uint16_t core; bool pci; uint8_t bytes; uint64_t value, address; struct pci_address at; };

struct dry_run {
	struct access access;          /* for the code above */
	const struct access *under;
	struct dry_run_register *registers; /* of `capacity`, given by the caller */
	unsigned capacity, count;
};

void dry_run_init(struct dry_run *d, const struct access *under, struct dry_run_register *registers, unsigned capacity);

#endif
