/* bench/measure/window.c: one run of one kernel under the measuring wrapper; working sets and the state they are
 * brought into, always by kernels. */
#include "bench/measure/codegen.h"
#include "bench/measure/cores.h"
#include "pmu/sampling_gate.h"

#define REFRESH_LOADS_MAX 4096u      /* visited before each window of a warm working set */
#define VISITS_MAX 16u               /* of a working set before the first window, at most */
#define VISITS_STREAM 48u            /* of one that a level takes in whose ways are chosen at random: 3/4 of the missing lines stay missing each time */
#define SETTLED_PART 2000u           /* until a visit is not shorter by such a part than the one before */
#define REFRESH_VISITS 4u            /* a small one that often: random replacement keeps not all at once */
#define FORGETS_PART 32u             /* of a last level that replaces the oldest, what it is left with takes no such part longer */
#define TELLS_PART 8u                /* lines from memory do, else it cannot be told: a third of the lines may be missing */
#define LAST_LOOKS 2u                /* at it: one that was empty loses nothing the first time */
#define AHEAD_OF_WINDOWS 32768u     /* iterations: more than all windows of a row have on a simulated machine */
#define ROUNDS_OF_WINDOWS 24u        /* about as many */
#define PAGES_AHEAD 64u              /* whose translations a job brings in first, at most: a first level holds no more */
#define FILLS_MORE 4u                /* of one that does not: e^-5 of what it held before is left */

/* --- one run of one kernel --------------------------------------------------------------------- */

enum status window_run(struct bench *b, const struct kernel *k, const uint64_t arguments[6],
                       const struct counting *c, unsigned run, struct window *out, struct job *job)
{
	return window_run_on(b, b->core, k, arguments, c, run, out, job);
}

/* A job begins without translations. This one flushes the first line of each page of a working set in memory, then does what its entry
 * was: where proofs allow no misses of the TLB, a longer window would have those of the pages that a shorter one does not come to. */
static enum status load_ahead(const struct mapping *m, struct measure_block *block, struct job *job)
{
	const struct kernel *ahead = kernel_find("k_measure_ahead"), *flush = kernel_find("k_flush");
	const uint64_t pages = m->bytes / m->page_bytes;

	if (!ahead || !flush)
		return ST_BROKEN;
	if (pages > PAGES_AHEAD)
		return ST_OK;
	block->ahead = WINDOW_CODE + flush->offset;
	block->ahead_argument[0] = m->va;
	block->ahead_argument[1] = pages;
	block->ahead_argument[2] = m->page_bytes;
	block->wrapper = job->entry;
	job->entry = WINDOW_CODE + ahead->offset;
	return ST_OK;
}

enum status window_load(struct bench *b, unsigned core, const struct kernel *k, const uint64_t arguments[6],
                        const struct counting *c, unsigned run, struct job *job)
{
	struct measure_block *block = b->a->ops->control(b->a->self, core);
	const struct sampling_gate *gate = core == b->core ? b->gate : NULL;
	const struct kernel *wrapper = kernel_find(gate ? "k_measure_sampled" : "k_measure");

	if (!block || !wrapper)
		return ST_BROKEN;
	memset(block, 0, sizeof(*block));
	block->kernel = WINDOW_CODE + k->offset;
	for (unsigned i = 0; i < 6; i++)
		block->argument[i] = arguments[i];
	block->serialise = b->cpu->processor->serialise_cpuid;
	if (c && c->on)
		for (unsigned i = 0; i < c->events; i++)
			if (c->plan.slots[i].run == run)
				block->index[block->counters++] = c->plan.slots[i].rdpmc_index;
	memset(job, 0, sizeof(*job));
	job->core = core;
	job->entry = WINDOW_CODE + wrapper->offset;
	if (gate) {
		sampling_gate_load(gate, block);
		job->gate = gate;
		job->undo = WINDOW_CODE + kernel_find("k_measure_off")->offset;
	}
	job->argument = WINDOW_CONTROL + core * CONTROL_BYTES;
	return b->ahead ? load_ahead(b->ahead, block, job) : ST_OK;
}

