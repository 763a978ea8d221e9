/* bench/workloads/workload_account_window.c: windows of the accounting: counters that start and stop together around a workload. */
#include "bench/workloads/workload_account_parts.h"

#define FIXED_CYCLES 1u        /* SDM vol. 3, table 18-2 */
#define FIXED_REFERENCE 2u     /* at the TSC's rate */
#define PAIRS_SIMULATED 1u
#define PAIRS_WANTED 11u
#define ROUNDS_FACTOR 3u       /* pairs at most, per pair wanted: disturbed ones are repeated */
#define COMPANION_FACTOR 2u    /* the sibling runs twice as long */

/* One window of that many iterations on all threads. */
static enum status run_window(struct gated *g, const struct ask_run *run, uint64_t iterations)
{
	const char *const wrappers[2] = { g->gated ? "k_measure_gated" : "k_measure", "k_measure" };
	struct bench *b = g->b;
	struct job jobs[2];
	enum status st = ST_OK;

	memset(jobs, 0, sizeof(jobs));
	for (unsigned i = 0; i < g->threads && st == ST_OK; i++)
		st = work_prepare(&g->work[i], i ? iterations * COMPANION_FACTOR : iterations, &g->job);
	for (unsigned i = 0; i < g->threads && st == ST_OK; i++) {
		struct work *w = &g->work[i];
		struct measure_block *block = b->a->ops->control(b->a->self, w->core);
		const struct kernel *wrapper = kernel_find(wrappers[i]);

		if (!block || !wrapper)
			return ST_BROKEN;
		memset(block, 0, sizeof(*block));
		block->kernel = SPACE_CODE + w->kernel->offset;
		block->serialise = b->cpu->processor->serialise_cpuid;
		block->gate = g->gate;
		for (unsigned k = 0; !g->gated && !i && k <= run->count; k++)
			block->index[block->counters++] = run->plan.slots[k].rdpmc_index;
		work_arguments(w, i ? iterations * COMPANION_FACTOR : iterations, block->argument);
		jobs[i].core = w->core;
		jobs[i].entry = SPACE_CODE + wrapper->offset;
		jobs[i].argument = control_va(b->a, w->core);
	}
	if (st != ST_OK)
		return st;
	st = b->a->ops->run(b->a->self, jobs, g->threads, 0);
	g->job = jobs[g->threads > 1 && jobs[0].status == ST_OK];
	for (unsigned i = 0; i < g->threads && st == ST_OK; i++) {
		const struct measure_block *block = b->a->ops->control(b->a->self, g->work[i].core);

		work_goes_on(&g->work[i], block->result);
	}
	return st;
}

enum counter { COUNTER_GENERAL, COUNTER_FIXED };

static enum status read_one(const struct bench *b, uint32_t index, enum counter counter, uint64_t *value)
{
	unsigned width = counter == COUNTER_FIXED ? b->cpu->fixed_width : b->cpu->general_width;
	enum status st = b->a->ops->rdpmc(b->a->self, b->core, index, value);

	*value &= width && width < 64 ? (1ull << width) - 1 : UINT64_MAX;
	return st;
}

struct reading { uint64_t cycles, reference, asks[RUN_ASKS]; };

static enum status read_all(const struct bench *b, const struct ask_run *run, struct reading *out)
{
	enum status st = read_one(b, 1u << 30 | FIXED_CYCLES, COUNTER_FIXED, &out->cycles);

	out->reference = 0;
	if (st == ST_OK && b->cpu->fixed_mask >> FIXED_REFERENCE & 1)
		st = read_one(b, 1u << 30 | FIXED_REFERENCE, COUNTER_FIXED, &out->reference);
	for (unsigned i = 0; i < run->count && st == ST_OK; i++)
		st = read_one(b, run->plan.slots[i].rdpmc_index, run->plan.slots[i].fixed ? COUNTER_FIXED : COUNTER_GENERAL, &out->asks[i]);
	return st;
}

static uint64_t moved(const struct bench *b, enum counter counter, uint64_t before, uint64_t after)
{
	unsigned width = counter == COUNTER_FIXED ? b->cpu->fixed_width : b->cpu->general_width;

	return (after - before) & (width && width < 64 ? (1ull << width) - 1 : UINT64_MAX);
}

/* Counts read at both ends of the window just run. */
static enum status read_window(const struct bench *b, const struct ask_run *run, struct reading *out)
{
	const struct measure_block *block = b->a->ops->control(b->a->self, b->core);

	memset(out, 0, sizeof(*out));
	if (!block)
		return ST_BROKEN;
	for (unsigned i = 0; i < run->count; i++)
		out->asks[i] = moved(b, COUNTER_GENERAL, block->before[i], block->after[i]);
	out->cycles = moved(b, COUNTER_GENERAL, block->before[run->count], block->after[run->count]);
	return ST_OK;
}

/* The counts of a window. */
static enum status one_window(struct gated *g, const struct ask_run *run, uint64_t iterations, struct reading *out, bool *disturbed)
{
	struct reading before;
	enum status st = g->gated ? read_all(g->b, run, &before) : ST_OK;

