/* bench/measure/window_prepare.c: brings working sets into the state that a row wants before its windows: resident in a cache level, flushed, or
 * cached by other cores. Only kernels do that, never C code. */
#include "bench/measure/cores.h"

#define REFRESH_LOADS_MAX 4096u   /* loads that refresh a warm working set before each window, at most */
#define PASSES_MAX 16u            /* passes over a working set before the first window, at most */
#define PASSES_STREAM 48u         /* the same in a level with random replacement: 3/4 of the missing lines stay missing each time */
#define SETTLED_PART 2000u        /* settled: a pass is shorter than the one before by less than 1/N */
#define REFRESH_PASSES 4u         /* passes that refresh a small working set: random replacement does not keep all lines at once */
#define FORGETS_PART 32u          /* the probe of lines that an LRU last level retained takes longer by less than 1/N */
#define TELLS_PART 8u             /* lines from memory lengthen it by more; otherwise the probe is inconclusive: a third of them may be missing */
#define LAST_LOOKS 2u             /* probes: an empty level loses nothing the first time */
#define AHEAD_OF_WINDOWS 32768u   /* iterations: more than all windows of a row have on a simulated machine */
#define ROUNDS_OF_WINDOWS 24u     /* rounds: likewise */
#define FILLS_MORE 4u             /* passes over a level that is not LRU: e^-5 of its earlier lines stay */

const char *window_warm_kernel(const struct row *r, const struct kernel *k)
{
	const unsigned arrays = k->step_bytes ? k->data_bytes / k->step_bytes : 0;

	if (r->prepare == PREPARE_READ)
		return "k_warm_read";
	return arrays == 3 ? "k_warm_triad" : arrays == 2 ? "k_warm_copy" : k->loads ? "k_warm_read" : "k_warm_write";
}

void window_warm_arguments(const struct bench *b, const struct working_set *w, const struct kernel *warmer, uint64_t units, uint64_t arguments[6])
{
	const uint64_t step = warmer->step_bytes, begin = w->at / step * step;

	window_arguments(b, w, units, arguments);
	arguments[warmer->count_argument] = (w->at + units * w->shape.step_bytes - begin + step - 1) / step;
	arguments[5] = begin;
}

/* The first array that a pass covers: if a stream's stores bypass the caches, these hold only what it reads. */
static unsigned first_warmed(const struct row *r, const struct working_set *w)
{
	return r->prepare == PREPARE_READ && w->kernel->stores && w->kernel->loads;
}

/* Touches each line that the given number of iterations of a stream uses. */
static enum status warm_stream(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, struct window *out, struct job *job)
{
	const struct kernel *warmer = kernel_find(window_warm_kernel(r, w->kernel));
	const unsigned past = first_warmed(r, w);
	uint64_t arguments[6];
	enum status st = warmer ? ST_OK : ST_BROKEN;

	if (warmer)
		window_warm_arguments(b, w, warmer, units, arguments);
	for (unsigned array = past; array < (past ? w->shape.arrays : 1) && st == ST_OK; array++) {
		arguments[0] = arguments[array];
		st = window_run(b, warmer, arguments, NULL, 0, out, job);
	}
	if (st == ST_OK)
		w->at = out->result;
	return st;
}

/* Flushes the lines that the given number of iterations of a stream uses, except those of an array whose stores bypass the caches. */
static enum status flush_stream(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, struct window *out, struct job *job)
{
	const struct kernel *flush = kernel_find("k_warm_flush");
	uint64_t arguments[6];
	enum status st = flush ? ST_OK : ST_BROKEN;

	if (flush)
		window_warm_arguments(b, w, flush, units, arguments);
	for (unsigned array = first_warmed(r, w); array < w->shape.arrays && st == ST_OK; array++) {
		arguments[0] = w->map.va + w->shape.start_bytes + array * shape_stride_bytes(&w->shape);
		st = window_run(b, flush, arguments, NULL, 0, out, job);
	}
	return st;
}

