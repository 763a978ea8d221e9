/* Causal test of the cycle accounting: one value of the simulated machine is changed at a time; the term that it belongs to changes by
 * as many cycles as the kernel, the others do not. Mixtures of kernels in random shares are explained by the sums of their counts.
 *
 * Each machine is measured like a real one: penalties by its own rows, counts by its own events. With the argument "long", all
 * terms run on all machines, otherwise those of one machine that take a second each. A second argument names one term, or is "mixtures". */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rigs/stall_rig.h"
#include "tests/unit/support/table_find.h"

static bool all;
static const char *only; /* this term alone */

/* A term, the kernel in which it is changed, and the field that sets the cost or the duration of one occurrence. */
struct cause { const char *term, *row, *section, *key, *values[3]; bool quick; };
static const struct cause causes[] = {
	{ "l2", "load.l2.latency", "l2", "cycles", { "10", "14", "22" }, true },
	{ "l3", "load.l3.latency", "l3", "uncore_cycles", { "24", "36", "60" }, false },
	{ "other_core_clean", "load.l3_clean_other_core.latency", "l3", "clean_uncore_cycles", { "14", "24", "44" }, false },
	{ "other_core_modified", "load.l3_modified_other_core.latency", "l3", "modified_uncore_cycles", { "14", "24", "44" }, false },
	{ "remote_cache", "load.remote_l3_clean.latency", "link", "clean_ps", { "30000", "40000", "60000" }, false },
	{ "remote_modified", "load.remote_l3_modified.latency", "link", "modified_ps", { "30000", "40000", "60000" }, false },
	{ "local_dram", "load.dram_local.latency", "dram", "local_ps", { "46000", "56000", "76000" }, false },
	{ "remote_dram", "load.dram_remote.latency", "dram", "remote_ps", { "86000", "100000", "115000" }, false },
	{ "stlb_hit", "tlb.dtlb_4k.penalty", "stlb", "cycles", { "7", "10", "16" }, false },
	{ "walk", "tlb.stlb_walk_4k.penalty", "walk", "cycles", { "20", "30", "50" }, false },
	{ "forward_fail", "store.forward_fail.penalty", "store", "forward_fail_cycles", { "12", "16", "24" }, true },
	{ "alias_4k", "store.alias_4k.penalty", "store", "alias_cycles", { "5", "8", "14" }, true },
	{ "unknown_address", "store.unknown_address.penalty", "exec", "imul", { "3 1 1", "4 1 1", "6 1 1" }, false },
	{ "split_load", "split.load_line.penalty", "load", "split_cycles", { "5", "8", "14" }, false },
	{ "branch_conditional", "branch.conditional.penalty", "core", "mispredict_cycles", { "10", "17", "30" }, true },
	{ "branch_indirect", "branch.indirect.penalty", "core", "mispredict_cycles", { "10", "17", "30" }, false },
	{ "branch_return", "branch.return.penalty", "core", "mispredict_cycles", { "10", "17", "30" }, false },
	{ "branch_unknown_target", "frontend.baclear.penalty", "front", "baclear_cycles", { "8", "12", "20" }, false },
	{ "code_l2", "frontend.l1i_l2.penalty", "l2", "cycles", { "10", "14", "22" }, false },
	{ "code_l3", "frontend.l1i_l3.penalty", "l3", "uncore_cycles", { "24", "36", "60" }, false },
	{ "lcp", "frontend.lcp.penalty", "front", "lcp_cycles", { "6", "9", "15" }, true },
	{ "memory_order", "store.disambiguation_clear.penalty", "core", "clear_cycles", { "20", "30", "50" }, false },
	{ "smc", "sync.self_modifying_code.penalty", "core", "smc_cycles", { "100", "150", "250" }, false },
	{ "fp_assist", "exec.fp_assist.penalty", "core", "fp_assist_cycles", { "150", "200", "300" }, false },
	{ "lock", "sync.lock.penalty", "exec", "lock", { "18 5 1", "24 5 1", "36 5 1" }, false },
	{ "registers", "exec.partial_flags.penalty", "core", "partial_flags_cycles", { "7", "10", "16" }, true },
	{ "divide", "exec.divsd_hard.interval", "exec", "fp_div64", { "22 0 22", "30 0 30", "46 0 46" }, true },
};

/* Cycles per thousand units of the kernel, of the term and of the other terms. */
struct effect { int64_t cycles, term, others; };

/* False: this machine cannot run the kernel, or counts nothing for the term. */
static bool effect_of(const char *machine, const struct cause *c, const char *value, struct effect *e)
{
	static struct stall_rig g;
	static struct stall_counts counts;
	static struct account a;
	const unsigned t = stall_find(c->term);
	char *text = loop_changed(loop_built_in(machine), c->section, c->key, value);
	assert_true(t < stall_term_count);
	stall_rig_open(&g, text, NULL);
	free(text);
	const bool runs = stall_rig_count(&g, c->row, &counts);
	if (runs)
		stall_rig_account(&g, &counts, &a);
	stall_rig_close(&g);
	if (!runs || a.terms[t].state != ACCOUNT_GOOD) {
		print_message("%s: %s in %s: %s\n", machine, c->term, c->row, !runs ? "does not run" : a.terms[t].state == ACCOUNT_NO_CONCEPT ? "no event" :
		              a.terms[t].state == ACCOUNT_NO_EVENT ? "not modelled" : "no penalty");
		return false;
	}
	*e = (struct effect){ a.total / 1000, a.terms[t].charged / 1000, (a.charged - a.terms[t].charged) / 1000 };
	print_message("%s: %s.%s %s: %lld cycles, %s charged %lld, others %lld, rest %lld of %lld stalls\n", machine, c->section, c->key, value, (long long)e->cycles,
	              c->term, (long long)e->term, (long long)e->others, (long long)(a.bounds.stalls - a.charged) / 1000, (long long)a.bounds.stalls / 1000);
	return true;
}

