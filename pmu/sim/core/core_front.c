/* pmu/sim/core/core_front.c: fetch, decode, loop buffer, branch prediction.
 *
 * Time here is the cycle in which an instruction's uops could be allocated: the depth of the pipeline shows only after a
 * re-steer, where the costs of mispredictions and machine clears contain it.
 *
 * - Fetch brings one aligned group of front.decode_bytes a cycle, at most FETCH_AHEAD cycles ahead of decode. A new 64-byte
 *   line is looked up in the ITLB and the L1I; a miss stalls fetch until the line arrives.
 * - Decode takes front.decode_width instructions a cycle in order, an instruction of several uops only as the first of a
 *   cycle, a microcoded one alone, at front.microcode_width uops a cycle.
 * - The uop cache, if there is one, holds decoded windows of front.uop_cache_window bytes. An instruction in such a window
 *   is delivered without fetch, decoders and L1I, at most front.uop_cache_width uops a cycle and from one window; with
 *   front.uop_cache_translates the window is looked up in the ITLB, and waits for its translation. A window
 *   enters the cache when the decoders leave it, if it had no more than front.uop_cache_window_uops uops by then; all of it
 *   counts as cached. Switching from the cache back to the decoders costs fetch front.uop_cache_switch_cycles.
 * - When microcode follows an instruction that is not microcoded, decode waits front.microcode_switch_cycles. The uop cache counts its
 *   uops, but the sequencer delivers them at its own width there too.
 * - A length-changing prefix stalls fetch by front.lcp_cycles per instruction.
 * - At most front.queue uops wait between decode and allocation.
 * - The loop buffer streams once the same backward branch was taken LOOP_ITERATIONS times in a row with no other taken branch in
 *   between and an iteration of no more than front.loop_uops uops; the front end then costs nothing. Any other taken
 *   branch, or the end of the loop, ends that.
 * - Prediction: two-bit counters by address and global history; targets by address; indirect targets by address and
 *   history; returns from a stack. All learn at once, in program order. A taken branch that the target buffer does not know
 *   costs front.baclear_cycles of fetch.
 *
 * Not modelled: loop-count prediction, aliasing of the target buffer by partial tags, the depth of the instruction queue
 * before decode, victim caches of the L1I, wrong-path instruction fetch from memory, the uop cache that is emptied with the ITLB. */
#include "pmu/sim/core/core_memo.h"

#define LOOP_ITERATIONS 2

static __attribute__((noinline)) void report_fetch(struct core_thread *c, const struct fetched *f)
{
	if (c->hooks->fetched)
		c->hooks->fetched(c->hooks->self, f);
}

enum status front_fetch_line(struct core_thread *c, uint64_t ip, uint64_t *cycle)
{
	if (__builtin_expect(c->tape != NULL, 0))
		return memo_fetch(c, ip, cycle);
	struct tlb_reply t;
	enum status s = memory_translate(c->memory, c->core, c->thread, ip, FOR_CODE, *cycle, &t);
	if (s != ST_OK)
		return s;
	uint64_t at = *cycle;
	struct mem_request q = { .kind = MEM_IFETCH, .core = c->core, .thread = c->thread, .va = ip, .pa = t.pa,
	                         .bytes = 1, .ip = ip, .cycle = max_cycle(t.ready, at) };
	struct mem_reply r;
	memory_access(c->memory, &q, &r);
	uint64_t until = max_cycle(r.ready, q.cycle);
	if (c->want_retired)
		report_fetch(c, &(struct fetched){ .va = ip, .pa = t.pa, .latency_cycles = (uint32_t)(until - at) + 1, .translate_cycles = (uint32_t)(q.cycle - at),
		                                   .itlb_level = t.level, .source = r.source });
	if (until > at) {
		signal_level(c->signals, SIG_L1I_STALL, at, until, 1);
		c->front.stalled_until = until;
		*cycle = until;
	}
	return ST_OK;
}

/* Fetches up to the group with the instruction's last byte, which is not the last group fetched. */
static __attribute__((noinline)) enum status fetch_groups(struct core_thread *c, uint64_t ip, uint64_t last, bool wrong_path)
{
	struct front *f = &c->front;
	const unsigned shift = c->fetch_shift;
	const uint64_t first = ip >> shift;
	for (uint64_t w = f->redirected ? first : f->fetch_block + 1; w <= last; w++) {
		uint64_t cycle = f->fetch_cycle + 1;
		if (cycle + FETCH_AHEAD < f->cycle)
			cycle = f->cycle - FETCH_AHEAD;
		uint64_t at = w << shift;
		if (f->line != at >> 6 && !wrong_path) {
			enum status s = front_fetch_line(c, at, &cycle);
			if (s != ST_OK)
				return s;
			f->line = at >> 6;
		}
		f->fetch_cycle = cycle;
		f->redirected = false;
	}
	f->fetch_block = last;
	return ST_OK;
}