enum status window_leave(struct bench *b, const struct row *r, struct working_set *w, struct job *job)
{
	const struct cpu_cache *last = cpu_cache(b->cpu, cpu_last_level(b->cpu)), *below = cpu_cache(b->cpu, cpu_last_level(b->cpu) - 1);
	const struct kernel *flush = kernel_find("k_warm_flush");
	const uint32_t arrays = w->shape.arrays, step = w->shape.step_bytes;
	uint64_t arguments[6], held = w->shape.array_bytes;
	struct window ignored;

	if (cores_wanted(r))
		return cores_leave(b, w, job);
	if (w->shape.order != ORDER_STREAMS || !w->kernel->stores || (r->prepare != PREPARE_WARM && r->prepare != PREPARE_FILL))
		return ST_OK;
	if (!flush)
		return ST_BROKEN;
	if (last && !b->last_forgets && r->target == TARGET_DRAM) {
		const uint64_t room = (last->bytes + (below && last->level > 2 && !last->inclusive ? below->bytes : 0)) / arrays;

		held = room < held ? (room + step - 1) / step * step : held;
	}
	w->at = (w->at - held) & (w->shape.array_bytes - 1);
	window_warm_arguments(b, w, flush, held / step, arguments);
	return window_run(b, flush, arguments, NULL, 0, &ignored, job);
}

/* Touches lines in memory, flushed first: lines that an earlier row modified would otherwise stay modified. */
static enum status warm_memory(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, struct window *out, struct job *job)
{
	const enum status st = flush_stream(b, r, w, units, out, job);

	return st == ST_OK ? warm_stream(b, r, w, units, out, job) : st;
}

/* Probes the last level's replacement: whether it has lost some of the lines that came 5/8 of `units` ago. If so, replacement is random or by a
 * tree whose ways were filled one by one; such a tree evicts the first line, then the one that came when half of the ways were full, and only
 * later lines in their order of arrival. The probe reads twice what the level below holds, two times: the second time all of it comes from the
 * last level. Before it, the same amount of lines behind those is read, so that the level below holds no modified line. `filled`: ticks of the
 * filling pass, 0 unknown. If memory is as fast as the level for such a stream, both checks are inconclusive. */
static enum status look_at_last_level(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, uint64_t filled, struct job *job)
{
	const struct kernel *warmer = kernel_find(window_warm_kernel(r, w->kernel));
	const struct cpu_cache *below = cpu_cache(b->cpu, cpu_last_level(b->cpu) - 1);
	const unsigned first = first_warmed(r, w);
	const uint64_t step = w->shape.step_bytes, again = below ? 2 * below->bytes / step / (w->shape.arrays - first) : 0;
	uint64_t took[3] = { 0 }, arguments[6];
	enum status st = warmer ? ST_OK : ST_BROKEN;
	struct window part;

	if (!warmer || !again || 4 * again > units)
		return st;
	window_warm_arguments(b, w, warmer, again, arguments);
	for (unsigned pass = 0; pass < 3; pass++) {
		arguments[5] = (w->at - (units / 8 * 5 - (pass ? 0 : again)) * step) & (w->shape.array_bytes - 1) & ~(uint64_t)(warmer->step_bytes - 1);
		for (unsigned array = first; array < (first ? w->shape.arrays : 1) && st == ST_OK; array++) {
			arguments[0] = w->map.va + w->shape.start_bytes + array * shape_stride_bytes(&w->shape);
			st = window_run(b, warmer, arguments, NULL, 0, &part, job);
			took[pass] += part.tsc;
		}
	}
	/* A victim last level has handed over the probed lines. Until they have come back, windows' lines fill its gaps and evict nothing. */
	if (st == ST_OK && !cpu_cache(b->cpu, cpu_last_level(b->cpu))->inclusive)
		st = warm_stream(b, r, w, again, &part, job);
	b->last_asked += st == ST_OK;
	b->last_forgets = st == ST_OK && (took[1] > took[2] + took[2] / FORGETS_PART || (filled && filled * again / units < took[2] + took[2] / TELLS_PART));
	return st;
}

