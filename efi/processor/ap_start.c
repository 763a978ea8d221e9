/* efi/processor/ap_start.c: INIT to all processors, 10 ms, then one after the other: start-up message, 200 us, a second one if needed
 * (SDM vol. 3, 8.4.4.1).
 *
 * A started processor gets the boot processor's descriptor tables, CR4, local APIC mode, memory types (SDM vol. 3, 11.11.8)
 * and, until it is isolated, a copy of the firmware's page tables with the first GiB identity-mapped and executable. Other settings
 * that firmware makes on each processor (microcode, MISC_ENABLE) are not made. Each start has a ticket: a processor that starts too
 * late finds none, uses no other's stack and waits for another INIT. */
#include "efi/processor/ap_start.h"
#include "efi/processor/apic.h"
#include "efi/firmware/console.h"
#include "efi/firmware/fwcfg.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

#define INIT_MS       10u
#define SECOND_US     200u
#define TAKEN_MS      1000u  /* from the second message to the first instructions; an emulator may be delayed */
#define ANSWER_MS     5000u  /* from the first instructions to the loop */
#define ALL_MS        30000u
#define PARAMETERS    0x400u /* efi/processor/trampoline.asm */
#define LOW_LIMIT     0x9FFFFull /* video memory follows; start-up vectors A0 to BF are reserved anyway (SDM vol. 3, 10.6.1) */

#define PRESENT_RW    3ull
#define PAGE_2M_BIT   0x80ull
#define ADDRESS_MASK  0x000FFFFFFFFFF000ull
#define CR4_PAE       (1u << 5)
#define CR4_LA57      (1u << 12)
#define CR4_PCIDE     (1u << 17)
#define CR4_CET       (1u << 23)
#define MSR_EFER      0xC0000080u
#define EFER_KEPT     0x901u /* SCE, LME, NXE */
#define MSR_PAT       0x277u
#define MSR_MTRR_CAP  0xFEu
#define MSR_MTRR_TYPE 0x2FFu
#define MTRR_ON       (1ull << 11)

extern const uint8_t trampoline[], trampoline_protected[], trampoline_long[], trampoline_end[];

struct __attribute__((packed)) ap_start_parameters {
	volatile uint32_t ticket;                       /* 1: a starting processor may take it */
	uint32_t cr3, cr4, efer;
	uint16_t gdt_limit; uint32_t gdt_base; uint16_t pad0;
	uint32_t far32; uint16_t far32_selector, pad1;
	uint32_t far64; uint16_t far64_selector, pad2;
	uint64_t stack, entry, argument;
	struct descriptor_table gdt64; uint8_t pad3[6];
	struct descriptor_table idt64; uint8_t pad4[6];
	uint16_t cs64, ss64; uint32_t pad5;
	uint64_t cr4_64;
	uint64_t gdt[4];
};
_Static_assert(offsetof(struct ap_start_parameters, far32) == 24 && offsetof(struct ap_start_parameters, stack) == 40 &&
               offsetof(struct ap_start_parameters, gdt64) == 64 && offsetof(struct ap_start_parameters, idt64) == 80 &&
               offsetof(struct ap_start_parameters, cs64) == 96 && offsetof(struct ap_start_parameters, cr4_64) == 104,
               "efi/processor/trampoline.asm knows these offsets");

/* --- memory types ------------------------------------------------------------------------------------------------ */
#define VARIABLE_MAX 32u
static const uint16_t fixed_ranges[] = { 0x250, 0x258, 0x259, 0x268, 0x269, 0x26A, 0x26B, 0x26C, 0x26D, 0x26E, 0x26F };

struct memory_types {
	bool there;
	uint64_t type, pat, fixed[COUNT_OF(fixed_ranges)], variable[2 * VARIABLE_MAX];
	unsigned fixed_count, variable_count;
};

struct wake {
	struct memory_types types;
	bool forget_types;               /* for tests: MTRRs as on a processor that the firmware never started */
	bool x2;
	void (*loop)(struct core *);
	struct ap_start_parameters *to;
};

static void types_read(struct memory_types *m)
{
	uint32_t r[4];
	memset(m, 0, sizeof(*m));
	cpuid_raw(1, 0, r);
	m->there = (r[3] >> 12 & 1) != 0 && (r[3] >> 16 & 1) != 0; /* MTRR, PAT */
	if (!m->there)
		return;
	uint64_t cap = msr_read(MSR_MTRR_CAP);
	m->type = msr_read(MSR_MTRR_TYPE);
	m->pat = msr_read(MSR_PAT);
	m->fixed_count = (cap >> 8 & 1) != 0 ? COUNT_OF(fixed_ranges) : 0;
	m->variable_count = (unsigned)(cap & 0xFF) < VARIABLE_MAX ? (unsigned)(cap & 0xFF) : VARIABLE_MAX;
	for (unsigned i = 0; i < m->fixed_count; i++)
		m->fixed[i] = msr_read(fixed_ranges[i]);
	for (unsigned i = 0; i < 2 * m->variable_count; i++)
		m->variable[i] = msr_read(0x200 + i);
}

