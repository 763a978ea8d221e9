/* pmu/sim/core/pipe_allocate.c: allocation slots, reservation station, register read ports. The rules stand in core.c.
 *
 * Not modelled: running out of physical registers, checkpoints of the renamer, entries of the station reserved for a thread
 * or bound to a port. */
#include "pmu/sim/core/pipe.h"

/* The departures of the eight cycles around `cycle`, one byte each. */
static uint64_t *leave_word(const struct core_thread *c, uint64_t cycle)
{
	return (uint64_t *)(uintptr_t)&c->leave[cycle & CORE_RING_MASK & ~7u];
}

_Static_assert(LEAVE_STRETCH == sizeof(uint64_t), "a stretch is a word");

static unsigned sum_of_bytes(uint64_t x)
{
	x = (x & 0x00FF00FF00FF00FFull) + (x >> 8 & 0x00FF00FF00FF00FFull);
	return (unsigned)(x * 0x0001000100010001ull >> 48);
}

void pipe_rs_take_off(struct core_thread *c, uint64_t cycle)
{
	uint64_t at = c->rs_at;
	if (cycle - at > CORE_RING)
		at = cycle - CORE_RING;
	while (at < cycle && c->rs_in_use) { /* eight cycles at a time */
		uint64_t *word = leave_word(c, at);
		const unsigned from = at % 8, n = cycle - at < 8 - from ? (unsigned)(cycle - at) : 8 - from;
		const uint64_t some = *word & ~0ull >> (64 - 8 * n) << 8 * from;
		if (some) {
			*word ^= some;
			c->rs_in_use -= sum_of_bytes(some);
		}
		at += n;
	}
	c->rs_at = cycle;
}

/* The same, through the ring. */
static __attribute__((noinline)) uint64_t rs_next_slow(const struct core_thread *c, uint64_t first)
{
	uint64_t at = first;
	while (at < first + CORE_RING && !c->leave[at & CORE_RING_MASK])
		at += at % 8 == 0 && !*leave_word(c, at) ? 8 : 1;
	return at < first + CORE_RING ? at : first + CORE_RING;
}

/* The next cycle from `first` on in which an entry leaves; CORE_RING later if there is none. */
static inline uint64_t rs_next(struct core_thread *c, const uint64_t first)
{
	uint64_t word;
	if ((first & CORE_RING_MASK) > CORE_RING - sizeof(word))
		return rs_next_slow(c, first);
	__builtin_memcpy(&word, &c->leave[first & CORE_RING_MASK], sizeof(word));
	if (word)
		return first + (unsigned)__builtin_ctzll(word) / 8;
	for (uint64_t n = first / LEAVE_STRETCH; n * LEAVE_STRETCH < first + CORE_RING;) { /* marks show where others may be */
		uint64_t *const marks = &c->leaving[n / 64 % COUNT_OF(c->leaving)];
		const uint64_t some = *marks >> n % 64;
		if (!some) {
			n = (n | 63) + 1;
			continue;
		}
		n += (unsigned)__builtin_ctzll(some);
		word = *leave_word(c, n * LEAVE_STRETCH);
		if (word) {
			const uint64_t next = n * LEAVE_STRETCH + (unsigned)__builtin_ctzll(word) / 8;
			return next - first < CORE_RING ? next : rs_next_slow(c, first); /* otherwise it stands before `first`, a ring later */
		}
		*marks ^= 1ull << n % 64; /* all entries that it marked have left */
		n++;
	}
	return rs_next_slow(c, first);
}

uint64_t pipe_rs_next_from(struct core_thread *c, uint64_t first) { return rs_next(c, first); }
uint64_t pipe_rs_next(struct core_thread *c) { return rs_next(c, c->rs_at); }

void pipe_stall(struct core_thread *c, enum signal sig, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	signal_level(c->signals, sig, from, to, 1);
	signal_level(c->signals, sig >= SIG_RESOURCE_STALL_ANY ? SIG_RESOURCE_STALL_ANY : SIG_RAT_STALL_ANY, from, to, 1);
}

/* Adds a register that is read from outside the ROB to the set; returns 1 if it needs another read port. */
static inline unsigned read_outside(const struct core_thread *c, unsigned r, uint64_t t, uint64_t *set)
{
	const unsigned more = (c->written[r] < t) & ~(unsigned)(*set >> r % 64);
	*set |= (uint64_t)more << r % 64;
	return more;
}

