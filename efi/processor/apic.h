/* efi/processor/apic.h: the local APIC of the calling processor, as xAPIC or x2APIC. */
#ifndef EFI_APIC_H
#define EFI_APIC_H

#include "pmu/base.h"

/* Register offsets as in the xAPIC's page (SDM vol. 3, table 11-1); x2APIC: MSR 0x800 + offset / 16. */
enum apic_register {
	APIC_VERSION = 0x30, APIC_EOI = 0xB0, APIC_SPURIOUS = 0xF0, APIC_LVT_CMCI = 0x2F0, APIC_ICR_LOW = 0x300, APIC_ICR_HIGH = 0x310,
	APIC_LVT_TIMER = 0x320, APIC_LVT_THERMAL = 0x330, APIC_LVT_PERF = 0x340, APIC_LVT_LINT0 = 0x350,
	APIC_LVT_LINT1 = 0x360, APIC_LVT_ERROR = 0x370, APIC_TIMER_INITIAL = 0x380, APIC_TIMER_CURRENT = 0x390,
	APIC_TIMER_DIVIDE = 0x3E0,
	APIC_EXTENDED = 0x400, APIC_EXTENDED_LVT = 0x500 /* AMD64 manual volume 2, 16.3.5: features; the first extended entry */
};
#define APIC_EXTENDED_ENTRIES 4u /* that are masked: those of IBS and of errors, and two more */
#define APIC_SOFTWARE_ON 0x100u /* of APIC_SPURIOUS; off: no interrupt is delivered, and no entry can be unmasked */
#define APIC_MASKED 0x10000u /* of a local vector table entry */

/* False: no local APIC, or it is disabled. */
bool apic_there(void);
bool apic_is_x2(void);
uint64_t apic_eoi_address(void); /* 0 for x2APIC */
uint32_t apic_read(enum apic_register r);
void apic_write(enum apic_register r, uint32_t value);
/* Sends an NMI to another processor. False: its id cannot be addressed in xAPIC mode. */
bool apic_send_nmi(uint32_t apic_id);
/* Sends an INIT: the processor then waits for a start-up message and responds to nothing else. */
void apic_send_init(uint32_t apic_id);
/* Sends a start-up message: a waiting processor starts at page << 12, in real mode. False: as apic_send_nmi. */
bool apic_send_startup(uint32_t apic_id, unsigned page);
/* Enables this processor's local APIC, in x2APIC mode if the others are in it. */
void apic_match(bool x2);
/* The id of the calling processor: CPUID 0xB (32 bits), else CPUID 1 (8 bits). */
uint32_t apic_own_id(void);

#endif
