/* bench/multicore/multicore_buffers.c: arrays of multicore streams: their length, their address, and the caches that hold them when a window
 * begins.
 *
 * Not modelled: physical addresses beyond what a large page guarantees; hashes of the last level's sets. */
#include "bench/multicore/multicore_buffers.h"

#define WIDE_BYTES 28u /* bytes per instruction of a loop with vectors of 64 bytes: 28.4 if it only reads or writes */
#define WINDOW_SCALE 16u      /* real cores take some hundred ns to start together: longer windows there */
#define PASSES 2u             /* passes by a new core over arrays that are to stay in a cache; one fewer on a simulated machine */
#define PASSES_MAX 24u        /* at most, for a level whose replacement is not LRU */
#define SETTLED_PART 2000u    /* settled: a pass is shorter than the one before by less than 1/N */
#define FILLS 4u               /* passes over a last level that may not be LRU, at most: a random one keeps e^-5 of its earlier lines */
#define LAST_FACTOR 6u        /* DRAM: all arrays together exceed the last level by this factor */
#define MANY_CORES 8u         /* with more cores, windows of all cores are twice as long */
#define LAPS_OF_FEW_WAYS 16u  /* then a half of the L1's lines is 1 % of the uses of the L2's port between a window and one of twice its length */
#define VALUE_WINDOWS 64u     /* of a row's value, with all cores running */
#define FILL_ROOM 2u          /* with start offsets, each window's room exceeds its need by this factor, */
#define LEAD_UNITS 32u        /* uncounted iterations ahead of each window, which are part of the need */
#define L3_CORES 4u           /* cores of an L3 that its windows are sized for: with fewer, one that ends early counts for more */
#define SOCKET_CORES 12u      /* cores of a socket that DRAM windows are sized for */
#define COLD_TIMES 4u         /* longer DRAM window over shorter one: the slope loses little to the shorter */
#define COLD_BYTES 0x100000u  /* least size of arrays whose lines are flushed */
#define EMPTY_TIMES 2u        /* passes over an L2 to evict all of it */
#define COLD_STARTS 4u        /* the same in longer windows: a window may start anywhere, hence in any DRAM row and at any distance from the other cores */

/* With few cores a socket each touches few pages per window, so the prefetchers' restart at page ends and the slowest core's tail weigh more.
 * Such windows are longer by this factor. */
static unsigned times_of_few(const struct multicore *c)
{
	const uint32_t *package = c->b->groups.package;
	unsigned cores = c->at_once;

	if (c->row->target != TARGET_DRAM)
		return 1;
	if (c->row->order == ORDER_MULTICORE)
		for (unsigned i = cores = 0; i < c->count; i++)
			cores += package[c->members[i].core] == package[c->members[0].core];
	return cores && cores < SOCKET_CORES ? (SOCKET_CORES + cores - 1) / cores : 1;
}

static uint64_t power_of_two_below(uint64_t n)
{
	uint64_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return n ? p : 0;
}

/* Iterations that touch each line of arrays in an L1 once. After them the lines of the code between jobs are the oldest, and that code evicts its
 * own lines, not the arrays'. */
static uint32_t lap_of_l1(const struct multicore *c, const struct cpu_cache *l1, const struct kernel *k)
{
	return (uint32_t)(power_of_two_below(l1->bytes / 4 * 3 / multicore_sharers(c, c->count, TARGET_L1) / (k->data_bytes / k->step_bytes)) / k->step_bytes);
}

/* The code between jobs leaves clean lines in the L2. If only the longer window evicted them, it would write back fewer lines than it fetches, so
 * the shorter window has to fill the L2 as well. */
static uint32_t window_through_l2(const struct multicore *c, unsigned at_once, uint32_t window, uint64_t data_bytes)
{
	const struct cpu_cache *l2 = cpu_cache(c->b->cpu, 2);
	const uint64_t each = l2 ? l2->bytes / multicore_sharers(c, at_once, TARGET_L2) : 0;

	if (2 * window * data_bytes > each / 4 * 3)
		while (window * data_bytes < each)
			window *= 2;
	return window;
}

