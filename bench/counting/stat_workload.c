/* bench/counting/stat_workload.c: see stat_workload.h. */
#include "bench/counting/stat_workload.h"
#include "bench/catalogue/names.h"
#include "bench/multicore/multicore_buffers.h"
#include "bench/measure/vector_width.h"

#define IDLE_ITERATIONS 65536u
#define SLOT_OF_OTHERS  16u    /* first GiB slot of the data space for working sets of further cores: loop_begin uses 0 and 1 */

/* --- lookup ------------------------------------------------------------------------------------ */

/* A row's name, with or without its kind: "triad.dram_all" for "triad.dram_all.bandwidth". */
static const struct row *row_named(const char *name)
{
	const size_t n = str_length(name);

	for (unsigned i = 0; i < rows_count; i++) {
		const char *known = rows[i].name;
		size_t last = str_length(known);

		while (last && known[last - 1] != '.')
			last--;
		if (names_equal(name, n, known) || (last > 1 && last - 1 == n && names_equal(known, n, name)))
			return &rows[i];
	}
	return NULL;
}

static enum status unknown(const char *name, struct text *problem)
{
	struct nearest near;

	nearest_init(&near, name, str_length(name));
	nearest_try(&near, "", "idle");
	for (unsigned k = 0; k < WORK_KINDS; k++)
		nearest_try(&near, "account.", work_name(k));
	for (unsigned i = 0; i < rows_count; i++)
		nearest_try(&near, "", rows[i].name);
	text_fmt(problem, "workload \"%s\": neither idle, account.NAME nor a row", name);
	nearest_text(&near, problem);
	return ST_MISSING;
}

static enum status choose(struct stat_workload *w, const char *name, struct text *problem)
{
	w->unit = "iteration";
	if (str_equal(name, "idle")) {
		w->kind = STAT_IDLE;
		w->name = "idle";
		w->units = IDLE_ITERATIONS;
		return ST_OK;
	}
	for (unsigned k = 0; k < WORK_KINDS; k++)
		if (str_starts(name, "account.") && names_equal(name + 8, str_length(name) - 8, work_name(k))) {
			w->kind = STAT_WORK;
			w->name = work_name(k);
			w->units = work_iterations(k);
			w->works = w->b->host->get(w->b->host->self, STAT_CORES_MAX * sizeof(*w->works));
			return w->works ? ST_OK : ST_FULL;
		}
	w->row = row_named(name);
	if (!w->row)
		return unknown(name, problem);
	w->name = w->row->name;
	w->kind = w->row->order == ORDER_MULTICORE ? STAT_STREAMS : STAT_ROW;
	w->unit = w->row->order == ORDER_STREAMS || w->kind == STAT_STREAMS ? "iteration" : w->row->pair ? "event" : "load";
	if (w->kind == STAT_STREAMS || row_is_of_loop(w->row))
		return ST_OK;
	text_fmt(problem, "workload %s: %s", w->name, w->row->order == ORDER_CURVE ? "each point of a curve has code of its own" :
	         "its points are several kernels, or pairs of cores");
	return ST_UNSUPPORTED;
}

/* --- rows -------------------------------------------------------------------------------------- */

/* Each core in turn acts as the measuring core while its working set is mapped and prepared. */
static enum status open_set(struct stat_workload *w, unsigned i)
{
	struct bench *b = w->b;
	enum status st;

	b->core = w->cores[i];
	if (w->row->prefetch == PREFETCH_OFF)
		w->switched[i] = prefetchers_off(b, &w->prefetchers[i]);
	if (i == 0) {
		if (!loop_begin(&w->loop, b, w->row, LOOP_TEST_ALONE, &w->result))
			return ST_UNSUPPORTED;
		w->sets[0] = w->loop.sets[0];
		st = ST_OK;
	} else {
		w->sets[i] = w->loop.sets[0];
		const unsigned slots = (unsigned)((w->sets[i].shape.span_bytes + PAGE_1G - 1) / PAGE_1G);

		w->sets[i].mapped = w->sets[i].code_mapped = false;
		st = window_set_up(b, &w->sets[i], SLOT_OF_OTHERS + i * slots, &w->result);
	}
	return st == ST_OK ? window_warm_up(b, w->row, &w->sets[i], WINDOW_TEST, &w->job) : st;
}

static enum status open_row(struct stat_workload *w, struct text *problem)
{
	const unsigned core = w->b->core;
	enum status st = ST_OK;

	w->sets = w->b->host->get(w->b->host->self, STAT_CORES_MAX * sizeof(*w->sets));
	if (!w->sets)
		return ST_FULL;
	if (!row_begin(w->b, w->row, &w->result))
		st = ST_UNSUPPORTED;
	for (unsigned i = 0; i < w->count && st == ST_OK; i++)
		st = open_set(w, i);
	w->b->core = core;
	w->units = w->sets[0].shorter + (w->sets[0].window == w->sets[0].shorter ? 0 : w->sets[0].window);
	if (st != ST_OK)
		text_fmt(problem, "workload %s: %s", w->name, w->result.reason[0] ? w->result.reason : status_name(st));
	return st;
}

