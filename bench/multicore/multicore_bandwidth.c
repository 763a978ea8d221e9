/* bench/multicore/multicore_bandwidth.c: bandwidth of several cores at once, and between nodes.
 *
 * All cores run the same stream, each in its own arrays in memory of its own node or of the node that the row names. The rate is all bytes over
 * the slope of two run lengths, n and 2n iterations. DRAM rows take n and 4n. Where lines are flushed first, and on simulated machines, each
 * pair of DRAM windows starts at a random offset: which banks the cores meet in is chance, and a window keeps the pattern it starts with, so
 * the value is a mean over offsets. Where lines are not flushed, windows follow one another from there, and the victims that a window meets depend
 * on its place in the round: every other round takes the longer window first. */
#include "bench/multicore/multicore_buffers.h"
#include "bench/measure/vector_width.h"
#include "bench/catalogue/series.h"
#include "bench/uncore/traffic.h"

#define ROUNDS_SIMULATED 3u   /* for the row's value, after one uncounted round (none after passes over an L2 or L3); one for other points */
#define ROUNDS_LEAST 5u       /* where the shortest windows count */
#define WARM_MOST 16u         /* the most where arrays stay in an L2 or L3: until most rounds agree with their median within 1/WARM_SURE */
#define WARM_SURE 200
#define MOVED_LEAST 4u        /* least rounds with start offsets; then until the mean is accurate: */
#define MOVED_SURE 300        /* its standard error is below 1/N of it */
#define COLD_MOST 16u         /* most rounds where lines are flushed */
#define WIDE_MOST 64u         /* the same where offsets differ so much that their spread would count as noise; then */
#define WIDE_SURE 40          /* the mean is good enough if its standard error is below 1/N of it */
#define FILL_MOST 8u          /* most rounds where lines are not flushed: windows are twice as long there */
#define ROUNDS 15u
#define ROUNDS_FACTOR 2u      /* runs that did not start together are repeated, up to as many again */
#define FEWER_FASTER 4        /* fewer cores that are faster by 1/N: noise */
#define POINTS_MOST 32u       /* points of the curve: the number of cores doubles */
#define NODES_MOST 8u         /* nodes whose pairs the series can hold */

struct point {
	int64_t rate_milli, spread_milli, counts[ROW_PROOFS_MAX];
	int64_t events_micro[ROW_EVENTS_MAX]; /* per iteration */
	unsigned good, rejected;
	bool sure; /* the mean is known although offsets differ (WIDE_SURE) */
	struct traffic_result traffic;
};

/* Whether windows differ by more than a quiet row's do. */
static bool is_wide(const struct pair *pairs, unsigned n, uint64_t units)
{
	const char *why;
	struct slope s;

	return reduce_slope(pairs, n, (int64_t)units, STAT_MEDIAN, &s) == ST_OK && reduce_is_noisy(s.spread_micro, s.value_micro, n, STAT_MEDIAN, &why);
}

/* The slope of the slowest core, from each core's own shortest windows. Code between jobs only lengthens windows in the L1: some of either length,
 * on some cores. On a simulated machine nothing else differs between them, but threads of a core share its ports unequally. */
static int64_t least_slope(const struct multicore *c, unsigned n, int64_t units)
{
	int64_t most = 0;

	for (unsigned i = 0; i < n; i++) {
		const int64_t took = (int64_t)(c->members[i].least[1] - c->members[i].least[0]);

		most = took > most ? took : most;
	}
	return mul_div(most, 1000000, units);
}

/* From the first begin to the last end of the threads of member i's core: a thread's own window is short where the other one got fewer cycles. */
static uint64_t ticks_of_core(const struct multicore *c, unsigned n, unsigned i)
{
	const uint32_t *core = c->b->groups.core;
	uint64_t first = UINT64_MAX, last = 0;

	for (unsigned k = 0; k < n; k++) {
		const struct window *w = &c->members[k].window;

		if (core[c->members[k].core] != core[c->members[i].core])
			continue;
		first = w->began < first ? w->began : first;
		last = w->began + w->tsc > last ? w->began + w->tsc : last;
	}
	return last - first;
}