bool window_may_forget(const struct bench *b) { return b->last_forgets || b->last_asked < LAST_LOOKS; }

enum status window_fills(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, uint64_t filled, unsigned *more, struct job *job)
{
	enum status st = b->last_forgets || b->last_asked == LAST_LOOKS ? ST_OK : look_at_last_level(b, r, w, units, filled, job);

	*more = b->last_forgets ? FILLS_MORE : 0;
	return st;
}

/* Writes the buffer's contents and brings its lines into the caches. */
static enum status prepare_pair(struct bench *b, struct working_set *w, struct job *job)
{
	const struct kernel *touch = kernel_find("k_touch");
	uint64_t arguments[6] = { w->map.va, w->shape.bytes / w->shape.line_bytes, w->shape.line_bytes };
	struct window ignored;

	uint64_t before = 0;

	/* One pass: the other code of the pair may have evicted this one from the L1I. A second one if lines are to come from the L2: the first line was
	 * still in the L1I, while the L2 had evicted it for the other code. Many lines: passes until one gets no shorter, because an L2 with random
	 * replacement loses some while the others arrive. */
	for (unsigned pass = 0; w->code && pass < PASSES_MAX; pass++) {
		enum status st = window_units(b, w, w->pair->events, NULL, 0, &ignored, job);

		if (st != ST_OK)
			return st;
		if (w->code == CODE_LINES_L2 && !pass)
			continue;
		if ((w->code != CODE_PAGES_WALK && w->code != CODE_PAGES_WALK_BASE) || (pass && ignored.tsc >= before - before / SETTLED_PART))
			break;
		before = ignored.tsc;
	}
	if (!w->shape.bytes)
		return ST_OK;
	if (!touch)
		return ST_BROKEN;
	if (w->fill != FILL_ZERO)
		for (uint64_t i = 0; i < w->shape.bytes; i++)
			((uint8_t *)w->map.host)[i] = (uint8_t)(random_below(&b->random, w->fill == FILL_RANDOM_BIT ? 2 : 4));
	return window_run(b, touch, arguments, NULL, 0, &ignored, job);
}

/* Flushes a small array whole; a baseline's array is then read again. */
static enum status prepare_stream(struct bench *b, const struct row *r, struct working_set *w, bool test, struct job *job)
{
	const struct kernel *flush = kernel_find("k_flush");
	uint64_t arguments[6] = { w->map.va, w->shape.span_bytes / w->shape.line_bytes, w->shape.line_bytes };
	struct window ignored;

	if (!test)
		return window_units(b, w, w->shape.array_bytes / w->shape.step_bytes, NULL, 0, &ignored, job);
	if (r->prepare != PREPARE_FLUSH)
		return ST_OK;
	return flush ? window_run(b, flush, arguments, NULL, 0, &ignored, job) : ST_BROKEN;
}

/* Passes until a level that is not LRU has evicted its earlier lines. While few lines are missing, each that arrives may evict another, and a
 * pass may take as long as the one before: streams are done after three equal ones. *before: ticks of the latest pass, 0: none yet. */
static enum status warm_until_there(struct bench *b, struct working_set *w, const struct row *r, uint64_t units, uint64_t *before, struct job *job)
{
	const bool stream = w->shape.order == ORDER_STREAMS;
	enum status st = ST_OK;
	struct window took;

	for (unsigned pass = 0, alike = 0; pass < (stream ? PASSES_STREAM : PASSES_MAX) && alike < (stream ? 2 : 1) && st == ST_OK; pass++) {
		st = stream ? warm_stream(b, r, w, units, &took, job) : window_units(b, w, units, NULL, 0, &took, job);
		const bool shorter = took.tsc < *before - *before / SETTLED_PART, longer = took.tsc > *before + *before / SETTLED_PART;

		alike = !*before || shorter || (stream && longer) ? 0 : alike + 1;
		*before = took.tsc;
	}
	return st;
}

