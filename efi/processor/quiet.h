/* efi/processor/quiet.h: isolation: a section in which only our code runs on a processor.
 *
 * Inside: our CR3 (with the job address space), IDT and GS; CR4 and XCR0 with all vector state that CPUID enumerates; interrupts off,
 * every local APIC source masked and TPR at its highest (masking is better than CLI alone: a pending interrupt slows some
 * cores); TSC deadline disarmed. No firmware call may be made inside. */
#ifndef EFI_QUIET_H
#define EFI_QUIET_H

#include "efi/processor/percpu.h"

/* `cr3`: our page tables; `nx`: they use the no-execute bit. */
void quiet_enter(struct core *c, uint64_t cr3, bool nx);
void quiet_leave(struct core *c);

/* A time limit for guarded calls on the calling processor, by the local APIC's timer: between arm and disarm VECTOR_DEADLINE is the only
 * interrupt that can be delivered. False: no such timer. */
bool quiet_deadline_arm(struct core *c, uint64_t timer_ticks);
void quiet_deadline_disarm(struct core *c);
/* Ticks of the local APIC's timer, divided by 128, in 2^QUIET_INTERVAL_SHIFT TSC ticks; 0 if it does not count. */
#define QUIET_INTERVAL_SHIFT 22
uint64_t quiet_timer_rate(struct core *c);

#endif
