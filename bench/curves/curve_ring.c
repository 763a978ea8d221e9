/* bench/curves/curve_ring.c: the ring of nodes that a curve's loads go round, and its state before the first point. */
#include "bench/curves/curve_pass.h"

#define ITERATIONS 8u             /* iterations of the shorter window */
#define ITERATIONS_TWICE 512u     /* of CURVE_TWICE: enough to average over DRAM pages that happen to be open */
#define ITERATIONS_SPREAD 32u     /* of CURVE_SPREAD and CURVE_OVERLAP: likewise */
#define PAIR_ITERATIONS_SIMULATED 2u /* CURVE_PAIRS on a simulated machine: whole nodes are flushed before each window */
#define TWICE_NODES 2048u         /* of CURVE_TWICE: as many iterations are sampled */
#define SPREAD_NODES 2560u        /* of CURVE_SPREAD: lines are flushed all at once, rarely */
#define FILLED_NODES 64u         /* of CURVE_WINDOW in regions: likewise */
#define SPREAD_STEP 11u           /* lines from node to node: a region's lines alternate over any number of channels up to ten */
#define WALKS_BESIDE 4u           /* ways of an L2 set that a ring of CURVE_WALKS leaves to page-table lines and the wrapper */
#define WALKS_ITERATIONS 128u     /* of CURVE_WALKS, at least: with two in a window, three walkers' walks seemed 9 % shorter */
#define LINE 64u
#define DRAM_LINES (CURVE_NODE_BYTES / LINE)
#define L3_LINES 32u              /* lines of a node in a ring that fills a cache level */
#define PIECE_LINES 4u            /* lines of a node of CURVE_WINDOW where the DTLB keeps large pages in pieces: all lie in one piece, as each job begins with an empty TLB */
#define L3_FACTOR 8u              /* size of an L3 ring, in L2s */

/* Distance between regions, in lines: one more than a number that most channel counts divide, so that a node's lines alternate over the channels. */
static uint32_t spread_lines(uint64_t bytes, uint32_t regions)
{
	static const uint32_t multiples[] = { 2520, 840, 120, 24, 1 };
	const uint32_t region = (uint32_t)(bytes / LINE / regions) - 1;

	for (unsigned i = 0; i < COUNT_OF(multiples); i++)
		if (region >= multiples[i])
			return region / multiples[i] * multiples[i] + 1;
	return 1;
}

uint32_t curve_region_lines(const struct row_curve *c, uint64_t bytes)
{
	return spread_lines(bytes, curve_regions(c) + (c->what == CURVE_SPREAD ? 0 : FILLED_NODES * 13 / 24 + 1));
}

/* Pages of the ring: twice the entries of the larger TLB level, limited by the room in the L2. The ring has at least two nodes, each with a page
 * for each load of an iteration. */
static uint32_t walk_pages(const struct pass *p)
{
	const uint32_t first = p->b->cpu->tlb.dtlb_4k, second = p->b->cpu->tlb.stlb_4k, larger = first > second ? first : second;
	const uint32_t entries = larger > p->curve->most ? larger : p->curve->most;

	return shape_missing_pages(entries, 2 * entries, cpu_cache(p->b->cpu, 2), LINE);
}

/* Shapes the ring. Where DRAM rows may stay open, it is spread like the other chases in memory. */
static void shape_ring(struct pass *p, struct working_set *w, const struct cpu_cache *l2)
{
	const uint64_t memory = shape_memory_span(p->b->cpu);

	w->shape.order = ORDER_LINES;
	w->shape.page_bytes = p->row->page_bytes;
	w->shape.line_bytes = p->lines * LINE; /* a node counts as one line */
	p->iterations = p->curve->what == CURVE_PAIRS && p->b->a->kind == ACCESS_SIM ? PAIR_ITERATIONS_SIMULATED : ITERATIONS;
	w->shape.nodes = 2 * p->iterations;
	if (p->row->target == TARGET_STLB) { /* a page for each load */
		w->shape.line_bytes = p->curve->most * CURVE_PAGE;
		w->shape.nodes = walk_pages(p) / p->curve->most;
		/* One pass over the ring, so that it does not matter which lines the L1 holds. Two passes if L2 sets have no room for its lines,
		 * page-table lines and the wrapper together: some lines are then evicted and missed once a window, and the last of these misses
		 * would still be in flight when a shorter window ends. */
		const uint64_t sets = cpu_cache_way_bytes(l2) / LINE;
		const bool full = sets && (walk_pages(p) + sets - 1) / sets + WALKS_BESIDE > l2->ways;

		/* A group of parallel walks more or less at the end of a window does not show. */
		p->iterations = w->shape.nodes << full;
		p->iterations *= (WALKS_ITERATIONS + p->iterations - 1) / p->iterations;
	} else if (p->row->target == TARGET_L3) {
		p->iterations = ITERATIONS_SPREAD; /* with fewer, one group of parallel loads more or less would show */
		w->shape.nodes = (uint32_t)(L3_FACTOR * l2->bytes / w->shape.line_bytes);
	} else if (p->curve->what == CURVE_TWICE) {
		p->iterations = ITERATIONS_TWICE;
		w->shape.nodes = TWICE_NODES;
		w->shape.line_bytes = (uint32_t)(memory / TWICE_NODES) - LINE; /* not all in one set */
		if (memory < 3ull * TWICE_NODES * LINE)
			w->shape.line_bytes = LINE;
		if (shape_in_pieces(p->b->cpu) && memory >= (uint64_t)TWICE_NODES * LINE) { /* far apart: otherwise most loads would hit a DRAM page that another load opened */
			w->shape.order = ORDER_SPARSE;
			w->shape.line_bytes = LINE;
			w->shape.piece_bytes = PAGE_2M;
		}
	} else if (p->curve->what == CURVE_SPREAD) {
		p->iterations = ITERATIONS_SPREAD;
		p->lines = curve_region_lines(p->curve, memory);
		w->shape.nodes = p->lines / (p->lines >= SPREAD_STEP * 3 * ITERATIONS_SPREAD ? SPREAD_STEP : 1);
		w->shape.nodes = w->shape.nodes < SPREAD_NODES ? w->shape.nodes : SPREAD_NODES;
		w->shape.line_bytes = p->lines / w->shape.nodes * LINE;
		w->shape.bytes = memory;
		return;
	} else if (curve_regions(p->curve)) {
		p->lines = curve_region_lines(p->curve, memory);
		w->shape.nodes = FILLED_NODES;
		/* 13 m + 1 of 24 m + 1 lines: no two nodes share a line, and few share a DRAM page that is still open */
		w->shape.line_bytes = (p->lines / 24 * 13 + 1) * LINE;
		w->shape.bytes = memory;
		return;
	}
	w->shape.bytes = (uint64_t)w->shape.nodes * w->shape.line_bytes;
	w->shape.bytes = (w->shape.bytes + PAGE_4K - 1) / PAGE_4K * PAGE_4K;
}

