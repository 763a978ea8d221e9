/* tests/reference/rig.c: see rig.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/reference/rig.h"
#include "tests/unit/support/sim_look.h"

#define WARM_RUNS 2  /* then lines, pages and branch targets are known */
#define MOST_RUNS 12 /* the first of the others in which no branch was mispredicted is compared */
#define THREAD_BYTES 65536u /* from one thread's code or data to the other's */

static struct rig *hearing; /* whose signals are noted; NULL: nobody's */

void rig_receive(const struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	for (unsigned i = 0; hearing && i < hearing->threads; i++)
		if (hearing->t[i].signals == s)
			ref_tell(&hearing->t[i].is, sig, cycle - hearing->start, n);
}

/* ---- the model on pieces of code -------------------------------------------------------------- */

static void *rig_memory(void *self, uint64_t va, unsigned bytes, bool write)
{
	struct rig_thread *t = self;
	(void)write;
	return va - t->data_va < RIG_DATA_BYTES - bytes ? t->data + (va - t->data_va) : NULL;
}

static bool rig_pages(void *self, uint64_t va, struct page_info *out)
{
	(void)self;
	*out = (struct page_info){ .page_bytes = PAGE_2M, .executable = true, .pa = va < SPACE_DATA ? 0x400000 : 0x800000 };
	return true;
}

/* Carries a thread's code out once: what the steps are. False: it is no code that ends, having been cut down. */
static bool rig_steps(struct rig *g, struct rig_thread *t)
{
	struct hart_regs regs;
	struct exec_env env = { .self = t, .memory = rig_memory, .ranges = t->ranges };
	unsigned bytes = stream_code(&t->stream, t->code), bad;
	exec_reset(&regs);
	regs.gpr[RN_RSI] = t->data_va;
	regs.vec[15][0] = 0x3FF0000000000000; /* 1.0 */
	regs.rip = t->code_va;
	memset(t->data, 0, sizeof(t->data));
	for (t->count = 0; regs.rip - t->code_va < bytes; t->count++) {
		struct ref_step *at = &t->steps[t->count];
		uint8_t vector;
		uint64_t offset = regs.rip - t->code_va;
		if (t->count == REF_INSNS || decode(t->code + offset, bytes - offset, &at->in, &bad) != ST_OK)
			return false;
		at->ip = regs.rip;
		if (exec(&regs, &at->in, &env, &at->e, &vector) != ST_OK)
			return false;
	}
	for (unsigned i = 0; i < t->count; i++)
		core_plan_make(&g->m, &t->steps[i].in, i + 1 < t->count ? &t->steps[i + 1].in : NULL, &t->plans[i]);
	return true;
}

static bool mispredicted(const struct ref_trace *t)
{
	for (unsigned c = 0; c < t->cycles && c < REF_CYCLES; c++)
		if (t->count[SIG_BRANCHES_MISPREDICTED][c])
			return true;
	return false;
}

/* The steps of all threads from g->start on, the thread that is granted first (core.h). The cycle in which all is over. */
static uint64_t rig_go(struct rig *g, struct core_thread *const core[2])
{
	unsigned at[2] = { 0, 0 };
	bool over[2] = { false, g->threads < 2 };
	uint64_t end = g->start;
	for (unsigned i = 0; i < g->threads; i++)
		core_resume(core[i], g->start, g->threads < 2);
	while (!over[0] || !over[1]) {
		const unsigned i = over[0] || (!over[1] && core_grant(core[1]) < core_grant(core[0]));
		struct rig_thread *t = &g->t[i];
		while (at[i] < t->count) {
			const struct ref_step *s = &t->steps[at[i]];
			if (g->threads > 1)
				core_expect(core[i], &t->plans[at[i]], s->ip);
			if (!over[!i] && core_grant(core[i]) > core_grant(core[!i]))
				break;
			const bool unfinished = core_unfinished(core[i]);
			if ((unfinished ? core_go_on(core[i]) : core_account(core[i], &s->in, &t->plans[at[i]], &s->e, s->ip)) != ST_OK)
				abort();
			at[i] += !core_unfinished(core[i]);
		}
		if (at[i] < t->count)
			continue;
		over[i] = true;
		const uint64_t last = core_serialise(core[i]);
		t->is.cycles = last - g->start;
		end = last > end ? last : end;
		core_park(core[i]);
	}
	return end;
}

