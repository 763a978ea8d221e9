/* pmu/sim/memory/prefetch.c: four hardware prefetchers like Nehalem's.
 *
 * - Bit 3, L1 stride: a table of 256 entries indexed by the low bits of the load's code address. When a load's step (not 0,
 *   at most STRIDE_MOST bytes) equals its previous step, the line of the next address is brought into the L1D, within the 4
 *   KiB page.
 * - Bit 2, L1 next line: a load that misses the L1D on the line after the one last missed brings the line after it. The
 *   first use of such a line counts as a miss.
 * - Bit 1, L2 adjacent line: a demand request that misses the L2 brings the other line of its aligned pair into the L2.
 * - Bit 0, L2 streamer: 32 streams, one per 4 KiB page, replaced oldest first. From the second step in one direction on,
 *   each request to the L2 within the page brings up to two lines into the L2, at most prefetch.streamer_lines ahead of the
 *   request, within the page.
 *
 * A prefetch that finds no free fill buffer (L1) or super queue entry (L2) is dropped; the streamer tries again at its next
 * request.
 *
 * Not modelled: throttling by bandwidth, prefetches into the L3 only, instruction prefetch, confidence that fades, crossing
 * pages. */
#include "pmu/sim/memory/memory_state.h"

void memory_prefetchers(struct memory *s, unsigned core, unsigned off_mask)
{
	s->core[core].prefetchers = (uint8_t)(s->core[core].m->prefetch_present & ~off_mask & 15);
}

static void into_l1(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	struct signals *g = s->signals[thread];
	signal_pulse(g, SIG_L1D_PREFETCH_REQUEST, t, 1);
	if (cache_find(&c->l1d, line) != CACHE_NONE || pool_find(&c->lfb, t, line) ||
	    memory_lfb_is_full(s, c, line, t))
		return;
	signal_pulse(g, SIG_L1D_PREFETCH_MISS, t, 1);
	memory_l1_prefetch(s, c, thread, line, t);
}

void prefetch_stride_line(struct memory *s, struct private_core *c, unsigned thread, uint32_t next, uint64_t t)
{
	signal_pulse(s->signals[thread], SIG_L1D_PREFETCH_TRIGGER, t, 1);
	into_l1(s, c, thread, next, t);
}

void prefetch_next_line_sure(struct memory *s, struct private_core *c, unsigned thread, uint64_t t, uint32_t line)
{
	if ((line + 1) % PAGE_LINES == 0)
		return;
	signal_pulse(s->signals[thread], SIG_L1D_PREFETCH_TRIGGER, t, 1);
	into_l1(s, c, thread, line + 1, t);
}

/* A request in a page with a stream. */
__attribute__((noinline)) void stream_goes_on(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, struct stream *e, uint64_t t)
{
	const uint32_t page = line / PAGE_LINES;
	const int8_t at = (int8_t)(line % PAGE_LINES);
	const int8_t direction = at > e->last ? 1 : -1;
	e->last = at;
	if (direction != e->direction) {
		e->direction = direction;
		e->ahead = at;
		return;
	}
	if ((e->ahead - at) * direction < 0)
		e->ahead = at;
	for (unsigned n = 0; n < 2; n++) {
		const int next = e->ahead + direction;
		if (next < 0 || next >= (int)PAGE_LINES || (next - at) * direction > (int)c->m->prefetch_streamer_lines)
			return;
		if (!l2_prefetch(s, c, thread, page * PAGE_LINES + (uint32_t)next, t))
			return;
		e->ahead = (int8_t)next;
	}
}

/* A request in a page whose hash a stream has. */
__attribute__((noinline)) void stream_sought(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	struct cluster *k = c->cluster;
	const uint32_t page = line / PAGE_LINES, found = cache_among(k->stream_hashes, k->stream_page, STREAMS, page, page);
	const int8_t at = (int8_t)(line % PAGE_LINES);
	if (found == CACHE_NONE) {
		stream_begins(k, page, at, cache_hash(page));
		return;
	}
	k->stream_last = found;
	if (at != k->streams[found].last)
		stream_goes_on(s, c, thread, line, &k->streams[found], t);
}
