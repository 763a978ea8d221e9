/* bench/measure/layout_link.c: the addresses of a working set's nodes, and the order of visits, written into them as pointers. */
#include "bench/measure/layout.h"

static uint64_t place_in_piece(const struct shape *s, uint32_t i)
{
	const uint32_t lines = (uint32_t)(PAGE_4K / s->line_bytes);

	return i / lines * s->piece_bytes + i % lines * s->line_bytes;
}

uint64_t shape_node(const struct shape *s, uint32_t i, struct random *random)
{
	uint64_t cell, page = s->page_bytes > PAGE_4K ? s->page_bytes : PAGE_4K;

	switch (s->order) {
	case ORDER_SPARSE:
		if (s->piece_bytes)
			return place_in_piece(s, i);
		cell = s->span_bytes / s->nodes / s->line_bytes; /* lines */
		return (i * cell + random_below(random, (uint32_t)cell)) * s->line_bytes;
	case ORDER_PAGES: case ORDER_PAGE_GROUPS:
		cell = i / s->spread_pages + (s->spread_far_pages ? i / s->spread_far_pages : 0); /* index of the line within its page */
		return i * page + cell % (page / s->line_bytes) * s->line_bytes;
	default:
		if (s->piece_bytes && s->order == ORDER_REGIONS) /* of each piece the next 4 KiB */
			return place_in_piece(s, i % s->region_nodes) + i / s->region_nodes * (uint64_t)PAGE_4K;
		if (s->piece_bytes)
			return place_in_piece(s, i);
		return s->start_bytes + (uint64_t)i * s->line_bytes;
	}
}

/* A cycle through n lines, `lines` per page: those of a page in random order, then the next page's. With several rounds, each visits all pages and
 * a part of their lines. */
static void cycle_by_pages(struct random *random, uint32_t *next, uint32_t n, uint32_t lines, uint32_t rounds)
{
	uint32_t order[PAGE_4K / SHAPE_LINE_BYTES_LEAST], first = 0, previous = 0;
	const uint32_t part = lines / (rounds ? rounds : 1);

	for (uint32_t round = 0; round * part < lines; round++)
		for (uint32_t page = 0; page < n; page += lines) {
			const uint32_t from = page + round * part, here = n - from < part ? n - from : part;

			random_shuffle(random, order, here);
			for (uint32_t i = 0; i < here; i++) {
				if (from + i == 0)
					first = order[0];
				else
					next[previous] = from + order[i];
				previous = from + order[i];
			}
		}
	next[previous] = first;
}

/* A cycle through n lines, `lines` per page: one of each page in turn, those of a page in random order. Windows of whole rounds touch the same pages
 * whatever their length: where pages of 2 MiB are kept as pieces of 4 KiB none has more first touches than another. */
static void cycle_across_pages(struct random *random, uint32_t *next, uint32_t n, uint32_t lines)
{
	uint32_t first[PAGE_4K / SHAPE_LINE_BYTES_LEAST], previous[PAGE_4K / SHAPE_LINE_BYTES_LEAST], here[PAGE_4K / SHAPE_LINE_BYTES_LEAST];

	lines = lines < n ? lines : n;
	for (uint32_t page = 0; page + lines <= n; page += lines) {
		random_shuffle(random, here, lines);
		for (uint32_t i = 0; i < lines; i++) {
			here[i] += page;
			if (page)
				next[previous[i]] = here[i];
			else
				first[i] = here[i];
			previous[i] = here[i];
		}
	}
	for (uint32_t i = 0; i < lines; i++)
		next[previous[i]] = first[(i + 1) % lines];
}

/* A cycle through n lines: those of a region in random order, then the next region's. */
static void cycle_by_regions(struct random *random, uint32_t *next, uint32_t n, uint32_t region)
{
	for (uint32_t first = 0; first < n; first += region) {
		uint32_t here = n - first < region ? n - first : region, other;

		random_cycle(random, next + first, here);
		for (uint32_t i = first; i < first + here; i++)
			next[i] += first;
		if (!first)
			continue;
		/* swapping the successors of a node of each cycle joins the two, each still in one piece */
		other = next[first];
		next[first] = next[first - region];
		next[first - region] = other;
	}
}

/* Shuffles groups of consecutive nodes; the order within a group stays. */
static void shuffle_groups(struct random *random, uint32_t *at, uint32_t n, uint32_t group)
{
	for (uint32_t left = n / group; left > 1; left--) {
		uint32_t *last = at + (size_t)(left - 1) * group, *other = at + (size_t)random_below(random, left) * group;

		for (uint32_t i = 0; i < group; i++) {
			uint32_t kept = last[i];

			last[i] = other[i];
			other[i] = kept;
		}
	}
}

/* Both in lines from the first place for a node. */
static void link_to(const struct shape *s, const struct mapping *m, uint32_t from, uint32_t to)
{
	*(uint64_t *)mapping_at(m, s->start_bytes + (uint64_t)from * s->line_bytes) = m->va + s->start_bytes + (uint64_t)to * s->line_bytes;
}

void shape_link(const struct shape *s, const struct mapping *m, struct random *random, uint32_t *work)
{
	uint32_t n = s->nodes, *next = work, *at = work + n; /* offsets in lines: spans stay below 256 GiB */

	for (uint32_t i = 0; i < n; i++)
		at[i] = (uint32_t)((shape_node(s, i, random) - s->start_bytes) / s->line_bytes);
	if (s->order == ORDER_PAGE_GROUPS) {
		/* Visits all groups in one shuffled order, repeatedly, each time another page of each: node `groups[g] * 8 + pass` links to that of
		 * the next group in the same pass, the last group's to the first group's of the next pass. The page that a pass takes is its number
		 * rotated by the group's: no stride is left for a prefetcher. */
		uint32_t count = n / SHAPE_PAGE_GROUP, previous;

		random_shuffle(random, next, count);
		previous = next[0] * SHAPE_PAGE_GROUP + next[0] % SHAPE_PAGE_GROUP;
		for (uint32_t step = 1; step <= n; step++) {
			uint32_t group = next[step % count], pass = step / count % SHAPE_PAGE_GROUP;
			uint32_t page = group * SHAPE_PAGE_GROUP + (pass + group) % SHAPE_PAGE_GROUP;

			link_to(s, m, at[previous], at[page]);
			previous = page;
		}
		return;
	}
	if (s->order == ORDER_PAGES && s->region_nodes)
		shuffle_groups(random, at, n, s->region_nodes);
	if (s->order == ORDER_OPEN_PAGES)
		cycle_by_pages(random, next, n, (uint32_t)(PAGE_4K / s->line_bytes), s->rounds);
	else if (s->order == ORDER_MATRIX || (s->order == ORDER_SPARSE && s->piece_bytes))
		cycle_across_pages(random, next, n, (uint32_t)(PAGE_4K / s->line_bytes));
	else if (s->region_nodes)
		cycle_by_regions(random, next, n, s->region_nodes);
	else
		random_cycle(random, next, n);
	for (uint32_t i = 0; i < n; i++)
		link_to(s, m, at[i], at[next[i]]);
}