/* Runs the steps on the model; what is noted is the last run. */
static void rig_run(struct rig *g)
{
	static void *memory_room, *core_room[2];
	static size_t memory_size, core_size[2];
	size_t memory_now = memory_bytes(&g->m), core_now = core_bytes(&g->m);
	struct signals *signals[MACHINE_THREADS_MAX] = { NULL };
	struct core_thread *core[2] = { NULL, NULL };
	struct core_hooks hooks = { .self = g };
	struct tap all = { .on = true, .cmask = 2 }; /* a count by the cycle is wanted of every signal: each is said to signal.c */
	all.listen[SIG_BRANCHES_MISPREDICTED / 64] |= 1ull << (SIG_BRANCHES_MISPREDICTED % 64);
	for (unsigned i = 0; i < ref_signals_count; i++)
		all.listen[ref_signals[i] / 64] |= 1ull << (ref_signals[i] % 64);
	if (memory_now > memory_size)
		memory_room = realloc(memory_room, memory_size = memory_now);
	for (unsigned i = 0; i < g->threads; i++) {
		if (core_now > core_size[i])
			core_room[i] = realloc(core_room[i], core_size[i] = core_now);
		if (g->t[i].signals)
			signals_detach(g->t[i].signals);
		else
			g->t[i].signals = malloc(signals_bytes());
		signals[i] = g->t[i].signals;
		signals_init(signals[i]);
		signals_attach_heap(signals[i]);
	}
	memset(memory_room, 0, memory_now);
	struct memory *memory = memory_init(memory_room, &g->m, signals, rig_pages, g);
	memory_prefetchers(memory, 0, 15);
	for (unsigned i = 0; i < g->threads; i++)
		core[i] = core_init(core_room[i], &g->m, 0, i, memory, signals[i], &hooks, i ? core[0] : NULL);
	uint64_t now = 0;
	bool missed = true;
	for (unsigned run = 0; run < MOST_RUNS && missed; run++) {
		g->start = now + 10 + run % 2; /* either thread may be granted first */
		hearing = run >= WARM_RUNS ? g : NULL;
		for (unsigned i = 0; i < g->threads; i++) {
			ref_clear(&g->t[i].is);
			signals_tap(signals[i], 0, hearing ? &all : NULL);
		}
		now = rig_go(g, core);
		missed = !hearing;
		for (unsigned i = 0; i < g->threads; i++)
			missed |= mispredicted(&g->t[i].is);
	}
	hearing = NULL;
}

/* ---- comparison ------------------------------------------------------------------------------- */

static const char *signal_name(enum signal sig)
{
	static const char *const names[] = {
#define SIGNAL(name, kind, what) #name,
#include "pmu/sim/signals/signals.def"
#undef SIGNAL
	};
	return names[sig];
}

/* Ports that some class has together with this one: which of them a uop takes is not compared, how many do is. */
static unsigned port_set(const struct machine *m, unsigned port)
{
	unsigned set = 1u << port;
	for (unsigned c = 0; c < UC_COUNT; c++)
		if (m->exec[c].port_mask >> port & 1)
			set |= m->exec[c].port_mask;
	return set;
}

