/* tests/reference/reference_decode.c: what an instruction is made of, fetch, decode and loop buffer of the reference. Each thread
 * has all of these for itself. */
#include "tests/reference/reference_state.h"

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

void ref_split(struct ref *r, unsigned step)
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
	               (in->move && m->core_move_elimination && !in->load && !in->store) ||
	               (!f->fused_first && (m->core_add_elimination > 1 ? in->add_constant || in->add_registers : m->core_add_elimination && in->add_constant));
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

/* The loop buffer: the same backward branch taken, then LOOP_ITERATIONS times again with no other taken in between,
 * and an iteration that fits: from then on its uops cost the front end nothing. Afterwards fetch starts anew in the
 * cycle in which the last of them is allocated. */
static void learn_loop(struct ref *r, const struct flight *f)
{
	const struct ref_step *s = f->s;
	bool back = s->e.taken && s->e.next_rip <= s->ip, was = r->streaming;
	if (back) {
		r->loop_iterations = r->loop_branch == s->ip ? r->loop_iterations + 1 : 0;
		r->loop_branch = s->ip;
		r->streaming = r->loop_iterations >= LOOP_ITERATIONS && r->loop_uops <= r->m->front_loop_uops;
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

bool ref_decode_one(struct ref *r, uint64_t t)
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
