/* bench/measure/layout.c: working sets: their size and form on the machine at hand. */
#include "bench/measure/layout.h"
#include "bench/measure/measure.h"

#define CHASE_LOADS 16           /* loads per iteration of k_chase; the nodes of a larger ring are a multiple of it */
#define PAIR_L1S 8ull            /* size of a pair's buffer whose lines come from the L2, in L1s */
#define MATRIX_LINES 512ull      /* lines for several windows of a pair of cores, none used twice */
#define MATRIX_L1_LINES 64ull    /* for two threads of a core: few enough for a small L1 */
/* Distance between lines of another core where no counter shows prefetches: more than a page, so that prefetchers fetch none (natively 95 cycles
 * of 265 with consecutive lines); a prime, so that the lines are spread evenly over the sets and slices of every cache. Elsewhere lines are
 * consecutive, so that all their DRAM pages stay open. */
#define APART_LINES 67ull
#define SPARSE_PAGES_MAX 16      /* 2 MiB pages of a sparse footprint: half of Nehalem's DTLB */
/* A chase over six times a level with random replacement hits it with probability e^-6, a quarter of a percent. */
#define ABOVE_FACTOR 6
#define WALK_FACTOR 4            /* over the L1's lines in the sets that a ring of pages uses */
#define DRAM_FACTOR 6            /* over the last level's size: more than adaptive replacement keeps */
#define DRAM_L1_FACTOR 256u      /* arrays over the L1, whose size determines the shorter windows: all windows of a row end before an array wraps */

static enum status unsupported(char *reason, size_t capacity, const char *why)
{
	str_copy(reason, capacity, why);
	return ST_UNSUPPORTED;
}

static enum status unknown(char *reason, size_t capacity, const char *why)
{
	str_copy(reason, capacity, why);
	return ST_MISSING;
}

static uint64_t power_of_two_below(uint64_t n)
{
	uint64_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return n ? p : 0;
}

/* The part of a cache that a ring may use: two thirds, and at least one way less than all, so that lines of the wrapper, of page walks and of the
 * row's other ring do not evict the ring's. */
static uint64_t most_of(const struct cpu_cache *c)
{
	uint64_t way = cpu_cache_way_bytes(c), spare = c->bytes - c->bytes / 3 * 2;

	return c->bytes - (spare > way || way == c->bytes ? spare : way);
}

static void shape_lines(struct shape *s, uint64_t bytes)
{
	const uint32_t lines = (uint32_t)(bytes / s->line_bytes);

	s->nodes = lines < CHASE_LOADS ? lines : lines / CHASE_LOADS * CHASE_LOADS;
	s->bytes = s->span_bytes = (uint64_t)s->nodes * s->line_bytes;
}

/* An iteration advances step_bytes in each array of the kernel. */
static void stream_kernel(const struct row *r, struct shape *s)
{
	const struct kernel *k = kernel_find(r->kernels[0]);

	s->step_bytes = k ? k->step_bytes : 0;
	s->arrays = s->step_bytes && k->data_bytes > s->step_bytes ? k->data_bytes / s->step_bytes : 1;
}

/* Half a page and a line: within a page, loads run ahead of stores, and the three arrays start in different sets. Measured on Zen 3 in the L2:
 * 103.7 bytes/ns; with a third of a page 89. */
static uint64_t between_arrays(const struct shape *s) { return PAGE_4K / 2 + s->line_bytes; }

static void shape_streams(struct shape *s, uint64_t array_bytes)
{
	s->array_bytes = array_bytes;
	s->skew_bytes = between_arrays(s);
	s->bytes = s->arrays * array_bytes;
	s->span_bytes = s->bytes + (s->arrays - 1) * s->skew_bytes;
}

/* Bytes that the DTLB's entries for 2 MiB pages cover; where it keeps such pages as pieces of 4 KiB, that all its entries cover. One entry is left
 * to the baseline, and one is spare. 0: unknown. */
