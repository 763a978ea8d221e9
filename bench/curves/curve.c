/* bench/curves/curve.c: rows whose value is found along a curve; curve.h says what the points are. */
#include "bench/curves/curve_pass.h"
#include "bench/catalogue/series.h"

#define SAMPLES_SIMULATED 3u
#define SAMPLES_MACHINE 15u
#define TRIES 3u                  /* attempts at a sample that was disturbed */
#define ATTEMPTS 4u               /* attempts at a point, until its longer windows take longer than the shorter ones */
#define LINE 64u
#define FRESH_PART 3u             /* 1/N of a warm ring may be visited by points before all of it is visited again: an L2 with random replacement keeps e^-5.3 of that */

/* Lines per iteration from the row's level; without a ring, iterations. */
static uint32_t units_of(const struct row_curve *c, uint32_t x)
{
	switch (c->what) {
	case CURVE_OVERLAP:
	case CURVE_WALKS:
	case CURVE_SPREAD:
	case CURVE_PAIRS:
	case CURVE_CHAINS:
		return x;
	case CURVE_WINDOW:
		return 2 + (c->filler == FILLER_MISS ? x : 0);
	default:
		return 1;
	}
}

enum status curve_run(struct loop *l, const char *kernel, uint64_t a, uint64_t b, uint64_t c)
{
	const struct kernel *k = kernel_find(kernel);
	uint64_t arguments[6] = { a, b, c };
	struct window ignored;

	return k ? window_run(l->b, k, arguments, NULL, 0, &ignored, &l->job) : ST_BROKEN;
}

/* Flushes all lines of all regions at once, if the window would reach nodes visited since the last flush. */
static enum status prepare_spread(struct loop *l, uint64_t iterations)
{
	struct working_set *w = &l->sets[0];
	const uint32_t regions = curve_regions(l->row->curve);
	const uint64_t region = (uint64_t)curve_region_lines(l->row->curve, w->shape.bytes) * LINE;
	const char *kernel = l->row->prepare == PREPARE_FLUSH ? "k_flush" : "k_touch";
	enum status st = ST_OK;

	if (w->flushed_left < iterations) {
		for (unsigned j = 0; j < regions && st == ST_OK; j++)
			st = curve_run(l, kernel, w->map.va + j * region, w->shape.nodes, w->shape.line_bytes);
		w->flushed_left = w->shape.nodes;
	}
	w->flushed_left -= iterations < w->flushed_left ? (uint32_t)iterations : w->flushed_left;
	return st;
}

enum status curve_prepare(struct loop *l, uint64_t iterations)
{
	const struct working_set *w = &l->sets[0];
	const struct row_curve *c = l->row->curve;
	uint64_t step = c->what == CURVE_WINDOW ? w->shape.line_bytes / 2 : LINE; /* B lies in the middle of a node */
	enum status st = ST_OK;

	if (!w->mapped)
		return ST_OK;
	if (curve_regions(c))
		return prepare_spread(l, iterations);
	if (l->row->prepare == PREPARE_FLUSH)
		st = c->what == CURVE_TWICE ? curve_run(l, "k_flush_chain", w->at, iterations, 0) : curve_run(l, "k_flush", w->map.va, w->shape.bytes / step, step);
	/* only one line of the pair shall miss: both are loaded, then that one is flushed */
	if (st == ST_OK && c->what == CURVE_PAIRS)
		st = curve_run(l, "k_touch", w->map.va + CURVE_SINGLE + LINE, w->shape.nodes, CURVE_NODE_BYTES);
	if (st == ST_OK && c->what == CURVE_PAIRS && l->row->prepare == PREPARE_FLUSH)
		st = curve_run(l, "k_flush", w->map.va + CURVE_SINGLE, w->shape.nodes, CURVE_NODE_BYTES);
	/* without fillers nothing loads the fillers' line, and its page may be one more than the TLB holds */
	return st == ST_OK && c->what != CURVE_OVERLAP ? curve_run(l, "k_touch", w->map.va + w->shape.bytes + CURVE_HOT_OFFSET, 1, LINE) : st;
}

