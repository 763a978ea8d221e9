/* bench/sampling/sample.c: the sampling loop beside the counting one; see sample.h.
 *
 * Bursts use two prime periods, which together separate lost records from those hidden by the shadow (pmu/counters/pebs.h). The lowest threshold is
 * used, so that every source appears. A burst is prepared like a window. */
#include "bench/sampling/sample_parts.h"

#include "bench/measure/cores.h"
#include "bench/curves/curve.h"
#include "pmu/counters/pebs.h"

#define PERIODS 2
#define BURSTS_REAL 8         /* per period; a simulated machine has no noise of its own and needs one */
#define RETRIES 2             /* extra tries per wanted burst, for those that an SMI hit */
#define RECORDS_LEAST 32      /* fewer are inconclusive */
#define LOST_MOST_PART 20     /* at most one record in N may be lost: lost records may all be of one kind */
#define REGISTER_OF_CHASE 0   /* k_chase loads RAX, */
#define REGISTER_OF_CURVE 2   /* the code of a curve RDX */
#define LINE 64u

static const struct { uint32_t period, loads; } plans[PERIODS] = { { 3, 2048 }, { 13, 4096 } };

/* Data sources of the latency facility for each source of a row, by their names in the processor's sources.csv. */
static const struct { enum source source; const char *codes[4]; } meanings[] = {
	{ SOURCE_L1, { "L1_HIT" } },
	{ SOURCE_L2, { "L2_HIT" } },
	{ SOURCE_FILL_BUFFER, { "LFB_HIT" } },
	{ SOURCE_L3_UNSHARED, { "L3_UNSHARED", "L3_NO_SNOOP", "LOCAL_COMPLEX" } },
	/* an L3 that holds no copy itself has a core forward the line */
	{ SOURCE_L3_SHARED, { "L3_UNSHARED", "L3_NO_SNOOP", "L3_OTHER_CORE_CLEAN", "LOCAL_COMPLEX" } },
	{ SOURCE_L3_CLEAN, { "L3_OTHER_CORE_CLEAN", "LOCAL_COMPLEX" } },
	{ SOURCE_L3_MODIFIED, { "L3_OTHER_CORE_MODIFIED", "LOCAL_COMPLEX" } },
	{ SOURCE_NEAR_CLEAN, { "NEAR_COMPLEX", "LOCAL_COMPLEX" } },
	{ SOURCE_NEAR_MODIFIED, { "NEAR_COMPLEX", "LOCAL_COMPLEX" } },
	{ SOURCE_REMOTE_CLEAN, { "REMOTE_CACHE_CLEAN", "REMOTE_CACHE_MODIFIED", "FAR_COMPLEX" } },
	/* Nehalem writes the line back and reports the DRAM of its home */
	{ SOURCE_REMOTE_MODIFIED, { "REMOTE_CACHE_MODIFIED", "LOCAL_DRAM_SHARED", "LOCAL_DRAM_EXCLUSIVE", "FAR_COMPLEX" } },
	{ SOURCE_DRAM_LOCAL, { "LOCAL_DRAM_SHARED", "LOCAL_DRAM_EXCLUSIVE", "LOCAL_DRAM" } },
	{ SOURCE_DRAM_REMOTE, { "REMOTE_DRAM_SHARED", "REMOTE_DRAM_EXCLUSIVE", "REMOTE_DRAM" } },
};

const char *sample_verdict_name(enum sample_verdict v)
{
	static const char *const names[SAMPLE_VERDICT_COUNT] = {
		[SAMPLE_NONE] = "none", [SAMPLE_AGREES] = "agrees", [SAMPLE_DIFFERS] = "differs", [SAMPLE_UNPROVEN] = "unproven",
		[SAMPLE_UNSUPPORTED] = "unsupported", [SAMPLE_FAULT] = "fault", [SAMPLE_TIMEOUT] = "timeout", [SAMPLE_FAILED] = "failed",
	};
	return (unsigned)v < SAMPLE_VERDICT_COUNT ? names[v] : "?";
}

/* --- statistics -------------------------------------------------------------------------------- */

