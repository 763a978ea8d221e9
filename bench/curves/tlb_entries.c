/* bench/curves/tlb_entries.c: the number of pages of 4 KiB that a level of the data TLB holds; tlb_entries.h.
 *
 * In a level of several ways, one page too many costs a pass more than one miss: all pages of its set evict each other. With replacement other
 * than LRU the misses of a pass begin earlier, and the value is the part that is never evicted. */
#include "bench/curves/tlb_entries.h"

#define PAGES_LEAST 8u
#define PAGES_MOST 16384u
#define SMALL_PAGES 256u  /* smaller rings make more passes, together a whole number of the kernel's iterations */
#define SMALL_PASSES 16u
#define PASSES 2u
#define PASSES_CYCLES 8u  /* where an event counts cycles too: those of the first pass differ by more than two passes of a full set take (257 pages for 256) */
#define MISSES_LEAST 2    /* of a pass: one page more than a set has ways costs as many as it has ways, and one */
#define MISS_CYCLES 4     /* cycles of a miss, where an event counts cycles too */
#define MISSES_PAGES 512u /* one more for each N pages may be other pages' misses: the ring is visited again */
#define TRIES 3u          /* for each ring that was disturbed */
#define FIRST_PART 4u     /* 1/N of the loads must miss the first level if a second one answers */

struct sweep {
	struct bench *b;
	const struct row *row;
	struct row_result *out;
	struct counting *counting;
	struct job job;
	bool disturbed;
};

/* Counts of a ring of that many pages, in thousandths a load, and the first concept's misses in all passes. */
struct ring { uint32_t pages, passes; int64_t misses, each_milli[ROW_PROOFS_MAX], events_micro[ROW_EVENTS_MAX]; const struct kernel *kernel; };

static enum status windows(struct sweep *s, struct working_set *w, struct ring *ring)
{
	const struct counting *c = s->counting;
	const uint64_t loads = (uint64_t)ring->pages * ring->passes;
	enum status st = ST_OK;

	for (unsigned try = 0; try < TRIES && st == ST_OK; try++) {
		struct window out[2] = { { 0 } };
		int64_t counts[ROW_EVENTS_MAX], values[ROW_PROOFS_MAX];

		bench_working(s->b);
		/* the shorter window's walks must not take longer than the longer one's because they bring in the entries */
		if (c->expressions[0]->exactness == EXACTNESS_SUPERSET && (st = window_units(s->b, w, loads, c, 0, &out[0], &s->job)) != ST_OK)
			return st;
		noise_check_before(s->b);
		/* each job begins with empty TLBs: its first pass fills them, in both windows alike */
		for (unsigned longer = 0; longer < 2 && st == ST_OK; longer++)
			st = window_units(s->b, w, loads * (1 + longer), c, 0, &out[longer], &s->job);
		if (noise_check_after(s->b)) {
			s->out->rejected++;
			continue;
		}
		for (unsigned e = 0; e < c->events; e++) {
			counts[e] = (int64_t)(out[1].counts[e] - out[0].counts[e]);
			ring->events_micro[e] = mul_div(counts[e], 1000000, (int64_t)loads);
		}
		evidence_values(c, counts, values);
		for (unsigned i = 0; i < c->proof_count; i++)
			ring->each_milli[i] = mul_div(values[i], 1000, (int64_t)loads);
		ring->misses = values[0];
		return st;
	}
	s->disturbed = st == ST_OK;
	return st == ST_OK ? ST_TIMEOUT : st;
}

static enum status visit(struct sweep *s, uint32_t pages, struct ring *ring)
{
	struct row_result ignored = { .row = s->row };
	struct working_set w = { .kernel = kernel_find(s->row->kernels[0]) };
	enum status st, back;

	*ring = (struct ring){ .pages = pages, .kernel = w.kernel,
		.passes = pages < SMALL_PAGES ? SMALL_PASSES : s->counting->expressions[0]->exactness == EXACTNESS_SUPERSET ? PASSES_CYCLES : PASSES };
	w.shape = (struct shape){ .order = ORDER_PAGES, .nodes = pages, .line_bytes = 64, .page_bytes = PAGE_4K, .spread_pages = 1, .bytes = pages * 64ull,
	                          .span_bytes = (uint64_t)pages * PAGE_4K };
	st = w.kernel ? window_set_up(s->b, &w, 0, &ignored) : ST_BROKEN;
	if (st == ST_OK)
		st = windows(s, &w, ring);
	back = w.mapped ? s->b->a->ops->unmap(s->b->a->self, &w.map) : ST_OK;
	return st == ST_OK ? back : st;
}

