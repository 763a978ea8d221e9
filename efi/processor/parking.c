/* efi/processor/parking.c: see parking.h. */
#include "efi/processor/parking.h"
#include "efi/firmware/console.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

/* Whether QEMU's TCG emulates the processors, by the hypervisor's signature. */
static bool is_tcg(void)
{
	uint32_t r[4];
	if (!console.hypervisor)
		return false;
	cpuid_raw(0x40000000, 0, r);
	return memcmp(&r[1], "TCGTCGTCGTCG", 12) == 0;
}

static enum park choose(void)
{
	uint32_t r[4];
	if (console.hypervisor)
		return apic_there() ? PARK_HLT : PARK_SPIN;
	cpuid_raw(0, 0, r);
	if (r[0] >= 5) {
		cpuid_raw(1, 0, r);
		if ((r[2] >> 3 & 1) != 0)
			return PARK_MWAIT;
	}
	return apic_there() ? PARK_HLT : PARK_SPIN;
}

void park_choose(struct hw *h)
{
	h->park = choose();
	h->emulated = h->park == PARK_HLT && is_tcg();
}

void park_here(const struct hw *h, struct core *c)
{
	switch (h->park) {
	case PARK_MWAIT:
		__asm__ volatile("monitor" : : "a"(&c->posted), "c"(0), "d"(0) : "memory");
		if (c->posted == c->done)
			__asm__ volatile("mwait" : : "a"(0), "c"(0) : "memory");
		break;
	case PARK_HLT:
		/* An NMI between the test and HLT is lost; the sender repeats it. */
		if (c->posted == c->done)
			__asm__ volatile("hlt" : : : "memory");
		break;
	case PARK_SPIN:
		relax();
		break;
	}
}

static bool must_wait(const struct hw *h, const struct core *c)
{
	return h->go < c->go_at && *(const volatile uint64_t *)&c->abandon == 0;
}

void park_until_go(const struct hw *h, struct core *c)
{
	for (uint64_t from = read_tsc(); must_wait(h, c);) {
		relax();
		if (!h->emulated || read_tsc() - from < h->tsc_per_ms)
			continue;
		c->halted = 1;
		__asm__ volatile("mfence" : : : "memory");
		if (must_wait(h, c)) /* an NMI between this test and HLT is lost; park_wake repeats it */
			__asm__ volatile("hlt" : : : "memory");
		c->halted = 0;
	}
}

static void kick(struct hw *h, const struct core *c)
{
	if (h->cores[0]->has_apic)
		(void)apic_send_nmi(c->apic_id);
}

bool park_wait_for(struct hw *h, struct core *c, const volatile uint64_t *word, uint64_t value, uint64_t ms, enum first_kick first)
{
	uint64_t from = read_tsc(), kicked = from, now;
	if (first == KICK_AT_ONCE && *word != value)
		kick(h, c);
	while (*word != value) {
		relax();
		now = read_tsc();
		if (now - from > ms * h->tsc_per_ms)
			return false;
		if (now - kicked > h->tsc_per_ms) {
			kick(h, c);
			kicked = now;
		}
	}
	return true;
}

void park_wake(struct hw *h, const struct job *jobs, unsigned n, uint64_t ms)
{
	if (!h->emulated)
		return;
	__asm__ volatile("mfence" : : : "memory");
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < n; i++) {
			struct core *c = h->cores[jobs[i].core];
			if (jobs[i].core == 0 || jobs[i].status != ST_OK || c->halted == 0)
				continue;
			if (pass == 0)
				kick(h, c);
			else
				(void)park_wait_for(h, c, &c->halted, 0, ms, KICK_LATER);
		}
}
