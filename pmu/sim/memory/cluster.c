/* pmu/sim/memory/cluster.c: see cluster.h. */
#include "pmu/sim/memory/cluster.h"
#include "pmu/sim/memory/socket.h"

enum line_state cluster_state(const struct memory *s, const struct cluster *k, uint32_t line)
{
	return higher(l1s_state(s, k, line), state_in(&k->l2, line));
}

enum line_state cluster_lower(struct memory *s, struct cluster *k, uint32_t line, enum line_state to, uint64_t t)
{
	struct private_core *c = &s->core[k->first_core];
	const enum line_state l1 = k->cores > 1 ? l1s_lower(s, k, line, to, NULL) :
		higher(lower_in(&c->l1d, line, to), lower_code(c, line, to));
	const enum line_state had = higher(l1, lower_in(&k->l2, line, to));
	static const enum signal answer[] = { SIG_COUNT, SIG_SNOOP_RESPONSE_HIT, SIG_SNOOP_RESPONSE_HIT,
	                                      SIG_SNOOP_RESPONSE_HITE, SIG_SNOOP_RESPONSE_HITM };
	if (had == LINE_I)
		return LINE_I;
	struct signals *g = s->signals[k->first_core * s->m->topology_threads];
	signal_pulse(g, answer[had], t, 1);
	if (l1 == LINE_M)
		signal_pulse(g, SIG_L1D_SNOOPED_MODIFIED, t, 1);
	return had;
}

/* An inclusive L3 has such a line too, and answers for it. Otherwise the L2 drops it silently, because the L1I still has it, and the next load would
 * go to memory. */
void memory_cleared(struct memory *s, uint64_t pa, uint64_t bytes)
{
	const uint32_t first = line_of(s, pa), last = line_of(s, pa + bytes - 1);
	for (unsigned n = 0; !s->inclusive && n < s->cores; n++) {
		struct private_core *c = &s->core[n];
		struct cluster *k = c->cluster;
		for (uint32_t i = 0; c->code_first <= last && c->code_last >= first && i < c->l1i.sets * c->l1i.ways; i++) {
			const uint32_t at = cache_first(&c->l1i, i / c->l1i.ways) | i % c->l1i.ways, line = cache_tag(&c->l1i, at);
			if (line == CACHE_NONE || line < first || line > last)
				continue;
			cache_drop(&c->l1i, at);
			if (cluster_state(s, k, line) != LINE_I)
				continue;
			const struct line_location p = socket_find(k->here, line);
			const uint64_t others = socket_holders(s, k->here, p) & ~k->bit;
			if (others)
				socket_hold(s, k->here, p, line, socket_state(s, k->here, p), others);
			else
				socket_release(s, k->here, p);
		}
	}
}
