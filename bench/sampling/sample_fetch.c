/* bench/sampling/sample_fetch.c: the second method for rows of code on AMD's processors: IBS samples of fetches.
 *
 * A job takes one sample (pmu/amd/ibs_fetch.h); a sample of other code than the row's is discarded. For code that misses the L1I the sample shows
 * which cache supplied it, and the cycles until its bytes arrived, from which those of the baseline's fetches are subtracted. For pages that miss
 * the ITLB it shows whether the second level missed too, and the cycles of the refill. The latency is that of a fetch: where a processor fetches
 * ahead of the instructions, the row's value is lower. */
#include "bench/sampling/sample_parts.h"

#include "pmu/amd/ibs_fetch.h"

#define WANTED 48u           /* fetches of the code, and as many of the baseline's */
#define WANTED_REAL 400u     /* a simulated machine has no noise of its own and needs fewer */
#define TRIES_PER_FETCH 6u   /* jobs, at most, for each that is wanted */
#define LEAST 32u            /* fewer are inconclusive */
#define PLACES 8u            /* values of the maximum, a step apart and taken in turn, so that different fetches are tagged */
#define BEHIND 64u           /* fetches between a pass of the code and the first that is tagged */
#define METHOD "IBS fetch"

/* Where a fetch's bytes, or its translation, came from: codes of this file, because the registers have flags instead. */
enum { UNKNOWN, L1I, L2, L3, BEYOND_L2, BEYOND_L3, ITLB, SECOND_TLB, WALK };

static const struct latency_source sources[SAMPLE_SOURCES] = {
	{ UNKNOWN, "UNKNOWN", "not told" }, { L1I, "L1I_HIT", "L1 instruction cache or op cache" }, { L2, "L2_HIT", "own L2" }, { L3, "L3_HIT", "L3" },
	{ BEYOND_L2, "BEYOND_L2", "L3, or beyond it" }, { BEYOND_L3, "BEYOND_L3", "another L3, or memory" }, { ITLB, "ITLB_HIT", "first-level TLB" },
	{ SECOND_TLB, "SECOND_TLB_HIT", "second-level TLB" }, { WALK, "WALKED", "no TLB" },
	{ 9, "RESERVED_9", "" }, { 10, "RESERVED_10", "" }, { 11, "RESERVED_11", "" }, { 12, "RESERVED_12", "" }, { 13, "RESERVED_13", "" }, { 14, "RESERVED_14", "" },
	{ 15, "RESERVED_15", "" },
};

/* The sources expected of each code's fetches. */
static const struct { enum code code; bool page; uint32_t codes; } asked[] = {
	{ CODE_LINES_L2, false, 1u << L2 }, { CODE_LINES_L3, false, 1u << L3 | 1u << BEYOND_L2 },
	{ CODE_PAGES_ITLB, true, 1u << SECOND_TLB }, { CODE_PAGES_WALK, true, 1u << WALK },
};

struct fetching {
	struct loop *l;
	struct ibs_fetcher ibs;
	bool page;           /* the row is about translations */
	uint32_t codes;
	unsigned wanted, tries;
	struct sampled_load *list;
	struct sample_result *out;
};

static unsigned source_of(const struct fetching *s, const struct ibs_fetch *f)
{
	if (s->page)
		return f->missed_second_tlb ? WALK : f->missed_tlb ? SECOND_TLB : ITLB;
	if (f->missed_l2)
		return !f->has_missed_l3 ? BEYOND_L2 : f->missed_l3 ? BEYOND_L3 : L3;
	return !f->has_missed ? UNKNOWN : f->missed ? L2 : L1I;
}

/* The cycles that the row measures. */
static uint32_t cycles_of(const struct fetching *s, const struct ibs_fetch *f)
{
	const bool apart = s->ibs.cpu->ibs & IBS_REFILL;

	if (s->page)
		return apart ? f->refill_cycles : f->latency_cycles;
	return f->latency_cycles > f->refill_cycles ? (uint32_t)(f->latency_cycles - f->refill_cycles) : 0;
}

static enum status one_sample(struct fetching *s, unsigned set, bool *taken, struct ibs_fetch *f)
{
	struct loop *l = s->l;
	struct bench *b = l->b;
	struct working_set *w = &l->sets[set];
	/* after a whole pass, since a job begins without translations; a unit has one line, and the maximum is reached up to a step earlier */
	const unsigned pass = w->pair->events, step = IBS_FETCH_STEP, fetches = (pass + BEHIND + s->tries++ % PLACES * step) / step * step;
	const uint64_t units = ((uint64_t)fetches + step + pass - 1) / pass * pass;
	struct window ignored;
	enum status st = window_prepare(b, l->row, w, set ? WINDOW_BASELINE : WINDOW_TEST, units, &l->job), stopped;

