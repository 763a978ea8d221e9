/* The simulated core recalls what it would have computed: two equal machines run the same code, one of them without
 * recalling, and agree in cycles, uops, memory and every count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asm/kernel.h"
#include "pmu/sim/backend/sim.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/support/host_pages.h"
#include "tests/unit/support/kernel_start.h"
#include "tests/unit/support/machine_random.h"
#include "tests/unit/support/random_insn.h"
#include "tests/unit/support/sim_look.h"

/* Plain counts, thresholds of one and above, edges; no signal of pipe_seldom, which would prevent recalling. */
static const struct { enum signal sig; unsigned cmask; bool inv, edge; } taps[] = {
	{ SIG_CYCLES, 0, false, false }, { SIG_INSTRUCTIONS_RETIRED, 0, false, false }, { SIG_UOPS_ISSUED_FUSED, 0, false, false },
	{ SIG_UOPS_ISSUED_FUSED, 1, true, false }, { SIG_UOPS_ISSUED_FUSED, 3, false, false }, { SIG_UOPS_RETIRED_FUSED, 1, false, true },
	{ SIG_UOPS_RETIRED_FUSED, 2, true, false }, { SIG_UOPS_RETIRED_UNFUSED, 1, true, false }, { SIG_UOPS_RETIRED_UNFUSED, 0, false, false },
	{ SIG_LOAD_L1_HIT, 1, false, false }, { SIG_LOAD_L1_HIT, 0, false, false }, { SIG_LOAD_L2_HIT, 0, false, false },
	{ SIG_BRANCHES_RETIRED, 0, false, false }, { SIG_BRANCHES_MISPREDICTED, 0, false, false }, { SIG_L1D_REPLACED, 0, false, false },
	{ SIG_INSTRUCTIONS_RETIRED, 1, true, true } };

struct pair { struct sim *sim[2]; struct mapping data[2], code[2]; };

static void put_taps(struct signals *s)
{
	for (unsigned i = 0; i < COUNT_OF(taps); i++) {
		struct tap tap = { .on = true, .cmask = (uint8_t)taps[i].cmask, .inv = taps[i].inv, .edge = taps[i].edge };
		tap.listen[taps[i].sig / 64] |= 1ull << (taps[i].sig % 64);
		signals_tap(s, i, &tap);
	}
}

static void pair_open(struct pair *p, const struct machine *m)
{
	for (unsigned w = 0; w < 2; w++) {
		p->data[w] = (struct mapping){ .va = SPACE_DATA, .bytes = PAGE_2M, .page_bytes = PAGE_2M };
		p->code[w] = (struct mapping){ .va = SPACE_SCRATCH, .bytes = PAGE_4K, .page_bytes = PAGE_4K, .executable = true };
		assert_int_equal(sim_open(m, &host_pages, &p->sim[w]), ST_OK);
		sim_recall(p->sim[w], w == 0);
		assert_int_equal(sim_access(p->sim[w])->ops->map(sim_access(p->sim[w])->self, &p->data[w]), ST_OK);
	}
}

static void pair_close(struct pair *p)
{
	sim_close(p->sim[0]);
	sim_close(p->sim[1]);
}

/* Runs a job on both machines and fails at the first difference. */
static void pair_run(struct pair *p, uint64_t entry, uint64_t argument, const char *what, unsigned number)
{
	struct sim_totals t[2];
	uint64_t value[2][COUNT_OF(taps)];
	enum status st[2];
	for (unsigned w = 0; w < 2; w++) {
		const struct access *a = sim_access(p->sim[w]);
		struct signals *s = sim_signals(p->sim[w], 0);
		struct job j = { .core = 0, .entry = entry, .argument = argument };
		put_taps(s);
		st[w] = a->ops->run(a->self, &j, 1, 0);
		for (unsigned i = 0; i < COUNT_OF(taps); i++)
			value[w][i] = signals_tap_get(s, i)->value;
		sim_totals(p->sim[w], &t[w]);
	}
	assert_int_equal(st[0], st[1]);
	if (t[0].cycles != t[1].cycles || t[0].instructions != t[1].instructions || t[0].uops != t[1].uops)
		fail_msg("%s %u: %llu cycles, %llu instructions, %llu uops; not recalled %llu, %llu, %llu", what, number, (unsigned long long)t[0].cycles,
		         (unsigned long long)t[0].instructions, (unsigned long long)t[0].uops, (unsigned long long)t[1].cycles,
		         (unsigned long long)t[1].instructions, (unsigned long long)t[1].uops);
	assert_int_equal(t[1].recalled, 0);
	for (unsigned i = 0; i < COUNT_OF(taps); i++)
		if (value[0][i] != value[1][i])
			fail_msg("%s %u, signal %u, cmask %u: %llu, not recalled %llu", what, number, taps[i].sig, taps[i].cmask,
			         (unsigned long long)value[0][i], (unsigned long long)value[1][i]);
	assert_memory_equal(p->data[0].host, p->data[1].host, PAGE_2M);
}