enum status window_cold(struct job *job)
{
	const struct kernel *wrapper = kernel_find("k_measure_cold");

	if (!wrapper)
		return ST_BROKEN;
	job->entry = WINDOW_CODE + wrapper->offset;
	return ST_OK;
}

void window_read(struct bench *b, unsigned core, const struct counting *c, unsigned run, struct window *out)
{
	const struct measure_block *block = b->a->ops->control(b->a->self, core);
	unsigned n = 0;

	memset(out, 0, sizeof(*out));
	if (!block)
		return;
	out->began = block->tsc_before;
	out->tsc = block->tsc_after - block->tsc_before;
	out->result = block->result;
	for (unsigned i = 0; c && c->on && i < c->events; i++) {
		const struct plan_slot *s = &c->plan.slots[i];
		unsigned width = s->fixed ? b->cpu->fixed_width : b->cpu->general_width;
		uint64_t mask = width && width < 64 ? (1ull << width) - 1 : UINT64_MAX;

		if (s->run != run)
			continue;
		out->counts[i] = (block->after[n] - block->before[n]) & mask;
		n++;
	}
	if (core == b->core)
		noise_check_elapsed(b, c, run, out);
}

enum status window_run_on(struct bench *b, unsigned core, const struct kernel *k, const uint64_t arguments[6],
                          const struct counting *c, unsigned run, struct window *out, struct job *job)
{
	enum status st;

	if (core == b->core)
		noise_check_look_at_elapsed(b, c, run);
	st = window_load(b, core, k, arguments, c, run, job);
	if (st == ST_OK)
		st = b->a->ops->run(b->a->self, job, 1, 0);
	if (st == ST_OK)
		window_read(b, core, c, run, out);
	return st;
}

enum status window_clock(struct bench *b, struct job *job, int64_t *tick_micro)
{
	const struct kernel *adds = kernel_find("k_add_chain");
	struct window w;
	int64_t took[2] = { 0, 0 };

	for (unsigned i = 0; i < 4; i++) { /* the first pair brings in the code, and is not looked at */
		uint64_t arguments[6] = { CLOCK_ADDS / ADDS_PER_ITERATION << i % 2 };
		enum status st = adds ? window_run(b, adds, arguments, NULL, 0, &w, job) : ST_BROKEN;

		if (st != ST_OK)
			return st;
		took[i % 2] = (int64_t)w.tsc;
	}
	*tick_micro = mul_div(CLOCK_ADDS, 1000000, took[1] > took[0] ? took[1] - took[0] : 1);
	return ST_OK;
}

/* What a unit of work is: a load of a chase, an iteration of a stream, an event of a pair. */
static uint64_t iterations_of(const struct working_set *w, uint64_t units)
{
	if (w->shape.order == ORDER_PAIR)
		return units * w->pair->iterations / w->pair->events;
	if (w->shape.order == ORDER_STREAMS)
		return units;
	return units < w->kernel->loads ? 1 : units / w->kernel->loads; /* a ring of fewer nodes: more than once round it */
}

void window_arguments(const struct bench *b, const struct working_set *w, uint64_t units, uint64_t arguments[6])
{
	uint64_t iterations = iterations_of(w, units);

	memset(arguments, 0, 6 * sizeof(arguments[0]));
	if (w->shape.order == ORDER_STREAMS) {
		arguments[0] = w->map.va + w->shape.start_bytes;
		arguments[1] = arguments[0] + w->shape.array_bytes + w->shape.skew_bytes;
		arguments[2] = arguments[1] + w->shape.array_bytes + w->shape.skew_bytes;
		arguments[3] = iterations;
		arguments[4] = w->shape.array_bytes - 1;
		arguments[5] = w->at;
	} else if (w->shape.order == ORDER_PAIR) {
		arguments[0] = w->map.va;
		if (w->code) {
			arguments[0] = code_start(w->code, w->code_map.va);
			arguments[2] = code_pointer(w->code, w->code_map.va, w->map.va);
		}
		arguments[w->kernel->count_argument] = iterations;
	} else {
		arguments[0] = w->at;
		arguments[1] = iterations;
		arguments[2] = WINDOW_CONTROL + b->core * CONTROL_BYTES;
	}
}