static bool fits(const struct ring *ring) { return ring->misses < (int64_t)ring->passes * MISSES_LEAST; }

/* An event that counts misses together with their cycles also counts the difference between the two windows' first passes. */
static bool nearly_fits(const struct sweep *s, const struct ring *ring)
{
	const int64_t times = s->counting->expressions[0]->exactness == EXACTNESS_SUPERSET ? MISS_CYCLES : 1;

	return ring->misses < (int64_t)ring->passes * times * (MISSES_LEAST + ring->pages / MISSES_PAGES);
}

/* Visits a ring. If few pages miss, visits it several times and keeps the visit with the fewest misses: misses of other pages vary, those of a
 * full set remain. */
static enum status visit_again(struct sweep *s, uint32_t pages, struct ring *ring)
{
	enum status st = visit(s, pages, ring);

	for (unsigned i = 1; i < TRIES && st == ST_OK && !fits(ring) && nearly_fits(s, ring); i++) {
		struct ring other;

		st = visit(s, pages, &other);
		if (st == ST_OK && other.misses < ring->misses)
			*ring = other;
	}
	return st;
}

/* The largest ring without misses, and the next one. ST_MISSING: all fit; ST_RANGE: none does. */
static enum status knee(struct sweep *s, struct ring *below, struct ring *above)
{
	struct curve *c = &s->out->curve;
	uint32_t next = PAGES_LEAST;

	below->pages = above->pages = 0;
	while (above->pages - below->pages != 1) {
		struct ring at;
		const enum status st = visit_again(s, next, &at);

		if (st != ST_OK)
			return st;
		if (c->count < CURVE_POINTS_MAX) {
			c->points[c->count].x = next;
			c->points[c->count++].milli = at.each_milli[0] > 0 ? at.each_milli[0] : 0;
		}
		if (fits(&at))
			*below = at;
		else
			*above = at;
		if (!below->pages)
			return ST_RANGE;
		if (!above->pages && next == PAGES_MOST)
			return ST_MISSING;
		next = above->pages ? (below->pages + above->pages) / 2 : 2 * next;
	}
	return ST_OK;
}

/* Whether the first level holds that ring; if so, the ring shows nothing of a second level. *told: whether this could be counted. */
static enum status first_holds(struct sweep *s, const struct ring *ring, bool *holds, bool *told)
{
	static const struct row_proof_set misses = { .proofs = { { "dtlb.load.miss", 0, 0, PER_UNIT } } };
	struct counting c;
	struct ring at;
	enum status st, stopped;

	memset(&c, 0, sizeof(c));
	*told = evidence_plan_least(s->b, &misses, 1, &c);
	*holds = false;
	if (!*told)
		return ST_OK;
	if ((st = counters_start(s->b->a, s->b->cpu, &c.plan, 0, s->b->core)) != ST_OK)
		return st;
	s->counting = &c;
	st = visit(s, ring->pages, &at);
	stopped = counters_stop(s->b->a, s->b->cpu, &c.plan, 0, s->b->core);
	*holds = st == ST_OK && at.misses * FIRST_PART < (int64_t)at.pages * at.passes;
	*told = !*holds || !c.unmodelled;
	*holds = *holds && *told;
	return st == ST_OK ? stopped : st;
}

static void told_otherwise(const struct sweep *s, uint32_t entries, uint32_t beyond)
{
	const uint16_t told = s->row->target == TARGET_DTLB ? s->b->tlb_told.dtlb_4k : s->b->tlb_told.stlb_4k;
	struct text t;

	if (told == entries || (beyond && tlb_time_agrees(told, entries, beyond)))
		return;
	text_init(&t, s->out->remark, sizeof(s->out->remark));
	text_fmt(&t, told ? "CPUID or the tables tell %u" : "neither CPUID nor the tables say how many", told);
}

static void judge(struct sweep *s, struct counting *c, const struct ring *below, const struct ring *above)
{
	const struct working_set done = { .kernel = below->kernel }; /* its unit is a load */
	struct row_result *out = s->out;
	struct text proof, reason;

	out->value_milli = below->pages * 1000ll;
	out->samples = 1;
	out->status = ROW_UNPROVEN;
	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	if (!evidence_holds(c, below->each_milli, "load", &proof)) {
		out->unprovable = evidence_refutes(c, below->each_milli, "load", out->proof, &reason);
		return;
	}
	text_fmt(&proof, ", of a page more ");
	text_fixed(&proof, above->each_milli[0], 3);
	if (evidence_work_holds(c, &done, below->events_micro, "load", out))
		out->status = ROW_OK;
	told_otherwise(s, below->pages, 0);
}

