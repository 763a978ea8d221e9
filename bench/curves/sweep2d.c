/* bench/curves/sweep2d.c: two-dimensional sweeps: the latency staircase, a gather with prefetch; sweep2d.h. */
#include "bench/curves/sweep2d_parts.h"

#define LINE SWEEP2D_LINE
#define SAMPLES 3u
#define SURE_PART 20               /* a point is reliable if its deviation is at most 1/N of it */
#define NODES_SIMULATED 4096u      /* of a point at most, within the row's budget */
#define NODES_MACHINE 0x100000u    /* on real machines: all points together take less than 5 s */
#define GATHER_LINES 256u
#define GATHER_WINDOW 64u          /* elements of the shorter window */
#define GATHER_NEAR 32             /* distances within 1/N of the fastest are equally good */

static const uint32_t works[] = { 1, 8, 32, 128 };
static const uint32_t distances[] = { 0, 1, 2, 4, 8, 16, 32 }; /* less than the elements of the shorter window: both windows end with the same number of prefetches in flight */

enum status sweep2d_run(struct table *p, const char *kernel, uint64_t a, uint64_t b, uint64_t c)
{
	const struct kernel *k = kernel_find(kernel);
	const uint64_t arguments[6] = { a, b, c };
	struct window ignored;

	return k ? window_run(p->b, k, arguments, NULL, 0, &ignored, &p->loop.job) : ST_BROKEN;
}

/* Windows of n and 2n units: thousandths of a cycle a unit, and what was counted. */
static enum status attempt(struct table *p, const struct kernel *k, sweep2d_before *before, uint64_t n, int64_t *unit_milli)
{
	int64_t samples[SAMPLES], work[SAMPLES];
	struct counting *c = &p->loop.counting;
	enum status st = ST_OK;
	unsigned spoilt = 0;

	memset(p->counts, 0, sizeof(p->counts));
	memset(p->events_micro, 0, sizeof(p->events_micro));
	for (unsigned i = 0; i <= SAMPLES && st == ST_OK; i++) { /* the first one warms up */
		struct window w[2];
		int64_t cycles[2], of_events[ROW_EVENTS_MAX], values[ROW_PROOFS_MAX];

		bench_working(p->b);
		noise_check_before(p->b);
		for (unsigned longer = 0; longer < 2 && st == ST_OK; longer++) {
			uint64_t arguments[6] = { 0 };

			st = before(p, n << longer, arguments);
			if (st == ST_OK)
				st = window_run(p->b, k, arguments, c, 0, &w[longer], &p->loop.job);
			p->loop.sets[0].at = w[longer].result;
			cycles[longer] = c->on ? (int64_t)w[longer].counts[0] * 1000 : mul_div((int64_t)w[longer].tsc, p->tick_micro, 1000);
		}
		if (noise_check_after(p->b)) {
			p->out->rejected++;
			p->disturbed |= spoilt == SAMPLES;
			if (spoilt++ < SAMPLES) {
				i--;
				continue;
			}
		}
		if (!i || st != ST_OK)
			continue;
		samples[i - 1] = (cycles[1] - cycles[0]) / (int64_t)n;
		p->tsc += (int64_t)(w[0].tsc + w[1].tsc);
		p->cycles_milli += cycles[0] + cycles[1];
		for (unsigned e = 0; c->on && e < c->events; e++)
			of_events[e] = (int64_t)(w[1].counts[e] - w[0].counts[e]);
		evidence_values(c, of_events, values);
		for (unsigned e = 0; e < c->proof_count; e++)
			p->counts[e] += values[e];
		for (unsigned e = 0; c->on && e < c->events; e++)
			p->events_micro[e] += of_events[e];
	}
	if (st != ST_OK)
		return st;
	*unit_milli = reduce_median(samples, SAMPLES);
	p->spread_milli = reduce_mad(samples, SAMPLES, *unit_milli, work);
	for (unsigned e = 0; e < c->proof_count; e++)
		p->counts[e] = mul_div(p->counts[e], 1000, (int64_t)(n * SAMPLES));
	for (unsigned e = 0; e < c->events; e++)
		p->events_micro[e] = mul_div(p->events_micro[e], 1000000, (int64_t)(n * SAMPLES));
	return ST_OK;
}

enum status sweep2d_measure(struct table *p, const struct kernel *k, sweep2d_before *before, uint64_t n, int64_t *unit_milli)
{
	int64_t counts[ROW_PROOFS_MAX] = { 0 }, value = 0, spread = 0;