static uint64_t tlb_reach(const struct cpu *cpu)
{
	if (cpu->tlb_enumerated && !cpu->tlb.dtlb_2m)
		return cpu->tlb.dtlb_4k > 2 ? (cpu->tlb.dtlb_4k - 2) * (uint64_t)PAGE_4K : 0;
	return cpu->tlb.dtlb_2m > 2 ? (cpu->tlb.dtlb_2m - 2) * PAGE_2M : 0;
}

/* If the first-level DTLB keeps 2 MiB pages as pieces of 4 KiB: the number of pieces that a chase may visit without a miss; the other entries are
 * left to the wrapper and the baseline. 0: it holds such pages whole, or this is unknown. */
static uint32_t tlb_pieces(const struct cpu *cpu)
{
	return cpu->tlb_enumerated && !cpu->tlb.dtlb_2m ? cpu->tlb.dtlb_4k / 4 * 3 : 0;
}

/* Pieces of 4 KiB, a way of the L2 apart, of which no line stays in the L2: twice as many as it has ways, or half as many again where the DTLB or the L3
 * does not hold so many. 0: it does not hold these either. */
static uint32_t pieces_beyond(const struct cpu *cpu, const struct cpu_cache *l2)
{
	const uint64_t way = cpu_cache_way_bytes(l2), room = cpu_cache(cpu, 3)->bytes / 3 * 2;

	const uint32_t candidates[] = { 2 * l2->ways, l2->ways + l2->ways / 2 };
	for (unsigned i = 0; i < COUNT_OF(candidates); i++)
		if (candidates[i] > l2->ways && candidates[i] <= tlb_pieces(cpu) && candidates[i] * way <= room)
			return candidates[i];
	return 0;
}

/* A ring in the L3 of so few pieces that the DTLB holds all of them. */
static bool shape_pieces(const struct cpu *cpu, struct shape *s)
{
	const struct cpu_cache *l2 = cpu_cache(cpu, 2);
	const uint64_t way = cpu_cache_way_bytes(l2);
	const uint32_t pieces = s->page_bytes == PAGE_2M && way >= PAGE_4K && way % PAGE_4K == 0 ? pieces_beyond(cpu, l2) : 0;

	if (!pieces)
		return false;
	s->piece_bytes = way;
	s->nodes = pieces * (uint32_t)(PAGE_4K / s->line_bytes) / CHASE_LOADS * CHASE_LOADS;
	s->bytes = (uint64_t)s->nodes * s->line_bytes;
	s->span_bytes = pieces * way;
	return true;
}

