/* tests/reference/hear.h: what the core tells the taps goes to rig_hear too. For the one source of a program that is linked
 * with --wrap of both. */
#ifndef TESTS_HEAR_H
#define TESTS_HEAR_H

#include "tests/reference/rig.h"

void __real_signal_pulse_heard(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
void __real_signal_level_heard(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);
void __wrap_signal_pulse_heard(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
void __wrap_signal_level_heard(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);

void __wrap_signal_pulse_heard(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	rig_hear(s, sig, cycle, n);
	__real_signal_pulse_heard(s, sig, cycle, n);
}

void __wrap_signal_level_heard(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	for (uint64_t c = from; c < to; c++)
		rig_hear(s, sig, c, n);
	__real_signal_level_heard(s, sig, from, to, n);
}

#endif
