/* tests/unit/rigs/core_bench.c: decodes, executes and accounts for instructions in a loop, over flat memory. */
#include <stdarg.h>
#include <stdlib.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/support/sim_look.h"

#define CODE_BYTES 65536u
#define END_IP 0x1000ull

struct core_bench {
	struct machine m;
	struct core_thread *core;
	struct memory *memory;
	struct signals *signals[MACHINE_THREADS_MAX];
	struct hart_regs regs;
	struct exec_env env;
	struct exec_range ranges[EXEC_RANGES];
	uint8_t *data, *code, *stack;
	unsigned code_bytes;
	uint64_t now, instructions;
	void *blocks[MACHINE_THREADS_MAX + 8];
	unsigned block_count;
	struct core_hooks hooks;
	struct insn insns[CODE_BYTES];
	struct core_plan plans[CODE_BYTES];
	bool known[CODE_BYTES];
};

static void *block(struct core_bench *b, size_t bytes)
{
	void *p = calloc(1, (bytes + 4095) & ~(size_t)4095);
	assert_non_null(p);
	return b->blocks[b->block_count++] = p;
}

static void *bench_memory(void *self, uint64_t va, unsigned bytes, bool write)
{
	struct core_bench *b = self;
	(void)write;
	if (va - SPACE_DATA < BENCH_DATA_BYTES - bytes)
		return b->data + (va - SPACE_DATA);
	if (va - SPACE_CONTROL < CONTROL_BYTES)
		return b->stack + (va - SPACE_CONTROL);
	if (va - SPACE_SCRATCH < CODE_BYTES)
		return b->code + (va - SPACE_SCRATCH);
	return NULL;
}

static bool bench_pages(void *self, uint64_t va, struct page_info *out)
{
	(void)self;
	*out = (struct page_info){ .page_bytes = PAGE_2M, .executable = true };
	if (va - SPACE_DATA < BENCH_DATA_BYTES)
		out->pa = 0x10000000 + ((va - SPACE_DATA) & ~(PAGE_2M - 1));
	else if (va - SPACE_CONTROL < CONTROL_BYTES)
		out->pa = 0x200000;
	else if (va - SPACE_SCRATCH < CODE_BYTES)
		out->pa = 0x400000;
	else
		return false;
	return true;
}

static bool bench_code(void *self, uint64_t ip, const struct insn **in, const struct core_plan **plan)
{
	struct core_bench *b = self;
	uint64_t at = ip - SPACE_SCRATCH;
	unsigned bad;
	if (at >= b->code_bytes)
		return false;
	if (!b->known[at]) {
		if (decode(b->code + at, b->code_bytes - at, &b->insns[at], &bad) != ST_OK)
			return false;
		struct insn next;
		uint64_t then = at + b->insns[at].length;
		bool follows = then < b->code_bytes && decode(b->code + then, b->code_bytes - then, &next, &bad) == ST_OK;
		core_plan_make(&b->m, &b->insns[at], follows ? &next : NULL, &b->plans[at]);
		b->known[at] = true;
	}
	*in = &b->insns[at];
	*plan = &b->plans[at];
	return true;
}

struct core_bench *core_bench_open(const struct machine *m)
{
	struct core_bench *b = calloc(1, sizeof(*b));
	assert_non_null(b);
	b->m = *m;
	for (unsigned i = 0; i < m->topology_sockets * m->topology_cores * m->topology_threads; i++)
		b->signals[i] = signals_init(block(b, signals_bytes()));
	signals_attach_heap(b->signals[0]);
	b->memory = memory_init(block(b, memory_bytes(m)), &b->m, b->signals, bench_pages, b);
	memory_prefetchers(b->memory, 0, 15);
	b->data = block(b, BENCH_DATA_BYTES);
	b->stack = block(b, CONTROL_BYTES);
	b->code = block(b, CODE_BYTES);
	b->hooks = (struct core_hooks){ .self = b, .code = bench_code };
	b->core = core_init(block(b, core_bytes(m)), &b->m, 0, 0, b->memory, b->signals[0], &b->hooks, NULL);
	b->env = (struct exec_env){ .self = b, .memory = bench_memory, .ranges = b->ranges };
	return b;
}