/* A working set of a level: at most the part of it that most_of() leaves, for streams three quarters; at least twice the level below. */
static enum status shape_level(const struct row *r, const struct cpu *cpu, struct shape *s,
                               char *reason, size_t capacity)
{
	unsigned level = r->target == TARGET_L1 ? 1 : r->target == TARGET_L2 ? 2 : 3;
	const struct cpu_cache *c = cpu_cache(cpu, level), *below = cpu_cache(cpu, level - 1);
	/* A tree of ways that are no power of two evicts lines of a ring of six of ten ways for lines that are no longer used. */
	const bool lopsided = level == 1 && c && c->ways & (c->ways - 1);
	uint64_t most, least, enough, bytes;

	if (level == 1 && (!c || !c->bytes))
		return unknown(reason, capacity, "no L1 data cache known");
	if (!cpu->cache_count)
		return unknown(reason, capacity, "the caches are not known");
	if (!c || !c->bytes)
		return unsupported(reason, capacity, level == 2 ? "no L2 cache" : "no L3 cache");
	if (level > 1 && !below)
		return unknown(reason, capacity, "the cache level below is not known");
	least = below ? 2 * below->bytes : 0;
	enough = below ? ABOVE_FACTOR * below->bytes : 0;
	if (s->order == ORDER_STREAMS) {
		most = lopsided && s->arrays > 2 ? c->bytes / 2 : c->bytes / 4 * 3;
		/* One of two ways stays free: other lines would evict those of three arrays from full sets. */
		if (level > 1 && c->bytes - cpu_cache_way_bytes(c) && c->bytes - cpu_cache_way_bytes(c) < most)
			most = c->bytes - cpu_cache_way_bytes(c);
		bytes = s->arrays * power_of_two_below(most / s->arrays);
		/* All cores share the level: slightly more than the level below is enough, and the smaller the better. */
		while (level == 3 && bytes / 2 >= enough)
			bytes /= 2;
		/* An L1 of few ways may not hold the arrays with the gaps between them. */
		while (level == 1 && bytes / 2 >= s->arrays * s->step_bytes && bytes + (s->arrays - 1) * between_arrays(s) > c->bytes)
			bytes /= 2;
	} else {
		/* Two thirds, if most_of() leaves only half of two ways and that is too little: other lines meet few of the full sets. */
		most = level == 2 && most_of(c) < enough ? c->bytes / 3 * 2 : most_of(c);
		bytes = lopsided ? c->bytes / 2 : most;
		/* Somewhat more than the level below is enough: a policy other than LRU keeps lines that use fewer ways, and other cores rarely
		 * evict them from a shared level. */
		if (level > 1 && bytes > enough)
			bytes = enough;
		/* It also stays within the DTLB's reach if that still exceeds the level below. */
		if (level > 1 && r->page_bytes == PAGE_2M && bytes > tlb_reach(cpu) && tlb_reach(cpu) >= 2 * least)
			bytes = tlb_reach(cpu);
	}
	if (bytes < least || bytes > most)
		return unsupported(reason, capacity, "the level is not some three times as large as the one below");
	if (s->order == ORDER_STREAMS)
		shape_streams(s, bytes / s->arrays);
	else if (level != 3 || !shape_pieces(cpu, s))
		shape_lines(s, bytes);
	return ST_OK;
}

/* 2 MiB pages that a random chase in memory may use without a DTLB miss. */
static uint64_t tlb_pages(const struct cpu *cpu)
{
	uint64_t half = cpu->tlb.dtlb_2m / 2;

	if (!cpu->tlb.dtlb_2m || half > SPARSE_PAGES_MAX)
		return SPARSE_PAGES_MAX;
	return half ? half : 1;
}

bool shape_in_pieces(const struct cpu *cpu) { return tlb_pieces(cpu) != 0; }

uint64_t shape_memory_span(const struct cpu *cpu)
{
	return tlb_pieces(cpu) ? tlb_pieces(cpu) * PAGE_4K : tlb_pages(cpu) * PAGE_2M;
}

/* The least size of streams in memory. */
static uint64_t beyond_caches(const struct cpu *cpu)
{
	const struct cpu_cache *l1 = cpu_cache(cpu, 1), *last = cpu_cache(cpu, cpu_last_level(cpu));
	const uint64_t of_last = last ? DRAM_FACTOR * last->bytes : 0, of_l1 = l1 ? DRAM_L1_FACTOR * l1->bytes : 0;

	return of_last > of_l1 ? of_last : of_l1;
}

/* Where the DTLB holds all of the chase's pieces, windows of one round and of two rounds both visit each piece. */
static uint32_t rounds_of_open_pages(const struct cpu *cpu, uint64_t bytes) { return tlb_pieces(cpu) * PAGE_4K >= bytes ? 2 : 1; }