bool pipe_reads_fit_some(struct core_thread *c, const struct core_plan *p, unsigned parts, uint64_t t)
{
	const bool same = c->read_cycle == t;
	uint64_t set = same ? c->read_set : 0;
	const unsigned before = same ? c->reads : 0;
	unsigned n = before;
	if (parts & (PART_LOAD | PART_STA))
		for (unsigned i = 0; i < COUNT_OF(p->address); i++)
			n += read_outside(c, p->address[i], t, &set);
	if (parts & (PART_MAIN | PART_STD))
		for (unsigned i = 0; i < 2 || i < p->read_count; i++)
			n += read_outside(c, p->reads[i], t, &set);
	const bool fit = n <= c->register_reads || !before;
	c->read_cycle = t;
	c->read_set = fit ? set : same ? c->read_set : 0;
	c->reads = fit ? n : before;
	if (n > c->register_reads)
		c->read_full = t;
	return fit;
}

/* Subtracts the next departure if it has a mark; false: it is nearer, or there is none. */
static inline bool rs_leave_marked(struct core_thread *c)
{
	const uint64_t first = c->rs_at;
	uint64_t near, n = first / LEAVE_STRETCH;
	if ((first & CORE_RING_MASK) > CORE_RING - sizeof(near))
		return false;
	__builtin_memcpy(&near, &c->leave[first & CORE_RING_MASK], sizeof(near));
	while (!near && n * LEAVE_STRETCH < first + CORE_RING) {
		uint64_t *const marks = &c->leaving[n / 64 % COUNT_OF(c->leaving)];
		const uint64_t some = *marks >> n % 64;
		if (!some) {
			n = (n | 63) + 1;
			continue;
		}
		n += (unsigned)__builtin_ctzll(some);
		uint64_t *const at = leave_word(c, n * LEAVE_STRETCH), word = *at;
		if (!word) { /* all entries that it marked have left */
			*marks ^= 1ull << n % 64;
			n++;
			continue;
		}
		const unsigned bit = (unsigned)__builtin_ctzll(word) & ~7u;
		const uint64_t next = n * LEAVE_STRETCH + bit / 8, left = word & ~(0xFFull << bit);
		if (next - first >= CORE_RING) /* it stands before `first`, a ring later */
			return false;
		c->rs_in_use -= word >> bit & 0xFF;
		*at = left; /* store the word, because words are read: after a byte the host would stall on store forwarding */
		if (!left)
			*marks ^= 1ull << n % 64;
		c->rs_at = next + 1;
		return true;
	}
	return false;
}

static inline bool rs_is_full(const struct core_thread *c, unsigned entries) { return c->rs_in_use + entries > c->rs_size && c->rs_in_use; }

/* As pipe_rs_wait, from any state; the stall began at `from`. */
static __attribute__((noinline)) uint64_t rs_wait_slow(struct core_thread *c, unsigned entries, uint64_t from)
{
	while (rs_is_full(c, entries))
		pipe_rs_take_off(c, pipe_rs_next(c) + 1);
	pipe_stall(c, SIG_RESOURCE_STALL_RS, from, c->rs_at);
	return c->rs_at;
}

uint64_t pipe_rs_wait(struct core_thread *c, unsigned entries, uint64_t first, uint64_t t)
{
	if (!rs_leave_marked(c) || rs_is_full(c, entries) || signal_subscribed(c->signals, SIG_RESOURCE_STALL_RS) ||
	    signal_subscribed(c->signals, SIG_RESOURCE_STALL_ANY))
		return rs_wait_slow(c, entries, max_cycle(first, t));
	return c->rs_at;
}