static void flush(void)
{
	uint64_t cr3;
	__asm__ volatile("wbinvd; mov %%cr3, %0; mov %0, %%cr3" : "=&r"(cr3) : : "memory");
}

static void types_write(const struct memory_types *m)
{
	struct memory_types own;
	uint64_t cr0, cr4;
	types_read(&own);
	if (!m->there || memcmp(&own, m, sizeof(own)) == 0)
		return;
	__asm__ volatile("mov %%cr0, %0; mov %%cr4, %1" : "=r"(cr0), "=r"(cr4));
	__asm__ volatile("mov %0, %%cr0" : : "r"(cr0 | 1u << 30) : "memory"); /* CD */
	__asm__ volatile("mov %0, %%cr4" : : "r"(cr4 & ~0x80ull) : "memory"); /* PGE */
	flush();
	msr_write(MSR_MTRR_TYPE, m->type & ~MTRR_ON);
	msr_write(MSR_PAT, m->pat);
	for (unsigned i = 0; i < m->fixed_count; i++)
		msr_write(fixed_ranges[i], m->fixed[i]);
	for (unsigned i = 0; i < 2 * m->variable_count; i++)
		msr_write(0x200 + i, m->variable[i]);
	msr_write(MSR_MTRR_TYPE, m->type);
	flush();
	__asm__ volatile("mov %0, %%cr0; mov %1, %%cr4" : : "r"(cr0), "r"(cr4) : "memory");
}

/* --- on the started processor --------------------------------------------------------------------------------------- */
static void woken(struct core *c)
{
	struct wake *w = c->hw->wake;
	apic_match(w->x2);
	if (apic_own_id() == c->apic_id) { /* otherwise a late processor would answer for another: it is left out */
		if (w->forget_types)
			msr_write(MSR_MTRR_TYPE, 0);
		types_write(&w->types);
		w->loop(c);
		c->answered = 2;
	}
	for (;;)
		__asm__ volatile("cli; hlt" : : : "memory");
}

/* --- on the boot processor ------------------------------------------------------------------------------------------ */
void ap_start_enumerate(struct hw *h)
{
	const struct acpi *a = h->acpi;
	for (unsigned i = 0; i < a->madt_count && h->started < HW_CORES_MAX; i++) {
		bool seen = false; /* the same processor may be listed as APIC and as x2APIC */
		for (unsigned k = 0; k < h->started; k++)
			seen = seen || h->all[k]->apic_id == a->madt_ids[i];
		if (!seen && core_make(h, a->madt_ids[i], &h->all[h->started]) == ST_OK)
			h->started++;
	}
}

static void *pages_below(uint64_t limit, EFI_MEMORY_TYPE type, unsigned pages)
{
	EFI_PHYSICAL_ADDRESS at = limit;
	if (uefi.boot->AllocatePages(AllocateMaxAddress, type, pages, &at) != EFI_SUCCESS || at == 0)
		return NULL;
	memset((void *)(uintptr_t)at, 0, (size_t)pages << 12);
	return (void *)(uintptr_t)at;
}

/* The firmware's tables except for the first GiB, which the firmware may have mapped non-executable. */
#define TABLE_PAGES 4u
static uint32_t make_tables(uint64_t *t, bool la57)
{
	uint64_t cr3, at = (uint64_t)(uintptr_t)t;
	uint64_t *level5 = t, *level4 = t + 512, *level3 = t + 1024, *level2 = t + 1536;
	__asm__ volatile("mov %%cr3, %0" : "=r"(cr3));
	const uint64_t *theirs = (const uint64_t *)(uintptr_t)(cr3 & ADDRESS_MASK);
	if (la57) {
		memcpy(level5, theirs, 4096);
		level5[0] = (at + 4096) | PRESENT_RW;
		theirs = (const uint64_t *)(uintptr_t)(theirs[0] & ADDRESS_MASK);
	}
	memcpy(level4, theirs, 4096);
	memcpy(level3, (const void *)(uintptr_t)(theirs[0] & ADDRESS_MASK), 4096);
	level4[0] = (at + 8192) | PRESENT_RW;
	level3[0] = (at + 12288) | PRESENT_RW;
	for (unsigned i = 0; i < 512; i++)
		level2[i] = (uint64_t)i << 21 | PAGE_2M_BIT | PRESENT_RW;
	return (uint32_t)(la57 ? at : at + 4096);
}

