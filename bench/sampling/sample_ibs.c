/* bench/sampling/sample_ibs.c: the second method on AMD's processors: IBS samples of a chase's loads.
 *
 * IBS tags ops of all kinds. A job takes one sample (pmu/amd/ibs.h); a sample of another op than a load of the chase is discarded. A sample holds
 * the cycles from the L1 miss to the arrival of the data, and separately those of a TLB refill. The latency to use also includes an L1 hit, which
 * is measured here by a chase of one line. Samples of loads that hit the L1 hold no latency. */
#include "bench/sampling/sample_parts.h"

#include "bench/curves/curve.h"
#include "bench/measure/cores.h"
#include "pmu/amd/ibs.h"

#define WANTED 48u           /* loads of the chase */
#define WANTED_REAL 400u     /* a simulated machine has no noise of its own and needs fewer */
#define TRIES_PER_LOAD 6u    /* jobs per wanted sample, at most */
#define LINE 64u
#define LEAST 32u            /* fewer are inconclusive */
#define HIT_ITERATIONS 128u  /* of k_chase, in the shorter window of the chase of one line */
#define HIT_TRIES 5u         /* pairs of these windows, after one that fetches the line; their median counts */
#define HIT_SLOT 6u          /* of the data space, in GiB: no working set of a sampled row lies there */
#define CURVE_OPS 3u         /* of an iteration of the curve's code, at least: its two loads and the jump back */
#define METHOD "IBS"

/* Load-to-use latency of an L1 hit, in thousandths of a core cycle, from a node that points to itself. Measured once a run. */
static enum status measure_hit(struct loop *l, int64_t *milli)
{
	struct bench *b = l->b;
	struct mapping one = { .va = SPACE_DATA + HIT_SLOT * PAGE_1G, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
	const struct kernel *chase = kernel_find("k_chase");
	uint32_t took[HIT_TRIES];
	int64_t tick_micro = 0;
	enum status st = b->a->ops->map(b->a->self, &one), unmapped;

	if (st != ST_OK)
		return st;
	if (!chase)
		st = ST_BROKEN;
	*(uint64_t *)mapping_at(&one, 0) = one.va;
	if (st == ST_OK)
		st = window_clock(b, &l->job, &tick_micro);
	for (unsigned try = 0; try <= HIT_TRIES && st == ST_OK; try++) {
		uint64_t ticks[2] = { 0, 0 };

		for (unsigned i = 0; i < 2 && st == ST_OK; i++) {
			const uint64_t arguments[6] = { one.va, HIT_ITERATIONS << i };
			struct window w;

			st = window_run(b, chase, arguments, NULL, 0, &w, &l->job);
			ticks[i] = w.tsc;
		}
		if (try)
			took[try - 1] = ticks[1] > ticks[0] ? (uint32_t)(ticks[1] - ticks[0]) : 0;
	}
	unmapped = b->a->ops->unmap(b->a->self, &one);
	if (st != ST_OK || unmapped != ST_OK)
		return st != ST_OK ? st : unmapped;
	sample_sort(took, HIT_TRIES);
	*milli = mul_div(took[HIT_TRIES / 2], tick_micro, HIT_ITERATIONS * chase->loads * 1000);
	return ST_OK;
}

/* Whether a linear address is a node's. */
static bool is_node(const struct working_set *w, uint64_t address)
{
	const uint64_t offset = address - w->map.va;

	return offset % w->shape.line_bytes == 0 && *(const uint64_t *)mapping_at(&w->map, offset);
}

/* `curve`: the load that requests the line is left out. */
static void take(const struct working_set *w, bool curve, const struct ibs_op *op, int64_t hit_milli, struct sampled_load *loads, struct sample_result *out)
{
	const uint64_t offset = op->linear - w->map.va;

	if (!op->load || !op->has_linear || offset >= (curve ? w->shape.bytes : w->map.bytes) || (curve && offset % LINE == CURVE_SENDS)) {
		out->outside++;
		return;
	}
	if (!is_node(w, op->linear))
		out->wrong_address++;
	loads[out->records++] = (struct sampled_load){
		/* without the refill: a job begins without translations, and the row's loads have theirs */
		.latency = (uint32_t)((hit_milli + 500) / 1000) + op->miss_cycles, .source = op->source,
	};
}

static enum status one_sample(struct loop *l, uint64_t code, struct ibs *ibs, bool *taken, struct ibs_op *op)
{
	struct bench *b = l->b;
	struct working_set *w = &l->sets[0];
	/* a chase has an op or two more than its loads; a curve's unit is an iteration */
	uint64_t loads = code ? ibs->ops / CURVE_OPS : ibs->ops / w->kernel->loads * w->kernel->loads + 2 * w->kernel->loads;
	struct window ignored;
	enum status st, stopped;