static uint64_t recalled(struct pair *p)
{
	struct sim_totals t;
	sim_totals(p->sim[0], &t);
	return t.recalled;
}

/* Runs every kernel; returns how many of a thousand instructions were recalled. */
static unsigned all_kernels(const char *machine, uint64_t iterations)
{
	const struct machine m = core_bench_machine(machine);
	const struct kernel *wrapper = kernel_table;
	struct pair p;
	struct sim_totals t;
	while (strcmp(wrapper->name, "k_measure"))
		assert_true(++wrapper < kernel_table_end);
	pair_open(&p, &m);
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++) {
		if (!strncmp(k->name, "k_measure", 9))
			continue;
		for (unsigned w = 0; w < 2; w++) {
			struct measure_block *b = sim_access(p.sim[w])->ops->control(sim_access(p.sim[w])->self, 0);
			memset(b, 0, sizeof(*b));
			b->kernel = SPACE_CODE + k->offset;
			kernel_start_arguments(k, kernel_start_find(k->name), iterations, b->argument);
			kernel_start_fill(p.data[w].host);
		}
		pair_run(&p, SPACE_CODE + wrapper->offset, SPACE_CONTROL, k->name, 0);
	}
	sim_totals(p.sim[0], &t);
	pair_close(&p);
	return (unsigned)(t.recalled * 1000 / t.instructions);
}

static void test_memo_changes_no_kernel_on_nehalem_ep(void **state)
{
	(void)state;
	assert_true(all_kernels("nehalem-ep", 1500) > 300);
}

static void test_memo_changes_no_kernel_on_core2(void **state)
{
	(void)state;
	assert_true(all_kernels("core2", 700) > 300);
}

static void test_memo_changes_no_kernel_on_pentium4(void **state)
{
	(void)state;
	assert_true(all_kernels("pentium4", 400) > 100);
}

/* --- random loops ------------------------------------------------------------------------------ */

/* RBX holds random numbers, RSI the data's address, RDI the remaining iterations, R15 those of an inner loop. If `width` is not
 * 0, an offset into the data follows. */
static const struct { const char *hex; unsigned width; } pieces[] = {
	{ "4801d8", 0 }, { "01c8", 0 }, { "4829c8", 0 }, { "4831d2", 0 }, { "480fafc1", 0 }, { "488d440b05", 0 }, { "48ffc0", 0 }, { "48ffc9", 0 },
	{ "66ffc0", 0 }, { "88d8", 0 }, { "0fb6c8", 0 }, { "4889d8", 0 }, { "4811d8", 0 }, { "48c1e003", 0 }, { "48d3e8", 0 }, { "90", 0 },
	{ "0f1f440000", 0 }, { "66053412", 0 }, { "f20f58c1", 0 }, { "660f58c1", 0 }, { "660f59c2", 0 }, { "660fefc9", 0 }, { "660ffec2", 0 },
	{ "0f28c1", 0 }, { "f20f5ec1", 0 }, { "488b86", 8 }, { "488b8e", 8 }, { "488986", 8 }, { "488996", 8 }, { "8b8e", 4 }, { "8986", 4 },
	{ "8886", 1 }, { "0fb686", 1 }, { "480386", 8 }, { "480186", 8 }, { "660f6f86", 16 }, { "660f7f86", 16 }, { "660f5886", 16 },
	{ "f20f1086", 8 },
};

static uint8_t *emit(uint8_t *at, const char *hex)
{
	for (; *hex; hex += 2) {
		const char two[3] = { hex[0], hex[1], 0 };
		*at++ = (uint8_t)strtoul(two, NULL, 16);
	}
	return at;
}

static uint8_t *emit32(uint8_t *at, uint32_t x)
{
	memcpy(at, &x, 4);
	return at + 4;
}

/* The next random number; RAX gets its upper half. */
static uint8_t *emit_draw(uint8_t *at)
{
	at = emit32(emit(at, "4869db"), 0x5851F42Du);
	at = emit32(emit(at, "4881c3"), 0x14057B7Fu);
	return emit(at, "4889d848c1e820");
}