enum status window_prepare(struct bench *b, const struct row *r, struct working_set *w, enum window_role role, uint64_t units,
                           struct job *job)
{
	const bool test = role == WINDOW_TEST;
	const struct kernel *flush = kernel_find("k_flush_chain");
	struct window ignored;

	if (test && cores_wanted(r))
		return cores_prepare(b, r, w, units, job);
	if (w->shape.order == ORDER_STREAMS)
		return prepare_stream(b, r, w, test, job);
	if ((test || r->baseline == BASELINE_OPEN_PAGES) && r->prepare == PREPARE_FLUSH) {
		uint64_t arguments[6] = { w->at, units };
		enum status st = flush ? window_run(b, flush, arguments, NULL, 0, &ignored, job) : ST_BROKEN;

		/* The second window's lines all come from memory too: DRAM pages are open as these lines leave them, independent of what a cache
		 * had lost or another window opened. */
		if (st == ST_OK && w->shape.order == ORDER_OPEN_PAGES)
			st = window_run(b, flush, arguments, NULL, 0, &ignored, job);
		return st;
	}
	if (w->shape.order == ORDER_PAIR)
		return prepare_pair(b, w, job);
	/* A ring beyond all caches evicts its own lines. Those that earlier rows left at the same physical addresses are flushed in the first lap. */
	if (test && r->target == TARGET_DRAM && w->shape.order == ORDER_REGIONS && w->emptied < w->shape.nodes) {
		uint64_t arguments[6] = { w->at, units };

		w->emptied += units;
		return flush ? window_run(b, flush, arguments, NULL, 0, &ignored, job) : ST_BROKEN;
	}
	if (test && r->target == TARGET_DRAM)
		return ST_OK;
	if (r->target == TARGET_STLB) { /* the L2 has room for both rings, and chance decides which lines of one the other has evicted */
		uint64_t before = 0;

		return warm_until_there(b, w, r, w->shape.nodes, &before, job);
	}
	if (window_reloads(b, r, w, role))
		return ST_OK;
	units = (uint64_t)w->shape.nodes * REFRESH_PASSES;
	if (units > REFRESH_LOADS_MAX)
		units = REFRESH_LOADS_MAX;
	return window_units(b, w, units, NULL, 0, &ignored, job);
}

/* Iterations of a stream after which each set of the last level has received as many lines as it has ways: whole laps of its sets, because arrays
 * whose distance is no multiple of a lap reach a set at different times. A victim level receives what the level below evicts, later by that
 * level's size. */
static uint64_t lapped(const struct bench *b, const struct working_set *w)
{
	const struct cpu_cache *last = cpu_cache(b->cpu, cpu_last_level(b->cpu)), *below = cpu_cache(b->cpu, cpu_last_level(b->cpu) - 1);
	const uint64_t way = cpu_cache_way_bytes(last), laps = way ? (last->ways + w->shape.arrays - 1) / w->shape.arrays : 0;

	return laps * way / w->shape.step_bytes + (way && below && !last->inclusive ? below->bytes / w->kernel->data_bytes : 0);
}

enum status window_warm_up(struct bench *b, const struct row *r, struct working_set *w, enum window_role role, struct job *job)
{
	const bool test = role == WINDOW_TEST;
	const struct cpu_cache *last = cpu_cache(b->cpu, cpu_last_level(b->cpu)), *below = cpu_cache(b->cpu, cpu_last_level(b->cpu) - 1);
	struct window ignored;
	enum status st = ST_OK;
	uint64_t units, before = 0;
	/* A pass covers all arrays but the written one, or that one if there is no other, so that no modified line of an earlier row stays in the
	 * caches. */
	uint64_t read = w->kernel->data_bytes - (w->kernel->loads && w->kernel->stores ? w->kernel->step_bytes : 0);

