/* tests/judge/judge.c: input for the judges of the simulated machine, and its own results to compare.
 *
 *   judge plan FILE             writes every kernel's call at two lengths for the icount guest
 *   judge retired MACHINE       the same calls on the simulated machine: "NAME INSTRUCTIONS" by its counter
 *   judge stream FILE WORDS PASSES SEED   "LOADS L1-HITS L2-HITS" of tests/judge/ring.h's chase on a machine file
 *   judge loops MACHINE         "NAME CYCLES_MILLI INSTRUCTIONS" an iteration, from the difference of two lengths
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "asm/kernel.h"
#include "pmu/access.h"
#include "pmu/sim/backend/sim.h"
#include "runner/host/backend.h"
#include "tests/judge/plan.h"
#include "tests/judge/ring.h"
#include "tests/unit/support/kernel_start.h"

#define LENGTHS 2
static const uint64_t lengths[LENGTHS] = { 10, 50 };

static _Noreturn void die(const char *what)
{
	fprintf(stderr, "judge: %s\n", what);
	exit(2);
}

static uint64_t offset_of(const char *kernel)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (!strcmp(k->name, kernel))
			return k->offset;
	die("a kernel is missing");
}

/* The wrapper calls kernels; it is part of every call. */
static bool is_wrapper(const struct kernel *k)
{
	return !strncmp(k->name, "k_measure", 9);
}

static void call_of(const struct kernel *k, uint64_t iterations, struct judge_call *c)
{
	enum kernel_start start = kernel_start_find(k->name);
	memset(c, 0, sizeof(*c));
	if (start == START_UNKNOWN)
		die("a kernel has no start in tests/unit/support/kernel_start.c");
	snprintf(c->kernel, sizeof(c->kernel), "%s/%llu", k->name, (unsigned long long)iterations);
	c->offset = k->offset;
	c->isa = k->isa;
	kernel_start_arguments(k, start, iterations, c->argument);
}

static int write_plan(const char *file)
{
	struct judge_plan plan = { .magic = JUDGE_MAGIC, .measure = offset_of("k_measure"), .memory_bytes = START_BYTES };
	uint8_t *memory = malloc(START_BYTES);
	FILE *f = fopen(file, "wb");
	if (!f || !memory)
		die("cannot write the plan");
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		plan.calls += is_wrapper(k) ? 0 : LENGTHS;
	fwrite(&plan, sizeof(plan), 1, f);
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		for (unsigned i = 0; i < LENGTHS && !is_wrapper(k); i++) {
			struct judge_call c;
			call_of(k, lengths[i], &c);
			fwrite(&c, sizeof(c), 1, f);
		}
	kernel_start_fill(memory);
	fwrite(memory, START_BYTES, 1, f);
	free(memory);
	return fclose(f) ? 2 : 0;
}

/* ---- on the simulated machine --------------------------------------------------------------- */

struct rig {
	struct machine machine;
	struct sim *sim;
	const struct access *a;
	struct mapping memory;
};

static void rig_open_text(struct rig *r, const char *name, const char *text, size_t bytes)
{
	static const struct sim_memory pages = { NULL, backend_pages_get, backend_pages_put };
	char problem[256];
	memset(r, 0, sizeof(*r));
	if (machine_read(name, text, bytes, &r->machine, problem, sizeof(problem)) != ST_OK)
		die(problem);
	if (sim_open(&r->machine, &pages, &r->sim) != ST_OK)
		die("the machine does not open");
	r->a = sim_access(r->sim);
	r->memory = (struct mapping){ .va = SPACE_DATA, .bytes = PAGE_2M, .page_bytes = PAGE_2M };
	if (r->a->ops->map(r->a->self, &r->memory) != ST_OK)
		die("no memory");
	/* Fixed counters 0 and 1 at CPL 0 (SDM vol. 3, 18.2.2): instructions retired, core cycles. */
	if (r->a->ops->wrmsr(r->a->self, 0, 0x38D, 0x11) != ST_OK ||
	    r->a->ops->wrmsr(r->a->self, 0, 0x38F, 3ull << 32) != ST_OK)
		die("the fixed counters cannot be had");
}

static void rig_open(struct rig *r, const char *name)
{
	const struct machine_file *file = machine_builtin(name);
	if (!file)
		die("no such machine");
	rig_open_text(r, file->name, file->text, file->bytes);
}

struct counts { uint64_t instructions, cycles; };