static enum status open_streams(struct stat_workload *w, const char *cores, struct text *problem)
{
	struct multicore *c = &w->streams;
	struct shape s;
	enum status st = multicore_begin(c, w->b, w->row);

	if (!row_begin(w->b, w->row, &w->result))
		st = ST_UNSUPPORTED;
	if (cores && cores[0]) {
		for (c->count = 0; c->count < w->count; c->count++)
			c->members[c->count].core = w->cores[c->count];
	} else if (st == ST_OK) {
		multicore_everybody(c);
	}
	c->at_once = c->count;
	w->count = c->count;
	for (unsigned i = 0; i < c->count; i++)
		w->cores[i] = c->members[i].core;
	multicore_start_offsets(c);
	if (st == ST_OK)
		st = multicore_shape(c, c->count, &s, &w->result);
	for (unsigned i = 0; i < c->count && st == ST_OK; i++) {
		struct working_set *set = &c->members[i].set;

		set->shape = s;
		set->kernel = kernel_choose(w->row, w->b->cpu, w->b->kernels);
		multicore_stagger_arrays(c, i, multicore_sharers(c, c->count, TARGET_DRAM), set);
		st = multicore_map(c, i, w->b->a->core_node ? w->b->a->core_node[c->members[i].core] : 0, &w->result);
	}
	if (st == ST_OK)
		st = multicore_warm_up(c, 0, c->count);
	if (st == ST_OK)
		st = multicore_width_choose(c, c->count, &w->result);
	if (st == ST_OK) {
		w->units = (uint64_t)multicore_window(c) * multicore_times(w->row);
		c->pair_bytes = c->moves ? w->units * c->members[0].set.shape.step_bytes : c->pair_bytes;
	} else {
		text_fmt(problem, "workload %s: %s", w->name, w->result.reason[0] ? w->result.reason : status_name(st));
	}
	return st;
}

/* --- all kinds --------------------------------------------------------------------------------- */

/* The cores of the list, or the measuring one. The first of them is the measuring one from here on. */
static enum status choose_cores(struct stat_workload *w, const char *cores, struct text *problem)
{
	const struct access *a = w->b->a;
	char why[160];
	struct cpuset set;

	if (!cores || !cores[0]) {
		w->cores[0] = w->b->core;
		w->count = 1;
		return ST_OK;
	}
	if (cpuset_cores(a, cores, &set, why, sizeof(why)) != ST_OK) {
		text_fmt(problem, "%s", why);
		return ST_RANGE;
	}
	for (unsigned i = 0; i < a->cores && i < CORES_MAX; i++) {
		if (set.core[i] && w->count == STAT_CORES_MAX) {
			text_fmt(problem, "cores: at most %u count at once; choose them", STAT_CORES_MAX);
			return ST_RANGE;
		}
		if (set.core[i])
			w->cores[w->count++] = i;
	}
	w->b->core = w->cores[0];
	return ST_OK;
}

enum status stat_workload_open(struct stat_workload *w, struct bench *b, const char *name, const char *cores, struct text *problem)
{
	const struct suite_host *host = b->host;
	enum status st;

	memset(w, 0, sizeof(*w));
	w->b = b;
	w->measuring = b->core;
	w->jobs = host->get(host->self, STAT_CORES_MAX * sizeof(*w->jobs));
	w->windows = host->get(host->self, STAT_CORES_MAX * sizeof(*w->windows));
	w->prefetchers = host->get(host->self, STAT_CORES_MAX * sizeof(*w->prefetchers));
	w->switched = host->get(host->self, STAT_CORES_MAX * sizeof(*w->switched));
	st = w->jobs && w->windows && w->prefetchers && w->switched ? choose(w, name, problem) : ST_FULL;
	if (st == ST_OK)
		st = choose_cores(w, cores, problem);
	if (st == ST_OK && w->kind == STAT_ROW)
		st = open_row(w, problem);
	else if (st == ST_OK && w->kind == STAT_STREAMS)
		st = open_streams(w, cores, problem);
	for (unsigned i = 0; st == ST_OK && w->kind == STAT_WORK && i < w->count; i++) {
		unsigned k = 0;

		while (!str_equal(work_name(k), w->name))
			k++;
		st = work_open(&w->works[i], b, k, w->cores[i], i ? SLOT_OF_OTHERS + i : 0);
	}
	if (st != ST_OK && !problem->length)
		text_fmt(problem, "workload %s: %s", name, status_name(st));
	return st;
}

static enum status prepare_streams(struct stat_workload *w)
{
	struct multicore *c = &w->streams;
	enum status st = ST_OK;

	for (unsigned i = 0; i < c->count && c->moves; i++)
		c->members[i].set.at = multicore_start_offset(c, i, w->windows_run);
	c->pairs = c->moves && c->pairs <= w->windows_run ? w->windows_run + 1 : c->pairs;
	if (c->starts_bytes)
		st = multicore_lead(c, c->count);
	for (unsigned i = 0; i < c->count; i++) /* multicore_lead has set other units */
		c->members[i].units = w->units;
	return st == ST_OK && w->row->target == TARGET_DRAM ? multicore_flush(c, c->count) : st;
}

