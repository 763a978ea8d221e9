/* bench/suite/speed.c: see speed.h. The first run is not counted: it decodes the code and, for cache chases and L1 streams, brings the working
 * set into its level. The number of iterations then doubles until a run lasts long enough. Each run continues where the last one ended. Further
 * runs of that length follow if the clock needs several. */
#include "bench/suite/speed.h"
#include "asm/kernel.h"
#include "bench/measure/layout.h"
#include "pmu/core/concept.h"

#define CHOICES_BYTES PAGE_2M   /* of a branch kernel: one byte an iteration */
#define FIRST_ITERATIONS 256u
#define DRAM_FACTOR 6          /* of the last level, like the suite's chase */
#define BELOW_FACTOR 6         /* of the level below a shared one */
#define SKEW_BYTES 1344        /* between a stream's arrays: no 4 KiB aliases */

const struct speed_case speed_cases[] = {
	{ "add chain", "k_add_chain", SPEED_NOTHING, 0, false },
	{ "nop", "k_nop", SPEED_NOTHING, 0, false },
	{ "store forward", "k_store_forward", SPEED_BUFFER, 0, false },
	{ "branches", "k_branch_conditional", SPEED_CHOICES, 0, false },
	{ "triad in L1", "k_triad_sse2", SPEED_STREAMS, 1, false },
	{ "chase in L1", "k_chase", SPEED_CHASE, 1, false },
	{ "chase in L2", "k_chase", SPEED_CHASE, 2, false },
	{ "chase in L3", "k_chase", SPEED_CHASE, 3, true },
	{ "chase in DRAM", "k_chase", SPEED_CHASE, SPEED_MEMORY, true },
};
const unsigned speed_case_count = COUNT_OF(speed_cases);

static const struct kernel *find(const char *name)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (str_equal(k->name, name))
			return k;
	return NULL;
}

enum status speed_plan(const struct cpu *cpu, struct plan *plan)
{
	static const char *const names[] = { "uops.retired", "retire.stall", "alloc.stall", "load.hit.l1", "uops.issued", "branch.retired", "llc.miss", "instructions" };
	const struct event *events[4];
	unsigned n = 0;
	memset(plan, 0, sizeof(*plan));
	for (unsigned i = 0; i < COUNT_OF(names) && n < COUNT_OF(events) && n < bit_count(cpu->general_mask); i++) {
		const struct event *e = concept_event(cpu->processor, names[i]);
		const char *problem;
		if (!e)
			continue;
		events[n] = e;
		if (plan_events(cpu, events, n + 1, plan, &problem) == ST_OK && plan->runs == 1)
			n++;
	}
	if (!n) {
		memset(plan, 0, sizeof(*plan));
		return ST_OK;
	}
	const char *problem;
	return plan_events(cpu, events, n, plan, &problem);
}

/* The working set of one core. */
struct set { struct mapping map; struct shape shape; uint64_t at; };

static enum status size_of(const struct cpu *cpu, const struct speed_case *c, struct shape *s)
{
	const unsigned last = cpu_last_level(cpu);
	const struct cpu_cache *here = cpu_cache(cpu, c->level <= last ? c->level : last);
	uint64_t bytes = CHOICES_BYTES;
	memset(s, 0, sizeof(*s));
	s->line_bytes = 64;
	s->page_bytes = PAGE_2M;
	s->order = ORDER_LINES;
	if (c->set == SPEED_CHASE || c->set == SPEED_STREAMS) {
		if (!here || (c->level > last && c->level != SPEED_MEMORY))
			return ST_UNSUPPORTED;
		const struct cpu_cache *below = cpu_cache(cpu, c->level - 1);
		bytes = c->level > last ? here->bytes * DRAM_FACTOR : here->bytes / 3 * 2;
		if (c->level > 2 && c->level <= last && below && bytes > below->bytes * BELOW_FACTOR)
			bytes = below->bytes * BELOW_FACTOR;
		s->array_bytes = 4096;
		while (s->array_bytes * 2 * 3 <= here->bytes)
			s->array_bytes *= 2;
	}
	s->nodes = (uint32_t)(bytes / 64 / 16 * 16);
	s->bytes = c->set == SPEED_STREAMS ? 3 * s->array_bytes + 2 * SKEW_BYTES : (uint64_t)s->nodes * 64;
	s->span_bytes = s->bytes;
	return ST_OK;
}

static enum status fill(const struct access *a, const struct speed_case *c, struct set *set, unsigned core)
{
	struct random random;
	random_init(&random, core + 1);
	set->at = c->set == SPEED_CHASE ? set->map.va : 0;
	if (c->set == SPEED_CHOICES)
		for (unsigned i = 0; i < CHOICES_BYTES; i++)
			((uint8_t *)set->map.host)[i] = (uint8_t)(random_next(&random) >> 63);
	if (c->set != SPEED_CHASE)
		return ST_OK;
	/* the shuffle works in memory of the same backend, which also has host addresses */
	struct mapping work = { .va = SPACE_DATA + SPEED_CORES_MAX * PAGE_1G, .page_bytes = PAGE_2M };
	work.bytes = (2 * sizeof(uint32_t) * (uint64_t)set->shape.nodes + PAGE_2M - 1) / PAGE_2M * PAGE_2M;
	enum status st = a->ops->map(a->self, &work);
	if (st != ST_OK)
		return st;
	shape_link(&set->shape, &set->map, &random, work.host);
	return a->ops->unmap(a->self, &work);
}

