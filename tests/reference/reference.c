/* tests/reference/reference.c: see reference.h. One cycle is, of both threads: commit a store, decode and
 * allocate, let loads go on, dispatch, retire. All state is in plain arrays that are looked through each cycle.
 *
 * Not modelled, so not in the streams that are compared: branches that are mispredicted, the uop cache, caches and TLBs that miss, locked operations, assists, partial flags and
 * registers, the disambiguation predictor (loads wait for all older addresses). */
#include <string.h>

#include "tests/reference/reference_state.h"

const enum signal ref_signals[] = {
	SIG_INSTRUCTIONS_RETIRED, SIG_UOPS_ISSUED_FUSED, SIG_UOPS_ISSUED_UNFUSED, SIG_UOPS_ISSUED_MICROFUSED,
	SIG_UOPS_EXECUTED_P0, SIG_UOPS_EXECUTED_P1, SIG_UOPS_EXECUTED_P2, SIG_UOPS_EXECUTED_P3, SIG_UOPS_EXECUTED_P4,
	SIG_UOPS_EXECUTED_P5, SIG_UOPS_EXECUTED_P6, SIG_UOPS_EXECUTED_P7, SIG_UOPS_EXECUTED,
	SIG_UOPS_RETIRED_FUSED, SIG_UOPS_RETIRED_UNFUSED, SIG_UOPS_RETIRED_MACROFUSED,
	SIG_LOADS_RETIRED, SIG_STORES_RETIRED, SIG_BRANCHES_RETIRED, SIG_INSTRUCTIONS_DECODED,
	SIG_RAT_STALL_SCOREBOARD, SIG_RAT_STALL_READ_PORT, SIG_RAT_STALL_ANY, SIG_RESOURCE_STALL_ANY, SIG_RESOURCE_STALL_LOAD,
	SIG_RESOURCE_STALL_RS, SIG_RESOURCE_STALL_STORE, SIG_RESOURCE_STALL_ROB, SIG_ROB_OCCUPANCY, SIG_RS_OCCUPANCY, SIG_STORE_BUFFER_OCCUPANCY,
	SIG_DIVIDER_BUSY, SIG_DIVIDES, SIG_MULTIPLIES, SIG_LOAD_DISPATCHED, SIG_LOAD_BLOCK_STA, SIG_LOAD_BLOCK_STD,
	SIG_LOAD_BLOCK_OVERLAP, SIG_STORE_FORWARDS, SIG_ADDRESS_ALIAS, SIG_SPLIT_LOADS, SIG_SPLIT_STORES };
const unsigned ref_signals_count = COUNT_OF(ref_signals);

void ref_tell(struct ref_trace *t, enum signal sig, uint64_t cycle, unsigned n)
{
	if (cycle >= REF_CYCLES)
		return;
	t->count[sig][cycle] = (uint16_t)(t->count[sig][cycle] + n);
	if (t->used <= cycle)
		t->used = cycle + 1;
}

void ref_clear(struct ref_trace *t)
{
	for (unsigned s = 0; s < SIG_COUNT; s++)
		memset(t->count[s], 0, t->used * sizeof(t->count[s][0]));
	t->used = t->cycles = 0;
}

/* Whose results an instruction waits for, when it enters the ROB. */
static void rename(struct ref *r, unsigned step)
{
	struct flight *f = &r->f[step];
	const struct insn *in = &f->s->in;
	if (f->renamed)
		return;
	f->renamed = true;
	bool no_sources = in->zero_idiom && r->m->core_zero_idioms;
	for (unsigned i = 0; i < in->read_count && !no_sources; i++)
		f->producer[f->producers++] = r->last_writer[in->reads[i]];
	if ((in->load || in->store) && in->has_base)
		f->address[f->addresses++] = r->last_writer[in->base];
	if ((in->load || in->store) && in->has_index)
		f->address[f->addresses++] = r->last_writer[in->index];
	for (unsigned i = 0; i < in->write_count; i++)
		r->last_writer[in->writes[i]] = step + 1;
	f->fence = r->last_fence;
	if (f->class == UC_MFENCE)
		r->last_fence = step + 1;
}