static enum status run_iterations(struct loop *l, uint64_t code, uint64_t iterations, const struct counting *c, struct window *out)
{
	struct working_set *w = &l->sets[0];
	uint64_t arguments[6] = { code, iterations, w->at, control_va(l->b->a, l->b->core), 0, w->map.va + w->shape.bytes + CURVE_HOT_OFFSET };
	enum status st;

	l->b->ahead = w->mapped && l->row->target == TARGET_DRAM ? &w->map : NULL;
	st = window_run(l->b, w->kernel, arguments, c, 0, out, &l->job);
	l->b->ahead = NULL;
	if (st == ST_OK && w->mapped)
		w->at = out->result;
	return st;
}

enum status curve_window(struct loop *l, uint64_t code, uint64_t iterations, struct window *out)
{
	return run_iterations(l, code, iterations, NULL, out);
}

/* One window of `iterations` of the code at `code`. */
static enum status window(struct pass *p, uint64_t code, uint64_t iterations, struct window *out, int64_t *cycles_milli)
{
	bench_working(p->loop.b);
	enum status st = curve_prepare(&p->loop, iterations);

	if (st == ST_OK && p->curve->what == CURVE_BESIDE)
		st = curve_limit_prepare(p);
	if (st == ST_OK)
		st = run_iterations(&p->loop, code, iterations, &p->loop.counting, out);
	*cycles_milli = p->loop.counting.on ? (int64_t)out->counts[0] * 1000 : mul_div((int64_t)out->tsc, p->tick_micro, 1000);
	return st;
}

/* A pair of windows: thousandths of a cycle per iteration. */
static enum status sample(struct pass *p, uint64_t code, uint32_t x, bool counts, int64_t *iteration_milli)
{
	enum status st = ST_OK;

	for (unsigned try = 0; try < TRIES && st == ST_OK; try++) {
		struct window w[2];
		int64_t cycles[2], of_events[ROW_EVENTS_MAX], values[ROW_PROOFS_MAX];

		/* one iteration before each window reloads lines of code, wrapper and page tables that a level with few ways or random replacement
		 * has lost */
		const enum curve_what what = p->curve->what;
		const bool ahead = what == CURVE_OVERLAP || what == CURVE_SPREAD || (what == CURVE_WINDOW && !curve_regions(p->curve));

		noise_check_before(p->b);
		for (unsigned longer = 0; longer < 2 && st == ST_OK; longer++) {
			if (ahead)
				st = window(p, code, 1, &w[longer], &cycles[longer]);
			if (st == ST_OK)
				st = window(p, code, (uint64_t)p->iterations << longer, &w[longer], &cycles[longer]);
		}
		if (noise_check_after(p->b)) {
			p->out->rejected++;
			continue;
		}
		if (st != ST_OK)
			return st;
		*iteration_milli = (cycles[1] - cycles[0]) / (int64_t)p->iterations;
		if (!counts)
			return ST_OK;
		for (unsigned e = 0; p->loop.counting.on && e < p->loop.counting.events; e++)
			of_events[e] = (int64_t)(w[1].counts[e] - w[0].counts[e]);
		evidence_values(&p->loop.counting, of_events, values);
		for (unsigned i = 0; i < p->loop.counting.proof_count; i++)
			p->counts[i] += values[i];
		p->units += (int64_t)p->iterations * units_of(p->curve, x);
		p->tsc += (int64_t)(w[1].tsc - w[0].tsc);
		p->cycles_milli += cycles[1] - cycles[0];
		p->out->samples++;
		return ST_OK;
	}
	p->disturbed = st == ST_OK;
	return st == ST_OK ? ST_TIMEOUT : st;
}

/* Whether a point's value is a whole iteration, not one of its x parts. */
static bool per_iteration(const struct row_curve *c)
{
	return c->what == CURVE_TWICE || c->what == CURVE_WINDOW || c->what == CURVE_SERIAL || c->what == CURVE_PAIRS || c->what == CURVE_BESIDE;
}