/* Marks the window's lines in its set as used; false if it is not cached. */
static bool cache_find(struct core_thread *c, uint64_t window)
{
	struct uop_line *set = &c->uop_lines[(window & (c->uop_sets - 1)) * c->m->front_uop_cache_ways];
	bool found = false;
	for (unsigned w = 0; w < c->m->front_uop_cache_ways; w++) {
		if (set[w].window == window) {
			set[w].used = ++c->uop_clock;
			found = true;
		}
	}
	return found;
}

static void cache_enter(struct core_thread *c, uint64_t window, unsigned uops)
{
	const struct machine *m = c->m;
	struct uop_line *set = &c->uop_lines[(window & (c->uop_sets - 1)) * m->front_uop_cache_ways];
	if (!uops || uops > m->front_uop_cache_window_uops)
		return;
	for (unsigned lines = 0; lines * m->front_uop_cache_line_uops < uops; lines++) {
		unsigned oldest = 0;
		for (unsigned w = 1; w < m->front_uop_cache_ways; w++)
			if (set[w].used < set[oldest].used)
				oldest = w;
		/* a window is evicted as a whole */
		uint64_t gone = set[oldest].window;
		for (unsigned w = 0; w < m->front_uop_cache_ways; w++)
			if (set[w].window == gone)
				set[w] = (struct uop_line){ 0, 0 };
		set[oldest] = (struct uop_line){ window, ++c->uop_clock };
	}
}

void core_forget_code(struct core_thread *c, uint64_t va, uint64_t bytes)
{
	const unsigned shift = (unsigned)__builtin_ctzll(c->m->front_uop_cache_window);
	for (uint64_t i = 0; i < c->uop_sets * c->m->front_uop_cache_ways; i++)
		if (c->uop_lines[i].window - (va >> shift) <= ((va + bytes - 1) >> shift) - (va >> shift))
			c->uop_lines[i] = (struct uop_line){ 0, 0 };
	c->front.uop_window = ~0ull; /* not entered when it is left */
}

void front_forget_line(struct core_thread *c, uint64_t va)
{
	const unsigned shift = (unsigned)__builtin_ctzll(c->m->front_uop_cache_window);
	c->front.line = ~0ull;
	if (!c->uop_sets) /* no uop cache */
		return;
	for (uint64_t w = va / 64 * 64 >> shift; w <= (va | 63) >> shift; w++) {
		struct uop_line *set = &c->uop_lines[(w & (c->uop_sets - 1)) * c->m->front_uop_cache_ways];
		for (unsigned i = 0; i < c->m->front_uop_cache_ways; i++)
			if (set[i].window == w)
				set[i] = (struct uop_line){ 0, 0 };
		if (c->front.uop_window == w)
			c->front.uop_window = ~0ull; /* not entered when it is left */
	}
}

/* When a window is looked up in the uop cache: the translation, where it needs one, comes before. A page that is not there is left to fetch. */
static uint64_t cache_translated(struct core_thread *c, uint64_t ip, uint64_t cycle)
{
	struct tlb_reply t = { .ready = cycle, .level = 1 };
	if (c->m->front_uop_cache_translates && memory_translate(c->memory, c->core, c->thread, ip, FOR_CODE, cycle, &t) != ST_OK)
		return cycle;
	if (c->want_retired)
		report_fetch(c, &(struct fetched){ .va = ip, .latency_cycles = (uint32_t)(max_cycle(cycle, t.ready) - cycle) + 1,
		                                   .translate_cycles = (uint32_t)(max_cycle(cycle, t.ready) - cycle), .itlb_level = t.level, .source = SRC_L1, .uop_cache = true });
	return max_cycle(cycle, t.ready);
}

/* From the cycle of its first uops on, also where the uop cache has the instruction: its line only tells where the microcode begins. */
static __attribute__((noinline)) void deliver_microcode(struct core_thread *c, const struct core_plan *p)
{
	struct front *f = &c->front;
	uint64_t width = c->m->front_microcode_width, left = p->fused;
	for (; left > width; left -= width, f->cycle++)
		signal_pulse(c->signals, SIG_UOPS_DECODED_MS, f->cycle, (unsigned)width);
	signal_pulse(c->signals, SIG_UOPS_DECODED_MS, f->cycle, (unsigned)left);
	f->decoded = (uint32_t)c->m->front_decode_width;
}

