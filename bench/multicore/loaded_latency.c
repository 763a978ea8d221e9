/* bench/multicore/loaded_latency.c: one core measures while others work until it has finished: loaded latency, false sharing.
 *
 * The others' kernel ends when the measuring core has written a new token to a flag, and after a fixed number of iterations in any case, so that
 * a lost core cannot hang the rest. */
#include "bench/multicore/multicore.h"
#include "bench/catalogue/series.h"
#include "bench/uncore/latency_loaded.h"

#define ROUNDS_SIMULATED 3u
#define ROUNDS 15u
/* Under light load a load rarely waits, and by chance. The longer window covers the whole ring, and each round's shorter one skips the next part, so
 * that every node counts equally often, alone and loaded. */
#define LIGHT_TIMES 4u            /* longer window over shorter one */
#define LIGHT_MOST 8u             /* multiple of the rounds, at most, until the mean is accurate: */
#define LIGHT_SURE 400            /* its standard error is at most 1/N; of some hundred cycles that is about LEAST_MILLI, the tolerance of the value */
#define ROUNDS_FACTOR 2u
#define WINDOW_SCALE 16u          /* real cores take some hundred ns to start together */
#define INJECTED_BYTES 0x100000u  /* of each other core's array on a simulated machine: more than it reads in a window */
#define CAP_ITERATIONS 0x1000000u /* of kernels that a flag stops; fewer on a simulated machine */
#define CAP_SIMULATED 0x10000u
#define SPECULATED 32u            /* iterations of k_inject that a reorder buffer may have begun beyond the last */
#define LEAST_MILLI 500           /* tolerance of a value */
#define LINE_SLOT_BYTES PAGE_4K
#define FLAG_AT 1024u             /* in the page that holds flag and shared line */
#define OTHER_LINE 512u                /* another line than the shared one */

/* Iterations of k_inject's delay, some 12 cycles each, between 256 bytes of the other cores; the first point has no other cores. */
static const uint32_t delays[] = { 86, 22, 6, 1 };

struct loaded {
	struct multicore cores;
	struct mapping page;      /* holds flag and shared line */
	bool page_mapped;
	uint32_t token;
	uint32_t window;
	int64_t tick_micro;       /* core cycles per TSC tick, in millionths, if there is no cycle counter */
	int64_t events_micro[ROW_EVENTS_MAX]; /* of the last point, a load or an addition */
	uint64_t rejected;
	bool came_round;          /* others wrapped round their arrays within a window */
	const char *chase;        /* kernel of the measuring core */
};

static const struct kernel *stopped_by_flag(struct loaded *l, struct member *m, const char *kernel)
{
	m->kernel = kernel_find(kernel);
	m->arguments[2] = l->page.va + FLAG_AT;
	return m->kernel;
}

static uint64_t cap_of(const struct bench *b)
{
	return b->a->kind == ACCESS_SIM ? CAP_SIMULATED : CAP_ITERATIONS;
}

/* Cycles of the first member's latest window. */
static int64_t cycles_of(const struct loaded *l)
{
	const struct window *w = &l->cores.members[0].window;

	return l->cores.counting.on ? (int64_t)w->counts[0] : mul_div((int64_t)w->tsc, l->tick_micro, 1000000);
}

static unsigned wanted_rounds(const struct bench *b)
{
	return b->repetitions ? b->repetitions : b->a->kind == ACCESS_SIM ? ROUNDS_SIMULATED : ROUNDS;
}

/* --- latency under load -------------------------------------------------------------------------- */

/* The measuring core's window of that many loads, with n - 1 others at work. *rate: bytes per second that these read. */
static enum status loaded_window(struct loaded *l, unsigned n, uint32_t delay, uint64_t loads, bool *together, int64_t *rate)
{
	struct multicore *c = &l->cores;
	struct member *m = &c->members[0];
	const struct kernel *flush = kernel_find("k_flush_chain");
	const uint64_t arguments[6] = { m->set.at, loads };
	struct window ignored;
	enum status st = flush ? window_run(c->b, flush, arguments, NULL, 0, &ignored, &c->jobs[0]) : ST_BROKEN;

