/* bench/measure/window.c: one run of one kernel under the measuring wrapper; windows of a given number of units of a working set. */
#include "bench/measure/codegen.h"
#include "bench/measure/cores.h"
#include "pmu/sampling_gate.h"

#define PAGES_AHEAD 64u  /* most pages whose translations a job loads first: a first-level TLB holds no more */
#define EVENTS_AHEAD 2u  /* a pair's job first runs its `events` this many times */
#define LAPS_AHEAD  4u   /* laps of a ring that a job runs first: random replacement does not keep all lines at once */
#define READINGS 3u       /* on real machines, where other activity only lengthens a chain */
#define READINGS_CHECK 25u
#define CHECK_SHARE 25    /* the chains agree to 1/N */
#define CHECKS 8u         /* on real machines: the clock may change between two chains */
#define PRODUCTS_PART 2u  /* 1/N as many products as additions: each takes longer */

enum status window_run(struct bench *b, const struct kernel *k, const uint64_t arguments[6],
                       const struct counting *c, unsigned run, struct window *out, struct job *job)
{
	return window_run_on(b, b->core, k, arguments, c, run, out, job);
}

/* A job begins without translations. This one loads them first, by flushing the first line of each page of a working set in memory. Where proofs
 * allow no TLB misses, the longer window would otherwise miss for pages that the shorter one does not touch. */
static enum status load_ahead(const struct mapping *m, struct measure_block *block, struct job *job)
{
	const struct kernel *ahead = kernel_find("k_measure_ahead"), *flush = kernel_find("k_flush");
	const uint64_t pages = m->bytes / m->page_bytes;

	if (!ahead || !flush)
		return ST_BROKEN;
	if (pages > PAGES_AHEAD)
		return ST_OK;
	block->ahead = SPACE_CODE + flush->offset;
	block->ahead_argument[0] = m->va;
	block->ahead_argument[1] = pages;
	block->ahead_argument[2] = m->page_bytes;
	block->wrapper = job->entry;
	job->entry = SPACE_CODE + ahead->offset;
	return ST_OK;
}

/* The code between two jobs evicts lines from the L1. A job on a working set in the L1 therefore reloads it before the window begins: a ring in
 * several laps, streams in one. */
static enum status reload_ahead(const struct bench *b, const struct working_set *w, struct measure_block *block, struct job *job)
{
	const struct kernel *ahead = kernel_find("k_measure_ahead");
	const uint64_t lap = w->shape.order == ORDER_PAIR ? EVENTS_AHEAD * w->pair->events : w->shape.order == ORDER_STREAMS ? w->shape.array_bytes / w->shape.step_bytes : (uint64_t)w->shape.nodes * LAPS_AHEAD + w->kernel->loads;

	if (!ahead)
		return ST_BROKEN;
	block->ahead = SPACE_CODE + w->kernel->offset;
	window_arguments(b, w, lap, block->ahead_argument);
	block->wrapper = job->entry;
	job->entry = SPACE_CODE + ahead->offset;
	return ST_OK;
}

enum status window_load(struct bench *b, unsigned core, const struct kernel *k, const uint64_t arguments[6],
                        const struct counting *c, unsigned run, struct job *job)
{
	struct measure_block *block = b->a->ops->control(b->a->self, core);
	const struct sampling_gate *gate = core == b->core ? b->gate : NULL;
	const struct kernel *wrapper = kernel_find(gate ? "k_measure_sampled" : "k_measure");

	if (!block || !wrapper)
		return ST_BROKEN;
	memset(block, 0, sizeof(*block));
	block->kernel = SPACE_CODE + k->offset;
	for (unsigned i = 0; i < 6; i++)
		block->argument[i] = arguments[i];
	block->serialise = b->cpu->processor->serialise_cpuid;
	if (c && c->on)
		for (unsigned i = 0; i < c->events; i++)
			if (c->plan.slots[i].run == run)
				block->index[block->counters++] = c->plan.slots[i].rdpmc_index;
	memset(job, 0, sizeof(*job));
	job->core = core;
	job->entry = SPACE_CODE + wrapper->offset;
	if (gate) {
		sampling_gate_load(gate, block);
		job->gate = gate;
		job->undo = SPACE_CODE + kernel_find("k_measure_off")->offset;
	}
	job->argument = control_va(b->a, core);
	if (b->reloaded)
		return reload_ahead(b, b->reloaded, block, job);
	return b->ahead ? load_ahead(b->ahead, block, job) : ST_OK;
}