	p->noisy = true;
	for (unsigned i = 0; i < SWEEP2D_ATTEMPTS && p->noisy; i++) {
		enum status st = window_clock_follow(p->b, &p->loop.counting, &p->loop.job, &p->tick_micro);
		const int64_t tick_micro = p->tick_micro;

		if (st == ST_OK)
			st = attempt(p, k, before, n, unit_milli);
		if (st == ST_OK)
			st = window_clock_follow(p->b, &p->loop.counting, &p->loop.job, &p->tick_micro);
		if (st != ST_OK)
			return st;
		if (p->tick_micro != tick_micro) /* a clock that changed meanwhile makes the cycles uncertain to the same degree */
			p->spread_milli += mul_div(*unit_milli, p->tick_micro > tick_micro ? p->tick_micro - tick_micro : tick_micro - p->tick_micro, tick_micro);
		if (*unit_milli <= 0 || (value && p->spread_milli >= spread))
			continue;
		value = *unit_milli;
		spread = p->spread_milli;
		memcpy(counts, p->counts, sizeof(counts));
		p->noisy = spread > value / SURE_PART;
	}
	*unit_milli = value;
	p->spread_milli = spread;
	memcpy(p->counts, counts, sizeof(counts));
	return ST_OK;
}

void sweep2d_note(struct table *p, uint32_t x, uint32_t y, int64_t milli)
{
	struct curve *c = &p->out->curve;

	if (c->count == CURVE_POINTS_MAX || milli <= 0)
		return;
	c->points[c->count].noisy = p->noisy;
	c->points[c->count].tlb = p->tlb;
	c->points[c->count].x = x;
	c->points[c->count].y = y;
	c->points[c->count++].milli = milli;
}

void sweep2d_judge(struct table *p, int64_t value_milli, int64_t spread_milli, const int64_t *counts, const char *unit)
{
	struct row_result *out = p->out;
	const struct counting *c = &p->loop.counting;
	const struct working_set done = { .kernel = p->loop.sets[0].kernel }; /* its unit is a load, not an iteration */
	struct text proof, reason;
	const char *noise = "";

	out->value_milli = out->cycles_milli = value_milli;
	out->spread_milli = spread_milli;
	out->samples = value_milli > 0 ? SAMPLES : 0;
	out->noisy = reduce_is_noisy(spread_milli, value_milli, SAMPLES, STAT_MEDIAN, &noise) || p->disturbed;
	if (p->disturbed)
		noise = "windows were disturbed again and again";
	out->core_hz = p->tsc > 0 ? (uint64_t)mul_div((int64_t)p->b->a->tsc_hz, p->cycles_milli, p->tsc * 1000) : 0;
	out->ns_milli = out->core_hz ? mul_div(value_milli, 1000000000, (int64_t)out->core_hz) : -1;
	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	out->status = ROW_UNPROVEN;
	if (!c->proof_count)
		out->unprovable = evidence_lacking(p->b, c, &reason);
	else if (!evidence_holds(c, counts, unit, &proof))
		out->unprovable = evidence_refutes(c, counts, unit, out->proof, &reason);
	else if (evidence_work_holds(c, &done, p->events_micro, unit, out)) {
		out->status = out->noisy ? ROW_NOISY : ROW_OK;
		text_fmt(&reason, "%s", out->noisy ? noise : "");
	}
	evidence_add_noise(out, noise);
}

/* --- a gather ------------------------------------------------------------------------------------ */

uint32_t sweep2d_gather_code(uint32_t work, uint32_t distance, uint8_t *code)
{
	static const uint8_t ahead[] = { 0x8B, 0x82 };                             /* mov eax, [rdx + 4 * distance] */
	static const uint8_t ask[] = { 0x41, 0x0F, 0x18, 0x0C, 0x01 };             /* prefetcht0 [r9 + rax] */
	static const uint8_t load[] = { 0x8B, 0x02, 0x4D, 0x8B, 0x04, 0x01 };      /* mov eax, [rdx]; mov r8, [r9 + rax] */
	static const uint8_t use[] = { 0x4C, 0x01, 0xC1 };                         /* add rcx, r8 */
	static const uint8_t next[] = { 0x48, 0x83, 0xC2, 0x04, 0x41, 0xFF, 0xE3 }; /* add rdx, 4; jmp r11 */
	uint32_t n = 0, offset = 4 * distance;

#define PUT(bytes) (memcpy(code + n, bytes, sizeof(bytes)), n += sizeof(bytes))
	if (distance) {
		PUT(ahead);
		memcpy(code + n, &offset, sizeof(offset));
		n += sizeof(offset);
		PUT(ask);
	}
	PUT(load);
	for (uint32_t i = 0; i < work; i++)
		PUT(use);
	PUT(next);
#undef PUT
	return n;
}