static enum status shape_dram(const struct row *r, const struct cpu *cpu, struct shape *s,
                              char *reason, size_t capacity)
{
	const struct cpu_cache *last = cpu_cache(cpu, cpu_last_level(cpu));
	const uint64_t pages = tlb_pages(cpu), pieces = tlb_pieces(cpu) * PAGE_4K;

	if (!last || !last->bytes)
		return unknown(reason, capacity, "no cache known: nothing to be larger than");
	switch (s->order) {
	case ORDER_SPARSE:
		s->nodes = 2 * r->window;
		s->bytes = (uint64_t)s->nodes * s->line_bytes;
		s->span_bytes = pages * PAGE_2M;
		if (pieces >= s->bytes) { /* far apart: otherwise most loads would hit a DRAM page that another load opened */
			s->piece_bytes = PAGE_2M;
			s->span_bytes = s->bytes / PAGE_4K * PAGE_2M;
		}
		return ST_OK;
	case ORDER_OPEN_PAGES:
		shape_lines(s, 2ull * r->window * s->line_bytes);
		s->rounds = rounds_of_open_pages(cpu, s->bytes);
		return ST_OK;
	case ORDER_STREAMS:
		if (r->prepare == PREPARE_FLUSH) /* only the lines that a window visits are flushed, so larger arrays are of no use */
			shape_streams(s, 2 * power_of_two_below(2ull * r->window * s->step_bytes - 1));
		else
			shape_streams(s, 2 * power_of_two_below((beyond_caches(cpu) + s->arrays - 1) / s->arrays - 1));
		break;
	default:
		shape_lines(s, DRAM_FACTOR * last->bytes);
		s->region_nodes = (uint32_t)((pieces ? pieces : pages * PAGE_2M) / s->line_bytes);
		/* at least two: caches may hold the first from earlier rows, so the chase starts in another */
		if (s->region_nodes > s->nodes / 2)
			s->region_nodes = s->nodes / 2;
		if (pieces && s->region_nodes * (uint64_t)s->line_bytes == pieces) { /* far apart here too */
			const uint64_t regions = (s->nodes + s->region_nodes - 1) / s->region_nodes;

			s->piece_bytes = (regions * PAGE_4K + PAGE_2M - 1) / PAGE_2M * PAGE_2M;
			s->span_bytes = pieces / PAGE_4K * s->piece_bytes;
		}
		break;
	}
	if (s->span_bytes > SPAN_MAX)
		return unsupported(reason, capacity, "six times the last-level cache is more than 6 GiB");
	if (s->span_bytes > PAGE_1G && r->baseline != BASELINE_NONE)
		return unsupported(reason, capacity, "six times the last-level cache is more than 1 GiB");
	return ST_OK;
}

/* Consecutive pages until one uses the same sets as the first. */
static uint32_t pages_a_way(const struct cpu_cache *c)
{
	uint64_t way = cpu_cache_way_bytes(c);

	return way > PAGE_4K ? (uint32_t)(way / PAGE_4K) : 1;
}

/* Lines in the same set, of one line per page whose offset, one of `places` in a page, advances by one after `spread` pages. */
static uint32_t pages_a_set(const struct cpu_cache *c, uint32_t spread, uint32_t places, uint32_t pages)
{
	const uint32_t on = pages_a_way(c) / spread % places; /* from one page of a set to the next */

	return pages / pages_a_way(c) / (on ? places / (on & -on) : 1);
}

/* Half of the L2; with few ways a quarter, as the walks' lines and the wrapper take one of two. */
static uint64_t room_of(const struct cpu_cache *l2) { return l2->bytes / (l2->ways < 4 ? 4 : 2); }

uint32_t shape_missing_pages(uint32_t entries, uint32_t wanted, const struct cpu_cache *l2, uint32_t line_bytes)
{
	const uint64_t room = l2 ? room_of(l2) / line_bytes / CHASE_LOADS * CHASE_LOADS : 0;

	return wanted <= room ? wanted : 3 * room >= 4 * (uint64_t)entries ? (uint32_t)room : 0;
}

/* One line per page of 2 MiB or 1 GiB: twice as many pages as any TLB level holds. If the L1 cannot hold so many lines, it holds none of them, and
 * pages whose entries share a page-table line are visited one after another. */
static enum status shape_large(const struct row *r, const struct cpu *cpu, struct shape *s, char *reason, size_t capacity)
{
	bool huge = r->page_bytes == PAGE_1G;
	const struct cpu_cache *l1 = cpu_cache(cpu, 1), *l2 = cpu_cache(cpu, 2);
	uint32_t first = huge ? cpu->tlb.dtlb_1g : cpu->tlb.dtlb_2m, second = huge ? cpu->tlb.stlb_1g : cpu->tlb.stlb_2m;
	uint64_t nodes = 2ull * (first > second ? first : second);

