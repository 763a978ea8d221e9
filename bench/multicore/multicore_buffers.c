/* bench/multicore/multicore_buffers.c: the arrays of streams of several cores: how long, where, and in which caches when a window begins.
 *
 * Not seen: which physical pages they lie in, beyond what a large page promises; hashes of the last level's sets. */
#include "bench/multicore/multicore_buffers.h"

#define WINDOW_SCALE 16u      /* real cores take some hundred ns to begin together: longer windows there */
#define VISITS 2u             /* of arrays that are to stay in a cache, by a core that is new; on a simulated machine one fewer */
#define VISITS_MAX 24u        /* of a level that does not replace the oldest, at most */
#define SETTLED_PART 2000u    /* until a visit is not shorter by such a part than the one before */
#define FILLS 4u               /* of a last level that may not replace the oldest, at most: e^-5 of what a random one held before is left */
#define LAST_FACTOR 6u        /* as many times the last level: all arrays in memory */
#define MANY_CORES 8u         /* beyond: twice as long windows of all cores */
#define VALUE_WINDOWS 64u     /* of a row, in which all cores are at work */
#define FILL_ROOM 2u          /* where these begin at places of their own, each has so many times the room that it needs, */
#define LEAD_UNITS 32u        /* some iterations ahead of them included that are not counted */
#define SOCKET_CORES 12u      /* for which windows in memory are meant */
#define COLD_TIMES 4u         /* the longer window of those in memory: the slope loses little of it */
#define COLD_BYTES 0x100000u  /* of arrays whose lines are flushed, where that is COLD_PLACES times what such a window goes through: it may */
#define EMPTY_TIMES 2u        /* an L2 is gone through that is to hold nothing */
#define COLD_PLACES 4u        /* begin anywhere there, and so in any of memory's rows and at any distance from where the others are */

/* Few cores of a socket go through few pages in a window of many: where prefetchers begin anew must not decide, nor how long the last
 * core is behind the others. So their windows are so many times as long. */
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

/* Of many in memory the longest window ends later than the others by a part that is another each time; in a row's value that must not
 * decide either, where lines go as well as come; nor how a last level that takes what the L2s give up has them mixed. Out of a private
 * cache beyond the L1 the shorter window too pushes the wrapper's lines out of the L1: four of them were a fiftieth of 64 iterations. */
static uint32_t window_of(const struct multicore *c, unsigned at_once)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const bool uneven = at_once > MANY_CORES || (last && last->level > 2 && !last->inclusive);
	const unsigned many = c->row->order == ORDER_MULTICORE && c->row->prepare == PREPARE_FILL && at_once == c->count && uneven ? 2 : 1;
	const struct cpu_cache *l1 = cpu_cache(c->b->cpu, 1);
	const struct kernel *k = kernel_choose(c->row, c->b->cpu);
	uint32_t window = c->row->window * times_of_few(c) * many * (c->b->a->kind == ACCESS_SIM ? 1 : WINDOW_SCALE);

	while ((c->row->target == TARGET_L2 || c->row->target == TARGET_L3) && l1 && k && (uint64_t)window * k->data_bytes < 2 * l1->bytes)
		window *= 2;
	return window;
}

uint32_t multicore_window(const struct multicore *c) { return window_of(c, c->at_once); }

void start_offsets(struct multicore *c)
{
	const struct kernel *k = kernel_choose(c->row, c->b->cpu);
	const bool filled = c->row->prepare == PREPARE_FILL && c->b->a->kind == ACCESS_SIM; /* real cores do not stay in step */

	c->moves = c->row->prepare == PREPARE_FLUSH || filled;
	if (!filled || !k)
		return;
	c->pair_bytes = (LEAD_UNITS + (uint64_t)window_of(c, c->count) * (1 + multicore_times(c->row))) * k->step_bytes;
	c->places_bytes = START_OFFSETS * FILL_ROOM * ((c->pair_bytes + PAGE_4K - 1) / PAGE_4K * PAGE_4K);
}