/* Returns how many changes the term does not follow, or the others do, within a twentieth of the kernel's change. */
static unsigned moves(const char *machine, const struct cause *c, unsigned *tried)
{
	struct effect e[3];
	unsigned wrong = 0;

	for (unsigned k = 0; k < 3; k++)
		if (!effect_of(machine, c, c->values[k], &e[k]))
			return 0;
	++*tried;
	for (unsigned k = 1; k < 3; k++) {
		const int64_t moved = e[k].cycles - e[0].cycles, term = e[k].term - e[0].term, others = e[k].others - e[0].others;
		if (moved < 500 || llabs(term - moved) * 20 > moved || llabs(others) * 20 > moved) {
			print_message("%s: %s WRONG: moves by %lld where the kernel moves by %lld; others by %lld\n", machine, c->term, (long long)term, (long long)moved,
			              (long long)others);
			wrong++;
		}
	}
	return wrong;
}

static void test_stall_term_moves_as_the_machine_does(void **state)
{
	(void)state;
	/* least: how many of the terms the machine counts and can change */
	static const struct { const char *name; unsigned least; } machines[] = { { "nehalem-ep", 25 }, { "core2", 19 }, { "haswell-ep", 23 }, { "skylake-sp", 24 }, { "pentium4", 9 } };
	unsigned wrong = 0;
	for (unsigned m = 0; m < (all ? COUNT_OF(machines) : 1); m++) {
		unsigned tried = 0;
		for (unsigned i = 0; i < COUNT_OF(causes); i++)
			if ((all || causes[i].quick) && (!only || !strcmp(only, causes[i].term)))
				wrong += moves(machines[m].name, &causes[i], &tried);
		print_message("%s: %u terms moved\n", machines[m].name, tried);
		if (all && !only && tried < machines[m].least)
			fail_msg("%s: only %u terms moved", machines[m].name, tried);
	}
	assert_int_equal(wrong, 0);
}

/* --- mixtures ---------------------------------------------------------------------------------- */

/* Kernels of which a program may consist: misses alone and in streams, branches, fetches, walks, divisions, assists. The latency of loads that hit
 * the L1 and of arithmetic, which no event counts, is a part of several; kernels that are mostly that are left out (a chase in the L1, in which a
 * split costs one cycle more than four). */
static const char *const kernels[] = { "load.l2.latency", "load.l3.latency", "load.dram_local.latency", "load.dram_remote.latency", "triad.l2.bandwidth",
	"triad.dram.bandwidth", "read.dram.bandwidth", "branch.conditional.penalty", "branch.indirect.penalty", "branch.return.penalty", "frontend.l1i_l2.penalty",
	"frontend.lcp.penalty", "tlb.dtlb_4k.penalty", "tlb.stlb_walk_4k.penalty", "store.forward_fail.penalty", "store.alias_4k.penalty",
	"exec.divsd_hard.interval", "exec.fp_assist.penalty" };
#define MIXTURES 20u
#define PARTS 4u  /* kernels of a mixture */
#define PART_CYCLES INT64_C(10000000000) /* a kernel's counts cover 1e6 to 1e9 cycles */

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

static void test_stall_mixtures_are_explained(void **state)
{
	(void)state;
	static struct stall_rig g;
	static struct stall_counts counts[COUNT_OF(kernels)], sum;
	static struct account a;
	static const char *const machines[] = { "nehalem-ep", "haswell-ep" };
	uint64_t seed = 1;
	for (unsigned m = 0; m < (all ? COUNT_OF(machines) : 1); m++) {
		unsigned wrong = 0;
		stall_rig_open(&g, loop_built_in(machines[m]), NULL);
		for (unsigned i = 0; i < COUNT_OF(kernels); i++)
			if (!stall_rig_count(&g, kernels[i], &counts[i]))
				fail_msg("%s cannot run %s", machines[m], kernels[i]);
		for (unsigned n = 0; n < COUNT_OF(kernels) + MIXTURES; n++) {
			char made[256] = "";
			memset(&sum, 0, sizeof(sum));
			for (unsigned k = 0; k < (n < COUNT_OF(kernels) ? 1 : PARTS); k++) {
				const unsigned which = n < COUNT_OF(kernels) ? n : (unsigned)draw(&seed, COUNT_OF(kernels));
				const int64_t part = (int64_t)draw(&seed, 9) + 1; /* of the time */
				stall_rig_account(&g, &counts[which], &a);
				stall_rig_add(&sum, &counts[which], part * PART_CYCLES / a.total);
				snprintf(made + strlen(made), sizeof(made) - strlen(made), "%s%lld %s", k ? ", " : "", (long long)part, kernels[which]);
			}
			stall_rig_account(&g, &sum, &a);
			const int64_t share = stall_rig_explained(&a) * 1000 / a.total;
			print_message("%s: %lld.%lld %% of the cycles of %s\n", machines[m], (long long)share / 10, (long long)share % 10, made);
			if (n >= COUNT_OF(kernels))
				wrong += share < 800 || share > 1050;
		}
		stall_rig_close(&g);
		assert_int_equal(wrong, 0);
	}
}

int main(int argc, char **argv)
{
	all = argc > 1 && !strcmp(argv[1], "long");
	only = argc > 2 ? argv[2] : NULL;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stall_term_moves_as_the_machine_does),
		cmocka_unit_test(test_stall_mixtures_are_explained),
	};
	return only ? _cmocka_run_group_tests(only, tests + !strcmp(only, "mixtures"), 1, NULL, NULL) : cmocka_run_group_tests(tests, NULL, NULL);
}