/* ---- allocation ------------------------------------------------------------------------------ */

static unsigned in_station_of(const struct ref *r)
{
	unsigned n = 0;
	for (unsigned i = r->retired; i < r->allocated; i++) {
		const struct group *g = &r->g[i];
		bool waits = false;
		for (unsigned p = 0; p < PARTS; p++)
			waits |= g->part[p].there && !g->part[p].gone;
		if (waits)
			n += g->entries;
	}
	return n;
}

static unsigned in_station(const struct ref_core *c) { return in_station_of(c->thread[0]) + in_station_of(c->thread[1]); }

/* Of a buffer that two threads share by halves while both run. */
static uint64_t part_of(const struct ref *r, uint64_t entries)
{
	const bool both = r->core->threads == 2 && !r->core->thread[0]->over && !r->core->thread[1]->over;
	return both ? entries / 2 : entries;
}

static unsigned loads_in_flight(const struct ref *r)
{
	unsigned n = 0;
	for (unsigned i = r->retired; i < r->allocated; i++)
		n += r->g[i].part[LOAD].there;
	return n;
}

static unsigned stores_in_flight(const struct ref *r, uint64_t t)
{
	unsigned n = 0;
	for (unsigned i = 0; i < r->allocated; i++)
		n += r->g[i].part[STA].there && r->f[r->g[i].step].commit >= t;
	return n;
}

/* Marks the registers among `names` whose writer has retired before cycle t, or is of no instruction of this run. */
static void mark_read(const struct ref *r, const uint8_t *names, const unsigned *writer, unsigned n, uint64_t t, bool reads[RN_COUNT])
{
	for (unsigned i = 0; i < n; i++) {
		const struct flight *w = writer[i] ? &r->f[writer[i] - 1] : NULL;
		if (names[i] < RN_CF && (!w || r->g[w->first_group + w->group_count - 1].retired < t))
			reads[names[i]] = true;
	}
}

/* The registers that this cycle's groups read from outside the ROB, with group g. */
static void registers_read(const struct ref *r, const struct group *g, uint64_t t, bool reads[RN_COUNT])
{
	const struct flight *f = &r->f[g->step];
	const struct insn *in = &f->s->in;
	const uint8_t address[2] = { in->has_base ? in->base : in->index, in->index };
	memcpy(reads, r->read_now, sizeof(r->read_now));
	if (g->part[LOAD].there || g->part[STA].there)
		mark_read(r, address, f->address, f->addresses, t, reads);
	if (g->part[MAIN].there || g->part[STD].there)
		mark_read(r, in->reads, f->producer, f->producers, t, reads);
}

/* Whether there are ports for all. The first group of a cycle that reads any has as many as it needs. */
static bool reads_fit(const struct ref *r, const struct group *g, uint64_t t)
{
	bool reads[RN_COUNT];
	unsigned before = 0, with = 0;
	registers_read(r, g, t, reads);
	for (unsigned i = 0; i < RN_COUNT; i++) {
		before += r->read_now[i];
		with += reads[i];
	}
	return !before || with <= r->m->core_register_reads;
}

