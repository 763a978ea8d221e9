/* efi/processor/quiet.c: enters and leaves isolation. Order matters: first interrupts are masked, then page tables are switched,
 * then our IDT is loaded; leaving reverses it. */
#include "efi/processor/quiet.h"
#include "efi/processor/apic.h"
#include "efi/firmware/uefi.h"

#define MSR_EFER         0xC0000080u
#define MSR_GS_BASE      0xC0000101u
#define MSR_TSC_DEADLINE 0x6E0u
#define EFER_NXE         (1u << 11)
#define CR4_OSFXSR       (1u << 9)
#define CR4_OSXMMEXCPT   (1u << 10)
#define CR4_OSXSAVE      (1u << 18)
#define CR4_CET          (1u << 23) /* recovery from a fault skips returns, which a shadow stack does not allow */
/* x87, SSE, AVX, AVX-512 (opmask, ZMM_Hi256, Hi16_ZMM): SDM vol. 1, 13.1. */
#define XCR0_WANTED      0xE7u
#define DIVIDE_128       0xAu
#define TIMER_DEADLINE_MODE (2u << 17)
#define TPR_ALL          15u
#define TPR_DEADLINE     14u /* passes vectors 0xF0 and above */

static const enum apic_register lvts[7] = {
	APIC_LVT_TIMER, APIC_LVT_LINT0, APIC_LVT_LINT1, APIC_LVT_ERROR, APIC_LVT_PERF, APIC_LVT_THERMAL, APIC_LVT_CMCI
};

static uint64_t read_cr3(void) { uint64_t v; __asm__ volatile("mov %%cr3, %0" : "=r"(v)); return v; }
static uint64_t read_cr4(void) { uint64_t v; __asm__ volatile("mov %%cr4, %0" : "=r"(v)); return v; }
static uint64_t read_cr8(void) { uint64_t v; __asm__ volatile("mov %%cr8, %0" : "=r"(v)); return v; }
static void write_cr3(uint64_t v) { __asm__ volatile("mov %0, %%cr3" : : "r"(v) : "memory"); }
static void write_cr4(uint64_t v) { __asm__ volatile("mov %0, %%cr4" : : "r"(v) : "memory"); }
static void write_cr8(uint64_t v) { __asm__ volatile("mov %0, %%cr8" : : "r"(v) : "memory"); }