static unsigned count_in(const struct ref_trace *t, const struct machine *m, enum signal sig, unsigned cycle)
{
	if (sig < SIG_UOPS_EXECUTED_P0 || sig > SIG_UOPS_EXECUTED_P7)
		return t->count[sig][cycle];
	unsigned set = port_set(m, sig - SIG_UOPS_EXECUTED_P0), n = 0;
	for (unsigned p = 0; p < 8; p++)
		if (set >> p & 1)
			n += t->count[SIG_UOPS_EXECUTED_P0 + p][cycle];
	return n;
}

/* The first cycle, below `where`, in which a thread's traces differ, or `where`. */
static unsigned first_difference(const struct rig *g, unsigned thread, unsigned where, char why[160])
{
	const struct rig_thread *t = &g->t[thread];
	uint64_t all = (t->wanted.cycles > t->is.cycles ? t->wanted.cycles : t->is.cycles) + 2;
	for (unsigned i = 0; i < ref_signals_count; i++)
		for (unsigned c = 0; c < all && c < where; c++) {
			unsigned is = count_in(&t->is, &g->m, ref_signals[i], c), wanted = count_in(&t->wanted, &g->m, ref_signals[i], c);
			if (is == wanted)
				continue;
			where = c;
			snprintf(why, 160, "thread %u, %s in cycle %u: model %u, reference %u; %u and %u cycles in all", thread,
			         signal_name(ref_signals[i]), c, is, wanted, (unsigned)t->is.cycles, (unsigned)t->wanted.cycles);
		}
	if (where == REF_CYCLES && t->is.cycles != t->wanted.cycles) {
		snprintf(why, 160, "thread %u, cycles: model %u, reference %u", thread, (unsigned)t->is.cycles, (unsigned)t->wanted.cycles);
		return REF_CYCLES - 1;
	}
	return where;
}

bool rig_agree(struct rig *g, char why[160], bool *apt)
{
	struct ref_program programs[2];
	*apt = true;
	for (unsigned i = 0; i < g->threads && *apt; i++) {
		struct rig_thread *t = &g->t[i];
		t->code_va = SPACE_SCRATCH + i * THREAD_BYTES;
		t->data_va = SPACE_DATA + i * THREAD_BYTES;
		*apt = rig_steps(g, t);
		programs[i] = (struct ref_program){ t->steps, t->count, &t->wanted };
	}
	if (!*apt)
		return true;
	rig_run(g);
	for (unsigned i = 0; i < g->threads; i++)
		*apt &= !mispredicted(&g->t[i].is);
	if (!*apt)
		return true;
	if (!ref_run(&g->m, programs, g->threads, g->start)) {
		snprintf(why, 160, "the reference does not come to an end");
		return false;
	}
	unsigned where = REF_CYCLES;
	for (unsigned i = 0; i < g->threads; i++)
		where = first_difference(g, i, where, why);
	return where == REF_CYCLES;
}

void rig_shrink(struct rig *g, char why[160])
{
	static struct stream before;
	char ignored[160];
	bool apt;
	for (unsigned i = 0; i < g->threads; i++) {
		struct stream *s = &g->t[i].stream;
		for (unsigned piece = s->count / 2; piece; piece /= 2)
			for (unsigned at = 0; at + piece <= s->count;) {
				before = *s;
				s->count -= piece;
				memmove(&s->insn[at], &s->insn[at + piece], (s->count - at) * sizeof(s->insn[0]));
				if (!rig_agree(g, ignored, &apt))
					continue;
				*s = before;
				at += piece;
			}
	}
	(void)rig_agree(g, why, &apt);
}

void rig_print(const struct rig *g)
{
	for (unsigned t = 0; t < g->threads; t++) {
		fprintf(stderr, "thread %u\n", t);
		for (unsigned i = 0; i < g->t[t].stream.count; i++)
			fprintf(stderr, "\t%s\n", g->t[t].stream.insn[i].text);
	}
	stream_print_machine(&g->m);
}

uint64_t rig_setting(const char *name, uint64_t preset)
{
	const char *v = getenv(name);
	return v ? strtoull(v, NULL, 0) : preset;
}