/* Shell sort with gaps of Knuth's sequence: a few thousand numbers, no stack. */
void sample_sort(uint32_t *v, unsigned n)
{
	unsigned gap = 1;

	while (gap < n / 3)
		gap = 3 * gap + 1;
	for (; gap > 0; gap /= 3)
		for (unsigned i = gap; i < n; i++) {
			uint32_t x = v[i];
			unsigned k = i;

			for (; k >= gap && v[k - gap] > x; k -= gap)
				v[k] = v[k - gap];
			v[k] = x;
		}
}

/* Nearest-rank percentile; n > 0. */
static uint32_t percentile(const uint32_t *sorted, unsigned n, unsigned percent)
{
	unsigned rank = (n * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

static unsigned bucket(uint32_t latency)
{
	unsigned i = 0;

	while (latency > 1 && i < SAMPLE_BUCKETS - 1) {
		latency >>= 1;
		i++;
	}
	return i;
}

void sample_describe(uint32_t *latency, unsigned n, struct sample_source *out)
{
	uint64_t sum = 0;

	memset(out, 0, sizeof(*out));
	if (n == 0)
		return;
	sample_sort(latency, n);
	for (unsigned i = 0; i < n; i++) {
		sum += latency[i];
		out->histogram[bucket(latency[i])]++;
	}
	out->count = n;
	out->mean_milli = mul_div((int64_t)sum, 1000, n);
	out->median = percentile(latency, n, 50);
	out->p10 = percentile(latency, n, 10);
	out->p90 = percentile(latency, n, 90);
	out->p99 = percentile(latency, n, 99);
}

/* Mean of values up to the 99th percentile: one interrupted load in a hundred must not dominate. */
static int64_t trimmed_mean(uint32_t *latency, unsigned n)
{
	uint64_t sum = 0;
	unsigned taken = 0;

	sample_sort(latency, n);
	for (; taken < n && latency[taken] <= percentile(latency, n, 99); taken++)
		sum += latency[taken];
	return mul_div((int64_t)sum, 1000, taken);
}

/* --- one row ----------------------------------------------------------------------------------- */

struct sampling {
	struct loop *l;
	struct sample_result *out;
	struct pebs pebs;
	const struct event *event, *beside;
	uint64_t code;       /* of the curve whose loads are sampled; 0: a chase */
	struct pebs_burst bursts[PERIODS];
	uint64_t beside_events;
	bool has_companion, has_beside;
	uint32_t codes;      /* of the row's source, a bit each */
	bool loses;          /* events and records do not balance: too many records are missing */
	struct sampled_load *records;
	uint32_t *work;      /* scratch, of the same capacity */
	unsigned capacity;
};

void sample_set_reason(struct sample_result *out, enum sample_verdict v, const char *why)
{
	out->verdict = v;
	str_copy(out->reason, sizeof(out->reason), why);
}

uint32_t sample_codes(const struct processor *p, enum source source)
{
	uint32_t codes = 0;

	for (unsigned i = 0; i < COUNT_OF(meanings); i++)
		for (unsigned k = 0; p->latency_sources && meanings[i].source == source && k < 4 && meanings[i].codes[k]; k++)
			for (unsigned c = 0; c < SAMPLE_SOURCES; c++)
				if (str_equal(p->latency_sources[c].name, meanings[i].codes[k]))
					codes |= 1u << p->latency_sources[c].code;
	return codes;
}

/* The load-latency event with the lowest threshold. */
static const struct event *latency_event(const struct processor *p)
{
	const struct event *best = NULL;

	for (unsigned i = 0; i < p->event_count; i++)
		if (p->events[i].pebs == 3 && (!best || p->events[i].extra_value < best->extra_value))
			best = &p->events[i];
	return best;
}

/* Whether the node at the record's linear address holds the value that the load left in its register. */
static bool is_node(const struct sampling *s, const struct pebs_record *r)
{
	const struct working_set *w = &s->l->sets[0];
	uint64_t offset = r->address - w->map.va, next;

	if (offset % w->shape.line_bytes || offset > w->map.bytes - sizeof(next))
		return false;
	memcpy(&next, mapping_at(&w->map, offset), sizeof(next));
	return next && next == r->gpr[s->code ? REGISTER_OF_CURVE : REGISTER_OF_CHASE];
}

/* Loads of the wrapper; in a curve also the loads that request the lines, and the load of the resident line. */
static bool is_other(const struct sampling *s, const struct pebs_record *r)
{
	const struct working_set *w = &s->l->sets[0];
	const uint64_t offset = r->address - w->map.va, piece = w->shape.piece_bytes;
	const uint64_t end = !s->code ? w->map.bytes : piece ? w->shape.bytes / PAGE_4K * piece : w->shape.bytes;

	return offset >= end || (s->code && (offset % LINE == CURVE_SENDS || (piece && offset % piece >= PAGE_4K)));
}

static void note_retirement(const struct sampling *s, const struct pebs_record *r, struct sample_retire *out)
{
	if (!s->pebs.timed || !(s->codes >> (r->source & (SAMPLE_SOURCES - 1)) & 1))
		return;
	out->least = out->count && out->least < r->retire_latency ? out->least : r->retire_latency;
	out->most = out->most > r->retire_latency ? out->most : r->retire_latency;
	out->sum += r->retire_latency;
	out->count++;
}

static enum status take_records(struct sampling *s)
{
	struct sample_result *out = s->out;

	for (unsigned i = 0; i < s->pebs.records; i++) {
		struct pebs_record r;
		enum status st = pebs_read(&s->pebs, i, &r);

		if (st != ST_OK)
			return st;
		if (is_other(s, &r)) {
			out->outside++;
			continue;
		}
		if (!is_node(s, &r))
			out->wrong_address++;
		note_retirement(s, &r, &out->retire);
		if (out->records < s->capacity)
			s->records[out->records++] = (struct sampled_load){ (uint32_t)r.latency, r.source & (SAMPLE_SOURCES - 1) };
	}
	return ST_OK;
}

static enum status prepare_burst(struct sampling *s, uint64_t loads)
{
	struct loop *l = s->l;

	return s->code ? curve_prepare(l, loads) : window_prepare(l->b, l->row, &l->sets[0], WINDOW_TEST, loads, &l->job);
}

static enum status run_burst(struct sampling *s, uint64_t loads)
{
	struct loop *l = s->l;
	struct window ignored;

	return s->code ? curve_window(l, s->code, loads, &ignored) : window_units(l->b, &l->sets[0], loads, NULL, 0, &ignored, &l->job);
}

/* One burst of a period; *good: no SMI hit it. */
static enum status one_burst(struct sampling *s, unsigned which, bool *good)
{
	struct bench *b = s->l->b;
	struct working_set *w = &s->l->sets[0];
	struct pebs_request q = { .event = s->event, .period = plans[which].period, .companion = true, .beside = s->beside };
	uint64_t before = 0, after = 0, loads = plans[which].loads / (s->code ? 2 : 1); /* a curve has two per node */
	const char *why;
	enum status st, stopped;
	bool smi;

	if ((s->l->row->prepare == PREPARE_FLUSH || cores_wanted(s->l->row)) && loads > w->shape.nodes)
		loads = w->shape.nodes; /* a longer burst would read its own lines again */
	st = prepare_burst(s, loads);
	if (st != ST_OK)
		return st;
	smi = noise_check_smi(b, &before);
	st = pebs_start(&s->pebs, &q, 1, &why);
	if (st != ST_OK) {
		struct text reason;

		text_init(&reason, s->out->reason, sizeof(s->out->reason));
		if (st == ST_FAULT)
			access_failure_text(b->a, &reason);
		else if (why)
			text_fmt(&reason, "%s", why);
		return st;
	}
	b->gate = &s->pebs.gate;
	b->reloaded = !s->code && s->l->row->target == TARGET_L1 ? w : NULL;
	st = run_burst(s, loads);
	b->reloaded = NULL;
	b->gate = NULL;
	stopped = pebs_stop(&s->pebs);
	if (st != ST_OK || stopped != ST_OK)
		return st != ST_OK ? st : stopped;
	*good = !(smi && noise_check_smi(b, &after) && (uint32_t)before != (uint32_t)after);
	if (!*good) {
		s->out->rejected++;
		return ST_OK;
	}
	if (s->pebs.full)
		s->out->full = true;
	s->has_companion = q.has_companion;
	s->has_beside = q.has_beside;
	s->beside_events += q.beside_events;
	s->bursts[which].period = q.period;
	s->bursts[which].events += q.events;
	s->bursts[which].since += q.since;
	s->bursts[which].records += s->pebs.records;
	return take_records(s);
}

static enum status all_bursts(struct sampling *s)
{
	unsigned wanted = s->l->b->a->kind == ACCESS_SIM ? 1 : BURSTS_REAL;

	for (unsigned which = 0; which < PERIODS; which++)
		for (unsigned done = 0, tries = 0; done < wanted && tries < wanted * (1 + RETRIES); tries++) {
			bool good = false;
			enum status st = one_burst(s, which, &good);

			if (st != ST_OK)
				return st;
			done += good;
		}
	return ST_OK;
}

void sample_describe_all(const struct sampled_load *loads, uint32_t *work, uint32_t codes, struct sample_result *out)
{
	unsigned own = 0;

	for (unsigned code = 0; code < SAMPLE_SOURCES; code++) {
		unsigned n = 0;

		for (unsigned i = 0; i < out->records; i++)
			if (loads[i].source == code)
				work[n++] = loads[i].latency;
		sample_describe(work, n, &out->sources[code]);
	}
	for (unsigned i = 0; i < out->records; i++)
		if (codes >> loads[i].source & 1)
			work[own++] = loads[i].latency;
	out->value_milli = own ? trimmed_mean(work, own) : 0;
}

uint32_t sample_own(const struct sample_result *out, uint32_t codes)
{
	uint32_t own = 0;

	for (unsigned c = 0; c < SAMPLE_SOURCES; c++)
		if (codes >> c & 1)
			own += out->sources[c].count;
	return own;
}

/* Lost records, shadow, and the share of all loads that was sampled, by the events counted beside. */
static void normalise(struct sampling *s, uint32_t codes)
{
	struct sample_result *out = s->out;
	struct pebs_balance balance = { .known = false };
	int64_t sampled = (int64_t)(s->bursts[0].events + s->bursts[1].events);

	if (s->has_companion)
		pebs_balance(&s->bursts[0], &s->bursts[1], &balance);
	out->lost_known = balance.exact;
	out->lost = balance.exact ? balance.lost : 0;
	out->lost_most = balance.lost_most;
	s->loses = balance.known && (uint64_t)balance.lost * LOST_MOST_PART > out->records;
	out->shadow_milli = balance.shadow_milli;
	out->fraction_milli = -1;
	/* The guide's normalisation: records of the source over the event that counts all of its loads. Each record stands for events / records loads. */
	if (s->has_companion && s->has_beside && s->beside_events && out->records) {
		out->beside = s->beside->name;
		out->fraction_milli = mul_div(mul_div(sampled, sample_own(out, codes), out->records + out->outside), 1000,
		                              (int64_t)s->beside_events);
	}
}

bool sample_sources_hold(struct sample_result *out, uint32_t codes, int64_t least_milli)
{
	struct text why;

	text_init(&why, out->reason, sizeof(out->reason));
	if (mul_div(sample_own(out, codes), 1000, out->records) >= least_milli && !out->wrong_address)
		return true;
	out->verdict = SAMPLE_UNPROVEN;
	if (out->wrong_address)
		text_fmt(&why, "%u of %u linear addresses are not those of the chase", out->wrong_address, out->records);
	else
		text_fmt(&why, "%u of %u records name the row's source", sample_own(out, codes), out->records);
	return false;
}

void sample_compare(struct sample_result *out, int64_t milli, const char *whose)
{
	struct text why;
	int64_t off;

	out->difference_milli = milli > 0 ? mul_div(out->value_milli - milli, 1000, milli) : 0;
	off = out->difference_milli < 0 ? -out->difference_milli : out->difference_milli;
	out->verdict = off > SAMPLE_AGREE_MILLI ? SAMPLE_DIFFERS : SAMPLE_AGREES;
	text_init(&why, out->reason, sizeof(out->reason));
	if (out->verdict == SAMPLE_DIFFERS)
		text_fmt(&why, "more than 2 %% from %s", whose);
}

void sample_failed(struct sample_result *out, enum status st)
{
	out->verdict = st == ST_UNSUPPORTED ? SAMPLE_UNSUPPORTED : st == ST_FAULT ? SAMPLE_FAULT : st == ST_TIMEOUT ? SAMPLE_TIMEOUT : SAMPLE_FAILED;
	if (!out->reason[0])
		str_copy(out->reason, sizeof(out->reason), status_name(st));
}

void sample_unprove(const struct sample_result *out, const char *method, struct row_result *row)
{
	struct text reason;

	if (out->verdict != SAMPLE_UNPROVEN || row->status != ROW_OK)
		return;
	text_init(&reason, row->reason, sizeof(row->reason));
	row->status = ROW_UNPROVEN;
	text_fmt(&reason, "%s: %s", method, out->reason);
}

static void judge(struct sampling *s, uint32_t codes, const struct row_result *row)
{
	struct sample_result *out = s->out;
	const struct counting *c = &s->l->counting;
	int64_t least = c->proof_count ? c->proofs[0].low_milli : SAMPLE_SHARE_MILLI;
	struct text why;

	text_init(&why, out->reason, sizeof(out->reason));
	if (out->records < RECORDS_LEAST) {
		out->verdict = SAMPLE_UNPROVEN;
		text_fmt(&why, "%u records are too few", out->records);
		return;
	}
	if (s->loses) {
		out->verdict = SAMPLE_UNPROVEN;
		text_fmt(&why, "%s%u records were lost beside the %u that came", out->lost_known ? "" : "up to ",
		         (unsigned)(out->lost_known ? out->lost : out->lost_most), out->records);
		return;
	}
	if (sample_sources_hold(out, codes, least))
		sample_compare(out, row->cycles_milli, SAMPLE_CHASE);
}

static void run(struct sampling *s, uint32_t codes, struct row_result *row)
{
	struct sample_result *out = s->out;
	enum status st = all_bursts(s);

	if (st != ST_OK) {
		sample_failed(out, st);
		return;
	}
	sample_describe_all(s->records, s->work, codes, out);
	normalise(s, codes);
	judge(s, codes, row);
	sample_unprove(out, "latency event", row);
}

/* `proof`: index of the row's proof that counts the sampled loads. */
static void sample_loads(struct loop *l, uint64_t code, unsigned proof, struct row_result *row)
{
	struct bench *b = l->b;
	struct sample_result *out = &row->sample;
	struct sampling s = { .l = l, .out = out, .code = code };
	const char *why;
	size_t each = sizeof(*s.records) + sizeof(*s.work), bytes;

	if (pebs_open(&s.pebs, b->a, b->cpu, b->core, &why) != ST_OK) {
		sample_set_reason(out, SAMPLE_UNSUPPORTED, why);
		return;
	}
	s.event = latency_event(b->cpu->processor);
	s.codes = sample_codes(b->cpu->processor, l->row->source);
	if (!s.event || !s.codes) {
		if (!s.event)
			sample_set_reason(out, SAMPLE_UNSUPPORTED, "no load-latency event");
		return;
	}
	out->event = s.event->name;
	out->threshold = (uint32_t)s.event->extra_value;
	/* A load takes whole cycles: a mean of 4.002 is one of 4. */
	if (row->cycles_milli > 0 && (row->cycles_milli + 500) / 1000 <= (int64_t)out->threshold) {
		sample_set_reason(out, SAMPLE_UNSUPPORTED, "loads of this latency do not exceed the least threshold");
		return;
	}
	if (l->counting.proof_count > proof && l->counting.proofs[proof].per == PER_UNIT)
		s.beside = l->counting.expressions[proof]->terms[0].event; /* the terms it subtracts are proved to be 0 by the row */
	s.capacity = s.pebs.capacity * PERIODS * BURSTS_REAL;
	bytes = each * s.capacity;
	s.records = b->host->get(b->host->self, bytes);
	if (!s.records) {
		sample_set_reason(out, SAMPLE_UNSUPPORTED, "no memory for records");
		return;
	}
	s.work = (uint32_t *)(void *)(s.records + s.capacity);
	run(&s, s.codes, row);
	b->host->put(b->host->self, s.records, bytes);
}

void sample_row(struct loop *l, uint64_t code, struct row_result *row)
{
	row->sample.event = row->sample.beside = "";
	if (l->b->cpu->ibs && l->sets[0].code) {
		sample_fetch_row(l, row);
		return;
	}
	if (l->b->cpu->ibs) {
		sample_ops_row(l, row);
		sample_ibs_row(l, code, row);
		if (!l->row->curve && str_equal(l->sets[0].kernel->name, "k_chase"))
			sample_l3_row(l, row);
		return;
	}
	if (l->row->curve ? l->row->curve->what == CURVE_TWICE : l->row->kind == KIND_LATENCY && str_equal(l->sets[0].kernel->name, "k_chase"))
		sample_loads(l, code, l->row->curve ? 1 : 0, row);
}
