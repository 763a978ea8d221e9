/* pmu/sim/memory/memory_uncore.c: reports to the sink what happened beyond the cores, in uncore cycles.
 *
 * Not modelled: uncore cycles in which a request only waits to enter a queue. */
#include "pmu/sim/memory/memory_state.h"
#include "pmu/sim/memory/uncore_traffic.h"

void memory_uncore(struct memory *s, const struct uncore_sink *sink)
{
	if (sink)
		s->sink = *sink;
	else
		memset(&s->sink, 0, sizeof(s->sink));
	memory_plain(s);
}

void memory_plain(struct memory *s)
{
	s->plain = s->inclusive && s->sockets <= 2 && !s->float_cycles && !s->sink.deliver;
	s->usual = cache_is_usual(&s->core[0].l1d, 8) && !s->m->small;
	s->quick = 0;
	if (s->plain && !s->bus && s->m->l2_bytes && s->m->l2_cores == 1 && s->usual && cache_is_usual(&s->cluster[0].l2, 8))
		s->quick = cache_is_usual(&s->socket[0].l3, 16) ? 2 : 1;
}

void memory_bus_lock(struct memory *s, uint64_t core_cycle)
{
	uncore_pulse(s, 0, 0, UNC_BUS_LOCK, core_cycle);
	if (s->sink.traffic)
		uncore_traffic_hold(s, core_cycle);
}

uint64_t memory_uncore_cycle(const struct memory *s, uint64_t core_cycle)
{
	if (s->float_cycles) {
		const uint64_t stretches = core_cycle / s->float_cycles, rest = core_cycle % s->float_cycles;
		const uint64_t one = s->m->clock_uncore_ratio, other = s->m->fault_uncore_float_ratio;
		return s->uncore_ahead + ((stretches + 1) / 2 * s->float_cycles * one + stretches / 2 * s->float_cycles * other +
		        rest * (stretches & 1 ? other : one)) / s->m->clock_core_ratio;
	}
	return s->uncore_ahead + core_cycle * s->m->tick_per_core_cycle / s->m->tick_per_uncore_cycle;
}

void memory_uncore_steady(struct memory *s, bool steady, uint64_t core_cycle)
{
	const uint64_t before = memory_uncore_cycle(s, core_cycle);
	if (!s->m->fault_uncore_float_ratio)
		return;
	s->float_cycles = steady ? 0 : s->m->core_hz / 1000000 * s->m->fault_uncore_float_us;
	s->lat = s->lat_of[0];
	s->uncore_ahead += before - memory_uncore_cycle(s, core_cycle);
	memory_plain(s);
}

static const struct uncore_attributes nothing;

void uncore_link_out(struct memory *s, unsigned from, uint32_t line, uint64_t t)
{
	uncore_pulse(s, from - from % s->complexes, line % (unsigned)s->m->uncore_fabric_links, UNC_NODE_LINK_OUT, t);
}

void uncore_complex_out(struct memory *s, unsigned from, unsigned node, uint32_t line, uint64_t t)
{
	const unsigned unit = from % s->complexes;
	uncore_pulse(s, from - unit, unit, node == node_of(s, from) ? UNC_COMPLEX_OUT_LOCAL : UNC_COMPLEX_OUT_REMOTE, t);
	if (node != node_of(s, from))
		uncore_link_out(s, from, line, t);
}

void uncore_pulse_deliver(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t, unsigned n,
                        const struct uncore_attributes *about)
{
	const uint64_t cycle = memory_uncore_cycle(s, t);
	s->sink.deliver(s->sink.self, socket, unit, sig, cycle, cycle, n, about ? about : &nothing);
}

void uncore_level_deliver(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t,
                        uint64_t skip_uncore, uint64_t uncore_cycles, uint64_t core_cycles, const struct uncore_attributes *about)
{
	uint64_t begin, end;
	if (s->float_cycles) {
		const uint64_t ratio = uncore_is_other(s, t) ? s->m->fault_uncore_float_ratio : s->m->clock_uncore_ratio;
		begin = memory_uncore_cycle(s, t) + skip_uncore;
		end = begin + uncore_cycles + core_cycles * ratio / s->m->clock_core_ratio;
	} else {
		const uint64_t per_uncore = s->m->tick_per_uncore_cycle, per_core = s->m->tick_per_core_cycle;
		const uint64_t from = t * per_core + skip_uncore * per_uncore;
		begin = s->uncore_ahead + from / per_uncore;
		end = s->uncore_ahead + (from + uncore_cycles * per_uncore + core_cycles * per_core) / per_uncore;
	}
	if (end > begin)
		s->sink.deliver(s->sink.self, socket, unit, sig, begin, end, 1, about ? about : &nothing);
}