/* Flushes all lines of the data; the offsets stay in the caches. */
static enum status gather_before(struct table *p, uint64_t units, uint64_t arguments[6])
{
	const struct working_set *w = &p->loop.sets[0];
	const uint64_t offsets = w->map.va + GATHER_LINES * LINE;
	enum status st = p->loop.row->prepare == PREPARE_FLUSH ? sweep2d_run(p, "k_flush", w->map.va, GATHER_LINES, LINE) : ST_OK;

	if (st == ST_OK)
		st = sweep2d_run(p, "k_touch", offsets, GATHER_LINES * 4 / LINE, LINE);
	arguments[0] = w->code_map.va;
	arguments[1] = units;
	arguments[2] = offsets;
	arguments[5] = w->map.va;
	return st;
}

/* Maps the code anew for each point: no processor then holds bytes prefetched before they were written. */
static enum status gather_write(struct table *p, uint32_t work, uint32_t distance)
{
	struct working_set *w = &p->loop.sets[0];
	const struct access *a = p->b->a;
	enum status st = w->code_mapped ? a->ops->unmap(a->self, &w->code_map) : ST_OK;

	w->code_mapped = false;
	if (st != ST_OK)
		return st;
	w->code_map = (struct mapping){ .va = SPACE_SCRATCH, .bytes = GATHER_CODE_BYTES, .page_bytes = PAGE_4K, .executable = true };
	st = a->ops->map(a->self, &w->code_map);
	w->code_mapped = st == ST_OK;
	if (st == ST_OK)
		(void)sweep2d_gather_code(work, distance, w->code_map.host);
	return st;
}

/* Whether the last point's counts show that prefetches fetched its lines. */
static bool gather_prefetched(struct table *p)
{
	char ignored[sizeof(p->out->proof)];
	struct text t;

	text_init(&t, ignored, sizeof(ignored));
	return !p->loop.counting.proof_count || evidence_holds(&p->loop.counting, p->counts, "element", &t);
}

/* The median of the n intervals that exceed the least by at most one part in GATHER_NEAR. */
static int64_t gather_value(int64_t *milli, unsigned n)
{
	unsigned near = 0;

	reduce_sort(milli, n);
	while (near < n && milli[near] <= milli[0] + milli[0] / GATHER_NEAR)
		near++;
	return near ? reduce_median(milli, near) : 0;
}

/* The value is that of the points with the most work: of those whose lines were prefetched and that are as good as the fastest; if no point's
 * lines were, of all with a distance above 0. Of several equally good distances, the fastest alone would be too fast by its error. */
static enum status gather_points(struct table *p)
{
	int64_t best = 0, spread = 0, counts[ROW_PROOFS_MAX] = { 0 }, milli, each[COUNT_OF(distances)];
	unsigned n = 0;
	enum status st = ST_OK;
	bool proved = false;

	for (unsigned i = 0; i < COUNT_OF(works) && st == ST_OK; i++)
		for (unsigned d = 0; d < COUNT_OF(distances) && st == ST_OK; d++) {
			st = gather_write(p, works[i], distances[d]);
			if (st == ST_OK)
				st = sweep2d_measure(p, p->loop.sets[0].kernel, gather_before, GATHER_WINDOW, &milli);
			if (st != ST_OK)
				break;
			sweep2d_note(p, works[i], distances[d], milli);
			const bool prefetched = gather_prefetched(p);

			if (i + 1 < COUNT_OF(works) || !d || milli <= 0 || (n && prefetched < proved))
				continue;
			n = prefetched > proved ? 0 : n;
			each[n++] = milli;
			if (n > 1 && milli >= best)
				continue;
			proved = prefetched;
			best = milli;
			spread = p->spread_milli;
			memcpy(counts, p->counts, sizeof(counts));
		}
	if (st == ST_OK)
		sweep2d_judge(p, gather_value(each, n), spread, counts, "element");
	return st;
}

static enum status gather(struct table *p)
{
	struct working_set *w = &p->loop.sets[0];
	uint32_t *offsets;
	enum status st;

	p->out->curve.x = "additions";
	p->out->curve.y = "elements_ahead";
	p->out->curve.unit = "cycles each";
	w->shape = (struct shape){ .order = ORDER_STREAMS, .page_bytes = p->loop.row->page_bytes, .line_bytes = LINE };
	w->shape.bytes = w->shape.span_bytes = GATHER_LINES * (LINE + 4);
	st = window_set_up(p->b, w, 0, p->out);
	if (st != ST_OK)
		return st;
	p->out->footprint_bytes = w->shape.bytes;
	p->out->page_bytes = w->map.page_bytes;
	random_shuffle(&p->b->random, p->order, GATHER_LINES);
	offsets = (uint32_t *)(void *)((uint8_t *)w->map.host + GATHER_LINES * LINE);
	for (uint32_t i = 0; i < GATHER_LINES; i++)
		offsets[i] = p->order[i] * LINE;
	return gather_points(p);
}

