/* efi/faults.c: our interrupt table, and what is left to do for a fault that nothing recovers. */
#include "efi/console.h"
#include "efi/core.h"
#include "efi/end.h"
#include "pmu/text.h"

_Static_assert(offsetof(struct core, recover) == 8 && offsetof(struct core, vector) == 16 &&
               offsetof(struct core, error) == 24 && offsetof(struct core, ip) == 32 &&
               offsetof(struct core, address) == 40 && offsetof(struct core, result) == 48 &&
               offsetof(struct core, nmis) == 56 && offsetof(struct core, abandon) == 64 &&
               offsetof(struct core, interrupts) == 72 && offsetof(struct core, eoi) == 80 &&
               offsetof(struct core, has_apic) == 88, "efi/vectors.asm knows these offsets");

void idt_fill(uint64_t *idt)
{
	uint64_t cs;
	__asm__ volatile("mov %%cs, %0" : "=r"(cs));
	for (unsigned v = 0; v < 256; v++) {
		uint64_t at = (uint64_t)(uintptr_t)(vector_entries + 16 * v);
		/* SDM vol. 3, 6.14.1: 64-bit interrupt gate, present, DPL 0, type 14, no IST. */
		idt[2 * v] = (at & 0xFFFF) | (cs & 0xFFFF) << 16 | 0x8E0000000000ull | (at >> 16 & 0xFFFF) << 48;
		idt[2 * v + 1] = at >> 32;
	}
}

void fault_panic(const struct core *c, const uint64_t *frame)
{
	char bytes[400];
	struct text t;
	uint64_t cr2;
	__asm__ volatile("mov %%cr2, %0" : "=r"(cr2));
	text_init(&t, bytes, sizeof(bytes));
	text_fmt(&t, "\nfault outside every recovery: core %u vector %lu error 0x%lx rip 0x%lx rsp 0x%lx cr2 0x%lx, "
	         "vector table at 0x%lx\n", c->number, (unsigned long)frame[0], (unsigned long)frame[1],
	         (unsigned long)frame[2], (unsigned long)frame[5], (unsigned long)cr2,
	         (unsigned long)(uintptr_t)vector_entries);
	print_raw(bytes);
	end_panic();
}
