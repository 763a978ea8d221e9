/* efi/processor/ap_start.h: starts processors without the firmware, by INIT and start-up messages (SDM vol. 3, 8.4.4.1). */
#ifndef EFI_WAKE_H
#define EFI_WAKE_H

#include "efi/processor/hw.h"

/* Lists the MADT's enabled processors except the calling one in h->all[], and counts them in h->started. */
void ap_start_enumerate(struct hw *h);
/* Starts each of h->all[1..]; they run loop(core), which returns when core->leave is set, with our IDT still loaded. core->answered
 * marks those that started. Allocates a page below 1 MiB and some below 4 GiB, and frees them. ST_FULL: no such page; ST_UNSUPPORTED: no local
 * APIC. Each wait is bounded; no start begins after half a minute. */
MUST_CHECK enum status ap_start_all(struct hw *h, void (*loop)(struct core *));
/* Returns the processors to the state after INIT: waiting for a start-up message, as an operating system expects. */
void ap_start_stop(struct hw *h);

#endif