/* Whether the uop cache delivers the instruction; *cycle is then when. */
static bool cache_deliver(struct core_thread *c, const struct core_plan *p, uint64_t ip, bool wrong_path, uint64_t *cycle)
{
	struct front *f = &c->front;
	const struct machine *m = c->m;
	uint64_t window = ip >> __builtin_ctzll(m->front_uop_cache_window), d = f->cycle;
	bool left = window != f->uop_window || f->redirected;
	if (left) {
		if (!f->from_cache && f->uop_window != ~0ull)
			cache_enter(c, f->uop_window, f->uop_window_uops);
		bool had = f->from_cache;
		f->from_cache = cache_find(c, window);
		if (had && !f->from_cache)
			front_redirect(c, d + 1 + m->front_uop_cache_switch_cycles);
		if (f->from_cache && f->redirected)
			d = max_cycle(d, f->fetch_cycle);
		if (f->from_cache)
			d = 1 + (wrong_path ? d : cache_translated(c, ip, d));
		f->uop_window = window;
		f->uop_window_uops = f->cached_uops = 0;
	}
	const unsigned uops = c->fused_before ? 0 : p->fused; /* a branch that fused adds none */
	f->uop_window_uops += uops;
	if (!f->from_cache)
		return false;
	if (f->cached_uops + uops > m->front_uop_cache_width && f->cached_uops) {
		d++;
		f->cached_uops = 0;
	}
	uint64_t room = c->front_ring[(c->uop_number - m->front_queue) & (FRONT_RING - 1)];
	if (room > d) {
		d = room;
		f->cached_uops = 0;
	}
	if (p->microcoded && !f->sequencer && m->front_microcode_switch_cycles) {
		d += m->front_microcode_switch_cycles;
		f->cached_uops = 0;
	}
	f->sequencer = p->microcoded;
	f->cached_uops += uops;
	f->redirected = false;
	f->fetch_block = ~0ull - 1;
	f->cycle = *cycle = d;
	f->decoded = (uint32_t)m->front_decode_width;
	if (p->microcoded) {
		deliver_microcode(c, p);
		f->cached_uops = (uint32_t)m->front_uop_cache_width;
	} else {
		signal_pulse(c->signals, SIG_UOP_CACHE_UOPS, d, uops);
	}
	f->fetch_cycle = f->cycle;
	return true;
}

static __attribute__((noinline)) void emit_decoded(struct core_thread *c, const struct core_plan *p, uint64_t d)
{
	signal_pulse(c->signals, SIG_INSTRUCTIONS_DECODED, d, 1);
	signal_pulse(c->signals, SIG_QUEUE_WRITES, d, 1);
	signal_pulse(c->signals, SIG_INSTRUCTIONS_DECODED_DEC0, d, !c->front.decoded);
	signal_pulse(c->signals, SIG_INSTRUCTIONS_DECODED_MICROCODE, d, p->microcoded);
	signal_pulse(c->signals, SIG_FUSIONS_DECODED, d, p->fuses_next);
	signal_pulse(c->signals, SIG_LEGACY_UOPS, d, p->fused);
}

enum status front_deliver(struct core_thread *c, const struct core_plan *p, uint64_t ip,
                          bool wrong_path, uint64_t *cycle, enum wait_reason *why)
{
	struct front *f = &c->front;
	const struct machine *m = c->m;
	if (c->uop_sets && cache_deliver(c, p, ip, wrong_path, cycle)) {
		*why = WAIT_DECODE;
		return ST_OK;
	}
	const uint64_t last = (ip + p->length - 1) >> c->fetch_shift;
	if (f->redirected || last != f->fetch_block) {
		enum status s = fetch_groups(c, ip, last, wrong_path);
		if (s != ST_OK)
			return s;
	}
	if (p->lcp && m->front_lcp_cycles) {
		signal_level(c->signals, SIG_ILD_STALL_LCP, f->fetch_cycle, f->fetch_cycle + m->front_lcp_cycles, 1);
		f->fetch_cycle += m->front_lcp_cycles;
	}
	uint64_t d = f->cycle;
	if (f->fetch_cycle > d) {
		d = f->fetch_cycle;
		f->decoded = 0;
	} else if (!c->fused_before && (f->decoded >= c->decode_width || (f->decoded && p->complex))) {
		d++;
		f->decoded = 0;
	}
	if (p->microcoded && !f->sequencer && m->front_microcode_switch_cycles) {
		d += m->front_microcode_switch_cycles;
		f->decoded = 0;
	}
	f->sequencer = p->microcoded;
	uint64_t room = c->front_ring[(c->uop_number - c->queue_uops) & (FRONT_RING - 1)];
	if (room > d && !c->fused_before) { /* a branch that fused adds no uop */
		signal_level(c->signals, SIG_ILD_STALL_QUEUE_FULL, d, room, 1);
		d = room;
		f->decoded = 0;
	}
	*why = f->stalled_until == f->fetch_cycle ? WAIT_FETCH : WAIT_DECODE;
	*cycle = d;
	f->cycle = d;
	if (c->fused_before)
		return ST_OK;
	if (signal_subscribed_any(c->signals, SIG_INSTRUCTIONS_DECODED, SIG_UOPS_DECODED_MS) || signal_subscribed(c->signals, SIG_LEGACY_UOPS))
		emit_decoded(c, p, d);
	f->decoded++;
	if (p->microcoded)
		deliver_microcode(c, p);
	return ST_OK;
}

