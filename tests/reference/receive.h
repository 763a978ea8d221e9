/* tests/reference/receive.h: what the core tells the taps goes to rig_receive too. For the one source of a program that is linked
 * with --wrap of both. */
#ifndef TESTS_RECEIVE_H
#define TESTS_RECEIVE_H

#include "tests/reference/rig.h"

void __real_signal_pulse_deliver(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
void __real_signal_level_deliver(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);
void __wrap_signal_pulse_deliver(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
void __wrap_signal_level_deliver(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);

void __wrap_signal_pulse_deliver(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	rig_receive(s, sig, cycle, n);
	__real_signal_pulse_deliver(s, sig, cycle, n);
}

void __wrap_signal_level_deliver(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	for (uint64_t c = from; c < to; c++)
		rig_receive(s, sig, c, n);
	__real_signal_level_deliver(s, sig, from, to, n);
}

#endif