enum status window_cold(struct job *job)
{
	const struct kernel *wrapper = kernel_find("k_measure_cold");

	if (!wrapper)
		return ST_BROKEN;
	job->entry = SPACE_CODE + wrapper->offset;
	return ST_OK;
}

void window_read(struct bench *b, unsigned core, const struct counting *c, unsigned run, struct window *out)
{
	const struct measure_block *block = b->a->ops->control(b->a->self, core);
	unsigned n = 0;

	memset(out, 0, sizeof(*out));
	if (!block)
		return;
	out->began = block->tsc_before;
	out->tsc = block->tsc_after - block->tsc_before;
	out->result = block->result;
	for (unsigned i = 0; c && c->on && i < c->events; i++) {
		const struct plan_slot *s = &c->plan.slots[i];
		unsigned width = s->fixed ? b->cpu->fixed_width : b->cpu->general_width;
		uint64_t mask = width && width < 64 ? (1ull << width) - 1 : UINT64_MAX;

		if (s->run != run)
			continue;
		out->counts[i] = (block->after[n] - block->before[n]) & mask;
		n++;
	}
	if (core == b->core)
		noise_check_elapsed(b, c, run, out);
}

enum status window_run_on(struct bench *b, unsigned core, const struct kernel *k, const uint64_t arguments[6],
                          const struct counting *c, unsigned run, struct window *out, struct job *job)
{
	enum status st;

	if (core == b->core)
		noise_check_look_at_elapsed(b, c, run);
	st = window_load(b, core, k, arguments, c, run, job);
	if (st == ST_OK)
		st = b->a->ops->run(b->a->self, job, 1, 0);
	if (st == ST_OK)
		window_read(b, core, c, run, out);
	return st;
}

/* --- core cycles where there is no cycle counter: the time of a chain of dependent additions of one cycle each
 *
 * A core whose rename unit does additions (Golden Cove: those of small constants) takes less than a cycle for each. So a second chain, of
 * products, which no rename unit computes, must take imul_cycles times as long; otherwise the core's cycles are not known.
 *
 * Not detected: a core on which both chains are off by the same factor. */

/* TSC ticks of the given number of operations of a chain, 16 per iteration, as the difference of a window with that number and one with twice as
 * many. */
static enum status chain_ticks(struct bench *b, const char *kernel, uint64_t operations, unsigned readings, struct job *job, int64_t *ticks)
{
	const struct kernel *k = kernel_find(kernel);
	uint64_t least[2] = { UINT64_MAX, UINT64_MAX };
	struct window w;

	for (unsigned i = 0; i < 2 * (readings + 1); i++) { /* the first pair warms up the code and is discarded */
		uint64_t arguments[6] = { operations / CHAIN_OPERATIONS << i % 2 };
		enum status st = k ? window_run(b, k, arguments, NULL, 0, &w, job) : ST_BROKEN;

		if (st != ST_OK)
			return st;
		if (i >= 2 && w.tsc < least[i % 2])
			least[i % 2] = w.tsc;
	}
	*ticks = least[1] > least[0] ? (int64_t)(least[1] - least[0]) : 1;
	return ST_OK;
}

enum status window_clock(struct bench *b, struct job *job, int64_t *tick_micro)
{
	int64_t ticks;
	enum status st = chain_ticks(b, "k_add_chain", CLOCK_ADDS, b->a->kind == ACCESS_SIM ? 1 : READINGS, job, &ticks);

	if (st == ST_OK)
		*tick_micro = mul_div(CLOCK_ADDS, 1000000, ticks);
	return st;
}

enum status window_clock_follow(struct bench *b, const struct counting *c, struct job *job, int64_t *tick_micro)
{
	return c->on || b->a->kind == ACCESS_SIM ? ST_OK : window_clock(b, job, tick_micro);
}

static bool is_near(int64_t milli, int64_t wanted)
{
	return milli >= wanted - wanted / CHECK_SHARE && milli <= wanted + wanted / CHECK_SHARE;
}