unsigned multicore_times(const struct row *r) { return r->target == TARGET_DRAM ? COLD_TIMES : 2; }

static uint64_t power_of_two_below(uint64_t n)
{
	uint64_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return n ? p : 0;
}

static const uint32_t *groups_of(const struct bench *b, enum target place)
{
	if (place == TARGET_L1)
		return b->groups.core;
	return place == TARGET_L2 || cpu_last_level(b->cpu) < 3 ? b->groups.l2 : b->groups.last;
}

/* How many of the first n members share a level with member i. */
static unsigned sharing(const struct multicore *c, unsigned n, unsigned i, enum target place)
{
	const uint32_t *group = groups_of(c->b, place);
	unsigned same = 0;

	for (unsigned k = 0; k < n; k++)
		same += group[c->members[k].core] == group[c->members[i].core];
	return same;
}

unsigned multicore_sharers(const struct multicore *c, unsigned n, enum target place)
{
	unsigned most = 1;

	for (unsigned i = 0; i < n; i++) {
		const unsigned same = sharing(c, n, i, place);

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

/* How many iterations fill the level below the last one. */
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

/* How many iterations member i makes of the 4/3 of a last level that all who share it go through: whole ways of its array, since a
 * part of a way would leave other sets than those as they were, which the windows come to next. */
static uint64_t fill_of(const struct multicore *c, unsigned n, unsigned i, const struct kernel *k)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const unsigned all = multicore_sharers(c, n, TARGET_DRAM), before = sharing(c, i, i, TARGET_DRAM), ways = cpu_cache_way_bytes(last) ? last->ways : 1;
	const uint64_t way = last->bytes / ways / k->step_bytes, wanted = ((uint64_t)ways * 4 / 3 * k->step_bytes + k->data_bytes - 1) / k->data_bytes;

	return (wanted * (before + 1) / all - wanted * before / all) * way + 1;
}

/* The most bytes of an array that one of the first n members fills the last level from, as often as it may have to. */
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

/* The bytes of an array that windows go through. */
static uint64_t of_windows(const struct multicore *c, uint64_t step_bytes)
{
	return c->places_bytes ? c->places_bytes : VALUE_WINDOWS * c->row->window * times_of_few(c) * step_bytes;
}

/* What is to lie between arrays of so many bytes, so that they go through the last level's sets together. */
static uint64_t apart_in_last(const struct multicore *c, uint64_t array_bytes)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const uint64_t way = cpu_cache_way_bytes(last), rest = way ? array_bytes % way : 0;

	return rest ? way - rest : 0;
}

/* Bytes of an array whose lines push others out of the level that gives lines to the last one; 0: that takes none. */
static uint64_t emptied(const struct multicore *c)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu)), *below = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu) - 1);

	return below && last->level > 2 && !last->inclusive ? EMPTY_TIMES * below->bytes : 0;
}

bool multicore_pushes_wrapper(const struct multicore *c, unsigned n)
{
	const enum target place = c->row->target;
	const struct cpu_cache *below = cpu_cache(c->b->cpu, place == TARGET_DRAM ? cpu_last_level(c->b->cpu) : 2);
	const uint64_t each = (uint64_t)multicore_window(c) * multicore_times(c->row) * kernel_choose(c->row, c->b->cpu)->data_bytes;

	if (!below || (place != TARGET_L3 && c->row->prepare != PREPARE_FLUSH))
		return false;
	return multicore_sharers(c, n, place == TARGET_DRAM ? TARGET_DRAM : TARGET_L2) * each > below->bytes / 4 * 3;
}

