/* pmu/sim/memory/cluster.c: see cluster.h. */
#include "pmu/sim/memory/cluster.h"

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
