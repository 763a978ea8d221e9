/* pmu/sim/uncore/uncore_power.c: see uncore_power.h.
 *
 * A core without a job is in uncore.idle_state; one that was awake for less than uncore.idle_demote_cycles goes to C1 instead. C1
 * counts as C0, as the manual has it (331051-002, 2.8.4). A package is in C0 while one of its cores is.
 *
 * Not modelled: the time that a core takes to come back, which its job does not see; clocks that change. */
#include "pmu/sim/uncore/uncore_power.h"

#define SOCKETS_MAX 8

struct power_core { uint64_t since, woke; uint8_t state; bool runs; }; /* state: 0, 3 or 6; since: told up to that uncore cycle */
struct uncore_power {
	const struct machine *m;
	struct uncore_taps *taps;
	unsigned cores;            /* of a socket */
	uint64_t package[SOCKETS_MAX]; /* told up to that uncore cycle */
	struct power_core core[];
};

static uint64_t tag_of(unsigned state) { return state == 0 ? UTAG(C0) : state == 3 ? UTAG(C3) : UTAG(C6); }

size_t uncore_power_bytes(const struct machine *m)
{
	return sizeof(struct uncore_power) + m->topology_sockets * m->topology_cores * sizeof(struct power_core);
}

/* Tells what has lasted until now. */
static void refresh(void *self, uint64_t now)
{
	struct uncore_power *p = self;
	for (unsigned s = 0; s < p->m->topology_sockets && s < SOCKETS_MAX; s++) {
		unsigned least = 6;
		for (unsigned i = 0; i < p->cores; i++) {
			struct power_core *c = &p->core[s * p->cores + i];
			least = c->state < least ? c->state : least;
			if (now > c->since)
				uncore_taps_level(p->taps, s, 0, UNC_CORE_STATE, c->since, now, tag_of(c->state));
			c->since = now;
		}
		if (now > p->package[s])
			uncore_taps_level(p->taps, s, 0, UNC_PACKAGE_STATE, p->package[s], now, tag_of(least));
		p->package[s] = now;
	}
}

struct uncore_power *uncore_power_init(void *at, const struct machine *m, struct uncore_taps *taps)
{
	struct uncore_power *p = at;
	memset(p, 0, uncore_power_bytes(m));
	p->m = m;
	p->taps = taps;
	p->cores = (unsigned)m->topology_cores;
	for (unsigned i = 0; i < m->topology_sockets * m->topology_cores; i++)
		p->core[i].state = m->uncore_idle_state < 3 ? 0 : m->uncore_idle_state < 6 ? 3 : 6;
	uncore_taps_refresh(taps, refresh, p);
	return p;
}

void uncore_power_core(struct uncore_power *p, unsigned core, bool runs)
{
	struct power_core *c = &p->core[core];
	const unsigned socket = core / p->cores, deep = p->m->uncore_idle_state < 3 ? 0 : p->m->uncore_idle_state < 6 ? 3 : 6;
	const uint64_t now = uncore_taps_now(p->taps);
	unsigned next = runs ? 0 : deep;
	if (c->runs == runs)
		return;
	refresh(p, now);
	c->runs = runs;
	if (runs)
		c->woke = now;
	else if (deep && now - c->woke < p->m->uncore_idle_demote_cycles) {
		uncore_taps_level(p->taps, socket, core % p->cores, UNC_CORE_DEMOTION, now, now, 0);
		next = 0;
	}
	if (next != c->state)
		uncore_taps_level(p->taps, socket, core % p->cores, UNC_CORE_TRANSITION, now, now + p->m->uncore_idle_change_cycles, 0);
	c->state = (uint8_t)next;
}