/* Times that a window over arrays in the L2 or L3 covers the L1. Where threads share one of fewer ways than they have arrays, chance decides from window to
 * window which thread's loads and which one's stores a set meets last: up to half of the lines are dirty at one end of a window and none at the other, and the
 * window writes back so many more or fewer than it stores (copy.l2_all: 4550 or 3651 for 4096). */
static uint64_t laps_of_l1(const struct multicore *c, const struct cpu_cache *l1, const struct kernel *k)
{
	const unsigned threads = multicore_sharers(c, c->count, TARGET_L1);

	return c->row->target == TARGET_L2 && k->stores && threads > 1 && l1->ways < threads * (k->data_bytes / k->step_bytes) ? LAPS_OF_FEW_WAYS : 2;
}

/* With many cores the slowest finishes late by a varying amount. Long windows keep that tail, and the interleaving of dirty victims in a victim
 * last level, below the tolerance. A window over arrays in the L2 or L3 covers at least twice the L1, so that even the shorter one evicts the
 * wrapper's lines from it: otherwise reloading four of them took a fiftieth of the time of 64 iterations. */
static uint32_t window_of(const struct multicore *c, unsigned at_once)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const bool uneven = at_once > MANY_CORES || (last && last->level > 2 && !last->inclusive);
	const unsigned many = c->row->order == ORDER_MULTICORE && c->row->prepare == PREPARE_FILL && at_once == c->count && uneven ? 2 : 1;
	const struct cpu_cache *l1 = cpu_cache(c->b->cpu, 1);
	const struct kernel *k = kernel_choose(c->row, c->b->cpu, c->b->kernels);
	uint32_t window = c->row->window * times_of_few(c) * many * (c->b->a->kind == ACCESS_SIM ? 1 : WINDOW_SCALE);

	while ((c->row->target == TARGET_L2 || c->row->target == TARGET_L3) && l1 && k && (uint64_t)window * k->data_bytes < laps_of_l1(c, l1, k) * l1->bytes)
		window *= 2;
	if (c->row->target == TARGET_L1 && c->b->a->kind == ACCESS_SIM && k && k->data_bytes >= WIDE_BYTES * k->instructions) /* its start and end took 2 % of 64 iterations */
		window *= 4;
	while (c->row->target == TARGET_L1 && l1 && k && window < lap_of_l1(c, l1, k))
		window *= 2;
	for (unsigned cores = multicore_sharers(c, c->count, TARGET_L3); c->row->target == TARGET_L3 && c->b->a->kind == ACCESS_SIM && cores < L3_CORES; cores *= 2)
		window *= 2;
	if (c->row->target == TARGET_L1 && multicore_sharers(c, c->count, TARGET_L1) > 1) /* of two threads one ends earlier */
		window *= 2;
	return c->row->target == TARGET_L3 && k ? window_through_l2(c, at_once, window, k->data_bytes) : window;
}

uint32_t multicore_window(const struct multicore *c) { return window_of(c, c->at_once); }

void multicore_start_offsets(struct multicore *c)
{
	const struct kernel *k = kernel_choose(c->row, c->b->cpu, c->b->kernels);
	const bool filled = c->row->prepare == PREPARE_FILL && c->b->a->kind == ACCESS_SIM; /* real cores drift out of step */

	c->moves = c->row->prepare == PREPARE_FLUSH || filled;
	if (!filled || !k)
		return;
	c->pair_bytes = (LEAD_UNITS + (uint64_t)window_of(c, c->count) * (1 + multicore_times(c->row))) * k->step_bytes;
	c->starts_bytes = START_OFFSETS * FILL_ROOM * ((c->pair_bytes + PAGE_4K - 1) / PAGE_4K * PAGE_4K);
}

unsigned multicore_times(const struct row *r) { return r->target == TARGET_DRAM ? COLD_TIMES : 2; }

