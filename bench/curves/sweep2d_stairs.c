/* bench/curves/sweep2d_stairs.c: the latency staircase; sweep2d.h. */
#include "bench/curves/sweep2d_parts.h"

#define STEP_PART 10               /* a larger working set is faster by at most 1/N */
#define STAIRS_LEAST 0x1000ull
#define STAIRS_MOST 0x20000000ull
#define STAIRS_FEWEST 16u          /* nodes: one iteration of k_chase */
#define WINDOW_SIMULATED 512u      /* loads of a window, at most */
#define WINDOW_MACHINE 16384u
#define WINDOW_TIMED 2048u         /* least number, where the TSC times them: a reading is some ten ticks off */
#define PASSES 2u                  /* passes over a point's nodes before its first window */
#define TLB_MILLI 20               /* misses per load, from which they show in the latency */
#define ABOVE_FACTOR 4u            /* a working set larger than a level by this factor leaves none of it there, whatever the replacement policy */
#define WITHIN_PART 2u             /* a working set of 1/N of a level fits beside page tables and the program */

static const uint32_t strides[] = { 64, 256, 1024, 4096, 16384, 131072 };

void sweep2d_stairs_watch(struct table *p)
{
	struct counting *c = &p->loop.counting;
	const struct expression *x = concept_counted(p->b->cpu->processor, "dtlb.load.miss");
	unsigned events = c->events;
	const char *problem;
	struct plan plan;

	if (c->on && x && expression_proves(x, 0, 0) && expression_events(x, c->list, &events, ROW_EVENTS_MAX) == ST_OK &&
	    plan_events(p->b->cpu, c->list, events, &plan, &problem) == ST_OK && plan.runs <= c->plan.runs) {
		c->plan = plan;
		c->events = events;
		p->misses = x;
	} else {
		p->pieces = tlb_splits_large_pages(p->b);
	}
}

/* Whether the last point's loads missed the first-level data TLB; where that is not counted, whether they are in more pages than it has entries. */
static bool misses_tlb(const struct table *p, uint64_t bytes, uint32_t nodes)
{
	const struct counting *c = &p->loop.counting;
	const uint64_t page = p->pieces ? PAGE_4K : p->loop.sets[0].map.page_bytes, pages = (bytes + page - 1) / page;
	const uint32_t entries = page == PAGE_4K ? p->b->own.tlb.dtlb_4k : p->b->own.tlb.dtlb_2m;
	int64_t micro;

	if (p->misses)
		return expression_value(p->misses, c->list, c->events, p->events_micro, &micro) == ST_OK && micro > TLB_MILLI * 1000;
	return entries && (pages < nodes ? pages : nodes) > entries;
}

/* Whether all larger working sets of a point's stride, at least one, take as long: a last level with hashed slices keeps distant lines of working
 * sets many times its size. */
static bool is_last_step(const struct curve *c, unsigned of)
{
	bool any = false;

	for (unsigned k = of + 1; k < c->count; k++) {
		if (c->points[k].y != c->points[of].y || c->points[k].noisy)
			continue;
		if (c->points[k].milli - c->points[k].milli / STEP_PART > c->points[of].milli)
			return false;
		any = true;
	}
	return any;
}

/* The fastest reliable point, without TLB misses, among working sets of that size; of each size only the two smallest strides count. 0: there is
 * none. */
static int64_t fastest_within(const struct curve *c, uint64_t from, uint64_t to, bool last_step)
{
	uint32_t size = 0, of_size = 0;
	int64_t fastest = 0;

	for (unsigned i = 0; i < c->count; i++) {
		const uint64_t bytes = (uint64_t)c->points[i].x << 10;

		of_size = c->points[i].x == size ? of_size + 1 : 0;
		size = c->points[i].x;
		if (of_size < 2 && !c->points[i].noisy && !c->points[i].tlb && bytes >= from && bytes <= to && (!last_step || is_last_step(c, i)) &&
		    (!fastest || c->points[i].milli < fastest))
			fastest = c->points[i].milli;
	}
	return fastest;
}