	l->token++;
	for (unsigned i = 1; i < n && st == ST_OK; i++) {
		struct working_set *w = &c->members[i].set;
		const uint64_t read = c->members[i].units * w->shape.step_bytes; /* bytes read since the flush */
		/* a random start: with a fixed one, all windows would share the chance that cores walk the same DRAM banks in step, or not */
		const uint64_t from = c->members[i].arguments[5], upto = w->shape.array_bytes - from < read ? w->shape.array_bytes - from : read;
		const uint64_t again[2][6] = { { w->map.va + from, upto / w->shape.line_bytes, w->shape.line_bytes },
		                               { w->map.va, (read - upto) / w->shape.line_bytes, w->shape.line_bytes } };

		flush = kernel_find("k_flush");
		st = flush ? ST_OK : ST_BROKEN;
		for (unsigned part = 0; part < 2 && st == ST_OK; part++)
			if (again[part][1])
				st = window_run_on(c->b, c->members[i].core, flush, again[part], NULL, 0, &ignored, &c->jobs[0]);
		c->members[i].arguments[0] = w->map.va;
		c->members[i].arguments[5] = random_below(&c->b->random, (uint32_t)(w->shape.array_bytes / w->shape.step_bytes)) * w->shape.step_bytes;
		c->members[i].arguments[1] = (uint64_t)l->token << 32 | delay;
		c->members[i].arguments[3] = cap_of(c->b);
		c->members[i].arguments[4] = w->shape.array_bytes - 1;
		c->failed = c->members[i].core;
		if (st == ST_OK && !stopped_by_flag(l, &c->members[i], "k_inject"))
			st = ST_BROKEN;
	}
	if (st == ST_OK && !stopped_by_flag(l, m, l->chase))
		st = ST_BROKEN;
	m->arguments[0] = m->set.at;
	m->arguments[1] = loads / m->set.kernel->loads;
	m->arguments[3] = l->token;
	m->arguments[4] = control_va(c->b->a, m->core);
	c->b->ahead = &m->set.map; /* on all cores, which thus begin together */
	if (st == ST_OK)
		st = multicore_run(c, n, c->counting.on ? MULTICORE_COUNTED : MULTICORE_UNCOUNTED, together);
	c->b->ahead = NULL;
	*rate = 0;
	for (unsigned i = 1; i < n && st == ST_OK; i++) {
		const uint64_t most = c->members[i].set.shape.array_bytes / c->members[i].set.shape.step_bytes, iterations = c->members[i].window.result;

		l->came_round |= iterations > most;
		c->members[i].units = iterations + SPECULATED < most ? iterations + SPECULATED : most;
		c->members[i].touched_bytes = c->members[i].units * c->members[i].set.shape.step_bytes;
		c->members[i].set.at = (c->members[i].arguments[5] + c->members[i].touched_bytes) & (c->members[i].set.shape.array_bytes - 1);
		*rate += mul_div((int64_t)(c->members[i].window.result * c->members[i].set.shape.step_bytes * 1000), (int64_t)c->b->a->tsc_hz,
		                 c->members[i].window.tsc ? (int64_t)c->members[i].window.tsc : 1);
	}
	m->set.at = m->window.result;
	return st;
}

/* No window was usable. No core failed, so the row is noisy. */
static void never_together(const struct loaded *l, struct row_result *out)
{
	out->status = ROW_NOISY;
	out->noisy = true;
	out->rejected = (uint32_t)l->rejected;
	out->series.points = 0;
	str_copy(out->reason, sizeof(out->reason), l->cores.disturbed ? "every run was disturbed" : "the cores never began together");
}

enum load { LOAD_LIGHT, LOAD_ANY, LOAD_HEAVY };

