/* tests/expect/expect_lines.c: when the lines of a stream come, from the text of a machine file.
 *
 * The rules are those at the heads of pmu/sim/memory/memory.c, prefetch.c, memory_write.c and dram.c, for cores of a socket: fill buffers, the L2's
 * port, the super queue, slices of the L3, read tracker, channels of memory, and four prefetchers, each of which may make
 * another wait. L1 and L2 are filled by the stream before it begins; what lies beyond is in expect_beyond.c. Not seen here: other sockets, what else is in
 * the caches, and where an array begins within the memory's rows. */
#include "tests/expect/lines_state.h"

#include <stdlib.h>

#define PAGE_LINES 64u
#define WRAPPER_AT (1ull << 50) /* beyond all arrays */
#define STEP_MOST 2048 /* of the stride prefetcher, in bytes */
#define FILL_TIMES 4u /* the L2 is gone through before: ways that filled one by one are given up in another order at first, where a tree says which */

enum who { BY_LOAD, BY_STORE, BY_PREFETCH };

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* How long that is, of a line that nothing holds up. */
static uint64_t unloaded(const struct lines *l) { return l->l3_cycles + (l->shape.level < 4 && l->l3 ? 0 : l->memory_cycles); }

struct lines *lines_owner(const struct shared_l2 *near, uint64_t line)
{
	struct lines *owner = near->user[0];

	for (unsigned i = 1; i < near->users; i++)
		owner = 64 * line >= near->user[i]->shape.base ? near->user[i] : owner; /* the later a core was opened the further up its arrays lie */
	return owner;
}

/* --- the L2 -------------------------------------------------------------------------------------- */

static void into_l2(struct lines *l, uint64_t line, uint64_t ready, bool modified, uint64_t t)
{
	struct place *p = places_victim(&l->near->l2, line);
	const struct place old = *p;

	*p = (struct place){ .line = line, .ready = ready, .used = p->used, .modified = modified };
	if (old.line == NO_LINE)
		return;
	struct lines *owner = lines_owner(l->near, old.line);
	const struct place *above = places_find(&owner->l1, old.line);

	if (l->timed && (!above || (old.modified && !above->modified)))
		lines_leave(owner, old.line, old.modified, t);
}

static uint64_t from_beyond(struct lines *l, uint64_t line, uint64_t t)
{
	const uint64_t ready = lines_beyond(l, line, t);

	if (l->timed)
		queue_hold(&l->near->super, t, ready, line);
	into_l2(l, line, ready, false, t);
	return ready;
}

/* Whether the line is there, or comes now. */
static bool prefetch_l2(struct lines *l, uint64_t line, uint64_t t)
{
	if (places_find(&l->near->l2, line))
		return true;
	if (queue_start(&l->near->super, t, unloaded(l), 0) > t)
		return false;
	t = turns_take(&l->near->port, t);
	(void)from_beyond(l, line, queue_start(&l->near->super, t, unloaded(l), 0));
	return true;
}

static void streamer(struct lines *l, uint64_t line, uint64_t t)
{
	const uint64_t page = line / PAGE_LINES;
	const int at = (int)(line % PAGE_LINES);
	unsigned i = 0;

	while (i < STREAMS && l->stream[i].page != page)
		i++;
	if (i == STREAMS) {
		i = l->next_stream++ % STREAMS;
		l->stream[i].page = page;
		l->stream[i].last = at;
		l->stream[i].direction = l->stream[i].ahead = 0;
		return;
	}
	if (at == l->stream[i].last)
		return;
	const int direction = at > l->stream[i].last ? 1 : -1;

	l->stream[i].last = at;
	if (direction != l->stream[i].direction) {
		l->stream[i].direction = direction;
		l->stream[i].ahead = at;
		return;
	}
	if ((l->stream[i].ahead - at) * direction < 0)
		l->stream[i].ahead = at;
	for (unsigned n = 0; n < 2; n++) {
		const int next = l->stream[i].ahead + direction;

		if (next < 0 || next >= (int)PAGE_LINES || (next - at) * direction > (int)l->ahead || !prefetch_l2(l, page * PAGE_LINES + (uint64_t)next, t))
			return;
		l->stream[i].ahead = next;
	}
}