static const uint32_t *groups_of(const struct bench *b, enum target target)
{
	if (target == TARGET_L1)
		return b->groups.core;
	return target == TARGET_L2 || cpu_last_level(b->cpu) < 3 ? b->groups.l2 : b->groups.last;
}

/* Members among the first n that share a level with member i. */
static unsigned sharing(const struct multicore *c, unsigned n, unsigned i, enum target target)
{
	const uint32_t *group = groups_of(c->b, target);
	unsigned same = 0;

	for (unsigned k = 0; k < n; k++)
		same += group[c->members[k].core] == group[c->members[i].core];
	return same;
}

unsigned multicore_sharers(const struct multicore *c, unsigned n, enum target target)
{
	unsigned most = 1;

	for (unsigned i = 0; i < n; i++) {
		const unsigned same = sharing(c, n, i, target);

		most = same > most ? same : most;
	}
	return most;
}

static void set_arrays(struct shape *s, uint64_t array_bytes)
{
	s->array_bytes = array_bytes;
	s->bytes = s->arrays * array_bytes;
	s->span_bytes = s->bytes + (s->arrays - 1) * s->skew_bytes;
}

/* Iterations that fill the level below the last one. */
static uint64_t level_below(const struct multicore *c, const struct kernel *k)
{
	const struct cpu_cache *below = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu) - 1);

	return below ? below->bytes / k->data_bytes * 5 / 4 : 0;
}

uint64_t multicore_below(const struct multicore *c, const struct kernel *k)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu)), *below = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu) - 1);

	return below && !last->inclusive ? level_below(c, k) : 0;
}

/* Iterations of member i's part of 4/3 of the last level, which all its sharers among the first n fill together; later sharers fill nothing. They
 * cover whole ways of its array: a partial way would leave some sets unfilled, which the windows then meet. */
static uint64_t fill_of(const struct multicore *c, unsigned n, unsigned i, const struct kernel *k)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const unsigned all = sharing(c, n, i, TARGET_DRAM), before = sharing(c, i, i, TARGET_DRAM), ways = cpu_cache_way_bytes(last) ? last->ways : 1;
	const uint64_t way = last->bytes / ways / k->step_bytes, wanted = ((uint64_t)ways * 4 / 3 * k->step_bytes + k->data_bytes - 1) / k->data_bytes;

	return (wanted * (before + 1) / all - wanted * before / all) * way + 1;
}

/* The most bytes of an array that any of the first n members needs to fill the last level, all passes included. */
static uint64_t filled(const struct multicore *c, unsigned n, const struct kernel *k)
{
	const uint64_t fills = window_may_forget(c->b) ? FILLS : 1;
	uint64_t most = 0;

	for (unsigned i = 0; i < n; i++) {
		const uint64_t bytes = (level_below(c, k) + fills * fill_of(c, n, i, k)) * k->step_bytes;

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* Bytes of an array that windows use. */
static uint64_t of_windows(const struct multicore *c, uint64_t step_bytes)
{
	return c->starts_bytes ? c->starts_bytes : VALUE_WINDOWS * c->row->window * times_of_few(c) * step_bytes;
}

/* Bytes of an array that evict everything from the level whose victims the last one takes; 0: the last level is no victim cache. */
static uint64_t emptied(const struct multicore *c)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu)), *below = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu) - 1);

	return below && last->level > 2 && !last->inclusive ? EMPTY_TIMES * below->bytes : 0;
}

/* The gap between arrays of that size: they walk through the sets of the last level in step. If it takes the L2s' victims, they walk a part of a way
 * from each other: the victims of a window that starts at a new offset are lines of the window before, which lie in sets of their own. In step, all
 * sets begin with the same array's line as the oldest, so these victims write back dirty lines more or less often than their share. */
static uint64_t skew_in_last(const struct multicore *c, const struct shape *s, uint64_t array_bytes)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const uint64_t way = cpu_cache_way_bytes(last), rest = way ? array_bytes % way : 0, part = emptied(c) ? way / s->arrays / PAGE_4K * PAGE_4K : 0;

	return (rest ? way - rest : 0) + part;
}