/* ------------------------------------------------------------------------------------------------- */

static enum status counted(struct table *p)
{
	struct bench *b = p->b;
	struct counting *c = &p->loop.counting;
	enum status st = c->on ? counters_start(b->a, b->cpu, &c->plan, 0, b->core) : window_clock(b, &p->loop.job, &p->tick_micro), stopped;

	if (st == ST_OK)
		st = p->loop.row->order == ORDER_GATHER ? gather(p) : sweep2d_stairs(p);
	if (c->on && (stopped = counters_stop(b->a, b->cpu, &c->plan, 0, b->core)) != ST_OK && st == ST_OK)
		st = stopped;
	return st;
}

static void table_row(struct bench *b, const struct row *r, struct row_result *out, uint32_t nodes_most)
{
	struct table p = { .b = b, .out = out, .nodes_most = nodes_most };
	const size_t bytes = nodes_most * sizeof(*p.order);
	uint64_t found = 0;
	bool wanted = prefetchers_known(b), switched = false;
	struct text reason;
	enum status st;

	p.loop.b = b;
	p.loop.row = r;
	p.loop.set_count = 1;
	p.loop.sets[0].kernel = kernel_find(out->kernel);
	p.order = b->host->get(b->host->self, bytes);
	st = p.order && p.loop.sets[0].kernel ? ST_OK : ST_FULL;
	text_init(&reason, out->reason, sizeof(out->reason));
	evidence_plan(b, r, 1, &p.loop.counting);
	out->reason[0] = 0;
	if (r->order == ORDER_STAIRS)
		sweep2d_stairs_watch(&p);
	if (st == ST_OK && wanted)
		switched = prefetchers_off(b, &found);
	if (st == ST_OK)
		st = counted(&p);
	if (switched && !prefetchers_back(b, found))
		switched = false;
	if (st != ST_OK) {
		out->curve.count = 0;
		row_failed(out, st, &p.loop.job, "running a table's point");
	} else if (wanted && !switched && out->status == ROW_OK) {
		out->status = ROW_UNPROVEN;
		str_copy(out->reason, sizeof(out->reason), "the prefetchers could not be switched off");
	}
	if (p.order)
		b->host->put(b->host->self, p.order, bytes);
	loop_end(&p.loop, out);
}

void sweep2d_stairs_row(struct bench *b, const struct row *r, struct row_result *out)
{
	table_row(b, r, out, b->a->kind == ACCESS_SIM ? NODES_SIMULATED : NODES_MACHINE);
}

void sweep2d_gather_row(struct bench *b, const struct row *r, struct row_result *out)
{
	table_row(b, r, out, GATHER_LINES);
}

static unsigned columns_of(const struct curve *c, uint32_t ys[CURVE_POINTS_MAX])
{
	unsigned columns = 0;

	for (unsigned i = 0; i < c->count; i++) {
		unsigned k = 0, at;

		while (k < columns && ys[k] < c->points[i].y)
			k++;
		if (k < columns && ys[k] == c->points[i].y)
			continue;
		for (at = columns++; at > k; at--)
			ys[at] = ys[at - 1];
		ys[k] = c->points[i].y;
	}
	return columns;
}

void sweep2d_table_lines(struct text *t, const struct curve *c)
{
	uint32_t ys[CURVE_POINTS_MAX];
	unsigned columns = columns_of(c, ys), at = 0;
	bool tlb = false;

	if (!c->y || !c->count)
		return;
	text_fmt(t, "  %s, by %s (down) and %s\n  %6s", c->unit, c->x, c->y, "");
	for (unsigned k = 0; k < columns; k++)
		text_fmt(t, " %7u", ys[k]);
	text_char(t, '\n');
	while (at < c->count) {
		const uint32_t x = c->points[at].x;

		text_fmt(t, "  %6u", x);
		for (unsigned k = 0; k < columns; k++)
			if (at < c->count && c->points[at].x == x && c->points[at].y == ys[k]) {
				const char *const mark = c->points[at].noisy ? "~" : c->points[at].tlb ? "+" : "";

				tlb |= c->points[at].tlb;
				text_fmt(t, " %s%*lld.%lld", mark, *mark ? 4 : 5, (long long)(c->points[at].milli / 1000), (long long)(c->points[at].milli % 1000 / 100));
				at++;
			} else {
				text_fmt(t, " %7s", "");
			}
		text_char(t, '\n');
	}
	if (tlb)
		text_fmt(t, "  + loads miss the first-level data TLB: what that costs is in the value\n");
}