bool window_clock_agrees(struct bench *b, struct text *why)
{
	const unsigned readings = b->a->kind == ACCESS_SIM ? 1 : READINGS_CHECK;
	const int64_t wanted = b->cpu->processor->imul_cycles * 1000;
	int64_t adds, products;
	struct job job;

	if (b->cycles)
		return true;
	for (unsigned i = 0; i < (b->a->kind == ACCESS_SIM ? 1 : CHECKS) && !b->chains_compared; i++) {
		if (chain_ticks(b, "k_add_chain", CLOCK_ADDS, readings, &job, &adds) != ST_OK ||
		    chain_ticks(b, "k_imul_chain", CLOCK_ADDS / PRODUCTS_PART, readings, &job, &products) != ST_OK)
			return true; /* the row's own windows say what does not work */
		b->product_milli = mul_div(products, 1000 * PRODUCTS_PART, adds);
		b->chains_compared = is_near(b->product_milli, wanted);
	}
	b->chains_compared = true;
	if (is_near(b->product_milli, wanted))
		return true;
	text_fmt(why, "core cycles are not known: a product took ");
	text_fixed(why, b->product_milli, 3);
	text_fmt(why, " dependent additions, not %u", b->cpu->processor->imul_cycles);
	return false;
}

/* ------------------------------------------------------------------------------------------------- */

/* Units of work: loads of a chase, iterations of a stream, events of a pair. */
static uint64_t iterations_of(const struct working_set *w, uint64_t units)
{
	if (w->shape.order == ORDER_PAIR)
		return units * w->pair->iterations / w->pair->events;
	if (w->shape.order == ORDER_STREAMS)
		return units;
	return units < w->kernel->loads ? 1 : units / w->kernel->loads; /* with fewer nodes, more than one lap */
}

void window_arguments(const struct bench *b, const struct working_set *w, uint64_t units, uint64_t arguments[6])
{
	uint64_t iterations = iterations_of(w, units);

	memset(arguments, 0, 6 * sizeof(arguments[0]));
	if (w->shape.order == ORDER_STREAMS) {
		arguments[0] = w->map.va + w->shape.start_bytes;
		arguments[1] = arguments[0] + shape_stride_bytes(&w->shape);
		arguments[2] = arguments[1] + shape_stride_bytes(&w->shape);
		arguments[3] = iterations;
		arguments[4] = w->shape.array_bytes - 1;
		arguments[5] = w->at;
	} else if (w->shape.order == ORDER_PAIR) {
		arguments[0] = w->map.va;
		if (w->code) {
			arguments[0] = codegen_start(w->code, w->code_map.va);
			arguments[2] = codegen_pointer(w->code, w->code_map.va, w->map.va);
		}
		if (w->pair->beyond_l1)
			arguments[2] = w->shape.bytes - 1;
		arguments[w->kernel->count_argument] = iterations;
	} else {
		arguments[0] = w->at;
		arguments[1] = iterations;
		arguments[2] = control_va(b->a, b->core);
	}
}

enum status window_units(struct bench *b, struct working_set *w, uint64_t units, const struct counting *c,
                             unsigned run, struct window *out, struct job *job)
{
	uint64_t arguments[6];
	enum status st;

	window_arguments(b, w, units, arguments);
	st = window_run(b, w->kernel, arguments, c, run, out, job);
	if (st == ST_OK)
		w->at = out->result;
	return st;
}

bool window_reloads(const struct bench *b, const struct row *r, const struct working_set *w, enum window_role role)
{
	const bool test = role == WINDOW_TEST;
	const struct cpu_cache *l1 = cpu_cache(b->cpu, 1);
	const bool fits = l1 && w->shape.bytes <= l1->bytes;

	if (w->shape.order == ORDER_PAIR)
		return w->pair->ahead;
	if (w->shape.order == ORDER_LINES || !test)
		return w->shape.order == ORDER_LINES && (test ? r->target == TARGET_L1 : fits);
	return w->shape.order == ORDER_PAGES ? fits && w->shape.bytes >= l1->bytes / 2 : w->shape.order == ORDER_STREAMS && r->target == TARGET_L1;
}

enum status window_units_reloaded(struct bench *b, const struct row *r, struct working_set *w, enum window_role role, uint64_t units, const struct counting *c,
                                  unsigned run, struct window *out, struct job *job)
{
	enum status st;

	b->reloaded = window_reloads(b, r, w, role) ? w : NULL;
	st = window_units(b, w, units, c, run, out, job);
	b->reloaded = NULL;
	return st;
}

void window_order(struct loop *l, uint32_t *order, unsigned n, bool longer_first)
{
	random_shuffle(&l->b->random, order, n);
	for (unsigned i = 0; loop_has_neighbours(l) && i < n; i += 2) {
		unsigned j = i + 1;
		const uint32_t kind = order[i] / 2;

		while (order[j] / 2 != kind)
			j++;
		order[j] = order[i + 1];
		order[i] = 2 * kind + longer_first;
		order[i + 1] = 2 * kind + !longer_first;
	}
}
