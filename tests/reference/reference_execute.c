/* tests/reference/reference_execute.c: dispatch, loads and stores of the reference. */
#include "tests/reference/reference_state.h"

static bool is_divide(unsigned class)
{
	return class == UC_FP_DIV32 || class == UC_FP_DIV64 || class == UC_FP_SQRT32 || class == UC_FP_SQRT64;
}

static bool is_multiply(unsigned class) { return class == UC_IMUL || class == UC_IMUL128 || class == UC_FP_MUL; }

/* 0: none; 1: integer vector; 2: floating point. Values that cross between the two are late. */
static unsigned domain(unsigned class)
{
	if (class == UC_VEC_INT || class == UC_VEC_IMUL || class == UC_VEC_SHUFFLE)
		return 1;
	return class >= UC_FP_ADD && class <= UC_FP_SQRT64 ? 2 : 0;
}

/* ---- execution ------------------------------------------------------------------------------- */

static bool values_there(const struct ref *r, const struct flight *f, const unsigned *producer, unsigned n, uint64_t t)
{
	for (unsigned i = 0; i < n; i++) {
		if (!producer[i])
			continue;
		const struct flight *p = &r->f[producer[i] - 1];
		unsigned from = domain(p->class), to = producer == f->producer ? domain(f->class) : 0;
		uint64_t late = from && to && from != to ? r->m->core_bypass_cycles : 0;
		if (p->result == NEVER || p->result + late > t)
			return false;
	}
	return true;
}

/* All older instructions have completed; with `commits` their stores are in the cache as well. */
static bool older_complete(const struct ref *r, unsigned group, uint64_t t, bool commits)
{
	for (unsigned i = 0; i < group; i++) {
		for (unsigned p = 0; p < PARTS; p++)
			if (r->g[i].part[p].there && (r->g[i].part[p].done == NEVER || r->g[i].part[p].done > t))
				return false;
		if (commits && r->g[i].part[STA].there && (r->f[r->g[i].step].commit == NEVER || r->f[r->g[i].step].commit > t))
			return false;
	}
	return true;
}

static bool part_ready(struct ref *r, unsigned group, enum part p, uint64_t t)
{
	const struct group *g = &r->g[group];
	const struct flight *f = &r->f[g->step];
	bool operates = f->class != UC_NOP;
	switch (p) {
	case LOAD:
		if (f->fence && (r->f[f->fence - 1].result == NEVER || r->f[f->fence - 1].result > t))
			return false;
		return values_there(r, f, f->address, f->addresses, t);
	case STA:
		return values_there(r, f, f->address, f->addresses, t);
	case STD:
		return operates ? f->result != NEVER && f->result <= t : values_there(r, f, f->producer, f->producers, t);
	case MAIN:
		if (f->class == UC_LFENCE || f->class == UC_MFENCE)
			return older_complete(r, group, t, f->class == UC_MFENCE);
		if (f->s->in.load && (f->loaded == NEVER || f->loaded > t))
			return false;
		return values_there(r, f, f->producer, f->producers, t);
	default:
		return true;
	}
}

static unsigned port_mask(const struct ref *r, const struct flight *f, enum part p)
{
	static const uint8_t class[PARTS] = { [LOAD] = UC_LOAD, [STA] = UC_STA, [STD] = UC_STD, [EXTRA] = UC_MICROCODE };
	return r->m->exec[p == MAIN ? f->class : class[p]].port_mask;
}

/* A port for n cycles from t on; false: there is none. */
static bool take_port(struct ref *r, unsigned mask, uint64_t t, unsigned n)
{
	for (unsigned port = 0; port < 16; port++) {
		if (!(mask >> port & 1) || r->core->port_taken[port] > t)
			continue;
		r->core->port_taken[port] = t + n;
		if (port < 8)
			tell(r, (enum signal)(SIG_UOPS_EXECUTED_P0 + port), t, 1);
		tell(r, SIG_UOPS_EXECUTED, t, 1);
		return true;
	}
	return false;
}