static void rig_call(struct rig *r, const struct judge_call *c, bool fill, struct counts *out)
{
	struct measure_block *b = r->a->ops->control(r->a->self, 0);
	struct job job = { .entry = SPACE_CODE + offset_of("k_measure"), .argument = SPACE_CONTROL };
	if (fill)
		kernel_start_fill(r->memory.host);
	memset(b, 0, sizeof(*b));
	b->kernel = SPACE_CODE + c->offset;
	memcpy(b->argument, c->argument, sizeof(c->argument));
	b->counters = 2;
	b->index[0] = 1u << 30;
	b->index[1] = 1u << 30 | 1;
	if (r->a->ops->run(r->a->self, &job, 1, 0) != ST_OK)
		die(c->kernel);
	out->instructions = b->after[0] - b->before[0];
	out->cycles = b->after[1] - b->before[1];
}

static int print_retired(const char *machine)
{
	struct rig r;
	rig_open(&r, machine);
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		for (unsigned i = 0; i < LENGTHS && !is_wrapper(k); i++) {
			struct judge_call c;
			struct counts n;
			call_of(k, lengths[i], &c);
			rig_call(&r, &c, true, &n);
			printf("%s %llu\n", c.kernel, (unsigned long long)n.instructions);
		}
	sim_close(r.sim);
	return 0;
}

/* Steady state: the difference of two lengths is 200 iterations, which stay within the L1 data cache; passes before the last
 * one warm up. The longer length runs before each, so that the page walk with which a job begins finds the same lines cached. */
static int print_loops(const char *machine)
{
	struct rig r;
	rig_open(&r, machine);
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++) {
		struct judge_call c[2];
		struct counts n[2];
		if (is_wrapper(k) || !k->instructions)
			continue;
		kernel_start_fill(r.memory.host);
		for (unsigned pass = 0; pass < 3; pass++)
			for (unsigned i = 0; i < 2; i++) {
				call_of(k, 300, &c[i]);
				rig_call(&r, &c[i], false, &n[i]);
				call_of(k, i ? 300 : 100, &c[i]);
				rig_call(&r, &c[i], false, &n[i]);
			}
		printf("%s %llu %llu\n", k->name, (unsigned long long)((n[1].cycles - n[0].cycles) * 1000 / 200),
		       (unsigned long long)((n[1].instructions - n[0].instructions) / 200));
	}
	sim_close(r.sim);
	return 0;
}

/* General counters 0 and 1: MEM_LOAD_RETIRED.L1D_HIT and L2_HIT (CBh, 01h and 02h; NehalemEP_core.json). */
static int print_stream(char **words)
{
	static char text[65536];
	struct rig r;
	FILE *f = fopen(words[2], "rb");
	size_t bytes = f ? fread(text, 1, sizeof(text), f) : 0;
	uint32_t n = (uint32_t)strtoul(words[3], NULL, 10);
	uint32_t *order = malloc(n * sizeof(*order));
	static const struct { uint32_t msr; uint64_t value; } set[] = {
		{ 0x1A4, 0xF }, { 0x186, 0x4201CB }, { 0x187, 0x4202CB }, { 0x38F, 3ull << 32 | 3 },
	};
	if (!bytes || !order || fclose(f) || 8ull * n > PAGE_2M)
		die("stream: the machine file or WORDS");
	rig_open_text(&r, "two-level", text, bytes);
	for (unsigned i = 0; i < COUNT_OF(set); i++)
		if (r.a->ops->wrmsr(r.a->self, 0, set[i].msr, set[i].value) != ST_OK)
			die("stream: a register");
	ring_link(r.memory.host, r.memory.va, n, strtoul(words[5], NULL, 10), order);
	struct measure_block *b = r.a->ops->control(r.a->self, 0);
	struct job job = { .entry = SPACE_CODE + offset_of("k_measure"), .argument = SPACE_CONTROL };
	memset(b, 0, sizeof(*b));
	b->kernel = SPACE_CODE + offset_of("k_chase");
	b->argument[0] = SPACE_DATA;
	b->argument[1] = strtoul(words[4], NULL, 10) * n / 16; /* k_chase: 16 loads an iteration */
	b->counters = 2;
	b->index[1] = 1;
	if (r.a->ops->run(r.a->self, &job, 1, 0) != ST_OK)
		die("stream: the run");
	printf("%llu %llu %llu\n", (unsigned long long)b->argument[1] * 16, (unsigned long long)(b->after[0] - b->before[0]),
	       (unsigned long long)(b->after[1] - b->before[1]));
	free(order);
	sim_close(r.sim);
	return 0;
}

int main(int count, char **words)
{
	if (count == 3 && !strcmp(words[1], "plan"))
		return write_plan(words[2]);
	if (count == 3 && !strcmp(words[1], "retired"))
		return print_retired(words[2]);
	if (count == 3 && !strcmp(words[1], "loops"))
		return print_loops(words[2]);
	if (count == 6 && !strcmp(words[1], "stream"))
		return print_stream(words);
	die("usage: judge plan FILE | retired MACHINE | loops MACHINE | stream FILE WORDS PASSES SEED");
}
