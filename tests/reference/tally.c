/* tests/reference/tally.c: see tally.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/reference/tally.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/support/random_insn.h"

/* Signals whose sum is the code's alone, whatever happens when. */
static const enum signal work[] = {
	SIG_INSTRUCTIONS_RETIRED, SIG_UOPS_ISSUED_FUSED, SIG_UOPS_ISSUED_UNFUSED, SIG_UOPS_ISSUED_MICROFUSED, SIG_UOPS_EXECUTED,
	SIG_UOPS_RETIRED_FUSED, SIG_UOPS_RETIRED_UNFUSED, SIG_UOPS_RETIRED_MACROFUSED, SIG_LOADS_RETIRED, SIG_STORES_RETIRED,
	SIG_BRANCHES_RETIRED, SIG_INSTRUCTIONS_DECODED, SIG_DIVIDES, SIG_MULTIPLIES, SIG_LOAD_DISPATCHED, SIG_SPLIT_STORES };

static uint64_t sum_of(const struct ref_trace *t, enum signal sig)
{
	uint64_t n = 0;
	for (uint64_t c = 0; c < t->used; c++)
		n += t->count[sig][c];
	return n;
}

static void check_work(const struct rig_thread *t)
{
	for (unsigned i = 0; i < COUNT_OF(work); i++)
		assert_int_equal(sum_of(&t->is, work[i]), sum_of(&t->wanted, work[i]));
}

struct tally tally_compare(unsigned threads, unsigned stream_kinds, unsigned machine_kinds, uint64_t runs, bool exact)
{
	static struct rig g;
	char why[160];
	bool apt;
	struct tally t = { .seed = rig_setting("REFERENCE_SEED", 1), .least = 1, .most = 1 };
	struct machine base = core_bench_machine("nehalem-ep");
	base.topology_sockets = base.topology_cores = 1;
	base.topology_threads = g.threads = threads;
	base.l3_bytes = 0;
	base.l2_bytes = 65536;
	for (uint64_t seed = t.seed; t.runs < runs; seed++) {
		draw_seed(seed * 0x9E3779B97F4A7C15ull | 1);
		g.m = base;
		stream_machine(&g.m, machine_kinds);
		for (unsigned i = 0; i < threads; i++)
			stream_draw(&g.t[i].stream, 50 + below(250), (stream_kinds & (unsigned)draw() & STREAM_ALL) | (stream_kinds & STREAM_DIVIDES_IN_ORDER));
		bool equal = rig_agree(&g, why, &apt);
		if (exact && !equal) {
			rig_shrink(&g, why);
			fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, why);
			rig_print(&g);
			fail_msg("seed %llu: %s", (unsigned long long)seed, why);
		}
		t.inapt += !apt;
		if (!apt)
			continue;
		t.runs++;
		t.equal += equal;
		uint64_t is = 0, wanted = 0;
		for (unsigned i = 0; i < threads; i++) {
			const struct rig_thread *one = &g.t[i];
			check_work(one);
			is = one->is.cycles > is ? one->is.cycles : is;
			wanted = one->wanted.cycles > wanted ? one->wanted.cycles : wanted;
			t.insns += one->count;
			t.model_cycles += one->is.cycles;
			t.wanted_cycles += one->wanted.cycles;
		}
		double ratio = (double)is / (double)wanted;
		t.least = ratio < t.least ? ratio : t.least;
		t.most = ratio > t.most ? ratio : t.most;
	}
	print_message("# seeds from %llu: %llu runs, %llu equal in every cycle, %llu left out; %llu instructions, %llu cycles, %.2f %% more "
	              "than the reference, a run %.1f to %.1f %%\n", (unsigned long long)t.seed, (unsigned long long)t.runs,
	              (unsigned long long)t.equal, (unsigned long long)t.inapt, (unsigned long long)t.insns,
	              (unsigned long long)t.model_cycles, 100.0 * ((double)t.model_cycles / (double)t.wanted_cycles - 1),
	              100 * (t.least - 1), 100 * (t.most - 1));
	assert_true(t.inapt <= threads * runs / 5);
	return t;
}

void tally_check_class(unsigned threads, unsigned machine_kinds, uint64_t runs, double sum, double one)
{
	struct tally t = tally_compare(threads, STREAM_ALL, machine_kinds, runs, false);
	double all = (double)t.model_cycles / (double)t.wanted_cycles;
	assert_true(all > 1 - sum && all < 1 + sum);
	assert_true(t.least > 1 - one && t.most < 1 + one);
	assert_true(t.equal > t.runs / (threads == 1 ? 5 : 20) && t.equal < t.runs);
}
