/* bench/measure/tlb_time.c: finds the 4 KiB capacities of the TLB levels by time alone, where no counter shows misses and CPUID is silent or, as
 * under some hypervisors, wrong.
 *
 * A ring of one line per page is compared with a ring of the same number of consecutive lines, which needs few pages: the extra time is the cost
 * of TLB misses. Rings grow by a third or a half. Disturbances only lengthen a pass, and a larger ring takes no less time per load than a smaller
 * one, so a ring's time is the minimum over its own passes and those of all larger rings. The largest ring without extra time is the capacity of
 * the first level; the largest ring on the plateau beyond it is the capacity of the second. Each lies between two rings, which are then halved
 * until they are a page or a 32nd apart.
 *
 * Not found: a second level that holds half as many pages as the L2 has lines; other page sizes; the ITLB. In a level of several ways the first
 * pages too many cost little, so its capacity may be found a 16th too large. A busy sibling thread takes its share of both levels: only the rest is
 * found. */
#include "bench/measure/loop.h"

#define PAGES_LEAST 16u
#define PAGES_MOST 6144u   /* Zen 5's second level has 4096 entries */
#define RINGS_MOST 20u
#define PASSES_FIRST 2u    /* warm-up passes */
#define PASSES 12u
#define LOADS_LEAST 2048u  /* of a pass, so that its start and end are negligible */
#define FIRST_MILLI 1500   /* cycles a load: Core 2's second level costs 2, Nehalem's and Zen's 7 */
#define FINE_MILLI 500     /* of 65 pages in 64 entries of four ways five miss: half a cycle a load at 7 a miss */
#define SECOND_FINE_MILLI 2000 /* of 522 pages in 512 entries of four ways a tenth miss: two cycles a load at 20 a walk */
#define SECOND_MILLI 4000  /* a walk with cached page tables costs at least 10 more than a second-level hit */
#define UNSEEN 16u         /* 1/N of a level: pages too many that cost less than is noticed (2048 entries of four ways, walks of 10 cycles: 4 %) */
#define APART 32u          /* the rings on both sides of a capacity are at most 1/N apart, or a page */

/* Pages after which the ring moves to the next line within a page, so that it spreads over all sets of the cache that holds it. */
static uint32_t spread_of(const struct cpu *cpu, uint32_t lines)
{
	const struct cpu_cache *l1 = cpu_cache(cpu, 1), *l2 = cpu_cache(cpu, 2);

	if (!l1 || !l2 || !l2->ways || lines * 64ull <= l1->bytes || l2->bytes / l2->ways <= PAGE_4K)
		return 1;
	return (uint32_t)(l2->bytes / l2->ways / PAGE_4K);
}

/* The largest ring: with the adjacent lines that a prefetcher brings it must fit in the L2. */
static uint32_t pages_most(const struct cpu *cpu)
{
	const struct cpu_cache *l2 = cpu_cache(cpu, 2);

	return l2 && l2->bytes / 128 < PAGES_MOST ? (uint32_t)(l2->bytes / 128) : PAGES_MOST;
}

/* Minimum cycles per load of a pass over a ring of `lines`, one per page or consecutive. It is the difference between a job of two passes and a
 * job of one, since each job starts with an empty TLB. */
static enum status least_cycles(struct bench *b, const struct row *r, uint32_t lines, enum order order, int64_t tick_micro, int64_t *milli)
{
	const bool in_pages = order == ORDER_PAGES;
	const uint64_t loads = lines < LOADS_LEAST ? (LOADS_LEAST + lines - 1) / lines * lines : lines;
	struct row_result ignored = { .row = r };
	struct working_set w = { .kernel = kernel_find(r->kernels[0]) };
	struct window out = { 0 };
	uint64_t least[2] = { UINT64_MAX, UINT64_MAX };
	struct job job;
	enum status st, back;