	if (st == ST_OK) {
		noise_check_before(g->b);
		st = run_window(g, run, iterations);
	}
	if (st != ST_OK)
		return st;
	*disturbed = noise_check_after(g->b) || *disturbed;
	if (!g->gated)
		return read_window(g->b, run, out);
	st = read_all(g->b, run, out);
	out->cycles = moved(g->b, COUNTER_FIXED, before.cycles, out->cycles);
	out->reference = moved(g->b, COUNTER_FIXED, before.reference, out->reference);
	for (unsigned i = 0; i < run->count; i++)
		out->asks[i] = moved(g->b, run->plan.slots[i].fixed ? COUNTER_FIXED : COUNTER_GENERAL, before.asks[i], out->asks[i]);
	return st;
}

/* Where counters are read one after the other, the first window of a run misses on the lines that hold their indices. Counters read first would
 * count during those misses. A short window brings the lines in. */
static enum status bring_indices(struct gated *g, const struct ask_run *run)
{
	return g->gated ? ST_OK : run_window(g, run, 1);
}

/* Pairs of windows; kept[] gets the longer window's counts minus the shorter's. */
static enum status pairs_of(struct gated *g, const struct ask_run *run, uint64_t iterations, struct reading *kept, unsigned wanted, unsigned *n)
{
	for (unsigned round = 0; round < wanted * ROUNDS_FACTOR && *n < wanted; round++) {
		struct reading window[2];
		bool disturbed = false;

		for (unsigned longer = 0; longer < 2; longer++) {
			enum status st = one_window(g, run, iterations << longer, &window[longer], &disturbed);

			if (st != ST_OK)
				return st;
		}
		if (disturbed)
			continue;
		kept[*n].cycles = window[1].cycles - window[0].cycles;
		kept[*n].reference = window[1].reference - window[0].reference;
		for (unsigned i = 0; i < run->count; i++)
			kept[*n].asks[i] = window[1].asks[i] - window[0].asks[i];
		(*n)++;
	}
	return ST_OK;
}

/* A sibling that runs the workload is no disturbance. */
static enum status all_pairs(struct gated *g, const struct ask_run *run, uint64_t iterations, struct reading *kept, unsigned wanted, unsigned *n)
{
	struct noise_check *d = &g->b->disturbance;
	const bool sibling = d->sibling_known;

	d->sibling_known = sibling && g->threads < 2;
	const enum status st = pairs_of(g, run, iterations, kept, wanted, n);
	d->sibling_known = sibling;
	return st;
}

/* All counts of a run come from one pair, that of the median cycles, so that quantities counted together stay consistent. */
static const struct reading *median_pair(const struct reading *kept, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned below = 0, equal = 0;

		for (unsigned k = 0; k < n; k++) {
			below += (int64_t)kept[k].cycles < (int64_t)kept[i].cycles;
			equal += kept[k].cycles == kept[i].cycles;
		}
		if (below <= n / 2 && n / 2 < below + equal)
			return &kept[i];
	}
	return kept;
}

static void take(struct account_result *out, struct account_work *w, const struct ask_run *run, const struct reading *r, uint64_t tsc_hz)
{
	if (!out->core_hz && (int64_t)r->cycles > 0 && (int64_t)r->reference > 0)
		out->core_hz = mul_div((int64_t)tsc_hz, (int64_t)r->cycles, (int64_t)r->reference);
	for (unsigned i = 0; i < run->count; i++) {
		struct ask *a = &w->asks[run->asks[i]];
		const int64_t counted = (int64_t)r->asks[i];

		a->count = counted > 0 ? counted : 0; /* by chance a longer window may count fewer than a shorter one */
		a->cycles = (int64_t)r->cycles;
		a->known = true;
	}
}

enum status workload_account_count(struct gated *g, struct account_work *w, struct account_result *out)
{
	struct bench *b = g->b;
	unsigned wanted = b->repetitions ? b->repetitions : b->a->kind == ACCESS_SIM ? PAIRS_SIMULATED : PAIRS_WANTED;
	struct reading *kept = b->host->get(b->host->self, wanted * sizeof(*kept));
	enum status st = kept ? ST_OK : ST_FULL;

	out->pairs = wanted;
	for (unsigned r = 0; r < w->run_count && st == ST_OK; r++) {
		unsigned n = 0;
		enum status stopped;

		for (unsigned i = 0; i < g->threads; i++)
			work_again(&g->work[i]);
		st = counters_start(b->a, b->cpu, &w->runs[r].plan, 0, b->core);
		if (st == ST_OK && g->gated)
			st = counters_hold(b->a, b->cpu, b->core, &g->gate);
		if (st == ST_OK)
			st = bring_indices(g, &w->runs[r]);
		if (st == ST_OK)
			st = all_pairs(g, &w->runs[r], out->iterations, kept, wanted, &n);
		stopped = counters_stop(b->a, b->cpu, &w->runs[r].plan, 0, b->core);
		if (st == ST_OK)
			st = stopped;
		if (st == ST_OK && n)
			take(out, w, &w->runs[r], median_pair(kept, n), b->a->tsc_hz);
		if (n < out->pairs)
			out->pairs = n;
	}
	if (kept)
		b->host->put(b->host->self, kept, wanted * sizeof(*kept));
	return st;
}