/* One point: latency in thousandths of a cycle, and its deviation. *samples 0: in no window did the cores start together. */
static enum status loaded_point(struct loaded *l, unsigned n, uint32_t delay, enum load load, int64_t *latency, int64_t *spread, int64_t *rate_milli, int64_t *counts,
                                unsigned *samples)
{
	const bool light = load == LOAD_LIGHT;
	struct multicore *c = &l->cores;
	struct bench *b = c->b;
	struct pair *cycles = b->counts[0][0];
	int64_t rates[SAMPLES_MAX];
	const unsigned rounds = wanted_rounds(b), wanted = light ? (rounds + LIGHT_TIMES - 1) / LIGHT_TIMES * LIGHT_TIMES : rounds, times = light ? LIGHT_TIMES : 2;
	const unsigned most = light && !b->repetitions && wanted * LIGHT_MOST <= SAMPLES_MAX ? wanted * LIGHT_MOST : wanted;
	unsigned good = 0;
	struct slope slope;
	enum status st = ST_OK;

	/* further rounds while the mean is unsure, each covering the ring equally */
	for (unsigned round = 0; round < 1 + most * ROUNDS_FACTOR && (good < wanted || (good < most && (good % LIGHT_TIMES || !reduce_slope_is_sure(cycles, good, LIGHT_SURE)))); round++) {
		bool together = true;

		st = round ? ST_OK : window_clock_follow(c->b, &c->counting, &c->jobs[0], &l->tick_micro); /* the first round warms up */
		if (st != ST_OK)
			return st;
		for (unsigned longer = 0; longer < 2; longer++) {
			bool this_one;

			st = loaded_window(l, n, delay, (uint64_t)l->window * (longer ? times : 1), &this_one, &rates[good]);
			if (st != ST_OK)
				return st;
			together = together && this_one;
			*(longer ? &cycles[good].longer : &cycles[good].shorter) = cycles_of(l);
			for (unsigned e = 1; c->counting.on && e < c->counting.events; e++)
				*(longer ? &b->counts[0][e][good].longer : &b->counts[0][e][good].shorter) = (int64_t)c->members[0].window.counts[e];
		}
		if (round && together)
			good++;
		else if (round)
			l->rejected++;
	}
	*samples = good;
	if (!good)
		return ST_OK;
	/* Under heavy load one line of the wrapper from memory, in one window, is a fiftieth of a round: the median ignores it. */
	st = reduce_slope(cycles, good, l->window * (times - 1), load == LOAD_HEAVY ? STAT_MEDIAN : STAT_MEAN, &slope);
	*latency = mul_div(slope.value_micro, 1, 1000);
	*spread = mul_div(slope.spread_micro, 1, 1000);
	*rate_milli = reduce_median(rates, good);
	for (unsigned e = 1; st == ST_OK && c->counting.on && e < c->counting.events; e++) {
		st = reduce_slope(b->counts[0][e], good, l->window * (times - 1), STAT_MEDIAN, &slope);
		l->events_micro[e] = slope.value_micro;
	}
	if (st == ST_OK)
		evidence_values(&c->counting, l->events_micro, counts);
	for (unsigned i = 0; st == ST_OK && i < c->counting.proof_count; i++)
		counts[i] = mul_div(counts[i], 1, 1000);
	return st;
}

/* The first member chases; the others are the cores of its socket other than its own threads. */
static enum status loaded_members(struct loaded *l, struct row_result *out)
{
	struct multicore *c = &l->cores;
	const struct bench *b = c->b;
	struct row chase = *c->row;
	unsigned n = 1;
	enum status st;

	multicore_everybody(c);
	for (unsigned i = 0; i < c->count; i++)
		if (b->groups.package[c->members[i].core] == b->groups.package[b->core] && b->groups.core[c->members[i].core] != b->groups.core[b->core])
			c->members[n++].core = c->members[i].core;
	c->members[0].core = b->core;
	c->count = n;
	if (n < 2) {
		str_copy(out->reason, sizeof(out->reason), "no other core of the socket");
		return ST_UNSUPPORTED;
	}
	chase.order = ORDER_SPARSE;
	chase.window = l->window * (LIGHT_TIMES / 2); /* a ring of as many nodes as the longest window loads */
	st = shape_of_test(&chase, b->cpu, &c->members[0].set.shape, out->reason, sizeof(out->reason));
	c->members[0].set.kernel = kernel_find(c->row->kernels[0]);
	c->members[0].set.window = l->window;
	if (st == ST_OK)
		st = window_set_up(c->b, &c->members[0].set, 0, out);
	for (unsigned i = 1; i < n && st == ST_OK; i++) {
		struct shape *s = &c->members[i].set.shape;

		*s = (struct shape){ .order = ORDER_STREAMS, .arrays = 1, .step_bytes = 256, .line_bytes = c->members[0].set.shape.line_bytes,
		                     .page_bytes = PAGE_2M, .array_bytes = INJECTED_BYTES * (b->a->kind == ACCESS_SIM ? 1 : WINDOW_SCALE) };
		s->bytes = s->span_bytes = s->array_bytes;
		c->members[i].units = s->array_bytes / s->step_bytes; /* flushed whole once, whoever wrote it last */
		st = multicore_map(c, i, cores_node(b, NODE_OWN), out);
	}
	return st;
}

