/* pmu/sim/core/core_clock.c: start and end of a thread, its clock, and the closing of cycles.
 *
 * Not modelled: sleep states and the cost of waking from them, clocks that differ between the threads of a core. */
#include "pmu/sim/core/pipe.h"

static size_t align64(size_t n) { return (n + 63) & ~(size_t)63; }

#define WORD_OF(sig, w) ((sig) / 64 == (w) ? 1ull << (sig) % 64 : 0)
/* Bits of the signals first .. last in word w. */
#define RANGE(first, last, w) \
	((w) < (first) / 64 || (w) > (last) / 64 ? 0 : (~0ull << ((w) == (first) / 64 ? (first) % 64 : 0)) & (~0ull >> ((w) == (last) / 64 ? 63 - (last) % 64 : 0)))
#define SELDOM(w) ((RANGE(SIG_UOPS_ISSUED_UNFUSED, SIG_STORES_RETIRED, w) & ~WORD_OF(SIG_UOPS_RETIRED_FUSED, w) & ~WORD_OF(SIG_UOPS_RETIRED_UNFUSED, w)) | \
	RANGE(SIG_INSTRUCTIONS_DECODED, SIG_STORE_BUFFER_OCCUPANCY, w) | WORD_OF(SIG_MULTIPLIES, w) | WORD_OF(SIG_LOAD_DISPATCHED, w) | \
	RANGE(SIG_STALL_BY_FETCH, SIG_UOPS_RETIRED_MS, w))
const uint64_t pipe_seldom[SIGNAL_WORDS] = { SELDOM(0), SELDOM(1), SELDOM(2) };
_Static_assert(SIG_UOPS_RETIRED_MS < 192, "words of pipe_seldom");

/* The largest power of two that is not above n (n > 0). */
static uint32_t power_below(uint64_t n)
{
	uint32_t p = 1;
	while ((uint64_t)p * 2 <= n)
		p *= 2;
	return p;
}

static unsigned uop_cache_sets(const struct machine *m)
{
	uint64_t lines = m->front_uop_cache / m->front_uop_cache_line_uops;
	return lines < m->front_uop_cache_ways ? 0 : power_below(lines / m->front_uop_cache_ways);
}

size_t core_bytes(const struct machine *m)
{
	return align64(sizeof(struct core_thread)) + align64(sizeof(struct core_shared)) + align64(m->predictor_entries) +
	       8 * (2 * m->predictor_targets + m->predictor_indirect) +
	       uop_cache_sets(m) * m->front_uop_cache_ways * sizeof(struct uop_line);
}

static void split_buffers(struct core_thread *c, bool alone)
{
	unsigned ways = alone ? 1 : 2;
	c->alone = alone;
	c->rob_size = (uint32_t)(c->m->core_rob / ways);
	c->lb_size = (uint32_t)(c->m->core_load_buffers / ways);
	c->sb_size = (uint32_t)(c->m->core_store_buffers / ways);
	c->rob_at = c->lb_at = c->sb_at = 0;
	memset(c->rob, 0, sizeof(c->rob));
	memset(c->lb, 0, sizeof(c->lb));
	memset(c->sb, 0, sizeof(c->sb));
}

struct core_thread *core_init(void *at, const struct machine *m, unsigned core, unsigned thread,
                              struct memory *memory, struct signals *signals, const struct core_hooks *hooks,
                              struct core_thread *sibling)
{
	struct core_thread *c = at;
	uint8_t *next = (uint8_t *)at + align64(sizeof(*c));
	memset(c, 0, sizeof(*c));
	c->shared = sibling ? sibling->shared : (struct core_shared *)next;
	next += align64(sizeof(struct core_shared));
	if (!sibling)
		*c->shared = (struct core_shared){ .above = ~1u };
	c->own = sibling ? !sibling->own : 0;
	c->shared->threads[c->own] = c;
	c->counters = next;
	memset(c->counters, 1, m->predictor_entries);
	next += align64(m->predictor_entries);
	c->targets = (uint64_t *)next;
	c->target_of = c->targets + m->predictor_targets;
	c->indirect = c->target_of + m->predictor_targets;
	c->uop_lines = (struct uop_line *)(c->indirect + m->predictor_indirect);
	c->uop_sets = uop_cache_sets(m);
	memset(c->targets, 0, 8 * (2 * m->predictor_targets + m->predictor_indirect));
	memset(c->uop_lines, 0, c->uop_sets * m->front_uop_cache_ways * sizeof(struct uop_line));
	c->history_mask = (1ull << m->predictor_history) - 1;
	c->counter_mask = power_below(m->predictor_entries) - 1;
	c->target_mask = power_below(m->predictor_targets) - 1;
	c->indirect_mask = power_below(m->predictor_indirect) - 1;
	c->m = m;
	c->core = core;
	c->thread = thread;
	c->memory = memory;
	c->signals = signals;
	c->hooks = hooks;
	c->width = (uint32_t)m->core_issue_width;
	c->retire_width = (uint32_t)m->core_retire_width;
	c->rs_size = (uint32_t)m->core_rs;
	c->fetch_shift = (unsigned)__builtin_ctzll(m->front_decode_bytes);
	c->decode_width = (uint32_t)m->front_decode_width;
	c->queue_uops = (uint32_t)m->front_queue;
	c->dispatch_cycles = (uint32_t)m->core_dispatch_cycles;
	c->register_reads = (unsigned)m->core_register_reads;
	for (unsigned r = RN_CF; r < PLAN_NAMES; r++)
		c->written[r] = UINT64_MAX;
	signals_seldom(signals, pipe_seldom);
	split_buffers(c, true);
	c->front.redirected = true;
	c->front.line = c->front.uop_window = ~0ull;
	return c;
}

