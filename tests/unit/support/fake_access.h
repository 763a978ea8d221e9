/* tests/unit/support/fake_access.h: a backend made of arrays: MSRs, CPUID leaves, a log of writes. */
#ifndef TESTS_UNIT_FAKE_ACCESS_H
#define TESTS_UNIT_FAKE_ACCESS_H

#include "pmu/access.h"

#define FAKE_MSRS 512
#define FAKE_LOG  512
#define FAKE_MAPPED 16

struct fake_msr { uint32_t number; unsigned core; uint64_t value; bool stuck; };
struct fake_leaf { uint32_t leaf, subleaf; struct cpuid_regs regs; };
struct fake_write { unsigned core; uint32_t msr; uint64_t value; };

struct fake {
	struct access access;
	struct fake_msr msrs[FAKE_MSRS];
	unsigned msr_count;
	const struct fake_leaf *leaves; /* CPUID; other leaves read as zeros */
	unsigned leaf_count;
	const uint32_t *kinds;           /* CPUID 0x1A EAX of each core; NULL: from `leaves` */
	struct fake_write log[FAKE_LOG]; /* every WRMSR that did not fault, in order */
	unsigned log_count;
	unsigned fault_after;            /* this write, counted from 1, and all later ones fault; 0: none */
	uint64_t window;                 /* register 0x48 of PCI 0:0.0: base of an MMIO window that stores writes; 0: none */
	uint64_t mapped[FAKE_MAPPED];    /* the window's registers, 8 bytes each */
	unsigned mapped_writes;
	uint8_t ds[DS_BYTES];            /* the debug store, shared by all cores */
	bool (*cpuid_hook)(struct fake *f, uint32_t leaf, struct cpuid_regs *out);
};

void fake_init(struct fake *f, unsigned cores);
/* Gives a core a register with this value. Accesses to absent registers fault. */
void fake_msr(struct fake *f, unsigned core, uint32_t number, uint64_t value);
struct fake_msr *fake_find(struct fake *f, unsigned core, uint32_t number);
/* Value of a register that must exist. */
uint64_t fake_value(struct fake *f, unsigned core, uint32_t number);

#endif