static void keep_least(struct multicore *c, unsigned n, unsigned longer)
{
	for (unsigned i = 0; i < n; i++) {
		const uint64_t ticks = ticks_of_core(c, n, i);

		if (ticks < c->members[i].least[longer])
			c->members[i].least[longer] = ticks;
	}
}

/* The point's rate, traffic and counts from its good pairs, whose windows differ by `units`. */
static enum status reduce(struct multicore *c, unsigned n, const struct traffic *t, uint64_t units, struct point *p)
{
	struct bench *b = c->b;
	struct slope slope, count;
	int64_t of_events[ROW_EVENTS_MAX] = { 0 };
	enum status st = reduce_slope(b->tsc[0], p->good, (int64_t)units, c->moves ? STAT_MEAN : c->row->statistic, &slope);

	if (st == ST_OK && c->row->statistic == STAT_MINIMUM && b->a->kind == ACCESS_SIM)
		slope.value_micro = least_slope(c, n, (int64_t)units);
	if (st == ST_OK && slope.value_micro > 0) {
		p->rate_milli = mul_div((int64_t)c->members[0].set.kernel->data_bytes * n * 1000000000, (int64_t)b->a->tsc_hz, slope.value_micro);
		p->spread_milli = mul_div(p->rate_milli, slope.spread_micro, slope.value_micro);
		traffic_reduce(t, b, p->good, (int64_t)units, slope.value_micro, &p->traffic);
	}
	for (unsigned e = 0; st == ST_OK && c->counting.on && e < c->counting.events; e++) {
		st = reduce_slope(b->counts[0][e], p->good, (int64_t)units, STAT_MEDIAN, &count);
		of_events[e] = count.value_micro;
	}
	if (st == ST_OK)
		evidence_values(&c->counting, of_events, p->counts);
	memcpy(p->events_micro, of_events, sizeof(p->events_micro));
	for (unsigned i = 0; st == ST_OK && i < c->counting.proof_count; i++)
		p->counts[i] = mul_div(p->counts[i], 1, 1000);
	for (unsigned i = 0; st == ST_OK && i < c->counting.proof_count; i++)
		if (c->counting.proofs[i].per != PER_UNIT)
			p->counts[i] = mul_div(p->counts[i], 1, c->counting.proofs[i].per == PER_LOAD ? c->members[0].set.kernel->loads : c->members[0].set.kernel->stores);
	return st;
}

/* Measures the rate of the first n members; `t` counts traffic meanwhile. */
static enum status measure(struct multicore *c, unsigned n, struct traffic *t, struct point *p)
{
	struct bench *b = c->b;
	const bool simulated = b->a->kind == ACCESS_SIM, aside = simulated && n < c->count;
	const bool warmed = simulated && c->row->prepare == PREPARE_WARM && c->row->target != TARGET_L1; /* short L1 windows have yet to bring in the wrapper's lines */
	const bool settles = warmed && !aside && !b->repetitions; /* until the rounds agree */
	const bool cold = c->row->prepare == PREPARE_FLUSH, surely = c->moves && simulated && !aside && !b->repetitions;
	unsigned wanted = b->repetitions ? b->repetitions : aside ? 1 : surely ? (cold ? COLD_MOST : FILL_MOST) : settles ? WARM_MOST :
		simulated ? (c->row->statistic == STAT_MINIMUM ? ROUNDS_LEAST : ROUNDS_SIMULATED) : ROUNDS;
	const unsigned before = aside || warmed ? 0 : 1, times = multicore_times(c->row);
	const uint64_t window = multicore_window(c), units = window * (times - 1);
	struct pair *tsc = b->tsc[0];
	enum status st = ST_OK;

