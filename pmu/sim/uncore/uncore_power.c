/* pmu/sim/uncore/uncore_power.c: see uncore_power.h.
 *
 * A core without a job is in uncore.idle_state; one that was awake for less than uncore.idle_demote_cycles goes to C1 instead. C1
 * and C1E count as C0, as in the manual (331051-002, 2.8.4), and C7 as C6. A package is in C0 while one of its cores is in C0
 * or C1. Both ends of a link must sleep for it to be off (331051-002, L1_POWER_CYCLES). A package is too hot while MSR 0x19C bit 0 is set.
 *
 * Not modelled: the time that a core or a link takes to wake, which its job does not see; clocks that change. */
#include "pmu/sim/uncore/uncore_power.h"

#define SOCKETS_MAX 8

enum { C1E = 2, DEEPEST = 7 };

struct power_core { uint64_t since, woke; uint8_t state; bool runs; }; /* state: 0, 2, 3, 6 or 7; since: the uncore cycle up to which it was reported */
struct uncore_power {
	const struct machine *m;
	struct uncore_taps *taps;
	unsigned cores;            /* of a socket */
	uint64_t package[SOCKETS_MAX]; /* reported up to that uncore cycle */
	struct power_core core[];
};

static uint64_t tag_of(unsigned state) { return state < 3 ? UTAG(C0) : state == 3 ? UTAG(C3) : UTAG(C6); }
static uint64_t package_tag_of(unsigned state) { return state == C1E ? UTAG(C1E) : state == DEEPEST ? UTAG(C7) : tag_of(state); }

/* The state of a core without a job. */
static unsigned idle_state(const struct machine *m)
{
	return m->uncore_idle_state < C1E ? 0 : m->uncore_idle_state < 3 || m->uncore_idle_state == DEEPEST ? (unsigned)m->uncore_idle_state :
	       m->uncore_idle_state < 6 ? 3 : 6;
}

/* The package is too hot at the end of each period. */
static void emit_temperature(struct uncore_power *p, unsigned socket, uint64_t from, uint64_t to)
{
	const uint64_t us = p->m->uncore_hz / 1000000, period = us * p->m->fault_heat_period_us, last = us * p->m->fault_heat_us;
	for (uint64_t end = period ? (from / period + 1) * period : 0; period && from < to; from = end, end += period) {
		const uint64_t start = end > last && end - last > from ? end - last : from, stop = end < to ? end : to;
		if (stop > start)
			uncore_taps_level(p->taps, socket, 0, UNC_PACKAGE_HOT, start, stop, 0);
	}
}

size_t uncore_power_bytes(const struct machine *m)
{
	return sizeof(struct uncore_power) + m->topology_sockets * m->topology_cores * sizeof(struct power_core);
}

/* Reports the states up to now. */
static void refresh(void *self, uint64_t now)
{
	struct uncore_power *p = self;
	const uint64_t told = p->package[0];
	unsigned shallowest = DEEPEST;
	for (unsigned s = 0; s < p->m->topology_sockets && s < SOCKETS_MAX; s++) {
		unsigned least = DEEPEST;
		for (unsigned i = 0; i < p->cores; i++) {
			struct power_core *c = &p->core[s * p->cores + i];
			least = c->state < least ? c->state : least;
			if (now > c->since)
				uncore_taps_level(p->taps, s, 0, UNC_CORE_STATE, c->since, now, tag_of(c->state));
			c->since = now;
		}
		if (now > p->package[s])
			uncore_taps_level(p->taps, s, 0, UNC_PACKAGE_STATE, p->package[s], now, package_tag_of(least));
		emit_temperature(p, s, p->package[s], now);
		p->package[s] = now;
		shallowest = least < shallowest ? least : shallowest;
	}
	for (unsigned s = 0; shallowest >= 6 && now > told && s < p->m->topology_sockets && s < SOCKETS_MAX; s++)
		for (unsigned link = 0; link < p->m->uncore_qpi_links; link++)
			uncore_taps_level(p->taps, s, link, UNC_LINK_OFF, told, now, 0);
}

struct uncore_power *uncore_power_init(void *at, const struct machine *m, struct uncore_taps *taps)
{
	struct uncore_power *p = at;
	memset(p, 0, uncore_power_bytes(m));
	p->m = m;
	p->taps = taps;
	p->cores = (unsigned)m->topology_cores;
	for (unsigned i = 0; i < m->topology_sockets * m->topology_cores; i++)
		p->core[i].state = (uint8_t)idle_state(m);
	uncore_taps_refresh(taps, refresh, p);
	return p;
}

void uncore_power_core(struct uncore_power *p, unsigned core, bool runs)
{
	struct power_core *c = &p->core[core];
	const unsigned socket = core / p->cores, deep = idle_state(p->m);
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
	if (next != c->state && (next >= 3 || c->state >= 3))
		uncore_taps_level(p->taps, socket, core % p->cores, UNC_CORE_TRANSITION, now, now + p->m->uncore_idle_change_cycles, 0);
	c->state = (uint8_t)next;
}