static enum status run(const struct access *a, const struct cpu *cpu, const struct plan *plan, const struct speed_case *c,
                       const struct kernel *k, struct set *sets, unsigned cores, uint64_t iterations)
{
	const struct kernel *measure = find("k_measure");
	struct job jobs[SPEED_CORES_MAX];
	for (unsigned i = 0; i < cores; i++) {
		struct measure_block *b = a->ops->control(a->self, i);
		if (!b || !measure)
			return ST_BROKEN;
		memset(b, 0, sizeof(*b));
		b->kernel = SPACE_CODE + k->offset;
		b->serialise = cpu->processor->serialise_cpuid;
		b->counters = plan->count;
		for (unsigned n = 0; n < plan->count; n++)
			b->index[n] = plan->slots[n].rdpmc_index;
		if (c->set == SPEED_STREAMS) {
			const uint64_t stride = sets[i].shape.array_bytes + SKEW_BYTES / 64 * 64;
			b->argument[0] = sets[i].map.va;
			b->argument[1] = sets[i].map.va + stride;
			b->argument[2] = sets[i].map.va + 2 * stride;
			b->argument[4] = sets[i].shape.array_bytes - 1;
			b->argument[5] = sets[i].at;
		} else if (c->set != SPEED_NOTHING) {
			b->argument[0] = c->set == SPEED_CHASE ? sets[i].at : sets[i].map.va;
		}
		b->argument[k->count_argument] = iterations;
		jobs[i] = (struct job){ .core = i, .entry = SPACE_CODE + measure->offset,
		                        .argument = control_va(a, i) };
	}
	enum status st = a->ops->run(a->self, jobs, cores, UINT64_MAX / 4);
	for (unsigned i = 0; i < cores && st == ST_OK; i++) {
		const struct measure_block *b = a->ops->control(a->self, i);
		sets[i].at = b->result;
		for (unsigned n = 0; n < plan->count && i == 0; n++)
			if (plan->slots[n].event == concept_event(cpu->processor, "uops.retired") && b->after[n] == b->before[n])
				st = ST_BROKEN; /* the counters were not enabled, so this is the speed of something else */
	}
	return st;
}

static enum status timed(const struct access *a, const struct cpu *cpu, const struct plan *plan, const struct speed_case *c,
                         struct set *sets, unsigned cores, const struct speed_clock *clock, uint64_t least_ns,
                         struct speed_result *out)
{
	const struct kernel *k = find(c->kernel);
	uint64_t n = FIRST_ITERATIONS;
	if (!k)
		return ST_MISSING;
	if (c->set == SPEED_CHASE && c->level <= cpu_last_level(cpu))
		n = sets[0].shape.nodes / k->loads * 2;
	enum status st = run(a, cpu, plan, c, k, sets, cores, n);
	n = FIRST_ITERATIONS;
	bool longest = false;
	for (unsigned left = clock->runs; st == ST_OK && left;) {
		const uint64_t from = clock->now_ns(clock->self);
		st = run(a, cpu, plan, c, k, sets, cores, n);
		const uint64_t ns = clock->now_ns(clock->self) - from;
		if (!longest || ns < out->ns)
			out->ns = ns;
		out->instructions = cores * (n * k->instructions + k->fixed_instructions);
		longest = longest || ns >= least_ns || (c->set == SPEED_CHOICES && 2 * n > CHOICES_BYTES);
		if (longest)
			left--;
		else
			n *= 2;
	}
	return st;
}

enum status speed_measure(const struct access *a, const struct cpu *cpu, const struct plan *plan, const struct speed_case *c,
                          unsigned cores, const struct speed_clock *clock, uint64_t least_ns, struct speed_result *out)
{
	struct set sets[SPEED_CORES_MAX];
	unsigned mapped = 0, started = 0;
	enum status st = cores <= SPEED_CORES_MAX && cores <= a->cores ? ST_OK : ST_UNSUPPORTED;
	memset(sets, 0, sizeof(sets));
	for (; mapped < cores && st == ST_OK && c->set != SPEED_NOTHING; mapped++) {
		struct set *s = &sets[mapped];
		st = size_of(cpu, c, &s->shape);
		if (st != ST_OK)
			break;
		s->map = (struct mapping){ .va = SPACE_DATA + mapped * PAGE_1G, .page_bytes = PAGE_2M,
		                           .node = a->core_node ? a->core_node[mapped] : 0,
		                           .bytes = (s->shape.span_bytes + PAGE_2M - 1) / PAGE_2M * PAGE_2M };
		st = a->ops->map(a->self, &s->map);
		if (st != ST_OK)
			break;
		st = fill(a, c, s, mapped);
	}
	for (; started < cores && plan->count && st == ST_OK; started++)
		st = counters_start(a, cpu, plan, 0, started);
	if (st == ST_OK)
		st = timed(a, cpu, plan, c, sets, cores, clock, least_ns, out);
	while (started) {
		const enum status off = counters_stop(a, cpu, plan, 0, --started);
		st = st == ST_OK ? off : st;
	}
	while (mapped) {
		const enum status gone = a->ops->unmap(a->self, &sets[--mapped].map);
		st = st == ST_OK ? gone : st;
	}
	return st;
}