enum status stat_workload_prepare(struct stat_workload *w)
{
	const unsigned core = w->b->core;
	enum status st = ST_OK;

	if (w->kind == STAT_STREAMS)
		return prepare_streams(w);
	for (unsigned i = 0; i < w->count && st == ST_OK && w->kind == STAT_WORK; i++)
		st = work_prepare(&w->works[i], w->units, &w->job);
	for (unsigned i = 0; i < w->count && st == ST_OK && w->kind == STAT_ROW; i++) {
		w->b->core = w->cores[i];
		st = window_prepare(w->b, w->row, &w->sets[i], WINDOW_TEST, w->units, &w->job);
	}
	w->b->core = core;
	return st;
}

static enum status load(struct stat_workload *w, unsigned i, const struct counting *c)
{
	const struct kernel *k = NULL;
	uint64_t arguments[6] = { w->units };

	if (w->kind == STAT_IDLE) {
		k = kernel_find("k_nop");
	} else if (w->kind == STAT_WORK) {
		k = w->works[i].kernel;
		work_arguments(&w->works[i], w->units, arguments);
	} else {
		const unsigned core = w->b->core;

		k = w->sets[i].kernel;
		w->b->core = w->cores[i];
		window_arguments(w->b, &w->sets[i], w->units, arguments);
		w->b->core = core;
	}
	return k ? window_load(w->b, w->cores[i], k, arguments, c, 0, &w->jobs[i]) : ST_BROKEN;
}

enum status stat_workload_window(struct stat_workload *w, const struct counting *c)
{
	enum status st = ST_OK;

	if (w->kind == STAT_STREAMS) {
		bool together;

		w->streams.counting = *c;
		st = multicore_run(&w->streams, w->count, c->on ? MULTICORE_COUNTED : MULTICORE_UNCOUNTED, &together);
		for (unsigned i = 0; i < w->count && st == ST_OK; i++)
			w->windows[i] = w->streams.members[i].window;
	} else {
		for (unsigned i = 0; i < w->count && st == ST_OK; i++)
			st = load(w, i, c);
		if (st == ST_OK)
			st = w->b->a->ops->run(w->b->a->self, w->jobs, w->count, 0);
		for (unsigned i = 0; i < w->count && st == ST_OK; i++) {
			window_read(w->b, w->cores[i], c, 0, &w->windows[i]);
			if (w->kind == STAT_WORK)
				work_goes_on(&w->works[i], w->windows[i].result);
			else if (w->kind == STAT_ROW)
				w->sets[i].at = w->windows[i].result;
		}
	}
	w->windows_run++;
	return st;
}

enum status stat_workload_warm_up(struct stat_workload *w, const struct counting *c)
{
	const enum status st = stat_workload_prepare(w);

	return st == ST_OK ? stat_workload_window(w, c) : st;
}

uint64_t stat_workload_ticks(const struct stat_workload *w)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < w->count; i++)
		most = w->windows[i].tsc > most ? w->windows[i].tsc : most;
	return most;
}

static void worst(enum status *st, enum status one)
{
	if (*st == ST_OK)
		*st = one;
}

static void close_set(struct stat_workload *w, unsigned i, enum status *st)
{
	const struct access *a = w->b->a;

	w->b->core = w->cores[i];
	if (i && w->sets[i].code_mapped)
		worst(st, a->ops->unmap(a->self, &w->sets[i].code_map));
	if (i && w->sets[i].mapped)
		worst(st, a->ops->unmap(a->self, &w->sets[i].map));
	if (w->switched[i] && !prefetchers_back(w->b, w->prefetchers[i]))
		worst(st, ST_IO);
}

enum status stat_workload_close(struct stat_workload *w)
{
	const struct suite_host *host = w->b->host;
	const unsigned core = w->b->core;
	enum status st = ST_OK;

	if (w->sets) {
		if (w->sets[0].mapped && w->row)
			worst(&st, window_leave(w->b, w->row, &w->sets[0], &w->job));
		for (unsigned i = 0; i < w->count; i++)
			close_set(w, i, &st);
		w->b->core = core;
		if (w->loop.b)
			loop_end(&w->loop, &w->result);
		host->put(host->self, w->sets, STAT_CORES_MAX * sizeof(*w->sets));
	}
	if (w->streams.b)
		worst(&st, multicore_end(&w->streams));
	for (unsigned i = 0; i < w->count && w->works; i++)
		if (w->works[i].b)
			worst(&st, work_close(&w->works[i]));
	if (w->works)
		host->put(host->self, w->works, STAT_CORES_MAX * sizeof(*w->works));
	if (w->jobs)
		host->put(host->self, w->jobs, STAT_CORES_MAX * sizeof(*w->jobs));
	if (w->windows)
		host->put(host->self, w->windows, STAT_CORES_MAX * sizeof(*w->windows));
	if (w->prefetchers)
		host->put(host->self, w->prefetchers, STAT_CORES_MAX * sizeof(*w->prefetchers));
	if (w->switched)
		host->put(host->self, w->switched, STAT_CORES_MAX * sizeof(*w->switched));
	w->b->core = w->measuring;
	return st;
}