static void judge(struct loaded *l, int64_t spread, int64_t scale, const int64_t *counts, const char *unit, struct row_result *out)
{
	const struct counting *c = &l->cores.counting;
	const struct working_set done = { .kernel = l->cores.members[0].kernel };
	const char *noise = "";
	struct text proof, reason;

	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	out->spread_milli = spread;
	out->cycles_milli = out->value_milli;
	out->noisy = reduce_is_noisy(spread, scale, out->samples, STAT_MEDIAN, &noise);
	out->rejected = (uint32_t)l->rejected;
	out->status = ROW_UNPROVEN;
	if (!c->proof_count)
		out->unprovable = evidence_lacking(l->cores.b, c, &reason);
	else if (!evidence_holds(c, counts, unit, &proof))
		out->unprovable = evidence_refutes(c, counts, unit, out->proof, &reason);
	else if (evidence_work_holds(c, &done, l->events_micro, unit, out)) {
		out->status = out->noisy ? ROW_NOISY : ROW_OK;
		text_fmt(&reason, "%s", out->noisy ? noise : "");
	}
	evidence_add_noise(out, noise);
}

/* All points, with that kernel. */
static enum status loaded_by(struct loaded *l, const char *chase, struct row_result *out)
{
	int64_t latency = 0, alone = 0, spread = 0, rate = 0, counts[ROW_PROOFS_MAX] = { 0 };
	unsigned samples = 0;
	enum status st = ST_OK;

	l->chase = out->kernel = chase;
	l->rejected = 0;
	l->came_round = false;
	out->series.points = 0;
	for (unsigned p = 0; p <= COUNT_OF(delays) && st == ST_OK; p++) {
		uint32_t delay = p ? delays[p - 1] : 0;
		const bool last = p == COUNT_OF(delays), light = last && latency < 2 * alone; /* at the point that gives the value */

		st = loaded_point(l, p ? l->cores.count : 1, delay, light ? LOAD_LIGHT : last ? LOAD_HEAVY : LOAD_ANY, &latency, &spread, &rate, counts, &samples);
		if (st == ST_OK && !samples) {
			never_together(l, out);
			return ST_OK;
		}
		if (st == ST_OK && !p)
			alone = latency;
		if (st == ST_OK && light) {
			int64_t again = 0, again_spread, again_rate, again_counts[ROW_PROOFS_MAX];
			unsigned again_samples = 0;

			st = loaded_point(l, 1, delay, LOAD_LIGHT, &again, &again_spread, &again_rate, again_counts, &again_samples);
			alone = again_samples ? again : alone;
		}
		if (st == ST_OK)
			series_add(&out->series, (int64_t[]){ (int64_t)delay * 1000, rate, latency });
	}
	if (st != ST_OK)
		return st;
	out->value_milli = latency - alone;
	out->samples = samples;
	out->footprint_bytes = l->cores.members[0].set.shape.bytes;
	out->page_bytes = l->cores.members[0].set.map.page_bytes;
	judge(l, spread, latency, counts, "load", out);
	return ST_OK;
}

/* A window for the boxes of the uncore, loaded as at the point that gives the value. */
static enum status window_by_boxes(void *self, enum latency_loaded_state state, uint64_t loads, bool *together)
{
	struct loaded *l = self;
	int64_t rate;

	return loaded_window(l, state == LATENCY_ALONE ? 1 : l->cores.count, delays[COUNT_OF(delays) - 1], loads, together, &rate);
}

static enum status loaded(struct loaded *l, struct row_result *out)
{
	static const char *const columns[] = { "delay_turns", "bytes_per_second", "cycles" };
	const char *const *kernels = l->cores.row->kernels;
	enum status st = loaded_members(l, out);