/* Maps the code's pages anew and writes a point's code: no processor then holds bytes that it prefetched on a wrong path before they were written. */
static enum status write_code(struct pass *p, uint32_t x)
{
	struct working_set *w = &p->loop.sets[0];
	enum status st = w->code_mapped ? p->b->a->ops->unmap(p->b->a->self, &w->code_map) : ST_OK;

	w->code_mapped = false;
	if (st != ST_OK)
		return st;
	w->code_map = (struct mapping){ .va = SPACE_SCRATCH, .bytes = CURVE_CODE_BYTES, .page_bytes = PAGE_4K, .executable = true };
	st = p->b->a->ops->map(p->b->a->self, &w->code_map);
	w->code_mapped = st == ST_OK;
	if (st != ST_OK)
		return st;
	return curve_code(p->curve, x, p->lines, w->code_map.host) ? ST_OK : ST_FULL;
}

/* Passes over the ring until one gets no shorter: the level above then holds lines in the points' own order. */
static enum status go_round(struct pass *p, unsigned passes)
{
	struct working_set *w = &p->loop.sets[0];
	enum status st = write_code(p, p->curve->most);
	int64_t iteration = 0;

	for (unsigned i = 0; i < passes && st == ST_OK; i++) {
		const int64_t before = iteration;
		struct window ignored;

		st = window(p, w->code_map.va, w->shape.nodes, &ignored, &iteration);
		if (i && iteration >= before - before / (int64_t)CURVE_SETTLED_PART)
			break;
	}
	w->fresh_left = w->shape.nodes / FRESH_PART;
	return st;
}

/* The median of a point's samples, and how far they scatter about it. */
static enum status samples_of(struct pass *p, uint32_t x, unsigned n, int64_t *iteration_milli)
{
	struct working_set *w = &p->loop.sets[0];
	int64_t samples[SAMPLES_MAX], work[SAMPLES_MAX], each = 0;
	const uint32_t comes_to = (3 * p->iterations + 2) * (n + 1);
	enum status st = ST_OK;

	if (p->curve->what == CURVE_OVERLAP) {
		if (w->fresh_left < comes_to && p->out->curve.count)
			st = go_round(p, 1);
		w->fresh_left -= comes_to < w->fresh_left ? comes_to : w->fresh_left;
	}
	if (st == ST_OK)
		st = write_code(p, x);
	if (st == ST_OK)
		st = window_clock_follow(p->b, &p->loop.counting, &p->loop.job, &p->tick_micro);
	*iteration_milli = 0;
	for (unsigned attempt = 0; attempt < ATTEMPTS && *iteration_milli <= 0 && st == ST_OK; attempt++) { /* a neighbour may have disturbed most of a point */
		for (unsigned i = 0; i <= n && st == ST_OK; i++) { /* the first one warms up */
			st = sample(p, w->code_map.va, x, i > 0, &each);
			if (i)
				samples[i - 1] = each;
		}
		if (st == ST_OK)
			*iteration_milli = reduce_median(samples, n);
	}
	p->disturbed = p->disturbed || (st == ST_OK && *iteration_milli <= 0);
	if (st == ST_OK && *iteration_milli <= 0)
		st = ST_TIMEOUT;
	if (st != ST_OK)
		return st;
	p->spread_milli = reduce_mad(samples, n, *iteration_milli, work);
	p->spread_of_milli = *iteration_milli;
	return ST_OK;
}

enum status curve_point(struct pass *p, uint32_t x, int64_t *iteration_milli)
{
	struct curve *c = &p->out->curve;
	const unsigned n = p->b->repetitions ? p->b->repetitions : p->b->a->kind == ACCESS_SIM ? SAMPLES_SIMULATED : SAMPLES_MACHINE;
	enum status st = c->count == CURVE_POINTS_MAX ? ST_FULL : samples_of(p, x, n, iteration_milli);
	const char *why;

