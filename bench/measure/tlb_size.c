/* bench/measure/tlb_size.c: measures the capacity of the TLB levels where CPUID does not enumerate it.
 *
 * Chases over rings of one line a page, each ring larger than the last by a half or a third, until most loads miss. The processor's descriptor
 * gives the usual capacity; a different one, or a missing second level, is found here.
 *
 * Not found: capacities between two rings, of which the smaller is taken; the 2 MiB entries of a second level that keeps them apart. */
#include "bench/measure/loop.h"

#define PAGES_LEAST 32u
#define SECOND_LEAST 8u   /* pages of the smallest ring for a second level; rings that the first level holds are left out */
#define PAGES_MOST 4096u
#define PASSES 2u         /* passes of the shorter of two jobs */
#define WALK_PART 4u      /* 1/N of a ring's pages must miss: fewer misses come from other pages that share its sets */
#define FIRST_LEAST 4u    /* pages of the smallest ring for a first level */
#define FIRST_MOST 512u

static const struct row_proof_set first_level_misses = { .proofs = { { "dtlb.load.miss", 1, CONCEPT_ANY_NUMBER, PER_UNIT } } };
static const struct row_proof_set all_levels_miss = { .proofs = { { "dtlb.load.walk", 1, CONCEPT_ANY_NUMBER, PER_UNIT } } };

static const struct row_proof_set never_misses = { .proofs = { { "dtlb.load.miss", 0, 0, PER_UNIT } } };

/* Cycles and misses of one pass over the ring, as the difference of two jobs, one of which makes one pass more. Misses are the counts of the
 * set's one concept. Each job starts with an empty TLB, so its first passes fill the TLB and cancel in the difference. */
static enum status ring_pass(struct bench *b, const struct row *r, const struct counting *c, const struct shape *ring, uint64_t *cycles, uint64_t *misses)
{
	struct row_result ignored = { .row = r };
	struct working_set w = { .kernel = kernel_find(r->kernels[0]), .shape = *ring };
	struct window out[2] = { { 0 } };
	int64_t counts[ROW_EVENTS_MAX], counted;
	struct job job;
	enum status st, back;

	st = w.kernel ? window_set_up(b, &w, 0, &ignored) : ST_BROKEN;
	if (st == ST_OK && w.map.page_bytes != ring->page_bytes)
		st = ST_UNSUPPORTED;
	for (unsigned i = 0; i < COUNT_OF(out) && st == ST_OK; i++)
		st = window_units(b, &w, (uint64_t)ring->nodes * (PASSES + i), c, 0, &out[i], &job);
	*cycles = out[1].counts[0] - out[0].counts[0];
	for (unsigned e = 0; e < c->events; e++)
		counts[e] = (int64_t)(out[1].counts[e] - out[0].counts[e]);
	evidence_values(c, counts, &counted);
	*misses = counted > 0 ? (uint64_t)counted : 0;
	back = w.mapped ? b->a->ops->unmap(b->a->self, &w.map) : ST_OK;
	return st == ST_OK ? back : st;
}

/* The same over one line in each of `pages` pages. */
static enum status pages_pass(struct bench *b, const struct row *r, const struct counting *c, uint64_t page_bytes, uint32_t pages, uint64_t *cycles, uint64_t *misses)
{
	const struct shape ring = { .order = ORDER_PAGES, .nodes = pages, .line_bytes = 64, .page_bytes = page_bytes, .spread_pages = 1,
	                            .bytes = pages * 64ull, .span_bytes = pages * page_bytes };

	return ring_pass(b, r, c, &ring, cycles, misses);
}

/* Sets *entries to the largest ring that needs no walks, or to 0 if every ring beyond the first level does. *entries stays if it agrees with
 * the rings, or if no ring needs walks: then the counter may not work. */