	if (w->shape.order == ORDER_PAIR)
		return ST_OK;
	if ((test || r->baseline == BASELINE_OPEN_PAGES) && (r->prepare == PREPARE_FLUSH || cores_wanted(r)))
		return ST_OK;
	if (w->shape.order != ORDER_STREAMS)
		/* A chase beyond all caches needs no pass: preparing it left its oldest part cached. */
		units = r->target == TARGET_DRAM && test ? 0 : w->shape.nodes;
	else if (r->prepare == PREPARE_FILL)
		/* 4/3 of the last level: from then on it writes back a modified line for each that arrives. A victim level needs the size of the level below
		 * in addition. */
		units = (last ? last->bytes : 0) / w->kernel->data_bytes * 4 / 3 + (below && !last->inclusive ? below->bytes / w->kernel->data_bytes : 0);
	else if (r->prepare == PREPARE_READ)
		units = read ? (last ? last->bytes : 0) / read : 0;
	else
		units = w->shape.array_bytes / w->shape.step_bytes;
	if (!units)
		return ST_OK;
	if (w->shape.order == ORDER_STREAMS && r->target == TARGET_DRAM) {
		const uint64_t lap = w->shape.array_bytes / w->shape.step_bytes, again = r->prepare == PREPARE_READ ? units / 3 + (below && !last->inclusive ? below->bytes / read : 0) : 0;
		const unsigned asked = b->last_asked;
		unsigned more = 0;

		st = warm_memory(b, r, w, units, &ignored, job);
		if (st == ST_OK)
			st = window_fills(b, r, w, units, ignored.tsc * (first_warmed(r, w) ? w->shape.arrays - 1 : 1), &more, job);
		/* The probe's lines are most recently used. Until they are evicted, their sets write back modified lines in bursts. */
		const uint64_t behind = lapped(b, w) > units / 4 * 3 ? lapped(b, w) : units / 4 * 3;

		if (b->last_asked != asked && !more && r->prepare == PREPARE_FILL && units + (behind > units ? behind : units) + ROUNDS_OF_WINDOWS * (2ull * w->shorter + w->window) <= lap && st == ST_OK)
			st = warm_stream(b, r, w, behind, &ignored, job);
		/* Where an array wraps, victims come from its end, in other DRAM pages: windows stay before that. */
		while (more && (1 + more) * units + again + ROUNDS_OF_WINDOWS * (2ull * w->shorter + w->window) > lap)
			more--;
		for (unsigned fill = 0; fill < more && st == ST_OK; fill++)
			st = warm_memory(b, r, w, units, &ignored, job);
		/* Consecutive arrays do not use all sets equally, and lines of theirs that an earlier row left cause no evictions. */
		if (again && st == ST_OK)
			st = warm_memory(b, r, w, again, &ignored, job);
		/* Beyond one lap windows would hit lines that the first pass brought in. A core of another kind still has the lines of its last windows in its L2. */
		const bool wraps = (1 + more) * units + again + AHEAD_OF_WINDOWS > lap;
		const uint64_t ahead = wraps ? AHEAD_OF_WINDOWS : b->a->core_kind ? ROUNDS_OF_WINDOWS * (2ull * w->shorter + w->window) : 0;

		if (st == ST_OK && ahead && lap > units + again)
			st = flush_stream(b, r, w, lap - units - again < ahead ? lap - units - again : ahead, &ignored, job);
		return st;
	}
	st = warm_until_there(b, w, r, units, &before, job);
	/* Lines that the windows bring in evict some of the stream's from a level that is not LRU. */
	if (w->shape.order == ORDER_STREAMS && r->target != TARGET_L1 && st == ST_OK && (st = window_units(b, w, w->window, NULL, 0, &ignored, job)) == ST_OK)
		st = warm_until_there(b, w, r, units, &before, job);
	return st;
}