enum status window_units(struct bench *b, struct working_set *w, uint64_t units, const struct counting *c,
                             unsigned run, struct window *out, struct job *job)
{
	uint64_t arguments[6];
	enum status st;

	window_arguments(b, w, units, arguments);
	st = window_run(b, w->kernel, arguments, c, run, out, job);
	if (st == ST_OK)
		w->at = out->result;
	return st;
}

const char *window_visitor(const struct row *r, const struct kernel *k)
{
	const unsigned arrays = k->step_bytes ? k->data_bytes / k->step_bytes : 0;

	if (r->prepare == PREPARE_READ)
		return "k_warm_read";
	return arrays == 3 ? "k_warm_triad" : arrays == 2 ? "k_warm_copy" : k->loads ? "k_warm_read" : "k_warm_write";
}

void window_visit_arguments(const struct bench *b, const struct working_set *w, const struct kernel *visitor, uint64_t units, uint64_t arguments[6])
{
	const uint64_t step = visitor->step_bytes, begin = w->at / step * step;

	window_arguments(b, w, units, arguments);
	arguments[visitor->count_argument] = (w->at + units * w->shape.step_bytes - begin + step - 1) / step;
	arguments[5] = begin;
}

/* The first array that a visit goes through: where streams store past the caches, only what they read is in them. */
static unsigned first_visited(const struct row *r, const struct working_set *w)
{
	return r->prepare == PREPARE_READ && w->kernel->stores && w->kernel->loads;
}

/* Visits each line of what so many iterations of a stream go through. */
static enum status visit_stream(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, struct window *out, struct job *job)
{
	const struct kernel *visitor = kernel_find(window_visitor(r, w->kernel));
	const unsigned past = first_visited(r, w);
	uint64_t arguments[6];
	enum status st = visitor ? ST_OK : ST_BROKEN;

	if (visitor)
		window_visit_arguments(b, w, visitor, units, arguments);
	for (unsigned array = past; array < (past ? w->shape.arrays : 1) && st == ST_OK; array++) {
		arguments[0] = arguments[array];
		st = window_run(b, visitor, arguments, NULL, 0, out, job);
	}
	if (st == ST_OK)
		w->at = out->result;
	return st;
}

/* What so many iterations of a stream come to leaves the caches, but for an array that is written past them. */
static enum status flush_stream(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, struct window *out, struct job *job)
{
	const struct kernel *flush = kernel_find("k_warm_flush");
	uint64_t arguments[6];
	enum status st = flush ? ST_OK : ST_BROKEN;

	if (flush)
		window_visit_arguments(b, w, flush, units, arguments);
	for (unsigned array = first_visited(r, w); array < w->shape.arrays && st == ST_OK; array++) {
		arguments[0] = w->map.va + w->shape.start_bytes + array * (w->shape.array_bytes + w->shape.skew_bytes);
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
	window_visit_arguments(b, w, flush, held / step, arguments);
	return window_run(b, flush, arguments, NULL, 0, &ignored, job);
}

/* Visits lines in memory: none of them is in a cache, else those that an earlier row modified would stay so. */
static enum status visit_memory(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, struct window *out, struct job *job)
{
	const enum status st = flush_stream(b, r, w, units, out, job);

