/* pmu/sim/core/pipe_dispatch.c: ports and the divider. The rules stand in core.c.
 *
 * Not modelled: ports bound at allocation, replays of uops whose data did not arrive, write-back conflicts, separate
 * dividers for integers and floating point. */
#include "pmu/sim/core/pipe.h"

static bool divider_free(const struct core_shared *s, uint64_t from, unsigned n, uint64_t *busy_until)
{
	for (uint64_t at = from; at < from + n;) {
		unsigned i = at & CORE_RING_MASK;
		uint64_t bits = s->divider[i / 64] >> (i % 64);
		if (!bits) {
			at += 64 - i % 64;
			continue;
		}
		at += (unsigned)__builtin_ctzll(bits);
		if (at >= from + n)
			break;
		do { /* to the end of the busy stretch */
			i = at & CORE_RING_MASK;
			bits = ~(s->divider[i / 64] >> (i % 64));
			unsigned run = bits ? (unsigned)__builtin_ctzll(bits) : 64;
			if (run > 64 - i % 64)
				run = 64 - i % 64;
			at += run;
			if (run < 64 - i % 64)
				break;
			i = at & CORE_RING_MASK;
		} while (s->divider[i / 64] >> (i % 64) & 1);
		*busy_until = at;
		return false;
	}
	return true;
}

static void divider_take(struct core_shared *s, uint64_t from, unsigned n)
{
	for (uint64_t at = from; at < from + n; at++)
		s->divider[(at & CORE_RING_MASK) / 64] |= 1ull << (at % 64);
	s->bits_end = max_cycle(s->bits_end, from + n);
}

/* As pipe_dispatch, for parts that hold their port or the divider for several cycles. */
uint64_t pipe_dispatch_long(struct core_thread *c, const struct core_plan *p, unsigned n, uint64_t ready, uint64_t end)
{
	struct core_shared *s = c->shared;
	uint64_t limit = s->cleared + CORE_RING - 1024;
	for (uint64_t t = ready; t < end; t++) {
		if (t >= limit)
			return pipe_dispatch(c, p->ports, t, end, false);
		if (p->divider) {
			uint64_t until;
			if (!divider_free(s, t, n, &until)) {
				t = until - 1;
				continue;
			}
			if (!(p->ports & ~(unsigned)s->busy[t & CORE_RING_MASK]))
				continue;
			divider_take(s, t, n);
			s->long_until = max_cycle(s->long_until, t + n);
			signal_level(c->signals, SIG_DIVIDER_BUSY, t, t + n, 1);
			signal_level(c->signals, SIG_DIVIDER_BUSY_64, t, t + n, 64);
			signal_pulse(c->signals, SIG_DIVIDES, t, 1);
			return pipe_dispatch(c, p->ports, t, end, false);
		}
		unsigned free = p->ports;
		for (unsigned i = 0; i < n && free; i++)
			free &= ~(unsigned)s->busy[(t + i) & CORE_RING_MASK];
		if (!free)
			continue;
		unsigned port = (unsigned)__builtin_ctz(free);
		s->long_until = max_cycle(s->long_until, t + n);
		for (unsigned i = 1; i < n; i++) {
			s->busy[(t + i) & CORE_RING_MASK] |= (uint16_t)(1u << port);
			s->used[((t + i) & CORE_RING_MASK) / CORE_STRETCH] = 1;
		}
		return pipe_dispatch(c, 1u << port, t, end, false);
	}
	return UINT64_MAX;
}

uint64_t pipe_dispatch_beyond(struct core_thread *c, unsigned ports, uint64_t ready, uint64_t end)
{
	if (ready >= end)
		return UINT64_MAX;
	const unsigned later = ports & c->shared->above, from = later ? later : ports, bit = from & -from;
	c->shared->above = -bit << 1;
	pipe_emit_executed(c, (unsigned)__builtin_ctz(bit), ready);
	return ready;
}

void pipe_emit_executed_deliver(struct core_thread *c, unsigned port, uint64_t t)
{
	if (port < 8)
		signal_pulse(c->signals, (enum signal)(SIG_UOPS_EXECUTED_P0 + port), t, 1);
	signal_pulse(c->signals, SIG_UOPS_EXECUTED, t, 1);
	if (0x23 >> port & 1)
		signal_pulse(c->signals, SIG_UOPS_EXECUTED_P015, t, 1);
	if (0x1C >> port & 1)
		signal_pulse(c->signals, SIG_UOPS_EXECUTED_P234, t, 1);
}