	memset(p, 0, sizeof(*p));
	for (unsigned i = 0; i < n; i++)
		c->members[i].least[0] = c->members[i].least[1] = UINT64_MAX;
	c->cold = multicore_pushes_wrapper(c, n);
	c->pair_bytes = cold ? window * times * c->members[0].set.shape.step_bytes : c->pair_bytes;
	for (unsigned round = 0; round < before + wanted * ROUNDS_FACTOR && p->good < wanted && st == ST_OK; round++) {
		const unsigned windows = c->moves && round < before ? 1 : 2; /* here the uncounted round warms up code alone */
		const unsigned pair = !cold ? c->pairs : round < before ? 0 : round - before;
		bool together = true;

		c->pairs = c->moves && c->pairs <= pair ? pair + 1 : c->pairs;
		for (unsigned w = 0; w < windows && st == ST_OK; w++) {
			const unsigned longer = windows == 2 && c->starts_bytes && pair % 2 ? !w : w;
			bool this_one;

			bench_working(b);
			for (unsigned i = 0; i < n && (cold || (c->moves && !w)); i++)
				c->members[i].set.at = multicore_start_offset(c, i, pair);
			if (c->starts_bytes && !w && (st = multicore_lead(c, n)) != ST_OK)
				return st;
			for (unsigned i = 0; i < n; i++)
				c->members[i].units = longer ? window * times : window;
			if (c->row->target == TARGET_DRAM) /* other cores may still hold lines of an earlier row */
				st = multicore_flush(c, n);
			traffic_before(t, b);
			if (st == ST_OK)
				st = multicore_run(c, n, c->counting.on ? MULTICORE_COUNTED : MULTICORE_UNCOUNTED, &this_one);
			if (st != ST_OK)
				return st;
			traffic_after(t, b, p->good, longer);
			for (unsigned i = 0; i < n && cold; i++)
				c->members[i].set.at = multicore_start_offset(c, i, pair);
			if (cold && multicore_has_victim_cache(c))
				st = multicore_flush(c, n);
			together = together && this_one;
			if (round >= before)
				keep_least(c, n, longer);
			*(longer ? &tsc[p->good].longer : &tsc[p->good].shorter) = (int64_t)multicore_ticks(c, n);
			for (unsigned e = 0; c->counting.on && e < c->counting.events; e++)
				*(longer ? &b->counts[0][e][p->good].longer : &b->counts[0][e][p->good].shorter) =
					(int64_t)c->members[0].window.counts[e];
		}
		if (round < before)
			continue; /* uncounted */
		if (together)
			p->good++;
		else
			p->rejected++;
		if (surely && p->good >= MOVED_LEAST && reduce_slope_is_sure(tsc, p->good, MOVED_SURE))
			break;
		if (settles && reduce_slope_is_settled(tsc, p->good, WARM_SURE))
			break;
		if (surely && cold && p->good == COLD_MOST && is_wide(tsc, p->good, units))
			wanted = WIDE_MOST;
		p->sure = wanted == WIDE_MOST && reduce_slope_is_sure(tsc, p->good, WIDE_SURE);
		if (p->sure)
			break;
	}
	return p->good && st == ST_OK ? reduce(c, n, t, units, p) : st;
}

/* For arrays in memory: the sockets of the first n members, and those that own the memory. */
static void want_sockets(const struct multicore *c, unsigned n, struct traffic *t)
{
	traffic_init(t, c->b);
	for (unsigned i = 0; i < n && c->row->target == TARGET_DRAM; i++) {
		traffic_want_core(t, c->b, c->members[i].core);
		traffic_want_node(t, c->b, c->members[i].set.map.node);
	}
}

static enum status counted(struct multicore *c, unsigned n, struct point *p)
{
	const unsigned core = c->members[0].core;
	struct traffic t;
	enum status st = ST_OK, stopped;