	return st == ST_OK ? visit_stream(b, r, w, units, out, job) : st;
}

/* Whether the last level has lost some of what came 5/8 of `units` ago: then replacement there is by chance, or by a tree whose ways were
 * empty and filled one by one: it gives up the first line, then the one that came when half of the ways were full, and only what comes then is given up in the
 * order in which it came. Twice as much as the level below holds is read, and read again: the second time all of it comes from the last level. Before, as
 * much behind it, which pushes nothing out: what the level below had modified is gone then. `filled`: what the visit took, 0 unknown; where memory is
 * as fast as the level for such a stream, neither tells. */
static enum status look_at_last_level(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, uint64_t filled, struct job *job)
{
	const struct kernel *visitor = kernel_find(window_visitor(r, w->kernel));
	const struct cpu_cache *below = cpu_cache(b->cpu, cpu_last_level(b->cpu) - 1);
	const unsigned first = first_visited(r, w);
	const uint64_t step = w->shape.step_bytes, again = below ? 2 * below->bytes / step / (w->shape.arrays - first) : 0;
	uint64_t took[3] = { 0 }, arguments[6];
	enum status st = visitor ? ST_OK : ST_BROKEN;
	struct window part;

	if (!visitor || !again || 4 * again > units)
		return st;
	window_visit_arguments(b, w, visitor, again, arguments);
	for (unsigned visit = 0; visit < 3; visit++) {
		arguments[5] = (w->at - (units / 8 * 5 - (visit ? 0 : again)) * step) & (w->shape.array_bytes - 1) & ~(uint64_t)(visitor->step_bytes - 1);
		for (unsigned array = first; array < (first ? w->shape.arrays : 1) && st == ST_OK; array++) {
			arguments[0] = w->map.va + w->shape.start_bytes + array * (w->shape.array_bytes + w->shape.skew_bytes);
			st = window_run(b, visitor, arguments, NULL, 0, &part, job);
			took[visit] += part.tsc;
		}
	}
	/* One that takes what the level below gives up gave away what was asked for: until that has come back into its gaps, what windows
	 * bring in pushes nothing out. */
	if (st == ST_OK && !cpu_cache(b->cpu, cpu_last_level(b->cpu))->inclusive)
		st = visit_stream(b, r, w, again, &part, job);
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

/* Writes what the buffer is to hold, and brings its lines near. */
static enum status prepare_pair(struct bench *b, struct working_set *w, struct job *job)
{
	const struct kernel *touch = kernel_find("k_touch");
	uint64_t arguments[6] = { w->map.va, w->shape.bytes / w->shape.line_bytes, w->shape.line_bytes };
	struct window ignored;

	uint64_t before = 0;