/* A line for the L1. */
static uint64_t from_l2(struct lines *l, uint64_t line, enum who who, uint64_t t)
{
	t = l->timed ? turns_take(&l->near->port, t) : t;
	struct place *p = places_find(&l->near->l2, line);
	const bool hit = p;
	uint64_t ready;

	if (hit) {
		ready = later(t + l->l2_cycles, p->ready);
		places_touch(&l->near->l2, p);
	} else {
		ready = from_beyond(l, line, l->timed ? queue_start(&l->near->super, t, unloaded(l), 0) : 0);
	}
	if (l->timed && l->prefetchers & 2 && !hit && who != BY_PREFETCH)
		(void)prefetch_l2(l, line ^ 1, t);
	if (l->timed && l->prefetchers & 1)
		streamer(l, line, t);
	return ready;
}

/* --- the L1 -------------------------------------------------------------------------------------- */

static uint64_t into_l1(struct lines *l, uint64_t line, enum who who, uint64_t start)
{
	const uint64_t ready = from_l2(l, line, who, start);
	struct place *p = places_victim(&l->l1, line);
	const struct place old = *p;

	if (l->timed)
		queue_hold(&l->buffers, start, ready, line);
	*p = (struct place){ .line = line, .ready = ready, .used = p->used, .modified = who == BY_STORE, .fresh = who == BY_PREFETCH };
	if (old.line != NO_LINE && old.modified) {
		struct place *below = places_find(&l->near->l2, old.line);
		const uint64_t at = l->timed ? turns_take(&l->near->port, start) : 0;

		if (below)
			below->modified = true;
		else
			into_l2(l, old.line, at, true, at);
	} else if (old.line != NO_LINE && l->l3 && !l->inclusive && !places_find(&l->near->l2, old.line)) {
		lines_leave(l, old.line, false, start); /* the L2 had given it up before */
	}
	return ready;
}

static uint64_t buffer_from(const struct lines *l, uint64_t line, uint64_t t)
{
	return queue_start(&l->buffers, t, places_find(&l->near->l2, line) ? l->l2_cycles : unloaded(l), l->past_bytes ? 1 : 0);
}

uint64_t lines_room(const struct lines *l, uint64_t t) { return queue_start(&l->buffers, t, 1, l->past_bytes ? 1 : 0); }

static void prefetch_l1(struct lines *l, uint64_t line, uint64_t t)
{
	if (!places_find(&l->l1, line) && !queue_find(&l->buffers, t, line) && buffer_from(l, line, t) == t)
		(void)into_l1(l, line, BY_PREFETCH, t);
}

static void next_line(struct lines *l, uint64_t line, uint64_t t)
{
	const bool ascends = line == l->last_miss + 1;

	l->last_miss = line;
	if (ascends && (line + 1) % PAGE_LINES)
		prefetch_l1(l, line + 1, t);
}

/* Loads whose addresses end in the same bits take the entry from each other. */
static void stride(struct lines *l, unsigned at, uint64_t va, uint64_t t)
{
	const unsigned i = at % STRIDES;
	const int64_t step = (int64_t)(va - l->stride[i].va);
	const uint64_t next = va + (uint64_t)step;
	const bool known = l->stride[i].at == at, same = known && step == l->stride[i].step;

	l->stride[i].at = at;
	l->stride[i].va = va;
	l->stride[i].step = known ? step : 0;
	if (same && step && step <= STEP_MOST && step >= -STEP_MOST && next >> 12 == va >> 12 && next >> 6 != va >> 6)
		prefetch_l1(l, next >> 6, t);
}

