/* bench/results/inventory.h: machine.txt: the facts needed to write a descriptor of this machine.
 *
 * Lines "key = value", sections [cpuid], [msr], [core], [pci]:
 *   LEAF.SUBLEAF = EAX EBX ECX EDX      of core 0, leaves that are all zero left out
 *   REGISTER = VALUE                    capability registers of core 0 that could be read
 *   N = APIC ID, node NODE, TYPE        each logical processor; TYPE: CPUID 0x1A EAX[31:24] of hybrid ones, else 0x0
 *   SEGMENT:BUS:DEVICE.FUNCTION = DEVICE:VENDOR, CLASS   each function in configuration space, hexadecimal; followed by "no bridge" if no bridge
 *                                       leads to its bus */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include "pmu/access.h"
#include "pmu/core/cpu.h"
#include "pmu/text.h"

#define MACHINE_TEXT_BYTES (256u << 10)
#define MACHINE_LEAVES_MAX 1024
#define MACHINE_MSRS_MAX   64

void inventory_text(struct text *t, const struct access *a, const struct cpu *cpu);

/* Reader of machine.txt, and a backend that answers cpuid and rdmsr from it, for cpu_identify. */
struct inventory_leaf { uint32_t leaf, sub; struct cpuid_regs r; };
struct inventory_msr { uint32_t msr; uint64_t value; };
struct inventory_read {
	struct inventory_leaf leaves[MACHINE_LEAVES_MAX];
	struct inventory_msr msrs[MACHINE_MSRS_MAX];
	unsigned leaf_count, msr_count, cores, hybrid_types, pci_functions;
	struct access access;
};
/* ST_OK, or one line in `problem`: "line N: " with the error and the expected form. */
MUST_CHECK enum status inventory_text_read(struct inventory_read *m, const char *text, size_t bytes, char *problem, size_t capacity);

#endif
