/* efi/processor/faults.c: our IDT, and faults that nothing recovers from. */
#include "efi/firmware/console.h"
#include "efi/processor/percpu.h"
#include "efi/firmware/panic.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

_Static_assert(offsetof(struct core, recover) == 8 && offsetof(struct core, vector) == 16 &&
               offsetof(struct core, error) == 24 && offsetof(struct core, ip) == 32 &&
               offsetof(struct core, address) == 40 && offsetof(struct core, result) == 48 &&
               offsetof(struct core, nmis) == 56 && offsetof(struct core, abandon) == 64 &&
               offsetof(struct core, interrupts) == 72 && offsetof(struct core, eoi) == 80 &&
               offsetof(struct core, has_apic) == 88 && offsetof(struct core, stray) == 96, "efi/processor/vectors.asm knows these offsets");

#define TSS_BYTES     104u
#define TSS_IST1      36u  /* SDM vol. 3, figure 8-11: IST1 at 36, then every 8 */
#define TYPE_TSS_FREE 0x89ull /* present, DPL 0, available 64-bit TSS; bit 1 set: busy */
#define BUSY          (2ull << 40)

/* Number of the vector's interrupt stack (IST): vectors that may interrupt a fault's handler have their own. */
static unsigned stack_of(unsigned vector)
{
	return vector == VECTOR_NMI ? 2 : vector == 18 ? 3 : 1;
}

static void fill_idt(uint64_t *idt)
{
	uint64_t cs;
	__asm__ volatile("mov %%cs, %0" : "=r"(cs));
	for (unsigned v = 0; v < 256; v++) {
		uint64_t at = (uint64_t)(uintptr_t)(vector_entries + 16 * v);
		/* SDM vol. 3, 6.14.1: 64-bit interrupt gate, present, DPL 0, type 14; [34:32] the IST. */
		idt[2 * v] = (at & 0xFFFF) | (cs & 0xFFFF) << 16 | (uint64_t)stack_of(v) << 32 | 0x8E0000000000ull |
		             (at >> 16 & 0xFFFF) << 48;
		idt[2 * v + 1] = at >> 32;
	}
}

/* Copies the firmware's GDT, so that its selectors stay valid, and appends our task state. */
static uint16_t fill_gdt(struct core *c)
{
	unsigned bytes = ((unsigned)c->saved.gdt.limit + 1 + 7) & ~7u;
	uint64_t at = (uint64_t)(uintptr_t)c->tss;
	if (bytes > GDT_BYTES - 16)
		bytes = GDT_BYTES - 16; /* entries that far out are not used in long mode */
	memcpy(c->gdt, (const void *)(uintptr_t)c->saved.gdt.base, bytes);
	c->gdt[bytes / 8] = (TSS_BYTES - 1) | (at & 0xFFFFFF) << 16 | TYPE_TSS_FREE << 40 | (at >> 24 & 0xFF) << 56;
	c->gdt[bytes / 8 + 1] = at >> 32;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t top = (uint64_t)(uintptr_t)c->fault_stacks + (i + 1) * FAULT_STACK_BYTES;
		memcpy(c->tss + TSS_IST1 + 8 * i, &top, 8);
	}
	return (uint16_t)bytes;
}

void faults_enter(struct core *c)
{
	struct descriptor_table idt = { 4095, (uint64_t)(uintptr_t)c->idt };
	__asm__ volatile("sgdt %0; sidt %1; str %2" : "=m"(c->saved.gdt), "=m"(c->saved.idt), "=m"(c->saved.tr));
	uint16_t selector = fill_gdt(c);
	struct descriptor_table gdt = { (uint16_t)(selector + 15), (uint64_t)(uintptr_t)c->gdt };
	fill_idt(c->idt);
	__asm__ volatile("lgdt %0; ltr %1; lidt %2" : : "m"(gdt), "m"(selector), "m"(idt) : "memory");
}

void faults_leave(struct core *c)
{
	__asm__ volatile("lidt %0; lgdt %1" : : "m"(c->saved.idt), "m"(c->saved.gdt) : "memory");
	/* A task register that was null cannot become null again: ours stays loaded, with a selector beyond the firmware's GDT, where no code uses it. */
	if ((c->saved.tr & 0xFFF8) != 0 && (c->saved.tr | 7u) <= c->saved.gdt.limit) {
		uint64_t *entry = (uint64_t *)(uintptr_t)(c->saved.gdt.base + (c->saved.tr & 0xFFF8u));
		*entry &= ~BUSY;
		__asm__ volatile("ltr %0" : : "m"(c->saved.tr) : "memory");
	}
}

#define MSR_MCG_CAP    0x179u /* [7:0] banks */
#define MSR_MC0_STATUS 0x401u /* of the first bank; the others follow at intervals of 4 */
#define MC_VALID       (1ull << 63)
#define MC_CORRUPT     (1ull << 57) /* PCC: the processor's context is corrupt; SDM vol. 3, 16.3.2.2 */
#define BANKS_MAX      32u

/* Resets if the context is corrupt, since measurements would be meaningless; the next boot marks the row as crashed. The banks keep their
 * contents for the firmware to read. */
static void end_if_corrupt(const struct core *c)
{
	char bytes[200];
	struct text t;
	const unsigned banks = (unsigned)(msr_read(MSR_MCG_CAP) & 0xFF);
	for (unsigned i = 0; i < banks && i < BANKS_MAX; i++) {
		const uint64_t status = msr_read(MSR_MC0_STATUS + 4 * i);
		if ((status & (MC_VALID | MC_CORRUPT)) != (MC_VALID | MC_CORRUPT))
			continue;
		text_init(&t, bytes, sizeof(bytes));
		text_fmt(&t, "\nmachine check on core %u, bank %u, status 0x%lx: its state is corrupt, nothing can go on\n", c->number, i, (unsigned long)status);
		print_raw(bytes);
		panic_end();
	}
}

uint64_t faults_guarded(struct core *c, uint64_t entry, uint64_t argument, uint64_t stack_top)
{
	const uint64_t faulted = guarded_call(c, entry, argument, stack_top);
	if (faulted != 0 && c->vector == VECTOR_MC)
		end_if_corrupt(c);
	return faulted;
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
	panic_end();
}