	if (c->counting.on)
		st = counters_start(c->b->a, c->b->cpu, &c->counting.plan, 0, core);
	if (st != ST_OK)
		return st;
	want_sockets(c, n, &t);
	traffic_start(&t, c->b);
	st = measure(c, n, &t, p);
	traffic_stop(&t, c->b);
	if (t.status != ST_OK) /* the rate is valid without */
		p->traffic.sockets = 0;
	if (c->counting.on && (stopped = counters_stop(c->b->a, c->b->cpu, &c->counting.plan, 0, core)) != ST_OK && st == ST_OK)
		st = stopped;
	return st;
}

/* Whether a point's counts show that its arrays are in their level. */
static bool all_there(const struct multicore *c, const struct point *p)
{
	char ignored[160];
	struct text t;

	text_init(&t, ignored, sizeof(ignored));
	return p->good && c->counting.proof_count && evidence_holds(&c->counting, p->counts, "iteration", &t);
}

/* Takes the row's value from one of its points. */
static void take(const struct multicore *c, const struct point *p, struct row_result *out)
{
	const char *noise = "";
	struct text proof, reason;

	out->value_milli = p->rate_milli;
	out->spread_milli = p->spread_milli;
	out->traffic = p->traffic;
	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	out->noisy = !p->sure && reduce_is_noisy(p->spread_milli, p->rate_milli, p->good, STAT_MEDIAN, &noise);
	out->status = ROW_UNPROVEN;
	if (!p->good) { /* nothing was measured at the point that the row is about */
		out->status = ROW_NOISY;
		out->noisy = true;
		out->samples = 0;
		text_fmt(&reason, c->disturbed ? "every run was disturbed" : "the cores never began together");
	} else if (!c->counting.proof_count) {
		out->unprovable = evidence_lacking(c->b, &c->counting, &reason);
	} else if (!evidence_holds(&c->counting, p->counts, "iteration", &proof)) {
		out->unprovable = evidence_refutes(&c->counting, p->counts, "iteration", out->proof, &reason);
	} else if (evidence_work_holds(&c->counting, &c->members[0].set, p->events_micro, "iteration", out)) {
		out->status = out->noisy ? ROW_NOISY : ROW_OK;
		text_fmt(&reason, "%s", out->noisy ? noise : "");
		traffic_judge(c->members[0].set.kernel, out);
	}
	evidence_add_noise(out, noise);
}

void multicore_judge_points(const unsigned *cores, const int64_t *rates_milli, unsigned count, struct row_result *out)
{
	char why[80];
	struct text t;

	for (unsigned i = 0; i + 1 < count && out->samples && !out->noisy; i++) {
		if (rates_milli[i] <= out->value_milli + out->value_milli / FEWER_FASTER)
			continue;
		out->noisy = true;
		out->status = out->status == ROW_OK ? ROW_NOISY : out->status;
		text_init(&t, why, sizeof(why));
		text_fmt(&t, "%u %s moved more, ", cores[i], cores[i] == 1 ? "core" : "cores");
		text_fixed(&t, rates_milli[i] / 1000000000, 3);
		text_fmt(&t, " GB/s");
		if (out->status == ROW_NOISY)
			str_copy(out->reason, sizeof(out->reason), why);
		evidence_add_noise(out, why);
	}
}

static unsigned node_of(const struct bench *b, unsigned core)
{
	return b->a->core_node ? b->a->core_node[core] : 0;
}

/* The next number of cores: twice as many, with stops at all of the first socket and at all cores. */
static unsigned next_point(const struct multicore *c, unsigned n)
{
	const uint32_t *package = c->b->groups.package;
	unsigned socket = 0;

	while (socket < c->count && package[c->members[socket].core] == package[c->members[0].core])
		socket++;
	if (n < socket && 2 * n > socket)
		return socket;
	return 2 * n < c->count ? 2 * n : c->count;
}