	out->series.columns = columns;
	out->series.column_count = 3;
	if (st == ST_OK)
		st = loaded_by(l, kernels[0], out);
	/* Among 32 loads, a single line of the wrapper that the others have evicted from the last level is too much: then the cold wrapper. Where
	 * they evict none, it would only add DRAM accesses to the windows. */
	if (st == ST_OK && out->status == ROW_UNPROVEN && l->cores.counting.proof_count && kernels[1])
		st = loaded_by(l, kernels[1], out);
	if (st != ST_OK)
		return st;
	if (out->status == ROW_OK && l->came_round) {
		out->status = ROW_UNPROVEN;
		str_copy(out->reason, sizeof(out->reason), "the others came to lines that caches may have held");
	}
	if (out->status == ROW_OK && out->value_milli < -LEAST_MILLI) {
		out->status = ROW_NOISY;
		out->noisy = true;
		str_copy(out->reason, sizeof(out->reason), "the others' loads cost less than windows differ by");
	}
	if (out->samples || l->cores.b->a->dry)
		latency_loaded_count(l->cores.b, &(struct latency_loaded_chase){ window_by_boxes, l, { l->window * LIGHT_TIMES, l->window * 2 }, out->value_milli }, &out->loaded);
	return ST_OK;
}

/* --- two cores that store to one line ------------------------------------------------------------ */

/* A locked addition on the measuring core while another core does the same on that line, or on another line. */
static enum status shared_window(struct loaded *l, bool apart, uint64_t additions, bool *together)
{
	struct multicore *c = &l->cores;

	l->token++;
	if (!stopped_by_flag(l, &c->members[0], "k_share_add") || !stopped_by_flag(l, &c->members[1], "k_share_until"))
		return ST_BROKEN;
	c->members[0].arguments[0] = l->page.va;
	c->members[1].arguments[0] = l->page.va + 8 + (apart ? OTHER_LINE : 0);
	c->members[0].arguments[1] = additions / c->members[0].kernel->loads;
	c->members[1].arguments[1] = cap_of(c->b);
	c->members[0].arguments[3] = c->members[1].arguments[3] = l->token;
	return multicore_run(c, 2, c->counting.on ? MULTICORE_COUNTED : MULTICORE_UNCOUNTED, together);
}

/* Cost of losing a line to the other core: the longer window's time beyond that of the baseline with separate lines, divided by its losses. Two
 * cores settle into one of several rhythms, each with its own number and length of losses, so the slope of two windows would mix two rhythms. */
static enum status loss(struct loaded *l, unsigned rounds, int64_t *counts, struct row_result *out)
{
	const struct counting *c = &l->cores.counting;
	struct bench *b = l->cores.b;
	const int64_t additions = 2 * (int64_t)l->window;
	int64_t each[SAMPLES_MAX], work[SAMPLES_MAX], proved[ROW_PROOFS_MAX][SAMPLES_MAX];
	const bool counted = c->on && c->proof_count;
	unsigned good = 0;

	for (unsigned i = 0; i < rounds; i++) {
		int64_t of_events[ROW_EVENTS_MAX] = { 0 }, values[ROW_PROOFS_MAX] = { 0 };

		for (unsigned e = 0; e < (c->on ? c->events : 1); e++)
			of_events[e] = b->counts[0][e][i].longer - b->counts[1][e][i].longer;
		const int64_t cycles = of_events[0];
		of_events[0] = 0;
		evidence_values(c, of_events, values);
		for (unsigned p = 0; p < c->proof_count; p++)
			proved[p][i] = mul_div(values[p], 1000, additions);
		if (!counted || values[0] > 0)
			each[good++] = mul_div(cycles, 1000, counted ? values[0] : additions);
	}
	for (unsigned p = 0; p < c->proof_count; p++)
		counts[p] = reduce_median(proved[p], rounds);
	if (!counted)
		str_copy(out->remark, sizeof(out->remark), "for each addition: nothing counts how often the line was lost");
	if (!good)
		return ST_OK; /* never lost: the proof says so */
	out->value_milli = reduce_median(each, good);
	out->spread_milli = reduce_mad(each, good, out->value_milli, work);
	return ST_OK;
}

static enum status shared(struct loaded *l, struct row_result *out)
{
	struct multicore *c = &l->cores;
	struct bench *b = c->b;
	unsigned wanted = wanted_rounds(b), good = 0;
	struct slope cycles = { 0 }, count;
	int64_t counts[ROW_PROOFS_MAX] = { 0 };
	enum status st;