	/* one load from memory takes as long as a hundred from the L3: code between jobs has evicted its line */
	for (unsigned attempt = 1; attempt < ATTEMPTS && p->curve->what == CURVE_OVERLAP && n > 2 && st == ST_OK &&
	     reduce_is_noisy(p->spread_milli, *iteration_milli, n, STAT_MEDIAN, &why); attempt++)
		st = samples_of(p, x, n, iteration_milli);
	if (st != ST_OK)
		return st;
	c->points[c->count].x = x;
	c->points[c->count++].milli = per_iteration(p->curve) ? *iteration_milli : *iteration_milli / x;
	return ST_OK;
}

static enum status walk(struct pass *p, int64_t *value_milli)
{
	const struct curve *c = &p->out->curve;
	enum status st = ST_OK;
	int64_t iteration = 0, spreads[CURVE_POINTS_MAX], least = INT64_MAX;
	unsigned at = 0;
	struct text remark;

	if (p->curve->value == VALUE_KNEE)
		return p->curve->what == CURVE_PAIRS ? curve_pairs(p, value_milli) : curve_knee(p, value_milli);
	if (p->row->prepare == PREPARE_WARM && p->loop.sets[0].mapped)
		st = go_round(p, CURVE_PASSES_MAX);
	for (uint32_t x = p->curve->what == CURVE_WALKS ? p->curve->most : 1; st == ST_OK && x <= p->curve->most; x += p->curve->what == CURVE_CHAINS ? (x + 1) / 2 : 1) {
		st = curve_point(p, x, &iteration);
		if (st != ST_OK)
			return st;
		spreads[c->count - 1] = p->spread_milli / (p->curve->what == CURVE_TWICE ? 1 : x);
		if (c->points[c->count - 1].milli < least)
			least = c->points[c->count - 1].milli;
	}
	if (st != ST_OK)
		return st;
	/* The curve must stay flat: a single step may meet a busy bank or slice, and the next one not. */
	while (p->curve->value == VALUE_FLAT ? c->points[at].milli - c->points[at].milli / 100 > least : at + 1 < c->count)
		at++;
	if (p->curve->value == VALUE_FLAT && at && at + 1 == c->count && !p->out->remark[0]) {
		text_init(&remark, p->out->remark, sizeof(p->out->remark));
		text_fmt(&remark, "still falls at %u loads in flight, the most that are tried", c->points[at].x);
	}
	*value_milli = c->points[at].milli;
	p->spread_milli = spreads[at];
	return ST_OK;
}

static const char *unit_of(const struct pass *p) { return p->curve->what == CURVE_CHAINS ? "addition" : "line"; }

/* Whether the events show that lines came from the source that the row requires. */
static bool proof_of(const struct pass *p, int64_t *each, struct text *proof)
{
	const struct counting *c = &p->loop.counting;

	for (unsigned e = 0; e < c->proof_count; e++)
		each[e] = mul_div(p->counts[e], 1000, p->units ? p->units : 1);
	return evidence_holds(c, each, unit_of(p), proof);
}

/* The curve has no knee: on this machine the instructions between two loads take as long as the loads, provided the lines came from memory. */
static void no_knee(const struct pass *p, bool quiet, struct row_result *out)
{
	int64_t each[ROW_PROOFS_MAX];
	struct text proof;

	text_init(&proof, out->proof, sizeof(out->proof));
	out->absent = quiet && (!p->loop.counting.proof_count || proof_of(p, each, &proof));
	out->status = out->absent ? ROW_UNSUPPORTED : ROW_UNPROVEN;
	str_copy(out->reason, sizeof(out->reason), p->curve->what == CURVE_PAIRS ? "memory needs longer for that many lines than one load takes: no clear knee" :
	         "the instructions between two loads take as long as memory: no clear knee");
	out->samples = 0;
}