/* Members from..n-1 join when n are at work; they get arrays sized for n and keep them as more join. */
static enum status join(struct multicore *c, unsigned from, unsigned n, struct row_result *out)
{
	struct shape s;
	enum status st = multicore_shape(c, n, &s, out);

	for (unsigned i = from; i < n && st == ST_OK; i++) {
		struct working_set *w = &c->members[i].set;

		w->shape = s;
		w->kernel = kernel_choose(c->row, c->b->cpu, c->b->kernels);
		multicore_stagger_arrays(c, i, multicore_sharers(c, c->count, TARGET_DRAM), w);
		st = multicore_map(c, i, node_of(c->b, c->members[i].core), out);
		out->footprint_bytes += w->shape.bytes;
	}
	return st;
}

/* Measures the first n members, which are warmed up. */
static enum status point(struct multicore *c, unsigned n, struct point *p)
{
	enum status st;

	c->at_once = n;
	st = counted(c, n, p);
	/* not resident: the level is not LRU, so all make passes until they are, unless these would bring a few cores' arrays into an L2 that more share */
	if (st == ST_OK && c->row->prepare == PREPARE_WARM && !c->settles && !multicore_fits_below(c, n) && !all_there(c, p)) {
		c->settles = true;
		st = multicore_warm_up(c, 0, n);
		if (st == ST_OK)
			st = counted(c, n, p);
	}
	return st;
}

static enum status curve(struct multicore *c, struct row_result *out)
{
	static const char *const columns[] = { "cores", "bytes_per_second" };
	struct point p = { 0 }, value = { 0 };
	unsigned points[POINTS_MOST], count = 0, from = 0;
	int64_t rates[POINTS_MOST];
	enum status st = ST_OK;

	out->series.columns = columns;
	out->series.column_count = 2;
	multicore_everybody(c);
	multicore_start_offsets(c);
	if (c->count < 2) {
		str_copy(out->reason, sizeof(out->reason), "one core");
		return ST_UNSUPPORTED;
	}
	for (unsigned n = 1; st == ST_OK; from = n, n = next_point(c, n)) {
		st = join(c, from, n, out);
		points[count++] = n;
		if (n == c->count)
			break;
	}
	for (unsigned i = 0; st == ST_OK && i < count; i++)
		st = multicore_warm_up(c, i ? points[i - 1] : 0, points[i]);
	if (st == ST_OK) {
		c->at_once = c->count;
		st = multicore_width_choose(c, c->count, out);
	}
	/* most cores first: while all have run equally far, they walk through the last level's sets in step */
	for (unsigned i = count; st == ST_OK && i-- > 0;) {
		st = point(c, points[i], &p);
		value = i == count - 1 ? p : value;
		/* few cores whose L2 has room for more than their arrays: where the counts show that lines came from there, the point is not the level's */
		rates[i] = i < count - 1 && c->counting.proof_count && multicore_fits_below(c, points[i]) && !all_there(c, &p) ? 0 : p.rate_milli;
		out->rejected += p.rejected;
		out->samples += p.good;
	}
	for (unsigned i = 0; st == ST_OK && i < count; i++)
		if (rates[i]) /* a point without a good window, or of another level, is left out */
			series_add(&out->series, (int64_t[]){ (int64_t)points[i] * 1000, rates[i] });
	if (st == ST_OK)
		take(c, &value, out);
	if (st == ST_OK)
		multicore_judge_points(points, rates, count, out);
	return st == ST_OK && c->row->target == TARGET_DRAM && value.good ? multicore_bus(c, c->count, out) : st;
}

/* All cores of one node on memory of one node. */
static enum status pair_of_nodes(struct multicore *c, unsigned from, unsigned to, struct point *p, struct row_result *out)
{
	const struct access *a = c->b->a;
	enum status st = ST_OK;