	if (st == ST_OK)
		st = ibs_fetch_start(&s->ibs, fetches);
	if (st != ST_OK)
		return st;
	b->gate = &s->ibs.gate;
	st = window_units(b, w, units, NULL, 0, &ignored, &l->job);
	b->gate = NULL;
	stopped = ibs_fetch_stop(&s->ibs, taken, f);
	return st != ST_OK ? st : stopped;
}

/* Samples of a working set's code into s->list; *count of them. */
static enum status all_samples(struct fetching *s, unsigned set, unsigned *count)
{
	const struct mapping *code = &s->l->sets[set].code_map;

	*count = 0;
	for (unsigned tries = 0; tries < s->wanted * TRIES_PER_FETCH && *count < s->wanted; tries++) {
		uint64_t before = 0, after = 0;
		const bool smi = noise_check_smi(s->l->b, &before);
		struct ibs_fetch f;
		bool taken;
		const enum status st = one_sample(s, set, &taken, &f);

		if (st != ST_OK)
			return st;
		if (smi && noise_check_smi(s->l->b, &after) && (uint32_t)before != (uint32_t)after)
			s->out->rejected++;
		else if (taken && f.complete && f.linear - code->va < code->bytes)
			s->list[(*count)++] = (struct sampled_load){ .latency = cycles_of(s, &f), .source = (uint8_t)source_of(s, &f) };
		else
			s->out->outside += taken;
	}
	return ST_OK;
}

static void judge(struct fetching *s, uint32_t of_base, struct row_result *row)
{
	struct sample_result *out = s->out;
	struct text why;

	text_init(&why, out->reason, sizeof(out->reason));
	if (s->l->b->ibs_misses) { /* does not contradict the row, whose code comes from a nearer level */
		out->verdict = SAMPLE_UNSUPPORTED;
		text_fmt(&why, "%u fetches passed the filter of IBS", out->records);
		return;
	}
	if (out->records < LEAST || of_base < LEAST) {
		out->verdict = SAMPLE_UNPROVEN; /* nor does this */
		text_fmt(&why, "%u fetches are too few", out->records < LEAST ? out->records : of_base);
		return;
	}
	if (sample_sources_hold(out, s->codes, SAMPLE_SHARE_MILLI))
		sample_compare(out, row->value_milli, "the jumps");
	sample_unprove(out, METHOD, row);
}

/* The row's code, then its baseline's, whose mean is subtracted. */
static void sample_both(struct fetching *s, uint32_t *work, struct row_result *row)
{
	struct sample_result *out = s->out;
	int64_t base_milli = 0;
	unsigned of_base = 0;
	enum status st = all_samples(s, 1, &of_base);

	for (unsigned i = 0; i < of_base; i++)
		base_milli += (int64_t)s->list[i].latency * 1000;
	if (st == ST_OK)
		st = all_samples(s, 0, &out->records);
	if (st != ST_OK) {
		sample_failed(out, st);
		return;
	}
	sample_describe_all(s->list, work, s->codes, out);
	out->value_milli -= of_base ? base_milli / of_base : 0;
	judge(s, of_base, row);
}

void sample_fetch_row(struct loop *l, struct row_result *row)
{
	struct bench *b = l->b;
	struct fetching s = { .l = l, .wanted = b->a->kind == ACCESS_SIM ? WANTED : WANTED_REAL, .out = &row->sample };
	const size_t bytes = s.wanted * (sizeof(struct sampled_load) + sizeof(uint32_t));
	const char *why;

	for (unsigned i = 0; i < COUNT_OF(asked); i++)
		if (asked[i].code == l->sets[0].code) {
			s.page = asked[i].page;
			s.codes = asked[i].codes;
		}
	if (!s.codes || l->set_count < 2)
		return;
	row->latency_sources = sources;
	s.out->event = METHOD;
	s.out->by_op = true;
	s.out->fraction_milli = -1;
	if (ibs_fetch_open(&s.ibs, b->a, b->cpu, b->core, &why) != ST_OK || (b->ibs_misses && ibs_fetch_filter(&s.ibs, &why) != ST_OK)) {
		sample_set_reason(s.out, SAMPLE_UNSUPPORTED, why);
		return;
	}
	if (s.ibs.errata.no_miss && s.codes == 1u << L2) {
		sample_set_reason(s.out, SAMPLE_UNSUPPORTED, "IBS does not record misses of the L1I (erratum 1238)");
		return;
	}
	s.list = b->host->get(b->host->self, bytes);
	if (!s.list) {
		sample_set_reason(s.out, SAMPLE_UNSUPPORTED, "no memory for samples");
		return;
	}
	sample_both(&s, (uint32_t *)(void *)(s.list + s.wanted), row);
	b->host->put(b->host->self, s.list, bytes);
}