	/* A turn: the other code of the pair may have pushed it out of the L1I. Of lines that are to come from the L2 a second one: the first line was still
	 * in the L1I, where the L2 had given it up for the other code's. One of many lines until it gets no shorter: an L2 that replaces at random loses some of
	 * these as the others come. */
	for (unsigned turn = 0; w->code && turn < VISITS_MAX; turn++) {
		enum status st = window_units(b, w, w->pair->events, NULL, 0, &ignored, job);

		if (st != ST_OK)
			return st;
		if (w->code == CODE_LINES_L2 && !turn)
			continue;
		if ((w->code != CODE_PAGES_WALK && w->code != CODE_PAGES_WALK_BASE) || (turn && ignored.tsc >= before - before / SETTLED_PART))
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

/* Flushed whole, a small one; a baseline's array is gone through again. */
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

/* A level that does not replace the oldest takes several visits to give up what it held before. While a few lines are missing, those that
 * come push others out, and a visit may take as long as the one before: a stream's are over when three are alike. *before: what the last one took, 0: none. */
static enum status visit_until_there(struct bench *b, struct working_set *w, const struct row *r, uint64_t units, uint64_t *before, struct job *job)
{
	const bool stream = w->shape.order == ORDER_STREAMS;
	enum status st = ST_OK;
	struct window took;

	for (unsigned visit = 0, alike = 0; visit < (stream ? VISITS_STREAM : VISITS_MAX) && alike < (stream ? 2 : 1) && st == ST_OK; visit++) {
		st = stream ? visit_stream(b, r, w, units, &took, job) : window_units(b, w, units, NULL, 0, &took, job);
		const bool shorter = took.tsc < *before - *before / SETTLED_PART, longer = took.tsc > *before + *before / SETTLED_PART;

		alike = !*before || shorter || (stream && longer) ? 0 : alike + 1;
		*before = took.tsc;
	}
	return st;
}

enum status window_prepare(struct bench *b, const struct row *r, struct working_set *w, bool test, uint64_t units,
                           struct job *job)
{
	const struct kernel *flush = kernel_find("k_flush_chain");
	struct window ignored;

	if (test && cores_wanted(r))
		return cores_prepare(b, r, w, units, job);
	if (w->shape.order == ORDER_STREAMS)
		return prepare_stream(b, r, w, test, job);
	if ((test || r->baseline == BASELINE_OPEN_PAGES) && r->prepare == PREPARE_FLUSH) {
		uint64_t arguments[6] = { w->at, units };
		enum status st = flush ? window_run(b, flush, arguments, NULL, 0, &ignored, job) : ST_BROKEN;

		/* The second time all of them come from memory: rows are open as these lines leave them, whatever a cache had lost of
		 * them or another window opened. */
		if (st == ST_OK && w->shape.order == ORDER_OPEN_PAGES)
			st = window_run(b, flush, arguments, NULL, 0, &ignored, job);
		return st;
	}
	if (w->shape.order == ORDER_PAIR)
		return prepare_pair(b, w, job);
	if (test && r->target == TARGET_DRAM)
		return ST_OK;
	if (r->target == TARGET_STLB) { /* the L2 has both rings, and chance which lines of the one the other's have pushed out of it */
		uint64_t before = 0;

		return visit_until_there(b, w, r, w->shape.nodes, &before, job);
	}
	units = (uint64_t)w->shape.nodes * REFRESH_VISITS;
	if (units > REFRESH_LOADS_MAX)
		units = REFRESH_LOADS_MAX;
	return window_units(b, w, units, NULL, 0, &ignored, job);
}

enum status window_warm_up(struct bench *b, const struct row *r, struct working_set *w, bool test, struct job *job)
{
	const struct cpu_cache *last = cpu_cache(b->cpu, cpu_last_level(b->cpu)), *below = cpu_cache(b->cpu, cpu_last_level(b->cpu) - 1);
	struct window ignored;
	enum status st = ST_OK;
	uint64_t units, before = 0;
	/* of a stream, an iteration: all arrays but the one that is written; that one where there is no other, so that no
	 * modified line of an earlier row is left in the caches */
	uint64_t read = w->kernel->data_bytes - (w->kernel->loads && w->kernel->stores ? w->kernel->step_bytes : 0);

	if (w->shape.order == ORDER_PAIR)
		return ST_OK;
	if ((test || r->baseline == BASELINE_OPEN_PAGES) && (r->prepare == PREPARE_FLUSH || cores_wanted(r)))
		return ST_OK;
	if (w->shape.order != ORDER_STREAMS)
		/* A chase beyond all caches needs no visit: what preparing it left cached is its oldest part. */
		units = r->target == TARGET_DRAM && test ? 0 : w->shape.nodes;
	else if (r->prepare == PREPARE_FILL)
		/* 4/3 of the last level: from then on it gives back a modified line for each that comes in. What the level below keeps from
		 * one that takes what that one gives up comes on top. */
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

		st = visit_memory(b, r, w, units, &ignored, job);
		if (st == ST_OK)
			st = window_fills(b, r, w, units, ignored.tsc * (first_visited(r, w) ? w->shape.arrays - 1 : 1), &more, job);
		/* What was looked at came out of its turn: until it is given up its sets give up modified lines as other arrays' come. */
		if (b->last_asked != asked && !more && r->prepare == PREPARE_FILL && 2 * units + ROUNDS_OF_WINDOWS * (2ull * w->shorter + w->window) <= lap && st == ST_OK)
			st = visit_stream(b, r, w, units / 4 * 3, &ignored, job);
		/* Where an array begins anew, lines that are given up come from its end, in other rows of memory: windows stay before that. */
		while (more && (1 + more) * units + again + ROUNDS_OF_WINDOWS * (2ull * w->shorter + w->window) > lap)
			more--;
		for (unsigned fill = 0; fill < more && st == ST_OK; fill++)
			st = visit_memory(b, r, w, units, &ignored, job);
		/* Arrays one after the other are not in each set as often, and what an earlier row left of them pushes nothing out. */
		if (again && st == ST_OK)
			st = visit_memory(b, r, w, again, &ignored, job);
		/* Behind a lap windows would find some of what the first visit brought in. */
		if (st == ST_OK && (1 + more) * units + again + AHEAD_OF_WINDOWS > lap && lap > units + again)
			st = flush_stream(b, r, w, lap - units - again < AHEAD_OF_WINDOWS ? lap - units - again : AHEAD_OF_WINDOWS, &ignored, job);
		return st;
	}
	st = visit_until_there(b, w, r, units, &before, job);
	/* What the windows themselves bring in pushes lines of the stream out of a level that does not replace the oldest. */
	if (w->shape.order == ORDER_STREAMS && r->target != TARGET_L1 && st == ST_OK && (st = window_units(b, w, w->window, NULL, 0, &ignored, job)) == ST_OK)
		st = visit_until_there(b, w, r, units, &before, job);
	return st;
}

/* --- setting up -------------------------------------------------------------------------------- */

/* From any node on to the first one of the first page: windows begin and end with a page, of the DRAM too. */
static void go_to_first_page(struct working_set *w)
{
	uint64_t before;

	do {
		before = w->at;
		w->at = *(uint64_t *)mapping_at(&w->map, before - w->map.va);
	} while (before - w->map.va < PAGE_4K || w->at - w->map.va >= PAGE_4K);
}

#define CODE_STRIDE 0x10000000ull /* of the code of test and baseline in WINDOW_SCRATCH */
static enum status map_working_set(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out)
{
	uint64_t page = w->shape.page_bytes;
	bool large_pages = w->shape.order == ORDER_PAGES; /* what the row is about: no other will do */
	bool wide = out->row->order == ORDER_PAGES && page > PAGE_4K; /* its baseline keeps as far away */
	enum status st;