static enum status look(struct bench *b, const struct row *r, const struct counting *c, uint16_t *entries)
{
	const uint32_t first = b->cpu->tlb.dtlb_4k, known = *entries;
	uint32_t holds = 0, walked = 0;
	enum status st = ST_OK;

	for (uint32_t pages = SECOND_LEAST; pages <= PAGES_MOST && !walked && st == ST_OK; pages += bit_count(pages) == 1 ? pages / 2 : pages / 3) {
		uint64_t cycles = 0, walks = 0;

		if (pages <= first)
			continue;
		st = pages_pass(b, r, c, PAGE_4K, pages, &cycles, &walks);
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

static uint32_t larger_ring(uint32_t pages) { return pages + (bit_count(pages) == 1 ? pages / 2 : pages / 3); }

/* Sets *entries to the largest ring that the first level holds. *entries stays if its ring fits and the next larger one does not, or if no ring
 * misses. */
static enum status look_first(struct bench *b, const struct row *r, const struct counting *c, uint64_t page_bytes, uint16_t *entries)
{
	uint64_t cycles = 0, stays = 0, misses = 0;
	uint32_t holds = 0, pages = FIRST_LEAST;
	enum status st = pages_pass(b, r, c, page_bytes, *entries, &cycles, &stays);

	if (st == ST_OK)
		st = pages_pass(b, r, c, page_bytes, larger_ring(*entries), &cycles, &misses);
	if (st != ST_OK || !cycles)
		return st != ST_OK ? st : ST_MISSING;
	if (stays * WALK_PART < *entries) {
		if (misses * WALK_PART >= larger_ring(*entries))
			return ST_OK;
		holds = larger_ring(*entries);
		pages = larger_ring(holds);
	}
	for (; pages <= FIRST_MOST; pages = larger_ring(pages)) {
		st = pages_pass(b, r, c, page_bytes, pages, &cycles, &misses);
		if (st != ST_OK)
			return st;
		if (misses * WALK_PART >= pages) {
			*entries = holds ? (uint16_t)holds : *entries;
			return ST_OK;
		}
		holds = pages;
	}
	return ST_OK;
}

/* Starts the counters of a level's misses. False: the processor has no such event, or they did not start. */
static bool begin(struct bench *b, const struct row *by, const struct row_proof_set *misses, struct counting *c)
{
	memset(c, 0, sizeof(*c));
	return by && evidence_plan_set(b, misses, 1, c) && counters_start(b->a, b->cpu, &c->plan, 0, b->core) == ST_OK;
}

static void first_level_look(struct bench *b, uint64_t page_bytes, uint16_t *size)
{
	const struct random kept = b->random;
	const struct row *by = row_find("tlb.dtlb_4k.penalty");
	uint16_t entries = *size;
	struct counting c;
	enum status st;

	if (!entries || !begin(b, by, &first_level_misses, &c))
		return;
	st = look_first(b, by, &c, page_bytes, &entries);
	b->random = kept; /* the rows' layouts are those of a run without this check */
	if (counters_stop(b->a, b->cpu, &c.plan, 0, b->core) == ST_OK && st == ST_OK)
		*size = entries;
}

/* Whether the row's layout depends on the first level's 2 MiB capacity: DRAM chases span twice as many pages. */
static bool is_of_large_pages(const struct row *r)
{
	return r->page_bytes == PAGE_2M && !r->pair && (r->target == TARGET_STLB || (r->target == TARGET_DRAM && (r->order == ORDER_SPARSE || r->order == ORDER_OPEN_PAGES)));
}

/* Finds the capacities by time where there are no counters. A capacity from CPUID stays if the rings agree with it. Rows that provoke walks must
 * exceed the second level, so its capacity is set to the smallest ring that does not fit. */
static void look_by_time(struct bench *b)
{
	const struct random kept = b->random;
	const struct row *by = row_find("tlb.dtlb_4k.penalty");
	struct tlb_facts *tlb = &b->own.tlb;
	struct tlb_by_time found;
	enum status st = by ? tlb_time_sizes(b, by, &found) : ST_MISSING;

	b->random = kept;
	if (st != ST_OK)
		return;
	b->tlb_by_time = found;
	if (!tlb_time_agrees(tlb->dtlb_4k, found.first, found.first_beyond))
		tlb->dtlb_4k = (uint16_t)found.first;
	if (found.second && !tlb_time_agrees(tlb->stlb_4k, found.second, found.second_beyond))
		tlb->stlb_4k = (uint16_t)found.second_beyond;
	b->tlb_timed = true;
}

void tlb_size_look(struct bench *b, const struct row *r)
{
	const struct random kept = b->random;
	const struct row *by = row_find("tlb.stlb_walk_4k.penalty");
	uint16_t entries;
	struct counting c;
	enum status st;
	bool of_pages = r->target == TARGET_DTLB || r->target == TARGET_STLB;

	if (r->pair)
		of_pages |= r->pair->code == CODE_PAGES_ITLB || r->pair->code == CODE_PAGES_WALK;
	if (!b->cycles && of_pages && !b->tlb_size_looked) {
		b->tlb_size_looked = true;
		look_by_time(b);
	}
	if (b->cpu->tlb_enumerated || !b->cycles || !b->cpu->tlb.dtlb_4k || !b->own.tlb.stlb_4k)
		return;
	if (is_of_large_pages(r) && !b->first_level_looked) {
		b->first_level_looked = true;
		first_level_look(b, PAGE_2M, &b->own.tlb.dtlb_2m);
	}
	if (b->tlb_size_looked || !of_pages)
		return;
	b->tlb_size_looked = true;
	first_level_look(b, PAGE_4K, &b->own.tlb.dtlb_4k);
	entries = b->own.tlb.stlb_4k;
	if (!begin(b, by, &all_levels_miss, &c))
		return;
	st = look(b, by, &c, &entries);
	b->random = kept;
	if (counters_stop(b->a, b->cpu, &c.plan, 0, b->core) != ST_OK || st != ST_OK)
		return;
	if (b->own.tlb.stlb_2m == b->own.tlb.stlb_4k) /* both page sizes share the entries */
		b->own.tlb.stlb_2m = entries;
	b->own.tlb.stlb_4k = entries;
}

bool tlb_splits_large_pages(struct bench *b)
{
	const struct random kept = b->random;
	const struct row *by = row_find("tlb.dtlb_4k.penalty");
	const uint32_t small = b->own.tlb.dtlb_4k ? b->own.tlb.dtlb_4k : PAGES_LEAST, apart = PAGE_4K + 64;
	const uint32_t nodes = small > FIRST_MOST / 2 ? FIRST_MOST : 2 * ((small + 15) / 16 * 16);
	/* More lines than the entries of small pages, each in another 4 KiB of few large pages. */
	const struct shape ring = { .order = ORDER_LINES, .nodes = nodes, .line_bytes = apart, .page_bytes = PAGE_2M, .bytes = (uint64_t)nodes * apart,
	                            .span_bytes = (uint64_t)nodes * apart };
	uint64_t cycles, misses = 0;
	struct counting c;

	if (b->large_pages != LARGE_PAGES_UNKNOWN)
		return b->large_pages == LARGE_PAGES_SPLIT;
	if (!b->cycles || !begin(b, by, &never_misses, &c)) {
		b->large_pages = LARGE_PAGES_WHOLE;
		return false;
	}
	enum status st = ring_pass(b, by, &c, &ring, &cycles, &misses);
	b->random = kept;
	if (counters_stop(b->a, b->cpu, &c.plan, 0, b->core) == ST_OK && st == ST_OK) /* else the next row that asks tries again */
		b->large_pages = misses * WALK_PART >= nodes ? LARGE_PAGES_SPLIT : LARGE_PAGES_WHOLE;
	return b->large_pages == LARGE_PAGES_SPLIT;
}