/* Plateaus of working sets that lie in a level and in none nearer to the core. Memory's is taken if it is above the L3's; otherwise the L3 holds
 * these lines too. */
static void plateaus(struct table *p)
{
	const struct cpu *cpu = p->b->cpu;
	struct curve *c = &p->out->curve;
	const unsigned last = cpu_last_level(cpu);
	const struct cpu_cache *own = cpu_cache(cpu, last), *above = last ? cpu_cache(cpu, last - 1) : NULL;

	for (unsigned level = 2; level <= last && level < CURVE_PLATEAU_MEMORY; level++) {
		const struct cpu_cache *smaller = cpu_cache(cpu, level - 1), *of = cpu_cache(cpu, level);

		if (smaller && of)
			c->plateau_milli[level] = fastest_within(c, ABOVE_FACTOR * smaller->bytes, of->bytes / WITHIN_PART, false);
	}
	if (!own)
		return;
	const int64_t memory = fastest_within(c, ABOVE_FACTOR * own->bytes, UINT64_MAX, true), l3 = last > 2 && above ? fastest_within(c, ABOVE_FACTOR * above->bytes, own->bytes, false) : 0;

	if (last <= 2 || (l3 && memory - memory / STEP_PART > l3))
		c->plateau_milli[CURVE_PLATEAU_MEMORY] = memory;
}

static enum status stairs_before(struct table *p, uint64_t units, uint64_t arguments[6])
{
	arguments[0] = p->loop.sets[0].at;
	arguments[1] = units / STAIRS_FEWEST;
	return ST_OK;
}

enum stair { STAIR_OF_VALUE /* the row's */, STAIR_OTHER };
static enum status stairs_point(struct table *p, uint64_t bytes, uint32_t stride, enum stair stair, int64_t *milli)
{
	struct working_set *w = &p->loop.sets[0];
	const uint32_t nodes = (uint32_t)(bytes / stride), most = p->b->a->kind == ACCESS_SIM ? WINDOW_SIMULATED : WINDOW_MACHINE;
	enum status st = ST_OK;

	random_cycle(&p->b->random, p->order, nodes);
	for (uint32_t i = 0; i < nodes; i++)
		*(uint64_t *)((uint8_t *)w->map.host + (uint64_t)i * stride) = w->map.va + (uint64_t)p->order[i] * stride;
	w->at = w->map.va;
	for (unsigned pass = 0; pass < PASSES && st == ST_OK; pass++)
		st = sweep2d_run(p, "k_chase", w->at, nodes / STAIRS_FEWEST, 0);
	/* The first point's windows are long enough to hide one mispredicted exit. */
	const uint32_t least = p->loop.counting.on || p->b->a->kind == ACCESS_SIM ? 0 : WINDOW_TIMED, window = nodes > least ? nodes : least;

	if (st == ST_OK)
		st = sweep2d_measure(p, w->kernel, stairs_before, window < most && stair == STAIR_OTHER ? window : most, milli);
	p->tlb = st == ST_OK && misses_tlb(p, bytes, nodes);
	return st;
}

/* The fastest reliable point of the same stride and a larger working set; c->count: there is none. */
static unsigned fastest_beyond(const struct curve *c, unsigned of)
{
	unsigned fastest = c->count;

	for (unsigned k = of + 1; k < c->count; k++)
		if (c->points[k].y == c->points[of].y && !c->points[k].noisy && (fastest == c->count || c->points[k].milli < c->points[fastest].milli))
			fastest = k;
	return fastest;
}

static bool is_beaten(const struct curve *c, unsigned i, unsigned by)
{
	return by < c->count && c->points[i].milli - c->points[i].milli / STEP_PART > c->points[by].milli;
}

