/* tests/reference/reference.c: see reference.h. One cycle is: commit a store, decode and allocate,
 * let loads go on, dispatch, retire. All state is in plain arrays that are looked through each cycle.
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

/* ---- what an instruction is made of ---------------------------------------------------------- */

static unsigned uops_of_class(const struct machine *m, unsigned class)
{
	return class == UC_IMUL128 ? (unsigned)m->uops_imul128 : class == UC_MFENCE ? (unsigned)m->uops_mfence : 0;
}

static bool fuses(const struct machine *m, const struct insn *in, const struct insn *next)
{
	if (!in->fusible_first || !next->conditional)
		return false;
	bool writes_register = false;
	for (unsigned i = 0; i < in->write_count; i++)
		writes_register |= in->writes[i] < RN_CF;
	return m->core_macrofusion == 2 || (m->core_macrofusion == 1 && !writes_register);
}

static void add_group(struct ref *r, unsigned step, unsigned parts)
{
	struct group *g = &r->g[r->groups++];
	*g = (struct group){ .step = step, .allocated = NEVER, .retired = NEVER };
	for (unsigned p = 0; p < PARTS; p++) {
		g->part[p] = (struct part_state){ .there = parts >> p & 1, .done = NEVER };
		g->entries += parts >> p & 1;
	}
	if (!r->m->core_rs_unfused)
		g->entries = 1;
	const struct flight *f = &r->f[step];
	if (parts == 1u << MAIN && (f->move_free || !r->m->exec[f->class].port_mask))
		g->entries = 0;
}

