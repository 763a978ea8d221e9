/* pmu/backend/trace.h: a layer over any backend that records every access to a register, and writes the record as text, one
 * access per line:
 *
 *   cpuid CORE LEAF SUBLEAF EAX EBX ECX EDX
 *   rdmsr CORE MSR VALUE            wrmsr CORE MSR VALUE
 *   rdpmc CORE INDEX VALUE          rdtsc CORE
 *   pci_read32 SSSS:BB:DD.F+REG VALUE    pci_write32 SSSS:BB:DD.F+REG VALUE
 *   mmio_read ADDRESS WIDTH VALUE        mmio_write ADDRESS WIDTH VALUE
 *   run CORE ENTRY ARGUMENT         one line per job
 *
 * Cores are decimal, all else is hexadecimal with 0x. A read shows the value that was returned. An access that failed has
 * its status as one more word: `fault`, `refused`, ... The TSC's value is left out, since it differs between runs. */
#ifndef PMU_TRACE_H
#define PMU_TRACE_H

#include "pmu/access.h"
#include "pmu/text.h"

enum trace_op {
	TRACE_CPUID, TRACE_RDMSR, TRACE_WRMSR, TRACE_RDPMC, TRACE_RDTSC, TRACE_PCI_READ32, TRACE_PCI_WRITE32,
	TRACE_MMIO_READ, TRACE_MMIO_WRITE, TRACE_RUN
};

struct trace_entry {
	uint8_t op;                /* enum trace_op */
	uint8_t status;            /* enum status */
	uint8_t width_bytes;       /* of MMIO */
	uint16_t core;
	uint32_t subleaf;          /* CPUID's ECX */
	struct pci_address pci;
	uint64_t address;          /* MSR, RDPMC's ECX, CPUID's EAX, MMIO address, entry of a job */
	uint64_t value;            /* written or returned; argument of a job */
	struct cpuid_regs regs;    /* returned by CPUID */
};

struct trace {
	struct access access;          /* for the code above */
	const struct access *under;
	struct trace_entry *entries;   /* of `capacity`, given by the caller */
	unsigned capacity, count;
	unsigned dropped;              /* accesses that were made but not recorded, because the list was full */
	/* If set, each entry is passed on immediately, and none is kept. */
	void (*sink)(void *self, const struct trace_entry *e);
	void *sink_self;
};

void trace_init(struct trace *t, const struct access *under, struct trace_entry *entries, unsigned capacity);
/* One entry as a line, without a newline. */
void trace_line(struct text *out, const struct trace_entry *e);

#endif
