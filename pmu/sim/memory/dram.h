/* pmu/sim/memory/dram.h: a line read from its home: the path of each line from memory; dram.c states the rules. For dram.c
 * and coherence.c only. */
#ifndef SIM_DRAM_H
#define SIM_DRAM_H

#include "pmu/sim/memory/memory_state.h"

/* Opens the line's DRAM row if rows stay open; returns the difference from the page-empty latency. */
int64_t dram_change_row(struct memory *s, unsigned home, unsigned unit, uint32_t at, uint64_t t, bool read);
/* Refreshes a channel until the core cycle t, where the machine does. */
void dram_refresh(struct memory *s, unsigned home, unsigned unit, uint64_t t);
/* Emits a read to the sink. sent: when the request reached the channel; start: when the line moves. */
void dram_emit_read(struct memory *s, unsigned from, uint32_t line, uint64_t t, uint64_t sent, uint64_t start);

/* When a line that is to cross a link at t is sent. */
uint64_t dram_sent(struct memory *s, unsigned from, unsigned to, uint64_t t);

/* home: of the line; at: its position in its channel. */
static inline __attribute__((always_inline)) struct channel *dram_channel_in(const struct memory *s, struct socket *home, uint32_t line, uint32_t *at, uint32_t *unit)
{
	const uint32_t n = s->channels, offset = line & (NODE_LINES - 1);
	*at = (uint32_t)(offset * s->channel_inverse >> 33); /* offset / n: exact for offset < 2^29, n <= 16; never beyond 2^62 */
	*unit = offset - *at * n + (s->parts > 1 ? part_of(s, line) * n : 0);
	return &home->channels[*unit];
}
static inline struct channel *dram_channel_of(struct memory *s, uint32_t line, uint32_t *at, uint32_t *unit)
{
	return dram_channel_in(s, &s->socket[home_socket(s, line)], line, at, unit);
}

/* A socket reads a line at its home: how many cycles later (or, with page hits, earlier) the line arrives than t + the
 * unloaded page-empty latency; t: the L3 has missed. plain: there is no sink, and one complex a node. here: socket `from`. */
static inline __attribute__((always_inline)) int64_t dram_read(struct memory *s, struct socket *here, unsigned from, uint32_t line, uint64_t t,
                                                               const bool plain)
{
	const unsigned home = plain ? line >> NODE_SHIFT : home_socket(s, line);
	const bool local = plain ? home == from : home_of(s, line) == node_of(s, from);
	uint32_t at, unit;
	struct channel *c = dram_channel_in(s, local && plain ? here : &s->socket[home], line, &at, &unit);
	const uint64_t sent = local ? t : dram_sent(s, home, from, t); /* it crosses the link */
	const int64_t page = s->m->dram_open_page ? dram_change_row(s, home, unit, at, t, true) : 0;
	const uint64_t start = lane_take(&c->lane, sent);
	if (!plain && __builtin_expect(s->sink.deliver != NULL, 0))
		dram_emit_read(s, from, line, t, sent, start);
	return (int64_t)(start - t) + page;
}

#endif