void core_want_retired(struct core_thread *c, bool on) { c->want_retired = on; }
_Static_assert(offsetof(struct core_thread, alloc) == 0, "core_clock takes it from there");
uint64_t core_uops(const struct core_thread *c) { return c->uops; }

/* Two words at once: for so little, calling memset costs more than the clearing. */
typedef uint64_t cycles16 __attribute__((vector_size(16), aligned(8), may_alias));

/* Reservations below the allocation of every thread can no longer be requested. */
static OWN_PAGE void clear_rings(struct core_shared *s, uint64_t below)
{
	const uint64_t to = below & ~63ull, bits_end = s->bits_end < to ? s->bits_end : to;
	if (to <= s->cleared)
		return;
	uint64_t at = to - s->cleared > CORE_RING ? to - CORE_RING : s->cleared;
	for (uint64_t n = at; n < bits_end; n += 64)
		s->divider[(n & CORE_RING_MASK) / 64] = s->taken[(n & CORE_RING_MASK) / 64] = 0;
	uint64_t *const marks = (uint64_t *)(void *)s->used;
	const uint64_t end = to / CORE_STRETCH;
	for (uint64_t n = at / CORE_STRETCH; n < end; n = (n | 7) + 1) { /* the marks of eight stretches */
		uint64_t *const mark = &marks[n % (CORE_RING / CORE_STRETCH) / 8];
		uint64_t some = *mark >> n % 8 * 8 << n % 8 * 8;
		if (end - (n & ~7ull) < 8)
			some &= (1ull << (end & 7) * 8) - 1;
		*mark ^= some;
		for (; some; some &= some - 1) {
			const uint64_t stretch = (n & ~7ull) + (unsigned)__builtin_ctzll(some) / 8;
			cycles16 *const busy = (cycles16 *)(void *)&s->busy[stretch * CORE_STRETCH & CORE_RING_MASK];
			for (unsigned i = 0; i < CORE_STRETCH * sizeof(s->busy[0]) / sizeof(*busy); i++)
				busy[i] = (cycles16){ 0 };
		}
	}
	s->cleared = to;
}

static void core_close_below(struct core_thread *c, uint64_t cycle)
{
	if (cycle > c->closed) {
		signal_level(c->signals, SIG_CYCLES, c->closed, cycle, 1);
		signal_close(c->signals, cycle);
		c->closed = cycle;
	}
	uint64_t below = c->alloc;
	const struct core_thread *other = c->shared->threads[!c->own];
	if (!c->alone && other && other->alloc < below)
		below = other->alloc;
	clear_rings(c->shared, below);
}

void core_close_some(struct core_thread *c)
{
	uint64_t cycle = c->alloc < c->retire ? c->alloc : c->retire;
	if (!c->front.streaming && c->front.fetch_cycle < cycle)
		cycle = c->front.fetch_cycle;
	core_close_below(c, cycle);
}

static void meet(struct core_thread *c, uint64_t cycle)
{
	c->alloc = c->retire = c->slots_emitted = cycle;
	c->slots = c->retire_slots = 0;
	c->barrier = 0;
	c->fused_before = false;
	c->front.streaming = false;
	c->front.loop_branch = 0;
	c->front.cycle = cycle;
	c->front.fetch_cycle = cycle;
	c->front.decoded = 0;
	c->expected = false;
	c->rest.slots = 0;
	c->found = c->full_from = c->full_to = 0;
	c->next = c->alone ? 0 : cycle;
	if (c->alone)
		pipe_rs_take_off(c, cycle); /* the other thread may still reach the cycles before */
}

uint64_t core_serialise(struct core_thread *c)
{
	uint64_t cycle = max_cycle(max_cycle(c->alloc, c->retire), max_cycle(c->last_commit, c->last_complete));
	cycle = max_cycle(cycle, c->barrier) + 1;
	pipe_emit_slots(c, 0, cycle);
	if (pipe_lost_subscribed(c, cycle))
		pipe_emit_lost(c, 0, cycle, 0);
	meet(c, cycle);
	front_redirect(c, cycle);
	core_close_below(c, cycle);
	return cycle;
}

void core_resume(struct core_thread *c, uint64_t cycle, bool alone)
{
	struct core_thread *o = c->shared->threads[!c->own];
	if (cycle < c->alloc)
		cycle = c->alloc;
	signal_skip(c->signals, cycle);
	c->closed = cycle;
	meet(c, cycle);
	c->last_commit = c->last_complete = c->load_barrier = c->address_known = 0;
	front_redirect(c, cycle);
	split_buffers(c, alone || !o);
	c->whole_from = 0;
	c->next = c->alone ? 0 : cycle;
	if (!c->alone && o->next == UINT64_MAX)
		o->next = cycle; /* it is awake, and its cycles belong to it whatever it does */
	clear_rings(c->shared, c->alone || o->alloc > cycle ? cycle : o->alloc);
}

void core_park(struct core_thread *c)
{
	struct core_thread *o = c->shared->threads[!c->own];
	if (o && !o->alone)
		pipe_part(o, c->alloc);
	c->alone = true;
	c->next = UINT64_MAX;
	signal_sleep(c->signals);
}
