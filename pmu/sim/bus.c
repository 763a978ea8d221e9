/* pmu/sim/bus.c: the front-side bus of a machine without an L3: who did what on it.
 *
 * Each socket has a bus of its own to memory. Whoever misses its L2 is a transaction there: a line read, a line read for
 * ownership, a line invalidated elsewhere, a line written back, a non-temporal store's line or the parts of one. Data takes
 * eight bytes four times a bus clock, a whole line so two clocks, a part one at least. A line that another cache of the
 * socket sends, and memory takes at the same time, is one transfer.
 *
 * How long transactions take is the business of coherence.c and dram.c: the memory channels of a node stand for what its
 * bus can carry.
 *
 * Not modelled: I/O and deferred transactions, snoop stalls, arbitration, the snoops of another socket's transactions, lock
 * cycles, the clock at which a line's data is on the bus (it is said with the request). */
#include "pmu/sim/memory_state.h"

#define LINE_CLOCKS 2 /* 64 bytes, eight at a time, four times a clock: Intel 5400 chipset memory controller hub datasheet */
#define PART_CLOCKS 1

_Static_assert(SIG_BUS_WRITE_PART == SIG_BUS_READ + BUS_WRITE_PART, "signals in the order of enum bus_kind");
_Static_assert(SIG_BUS_ALL_READ == SIG_BUS_READ + 9 && SIG_BUS_ALL_DATA_OUT == SIG_BUS_DATA_OUT + 9, "both rows alike");

void bus_tell_some(struct memory *s, unsigned thread, enum bus_kind kind, uint64_t t)
{
	const unsigned a_socket = s->cores / s->sockets * (unsigned)s->m->topology_threads, first = thread - thread % a_socket;
	const enum signal data = kind <= BUS_RFO ? SIG_BUS_DATA_IN : SIG_BUS_DATA_OUT;
	const unsigned clocks = kind == BUS_INVALIDATE ? 0 : kind == BUS_WRITE_PART ? PART_CLOCKS : LINE_CLOCKS;

	signal_pulse(s->signals[thread], (enum signal)(SIG_BUS_READ + kind), t, 1);
	signal_pulse(s->signals[thread], data, t, clocks);
	for (unsigned i = first; i < first + a_socket; i++) {
		if (!signal_heard_any(s->signals[i], SIG_BUS_ALL_READ, SIG_BUS_ALL_DATA_OUT))
			continue;
		signal_pulse(s->signals[i], (enum signal)(SIG_BUS_ALL_READ + kind), t, 1);
		signal_pulse(s->signals[i], (enum signal)(data + (SIG_BUS_ALL_READ - SIG_BUS_READ)), t, clocks);
	}
}

void bus_tell_read(struct memory *s, const struct ask *q, bool upgrade, uint64_t t, uint64_t ready)
{
	static const enum bus_kind kind[] = { [ASK_LOAD] = BUS_READ, [ASK_RFO] = BUS_RFO, [ASK_IFETCH] = BUS_IFETCH, [ASK_WALK] = BUS_READ,
	                                      [ASK_PREFETCH] = BUS_READ, [ASK_PREFETCH_RFO] = BUS_READ };
	if (!s->bus)
		return;
	bus_tell_some(s, q->thread, upgrade ? BUS_INVALIDATE : kind[q->kind], t);
	if (kind[q->kind] == BUS_READ)
		signal_level(s->signals[q->thread], SIG_BUS_OUTSTANDING, t, ready, 1);
}