/* Passes until one gets no shorter, as window_warm_up does: a level that is not LRU takes several passes to evict its earlier lines. */
static enum status settle(struct pass *p, const struct working_set *w)
{
	const struct kernel *touch = kernel_find("k_touch");
	const uint64_t arguments[6] = { w->map.va, w->shape.bytes / LINE, LINE };
	uint64_t before = 0;

	for (unsigned pass = 0; pass < CURVE_PASSES_MAX; pass++) {
		struct window took;
		enum status st = touch ? window_run(p->b, touch, arguments, NULL, 0, &took, &p->loop.job) : ST_BROKEN;

		if (st != ST_OK || (pass && took.tsc >= before - before / CURVE_SETTLED_PART))
			return st;
		before = took.tsc;
	}
	return ST_OK;
}

bool curve_in_pieces(struct bench *b)
{
	return shape_in_pieces(b->cpu) || (!b->cpu->tlb_enumerated && tlb_splits_large_pages(b));
}

enum status curve_set_up(struct pass *p, struct row_result *out)
{
	struct working_set *w = &p->loop.sets[0];
	const struct cpu_cache *l2 = cpu_cache(p->b->cpu, 2);
	enum status st = ST_OK;

	if ((p->row->target == TARGET_L3 || p->row->target == TARGET_STLB) && !p->b->cpu->cache_count) {
		str_copy(out->reason, sizeof(out->reason), "the caches are not known");
		return ST_MISSING;
	}
	if (p->row->target == TARGET_STLB && !p->b->cpu->tlb.dtlb_4k) {
		str_copy(out->reason, sizeof(out->reason), "size of the DTLB is not known");
		return ST_MISSING;
	}
	if (p->row->target == TARGET_L3 && (!cpu_cache(p->b->cpu, 3) || !l2)) {
		str_copy(out->reason, sizeof(out->reason), "no L3 cache");
		return ST_UNSUPPORTED;
	}
	if (p->row->target == TARGET_L3 && L3_FACTOR * l2->bytes > cpu_cache(p->b->cpu, 3)->bytes / 4 * 3) {
		str_copy(out->reason, sizeof(out->reason), "the L3 is not ten times the L2");
		return ST_UNSUPPORTED;
	}
	if (p->row->target == TARGET_STLB && !walk_pages(p)) {
		str_copy(out->reason, sizeof(out->reason), "one line a page would not stay in the L2");
		return ST_UNSUPPORTED;
	}
	p->lines = p->row->target == TARGET_L3 ? L3_LINES : DRAM_LINES;
	if (p->curve->what == CURVE_WINDOW && p->curve->filler != FILLER_MISS && p->pieces)
		p->lines = PIECE_LINES;
	w->kernel = kernel_find(p->row->kernels[0]);
	shape_ring(p, w, l2);
	w->shape.span_bytes = w->shape.bytes + w->shape.bytes / PAGE_4K * w->shape.piece_bytes + PAGE_4K + curve_limit_bytes(p->b->cpu, p->curve);
	if (!w->kernel)
		return ST_BROKEN;
	if (p->row->target != TARGET_CORE) {
		st = window_set_up(p->b, w, 0, out);
		out->footprint_bytes = w->shape.bytes;
		out->page_bytes = w->map.page_bytes;
	} else {
		w->shape.bytes = 0;
	}
	return st == ST_OK && p->row->target == TARGET_L3 ? settle(p, w) : st;
}
