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
#define WARM_RUNS 2  /* then lines, pages and branch targets are known */
#define MOST_RUNS 12 /* the first of the others in which no branch was mispredicted is compared */

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

/* Carries the code out once: what the steps are. False: it is no code that ends, having been cut down. */
static bool rig_steps(struct rig *g, const struct stream *s)
{
	struct hart_regs regs;
	struct exec_env env = { .self = g, .memory = rig_memory, .ranges = g->ranges };
	unsigned bytes = stream_code(s, g->code), bad;
	exec_reset(&regs);
	regs.gpr[RN_RSI] = WINDOW_DATA;
	regs.vec[15][0] = 0x3FF0000000000000; /* 1.0 */
	regs.rip = WINDOW_SCRATCH;
	memset(g->data, 0, sizeof(g->data));
	for (g->count = 0; regs.rip - WINDOW_SCRATCH < bytes; g->count++) {
		struct ref_step *at = &g->steps[g->count];
		uint8_t vector;
		uint64_t offset = regs.rip - WINDOW_SCRATCH;
		if (g->count == REF_INSNS || decode(g->code + offset, bytes - offset, &at->in, &bad) != ST_OK)
			return false;
		at->ip = regs.rip;
		if (exec(&regs, &at->in, &env, &at->e, &vector) != ST_OK)
			return false;
	}
	for (unsigned i = 0; i < g->count; i++)
		core_plan_make(&g->m, &g->steps[i].in, i + 1 < g->count ? &g->steps[i + 1].in : NULL, &g->plans[i]);
	return true;
}