static void split(struct ref *r, unsigned step)
{
	const struct machine *m = r->m;
	struct flight *f = &r->f[step];
	const struct insn *in = &f->s->in;
	f->class = in->class;
	f->first_group = r->groups;
	if (step && r->f[step - 1].fused_first) {
		f->fused_second = true;
		return;
	}
	if (step + 1 < r->steps && fuses(m, in, &r->f[step + 1].s->in)) {
		f->fused_first = true;
		f->class = UC_BRANCH;
	}
	f->move_free = (in->zero_idiom && m->core_zero_idioms == 2) ||
	               (in->move && m->core_move_elimination && !in->load && !in->store);
	bool operates = f->class != UC_NOP, fuse = m->core_microfusion && !(in->has_index && m->core_unlaminate_indexed);
	unsigned uops = 0;
	if (in->load && operates && fuse) {
		add_group(r, step, 1u << LOAD | 1u << MAIN);
	} else {
		if (in->load)
			add_group(r, step, 1u << LOAD);
		if (operates || (!in->load && !in->store))
			add_group(r, step, 1u << MAIN);
	}
	if (in->store && fuse) {
		add_group(r, step, 1u << STA | 1u << STD);
	} else if (in->store) {
		add_group(r, step, 1u << STA);
		add_group(r, step, 1u << STD);
	}
	uops = (in->load || 0u) + (operates || (!in->load && !in->store)) + 2u * in->store;
	for (; uops < uops_of_class(m, f->class); uops++)
		add_group(r, step, 1u << EXTRA);
	f->group_count = r->groups - f->first_group;
	r->g[r->groups - 1].last = true;
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

/* ---- decode ---------------------------------------------------------------------------------- */

/* Whether the fetch groups of the next instruction are there in cycle t. Which cycle a group comes in is
 * settled when it is first wanted: one a cycle, no more than FETCH_AHEAD cycles before the last decode. */
static bool fetched(struct ref *r, uint64_t t)
{
	const struct ref_step *s = r->f[r->decoded].s;
	uint64_t last = (s->ip + s->in.length - 1) / r->m->front_decode_bytes;
	while (r->fetch_anew || r->window != last) {
		r->window = r->fetch_anew ? s->ip / r->m->front_decode_bytes : r->window + 1;
		r->fetch_anew = false;
		r->fetched++;
		if (r->fetched + FETCH_AHEAD < r->last_decode)
			r->fetched = r->last_decode - FETCH_AHEAD;
	}
	return r->fetched <= t;
}

/* The loop buffer: the same backward branch taken, then LOOP_TURNS times again with no other taken in between,
 * and a turn that fits: from then on its uops cost the front end nothing. Afterwards fetch starts anew in the
 * cycle in which the last of them is allocated. */
static void learn_loop(struct ref *r, const struct flight *f)
{
	const struct ref_step *s = f->s;
	bool back = s->e.taken && s->e.next_rip <= s->ip, was = r->streaming;
	if (back) {
		r->loop_turns = r->loop_branch == s->ip ? r->loop_turns + 1 : 0;
		r->loop_branch = s->ip;
		r->streaming = r->loop_turns >= LOOP_TURNS && r->loop_uops <= r->m->front_loop_uops;
		r->loop_uops = 0;
	} else if (s->e.taken || s->ip == r->loop_branch) {
		r->streaming = false;
		r->loop_branch = 0;
	}
	if (was && !r->streaming) {
		r->fetch_anew = true;
		r->resume_behind = f->first_group + f->group_count;
	}
}

static unsigned slots_decoded(const struct ref *r)
{
	return r->decoded < r->steps ? r->f[r->decoded].first_group : r->groups;
}

static bool decode_one(struct ref *r, uint64_t t)
{
	const struct machine *m = r->m;
	if (r->decoded == r->steps)
		return false;
	struct flight *f = &r->f[r->decoded];
	if (r->resume_behind && !r->streaming) {
		if (r->allocated < r->resume_behind)
			return false;
		uint64_t last = r->g[r->resume_behind - 1].allocated;
		r->fetched = last && last - 1 > r->fetched ? last - 1 : r->fetched;
		r->resume_behind = 0;
	}
	r->loop_uops += r->counted == r->decoded ? f->group_count : 0;
	r->counted = r->decoded + 1;
	if (r->streaming) {
		f->decoded = t;
		r->decoded++;
		if (f->s->in.branch)
			learn_loop(r, f);
		return true;
	}
	if (!fetched(r, t))
		return false;
	if (!f->fused_second) {
		bool first = !r->decoded_now;
		if (t < r->microcode_until || (!first && (r->decoded_now >= m->front_decode_width || f->group_count > 1)))
			return false;
		if (slots_decoded(r) - r->allocated >= m->front_queue)
			return false;
		r->decoded_now++;
		tell(r, SIG_INSTRUCTIONS_DECODED, t, 1);
		if (f->group_count > m->front_complex_uops) { /* the microcode sequencer, to the exclusion of all else */
			r->decoded_now = (unsigned)m->front_decode_width;
			r->microcode_until = t + (f->group_count - 1) / m->front_microcode_width + 1;
		}
	}
	f->decoded = r->last_decode = t;
	if (r->microcode_until > t)
		r->last_decode = r->microcode_until - 1;
	if (f->s->in.branch)
		learn_loop(r, f);
	if (f->s->in.branch && f->s->e.taken && !r->streaming) {
		r->fetch_anew = true;
		r->fetched += m->front_taken_cycles;
	}
	r->decoded++;
	return true;
}

/* ---- allocation ------------------------------------------------------------------------------ */

static unsigned in_station(const struct ref *r)
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

/* The registers that this cycle's groups read from outside the ROB, with group g: are there ports for all? The
 * first group of a cycle that reads any has as many as it needs. */
static bool reads_fit(struct ref *r, const struct group *g, uint64_t t)
{
	const struct flight *f = &r->f[g->step];
	const struct insn *in = &f->s->in;
	const uint8_t address[2] = { in->has_base ? in->base : in->index, in->index };
	bool reads[RN_COUNT];
	unsigned before = 0, with = 0;
	memcpy(reads, r->read_now, sizeof(reads));
	if (g->part[LOAD].there || g->part[STA].there)
		mark_read(r, address, f->address, f->addresses, t, reads);
	if (g->part[MAIN].there || g->part[STD].there)
		mark_read(r, in->reads, f->producer, f->producers, t, reads);
	for (unsigned i = 0; i < RN_COUNT; i++) {
		before += r->read_now[i];
		with += reads[i];
	}
	if (before && with > r->m->core_register_reads)
		return false;
	memcpy(r->read_now, reads, sizeof(reads));
	return true;
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
	if (r->allocated - r->retired >= r->m->core_rob)
		return SIG_RESOURCE_STALL_ROB;
	if (g->part[LOAD].there && loads_in_flight(r) >= r->m->core_load_buffers)
		return SIG_RESOURCE_STALL_LOAD;
	if (g->part[STA].there && stores_in_flight(r, t) >= r->m->core_store_buffers)
		return SIG_RESOURCE_STALL_STORE;
	if (g->entries && in_station(r) + g->entries > r->m->core_rs)
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
	for (unsigned p = 0; p < PARTS; p++)
		parts += g->part[p].there;
	g->allocated = t;
	tell(r, SIG_UOPS_ISSUED_FUSED, t, 1);
	tell(r, SIG_UOPS_ISSUED_UNFUSED, t, parts);
	tell(r, SIG_UOPS_ISSUED_MICROFUSED, t, parts > 1);
	if (r->f[g->step].class == UC_LFENCE)
		r->held_until = NEVER;
	if (g->part[STA].there)
		r->f[g->step].buffer_taken = t;
}

static void decode_and_allocate(struct ref *r, uint64_t t)
{
	unsigned slots = 0;
	bool more = true;
	r->decoded_now = 0;
	memset(r->read_now, 0, sizeof(r->read_now));
	while (more) {
		more = decode_one(r, t);
		if (slots < r->m->core_issue_width && obstacle(r, t) == SIG_CYCLES) {
			allocate(r, t);
			slots++;
			more = true;
		}
	}
	/* A cycle that allocates something is not lost; but a uop refused for read ports is counted in any case. */
	enum signal why = slots < r->m->core_issue_width ? obstacle(r, t) : SIG_COUNT;
	if (slots && why != SIG_RAT_STALL_READ_PORT)
		why = SIG_COUNT;
	if (why != SIG_COUNT) {
		tell(r, why, t, 1);
		tell(r, why == SIG_RAT_STALL_SCOREBOARD || why == SIG_RAT_STALL_READ_PORT ? SIG_RAT_STALL_ANY : SIG_RESOURCE_STALL_ANY, t, 1);
	}
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

static void begin(struct ref *r, const struct machine *m, const struct ref_step *steps, unsigned n, struct ref_trace *t)
{
	memset(r, 0, offsetof(struct ref, f));
	ref_clear(t);
	r->m = m;
	r->t = t;
	r->steps = n;
	r->fetch_anew = true;
	for (unsigned i = 0; i < n; i++)
		r->f[i] = (struct flight){ .s = &steps[i], .decoded = NEVER, .result = NEVER, .load_dispatched = NEVER,
			.loaded = NEVER, .address_known = NEVER, .data_known = NEVER, .commit = NEVER };
	for (unsigned i = 0; i < n; i++)
		split(r, i);
}

bool ref_run(const struct machine *m, const struct ref_step *steps, unsigned n, struct ref_trace *trace)
{
	static struct ref room;
	struct ref *r = &room;
	if (n > REF_INSNS)
		return false;
	begin(r, m, steps, n, trace);
	for (uint64_t t = 0; t < REF_CYCLES; t++) {
		ref_commit(r, t);
		decode_and_allocate(r, t);
		ref_loads_go_on(r, t);
		ref_dispatch(r, t);
		ref_loads_go_on(r, t);
		retire(r, t);
		bool over = r->decoded == n && r->retired == r->groups;
		for (unsigned i = 0; i < n && over; i++)
			over = !r->f[i].s->in.store || r->f[i].commit != NEVER;
		if (over) { /* the cycle in which the last of it happened is counted to its end */
			uint64_t end = t > r->last_commit ? t : r->last_commit;
			trace->cycles = (r->held_until > end ? r->held_until : end) + 1;
			return true;
		}
	}
	return false;
}