/* Measures a recorded point again. A point that was beaten takes the lower value; one that beats another takes the value of longer windows. */
static enum status again(struct table *p, unsigned i, enum stair stair)
{
	struct curve *c = &p->out->curve;
	int64_t milli = 0;
	const enum status st = stairs_point(p, (uint64_t)c->points[i].x << 10, c->points[i].y, stair, &milli);

	if (st == ST_OK && milli > 0 && (stair == STAIR_OF_VALUE || milli < c->points[i].milli)) {
		c->points[i].milli = milli;
		c->points[i].noisy = p->noisy;
		c->points[i].tlb = p->tlb;
	}
	return st;
}

/* Measures again the points that a larger working set of the same stride beats, the largest first: neighbours only add time. Then measures the
 * point that beats them, in longer windows: short ones differ by the few lines that code between them displaced. Pairs that remain so are both
 * noisy. */
static enum status stairs_again(struct table *p)
{
	struct curve *c = &p->out->curve;
	enum status st = ST_OK;

	for (unsigned i = c->count; i-- > 0 && st == ST_OK;) {
		unsigned by = fastest_beyond(c, i);

		for (unsigned t = 0; t < SWEEP2D_ATTEMPTS && st == ST_OK && is_beaten(c, i, by); t++)
			st = again(p, i, STAIR_OTHER);
		for (unsigned t = 0; t < SWEEP2D_ATTEMPTS && st == ST_OK && is_beaten(c, i, by); t++) {
			st = again(p, by, STAIR_OF_VALUE);
			by = fastest_beyond(c, i);
		}
		while (is_beaten(c, i, by)) {
			c->points[i].noisy = c->points[by].noisy = true;
			by = fastest_beyond(c, i);
		}
	}
	return st;
}

enum status sweep2d_stairs(struct table *p)
{
	struct working_set *w = &p->loop.sets[0];
	int64_t first = 0, spread = 0, counts[ROW_PROOFS_MAX] = { 0 }, milli;
	enum status st = ST_FULL;

	p->out->curve.x = "KiB";
	p->out->curve.y = "stride_bytes";
	p->out->curve.unit = "cycles";
	w->shape = (struct shape){ .order = ORDER_STREAMS, .page_bytes = p->loop.row->page_bytes, .line_bytes = SWEEP2D_LINE };
	/* as much as there is memory for */
	for (uint64_t bytes = STAIRS_MOST; bytes >= STAIRS_LEAST && (st == ST_FULL || st == ST_MISSING); bytes /= 2) {
		w->shape.bytes = w->shape.span_bytes = bytes;
		st = window_set_up(p->b, w, 0, p->out);
	}
	if (st == ST_OK && w->shape.bytes < STAIRS_MOST)
		str_copy(p->out->remark, sizeof(p->out->remark), "not enough memory: the staircase ends early");
	p->out->footprint_bytes = w->shape.bytes;
	p->out->page_bytes = w->map.page_bytes;
	for (uint64_t bytes = STAIRS_LEAST; bytes <= w->shape.bytes && st == ST_OK; bytes *= 2)
		for (unsigned s = 0; s < COUNT_OF(strides) && st == ST_OK; s++) {
			if (bytes / strides[s] < STAIRS_FEWEST || bytes / strides[s] > p->nodes_most)
				continue;
			const bool value = bytes == STAIRS_LEAST && s == 0;

			st = stairs_point(p, bytes, strides[s], value ? STAIR_OF_VALUE : STAIR_OTHER, &milli);
			if (st == ST_OK)
				sweep2d_note(p, (uint32_t)(bytes >> 10), strides[s], milli);
			if (!value)
				continue;
			first = milli;
			spread = p->spread_milli;
			memcpy(counts, p->counts, sizeof(counts));
		}
	if (st == ST_OK)
		st = stairs_again(p);
	if (st == ST_OK)
		plateaus(p);
	if (st == ST_OK)
		sweep2d_judge(p, first, spread, counts, "load");
	return st;
}