	for (;;) {
		memset(&w->map, 0, sizeof(w->map));
		w->map.va = WINDOW_DATA + slot * (wide ? LARGE_SPAN_MAX : PAGE_1G);
		w->map.page_bytes = page;
		w->map.node = cores_node(b, out->row->node);
		w->map.repeats = large_pages && page > PAGE_4K && w->shape.spread_pages == 1 && w->shape.nodes <= page / w->shape.line_bytes;
		w->map.bytes = (w->shape.span_bytes + page - 1) / page * page;
		st = b->a->ops->map(b->a->self, &w->map);
		if (st != ST_UNSUPPORTED || page == PAGE_4K || large_pages)
			break;
		page = PAGE_4K;
		str_copy(out->remark, sizeof(out->remark), "4 KiB pages: no 2 MiB pages to be had; TLB misses are in it");
	}
	if (large_pages && page > PAGE_4K && (st == ST_UNSUPPORTED || st == ST_FULL)) {
		str_copy(out->reason, sizeof(out->reason), st == ST_FULL ? "not so much memory" : "no pages of that size to be had");
		return ST_UNSUPPORTED;
	}
	w->mapped = st == ST_OK;
	return st;
}


/* Lines of code that are to come from the L3 leave the caches of data, where writing them or an earlier row has left them: what an L1D
 * still has no L2 gives up to a last level that is not inclusive, and code would come from memory each time. */
static enum status flush_code(struct bench *b, const struct working_set *w)
{
	const struct kernel *flush = kernel_find("k_flush");
	uint64_t from, count, step;
	enum status st = ST_OK;