	if (huge && !(cpu->isa & ISA_1G))
		return unsupported(reason, capacity, "no pages of 1 GiB");
	if (!first && cpu->tlb_enumerated)
		return unsupported(reason, capacity, "the DTLB keeps such pages in pieces");
	if (!first || !l1)
		return unknown(reason, capacity, "how many such pages the DTLB holds is not known");
	if (nodes * s->line_bytes > l1->bytes / 2) {
		if (nodes * s->line_bytes < 2 * l1->bytes)
			nodes = 2 * l1->bytes / s->line_bytes;
		nodes = shape_missing_pages(first > second ? first : second, (uint32_t)nodes, l2, s->line_bytes);
		if (nodes * s->line_bytes < 2 * l1->bytes)
			return unsupported(reason, capacity, "one line a page would not stay in the L2");
		s->region_nodes = SHAPE_PAGE_GROUP;
	}
	if (nodes * r->page_bytes > LARGE_SPAN_MAX - PAGE_1G)
		return unsupported(reason, capacity, "more pages than the address space has room for");
	s->nodes = (uint32_t)((nodes + CHASE_LOADS - 1) / CHASE_LOADS * CHASE_LOADS);
	s->spread_pages = 1;
	s->bytes = (uint64_t)s->nodes * s->line_bytes;
	s->span_bytes = (uint64_t)s->nodes * r->page_bytes;
	return ST_OK;
}

/* Twice what the TLB holds, and twice what the L1 does, which then holds none of the lines. If their entries' lines fill an L1 of few ways, some of its sets
 * see too few of the pages' own lines to lose an entry: with twice as many pages the entries evict each other. */
static uint32_t walk_pages(uint32_t entries, const struct cpu_cache *l1, const struct cpu_cache *l2, uint32_t line_bytes)
{
	const uint64_t lines = l1->bytes / line_bytes, pages = 2ull * entries > 2 * lines ? 2ull * entries : 2 * lines;
	const bool fill = pages / SHAPE_PAGE_GROUP >= lines && pages / SHAPE_PAGE_GROUP < 2 * lines;

	return (uint32_t)(l1->ways < 4 && fill && l2 && 2 * pages * line_bytes <= room_of(l2) ? 2 * pages : pages);
}

/* Of a ring of twice its size, an L1 whose replacement is not LRU holds up to a third, and less while walks load their own lines: the baseline would
 * not cost the same. WALK_FACTOR times the lines of each set leave at most one in 50: those of every second line of a short ring, or of a longer one. */
static uint32_t beyond_l1(struct shape *s, uint32_t pages, const struct cpu_cache *l1, const struct cpu_cache *l2)
{
	const uint64_t enough = WALK_FACTOR * l1->bytes / s->line_bytes, room = room_of(l2) / s->line_bytes;

	if (pages >= enough)
		return pages;
	if (2ull * pages <= room && cpu_cache_way_bytes(l1) >= 2 * s->line_bytes) {
		s->line_bytes *= 2;
		return pages;
	}
	return enough <= room ? (uint32_t)enough : pages;
}

