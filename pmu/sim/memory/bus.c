/* pmu/sim/memory/bus.c: the front-side bus of a machine without an L3, or with the events of a processor that has such a
 * bus: its transactions and who made them.
 *
 * Each socket has its own bus to memory. Every miss of the last cache is a transaction there: a line read, a line read for
 * ownership, a line invalidated elsewhere, a line written back, a non-temporal store's full or partial line. Data moves
 * eight bytes four times a bus clock, so a whole line takes two clocks, a partial one at least one. A line that another
 * cache of the socket sends while memory takes it too is one transfer.
 *
 * coherence.c and dram.c decide how long transactions take: the memory channels of a node stand for the capacity of its
 * bus.
 *
 * Requests and data get bus clocks of their own, the first free ones from the request and from the line's arrival on; only
 * the bus's own signals (IOQ, FSB, BSQ) show them. The other counts are emitted with the request.
 *
 * Not modelled: the core whose line an L3 writes back, I/O and deferred transactions, retries, snoop stalls, arbitration,
 * snoops for other sockets' transactions, lock cycles, the time of writes in the queue. */
#include "pmu/sim/memory/memory_state.h"

#define LINE_CLOCKS 2 /* 64 bytes, eight at a time, four times a clock: Intel 5400 chipset memory controller hub datasheet */
#define PART_CLOCKS 1

_Static_assert(SIG_BUS_WRITE_PART == SIG_BUS_READ + BUS_WRITE_PART, "signals in the order of enum bus_kind");
_Static_assert(SIG_BUS_ALL_READ == SIG_BUS_READ + 9 && SIG_BUS_ALL_DATA_OUT == SIG_BUS_DATA_OUT + 9, "both rows alike");

#define REQUEST_CLOCKS 2 /* request phase: two bus clocks */
#define ASSERTED_CYCLES 2 /* SDM, FSB_data_activity: two processor clocks in each */
#define ENTRY_CYCLES 4    /* from one entry of the bus sequence queue to the next: its events are edges too (SDM, BSQ_allocation) */

void bus_init(const struct memory *s, struct socket *k)
{
	lane_init(&k->bus_requests, s->m->clock_core_ratio * REQUEST_CLOCKS << 16);
	lane_init(&k->bus_data, s->m->clock_core_ratio << 16);
	lane_init(&k->bus_entries, ENTRY_CYCLES << 16);
}

/* The core cycle in which the first free bus slot from t on begins. */
static uint64_t slot(const struct memory *s, struct lane *l, uint64_t t)
{
	const uint64_t ratio = s->m->clock_core_ratio;

	return lane_take(l, (t + ratio - 1) / ratio * ratio);
}

static void assert_to(struct signals *g, enum signal sig, uint64_t t)
{
	signal_level(g, sig, t, t + ASSERTED_CYCLES, 1);
}

/* A transaction as the bus's own signals show it: requests, and data to or from a core, go to the requesting thread; data
 * of all agents goes to one thread of each core. */
static void show(struct memory *s, unsigned thread, enum bus_kind kind, enum signal queued, uint64_t t, uint64_t data, unsigned clocks)
{
	const unsigned a_core = (unsigned)s->m->topology_threads, a_socket = s->cores / s->sockets * a_core;
	const unsigned of_socket = thread - thread % a_socket;
	struct socket *k = &s->socket[thread / a_socket];
	const bool read = kind <= BUS_INVALIDATE;

	assert_to(s->signals[thread], read ? SIG_IOQ_READ : kind == BUS_WRITE_BACK ? SIG_IOQ_WRITE_BACK : SIG_IOQ_WRITE_COMBINED,
	          slot(s, &k->bus_requests, t));
	if (read && data > t)
		signal_level(s->signals[thread], SIG_IOQ_READ_ENTRIES, t, data, 1);
	assert_to(s->signals[thread], queued, lane_take(&k->bus_entries, (t + ENTRY_CYCLES - 1) / ENTRY_CYCLES * ENTRY_CYCLES));
	if (queued == SIG_BSQ_READ && data > t)
		signal_level(s->signals[thread], SIG_BSQ_READ_ENTRIES, t, data, 1);
	for (unsigned i = 0; i < clocks; i++) {
		const uint64_t at = slot(s, &k->bus_data, data);

		assert_to(s->signals[thread], read ? SIG_FSB_DATA_READ : SIG_FSB_DATA_WRITTEN, at);
		for (unsigned n = of_socket; n < of_socket + a_socket; n += a_core)
			assert_to(s->signals[n], SIG_FSB_DATA, at);
	}
}

void bus_emit_some(struct memory *s, unsigned thread, enum bus_kind kind, enum signal queued, uint64_t t, uint64_t data_at)
{
	const unsigned a_socket = s->cores / s->sockets * (unsigned)s->m->topology_threads, first = thread - thread % a_socket;
	const enum signal data = kind <= BUS_RFO ? SIG_BUS_DATA_IN : SIG_BUS_DATA_OUT;
	const unsigned clocks = kind == BUS_INVALIDATE ? 0 : kind == BUS_WRITE_PART ? PART_CLOCKS : LINE_CLOCKS;
	bool shown = false;

	signal_pulse(s->signals[thread], (enum signal)(SIG_BUS_READ + kind), t, 1);
	signal_pulse(s->signals[thread], data, t, clocks);
	for (unsigned i = first; i < first + a_socket; i++) {
		shown = shown || signal_subscribed_any(s->signals[i], SIG_IOQ_READ, SIG_BSQ_READ_ENTRIES);
		if (!signal_subscribed_any(s->signals[i], SIG_BUS_ALL_READ, SIG_BUS_ALL_DATA_OUT))
			continue;
		signal_pulse(s->signals[i], (enum signal)(SIG_BUS_ALL_READ + kind), t, 1);
		signal_pulse(s->signals[i], (enum signal)(data + (SIG_BUS_ALL_READ - SIG_BUS_READ)), t, clocks);
	}
	if (shown)
		show(s, thread, kind, queued, t, data_at, clocks);
}

void bus_emit_read(struct memory *s, const struct line_request *q, bool upgrade, enum mem_source source, uint64_t t, uint64_t ready)
{
	static const enum bus_kind kind[] = { [REQUEST_LOAD] = BUS_READ, [REQUEST_RFO] = BUS_RFO, [REQUEST_IFETCH] = BUS_IFETCH, [REQUEST_WALK] = BUS_READ,
	                                      [REQUEST_PREFETCH] = BUS_READ, [REQUEST_PREFETCH_RFO] = BUS_READ };
	static const enum signal queued[] = { [REQUEST_LOAD] = SIG_BSQ_READ, [REQUEST_RFO] = SIG_BSQ_RFO, [REQUEST_IFETCH] = SIG_BSQ_READ, [REQUEST_WALK] = SIG_BSQ_READ,
	                                      [REQUEST_PREFETCH] = SIG_BSQ_PREFETCH, [REQUEST_PREFETCH_RFO] = SIG_BSQ_RFO_PREFETCH };
	if (!s->bus || (s->m->l3_bytes && (source == SRC_L3_UNSHARED || source == SRC_L3_OTHER_CLEAN || source == SRC_L3_OTHER_MODIFIED)))
		return;
	bus_emit_some(s, q->thread, upgrade ? BUS_INVALIDATE : kind[q->kind], upgrade ? SIG_BSQ_INVALIDATE : queued[q->kind], t, ready);
	if (kind[q->kind] == BUS_READ)
		signal_level(s->signals[q->thread], SIG_BUS_OUTSTANDING, t, ready, 1);
}
