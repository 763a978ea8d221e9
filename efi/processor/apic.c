/* efi/processor/apic.c: local APIC by SDM vol. 3, chapter 11. */
#include "efi/processor/apic.h"
#include "efi/firmware/uefi.h"

#define MSR_APIC_BASE 0x1B
#define BASE_ENABLED  (1u << 11)
#define BASE_X2       (1u << 10)
#define NMI_ASSERT    0x4400u /* ICR: delivery mode 100b (NMI), level assert */
#define INIT_ASSERT   0x4500u /* delivery mode 101b (INIT), level assert */
#define STARTUP       0x4600u /* delivery mode 110b (start-up); [7:0] number of the page to start at */

bool apic_there(void)
{
	uint32_t r[4];
	cpuid_raw(1, 0, r);
	return (r[3] >> 9 & 1) != 0 && (msr_read(MSR_APIC_BASE) & BASE_ENABLED) != 0;
}

bool apic_is_x2(void)
{
	return (msr_read(MSR_APIC_BASE) & BASE_X2) != 0;
}

static volatile uint32_t *page(void)
{
	return (volatile uint32_t *)(uintptr_t)(msr_read(MSR_APIC_BASE) & 0xFFFFFFFFFF000ull);
}

uint64_t apic_eoi_address(void)
{
	return apic_is_x2() ? 0 : (uint64_t)(uintptr_t)page() + APIC_EOI;
}

uint32_t apic_read(enum apic_register r)
{
	return apic_is_x2() ? (uint32_t)msr_read(0x800 + r / 16) : page()[r / 4];
}

void apic_write(enum apic_register r, uint32_t value)
{
	if (apic_is_x2())
		msr_write(0x800 + r / 16, value);
	else
		page()[r / 4] = value;
}

static bool send(uint32_t apic_id, uint32_t command)
{
	if (apic_is_x2()) {
		msr_write(0x800 + APIC_ICR_LOW / 16, (uint64_t)apic_id << 32 | command);
		return true;
	}
	if (apic_id > 0xFE)
		return false;
	for (unsigned i = 0; i < 100000 && (apic_read(APIC_ICR_LOW) >> 12 & 1) != 0; i++)
		relax(); /* the previous one has not been sent yet */
	/* The firmware's interrupt handlers may send messages too: none may come between the two writes. */
	uint64_t flags;
	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
	apic_write(APIC_ICR_HIGH, apic_id << 24);
	apic_write(APIC_ICR_LOW, command);
	if ((flags & 0x200) != 0)
		__asm__ volatile("sti" : : : "memory");
	return true;
}

bool apic_send_nmi(uint32_t apic_id)
{
	return send(apic_id, NMI_ASSERT);
}

void apic_send_init(uint32_t apic_id)
{
	(void)send(apic_id, INIT_ASSERT);
}

bool apic_send_startup(uint32_t apic_id, unsigned page)
{
	return send(apic_id, STARTUP | (page & 0xFF));
}

void apic_match(bool x2)
{
	uint64_t base = msr_read(MSR_APIC_BASE);
	/* The transition from disabled to x2APIC passes through xAPIC (SDM vol. 3, 10.12.5). */
	if ((base & BASE_ENABLED) == 0)
		msr_write(MSR_APIC_BASE, base |= BASE_ENABLED);
	if (x2 && (base & BASE_X2) == 0)
		msr_write(MSR_APIC_BASE, base | BASE_X2);
}

uint32_t apic_own_id(void)
{
	uint32_t r[4];
	cpuid_raw(0, 0, r);
	if (r[0] >= 0xB) {
		cpuid_raw(0xB, 0, r);
		if ((r[1] & 0xFFFF) != 0)
			return r[3];
	}
	cpuid_raw(1, 0, r);
	return r[1] >> 24;
}