static void learn_loop(struct core_thread *c, uint64_t ip, const struct effects *e)
{
	struct front *f = &c->front;
	if (e->taken && e->next_rip <= ip) {
		if (f->loop_branch == ip && f->loop_target == e->next_rip) {
			f->loop_iterations++;
			bool fits = f->loop_uops <= c->m->front_loop_uops && c->m->front_loop_uops;
			f->streaming = fits && f->loop_iterations >= LOOP_ITERATIONS;
		} else {
			f->streaming = false;
			f->loop_branch = ip;
			f->loop_target = e->next_rip;
			f->loop_iterations = 0;
		}
		f->loop_uops = 0;
	} else if (e->taken || ip == f->loop_branch) {
		f->streaming = false;
		f->loop_branch = 0;
	}
}

void front_predict(struct core_thread *c, const struct core_plan *p, uint64_t ip, const struct effects *e, struct branch_prediction *f)
{
	bool miss = false;
	uint64_t next = ip + p->length;
	unsigned t = front_target_index(c, ip);
	bool in_buffer = c->targets[t] == ip && c->target_of[t] == e->next_rip;
	f->predicted = 0;
	f->known = !e->taken || in_buffer;
	switch (p->branch) {
	case BRANCH_COND: {
		uint8_t *counter = &c->counters[front_counter_index(c, ip)];
		bool guess = *counter >= 2;
		miss = guess != e->taken;
		f->predicted = guess ? (c->targets[t] == ip ? c->target_of[t] : 0) : next;
		if (e->taken && *counter < 3)
			(*counter)++;
		if (!e->taken && *counter)
			(*counter)--;
		c->history = (c->history << 1 | e->taken) & c->history_mask;
		break;
	}
	case BRANCH_CALL: case BRANCH_CALL_INDIRECT: case BRANCH_INDIRECT:
		if (p->branch != BRANCH_CALL) {
			uint64_t *slot = &c->indirect[front_indirect_index(c, ip)];
			f->predicted = *slot;
			miss = *slot != e->next_rip;
			*slot = e->next_rip;
			c->history = (c->history << 2 ^ e->next_rip >> 4) & c->history_mask;
			f->known = true;
		}
		if (p->branch != BRANCH_INDIRECT) {
			unsigned n = (unsigned)c->m->predictor_returns;
			c->return_at = c->return_at + 1 == n ? 0 : c->return_at + 1;
			c->returns[c->return_at] = next;
			c->return_depth += c->return_depth < n;
		}
		break;
	case BRANCH_RETURN:
		if (c->return_depth) {
			f->predicted = c->returns[c->return_at];
			c->return_at = c->return_at ? c->return_at - 1 : (unsigned)c->m->predictor_returns - 1;
			c->return_depth--;
		}
		miss = f->predicted != e->next_rip;
		f->known = c->targets[t] == ip;
		break;
	default:
		break;
	}
	if (e->taken) {
		c->targets[t] = ip;
		c->target_of[t] = e->next_rip;
	}
	f->miss = miss;
}

bool front_branch(struct core_thread *c, const struct core_plan *p, uint64_t ip, const struct effects *e, uint64_t *predicted, bool *known)
{
	const bool was_streaming = c->front.streaming;
	struct branch_prediction f;
	if (__builtin_expect(c->tape != NULL, 0))
		memo_predict(c, p, ip, e, &f);
	else
		front_predict(c, p, ip, e, &f);
	const bool miss = f.miss;
	*predicted = f.predicted;
	*known = f.known;
	if (c->front.loop_branch || (e->taken && e->next_rip <= ip))
		learn_loop(c, ip, e);
	if (miss)
		c->front.streaming = false;
	if (was_streaming) {
		*known = true;
		if (!c->front.streaming)
			front_redirect(c, c->alloc);
	}
	return miss;
}