	c->members[0].core = b->core;
	if (cores_choose(b, b->core, RELATION_SAME_SOCKET, 0, &c->members[1].core) != ST_OK) {
		str_copy(out->reason, sizeof(out->reason), b->a->cores < 2 ? "one core" : "no other core shares the L3");
		return ST_UNSUPPORTED;
	}
	for (unsigned round = 0; round < 1 + wanted * ROUNDS_FACTOR && good < wanted; round++) {
		bool together = true;

		st = round ? ST_OK : window_clock_follow(b, &c->counting, &c->jobs[0], &l->tick_micro);
		if (st != ST_OK)
			return st;
		for (unsigned which = 0; which < 4; which++) {
			bool apart = which & 1, longer = which >> 1, this_one;

			st = shared_window(l, apart || c->row->target == TARGET_L1, /* that line is nobody else's */ (uint64_t)l->window << (which >> 1), &this_one);
			if (st != ST_OK)
				return st;
			together = together && this_one;
			for (unsigned e = 0; e < (c->counting.on ? c->counting.events : 1); e++) {
				int64_t value = e ? (int64_t)c->members[0].window.counts[e] : cycles_of(l);

				*(longer ? &b->counts[apart][e][good].longer : &b->counts[apart][e][good].shorter) = value;
			}
		}
		if (round && together)
			good++;
		else if (round)
			l->rejected++;
	}
	if (!good) {
		never_together(l, out);
		return ST_OK;
	}
	for (unsigned e = 0; e < (c->counting.on ? c->counting.events : 1); e++) {
		if ((st = reduce_slope(b->counts[0][e], good, l->window, STAT_MEDIAN, e ? &count : &cycles)) != ST_OK)
			return st;
		l->events_micro[e] = e ? count.value_micro : 0;
	}
	if ((st = loss(l, good, counts, out)) != ST_OK)
		return st;
	out->samples = good;
	out->page_bytes = PAGE_4K;
	judge(l, out->spread_milli, mul_div(cycles.value_micro, 1, 1000), counts, "addition", out);
	return ST_OK;
}

/* ------------------------------------------------------------------------------------------------- */

static enum status with_counters(struct loaded *l, struct row_result *out)
{
	struct multicore *c = &l->cores;
	struct bench *b = c->b;
	uint64_t found = 0;
	bool switched = prefetchers_off(b, &found);
	struct job job;
	enum status st = c->counting.on ? counters_start(b->a, b->cpu, &c->counting.plan, 0, b->core) : window_clock(b, &job, &l->tick_micro), stopped;

	if (st == ST_OK)
		st = c->row->order == ORDER_LOADED ? loaded(l, out) : shared(l, out);
	if (c->counting.on && (stopped = counters_stop(b->a, b->cpu, &c->counting.plan, 0, b->core)) != ST_OK && st == ST_OK)
		st = stopped;
	if (switched && !prefetchers_back(b, found) && st == ST_OK)
		st = ST_IO;
	return st;
}

void loaded_latency_row(struct bench *b, const struct row *r, struct row_result *out)
{
	struct loaded l = { .window = r->window * (b->a->kind == ACCESS_SIM ? 1 : WINDOW_SCALE) };
	const struct access *a = b->a;
	enum status st = multicore_begin(&l.cores, b, r), ended;

	evidence_plan(b, r, 1, &l.cores.counting);
	out->reason[0] = 0;
	l.page = (struct mapping){ .va = SPACE_DATA + 2 * PAGE_1G, .bytes = LINE_SLOT_BYTES, .page_bytes = PAGE_4K, .node = cores_node(b, NODE_OWN) };
	if (st == ST_OK)
		st = a->ops->map(a->self, &l.page);
	l.page_mapped = st == ST_OK;
	if (st == ST_OK)
		st = with_counters(&l, out);
	if (out->core_hz == 0 && !row_was_ended(out->status) && out->value_milli)
		out->ns_milli = mul_div(out->value_milli, 1000000000, (int64_t)(a->tsc_hz ? a->tsc_hz : 1));
	if (st == ST_UNSUPPORTED && out->reason[0]) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		out->series.points = 0;
	} else if (st != ST_OK) {
		multicore_failed(&l.cores, st, out);
	}
	ended = l.page_mapped ? a->ops->unmap(a->self, &l.page) : ST_OK;
	if (multicore_end(&l.cores) != ST_OK)
		ended = ST_BROKEN;
	if (ended != ST_OK && out->status == ROW_OK)
		multicore_failed(&l.cores, ended, out);
}