bool multicore_gives_up(const struct multicore *c) { return emptied(c); }

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
		for (bytes = COLD_BYTES; bytes < (uint64_t)COLD_PLACES * COLD_TIMES * alone.window * s->step_bytes || bytes < emptied(c);)
			bytes *= 2;
		set_arrays(s, bytes);
	}
	if (st != ST_OK || alone.prepare == PREPARE_FLUSH)
		return st;
	if (alone.target == TARGET_DRAM) {
		least = 8ull * alone.window * s->step_bytes; /* no window goes round, nor one of twice the length */
		/* nor does what fills the last level: the windows' lines would be in it; where all are to come through its sets in turn, both
		 * together, for beyond its end an array begins in other sets */
		const uint64_t fills = filled(c, n, kernel_choose(c->row, c->b->cpu)) + of_windows(c, s->step_bytes);

		least = fills > least ? fills : least;
		bytes = 2 * power_of_two_below(LAST_FACTOR * last->bytes / multicore_sharers(c, n, TARGET_DRAM) / s->arrays - 1);
		bytes = bytes > least ? bytes : 2 * power_of_two_below(least - 1);
		s->skew_bytes += apart_in_last(c, bytes);
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

void multicore_set_apart(const struct multicore *c, unsigned i, unsigned all, struct working_set *w)
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

/* One visit of all members. */
static enum status visit(struct multicore *c, unsigned n)
{
	bool ignored;
	enum status st;

	for (unsigned i = 0; i < n; i++)
		window_visit_arguments(c->b, &c->members[i].set, c->members[i].kernel, c->members[i].units, c->members[i].arguments);
	st = multicore_run(c, n, false, &ignored);
	for (unsigned i = 0; i < n; i++) {
		c->members[i].set.at = c->members[i].window.result;
		if (c->pairs)
			continue;
		c->members[i].visited_bytes += c->members[i].units * c->members[i].set.shape.step_bytes;
		c->members[i].visited_to = c->members[i].set.at;
	}
	return st;
}

/* Arrays that are to stay: by a visit or two, of caches that hold nothing of an earlier row of many cores; or until one gets no shorter. */
static enum status settle(struct multicore *c, unsigned n)
{
	const unsigned most = c->settles ? VISITS_MAX : c->b->a->kind == ACCESS_SIM ? VISITS - 1 : VISITS;
	uint64_t before = 0;
	enum status st = ST_OK;

	for (unsigned visits = 0; visits < most && st == ST_OK; visits++) {
		st = visit(c, n);
		if (visits && c->settles && multicore_ticks(c, n) >= before - before / SETTLED_PART)
			break;
		before = multicore_ticks(c, n);
	}
	return st;
}

/* One visit of member i alone. */
static enum status visit_alone(struct multicore *c, unsigned i, uint64_t units, const struct kernel *visitor)
{
	struct member *const members = c->members;
	enum status st;

	members[i].units = units;
	members[i].kernel = visitor;
	c->members = members + i;
	st = visit(c, 1);
	c->members = members;
	members[i].kernel = NULL;
	return st;
}

/* Members from..n-1 of caches that none before them fills go through as much as fills the last level, one after another: where two come through a
 * set at a time, lines of equal arrays lie side by side there, and what windows push out is modified more or less often than its share. */
static enum status fill(struct multicore *c, unsigned from, unsigned n, const struct kernel *visitor)
{
	enum status st = ST_OK;

	for (unsigned i = from; i < n && st == ST_OK; i++)
		st = visit_alone(c, i, sharing(c, from, i, TARGET_DRAM) ? 1 : fill_of(c, n, i, c->members->set.kernel), visitor);
	return st;
}

/* An inclusive last level takes from the others' caches what it gives up, so these are filled behind that: an empty one gives nothing to the
 * last level, whose slices have less to do. */
static enum status fill_below(struct multicore *c, unsigned from, const struct kernel *visitor)
{
	const struct kernel *k = c->members->set.kernel;
	const uint64_t behind = from || multicore_below(c, k) ? 0 : level_below(c, k);
	enum status st = ST_OK;

	for (unsigned i = 0; behind && i < c->count && st == ST_OK; i++)
		st = visit_alone(c, i, behind, visitor);
	return st;
}

/* How many more fills end before what is for windows, at most `wanted`: where these find lines of a fill, and flush them, they leave room
 * in the last level, and what they bring in pushes nothing out. */
static unsigned fills_with_room(const struct multicore *c, unsigned from, unsigned n, const struct kernel *k, unsigned wanted)
{
	for (unsigned i = from; i < n; i++) {
		const uint64_t room = c->members[i].set.shape.array_bytes - of_windows(c, k->step_bytes);

		while (wanted && c->members[i].set.at + (wanted * fill_of(c, n, i, k) + level_below(c, k)) * k->step_bytes > room)
			wanted--;
	}
	return wanted;
}

/* Brings the last levels that are new into the row's state. While the first member has filled its own alone it is looked whether that replaces the
 * oldest. One that goes by a tree gives up lines in the order in which they came only once it has been filled twice; one that replaces the oldest
 * has to give up what was looked at, which came out of its turn. */
static enum status fill_last(struct multicore *c, unsigned from, unsigned n, const struct kernel *visitor)
{
	const struct kernel *k = c->members->set.kernel;
	const unsigned asked = c->b->last_asked;
	struct member *first = &c->members[0];
	unsigned more = 0;
	struct job job;
	enum status st = fill(c, from, n, visitor);
	const uint64_t at = first->set.at;

	if (st == ST_OK)
		st = window_fills(c->b, c->row, &first->set, n == 1 ? fill_of(c, n, 0, k) : 0, 0, &more, &job);
	first->visited_bytes += first->set.at - at; /* no fill has come to the end of an array */
	more = c->b->last_asked != asked && !more ? 1 : more < FILLS ? more : FILLS - 1;
	for (more = fills_with_room(c, from, n, k, more); more && st == ST_OK; more--)
		st = fill(c, from, n, visitor);
	return st == ST_OK ? fill_below(c, from, visitor) : st;
}

enum status multicore_lead(struct multicore *c, unsigned n)
{
	const struct kernel *visitor = kernel_find(window_visitor(c->row, c->members[0].set.kernel));
	enum status st = visitor ? ST_OK : ST_BROKEN;

	for (unsigned i = 0; i < n; i++) {
		c->members[i].kernel = visitor;
		c->members[i].units = LEAD_UNITS;
	}
	if (st == ST_OK)
		st = visit(c, n);
	for (unsigned i = 0; i < n; i++)
		c->members[i].kernel = NULL;
	return st;
}

/* What the first core's L2 holds of rows that it ran alone would take the last level's time when windows push it out, as long as there is any:
 * lines of the row's own do that now, and are flushed. */
static enum status empty(struct multicore *c)
{
	struct member *m = &c->members[0];
	enum status st;

	if (!emptied(c) || m->core != c->b->core)
		return ST_OK;
	m->kernel = kernel_find("k_warm_read");
	m->units = emptied(c) / m->set.shape.step_bytes;
	m->set.at = 0;
	st = m->kernel ? visit(c, 1) : ST_BROKEN;
	m->kernel = NULL;
	m->set.at = 0;
	return st == ST_OK ? multicore_flush(c, 1) : st;
}

enum status multicore_warm_up(struct multicore *c, unsigned from, unsigned n)
{
	const struct kernel *k = c->members[0].set.kernel;
	const struct kernel *visitor = kernel_find(window_visitor(c->row, k));
	const uint64_t below = c->row->prepare == PREPARE_FILL && !from ? multicore_below(c, k) : 0;
	const unsigned all = below ? c->count : n;
	bool any = false;
	enum status st = visitor ? ST_OK : ST_BROKEN;

	if (c->row->prepare == PREPARE_FLUSH)
		return from ? ST_OK : empty(c);
	for (unsigned i = 0; i < all; i++) {
		struct member *m = &c->members[i];

		m->units = c->row->prepare == PREPARE_FILL ? below : i >= from || c->settles ? m->set.shape.array_bytes / k->step_bytes : 1;
		any = any || m->units > 1;
		m->kernel = visitor;
	}
	if (any && st == ST_OK)
		st = c->row->prepare == PREPARE_WARM ? settle(c, n) : visit(c, all);
	if (st == ST_OK && c->row->prepare == PREPARE_FILL)
		st = fill_last(c, from, n, visitor);
	for (unsigned i = 0; i < all; i++)
		c->members[i].kernel = NULL;
	return st;
}