static enum status shape_tlb(const struct row *r, const struct cpu *cpu, struct shape *s,
                             char *reason, size_t capacity)
{
	const struct cpu_cache *l1 = cpu_cache(cpu, 1), *l2 = cpu_cache(cpu, 2), *l3 = cpu_cache(cpu, 3);
	uint32_t first = cpu->tlb.dtlb_4k, second = cpu->tlb.stlb_4k, pages;

	if (!first)
		return unknown(reason, capacity, "size of the DTLB is not known");
	if (!second && r->target == TARGET_DTLB)
		return unsupported(reason, capacity, "no second-level TLB known");
	if (!l1 || !l1->bytes)
		return unknown(reason, capacity, "no L1 data cache known");
	if (r->target == TARGET_DTLB) {
		pages = 3 * first < second / 2 ? 3 * first : second / 2;
		if (pages < 2 * first)
			return unsupported(reason, capacity, "the second-level TLB is not four times the first");
		if (pages > l1->bytes / s->line_bytes / 2)
			pages = (uint32_t)(l1->bytes / s->line_bytes / 2);
		if (pages < 2 * first)
			return unsupported(reason, capacity, "one line a page would not stay in the L1");
		s->spread_pages = pages_a_way(l1);
	} else {
		const uint32_t entries = first > second ? first : second;

		pages = shape_missing_pages(entries, walk_pages(entries, l1, l2, s->line_bytes), l2, s->line_bytes);
		if ((uint64_t)pages * s->line_bytes < 2 * l1->bytes)
			return unsupported(reason, capacity, "one line a page would not stay in the L2");
		pages = beyond_l1(s, pages, l1, l2);
		s->spread_pages = pages_a_way(l2);
		/* An inclusive L3 that gets many of these lines in one set would evict them, from the L2 as well. */
		if (l3 && l3->inclusive && pages_a_set(l3, s->spread_pages, PAGE_4K / s->line_bytes, pages) > l3->ways / 2)
			s->spread_far_pages = pages_a_way(l3);
	}
	s->nodes = pages / CHASE_LOADS * CHASE_LOADS;
	s->bytes = (uint64_t)s->nodes * s->line_bytes;
	s->span_bytes = (uint64_t)s->nodes * PAGE_4K;
	return ST_OK;
}

static uint32_t line_of(const struct cpu *cpu)
{
	const struct cpu_cache *l1 = cpu_cache(cpu, 1);

	return l1 && l1->line_bytes >= SHAPE_LINE_BYTES_LEAST && l1->line_bytes <= 256 ? l1->line_bytes : 64;
}

/* Few lines: the core that prepares them must keep them in its caches. */
static enum status shape_helped(const struct row *r, const struct cpu *cpu, struct shape *s, char *reason, size_t capacity)
{
	const struct cpu_cache *l2 = cpu_cache(cpu, 2);

	if (!cpu->cache_count)
		return unknown(reason, capacity, "the caches are not known");
	if (!cpu_cache(cpu, 3))
		return unsupported(reason, capacity, "no L3 cache");
	if (!l2 || 2ull * r->window * s->line_bytes > l2->bytes / 2)
		return unsupported(reason, capacity, "the lines would not stay in the other core's L2");
	shape_lines(s, 2ull * r->window * s->line_bytes);
	if (!cpu->general_mask && !tlb_pieces(cpu) && tlb_pages(cpu) * PAGE_2M >= APART_LINES * s->bytes) {
		s->line_bytes *= APART_LINES;
		shape_lines(s, (uint64_t)s->nodes * s->line_bytes);
	}
	return ST_OK;
}

/* The buffer of a pair. If its lines are to come from the L2, an L1 with random replacement still holds e^-8 of eight times its size; where half
 * of the L2 has less room, the buffer has at least twice the L1's size. */
static enum status shape_pair(const struct row *r, const struct cpu *cpu, struct shape *s, char *reason, size_t capacity)
{
	const struct cpu_cache *l1 = cpu_cache(cpu, 1), *l2 = cpu_cache(cpu, 2);

	if (!r->pair)
		return ST_BROKEN;
	s->bytes = s->span_bytes = r->pair->bytes;
	if (!r->pair->beyond_l1)
		return ST_OK;
	if (!l1 || !l1->bytes)
		return unknown(reason, capacity, "no L1 data cache known");
	if (!l2 || !l2->bytes)
		return unsupported(reason, capacity, "no L2 cache");
	s->bytes = 2 * power_of_two_below(PAIR_L1S * l1->bytes - 1);
	while (s->bytes > l2->bytes / 2 && s->bytes / 2 >= 2 * l1->bytes)
		s->bytes /= 2;
	s->span_bytes = s->bytes;
	return s->bytes > l2->bytes / 4 * 3 ? unsupported(reason, capacity, "the L2 has no room for twice what the L1 holds") : ST_OK;
}