/* Visits the ring again if its counts are not those of the proof: the cycles that loads wait scatter about zero. */
static enum status prove(struct sweep *s, struct ring *below)
{
	char ignored[sizeof(s->out->proof)];
	struct text t;
	enum status st = ST_OK;

	text_init(&t, ignored, sizeof(ignored));
	for (unsigned i = 1; i < TRIES && st == ST_OK && !evidence_holds(s->counting, below->each_milli, "load", &t); i++) {
		struct ring other;

		st = visit(s, below->pages, &other);
		if (st == ST_OK && fits(&other))
			*below = other;
	}
	return st;
}

static void by_counts(struct sweep *s, struct counting *c)
{
	struct row_result *out = s->out;
	struct ring below = { 0 }, above = { 0 };
	bool first = false, told = true;
	enum status st = counters_start(s->b->a, s->b->cpu, &c->plan, 0, s->b->core), stopped;

	s->counting = c;
	out->curve.x = "pages";
	out->curve.unit = "misses a load";
	if (st == ST_OK) {
		st = knee(s, &below, &above);
		if (st == ST_OK)
			st = prove(s, &below);
		stopped = counters_stop(s->b->a, s->b->cpu, &c->plan, 0, s->b->core);
		st = st == ST_OK ? stopped : st;
	}
	if (st == ST_OK && s->row->target == TARGET_STLB)
		st = first_holds(s, &below, &first, &told);
	if (st == ST_OK && !first) {
		judge(s, c, &below, &above);
		if (!told && out->status == ROW_OK) {
			out->status = ROW_UNPROVEN;
			out->unprovable = true;
			str_copy(out->reason, sizeof(out->reason), "no event shows whether the first level holds that many");
		}
	} else if (st == ST_OK) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		str_copy(out->reason, sizeof(out->reason), "no second level holds more than the first");
	} else if (st == ST_MISSING && c->unmodelled) {
		struct text reason;

		out->status = ROW_UNPROVEN;
		text_init(&reason, out->reason, sizeof(out->reason));
		out->unprovable = evidence_unmodelled(c, &reason);
	} else if (st == ST_MISSING || st == ST_RANGE) {
		out->status = ROW_UNPROVEN;
		str_copy(out->reason, sizeof(out->reason), st == ST_RANGE ? "eight pages miss already" : "no ring of up to 16384 pages misses");
	} else if (s->disturbed) {
		out->status = ROW_NOISY;
		out->noisy = true;
		str_copy(out->reason, sizeof(out->reason), "every window was disturbed");
	} else {
		row_failed(out, st, &s->job, "running a ring of pages");
	}
}

/* The result of rings that are timed. */
static void by_time(struct sweep *s)
{
	const struct bench *b = s->b;
	const bool first = s->row->target == TARGET_DTLB;
	const uint32_t holds = first ? b->tlb_by_time.first : b->tlb_by_time.second;
	const uint32_t beyond = first ? b->tlb_by_time.first_beyond : b->tlb_by_time.second_beyond;
	struct row_result *out = s->out;
	struct text reason;

	out->status = b->tlb_timed && holds ? ROW_UNPROVEN : ROW_UNSUPPORTED;
	text_init(&reason, out->reason, sizeof(out->reason));
	if (out->status == ROW_UNSUPPORTED) {
		text_fmt(&reason, "no ring of pages shows by time what the %s level holds", first ? "first" : "second");
		return;
	}
	out->value_milli = holds * 1000ll;
	out->samples = 1;
	text_fmt(&reason, "found by time alone, %u pages are more", beyond);
	told_otherwise(s, holds, beyond);
}

void tlb_entries_row(struct bench *b, const struct row *r, struct row_result *out)
{
	struct sweep s = { .b = b, .row = r, .out = out };
	struct counting c;

	memset(&c, 0, sizeof(c));
	evidence_plan(b, r, 1, &c);
	out->reason[0] = 0;
	if (c.proof_count)
		by_counts(&s, &c);
	else if (!b->cycles)
		by_time(&s);
	else {
		struct text reason;

		text_init(&reason, out->reason, sizeof(out->reason));
		out->status = ROW_UNPROVEN;
		out->unprovable = evidence_lacking(b, &c, &reason);
	}
}