	if ((l->row->prepare == PREPARE_FLUSH || cores_wanted(l->row)) && loads > w->shape.nodes)
		loads = w->shape.nodes; /* more would read their own lines again */
	st = code ? curve_prepare(l, loads) : window_prepare(b, l->row, w, WINDOW_TEST, loads, &l->job);
	if (st == ST_OK)
		st = ibs_start(ibs);
	if (st != ST_OK)
		return st;
	b->gate = &ibs->gate;
	st = code ? curve_window(l, code, loads, &ignored) : window_units(b, w, loads, NULL, 0, &ignored, &l->job);
	b->gate = NULL;
	stopped = ibs_stop(ibs, taken, op);
	return st != ST_OK ? st : stopped;
}

static enum status all_samples(struct loop *l, uint64_t code, struct ibs *ibs, unsigned wanted, struct sampled_load *loads, struct sample_result *out)
{
	for (unsigned tries = 0; tries < wanted * TRIES_PER_LOAD && out->records < wanted; tries++) {
		uint64_t before = 0, after = 0;
		const bool smi = noise_check_smi(l->b, &before);
		struct ibs_op op;
		bool taken;
		const enum status st = one_sample(l, code, ibs, &taken, &op);

		if (st != ST_OK)
			return st;
		if (smi && noise_check_smi(l->b, &after) && (uint32_t)before != (uint32_t)after)
			out->rejected++;
		else if (taken)
			take(&l->sets[0], code != 0, &op, l->b->hit_milli, loads, out);
	}
	return ST_OK;
}

/* Where no event counts loads of a line in flight, samples with that source are the row's proof. */
static void prove(const struct sample_result *out, uint32_t codes, struct row_result *row)
{
	struct text proof;

	if (out->verdict != SAMPLE_AGREES || !row->unprovable || row->status != ROW_UNPROVEN || row->row->source != SOURCE_FILL_BUFFER)
		return;
	text_init(&proof, row->proof, sizeof(row->proof));
	text_fmt(&proof, METHOD " %u of %u samples name the source", sample_own(out, codes), out->records);
	row->status = row->noisy ? ROW_NOISY : ROW_OK;
	row->unprovable = false;
	str_copy(row->reason, sizeof(row->reason), row->noisy ? "the samples spread" : "");
}

static void judge(const struct loop *l, uint32_t codes, struct sample_result *out, struct row_result *row)
{
	const struct counting *c = &l->counting;
	struct text why;

	text_init(&why, out->reason, sizeof(out->reason));
	if (out->records < LEAST && l->b->ibs_misses) {
		out->verdict = SAMPLE_UNSUPPORTED; /* does not contradict the row */
		text_fmt(&why, "%u samples passed the filter of IBS", out->records);
	} else if (out->records < LEAST) {
		out->verdict = SAMPLE_UNPROVEN;
		text_fmt(&why, "%u samples are too few", out->records);
	} else if (sample_sources_hold(out, codes, c->proof_count ? c->proofs[0].low_milli : SAMPLE_SHARE_MILLI)) {
		sample_compare(out, row->cycles_milli, SAMPLE_CHASE);
	}
	sample_unprove(out, METHOD, row);
	prove(out, codes, row);
}

/* Whether loads from that source miss the L3. */
static bool is_beyond_l3(enum source s)
{
	return s == SOURCE_NEAR_CLEAN || s == SOURCE_NEAR_MODIFIED || s == SOURCE_REMOTE_CLEAN || s == SOURCE_REMOTE_MODIFIED || s == SOURCE_DRAM_LOCAL ||
	       s == SOURCE_DRAM_OF_CORE || s == SOURCE_DRAM_REMOTE;
}

/* As ibs_open, with the filter of the settings. */
static enum status open_filtered(struct ibs *ibs, struct bench *b, enum source source, const char **why)
{
	const enum status st = ibs_open(ibs, b->a, b->cpu, b->core, why);

	if (st == ST_OK && b->ibs_misses && !is_beyond_l3(source)) {
		*why = "IBS is set to misses of the L3 alone";
		return ST_UNSUPPORTED;
	}
	return st == ST_OK ? ibs_filter(ibs, b->ibs_misses, why) : st;
}

static bool is_chase(const struct loop *l)
{
	return l->row->kind == KIND_LATENCY && str_equal(l->sets[0].kernel->name, "k_chase");
}

void sample_ibs_row(struct loop *l, uint64_t code, struct row_result *row)
{
	struct bench *b = l->b;
	struct sample_result *out = &row->sample;
	const unsigned wanted = b->a->kind == ACCESS_SIM ? WANTED : WANTED_REAL;
	const size_t bytes = wanted * (sizeof(struct sampled_load) + sizeof(uint32_t));
	const uint32_t codes = sample_codes(b->cpu->processor, l->row->source);
	struct sampled_load *loads;
	struct ibs ibs;
	const char *why;
	enum status st;

	if (!codes || l->row->source == SOURCE_L1 || (l->row->curve && l->row->curve->what != CURVE_TWICE) || (!l->row->curve && !is_chase(l)))
		return;
	if (open_filtered(&ibs, b, l->row->source, &why) != ST_OK) {
		sample_set_reason(out, SAMPLE_UNSUPPORTED, why);
		return;
	}
	loads = b->host->get(b->host->self, bytes);
	if (!loads) {
		sample_set_reason(out, SAMPLE_UNSUPPORTED, "no memory for samples");
		return;
	}
	out->event = METHOD;
	out->by_op = true;
	out->fraction_milli = -1;
	st = b->hit_milli ? ST_OK : measure_hit(l, &b->hit_milli);
	if (st == ST_OK)
		st = all_samples(l, code, &ibs, wanted, loads, out);
	if (st == ST_OK) {
		sample_describe_all(loads, (uint32_t *)(void *)(loads + wanted), codes, out);
		judge(l, codes, out, row);
	} else {
		sample_failed(out, st);
	}
	b->host->put(b->host->self, loads, bytes);
}
