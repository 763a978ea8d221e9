/* bench/second_level.c: how many pages the second level of the TLB holds, where CPUID does not enumerate it.
 *
 * Rings of one line a page, each half as large again as the one before or a third, are visited until most loads wait for a walk. A
 * processor's descriptor says how many such processors have; another size, or none, is found here. Not found: sizes between
 * two rings, of which the smaller is taken. */
#include "bench/loop.h"

#define PAGES_LEAST 32u
#define PAGES_MOST 4096u
#define VISITS 2u         /* before the one that is counted */
#define WALK_PART 4u      /* of a ring: fewer walks are those of other pages in its sets */

/* Cycles and walks of one visit. */
static enum status visit(struct bench *b, const struct row *r, const struct counting *c, uint32_t pages, uint64_t *cycles, uint64_t *walks)
{
	struct row_result ignored = { .row = r };
	struct working_set w = { .kernel = kernel_find(r->kernels[0]) };
	struct window out = { 0 };
	struct job job;
	enum status st, back;

	w.shape = (struct shape){ .order = ORDER_PAGES, .nodes = pages, .line_bytes = 64, .page_bytes = PAGE_4K, .spread_pages = 1,
	                          .bytes = pages * 64ull, .span_bytes = pages * (uint64_t)PAGE_4K };
	st = w.kernel ? window_set_up(b, &w, 0, &ignored) : ST_BROKEN;
	for (unsigned i = 0; i <= VISITS && st == ST_OK; i++)
		st = window_units(b, &w, pages, i == VISITS ? c : NULL, 0, &out, &job);
	*cycles = out.counts[0];
	*walks = out.counts[1];
	back = w.mapped ? b->a->ops->unmap(b->a->self, &w.map) : ST_OK;
	return st == ST_OK ? back : st;
}

/* The largest ring that needs no walks, 0 where one that is larger than the first level does; as it was if that fits as well, or
 * if no ring needs walks: then the counter may not count. */
static enum status look(struct bench *b, const struct row *r, const struct counting *c, uint16_t *entries)
{
	const uint32_t first = b->cpu->tlb.dtlb_4k, known = *entries;
	uint32_t holds = 0, walked = 0;
	enum status st = ST_OK;

	for (uint32_t pages = PAGES_LEAST; pages <= PAGES_MOST && !walked && st == ST_OK; pages += bit_count(pages) == 1 ? pages / 2 : pages / 3) {
		uint64_t cycles = 0, walks = 0;

		if (pages <= first)
			continue;
		st = visit(b, r, c, pages, &cycles, &walks);
		if (st == ST_OK && !cycles)
			return ST_MISSING; /* nothing ran */
		if (walks * WALK_PART < pages)
			holds = pages;
		else
			walked = pages;
	}
	if (st == ST_OK && walked && (known < holds || known >= walked))
		*entries = (uint16_t)holds;
	return st;
}

void second_level_look(struct bench *b, const struct row *r)
{
	const struct random kept = b->random;
	const char *const walks = "tlb.stlb_walk_4k.penalty";
	const struct row *by = NULL;
	uint16_t entries = b->own.tlb.stlb_4k;
	struct counting c;
	enum status st;
	struct text why;
	char problem[64];
	bool of_pages = r->place == PLACE_DTLB || r->place == PLACE_STLB;

	if (r->pair)
		of_pages |= r->pair->code == CODE_PAGES_ITLB || r->pair->code == CODE_PAGES_WALK;
	if (b->second_level_looked || b->cpu->tlb_enumerated || !b->cycles || !b->cpu->tlb.dtlb_4k || !entries || !of_pages)
		return;
	b->second_level_looked = true;
	for (unsigned i = 0; i < rows_count; i++)
		if (str_equal(rows[i].name, walks))
			by = &rows[i];
	if (!by)
		return;
	text_init(&why, problem, sizeof(problem));
	evidence_plan(b, by, &c, &why);
	if (!c.on || c.proof_count != 1 || c.plan.runs != 1 || counters_start(b->a, b->cpu, &c.plan, 0, b->core) != ST_OK)
		return;
	st = look(b, by, &c, &entries);
	b->random = kept; /* rows are laid out as without */
	if (counters_stop(b->a, b->cpu, &c.plan, 0, b->core) != ST_OK || st != ST_OK)
		return;
	if (b->own.tlb.stlb_2m == b->own.tlb.stlb_4k) /* the same entries */
		b->own.tlb.stlb_2m = entries;
	b->own.tlb.stlb_4k = entries;
}