static uint64_t read_xcr0(void)
{
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

static void write_xcr0(uint64_t v)
{
	__asm__ volatile("xsetbv" : : "a"((uint32_t)v), "d"((uint32_t)(v >> 32)), "c"(0));
}

/* AMD64 manual volume 2, 16.3.4: bit 31 of the version reports an extended register space, whose first register holds the number of entries. */
static unsigned extended_entries(void)
{
	const unsigned n = apic_read(APIC_VERSION) >> 31 ? apic_read(APIC_EXTENDED) >> 16 & 0xFF : 0;
	return n < APIC_EXTENDED_ENTRIES ? n : APIC_EXTENDED_ENTRIES;
}

static enum apic_register extended_lvt(unsigned i) { return (enum apic_register)(APIC_EXTENDED_LVT + 0x10 * i); }

static void mask_apic(struct core *c)
{
	struct quiet_saved *s = &c->saved;
	uint32_t r[4];
	s->apic = apic_there();
	c->has_apic = s->apic;
	if (!s->apic)
		return;
	c->eoi = apic_eoi_address();
	/* Version register [23:16]: number of the last entry (SDM vol. 3, 11.4.8). */
	uint32_t last = apic_read(APIC_VERSION) >> 16 & 0xFF;
	for (unsigned i = 0; i < COUNT_OF(lvts); i++) {
		s->lvt_there[i] = i <= last;
		if (!s->lvt_there[i])
			continue;
		s->lvt[i] = apic_read(lvts[i]);
		apic_write(lvts[i], s->lvt[i] | APIC_MASKED);
	}
	s->extended = extended_entries();
	for (unsigned i = 0; i < s->extended; i++) {
		s->lvt_extended[i] = apic_read(extended_lvt(i));
		apic_write(extended_lvt(i), s->lvt_extended[i] | APIC_MASKED);
	}
	/* All entries are masked, so the APIC can be enabled where the firmware left it disabled (SDM vol. 3, 11.4.7.2): a job's time limit needs it. */
	s->spurious = apic_read(APIC_SPURIOUS);
	if ((s->spurious & APIC_SOFTWARE_ON) == 0)
		apic_write(APIC_SPURIOUS, s->spurious | APIC_SOFTWARE_ON);
	cpuid_raw(1, 0, r);
	s->deadline_mode = (r[2] >> 24 & 1) != 0 && (s->lvt[0] & (3u << 17)) == TIMER_DEADLINE_MODE;
	s->tsc_deadline = 0;
	if (s->deadline_mode) {
		s->tsc_deadline = msr_read(MSR_TSC_DEADLINE);
		msr_write(MSR_TSC_DEADLINE, 0);
	} else {
		s->timer_initial = apic_read(APIC_TIMER_INITIAL);
		s->timer_divide = apic_read(APIC_TIMER_DIVIDE);
	}
}

static void unmask_apic(struct core *c)
{
	struct quiet_saved *s = &c->saved;
	if (!s->apic)
		return;
	if ((s->spurious & APIC_SOFTWARE_ON) == 0)
		apic_write(APIC_SPURIOUS, s->spurious);
	for (unsigned i = 0; i < COUNT_OF(lvts); i++)
		if (s->lvt_there[i])
			apic_write(lvts[i], s->lvt[i]);
	for (unsigned i = 0; i < s->extended; i++)
		apic_write(extended_lvt(i), s->lvt_extended[i]);
	if (s->deadline_mode && s->tsc_deadline != 0) {
		/* The write to the timer's entry must take effect before the one to the deadline (SDM vol. 3, 11.5.4.1). */
		__asm__ volatile("mfence" : : : "memory");
		msr_write(MSR_TSC_DEADLINE, s->tsc_deadline);
	}
}

void quiet_enter(struct core *c, uint64_t cr3, bool nx)
{
	struct quiet_saved *s = &c->saved;
	uint32_t r[4];

	__asm__ volatile("pushfq; popq %0; cli" : "=r"(s->flags) : : "memory");
	mask_apic(c);
	s->cr8 = read_cr8();
	write_cr8(TPR_ALL);

	s->efer = msr_read(MSR_EFER);
	if (nx && (s->efer & EFER_NXE) == 0)
		msr_write(MSR_EFER, s->efer | EFER_NXE);
	s->cr3 = read_cr3();
	write_cr3(cr3);

	s->gs_base = msr_read(MSR_GS_BASE);
	msr_write(MSR_GS_BASE, (uint64_t)(uintptr_t)c);
	faults_enter(c);

	s->cr4 = read_cr4();
	cpuid_raw(1, 0, r);
	s->has_xcr0 = (r[2] >> 26 & 1) != 0;
	write_cr4((s->cr4 | CR4_OSFXSR | CR4_OSXMMEXCPT | (s->has_xcr0 ? CR4_OSXSAVE : 0)) & ~(uint64_t)CR4_CET);
	if (s->has_xcr0) {
		uint64_t wanted;
		s->xcr0 = read_xcr0();
		cpuid_raw(0xD, 0, r);
		wanted = s->xcr0 | (r[0] & XCR0_WANTED);
		if ((wanted & 4) == 0) /* AVX-512 state needs AVX state */
			wanted &= ~0xE0ull;
		if (wanted != s->xcr0)
			write_xcr0(wanted);
	}
}

void quiet_leave(struct core *c)
{
	struct quiet_saved *s = &c->saved;
	if (s->has_xcr0)
		write_xcr0(s->xcr0);
	write_cr4(s->cr4);
	faults_leave(c);
	msr_write(MSR_GS_BASE, s->gs_base);
	write_cr3(s->cr3);
	if (msr_read(MSR_EFER) != s->efer)
		msr_write(MSR_EFER, s->efer);
	unmask_apic(c);
	write_cr8(s->cr8);
	if ((s->flags & 0x200) != 0)
		__asm__ volatile("sti" : : : "memory");
}

/* The entry stays masked; the firmware's count restarts with a full period. */
static void put_timer_back(const struct core *c)
{
	apic_write(APIC_TIMER_INITIAL, 0);
	apic_write(APIC_LVT_TIMER, c->saved.lvt[0] | APIC_MASKED);
	if (!c->saved.deadline_mode) {
		apic_write(APIC_TIMER_DIVIDE, c->saved.timer_divide);
		apic_write(APIC_TIMER_INITIAL, c->saved.timer_initial);
	}
}

uint64_t quiet_timer_rate(struct core *c)
{
	if (!c->saved.apic)
		return 0;
	apic_write(APIC_LVT_TIMER, APIC_MASKED | VECTOR_DEADLINE);
	apic_write(APIC_TIMER_DIVIDE, DIVIDE_128);
	apic_write(APIC_TIMER_INITIAL, UINT32_MAX);
	uint64_t from = read_tsc();
	while (read_tsc() - from < 1ull << QUIET_INTERVAL_SHIFT)
		relax();
	uint64_t rate = UINT32_MAX - apic_read(APIC_TIMER_CURRENT);
	put_timer_back(c);
	return rate;
}

bool quiet_deadline_arm(struct core *c, uint64_t timer_ticks)
{
	if (!c->saved.apic || timer_ticks == 0)
		return false;
	/* The firmware's count still runs and must not expire with our vector. Writing 0 stops it (SDM vol. 3, 11.5.4). */
	apic_write(APIC_LVT_TIMER, APIC_MASKED | VECTOR_DEADLINE);
	apic_write(APIC_TIMER_INITIAL, 0);
	apic_write(APIC_TIMER_DIVIDE, DIVIDE_128);
	apic_write(APIC_LVT_TIMER, VECTOR_DEADLINE);
	apic_write(APIC_TIMER_INITIAL, timer_ticks > UINT32_MAX ? UINT32_MAX : (uint32_t)timer_ticks);
	write_cr8(TPR_DEADLINE);
	__asm__ volatile("sti" : : : "memory");
	return true;
}

void quiet_deadline_disarm(struct core *c)
{
	apic_write(APIC_LVT_TIMER, APIC_MASKED | VECTOR_DEADLINE);
	/* A pending interrupt must be taken now, while our IDT is loaded. */
	__asm__ volatile("sti; nop; nop; cli" : : : "memory");
	write_cr8(TPR_ALL);
	put_timer_back(c);
}