static void dispatch_part(struct ref *r, struct group *g, enum part p, uint64_t t)
{
	const struct machine *m = r->m;
	struct flight *f = &r->f[g->step];
	const struct exec_cost *cost = &m->exec[f->class];
	struct part_state *s = &g->part[p];
	bool divide = p == MAIN && is_divide(f->class);
	unsigned busy = p == MAIN && cost->busy > 1 ? cost->busy : 1;
	if (divide && r->core->divider_until > t)
		return;
	if (!take_port(r, port_mask(r, f, p), t, divide ? 1 : busy))
		return;
	s->gone = true;
	g->left = t;
	switch (p) {
	case LOAD:
		f->load_dispatched = t;
		tell(r, SIG_LOAD_DISPATCHED, t, 1);
		break;
	case MAIN:
		if (divide) {
			r->core->divider_until = t + busy;
			tell(r, SIG_DIVIDES, t, 1);
			tell_from_to(r, SIG_DIVIDER_BUSY, t, t + busy, 1);
		}
		if (is_multiply(f->class))
			tell(r, SIG_MULTIPLIES, t, 1);
		f->result = s->done = t + cost->latency;
		break;
	case STA:
		f->address_known = s->done = t + m->exec[UC_STA].latency;
		break;
	case STD:
		f->data_known = s->done = t + m->exec[UC_STD].latency;
		break;
	default:
		s->done = t + 1;
	}
}

/* A group that needs no port: a NOP is over when it is allocated, an eliminated move or addition when its sources are there. */
static void pass_through(struct ref *r, struct group *g, uint64_t t)
{
	struct flight *f = &r->f[g->step];
	bool sources = f->move_free && f->producers;
	if (!sources || (t >= g->allocated + r->m->core_dispatch_cycles && values_there(r, f, f->producer, f->producers, t))) {
		g->part[MAIN].gone = true;
		g->part[MAIN].done = f->result = t;
	}
}

static void dispatch_group(struct ref *r, unsigned i, uint64_t t)
{
	struct group *g = &r->g[i];
	for (unsigned p = 0; p < PARTS; p++) {
		if (!g->part[p].there || g->part[p].gone)
			continue;
		if (p == MAIN && !g->entries)
			pass_through(r, g, t);
		else if (t >= g->allocated + r->m->core_dispatch_cycles && part_ready(r, i, p, t))
			dispatch_part(r, g, p, t);
	}
}

void ref_dispatch(struct ref_core *c, uint64_t t)
{
	unsigned next[2] = { c->thread[0]->retired, c->thread[1]->retired };
	for (;;) { /* no cycle allocates groups of both */
		const bool left[2] = { next[0] < c->thread[0]->allocated, next[1] < c->thread[1]->allocated };
		if (!left[0] && !left[1])
			return;
		const bool second = !left[0] || (left[1] && c->thread[1]->g[next[1]].allocated < c->thread[0]->g[next[0]].allocated);
		dispatch_group(c->thread[second], next[second]++, t);
	}
}

/* ---- loads and stores ------------------------------------------------------------------------ */

static bool overlap(uint64_t a, uint64_t an, uint64_t b, uint64_t bn) { return a < b + bn && b < a + an; }

/* Equal in the lower twelve bits of some byte's address. */
static bool alias(uint64_t a, uint64_t an, uint64_t b, uint64_t bn)
{
	for (uint64_t i = 0; i < an; i++)
		for (uint64_t k = 0; k < bn; k++)
			if ((a + i) % 4096 == (b + k) % 4096)
				return true;
	return false;
}