static void judge(struct pass *p, int64_t value_milli, bool quiet, struct row_result *out)
{
	const struct counting *c = &p->loop.counting;
	int64_t each[ROW_PROOFS_MAX];
	struct text proof, reason;
	const char *noise = "";

	out->value_milli = value_milli;
	out->spread_milli = p->curve->value == VALUE_KNEE ? 0 : p->spread_milli;
	if (p->tsc > 0 && p->cycles_milli > 0)
		out->core_hz = (uint64_t)mul_div((int64_t)p->b->a->tsc_hz, p->cycles_milli, p->tsc * 1000);
	if (p->row->unit == UNIT_CYCLES) {
		out->cycles_milli = value_milli;
		out->ns_milli = out->core_hz ? mul_div(value_milli, 1000000000, (int64_t)out->core_hz) : -1;
	}
	out->noisy = reduce_is_noisy(p->spread_milli, p->curve->value == VALUE_KNEE ? p->spread_of_milli : value_milli, out->samples, STAT_MEDIAN, &noise);
	text_init(&proof, out->proof, sizeof(out->proof));
	out->status = ROW_UNPROVEN;
	text_init(&reason, out->reason, sizeof(out->reason));
	if (!c->proof_count)
		out->unprovable = evidence_lacking(p->b, c, &reason);
	else if (!proof_of(p, each, &proof)) {
		out->limited = p->row->page_bytes == PAGE_2M && p->pieces;
		text_fmt(&reason, "%s", out->limited ? "the DTLB has too few pieces of large pages for its ring: " : "");
		out->unprovable = evidence_refutes(c, each, unit_of(p), out->proof, &reason);
	}
	if (out->reason[0])
		return;
	if (!quiet) {
		str_copy(out->reason, sizeof(out->reason), "the prefetchers could not be switched off");
		return;
	}
	if (p->limit) {
		str_copy(out->reason, sizeof(out->reason), p->limit);
		out->limited = p->limited;
		return;
	}
	out->status = out->noisy ? ROW_NOISY : ROW_OK;
	if (out->noisy)
		str_copy(out->reason, sizeof(out->reason), noise);
}

