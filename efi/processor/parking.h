/* efi/processor/parking.h: how processors wait for each other.
 *
 * An idle processor waits by MWAIT on its mailbox's line; under a hypervisor, where MWAIT is often a busy loop, by HLT, from which an NMI wakes it;
 * without a local APIC by PAUSE. */
#ifndef EFI_PARKING_H
#define EFI_PARKING_H

#include "efi/processor/hw.h"

/* Chooses the way by CPUID. */
void park_choose(struct hw *h);
/* An idle processor: until its mailbox may have a call. */
void park_here(const struct hw *h, struct core *c);
/* Waits until the job may start, spinning, so that all start together. Under QEMU's TCG a processor halts after a ms: where it has more processors than
 * its host, those that spin keep the host from running those that are awaited, each for a time slice. */
void park_until_go(const struct hw *h, struct core *c);
/* After `go`: wakes the processors of these jobs that halted, each in so many ms. */
void park_wake(struct hw *h, const struct job *jobs, unsigned n, uint64_t ms);

enum first_kick { KICK_LATER, KICK_AT_ONCE };
/* A halted processor has to be woken. */
static inline enum first_kick park_kick(const struct hw *h) { return h->park == PARK_HLT ? KICK_AT_ONCE : KICK_LATER; }
/* Waits until *word is `value`. An NMI every ms wakes a processor that halted just after its test of the mailbox. False: not within `ms`. */
bool park_wait_for(struct hw *h, struct core *c, const volatile uint64_t *word, uint64_t value, uint64_t ms, enum first_kick first);

#endif