	w.shape = (struct shape){ .order = order, .nodes = lines, .line_bytes = 64, .page_bytes = PAGE_4K,
	                          .spread_pages = in_pages ? spread_of(b->cpu, lines) : 0, .bytes = lines * 64ull, .span_bytes = lines * (in_pages ? PAGE_4K : 64ull) };
	st = w.kernel ? window_set_up(b, &w, 0, &ignored) : ST_BROKEN;
	if (st == ST_OK && w.map.page_bytes != PAGE_4K)
		st = ST_UNSUPPORTED;
	for (unsigned i = 0; i < PASSES && st == ST_OK; i++) {
		st = window_units(b, &w, loads << i % 2, NULL, 0, &out, &job);
		if (i >= PASSES_FIRST && out.tsc < least[i % 2])
			least[i % 2] = out.tsc;
	}
	*milli = mul_div((int64_t)(least[1] - least[0]), tick_micro, (int64_t)loads * 1000);
	back = w.mapped ? b->a->ops->unmap(b->a->self, &w.map) : ST_OK;
	return st == ST_OK ? back : st;
}

/* Makes the times monotonic: no ring takes longer per load than a larger one. */
static void even_out(int64_t *milli, unsigned count)
{
	for (unsigned i = count; i-- > 1;)
		if (milli[i - 1] > milli[i])
			milli[i - 1] = milli[i];
}

bool tlb_time_agrees(uint32_t told, uint32_t holds, uint32_t beyond) { return told >= holds - holds / UNSEEN && told < beyond; }

/* Halves the distance between a ring that a level holds and one that it does not. A ring is held if its pages take less than `most` longer than
 * consecutive lines. */
static enum status between(struct bench *b, const struct row *r, int64_t tick_micro, int64_t most_milli, uint32_t *holds, uint32_t *exceeds)
{
	enum status st = ST_OK;

	while (st == ST_OK && *exceeds - *holds > 1 && *exceeds - *holds > *holds / APART) {
		const uint32_t pages = (*holds + *exceeds) / 2;
		int64_t in_pages, packed = 0;

		st = least_cycles(b, r, pages, ORDER_PAGES, tick_micro, &in_pages);
		if (st == ST_OK)
			st = least_cycles(b, r, pages, ORDER_LINES, tick_micro, &packed);
		if (st == ST_OK)
			*(in_pages - packed < most_milli ? holds : exceeds) = pages;
	}
	return st;
}

enum status tlb_time_sizes(struct bench *b, const struct row *r, struct tlb_by_time *sizes)
{
	uint32_t rings[RINGS_MOST];
	int64_t in_pages[RINGS_MOST], packed[RINGS_MOST], tick_micro;
	unsigned count = 0, holds = 0, plateau, walked;
	char why[128];
	struct text ignored;
	struct job job;

	text_init(&ignored, why, sizeof(why));
	enum status st = window_clock_agrees(b, &ignored) ? window_clock(b, &job, &tick_micro) : ST_MISSING;

	*sizes = (struct tlb_by_time){ 0 };
	for (uint32_t pages = PAGES_LEAST; pages <= pages_most(b->cpu) && count < RINGS_MOST && st == ST_OK; pages += bit_count(pages) == 1 ? pages / 2 : pages / 3) {
		rings[count] = pages;
		st = least_cycles(b, r, pages, ORDER_PAGES, tick_micro, &in_pages[count]);
		if (st == ST_OK)
			st = least_cycles(b, r, pages, ORDER_LINES, tick_micro, &packed[count]);
		count++;
	}
	if (st != ST_OK)
		return st;
	even_out(in_pages, count);
	even_out(packed, count);
	for (unsigned i = 0; i < count; i++) {
		in_pages[i] -= packed[i];
		if (in_pages[i] < in_pages[0] + FIRST_MILLI)
			holds = i;
	}
	if (holds + 1 >= count)
		return ST_MISSING;
	sizes->first = rings[holds];
	sizes->first_beyond = rings[holds + 1];
	/* a ring of twice the first level lies on the plateau of the second, if there is one */
	for (plateau = holds + 1; plateau + 1 < count && rings[plateau] < 2 * sizes->first;)
		plateau++;
	const int64_t over = in_pages[plateau], most = over + (over > SECOND_MILLI ? over : SECOND_MILLI);

	for (walked = plateau; walked < count && in_pages[walked] <= most;)
		walked++;
	st = between(b, r, tick_micro, in_pages[0] + FINE_MILLI, &sizes->first, &sizes->first_beyond);
	if (walked == count || st != ST_OK)
		return st;
	sizes->second = rings[walked - 1];
	sizes->second_beyond = rings[walked];
	return between(b, r, tick_micro, over + SECOND_FINE_MILLI, &sizes->second, &sizes->second_beyond);
}