static bool mispredicted(uint64_t cycles)
{
	for (unsigned c = 0; c < cycles && c < REF_CYCLES; c++)
		if (heard.t.count[SIG_BRANCHES_MISPREDICTED][c])
			return true;
	return false;
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
	struct tap all = { .on = true, .cmask = 2 }; /* a count by the cycle is wanted of every signal: each is said to signal.c */
	all.listen[SIG_BRANCHES_MISPREDICTED / 64] |= 1ull << (SIG_BRANCHES_MISPREDICTED % 64);
	for (unsigned i = 0; i < ref_signals_count; i++)
		all.listen[ref_signals[i] / 64] |= 1ull << (ref_signals[i] % 64);
	uint64_t now = 0;
	bool missed = true;
	for (unsigned run = 0; run < MOST_RUNS && missed; run++) {
		ref_clear(&heard.t);
		heard.on = run >= WARM_RUNS;
		heard.start = now + 10;
		signals_tap(g->signals[0], 0, heard.on ? &all : NULL);
		core_resume(c, now + 10, true);
		for (unsigned i = 0; i < g->count; i++)
			assert_int_equal(core_account(c, &g->steps[i].in, &g->plans[i], &g->steps[i].e, g->steps[i].ip), ST_OK);
		heard.t.cycles = core_serialise(c) - now - 10;
		now += 10 + heard.t.cycles;
		missed = !heard.on || mispredicted(heard.t.cycles);
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
	*apt = rig_steps(g, s);
	if (!*apt)
		return true;
	rig_run(g);
	*apt = !mispredicted(heard.t.cycles);
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

/* What a comparison comes to. */
struct tally { uint64_t seed, streams, equal, inapt, insns, model_cycles, wanted_cycles; double least, most; };

/* Compares so many streams; with `exact` the first that does not agree ends it. Streams in which a branch is
 * mispredicted to the end are not counted. */
static struct tally compare_streams(unsigned stream_kinds, unsigned machine_kinds, uint64_t streams, bool exact)
{
	static struct rig g;
	static struct stream s;
	char why[160];
	bool apt;
	struct tally t = { .seed = setting("REFERENCE_SEED", 1), .least = 1, .most = 1 };
	struct machine base = core_bench_machine("nehalem-ep");
	base.topology_sockets = base.topology_cores = base.topology_threads = 1;
	base.l3_bytes = 0;
	base.l2_bytes = 65536;
	for (uint64_t seed = t.seed; t.streams < streams; seed++) {
		draw_seed(seed * 0x9E3779B97F4A7C15ull | 1);
		g.m = base;
		stream_machine(&g.m, machine_kinds);
		stream_draw(&s, 50 + below(250), (stream_kinds & (unsigned)draw() & STREAM_ALL) | (stream_kinds & STREAM_DIVIDES_IN_ORDER));
		bool equal = agree(&g, &s, why, &apt);
		if (exact && !equal) {
			shrink(&g, &s, why);
			fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, why);
			for (unsigned i = 0; i < s.count; i++)
				fprintf(stderr, "\t%s\n", s.insn[i].text);
			stream_print_machine(&g.m);
			fail_msg("seed %llu: %s", (unsigned long long)seed, why);
		}
		t.inapt += !apt;
		if (!apt)
			continue;
		double ratio = (double)heard.t.cycles / (double)g.wanted.cycles;
		t.least = ratio < t.least ? ratio : t.least;
		t.most = ratio > t.most ? ratio : t.most;
		t.streams++;
		t.equal += equal;
		t.insns += g.count;
		t.model_cycles += heard.t.cycles;
		t.wanted_cycles += g.wanted.cycles;
	}
	print_message("# seeds from %llu: %llu streams, %llu equal in every cycle, %llu left out; %llu instructions, %llu cycles, %.2f %% more "
	              "than the reference, a stream %.1f to %.1f %%\n", (unsigned long long)t.seed, (unsigned long long)t.streams,
	              (unsigned long long)t.equal, (unsigned long long)t.inapt, (unsigned long long)t.insns,
	              (unsigned long long)t.model_cycles, 100.0 * ((double)t.model_cycles / (double)t.wanted_cycles - 1),
	              100 * (t.least - 1), 100 * (t.most - 1));
	assert_true(t.inapt <= streams / 5);
	return t;
}

static void test_reference_agrees_on_every_cycle(void **state)
{
	(void)state;
	struct tally t = compare_streams(STREAM_ALL, 0, setting("REFERENCE_STREAMS", 10000), true);
	assert_int_equal(t.equal, t.streams);
	assert_int_equal(t.model_cycles, t.wanted_cycles);
}

/* Divides that become ready in program order: then it does not matter who reserves the divider first. */
static void test_reference_agrees_on_divides_in_order(void **state)
{
	(void)state;
	struct tally t = compare_streams(STREAM_ALL | STREAM_DIVIDES_IN_ORDER, MACHINE_DIVIDER, setting("REFERENCE_STREAMS", 10000) / 10, true);
	assert_int_equal(t.equal, t.streams);
}

/* The classes of tests/reference/DISAGREEMENTS.md, with the bounds that stand there. */
static void check_class(unsigned machine_kinds, double sum, double one)
{
	struct tally t = compare_streams(STREAM_ALL, machine_kinds, setting("REFERENCE_STREAMS", 10000) / 10, false);
	double all = (double)t.model_cycles / (double)t.wanted_cycles;
	assert_true(all > 1 - sum && all < 1 + sum);
	assert_true(t.least > 1 - one && t.most < 1 + one);
	assert_true(t.equal > t.streams / 5 && t.equal < t.streams);
}

static void test_reference_differs_little_when_ports_overlap(void **state)
{
	(void)state;
	check_class(MACHINE_PORTS_OVERLAP, 0.005, 0.20);
}

static void test_reference_differs_little_when_operations_keep_a_port(void **state)
{
	(void)state;
	check_class(MACHINE_PORTS_BUSY, 0.01, 0.30);
}

static void test_reference_differs_little_when_the_divider_is_kept(void **state)
{
	(void)state;
	check_class(MACHINE_DIVIDER, 0.01, 0.40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reference_agrees_on_every_cycle),
		cmocka_unit_test(test_reference_agrees_on_divides_in_order),
		cmocka_unit_test(test_reference_differs_little_when_ports_overlap),
		cmocka_unit_test(test_reference_differs_little_when_operations_keep_a_port),
		cmocka_unit_test(test_reference_differs_little_when_the_divider_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