static uint8_t *emit_piece(uint8_t *at)
{
	const unsigned i = below(COUNT_OF(pieces) + 6);
	if (i < COUNT_OF(pieces)) {
		at = emit(at, pieces[i].hex);
		const unsigned width = pieces[i].width;
		if (width) /* few addresses, so that loads hit recent stores; some cross a line */
			at = emit32(at, width * below(24) + (width == 8 && !below(12) ? 3 : 0) + (below(8) ? 0 : 4096));
		return at;
	}
	switch (i - COUNT_OF(pieces)) {
	case 0: /* a load and a store at random addresses */
		return emit(emit_draw(at), below(2) ? "4825f80000004889140648ffc2488b0406" : "4825ff030000480314068814068b0c06");
	case 1: /* far away: other cache levels */
		return emit(emit_draw(at), "4825c0ff0f00488b1406");
	case 2: /* an indirect jump */
		return emit(at, "488d0502000000ffe0");
	case 3: /* a call of the next instruction */
		return emit(at, "e80000000058");
	case 4:
		return emit(at, below(4) ? "0faee8" : below(2) ? "0faef0" : "f0480186" "00000000");
	default:
		return emit_draw(at);
	}
}

static uint8_t *emit_some(uint8_t *at, unsigned most)
{
	for (unsigned n = 1 + below(most); n; n--)
		at = emit_piece(at);
	return at;
}

/* A jump over some pieces that a random number decides: taken always, never or sometimes. */
static uint8_t *emit_branch(uint8_t *at)
{
	static const char *const masks[] = { "a801", "a807", "a83f", "a800" };
	at = emit(emit_draw(at), masks[below(4)]);
	at = emit(at, below(2) ? "7400" : "7500");
	uint8_t *const from = at;
	do
		at = emit_some(from, 5);
	while (at - from > 127);
	from[-1] = (uint8_t)(at - from);
	return at;
}

/* A loop of several pieces, some with branches and inner loops. stores_code: it seldom stores to its own code. */
static void write_program(uint8_t *code, bool stores_code)
{
	uint8_t *at = emit(code, "48be");
	const uint64_t data = SPACE_DATA;
	memcpy(at, &data, 8);
	at = emit32(emit(at + 8, "48bb"), (uint32_t)draw());
	at = emit(emit32(at, (uint32_t)draw()), "31c031c931d2");
	uint8_t *const top = at;
	for (unsigned n = 1 + below(4); n; n--) {
		at = emit_some(at, 12);
		if (below(2))
			at = emit_branch(at);
		if (!below(3)) {
			at = emit32(emit(at, "41bf"), 1 + below(40));
			uint8_t *const inner = at;
			do
				at = emit_some(inner, 6);
			while (at - inner > 110);
			at = emit(at, "41ffcf7500");
			at[-1] = (uint8_t)(inner - at);
		}
	}
	if (stores_code) { /* once in 64 iterations it stores to a byte of the next instruction's constant */
		at = emit(emit_draw(at), "a83f75068805" "01000000" "b800000000");
	}
	at = emit(at, "48ffcf0f85");
	at = emit32(at, (uint32_t)(top - (at + 4)));
	emit(at, "c3");
}

static void random_loops(const struct machine *m, uint64_t seed, unsigned programs, uint64_t iterations)
{
	struct pair p;
	draw_seed(seed);
	pair_open(&p, m);
	for (unsigned n = 0; n < programs; n++) {
		uint8_t code[PAGE_4K] = { 0 };
		write_program(code, n % 8 == 7);
		for (unsigned w = 0; w < 2; w++) {
			const struct access *a = sim_access(p.sim[w]);
			if (n)
				assert_int_equal(a->ops->unmap(a->self, &p.code[w]), ST_OK);
			assert_int_equal(a->ops->map(a->self, &p.code[w]), ST_OK);
			memcpy(p.code[w].host, code, sizeof(code));
		}
		pair_run(&p, SPACE_SCRATCH, iterations, "random loop", n);
	}
	assert_true(recalled(&p) > 0);
	pair_close(&p);
}

static void test_memo_changes_no_random_loop(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	random_loops(&m, 41, 60, 1500);
	m.core_rs = 9;
	m.core_rob = 21;
	m.front_loop_uops = 0;
	m.core_register_reads = 2;
	random_loops(&m, 42, 30, 1000);
	m = core_bench_machine("core2");
	random_loops(&m, 43, 30, 1000);
	m = core_bench_machine("pentium4");
	random_loops(&m, 44, 30, 1000);
}

static void test_memo_changes_no_random_machine(void **state)
{
	(void)state;
	static char text[1 << 16];
	for (unsigned i = 0; i < 5; i++) {
		struct machine m;
		char problem[200];
		machine_random(20090330, i, text, sizeof(text));
		assert_int_equal(machine_read("random.machine", text, strlen(text), &m, problem, sizeof(problem)), ST_OK);
		m.front_uop_cache = 0; /* machines with a uop cache recall nothing */
		random_loops(&m, 46 + i, 12, 800);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memo_changes_no_kernel_on_nehalem_ep),
		cmocka_unit_test(test_memo_changes_no_kernel_on_core2),
		cmocka_unit_test(test_memo_changes_no_kernel_on_pentium4),
		cmocka_unit_test(test_memo_changes_no_random_loop),
		cmocka_unit_test(test_memo_changes_no_random_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