uint64_t pipe_wait(struct core_thread *c, unsigned parts, uint64_t delivered, enum wait_reason why)
{
	uint64_t t = c->alloc + (c->slots >= c->width);
	const uint64_t first = c->alloc + (c->slots != 0); /* cycles from here on are lost while it waits */
	enum wait_reason reason = WAIT_NONE;
	if (c->barrier > t) {
		if (c->barrier_signal)
			pipe_stall(c, (enum signal)c->barrier_signal, first, c->barrier);
		t = c->barrier;
	}
	if (delivered > t) {
		t = delivered;
		reason = why;
	}
	if (c->rob[c->rob_at] >= t) {
		uint64_t to = c->rob[c->rob_at] + 1;
		pipe_stall(c, SIG_RESOURCE_STALL_ROB, max_cycle(first, t), to);
		t = to;
		reason = WAIT_ALLOCATE;
	}
	if (parts & PART_LOAD && c->lb[c->lb_at] >= t) {
		uint64_t to = c->lb[c->lb_at] + 1;
		pipe_stall(c, SIG_RESOURCE_STALL_LOAD, max_cycle(first, t), to);
		t = to;
		reason = WAIT_ALLOCATE;
	}
	if (parts & PART_STA && c->sb[c->sb_at] >= t) {
		uint64_t to = c->sb[c->sb_at] + 1;
		pipe_stall(c, SIG_RESOURCE_STALL_STORE, max_cycle(first, t), to);
		t = to;
		reason = WAIT_STORE_BUFFER;
	}
	c->wait_reason = (uint8_t)reason;
	return t;
}

uint64_t pipe_allocate_waiting(struct core_thread *c, const struct core_plan *p, unsigned parts, unsigned entries,
                               uint64_t delivered, enum wait_reason why)
{
	const uint64_t first = c->alloc + (c->slots != 0);
	uint64_t t = pipe_wait(c, parts, delivered, why);
	for (;;) {
		if (entries) {
			if (t > c->rs_at)
				pipe_rs_take_off(c, t);
			if (c->rs_in_use + entries > c->rs_size && c->rs_in_use) {
				uint64_t to = pipe_rs_next(c) + 1;
				pipe_stall(c, SIG_RESOURCE_STALL_RS, max_cycle(first, t), to);
				t = to;
				c->wait_reason = WAIT_ALLOCATE;
				continue;
			}
		}
		if (!c->m->core_register_reads || !parts || pipe_reads_fit(c, p, parts, t))
			break;
		pipe_stall(c, SIG_RAT_STALL_READ_PORT, t, t + 1); /* counted for each refused uop, also if others were refused before it */
		t++;
	}
	if (t != c->alloc)
		pipe_emit_slots(c, delivered, t);
	if (pipe_lost_subscribed(c, t))
		pipe_emit_lost(c, parts, t, delivered);
	pipe_allocated(c, t, entries);
	return t;
}

void pipe_emit_slots(struct core_thread *c, uint64_t delivered, uint64_t t)
{
	const bool resteered = c->barrier_reason == WAIT_MISPREDICT || c->barrier_reason == WAIT_CLEAR;
	const uint64_t there = resteered ? max_cycle(delivered, c->barrier) : delivered; /* nothing can be taken before */
	uint64_t from = c->alloc;
	if (!signal_subscribed_any(c->signals, SIG_SLOTS_NOT_DELIVERED, SIG_SLOTS_OF_OTHER_THREAD))
		return;
	if (from >= c->slots_emitted && c->slots < c->width) /* what is left of the last group's cycle */
		signal_level(c->signals, from < there ? SIG_SLOTS_NOT_DELIVERED : SIG_SLOTS_NOT_TAKEN, from, from + 1, c->width - c->slots);
	from = max_cycle(from + 1, c->slots_emitted);
	c->slots_emitted = max_cycle(c->slots_emitted, t);
	for (; !c->alone && from < t; from++) {
		const enum signal of = pipe_is_others(c, from) ? SIG_SLOTS_OF_OTHER_THREAD : from < there ? SIG_SLOTS_NOT_DELIVERED : SIG_SLOTS_NOT_TAKEN;

		signal_level(c->signals, of, from, from + 1, c->width);
	}
	const uint64_t taken = there < from ? from : there < t ? there : t;
	if (from < taken)
		signal_level(c->signals, SIG_SLOTS_NOT_DELIVERED, from, taken, c->width);
	if (taken < t)
		signal_level(c->signals, SIG_SLOTS_NOT_TAKEN, taken, t, c->width);
}

void pipe_hold(struct core_thread *c, uint64_t until, enum wait_reason why, unsigned sig)
{
	if (until > c->barrier) {
		c->barrier = until;
		c->barrier_reason = (uint8_t)why;
		c->barrier_signal = (uint8_t)sig;
	}
}