void curve_row(struct bench *b, const struct row *r, const struct loop_hooks *hooks, struct row_result *out)
{
	struct pass p = { .b = b, .row = r, .curve = r->curve, .out = out };
	bool wanted = r->prefetch != PREFETCH_AS_FOUND && prefetchers_known(b), switched = false, quiet = true;
	uint64_t found = 0;
	int64_t value = 0;
	struct text reason;
	enum status st, stopped;

	p.loop.b = b;
	p.loop.row = r;
	p.loop.set_count = 1;
	b->disturbance.last_ratio_micro = 0;
	out->curve.x = r->curve->what == CURVE_OVERLAP || r->curve->what == CURVE_WALKS || r->curve->what == CURVE_SPREAD ? "loads" : r->curve->what == CURVE_CHAINS ? "additions" :
		r->curve->what == CURVE_PAIRS ? "lines" : "fillers";
	out->curve.unit = per_iteration(r->curve) ? "cycles an iteration" : "cycles each";
	if (r->prefetch == PREFETCH_PAIR && !b->cpu->processor->prefetch_pair) {
		str_copy(out->reason, sizeof(out->reason), "no prefetcher of this processor is known to bring the other line of a pair");
		st = ST_UNSUPPORTED;
	} else {
		p.pieces = curve_in_pieces(b); /* before anything is mapped where its ring will be */
		st = curve_set_up(&p, out);
	}
	if ((st == ST_UNSUPPORTED || st == ST_MISSING) && out->reason[0]) {
		out->status = ROW_UNSUPPORTED;
		out->absent = st == ST_UNSUPPORTED;
		loop_end(&p.loop, out);
		return;
	}
	text_init(&reason, out->reason, sizeof(out->reason));
	evidence_plan(b, r, 1, &p.loop.counting);
	out->reason[0] = 0;
	if (st == ST_OK && wanted)
		quiet = switched = r->prefetch == PREFETCH_PAIR ? prefetchers_pair(b, &found) : prefetchers_off(b, &found);
	if (st == ST_OK)
		st = p.loop.counting.on ? counters_start(b->a, b->cpu, &p.loop.counting.plan, 0, b->core) : window_clock(b, &p.loop.job, &p.tick_micro);
	if (st == ST_OK) {
		st = walk(&p, &value);
		if (p.loop.counting.on && (stopped = counters_stop(b->a, b->cpu, &p.loop.counting.plan, 0, b->core)) != ST_OK && st == ST_OK)
			st = stopped;
	}
	quiet = quiet && !p.pair_stays;
	if (st == ST_OK && p.at_least && quiet) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		text_init(&reason, out->reason, sizeof(out->reason));
		text_fmt(&reason, "the loads of %u pairs wait for each other, which hides its end", (unsigned)(value / 2000 + 1));
	} else if (st == ST_OK) {
		judge(&p, value, quiet, out);
		hooks->value(&p.loop, p.loop.sets[0].code_map.va, out);
	} else if (st == ST_UNSUPPORTED && r->curve->what == CURVE_PAIRS) {
		out->status = ROW_UNSUPPORTED;
		out->absent = quiet;
		str_copy(out->reason, sizeof(out->reason), quiet ? "no prefetcher brings the other line of a pair"
			: "no prefetcher that brings the other line of a pair shows through the noise");
	} else if (st == ST_RANGE && r->curve->value == VALUE_KNEE) {
		no_knee(&p, quiet, out);
	} else if (st == ST_MISSING) {
		out->status = ROW_UNPROVEN;
		text_init(&reason, out->reason, sizeof(out->reason));
		text_fmt(&reason, "no knee up to %u %s", r->curve->most, out->curve.x);
		out->samples = 0;
	} else if (p.disturbed) {
		out->status = ROW_NOISY;
		out->noisy = true;
		str_copy(out->reason, sizeof(out->reason), "every window was disturbed");
		out->samples = 0;
	} else {
		row_failed(out, st, &p.loop.job, "running the code of a curve");
	}
	if (switched && !prefetchers_back(b, found) && out->status == ROW_OK) {
		out->status = ROW_UNPROVEN;
		str_copy(out->reason, sizeof(out->reason), "the prefetchers could not be switched off");
	}
	loop_end(&p.loop, out);
}

enum mark { MARK_NOISY, MARK_TLB };
/* A member with the indices of the points so marked, if there are any. */
static void marks(struct text *t, const struct curve *c, const char *name, enum mark mark)
{
	bool any = false;

	for (unsigned i = 0; i < c->count; i++) {
		if (!(mark == MARK_NOISY ? c->points[i].noisy : c->points[i].tlb))
			continue;
		if (any)
			text_fmt(t, ", %u", i);
		else
			text_fmt(t, ", \"%s\": [%u", name, i);
		any = true;
	}
	if (any)
		text_char(t, ']');
}

void curve_json(struct text *t, const struct curve *c)
{
	text_fmt(t, "{\"columns\": [\"%s\", ", c->x);
	if (c->y)
		text_fmt(t, "\"%s\", ", c->y);
	text_fmt(t, "\"%s\"], \"points\": [", c->unit);
	for (unsigned i = 0; i < c->count; i++) {
		text_fmt(t, "%s[%u, ", i ? ", " : "", c->points[i].x);
		if (c->y)
			text_fmt(t, "%u, ", c->points[i].y);
		text_fixed(t, c->points[i].milli, 3);
		text_char(t, ']');
	}
	text_char(t, ']');
	marks(t, c, "noisy", MARK_NOISY);
	marks(t, c, "tlb", MARK_TLB);
	bool any = false;

	for (unsigned level = 0; level < CURVE_PLATEAUS; level++)
		if (c->plateau_milli[level]) {
			text_fmt(t, "%s\"%s\": ", any ? ", " : ", \"plateaus\": {", curve_plateau_name(level));
			text_fixed(t, c->plateau_milli[level], 3);
			any = true;
		}
	text_fmt(t, "%s}", any ? "}" : "");
}