static uint64_t ask(struct lines *l, uint64_t va, enum who who, uint64_t t)
{
	const uint64_t line = va / 64, least = t + (who == BY_STORE ? 1 : l->l1_cycles);
	const bool trains = who == BY_LOAD && l->prefetchers & 4;
	struct place *p = places_find(&l->l1, line);

	if (p) {
		const struct held *held = p->ready > t ? queue_find(&l->buffers, t, line) : NULL;
		const bool fresh = p->fresh;

		places_touch(&l->l1, p);
		p->modified |= who == BY_STORE;
		p->fresh = false;
		if (held && held->from > t) /* an older instruction asked, but later in time */
			p->ready = t + (held->to - held->from);
		const uint64_t ready = later(p->ready, least);

		if (fresh && trains)
			next_line(l, line, t);
		return ready;
	}
	const struct held *held = who == BY_LOAD ? queue_find(&l->buffers, t, line) : NULL;

	if (held && held->from <= t) /* given up before it came */
		return later(held->to, least);
	const uint64_t ready = into_l1(l, line, who, buffer_from(l, line, t));

	if (trains)
		next_line(l, line, t);
	return ready;
}

uint64_t lines_load(struct lines *l, unsigned at, uint64_t va, uint64_t t)
{
	if (l->shape.level == 1)
		return t + l->l1_cycles;
	if (l->prefetchers & 8)
		stride(l, at, va, t);
	return ask(l, va, BY_LOAD, t);
}

uint64_t lines_store(struct lines *l, uint64_t va, uint64_t t) { return l->shape.level == 1 ? t + 1 : ask(l, va, BY_STORE, t); }

uint64_t lines_past(struct lines *l, uint64_t va, uint64_t bytes, uint64_t t)
{
	const uint64_t line = va / 64;

	if (!l->past_bytes) {
		t = l->past_from = queue_start(&l->buffers, t, l->drain_cycles, 0);
		l->past_line = line;
	}
	l->past_bytes += bytes;
	if (l->past_bytes >= 64) { /* whole lines: it goes out with its last store */
		const uint64_t done = lines_write_memory(l, line, t + 1) + l->drain_cycles;

		queue_hold(&l->buffers, l->past_from, done, NO_LINE);
		l->past_done = later(l->past_done, done);
		l->past_bytes = 0;
	}
	return t + 1;
}

uint64_t lines_past_done(const struct lines *l) { return l->past_done; }

void lines_flush(struct lines *l)
{
	places_empty(&l->l1);
	places_empty(&l->near->l2);
	l->flushed = l->asked;
}

/* asm/measure.asm: the kernel and its arguments in the block's first line, in the second one the list of counters, result and time; counts before in the
 * fifth and behind in the eighth; the stack ends 64 KiB behind the block's beginning (pmu/access.h). */