static void load_from_cache(struct ref *r, struct flight *f, uint64_t t)
{
	uint64_t va = f->s->e.load_va, last = va + f->s->e.load_bytes - 1;
	f->loaded = t + r->m->l1d_cycles + r->m->exec[UC_LOAD].latency;
	if (va / 64 != last / 64) {
		f->loaded += r->m->load_split_cycles;
		tell(r, SIG_SPLIT_LOADS, t, 1);
	}
	if (va / 4096 != last / 4096)
		f->loaded += r->m->load_page_split_cycles;
}

/* What a load that has dispatched does in cycle t. */
static void load_goes_on(struct ref *r, unsigned step, uint64_t t)
{
	struct flight *f = &r->f[step];
	uint64_t va = f->s->e.load_va, bytes = f->s->e.load_bytes;
	bool aliases = false, first = !f->waits_for;
	if (first) {
		for (unsigned i = 0; i < step; i++)
			if (r->f[i].s->in.store && (r->f[i].address_known == NEVER || r->f[i].address_known > t)) {
				tell(r, SIG_LOAD_BLOCK_STA, t, t == f->load_dispatched);
				return; /* some older address is unknown */
			}
		for (unsigned i = step; i-- > 0 && !f->waits_for;) { /* the youngest first */
			const struct flight *s = &r->f[i];
			if (!s->s->in.store || s->commit <= t)
				continue;
			if (overlap(va, bytes, s->s->e.store_va, s->s->e.store_bytes))
				f->waits_for = i + 1;
			else
				aliases |= alias(va, bytes, s->s->e.store_va, s->s->e.store_bytes);
		}
		f->looked = t;
		if (!f->waits_for) {
			tell(r, SIG_ADDRESS_ALIAS, t, aliases);
			load_from_cache(r, f, aliases ? t + r->m->store_alias_cycles : t);
			return;
		}
	}
	const struct flight *s = &r->f[f->waits_for - 1];
	bool whole = va >= s->s->e.store_va && va + bytes <= s->s->e.store_va + s->s->e.store_bytes;
	whole = whole && (r->m->store_forward_middle || (va - s->s->e.store_va) % bytes == 0);
	uint64_t from = whole ? s->data_known : s->commit, cost = whole ? r->m->store_forward_cycles : r->m->store_forward_fail_cycles;
	if (first) {
		tell(r, whole ? SIG_STORE_FORWARDS : SIG_LOAD_BLOCK_OVERLAP, t, 1);
		tell(r, SIG_LOAD_BLOCK_STD, t, whole && from > t);
	}
	if (from != NEVER)
		f->loaded = (from > f->looked ? from : f->looked) + cost;
}

void ref_loads_go_on(struct ref *r, uint64_t t)
{
	for (unsigned i = r->retired; i < r->allocated; i++) {
		struct group *g = &r->g[i];
		struct flight *f = &r->f[g->step];
		if (!g->part[LOAD].there || !g->part[LOAD].gone || f->loaded != NEVER)
			continue;
		load_goes_on(r, g->step, t);
		g->part[LOAD].done = f->loaded;
		if (f->class == UC_NOP)
			f->result = f->loaded;
	}
}

/* The oldest store that has retired goes to the cache, one a cycle. It is issued in the cycle after retirement, and the cache answers in the next. */
void ref_commit(struct ref *r, uint64_t t)
{
	struct group *g = NULL;
	for (unsigned i = 0; i < r->retired && !g; i++)
		if (r->g[i].part[STD].there && r->f[r->g[i].step].commit == NEVER)
			g = &r->g[i];
	if (!g || t < g->retired + 2 || r->last_commit >= t)
		return;
	struct flight *f = &r->f[g->step];
	uint64_t va = f->s->e.store_va, last = va + f->s->e.store_bytes - 1;
	f->commit = r->last_commit = t;
	if (va / 64 != last / 64) {
		f->commit = r->last_commit = t + r->m->store_split_cycles;
		tell(r, SIG_SPLIT_STORES, g->retired, 1);
	}
	tell_from_to(r, SIG_STORE_BUFFER_OCCUPANCY, f->buffer_taken, f->commit, 1);
}