bool multicore_pushes_wrapper(const struct multicore *c, unsigned n)
{
	const enum target target = c->row->target;
	const struct cpu_cache *below = cpu_cache(c->b->cpu, target == TARGET_DRAM ? cpu_last_level(c->b->cpu) : 2);
	const uint64_t each = (uint64_t)multicore_window(c) * multicore_times(c->row) * kernel_choose(c->row, c->b->cpu, c->b->kernels)->data_bytes;

	if (!below || (target != TARGET_L3 && c->row->prepare != PREPARE_FLUSH))
		return false;
	return multicore_sharers(c, n, target == TARGET_DRAM ? TARGET_DRAM : TARGET_L2) * each > below->bytes / 4 * 3;
}

bool multicore_fits_below(const struct multicore *c, unsigned n)
{
	const struct cpu_cache *l2 = cpu_cache(c->b->cpu, 2);

	return c->row->target == TARGET_L3 && l2 && multicore_sharers(c, n, TARGET_L2) * c->members[0].set.shape.bytes < 2 * l2->bytes;
}

bool multicore_has_victim_cache(const struct multicore *c) { return emptied(c); }

enum status multicore_shape(const struct multicore *c, unsigned n, struct shape *s, struct row_result *out)
{
	struct row alone = *c->row;
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	unsigned level = alone.target == TARGET_L1 ? 1 : alone.target == TARGET_L2 ? 2 : 3;
	const struct cpu_cache *own = cpu_cache(c->b->cpu, level), *below = cpu_cache(c->b->cpu, level - 1);
	uint64_t least, bytes;
	enum status st;

	alone.order = ORDER_STREAMS;
	alone.window = multicore_window(c);
	st = shape_of_test(&alone, c->b->cpu, s, out->reason, sizeof(out->reason));
	if (st == ST_OK && alone.prepare == PREPARE_FLUSH) {
		for (bytes = COLD_BYTES; bytes < (uint64_t)COLD_STARTS * COLD_TIMES * alone.window * s->step_bytes || bytes < emptied(c);)
			bytes *= 2;
		set_arrays(s, bytes);
	}
	if (st != ST_OK || alone.prepare == PREPARE_FLUSH)
		return st;
	if (alone.target == TARGET_DRAM) {
		least = 8ull * alone.window * s->step_bytes; /* neither a window nor one of twice its length wraps round */
		/* Neither does the filling pass, or the windows' lines would be part of it. Where cores are to walk through the last level's sets in step,
		 * pass and window together do not wrap: past its end an array starts in other sets. */
		const uint64_t fills = filled(c, n, kernel_choose(c->row, c->b->cpu, c->b->kernels)) + of_windows(c, s->step_bytes);

		least = fills > least ? fills : least;
		bytes = 2 * power_of_two_below(LAST_FACTOR * last->bytes / multicore_sharers(c, n, TARGET_DRAM) / s->arrays - 1);
		bytes = bytes > least ? bytes : 2 * power_of_two_below(least - 1);
		s->skew_bytes += skew_in_last(c, s, bytes);
		set_arrays(s, bytes);
		return ST_OK;
	}
	bytes = power_of_two_below(own->bytes / 4 * 3 / multicore_sharers(c, c->count, alone.target) / s->arrays);
	if (bytes >= s->array_bytes)
		return ST_OK;
	set_arrays(s, bytes);
	least = below ? 2 * below->bytes / (level == 3 ? multicore_sharers(c, c->count, TARGET_L2) : multicore_sharers(c, c->count, TARGET_L1)) : 0;
	if (s->bytes >= least && bytes)
		return ST_OK;
	str_copy(out->reason, sizeof(out->reason), "a core's share of the level is not twice as large as the one below");
	return ST_UNSUPPORTED;
}