uint64_t lines_wrapper(struct lines *l, uint64_t page, uint64_t t)
{
	static const struct { uint16_t line; bool stored, counts; } used[] = {
		{ 0, false, false }, { 1, true, false }, { 7, true, true }, { 1023, true, false }, { 4, true, true },
	};

	for (unsigned i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		if (l->counts || !used[i].counts)
			t = ask(l, WRAPPER_AT + 4096 * page + 64 * used[i].line, used[i].stored ? BY_STORE : BY_LOAD, t) + 1;
	return t;
}

void lines_forget(struct lines *l, uint64_t t, uint64_t all)
{
	queue_forget(&l->buffers, t);
	queue_forget(&l->near->super, all);
	queue_forget(&l->far->tracker, all);
}

/* --- as the stream finds them -------------------------------------------------------------------- */

static uint64_t ps(struct machine_text *t, uint64_t n) /* whole cycles, rounded up */
{
	const unsigned __int128 hz3 = (unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio");

	return (uint64_t)((hz3 * n + 2999999999999ull) / 3000000000000ull);
}

/* Thousands of lines, in the stream's order up to where it begins, and as if no time passed. */
static void fill(struct lines *l)
{
	const uint64_t lines = l->shape.array_bytes / 64, most = FILL_TIMES * l->near->l2.sets * l->near->l2.ways / l->shape.arrays + 4;
	const uint64_t visits = (most + lines - 1) / lines * lines, prefetchers = l->prefetchers;

	/* behind an array's end prefetchers have been, too */
	for (unsigned array = 0; array < l->shape.arrays && l->shape.level < 4 && prefetchers & 3; array++) {
		const uint64_t end = l->shape.base + array * l->shape.distance + l->shape.array_bytes;

		for (uint64_t line = end / 64, i = 0; line % PAGE_LINES && i < l->ahead; i++)
			(void)from_beyond(l, line++, 0);
	}
	l->prefetchers = 0;
	for (uint64_t i = 0; i < visits; i++)
		for (unsigned array = l->shape.arrays; array-- > 0;) {
			const bool stored = !array && l->shape.stored;

			if (i + most >= visits && !(stored && l->shape.nontemporal))
				(void)ask(l, l->shape.base + array * l->shape.distance + (i + l->shape.first) % lines * 64, stored ? BY_STORE : BY_LOAD, 0);
		}
	l->prefetchers = prefetchers;
	for (uint64_t i = 0; i < l->l1.sets * l->l1.ways; i++)
		l->l1.place[i].ready = 0;
	for (uint64_t i = 0; i < l->near->l2.sets * l->near->l2.ways; i++)
		l->near->l2.place[i].ready = 0;
}

/* The L1 has what the wrapper wrote last: of a page the first line and four a little behind. As the stream comes by it gives them up, and each takes a
 * turn of the L2's port: what keeps that and a queue busy for good may go on otherwise from there. */
static void wrapper(struct lines *l)
{
	static const uint8_t written[] = { 0, 4, 5, 6, 7 };
	const uint64_t page = (l->shape.base / 64 + l->shape.first + 2 * PAGE_LINES - 1) / PAGE_LINES * PAGE_LINES;

	for (unsigned i = 0; i < sizeof(written); i++) {
		const uint64_t line = page + written[i], set = line % l->l1.sets, tree = l->l1.tree[set];

		*places_victim(&l->l1, line) = (struct place){ .line = line + (l->l1.sets << 32), .modified = true };
		l->l1.tree[set] = tree; /* it goes next */
	}
}

/* An L2 and its queue. NULL: no memory. */
static struct shared_l2 *l2_open(struct machine_text *t)
{
	struct shared_l2 *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->super.entries = machine_field(t, "sq", "entries");
	n->port.period_65536 = machine_field(t, "l2", "busy_cycles") << 16;
	if (places_open(&n->l2, machine_field(t, "l2", "bytes"), machine_field(t, "l2", "ways"), machine_field(t, "l2", "policy")))
		return n;
	places_close(&n->l2);
	free(n);
	return NULL;
}

/* What lies beyond, of clocks and a rate that are none of them 0. NULL: no memory. */
static struct shared *shared_open(struct machine_text *t, uint64_t core, uint64_t uncore, uint64_t rate)
{
	struct shared *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	const uint64_t link = machine_field(t, "link", "bytes_per_second");

	f->random = 88172645463325252ull;
	f->tracker.entries = machine_field(t, "gq", "read");
	for (unsigned i = 0; i < 64; i++)
		f->slice[i].period_65536 = (machine_field(t, "l3", "busy_uncore_cycles") * core << 16) / uncore;
	for (unsigned i = 0; i < CHANNELS; i++)
		f->channel[i].period_65536 = (uint64_t)(((unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * core * 64 << 16) / (3 * rate));
	f->to_here.period_65536 = f->from_here.period_65536 = link ? (uint64_t)(((unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * core * 64 << 16) / (3 * link)) : 0;
	for (unsigned i = 0; i < CHANNELS * BANKS; i++)
		f->row[i / BANKS][i % BANKS] = NO_ROW;
	return f;
}

struct lines *lines_open(struct machine_text *t, const struct lines_shape *shape, const struct lines *beside, bool same_l2)
{
	struct lines *l = calloc(1, sizeof(*l));
	const uint64_t core = machine_field(t, "clock", "core_ratio"), uncore = machine_field(t, "clock", "uncore_ratio"), rate = machine_field(t, "dram", "channel_bytes_per_second");
	const bool l3 = machine_field(t, "l3", "bytes"), l2 = machine_field(t, "l2", "bytes");

	if (!l || !uncore || !rate || (shape->level > 1 && !l2)) {
		free(l);
		return NULL;
	}
	l->shape = *shape;
	l->l3 = l3;
	l->inclusive = machine_field(t, "l3", "inclusive");
	l->hash = machine_field(t, "l3", "hash");
	l->prefetchers = shape->quiet ? 0 : machine_field(t, "prefetch", "present");
	l->ahead = machine_field(t, "prefetch", "streamer_lines");
	l->counts = machine_field(t, "pmu", "version") || machine_field(t, "cpuid", "family") == 15;
	l->l1_cycles = machine_field(t, "l1d", "cycles");
	l->l2_cycles = machine_field(t, "l2", "cycles");
	l->l3_cycles = l3 ? machine_field(t, "l3", "core_cycles") + (machine_field(t, "l3", "uncore_cycles") * core + uncore - 1) / uncore : l->l2_cycles;
	l->memory_cycles = ps(t, machine_field(t, "dram", shape->remote ? "remote_ps" : "local_ps"));
	l->drain_cycles = ps(t, machine_field(t, "wc", "drain_ps"));
	l->hit_cycles = ps(t, machine_field(t, "dram", "page_hit_ps"));
	l->miss_cycles = ps(t, machine_field(t, "dram", "page_miss_ps"));
	l->open_page = machine_field(t, "dram", "open_page");
	l->slices = machine_field(t, "l3", "slices");
	l->channels = machine_field(t, "dram", "channels");
	l->banks = machine_field(t, "dram", "banks");
	l->row_lines = machine_field(t, "dram", "page_bytes") / 64;
	l->last_lines = machine_field(t, l3 ? "l3" : "l2", "bytes") / 64;
	l->last_ways = machine_field(t, l3 ? "l3" : "l2", "ways");
	l->last_policy = machine_field(t, l3 ? "l3" : "l2", "policy");
	l->loses_above = shape->level == 4 && l3 && l->inclusive && l->last_policy == 2;
	l->buffers.entries = machine_field(t, "lfb", "entries");
	l->near = beside && same_l2 ? beside->near : l2_open(t);
	l->far = beside ? beside->far : shared_open(t, core, uncore, rate);
	l->last_miss = NO_LINE - 1;
	for (unsigned i = 0; i < STREAMS; i++)
		l->stream[i].page = NO_LINE;
	const bool room = places_open(&l->l1, machine_field(t, "l1d", "bytes"), machine_field(t, "l1d", "ways"), machine_field(t, "l1d", "policy"));

	if (shape->cores == 1 && room && l->near) { /* what chance gives differs from start to start */
		l->l1.random += shape->first;
		l->near->l2.random += 2 * shape->first;
	}
	if (l->near && !l->near->users && l->far)
		l->far->l2[l->far->l2s++] = l->near;
	if (l->near)
		l->near->user[l->near->users++] = l;
	if (l->far)
		l->far->users++;
	if (!room || !l->near || !l->far || t->missing || !l->channels || l->channels > CHANNELS || l->banks > BANKS || !l->row_lines || l->slices > 64 || !l->slices) {
		lines_close(l);
		return NULL;
	}
	if (shape->level > 1 && !shape->cold)
		fill(l);
	if (shape->cores == 1 && (shape->level == 2 || shape->level == 3) && !shape->cold)
		wrapper(l);
	l->timed = true;
	return l;
}

void lines_close(struct lines *l)
{
	places_close(&l->l1);
	if (l->near && !--l->near->users) {
		places_close(&l->near->l2);
		free(l->near);
	}
	if (l->far && !--l->far->users)
		free(l->far);
	free(l);
}
