/* efi/processor/memory.h: our page tables, which map the job address space (pmu/access.h), and physical memory by node. */
#ifndef EFI_MEMORY_H
#define EFI_MEMORY_H

#include "efi/platform/acpi.h"
#include "pmu/access.h"

/* The firmware's address space, copied by top-level entries, with our entry for the job address space. */
struct space {
	uint64_t cr3;        /* of our tables */
	uint64_t *level5;    /* with 57-bit addresses, else NULL */
	uint64_t *level4;
	bool nx;             /* the no-execute bit is in use */
	bool page_1g;        /* CPUID 0x80000001 EDX[26] */
	const struct acpi *acpi;
};

MUST_CHECK enum status space_open(struct space *w, const struct acpi *acpi);
/* Copies the firmware's top-level entries; called each time before the boot processor is isolated. */
void space_refresh(struct space *w);
/* Maps [va, va + bytes) to pa with pages of exactly `page` bytes. ST_FULL: no memory for tables; ST_BROKEN: something is
 * mapped there. */
MUST_CHECK enum status space_map(struct space *w, uint64_t va, uint64_t pa, uint64_t bytes, uint64_t page, bool executable);
void space_unmap(struct space *w, uint64_t va, uint64_t bytes, uint64_t page);

/* Allocates `bytes` of conventional memory on a node: contiguous, aligned, all of it write-back by the MTRRs, zeroed. wb_above: upper end of the
 * memory from 4 GiB on that AMD's processors force to be write-back, 0: none. ST_FULL: there is no such memory. */
MUST_CHECK enum status physical_get(const struct acpi *acpi, uint64_t wb_above, uint64_t bytes, uint64_t align, unsigned node, uint64_t *pa);
void physical_put(uint64_t pa, uint64_t bytes);

#endif