void core_bench_close(struct core_bench *b)
{
	while (b->block_count)
		free(b->blocks[--b->block_count]);
	free(b);
}

struct signals *core_bench_signals(struct core_bench *b) { return b->signals[0]; }
uint8_t *core_bench_data(struct core_bench *b) { return b->data; }
uint64_t core_bench_instructions(const struct core_bench *b) { return b->instructions; }
unsigned core_bench_here(const struct core_bench *b) { return b->code_bytes; }

void core_bench_clear(struct core_bench *b)
{
	b->code_bytes = 0;
	memset(b->known, 0, sizeof(b->known));
}

void core_bench_emit(struct core_bench *b, unsigned times, const char *hex)
{
	while (times--) {
		for (const char *h = hex; *h; h += 2) {
			while (*h == ' ')
				h++;
			char byte[3] = { h[0], h[1], 0 };
			assert_true(b->code_bytes < CODE_BYTES);
			b->code[b->code_bytes++] = (uint8_t)strtoul(byte, NULL, 16);
		}
	}
}

void core_bench_loop(struct core_bench *b, unsigned to)
{
	core_bench_emit(b, 1, "48FFCF0F85");
	int32_t offset = (int32_t)to - (int32_t)(b->code_bytes + 4);
	memcpy(b->code + b->code_bytes, &offset, 4);
	b->code_bytes += 4;
}

uint64_t core_bench_run(struct core_bench *b, uint64_t count)
{
	uint64_t rsp = SPACE_CONTROL + CONTROL_BYTES - 8, start = b->now + 10;
	*(uint64_t *)(b->stack + CONTROL_BYTES - 8) = END_IP;
	exec_reset(&b->regs);
	b->regs.gpr[RN_RDI] = count;
	b->regs.gpr[RN_RSI] = SPACE_DATA;
	b->regs.gpr[RN_RSP] = rsp;
	b->regs.rip = SPACE_SCRATCH;
	core_resume(b->core, start, true);
	while (b->regs.rip != END_IP) {
		const struct insn *in;
		const struct core_plan *p;
		struct effects e;
		uint8_t vector = 0;
		uint64_t ip = b->regs.rip;
		if (!bench_code(b, ip, &in, &p))
			fail_msg("no instruction at offset %u", (unsigned)(ip - SPACE_SCRATCH));
		assert_int_equal(exec(&b->regs, in, &b->env, &e, &vector), ST_OK);
		assert_int_equal(core_account(b->core, in, p, &e, ip), ST_OK);
		b->instructions++;
	}
	b->now = core_serialise(b->core);
	return b->now - start;
}

uint64_t core_bench_slope(struct core_bench *b, uint64_t n)
{
	core_bench_run(b, n);
	core_bench_run(b, n); /* the predictor has seen the beginning of a run that follows another */
	uint64_t once = core_bench_run(b, n), twice = core_bench_run(b, 2 * n);
	return (twice - once) * 1000 / n;
}

uint64_t core_bench_loop_cost(const struct machine *m, unsigned times, const char *hex)
{
	struct core_bench *b = core_bench_open(m);
	const unsigned top = core_bench_here(b);
	core_bench_emit(b, times, hex);
	core_bench_loop(b, top);
	core_bench_emit(b, 1, "C3"); /* ret */
	const uint64_t cost = core_bench_slope(b, 300);
	core_bench_close(b);
	return cost;
}

void core_bench_tap(struct core_bench *b, unsigned t, enum signal sig, unsigned cmask, bool inv, bool edge)
{
	struct tap tap = { .on = true, .cmask = (uint8_t)cmask, .inv = inv, .edge = edge };
	tap.listen[sig / 64] |= 1ull << (sig % 64);
	signals_tap(b->signals[0], t, &tap);
}

uint64_t core_bench_count(struct core_bench *b, unsigned t) { return signals_tap_get(b->signals[0], t)->value; }

struct machine core_bench_machine(const char *name)
{
	static struct machine m;
	char problem[200] = "";
	const struct machine_file *f = machine_builtin(name);
	assert_non_null(f);
	if (machine_read(f->name, f->text, f->bytes, &m, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	m.firmware_runs = 0; /* counts are of the test's code alone */
	return m;
}