	c->count = c->at_once = 0;
	for (unsigned i = 0; i < a->cores && i < CORES_MAX; i++)
		c->at_once += c->b->cpuset.core[i] && node_of(c->b, i) == from;
	for (unsigned i = 0; i < a->cores && i < CORES_MAX && c->count < MULTICORE_MAX && st == ST_OK; i++) {
		struct member *m = &c->members[c->count];

		if (!c->b->cpuset.core[i] || node_of(c->b, i) != from)
			continue;
		m->core = i;
		m->set.kernel = c->stream ? c->stream : kernel_choose(c->row, c->b->cpu, c->b->kernels);
		m->set.at = 0;
		st = multicore_shape(c, 1, &m->set.shape, out);
		if (st == ST_OK)
			multicore_stagger_arrays(c, c->count, c->at_once, &m->set);
		if (st == ST_OK)
			st = multicore_map(c, c->count, to, out);
		out->footprint_bytes = m->set.shape.bytes;
		c->count++;
	}
	multicore_start_offsets(c);
	if (st == ST_OK && c->count)
		st = multicore_warm_up(c, 0, c->count);
	if (st == ST_OK && c->count)
		st = multicore_width_choose(c, c->count, out);
	if (st == ST_OK && c->count)
		st = counted(c, c->count, p);
	const enum status ended = multicore_give_back(c);

	return st == ST_OK ? ended : st;
}

/* The row's value is its lowest point. */
static enum status nodes(struct multicore *c, struct row_result *out)
{
	static const char *const columns[] = { "cores_node", "memory_node", "bytes_per_second" };
	unsigned count = c->b->a->nodes < NODES_MOST ? c->b->a->nodes : NODES_MOST;
	struct point least = { .rate_milli = INT64_MAX }, p = { 0 };
	enum status st = ST_OK;

	out->series.columns = columns;
	out->series.column_count = 3;
	if (c->row->node != NODE_OWN && cores_node(c->b, NODE_REMOTE) == cores_node(c->b, NODE_OWN) && cores_node(c->b, NODE_DISTANT) == cores_node(c->b, NODE_OWN)) {
		str_copy(out->reason, sizeof(out->reason), "one memory node");
		return ST_UNSUPPORTED;
	}
	if (c->b->a->nodes > NODES_MOST)
		str_copy(out->remark, sizeof(out->remark), "the first 8 nodes alone");
	for (unsigned from = 0; from < count; from++)
		for (unsigned to = 0; to < count && st == ST_OK; to++) {
			if ((from != to) != (c->row->node != NODE_OWN) || !c->b->cpuset.node[from] || !c->b->cpuset.node[to])
				continue;
			st = pair_of_nodes(c, from, to, &p, out);
			if (st != ST_OK || !c->count) /* a node without cores */
				continue;
			out->rejected += p.rejected;
			out->samples += p.good;
			if (p.good)
				series_add(&out->series, (int64_t[]){ (int64_t)from * 1000, (int64_t)to * 1000, p.rate_milli });
			if (p.rate_milli < least.rate_milli)
				least = p;
		}
	if (st == ST_OK)
		take(c, &least, out);
	return st;
}

void multicore_row(struct bench *b, const struct row *r, struct row_result *out)
{
	struct multicore c;
	enum status st = multicore_begin(&c, b, r), ended;

	evidence_plan(b, r, 1, &c.counting);
	out->reason[0] = 0;
	if (st == ST_OK)
		st = r->order == ORDER_NODES ? nodes(&c, out) : curve(&c, out);
	if (st == ST_UNSUPPORTED && out->reason[0]) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		out->series.points = 0;
	} else if (st == ST_MISSING && out->reason[0]) {
		out->status = ROW_UNSUPPORTED;
		out->series.points = 0;
	} else if (st != ST_OK) {
		multicore_failed(&c, st, out);
	}
	ended = multicore_end(&c);
	if (ended != ST_OK && out->status == ROW_OK)
		multicore_failed(&c, ended, out);
}