enum status shape_of_test(const struct row *r, const struct cpu *cpu, struct shape *s, char *reason, size_t capacity)
{
	memset(s, 0, sizeof(*s));
	s->order = r->order;
	s->page_bytes = r->page_bytes;
	s->line_bytes = line_of(cpu);
	if (r->order == ORDER_STREAMS)
		stream_kernel(r, s);
	if (r->order == ORDER_MATRIX) { /* lines of an L1 must not collide in a set by chance */
		shape_lines(s, (r->target == TARGET_SAME_CORE ? MATRIX_L1_LINES : MATRIX_LINES) * s->line_bytes);
		return ST_OK;
	}
	switch (r->target) {
	case TARGET_L1: case TARGET_L2: case TARGET_L3:
		return shape_level(r, cpu, s, reason, capacity);
	case TARGET_DRAM:
		return shape_dram(r, cpu, s, reason, capacity);
	case TARGET_DTLB: case TARGET_STLB:
		return r->page_bytes > PAGE_4K ? shape_large(r, cpu, s, reason, capacity) : shape_tlb(r, cpu, s, reason, capacity);
	case TARGET_CORE:
		return shape_pair(r, cpu, s, reason, capacity);
	case TARGET_OTHER_CORE: case TARGET_OTHER_COMPLEX: case TARGET_OTHER_DIE: case TARGET_OTHER_SOCKET: case TARGET_SAME_CORE: case TARGET_SAME_CLUSTER:
		return shape_helped(r, cpu, s, reason, capacity);
	case TARGET_COUNT:
		break;
	}
	return ST_BROKEN;
}

enum status shape_of_baseline(const struct row *r, const struct cpu *cpu, const struct shape *test,
                              struct shape *s, char *reason, size_t capacity)
{
	const struct cpu_cache *l1 = cpu_cache(cpu, 1);

	if (r->baseline == BASELINE_PAIR) {
		*s = *test;
		return ST_OK;
	}
	memset(s, 0, sizeof(*s));
	s->order = ORDER_LINES;
	s->page_bytes = r->page_bytes;
	s->line_bytes = line_of(cpu);
	if (r->baseline == BASELINE_OPEN_PAGES) {
		s->order = ORDER_OPEN_PAGES;
		shape_lines(s, 2ull * r->window * s->line_bytes);
		s->rounds = rounds_of_open_pages(cpu, s->bytes);
		return ST_OK;
	}
	if (r->baseline == BASELINE_PACKED) {
		/* few pages, and a page's lines one after another: no DTLB misses */
		s->page_bytes = PAGE_2M;
		s->order = ORDER_OPEN_PAGES;
		s->start_bytes = test->line_bytes - s->line_bytes; /* where the test uses every second line, the sets between: neither evicts the other's from the L2 */
		s->line_bytes = test->line_bytes;
		shape_lines(s, test->bytes);
		s->span_bytes += s->start_bytes;
		return ST_OK;
	}
	if (!l1 || !l1->bytes)
		return unknown(reason, capacity, "no L1 data cache known");
	if (test->order == ORDER_STREAMS) {
		s->order = ORDER_STREAMS;
		s->arrays = test->arrays;
		s->step_bytes = test->step_bytes;
		shape_streams(s, power_of_two_below(most_of(l1) / 2 / s->arrays));
		return ST_OK;
	}
	/* One line per set stays whatever the replacement policy. In the level above, it lies in the sets where the test's ring uses one way less. */
	shape_lines(s, cpu_cache_way_bytes(l1) >= CHASE_LOADS * s->line_bytes ? cpu_cache_way_bytes(l1) : most_of(l1));
	const uint64_t way = r->target == TARGET_L2 ? cpu_cache_way_bytes(cpu_cache(cpu, 2)) : 0, behind = way ? test->bytes % way : 0;
	if (way <= s->page_bytes && behind + s->bytes <= way) {
		s->start_bytes = behind;
		s->span_bytes += behind;
	}
	return ST_OK;
}