void multicore_stagger_arrays(const struct multicore *c, unsigned i, unsigned all, struct working_set *w)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const unsigned before = sharing(c, i, i, TARGET_DRAM);
	const uint64_t way = cpu_cache_way_bytes(last);
	struct shape *s = &w->shape;

	if (!way || c->row->prepare == PREPARE_FLUSH)
		return;
	if (c->row->prepare == PREPARE_WARM) {
		if (all <= last->ways)
			return;
		s->start_bytes = before * ((s->span_bytes + s->line_bytes - 1) / s->line_bytes * s->line_bytes) % way;
	} else {
		s->start_bytes = way / all * before / s->step_bytes * s->step_bytes;
	}
	s->span_bytes += s->start_bytes;
}

/* One pass of all members. */
static enum status run_pass(struct multicore *c, unsigned n)
{
	bool ignored;
	enum status st;

	for (unsigned i = 0; i < n; i++)
		window_warm_arguments(c->b, &c->members[i].set, c->members[i].kernel, c->members[i].units, c->members[i].arguments);
	st = multicore_run(c, n, MULTICORE_UNCOUNTED, &ignored);
	for (unsigned i = 0; i < n; i++) {
		c->members[i].set.at = c->members[i].window.result;
		if (c->pairs)
			continue;
		c->members[i].touched_bytes += c->members[i].units * c->members[i].set.shape.step_bytes;
		c->members[i].touched_to = c->members[i].set.at;
	}
	return st;
}

/* Arrays that are to stay in a cache: one or two passes if the caches hold nothing of an earlier multicore row, else until a pass gets no
 * shorter. */
static enum status settle(struct multicore *c, unsigned n)
{
	const unsigned most = c->settles ? PASSES_MAX : c->b->a->kind == ACCESS_SIM ? PASSES - 1 : PASSES;
	uint64_t before = 0;
	enum status st = ST_OK;

	for (unsigned passes = 0; passes < most && st == ST_OK; passes++) {
		st = run_pass(c, n);
		if (passes && c->settles && multicore_ticks(c, n) >= before - before / SETTLED_PART)
			break;
		before = multicore_ticks(c, n);
	}
	return st;
}

/* One pass of member i alone. */
static enum status warm_alone(struct multicore *c, unsigned i, uint64_t units, const struct kernel *warmer)
{
	struct member *const members = c->members;
	enum status st;

	members[i].units = units;
	members[i].kernel = warmer;
	c->members = members + i;
	st = run_pass(c, 1);
	c->members = members;
	members[i].kernel = NULL;
	return st;
}

/* Members from..n-1 whose caches no earlier member fills run the filling pass one after another. In parallel, lines of equal arrays would
 * alternate within a set, and the windows' victims would be dirty more or less often than their share. */
static enum status fill(struct multicore *c, unsigned from, unsigned n, const struct kernel *warmer)
{
	enum status st = ST_OK;

	for (unsigned i = from; i < n && st == ST_OK; i++)
		st = warm_alone(c, i, sharing(c, from, i, TARGET_DRAM) ? 1 : fill_of(c, n, i, c->members->set.kernel), warmer);
	return st;
}

/* An inclusive last level invalidates lines in inner caches when it evicts them. Those caches are therefore filled after it: an empty one
 * returns no victims, and its slices would have less to do. */
static enum status fill_below(struct multicore *c, unsigned from, const struct kernel *warmer)
{
	const struct kernel *k = c->members->set.kernel;
	const uint64_t behind = from || multicore_below(c, k) ? 0 : level_below(c, k);
	enum status st = ST_OK;

	for (unsigned i = 0; behind && i < c->count && st == ST_OK; i++)
		st = warm_alone(c, i, behind, warmer);
	return st;
}

/* Passes, of `wanted` at most, that end before the windows' part. Windows that met and flushed a pass' lines would leave free ways in the last
 * level, and their own lines would evict nothing. */