/* Why the next group cannot be allocated: a signal, or SIG_CYCLES when it can; SIG_COUNT: nothing to say. */
static enum signal obstacle(struct ref *r, uint64_t t)
{
	if (r->allocated == r->groups)
		return SIG_COUNT;
	const struct group *g = &r->g[r->allocated];
	if (t < r->held_until)
		return SIG_RAT_STALL_SCOREBOARD;
	if (r->f[g->step].decoded > t)
		return SIG_COUNT;
	if (r->allocated - r->retired >= part_of(r, r->m->core_rob))
		return SIG_RESOURCE_STALL_ROB;
	if (g->part[LOAD].there && loads_in_flight(r) >= part_of(r, r->m->core_load_buffers))
		return SIG_RESOURCE_STALL_LOAD;
	if (g->part[STA].there && stores_in_flight(r, t) >= part_of(r, r->m->core_store_buffers))
		return SIG_RESOURCE_STALL_STORE;
	if (g->entries && in_station(r->core) + g->entries > r->m->core_rs)
		return SIG_RESOURCE_STALL_RS;
	if (&r->g[r->f[g->step].first_group] == g)
		rename(r, g->step);
	if (r->m->core_register_reads && !g->part[EXTRA].there && !reads_fit(r, g, t))
		return SIG_RAT_STALL_READ_PORT;
	return SIG_CYCLES;
}

static void allocate(struct ref *r, uint64_t t)
{
	struct group *g = &r->g[r->allocated++];
	unsigned parts = 0;
	bool reads[RN_COUNT];
	for (unsigned p = 0; p < PARTS; p++)
		parts += g->part[p].there;
	registers_read(r, g, t, reads);
	memcpy(r->read_now, reads, sizeof(reads));
	g->allocated = t;
	tell(r, SIG_UOPS_ISSUED_FUSED, t, 1);
	tell(r, SIG_UOPS_ISSUED_UNFUSED, t, parts);
	tell(r, SIG_UOPS_ISSUED_MICROFUSED, t, parts > 1);
	if (r->f[g->step].class == UC_LFENCE)
		r->held_until = NEVER;
	if (g->part[STA].there)
		r->f[g->step].buffer_taken = t;
}

/* Begins a cycle: what can be decoded while nothing is allocated. */
static void begin_cycle(struct ref *r, uint64_t t)
{
	r->decoded_now = 0;
	memset(r->read_now, 0, sizeof(r->read_now));
	while (ref_decode_one(r, t))
		;
}

/* The thread that a cycle's allocation belongs to: the one whose number has the cycle's parity, or the other one when that has
 * nothing to allocate in it. */
static struct ref *owner(struct ref_core *c, uint64_t t)
{
	if (c->threads == 1)
		return c->thread[0];
	struct ref *granted = c->thread[(c->parity + t) % 2], *other = c->thread[(c->parity + t + 1) % 2];
	return obstacle(granted, t) != SIG_CYCLES && obstacle(other, t) == SIG_CYCLES ? other : granted;
}

static void allocate_groups(struct ref *r, uint64_t t, bool granted)
{
	unsigned slots = 0;
	while (granted && slots < r->m->core_issue_width && obstacle(r, t) == SIG_CYCLES) {
		allocate(r, t);
		slots++;
		while (ref_decode_one(r, t)) /* there is room in the queue */
			;
	}
	/* A cycle that allocates something is not lost; but a uop refused for read ports is counted in any case. */
	enum signal why = slots < r->m->core_issue_width ? obstacle(r, t) : SIG_COUNT;
	if (slots && why != SIG_RAT_STALL_READ_PORT)
		why = SIG_COUNT;
	if (why != SIG_COUNT && why != SIG_CYCLES) {
		tell(r, why, t, 1);
		tell(r, why == SIG_RAT_STALL_SCOREBOARD || why == SIG_RAT_STALL_READ_PORT ? SIG_RAT_STALL_ANY : SIG_RESOURCE_STALL_ANY, t, 1);
	}
}

static void decode_and_allocate(struct ref_core *c, uint64_t t)
{
	for (unsigned i = 0; i < 2; i++)
		begin_cycle(c->thread[i], t);
	struct ref *first = owner(c, t);
	allocate_groups(first, t, true);
	allocate_groups(c->thread[first == c->thread[0]], t, false);
}

/* ---- retirement ------------------------------------------------------------------------------ */