	for (uint32_t set = 0; st == ST_OK && code_lines_of_set(w->code, b->cpu, set, &from, &count, &step); set++) {
		const uint64_t arguments[6] = { w->code_map.va + from, count, step };
		struct window ignored;
		struct job job;

		st = flush ? window_run(b, flush, arguments, NULL, 0, &ignored, &job) : ST_BROKEN;
	}
	return st;
}

/* Maps and writes the code of a pair. Far-apart lines are to miss caches and no TLB: they get large pages. */
static enum status write_code(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out)
{
	bool large = w->code == CODE_LINES_L2 || w->code == CODE_LINES_L3 || w->code == CODE_LINES_BASE || w->code == CODE_LINES_FAR_BASE;
	uint64_t bytes = 0, page = large ? PAGE_2M : PAGE_4K;
	enum status st = code_span(w->code, b->cpu, &bytes, out->reason, sizeof(out->reason));

	if (st != ST_OK)
		return st;
	for (;;) {
		memset(&w->code_map, 0, sizeof(w->code_map));
		w->code_map.va = WINDOW_SCRATCH + slot * CODE_STRIDE;
		w->code_map.page_bytes = page;
		w->code_map.bytes = (bytes + page - 1) / page * page;
		w->code_map.executable = true;
		st = b->a->ops->map(b->a->self, &w->code_map);
		if (st != ST_UNSUPPORTED || page == PAGE_4K)
			break;
		page = PAGE_4K;
		str_copy(out->remark, sizeof(out->remark), "4 KiB pages: no 2 MiB pages to be had; ITLB misses may be in it");
	}
	w->code_mapped = st == ST_OK;
	if (st == ST_OK)
		code_write(w->code, b->cpu, &w->code_map);
	return st == ST_OK ? flush_code(b, w) : st;
}

enum status window_set_up(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out)
{
	uint32_t *work;
	size_t bytes = 2 * sizeof(uint32_t) * (size_t)w->shape.nodes;
	enum status st;

	if (w->code && (st = write_code(b, w, slot, out)) != ST_OK)
		return st;
	if (w->shape.order == ORDER_PAIR && !w->shape.bytes)
		return ST_OK;
	st = map_working_set(b, w, slot, out);
	if (st != ST_OK || w->shape.order == ORDER_STREAMS || w->shape.order == ORDER_PAIR)
		return st;
	work = b->host->get(b->host->self, bytes);
	if (!work)
		return ST_FULL;
	shape_link(&w->shape, &w->map, &b->random, work);
	b->host->put(b->host->self, work, bytes);
	/* Any node is on the cycle; the first line of consecutive nodes is one. */
	w->at = w->map.va + w->shape.start_bytes;
	if (w->shape.order == ORDER_OPEN_PAGES && w->shape.bytes > PAGE_4K)
		go_to_first_page(w);
	/* Its beginning may be what an earlier row left in a large L3, its end what linking it did: from a region's first node the
	 * cycle goes on into the next region, here into the middle one. */
	if (w->shape.order == ORDER_REGIONS && w->shape.region_nodes)
		w->at += (w->shape.nodes / 2 / w->shape.region_nodes - 1) * (uint64_t)w->shape.region_nodes * w->shape.line_bytes;
	if (w->shape.order == ORDER_SPARSE)
		for (uint64_t offset = 0; offset < w->map.bytes; offset += w->shape.line_bytes)
			if (*(uint64_t *)mapping_at(&w->map, offset)) {
				w->at = *(uint64_t *)mapping_at(&w->map, offset);
				break;
			}
	return ST_OK;
}