static void fill(struct ap_start_parameters *p, uint8_t *page, uint64_t *tables)
{
	uint32_t at = (uint32_t)(uintptr_t)page;
	uint64_t cr4;
	__asm__ volatile("mov %%cr4, %0; sgdt %1; sidt %2; mov %%cs, %3; mov %%ss, %4"
	                 : "=&r"(cr4), "=m"(p->gdt64), "=m"(p->idt64), "=m"(p->cs64), "=m"(p->ss64));
	p->cr3 = make_tables(tables, (cr4 & CR4_LA57) != 0);
	p->cr4 = CR4_PAE | (uint32_t)(cr4 & CR4_LA57);
	p->cr4_64 = cr4 & ~(uint64_t)(CR4_CET | CR4_PCIDE);
	p->efer = (uint32_t)msr_read(MSR_EFER) & EFER_KEPT;
	/* SDM vol. 3, 3.4.5: flat 32-bit code, flat data, 64-bit code. */
	p->gdt[1] = 0x00CF9A000000FFFFull;
	p->gdt[2] = 0x00CF92000000FFFFull;
	p->gdt[3] = 0x00AF9A000000FFFFull;
	p->gdt_limit = sizeof(p->gdt) - 1;
	p->gdt_base = at + PARAMETERS + (uint32_t)offsetof(struct ap_start_parameters, gdt);
	p->far32 = at + (uint32_t)(trampoline_protected - trampoline);
	p->far32_selector = 8;
	p->far64 = at + (uint32_t)(trampoline_long - trampoline);
	p->far64_selector = 24;
	p->entry = (uint64_t)(uintptr_t)woken;
}

static void pause_us(const struct hw *h, uint64_t us)
{
	for (uint64_t from = read_tsc(); read_tsc() - from < us * h->tsc_per_ms / 1000;)
		relax();
}

static bool taken(const struct hw *h, const struct ap_start_parameters *p, uint64_t us)
{
	for (uint64_t from = read_tsc(); p->ticket != 0; relax())
		if (read_tsc() - from > us * h->tsc_per_ms / 1000)
			return false;
	return true;
}

static bool start(struct hw *h, struct core *c, unsigned vector)
{
	struct ap_start_parameters *p = h->wake->to;
	p->stack = (uint64_t)(uintptr_t)c->stack + STACK_BYTES;
	p->argument = (uint64_t)(uintptr_t)c;
	__asm__ volatile("mfence" : : : "memory");
	p->ticket = 1;
	if (!apic_send_startup(c->apic_id, vector))
		return false;
	if (!taken(h, p, SECOND_US) && (!apic_send_startup(c->apic_id, vector) || !taken(h, p, TAKEN_MS * 1000))) {
		uint32_t mine = 0;
		__asm__ volatile("xchg %0, %1" : "+r"(mine), "+m"(p->ticket) : : "memory");
		if (mine != 0)
			return false; /* the ticket is withdrawn: the processor can no longer start */
	}
	for (uint64_t from = read_tsc(); c->answered == 0; relax())
		if (read_tsc() - from > ANSWER_MS * h->tsc_per_ms)
			return false;
	return true;
}

enum status ap_start_all(struct hw *h, void (*loop)(struct core *))
{
	char without[32];
	uint8_t *page = NULL;
	uint64_t *tables = NULL;
	uint64_t from = read_tsc();
	if (!apic_there())
		return ST_UNSUPPORTED;
	page = pages_below(LOW_LIMIT, EfiLoaderCode, 1);
	tables = pages_below(UINT32_MAX, EfiLoaderData, TABLE_PAGES);
	h->wake = pages_get(sizeof(*h->wake));
	if (page == NULL || tables == NULL || h->wake == NULL) {
		pages_put(page, 4096);
		pages_put(tables, TABLE_PAGES << 12);
		pages_put(h->wake, sizeof(*h->wake));
		h->wake = NULL;
		return ST_FULL;
	}
	memcpy(page, trampoline, (size_t)(trampoline_end - trampoline));
	h->wake->to = (struct ap_start_parameters *)(page + PARAMETERS);
	h->wake->loop = loop;
	h->wake->x2 = apic_is_x2();
	h->wake->forget_types = fwcfg_read(FWCFG_WITHOUT, without, sizeof(without)) == ST_OK && str_equal(without, "mp-services,memory-types");
	types_read(&h->wake->types);
	fill(h->wake->to, page, tables);
	for (unsigned i = 1; i < h->started; i++)
		apic_send_init(h->all[i]->apic_id);
	pause_us(h, INIT_MS * 1000);
	for (unsigned i = 1; i < h->started; i++)
		if (read_tsc() - from > ALL_MS * h->tsc_per_ms || !start(h, h->all[i], (unsigned)((uintptr_t)page >> 12)))
			apic_send_init(h->all[i]->apic_id); /* so that it does not answer later */
	pause_us(h, INIT_MS * 1000);
	/* Each processor is isolated now, on our page tables and its own descriptor tables. */
	pages_put(page, 4096);
	pages_put(tables, TABLE_PAGES << 12);
	return ST_OK;
}

void ap_start_stop(struct hw *h)
{
	for (unsigned i = 1; i < h->started; i++)
		apic_send_init(h->all[i]->apic_id);
	pause_us(h, INIT_MS * 1000);
	pages_put(h->wake, sizeof(*h->wake));
	h->wake = NULL;
}