static void retire_instruction(struct ref *r, struct flight *f, uint64_t t)
{
	tell(r, SIG_INSTRUCTIONS_RETIRED, t, 1 + f->fused_first);
	tell(r, SIG_UOPS_RETIRED_MACROFUSED, t, f->fused_first);
	tell(r, SIG_BRANCHES_RETIRED, t, f->s->in.branch || f->fused_first);
	tell(r, SIG_LOADS_RETIRED, t, f->s->in.load);
	tell(r, SIG_STORES_RETIRED, t, f->s->in.store);
	if (f->class == UC_LFENCE)
		r->held_until = t + 1;
}

static void retire(struct ref *r, uint64_t t)
{
	for (unsigned slots = 0; slots < r->m->core_retire_width && r->retired < r->allocated; slots++) {
		struct group *g = &r->g[r->retired];
		unsigned parts = 0;
		for (unsigned p = 0; p < PARTS; p++) {
			if (g->part[p].there && (g->part[p].done == NEVER || g->part[p].done > t))
				return;
			parts += g->part[p].there;
		}
		r->retired++;
		g->retired = t;
		tell(r, SIG_UOPS_RETIRED_FUSED, t, 1);
		tell(r, SIG_UOPS_RETIRED_UNFUSED, t, parts);
		tell_from_to(r, SIG_ROB_OCCUPANCY, g->allocated, t, 1);
		tell_from_to(r, SIG_RS_OCCUPANCY, g->allocated, g->left, g->entries);
		if (g->last)
			retire_instruction(r, &r->f[g->step], t);
	}
}

/* ---- a run ----------------------------------------------------------------------------------- */

static void begin(struct ref *r, struct ref_core *c, const struct ref_program *p)
{
	memset(r, 0, offsetof(struct ref, f));
	r->m = c->m;
	r->core = c;
	r->over = !p;
	if (!p)
		return;
	ref_clear(p->trace);
	r->t = p->trace;
	r->steps = p->n;
	r->fetch_anew = true;
	for (unsigned i = 0; i < p->n; i++)
		r->f[i] = (struct flight){ .s = &p->steps[i], .decoded = NEVER, .result = NEVER, .load_dispatched = NEVER,
			.loaded = NEVER, .address_known = NEVER, .data_known = NEVER, .commit = NEVER };
	for (unsigned i = 0; i < p->n; i++)
		ref_split(r, i);
}

/* All is retired and committed: the cycle of the last event is counted to its end. */
static void look_for_end(struct ref *r, uint64_t t)
{
	if (r->decoded < r->steps || r->retired < r->groups)
		return;
	for (unsigned i = 0; i < r->steps; i++)
		if (r->f[i].s->in.store && r->f[i].commit == NEVER)
			return;
	if (!r->t->cycles) {
		uint64_t end = t > r->last_commit ? t : r->last_commit;
		r->t->cycles = (r->held_until > end ? r->held_until : end) + 1;
	}
	r->over = t + 1 >= r->t->cycles;
}

bool ref_run(const struct machine *m, const struct ref_program *p, unsigned threads, uint64_t first)
{
	static struct ref room[2];
	struct ref_core c = { .m = m, .threads = threads, .parity = first % 2, .thread = { &room[0], &room[1] } };
	for (unsigned i = 0; i < threads; i++)
		if (p[i].n > REF_INSNS)
			return false;
	for (unsigned i = 0; i < 2; i++)
		begin(&room[i], &c, i < threads ? &p[i] : NULL);
	for (uint64_t t = 0; t < REF_CYCLES; t++) {
		for (unsigned i = 0; i < threads; i++)
			ref_commit(&room[i], t);
		decode_and_allocate(&c, t);
		for (unsigned i = 0; i < threads; i++)
			ref_loads_go_on(&room[i], t);
		ref_dispatch(&c, t);
		for (unsigned i = 0; i < threads; i++) {
			ref_loads_go_on(&room[i], t);
			retire(&room[i], t);
		}
		for (unsigned i = 0; i < threads; i++)
			if (!room[i].over)
				look_for_end(&room[i], t);
		if (room[0].over && room[1].over)
			return true;
	}
	return false;
}
