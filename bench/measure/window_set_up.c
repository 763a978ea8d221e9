/* bench/measure/window_set_up.c: maps a working set, fills it with its ring or its contents, and writes the code that a row needs. */
#include "bench/measure/codegen.h"
#include "bench/measure/cores.h"


/* Moves on to the first node of the first page: windows start and end with a page, a DRAM page too. */
static void go_to_first_page(struct working_set *w)
{
	uint64_t before;

	do {
		before = w->at;
		w->at = *(uint64_t *)mapping_at(&w->map, before - w->map.va);
	} while (before - w->map.va < PAGE_4K || w->at - w->map.va >= PAGE_4K);
}

#define CODE_STRIDE 0x10000000ull /* between the code of test and baseline in SPACE_SCRATCH */
static enum status map_working_set(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out)
{
	uint64_t page = w->shape.page_bytes;
	bool large_pages = w->shape.order == ORDER_PAGES; /* the row is about this page size: no other will do */
	bool wide = out->row->order == ORDER_PAGES && page > PAGE_4K; /* its baseline is placed as far away */
	enum status st;

	for (;;) {
		memset(&w->map, 0, sizeof(w->map));
		w->map.va = SPACE_DATA + slot * (wide ? LARGE_SPAN_MAX : PAGE_1G);
		w->map.page_bytes = page;
		w->map.node = cores_node(b, out->row->node);
		w->map.repeats = large_pages && page > PAGE_4K && w->shape.spread_pages == 1 && w->shape.nodes <= page / w->shape.line_bytes;
		w->map.bytes = (w->shape.span_bytes + page - 1) / page * page;
		st = b->a->ops->map(b->a->self, &w->map);
		if (st != ST_UNSUPPORTED || page == PAGE_4K || large_pages)
			break;
		page = PAGE_4K;
		str_copy(out->remark, sizeof(out->remark), "4 KiB pages: no 2 MiB pages available; TLB misses are in it");
	}
	if (large_pages && page > PAGE_4K && (st == ST_UNSUPPORTED || st == ST_FULL)) {
		str_copy(out->reason, sizeof(out->reason), st == ST_FULL ? "not enough memory" : "no pages of that size are available");
		return ST_UNSUPPORTED;
	}
	w->mapped = st == ST_OK;
	return st;
}


/* Flushes lines of code that are to come from the L3: writing them, or an earlier row, left them in data caches. A line that an L1D still holds is
 * not evicted by any L2 to an exclusive last level, and code would come from memory each time. */
static enum status flush_code(struct bench *b, const struct working_set *w)
{
	const struct kernel *flush = kernel_find("k_flush");
	uint64_t from, count, step;
	enum status st = ST_OK;

	for (uint32_t set = 0; st == ST_OK && codegen_lines_of_set(w->code, b->cpu, set, &from, &count, &step); set++) {
		const uint64_t arguments[6] = { w->code_map.va + from, count, step };
		struct window ignored;
		struct job job;

		st = flush ? window_run(b, flush, arguments, NULL, 0, &ignored, &job) : ST_BROKEN;
	}
	return st;
}

/* Flushes the lines of a chase that cores of another kind may have kept from their rows: a last level would have to snoop them. */
static enum status flush_other_kinds(struct bench *b, const struct working_set *w)
{
	const struct kernel *flush = kernel_find("k_flush_chain");
	const uint64_t arguments[6] = { w->at, w->shape.nodes };
	struct window ignored;
	struct job job;

	if (!b->a->core_kind || w->shape.order != ORDER_LINES)
		return ST_OK;
	return flush ? window_run(b, flush, arguments, NULL, 0, &ignored, &job) : ST_BROKEN;
}

/* Maps and writes the code of a pair. Code that is to miss caches but no TLB gets large pages. */
static enum status write_code(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out)
{
	bool large = w->code == CODE_LINES_L2 || w->code == CODE_LINES_L3 || w->code == CODE_LINES_BASE || w->code == CODE_LINES_FAR_BASE;
	uint64_t bytes = 0, page = large ? PAGE_2M : PAGE_4K;
	enum status st = codegen_span(w->code, b->cpu, &bytes, out->reason, sizeof(out->reason));

	if (st != ST_OK)
		return st;
	for (;;) {
		memset(&w->code_map, 0, sizeof(w->code_map));
		w->code_map.va = SPACE_SCRATCH + slot * CODE_STRIDE;
		w->code_map.page_bytes = page;
		w->code_map.bytes = (bytes + page - 1) / page * page;
		w->code_map.executable = true;
		st = b->a->ops->map(b->a->self, &w->code_map);
		if (st != ST_UNSUPPORTED || page == PAGE_4K)
			break;
		page = PAGE_4K;
		str_copy(out->remark, sizeof(out->remark), "4 KiB pages: no 2 MiB pages available; ITLB misses may be in it");
	}
	w->code_mapped = st == ST_OK;
	if (st == ST_OK)
		codegen_write(w->code, b->cpu, &w->code_map);
	return st == ST_OK ? flush_code(b, w) : st;
}

enum status window_set_up(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out)
{
	uint32_t *work;
	size_t bytes = 2 * sizeof(uint32_t) * (size_t)w->shape.nodes;
	enum status st;

	if (w->code && (st = write_code(b, w, slot, out)) != ST_OK)
		return st;
	if (w->shape.order == ORDER_PAIR && (!w->shape.bytes || w->map.va)) /* no buffer, or another set's */
		return ST_OK;
	st = map_working_set(b, w, slot, out);
	if (st != ST_OK || w->shape.order == ORDER_STREAMS || w->shape.order == ORDER_PAIR)
		return st;
	work = b->host->get(b->host->self, bytes);
	if (!work)
		return ST_FULL;
	shape_link(&w->shape, &w->map, &b->random, work);
	b->host->put(b->host->self, work, bytes);
	/* Any node is on the cycle; if nodes are consecutive, the first line is one. */
	w->at = w->map.va + w->shape.start_bytes;
	if (w->shape.order == ORDER_OPEN_PAGES && w->shape.bytes > PAGE_4K)
		go_to_first_page(w);
	/* A large L3 may hold the cycle's beginning from an earlier row, and its end from linking it. From a region's first node the cycle goes on into the
	 * next region, so this starts in the middle one. */
	if (w->shape.order == ORDER_REGIONS && w->shape.region_nodes)
		w->at = w->map.va + shape_node(&w->shape, (w->shape.nodes / 2 / w->shape.region_nodes - 1) * w->shape.region_nodes, &b->random);
	if (w->shape.order == ORDER_SPARSE)
		for (uint64_t offset = 0; offset < w->map.bytes; offset += w->shape.line_bytes)
			if (*(uint64_t *)mapping_at(&w->map, offset)) {
				w->at = *(uint64_t *)mapping_at(&w->map, offset);
				break;
			}
	return flush_other_kinds(b, w);
}