static unsigned fills_with_room(const struct multicore *c, unsigned from, unsigned n, const struct kernel *k, unsigned wanted)
{
	for (unsigned i = from; i < n; i++) {
		const uint64_t room = c->members[i].set.shape.array_bytes - of_windows(c, k->step_bytes);

		while (wanted && c->members[i].set.at + (wanted * fill_of(c, n, i, k) + level_below(c, k)) * k->step_bytes > room)
			wanted--;
	}
	return wanted;
}

/* Brings last levels that are new into the row's state. The replacement policy is probed while the first member alone has filled its own. A
 * tree-PLRU level evicts in the order of arrival only after a second pass; an LRU one must evict the probe's lines, which came out of order. */
static enum status fill_last(struct multicore *c, unsigned from, unsigned n, const struct kernel *warmer)
{
	const struct kernel *k = c->members->set.kernel;
	const unsigned asked = c->b->last_asked;
	struct member *first = &c->members[0];
	unsigned more = 0;
	struct job job;
	enum status st = fill(c, from, n, warmer);
	const uint64_t at = first->set.at;

	if (st == ST_OK)
		st = window_fills(c->b, c->row, &first->set, n == 1 ? fill_of(c, n, 0, k) : 0, 0, &more, &job);
	first->touched_bytes += first->set.at - at; /* no pass has reached the end of an array */
	more = c->b->last_asked != asked && !more ? 1 : more < FILLS ? more : FILLS - 1;
	for (more = fills_with_room(c, from, n, k, more); more && st == ST_OK; more--)
		st = fill(c, from, n, warmer);
	return st == ST_OK ? fill_below(c, from, warmer) : st;
}

enum status multicore_lead(struct multicore *c, unsigned n)
{
	const struct kernel *warmer = kernel_find(window_warm_kernel(c->row, c->members[0].set.kernel));
	enum status st = warmer ? ST_OK : ST_BROKEN;

	for (unsigned i = 0; i < n; i++) {
		c->members[i].kernel = warmer;
		c->members[i].units = LEAD_UNITS;
	}
	if (st == ST_OK)
		st = run_pass(c, n);
	for (unsigned i = 0; i < n; i++)
		c->members[i].kernel = NULL;
	return st;
}

/* Evicts what the first core's L2 holds of single-core rows. As victims of the windows' lines, those lines would occupy the last level for as long
 * as they last; from now on the victims are the row's own lines, which are flushed. */
static enum status empty(struct multicore *c)
{
	struct member *m = &c->members[0];
	enum status st;

	if (!emptied(c) || m->core != c->b->core)
		return ST_OK;
	m->kernel = kernel_find("k_warm_read");
	m->units = emptied(c) / m->set.shape.step_bytes;
	m->set.at = 0;
	st = m->kernel ? run_pass(c, 1) : ST_BROKEN;
	m->kernel = NULL;
	m->set.at = 0;
	return st == ST_OK ? multicore_flush(c, 1) : st;
}

enum status multicore_warm_up(struct multicore *c, unsigned from, unsigned n)
{
	const struct kernel *k = c->members[0].set.kernel;
	const struct kernel *warmer = kernel_find(window_warm_kernel(c->row, k));
	const uint64_t below = c->row->prepare == PREPARE_FILL && !from ? multicore_below(c, k) : 0;
	const unsigned all = below ? c->count : n;
	bool any = false;
	enum status st = warmer ? ST_OK : ST_BROKEN;

	if (c->row->prepare == PREPARE_FLUSH)
		return from ? ST_OK : empty(c);
	for (unsigned i = 0; i < all; i++) {
		struct member *m = &c->members[i];

		m->units = c->row->prepare == PREPARE_FILL ? below : i >= from || c->settles ? m->set.shape.array_bytes / k->step_bytes : 1;
		any = any || m->units > 1;
		m->kernel = warmer;
	}
	if (any && st == ST_OK)
		st = c->row->prepare == PREPARE_WARM ? settle(c, n) : run_pass(c, all);
	if (st == ST_OK && c->row->prepare == PREPARE_FILL)
		st = fill_last(c, from, n, warmer);
	for (unsigned i = 0; i < all; i++)
		c->members[i].kernel = NULL;
	return st;
}
