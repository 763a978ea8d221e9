/* pmu/sim/core*.c against a core that goes cycle by cycle (tests/reference/): random machines, random code,
 * every signal compared cycle by cycle.
 *
 * REFERENCE_STREAMS says how many streams (10000), REFERENCE_SEED with which seed they begin. A stream that
 * disagrees is cut down as far as it still does and printed. The program is linked with --wrap: what the
 * core tells the taps goes through this file, so that the cycles need not be asked for by one tap each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/access.h"
#include "pmu/sim/core.h"
#include "tests/reference/reference.h"
#include "tests/reference/stream.h"
#include "tests/unit/core_bench.h"
#include "tests/unit/random_insn.h"

#define DATA_BYTES 12288u
#define CODE_BYTES (STREAM_BYTES + 64)
#define RUNS 3 /* the last one is compared: lines, pages and branch targets are known by then */

/* ---- what the model tells, cycle by cycle ----------------------------------------------------- */

static struct { bool on; uint64_t start; struct ref_trace t; } heard;

void __real_signal_pulse_heard(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
void __real_signal_level_heard(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);
void __wrap_signal_pulse_heard(struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
void __wrap_signal_level_heard(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n);

static void note(enum signal sig, uint64_t cycle, unsigned n)
{
	if (heard.on)
		ref_tell(&heard.t, sig, cycle - heard.start, n);
}

void __wrap_signal_pulse_heard(struct signals *s, enum signal sig, uint64_t cycle, unsigned n)
{
	note(sig, cycle, n);
	__real_signal_pulse_heard(s, sig, cycle, n);
}

void __wrap_signal_level_heard(struct signals *s, enum signal sig, uint64_t from, uint64_t to, unsigned n)
{
	for (uint64_t c = from; c < to; c++)
		note(sig, c, n);
	__real_signal_level_heard(s, sig, from, to, n);
}

/* ---- the model on a piece of code ------------------------------------------------------------- */

struct rig {
	struct machine m;
	uint8_t code[CODE_BYTES], data[DATA_BYTES];
	struct signals *signals[MACHINE_THREADS_MAX];
	struct exec_range ranges[EXEC_RANGES];
	struct ref_step steps[REF_INSNS];
	struct core_plan plans[REF_INSNS];
	unsigned count;
	struct ref_trace wanted;
};

static void *rig_memory(void *self, uint64_t va, unsigned bytes, bool write)
{
	struct rig *g = self;
	(void)write;
	return va - WINDOW_DATA < DATA_BYTES - bytes ? g->data + (va - WINDOW_DATA) : NULL;
}

static bool rig_pages(void *self, uint64_t va, struct page_info *out)
{
	(void)self;
	*out = (struct page_info){ .page_bytes = PAGE_2M, .executable = true, .pa = va < WINDOW_DATA ? 0x400000 : 0x800000 };
	return true;
}

/* Carries the code out once: what the steps are. */
static void rig_steps(struct rig *g, const struct stream *s)
{
	struct hart_regs regs;
	struct exec_env env = { .self = g, .memory = rig_memory, .ranges = g->ranges };
	unsigned bytes = stream_code(s, g->code), bad;
	exec_reset(&regs);
	regs.gpr[RN_RSI] = WINDOW_DATA;
	regs.rip = WINDOW_SCRATCH;
	memset(g->data, 0, sizeof(g->data));
	for (g->count = 0; regs.rip - WINDOW_SCRATCH < bytes; g->count++) {
		struct ref_step *at = &g->steps[g->count];
		uint8_t vector;
		at->ip = regs.rip;
		if (decode(g->code + (at->ip - WINDOW_SCRATCH), bytes - (at->ip - WINDOW_SCRATCH), &at->in, &bad) != ST_OK)
			fail_msg("not decoded: %s", s->insn[g->count].text);
		if (exec(&regs, &at->in, &env, &at->e, &vector) != ST_OK)
			fail_msg("not carried out: %s", s->insn[g->count].text);
	}
	for (unsigned i = 0; i < g->count; i++)
		core_plan_make(&g->m, &g->steps[i].in, i + 1 < g->count ? &g->steps[i + 1].in : NULL, &g->plans[i]);
}

/* Runs the steps on the model; `heard` has the last run. */
static void rig_run(struct rig *g)
{
	static void *memory_room, *core_room, *ring;
	static size_t memory_size, core_size;
	size_t memory_now = memory_bytes(&g->m), core_now = core_bytes(&g->m);
	if (memory_now > memory_size)
		memory_room = realloc(memory_room, memory_size = memory_now);
	if (core_now > core_size)
		core_room = realloc(core_room, core_size = core_now);
	if (!ring)
		ring = calloc(1, signals_ring_bytes());
	if (!g->signals[0])
		g->signals[0] = malloc(signals_bytes());
	signals_init(g->signals[0]);
	signals_attach(g->signals[0], ring);
	memset(memory_room, 0, memory_now);
	struct memory *memory = memory_init(memory_room, &g->m, g->signals, rig_pages, g);
	memory_prefetchers(memory, 0, 15);
	struct core_hooks hooks = { .self = g };
	struct core_thread *c = core_init(core_room, &g->m, 0, 0, memory, g->signals[0], &hooks, NULL);
	struct tap all = { .on = true };
	all.listen[SIG_BRANCHES_MISPREDICTED / 64] |= 1ull << (SIG_BRANCHES_MISPREDICTED % 64);
	for (unsigned i = 0; i < ref_signals_count; i++)
		all.listen[ref_signals[i] / 64] |= 1ull << (ref_signals[i] % 64);
	uint64_t now = 0;
	for (unsigned run = 0; run < RUNS; run++) {
		if (run == RUNS - 1) {
			ref_clear(&heard.t);
			heard.on = true;
			heard.start = now + 10;
			signals_tap(g->signals[0], 0, &all);
		}
		core_resume(c, now + 10, true);
		for (unsigned i = 0; i < g->count; i++)
			assert_int_equal(core_account(c, &g->steps[i].in, &g->plans[i], &g->steps[i].e, g->steps[i].ip), ST_OK);
		heard.t.cycles = core_serialise(c) - now - 10;
		now += 10 + heard.t.cycles;
	}
	heard.on = false;
}

/* ---- comparison ------------------------------------------------------------------------------- */

static const char *signal_name(enum signal sig)
{
	static const char *const names[] = {
#define SIGNAL(name, kind, what) #name,
#include "pmu/sim/signals.def"
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

/* Runs both; whether they agree. `why` gets the first difference. *apt: the reference models what happened. */
static bool agree(struct rig *g, const struct stream *s, char why[160], bool *apt)
{
	rig_steps(g, s);
	rig_run(g);
	*apt = true;
	for (unsigned c = 0; c < heard.t.cycles && c < REF_CYCLES; c++)
		*apt &= !heard.t.count[SIG_BRANCHES_MISPREDICTED][c];
	if (!*apt)
		return true;
	if (!ref_run(&g->m, g->steps, g->count, &g->wanted)) {
		snprintf(why, 160, "the reference does not come to an end");
		return false;
	}
	uint64_t all = g->wanted.cycles > heard.t.cycles ? g->wanted.cycles : heard.t.cycles;
	unsigned where = REF_CYCLES;
	for (unsigned i = 0; i < ref_signals_count; i++)
		for (unsigned c = 0; c < all + 2 && c < where; c++) {
			unsigned is = count_in(&heard.t, &g->m, ref_signals[i], c), wanted = count_in(&g->wanted, &g->m, ref_signals[i], c);
			if (is == wanted)
				continue;
			where = c;
			snprintf(why, 160, "%s in cycle %u: model %u, reference %u; %u and %u cycles in all", signal_name(ref_signals[i]),
			         c, is, wanted, (unsigned)heard.t.cycles, (unsigned)g->wanted.cycles);
		}
	if (where == REF_CYCLES && heard.t.cycles != g->wanted.cycles) {
		snprintf(why, 160, "cycles: model %u, reference %u", (unsigned)heard.t.cycles, (unsigned)g->wanted.cycles);
		return false;
	}
	return where == REF_CYCLES;
}

/* Leaves out what can be left out. */
static void shrink(struct rig *g, struct stream *s, char why[160])
{
	static struct stream less;
	char ignored[160];
	bool apt;
	for (unsigned piece = s->count / 2; piece; piece /= 2)
		for (unsigned at = 0; at + piece <= s->count;) {
			less = *s;
			less.count -= piece;
			memmove(&less.insn[at], &less.insn[at + piece], (less.count - at) * sizeof(less.insn[0]));
			if (agree(g, &less, ignored, &apt))
				at += piece;
			else
				*s = less;
		}
	(void)agree(g, s, why, &apt);
}

static uint64_t setting(const char *name, uint64_t preset)
{
	const char *v = getenv(name);
	return v ? strtoull(v, NULL, 0) : preset;
}

static void compare_streams(unsigned kinds, uint64_t streams)
{
	static struct rig g;
	static struct stream s;
	uint64_t seed = setting("REFERENCE_SEED", 1), insns = 0, cycles = 0, inapt = 0;
	char why[160];
	bool apt;
	struct machine base = core_bench_machine("nehalem-ep");
	base.topology_sockets = base.topology_cores = base.topology_threads = 1;
	base.l3_bytes = 0;
	base.l2_bytes = 65536;
	for (uint64_t n = 0; n < streams; n++) {
		draw_seed((seed + n) * 0x9E3779B97F4A7C15ull | 1);
		g.m = base;
		stream_machine(&g.m);
		stream_draw(&s, 50 + below(250), kinds & (unsigned)draw());
		if (!agree(&g, &s, why, &apt)) {
			shrink(&g, &s, why);
			fprintf(stderr, "seed %llu: %s\n", (unsigned long long)(seed + n), why);
			for (unsigned i = 0; i < s.count; i++)
				fprintf(stderr, "\t%s\n", s.insn[i].text);
			stream_print_machine(&g.m);
			fail_msg("seed %llu: %s", (unsigned long long)(seed + n), why);
		}
		inapt += !apt;
		insns += g.count;
		cycles += g.wanted.cycles;
	}
	assert_in_range(inapt, 0, streams / 100);
	print_message("# seeds %llu to %llu: %llu instructions, %llu cycles, all equal\n", (unsigned long long)seed,
	              (unsigned long long)(seed + streams - 1), (unsigned long long)insns, (unsigned long long)cycles);
}

static void test_reference_agrees_on_every_cycle(void **state)
{
	(void)state;
	compare_streams(STREAM_ALL & ~STREAM_DIVIDES, setting("REFERENCE_STREAMS", 10000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference_agrees_on_every_cycle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
