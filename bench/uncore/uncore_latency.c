/* bench/uncore/uncore_latency.c: the third method: residence of a chase's loads in the uncore's read tracker. */
#include "bench/uncore/uncore_latency.h"

#include "bench/measure/cores.h"
#include "pmu/core/concept.h"

#define CLOCK_TOLERANCE_MICRO 20000   /* 2 %: variation of uncore cycles per TSC tick between windows; a ratio step is larger */
#define CLOCK_TICKS_LEAST 10000       /* ticks of a row's pairs, for comparison with other rows: with fewer, one extra line read beside a window matters */
#define CLOSE_WINDOWS 24u             /* of dependent divisions, to detect a clock that changes within the windows of rows: */
#define CLOSE_ITERATIONS 6u           /* about 0.25 us each, */
#define CLOSE_FACTOR 32u              /* longer on hardware, where a read takes about 0.1 us */
#define CLOSE_TOLERANCE 20            /* interquartile range, as 1/N of the value */
#define INSERTS_LEAST 950             /* entries per load, thousandths: */
#define INSERTS_MOST 1100             /* allows for page walks and code fetches, not for other traffic */

/* A chase counts events up to CLOCK; a DRAM stream CLOCK and what follows; other rows beyond the L2 CLOCK alone. */
enum { OCCUPANCY, INSERTS, RESPONSE, RESPONSE_INSERTS, MISS, MISS_INSERTS, HOME, HOME_INSERTS, CLOCK, TICKS /* TSC, read beside it */, TRAFFIC,
       EVENTS = TRAFFIC + TRAFFIC_COUNTS };
_Static_assert((unsigned)EVENTS == UNCORE_LATENCY_EVENTS, "a pair of windows holds them all");

/* Their concepts (TICKS has none). The processor's events must fit into one run; if they do not, the optional parts of a load's residence
 * (RESPONSE, MISS) are dropped. */
static const char *const concept_of[TRAFFIC] = {
	[OCCUPANCY] = "queue.read.occupancy", [INSERTS] = "queue.read.inserts",
	[RESPONSE] = "queue.read.answer.occupancy", [RESPONSE_INSERTS] = "queue.read.answer.inserts",
	[MISS] = "queue.read.miss.occupancy", [MISS_INSERTS] = "queue.read.miss.inserts",
	[HOME] = "home.read.local.occupancy", [HOME_INSERTS] = "home.read.local.inserts", [CLOCK] = "uncore.cycles",
};
/* HOME and HOME_INSERTS, for a home in another socket. */
static const char *const remote_concept_of[2] = { "home.read.remote.occupancy", "home.read.remote.inserts" };

static void give_up(struct row_result *out, enum uncore_latency_verdict verdict, const char *why)
{
	out->queue.verdict = verdict;
	str_copy(out->queue.reason, sizeof(out->queue.reason), why);
}

/* Keeps the first failure, and the register that caused it: what is stopped afterwards may fail again. */
static void note_status(const struct loop *l, enum status st)
{
	struct uncore_latency_loop *q = l->beside;
	struct text t;

	if (q->status != ST_OK || st == ST_OK)
		return;
	q->status = st;
	text_init(&t, q->failed, sizeof(q->failed));
	if (st == ST_FAULT)
		access_failure_text(l->b->a, &t);
	else
		text_fmt(&t, "the uncore's registers: %s", status_name(st));
}

static bool beyond_l2(const struct row *r)
{
	return r->target == TARGET_L3 || r->target == TARGET_DRAM || cores_wanted(r) || (r->pair && r->pair->code == CODE_LINES_L3);
}

/* Other rows beyond the L2 have their clock monitored and nothing else. */
static bool has_method(const struct row *r) { return beyond_l2(r) && r->kind == KIND_LATENCY && r->order != ORDER_STREAMS; }

/* The event of an expression that counts everything in question, and maybe more; NULL: none. */
static const char *counts_all(const struct processor *p, const char *concept)
{
	const struct expression *x = concept_find(p, concept);

	return x && (x->exactness == EXACTNESS_EXACT || x->exactness == EXACTNESS_SUPERSET) ? x->terms[0].uncore : NULL;
}

/* Where only L3 misses have a queue, it is used for loads from memory. The entries per load show what else it counts. */
static void take_queue_of_misses(struct uncore_latency_loop *q, const struct processor *p, const struct row *r)
{
	if (q->names[OCCUPANCY] || r->target != TARGET_DRAM)
		return;
	q->names[OCCUPANCY] = counts_all(p, concept_of[MISS]);
	q->names[INSERTS] = counts_all(p, concept_of[MISS_INSERTS]);
	q->names[MISS] = q->names[MISS_INSERTS] = NULL;
}

static void choose_events(struct uncore_latency_loop *q, const struct processor *p)
{
	for (unsigned e = 0; e < TRAFFIC; e++)
		q->names[e] = concept_of[e] ? concept_uncore(p, concept_of[e], 0) : NULL;
	for (unsigned e = 0; e < COUNT_OF(q->remote); e++)
		q->remote[e] = concept_uncore(p, remote_concept_of[e], 0);
	for (unsigned c = 0; traffic_method_of(p, &q->streams) && c < TRAFFIC_COUNTS; c++)
		q->names[TRAFFIC + c] = q->streams.names[c];
}

/* Whether a socket has the boxes of an event. The home agent may be hidden; the TOR counts regardless. */
static bool has_box(const struct bench *b, const char *name, unsigned socket)
{
	const struct uncore_box *box;

	return uncore_event_find(b->cpu->processor, name, &box) && uncore_instances(&b->uncore, box, socket) > 0;
}

/* Plans the available events among first .. last in one run. */
static bool plan_events_of(struct uncore_latency_loop *q, const struct bench *b, unsigned first, unsigned last, bool home_elsewhere, const char **problem)
{
	const char *names[UNCORE_EVENTS_MAX];
	unsigned n = 0;

	q->counted = 0;
	for (unsigned e = first; e <= last; e++) {
		const bool home = e == HOME || e == HOME_INSERTS;

		if (!q->names[e] || (home && home_elsewhere) || ((home || e >= TRAFFIC + TRAFFIC_RECEIVED) && !has_box(b, q->names[e], q->socket)))
			continue;
		q->event[n] = (uint8_t)e;
		names[n++] = q->names[e];
		q->counted |= 1u << e;
	}
	return uncore_plan(&b->uncore, names, n, &q->plan, problem) == ST_OK && q->plan.runs == 1;
}

static bool plan_one_run(struct uncore_latency_loop *q, const struct bench *b, unsigned first, unsigned last, bool home_elsewhere, const char **problem)
{
	static const uint8_t optional[] = { MISS, RESPONSE };
	bool fits = plan_events_of(q, b, first, last, home_elsewhere, problem);

	for (unsigned i = 0; i < COUNT_OF(optional) && !fits; i++) {
		q->names[optional[i]] = q->names[optional[i] + 1] = NULL;
		fits = plan_events_of(q, b, first, last, home_elsewhere, problem);
	}
	if (!fits)
		return false;
	if (!home_elsewhere || q->home == q->socket || !has_box(b, q->remote[0], q->home))
		return true;
	q->home_event[0] = HOME, q->home_event[1] = HOME_INSERTS;
	q->counted |= 1u << HOME | 1u << HOME_INSERTS;
	return uncore_plan(&b->uncore, q->remote, 2, &q->home_plan, problem) == ST_OK && q->home_plan.runs == 1;
}

/* Reads a slot's event into its entry of the list above. An event whose boxes are channels or links has an entry for each. */
static enum status read_slot(const struct loop *l, const struct uncore_slot *slot, unsigned socket, unsigned event, uint64_t *values)
{
	const struct bench *b = l->b;
	const struct uncore_latency_loop *counted = l->beside;
	uint64_t each[UNCORE_INSTANCES_MAX];
	enum status st;

	if (event >= TRAFFIC)
		return traffic_read(b->a, &b->uncore, &counted->streams, slot, socket, event - TRAFFIC, &values[TRAFFIC]);
	st = event == CLOCK ? b->a->ops->rdtsc(b->a->self, b->core, &values[TICKS]) : ST_OK;
	if (st == ST_OK)
		st = uncore_instance_values(b->a, &b->uncore, slot, socket, each);
	values[event] = 0;
	for (unsigned i = 0; i < UNCORE_INSTANCES_MAX && st == ST_OK; i++)
		values[event] += each[i];
	if (event == CLOCK && uncore_instances(&b->uncore, slot->box, socket)) /* of one box, where several count the clock */
		values[event] /= uncore_instances(&b->uncore, slot->box, socket);
	return st;
}

/* Uncore cycles per second in each of several short windows, measured once a run. If the clock changes within the windows of rows, these differ. */
static enum status look_closely(struct loop *l)
{
	struct bench *b = l->b;
	const struct uncore_latency_loop *q = l->beside;
	const struct kernel *divides = kernel_find("k_divsd_chain_hard");
	uint64_t arguments[6] = { CLOSE_ITERATIONS * (b->a->kind == ACCESS_SIM ? 1 : CLOSE_FACTOR) }, values[EVENTS] = { 0 }, clock[2], ticks[2];
	int64_t hz[CLOSE_WINDOWS];
	struct window w;
	enum status st = divides ? ST_OK : ST_BROKEN;

	for (unsigned i = 0; i < CLOSE_WINDOWS && st == ST_OK; i++) {
		for (unsigned end = 0; end < 2 && st == ST_OK; end++) {
			if (end)
				st = window_run(b, divides, arguments, NULL, 0, &w, &l->job);
			for (unsigned s = 0; s < q->plan.count && st == ST_OK; s++)
				if (q->event[s] == CLOCK)
					st = read_slot(l, &q->plan.slots[s], q->socket, CLOCK, values);
			clock[end] = values[CLOCK];
			ticks[end] = values[TICKS];
		}
		hz[i] = st == ST_OK && ticks[1] > ticks[0] && clock[1] >= clock[0] ?
			mul_div((int64_t)b->a->tsc_hz, (int64_t)(clock[1] - clock[0]), (int64_t)(ticks[1] - ticks[0])) : 0;
	}
	if (st != ST_OK)
		return st;
	(void)reduce_median(hz, CLOSE_WINDOWS); /* sorts them */
	b->uncore_looked = true;
	if (hz[CLOSE_WINDOWS * 3 / 4] - hz[CLOSE_WINDOWS / 4] > hz[CLOSE_WINDOWS * 3 / 4] / CLOSE_TOLERANCE) {
		b->uncore_wandered = true;
		b->uncore_hz = (uint64_t)hz[CLOSE_WINDOWS * 3 / 4];
	}
	return ST_OK;
}

/* Records why the counters are not available: the boxes are absent, or the events need too many counters. */
static void give_up_box(const struct bench *b, const char *name, const char *problem, struct row_result *out)
{
	const struct uncore_box *box = NULL;
	const unsigned type = name && uncore_event_find(b->cpu->processor, name, &box) ? (unsigned)(box - b->cpu->processor->boxes) : UNCORE_BOXES_MAX;
	const bool none = type < UNCORE_BOXES_MAX && b->uncore.box_absent[type];

	give_up(out, none && b->uncore.box_lost[type] ? UNCORE_LATENCY_FAULT : UNCORE_LATENCY_UNSUPPORTED,
	        none ? b->uncore.box_absent[type] : problem[0] ? problem : "too few counters for one run");
}

void uncore_latency_begin(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	struct uncore_latency_loop *q = l->beside;
	const char *problem = "";
	enum status st;

	memset(q, 0, sizeof(*q));
	out->queue = (struct uncore_latency_result){ .response_milli = -1, .miss_milli = -1, .home_milli = -1 };
	if (!beyond_l2(l->row))
		return;
	q->chase = has_method(l->row);
	if (b->uncore.absent) {
		if (q->chase)
			give_up(out, UNCORE_LATENCY_UNSUPPORTED, b->uncore.absent);
		return;
	}
	const bool streams = l->row->target == TARGET_DRAM && l->row->order == ORDER_STREAMS;
	const bool elsewhere = l->row->node == NODE_REMOTE;

	choose_events(q, b->cpu->processor);
	take_queue_of_misses(q, b->cpu->processor, l->row);
	st = uncore_socket(b->a, &b->uncore, b->core, &q->socket);
	q->home = q->socket;
	if (elsewhere && uncore_socket_of_node(b->a, &b->uncore, cores_node(b, l->row->node), &q->home) != ST_OK)
		q->home = q->socket;
	const struct expression *queue = concept_find(b->cpu->processor, concept_of[OCCUPANCY]);
	if (q->chase && !q->names[OCCUPANCY] && queue && queue->why)
		problem = queue->why;
	if ((q->chase && (!q->names[OCCUPANCY] || !q->names[INSERTS])) || !q->names[CLOCK] ||
	    !plan_one_run(q, b, q->chase ? 0 : CLOCK, !q->chase && streams ? EVENTS - 1 : CLOCK, elsewhere && q->remote[0] && q->remote[1], &problem)) {
		if (q->chase)
			give_up_box(b, q->names[OCCUPANCY], problem, out);
		return;
	}
	q->lock = (struct mapping){ .va = SPACE_LOCK, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
	if (st == ST_OK)
		st = b->a->ops->map(b->a->self, &q->lock);
	if (st != ST_OK) {
		give_up(out, uncore_latency_verdict_of(st), "no page for the bus lock");
		return;
	}
	st = uncore_start(b->a, &b->uncore, &q->plan, 0, q->socket, q->lock.va);
	if (st == ST_OK && q->home_plan.count)
		st = uncore_start(b->a, &b->uncore, &q->home_plan, 0, q->home, q->lock.va);
	q->on = true;
	if (st == ST_OK && !b->uncore_looked && (q->counted >> CLOCK & 1))
		st = look_closely(l);
	note_status(l, st); /* reported at the end */
}

static enum status read_all(const struct loop *l, uint64_t *values)
{
	const struct uncore_latency_loop *q = l->beside;
	enum status st = ST_OK;

	for (unsigned i = 0; i < q->plan.count && st == ST_OK; i++)
		st = read_slot(l, &q->plan.slots[i], q->socket, q->event[i], values);
	for (unsigned i = 0; i < q->home_plan.count && st == ST_OK; i++)
		st = read_slot(l, &q->home_plan.slots[i], q->home, q->home_event[i], values);
	return st;
}

void uncore_latency_before(struct loop *l)
{
	struct uncore_latency_loop *q = l->beside;

	if (q->on && q->status == ST_OK)
		note_status(l, read_all(l, q->before));
}

static void keep_moved(struct loop *l, const struct uncore_slot *slot, unsigned event, const uint64_t *after, unsigned keep, bool longer)
{
	const struct uncore_latency_loop *q = l->beside;
	const unsigned instances = event >= TRAFFIC ? traffic_instances(&q->streams, event - TRAFFIC) : 1;

	for (unsigned e = event; e < event + instances; e++) {
		const int64_t moved = (int64_t)uncore_moved(&l->b->uncore, slot, q->before[e], after[e]);
		struct pair *p = &l->b->beside[e][keep];

		*(longer ? &p->longer : &p->shorter) = moved;
	}
	if (event == CLOCK) {
		struct pair *p = &l->b->beside[TICKS][keep];

		*(longer ? &p->longer : &p->shorter) = (int64_t)(after[TICKS] - q->before[TICKS]);
	}
}

void uncore_latency_after(struct loop *l, unsigned keep, bool longer)
{
	struct uncore_latency_loop *q = l->beside;
	uint64_t after[EVENTS] = { 0 };

	if (!q->on || q->status != ST_OK)
		return;
	note_status(l, read_all(l, after));
	for (unsigned i = 0; i < q->plan.count && q->status == ST_OK; i++)
		keep_moved(l, &q->plan.slots[i], q->event[i], after, keep, longer);
	for (unsigned i = 0; i < q->home_plan.count && q->status == ST_OK; i++)
		keep_moved(l, &q->home_plan.slots[i], q->home_event[i], after, keep, longer);
}

/* --- evaluation -------------------------------------------------------------------------------- */

static enum status slope(const struct loop *l, unsigned event, int64_t *micro)
{
	struct slope s;
	enum status st = reduce_slope(l->b->beside[event], l->pairs, l->sets[0].window, STAT_MEDIAN, &s);

	*micro = st == ST_OK ? s.value_micro : 0;
	return st;
}

/* Occupancy over inserts in thousandths; -1 when less than one in twenty loads made an entry. */
static int64_t residence(const int64_t micro[CLOCK + 1], unsigned occupancy, unsigned inserts)
{
	return micro[inserts] < 50000 ? -1 : mul_div(micro[occupancy], 1000, micro[inserts]);
}

static void tell_moved(struct row_result *out, int64_t from_hz, int64_t to_hz)
{
	struct text reason;

	if (out->status != ROW_OK && out->status != ROW_NOISY)
		return;
	out->status = ROW_UNPROVEN;
	text_init(&reason, out->reason, sizeof(out->reason));
	text_fmt(&reason, "the uncore clock moved: ");
	text_fixed(&reason, from_hz / 1000000, 3);
	text_fmt(&reason, " to ");
	text_fixed(&reason, to_hz / 1000000, 3);
	text_fmt(&reason, " GHz");
}

/* Whether the uncore clock changed between windows or between rows. If so, the row loses its `ok` with that reason. The row's mean clock is
 * recorded with it. */
static bool clock_moved(const struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	const int64_t hz = (int64_t)l->b->a->tsc_hz;
	int64_t cycles = 0, between = 0, all = 0;

	for (unsigned i = 0; i < l->pairs; i++) { /* between two readings of both: what runs ahead of a window is in each */
		cycles += l->b->beside[CLOCK][i].longer;
		between += l->b->beside[TICKS][i].longer;
		all += l->b->tsc[0][i].longer - l->b->tsc[0][i].shorter;
	}
	out->queue.uncore_hz = between > 0 && cycles > 0 ? (uint64_t)mul_div(hz, cycles, between) : 0;

	/* A window's last stores drain while counters are read. The ratio therefore uses the ticks between the clock's readings, not the window's. In a
	 * much shorter window the varying cost of the reads is too large a share. */
	for (unsigned longer = l->sets[0].shorter < l->sets[0].window; longer < 2; longer++) {
		int64_t least = INT64_MAX, most = 0; /* uncore cycles per TSC tick, millionths */

		for (unsigned i = 0; i < l->pairs; i++) {
			const struct pair *clock = &l->b->beside[CLOCK][i], *tsc = &l->b->beside[TICKS][i];
			const int64_t ticks = longer ? tsc->longer : tsc->shorter;
			const int64_t ratio = ticks > 0 ? mul_div(longer ? clock->longer : clock->shorter, 1000000, ticks) : 0;

			least = ratio < least ? ratio : least;
			most = ratio > most ? ratio : most;
		}
		if (most - least <= mul_div(most, CLOCK_TOLERANCE_MICRO, 1000000))
			continue;
		b->uncore_wandered = true;
		tell_moved(out, mul_div(hz, least, 1000000), mul_div(hz, most, 1000000));
		return true;
	}
	const uint64_t now = all >= (int64_t)l->pairs * CLOCK_TICKS_LEAST ? out->queue.uncore_hz : 0, first = b->uncore_hz;

	b->uncore_hz = first ? first : now;
	if (!now || !first || (now > first ? now - first : first - now) <= (uint64_t)mul_div((int64_t)first, CLOCK_TOLERANCE_MICRO, 1000000))
		return false;
	b->uncore_wandered = true;
	tell_moved(out, (int64_t)first, (int64_t)now);
	return true;
}

static void judge(struct loop *l, bool moved, struct row_result *out)
{
	struct uncore_latency_result *q = &out->queue;
	const struct uncore_latency_loop *counted = l->beside;
	const int64_t hz = (int64_t)l->b->a->tsc_hz;
	int64_t micro[CLOCK + 1];
	struct slope tsc;
	struct text reason;

	for (unsigned e = 0; e <= CLOCK; e++)
		if (!(counted->counted >> e & 1)) {
			micro[e] = 0;
		} else if (slope(l, e, &micro[e]) != ST_OK) {
			give_up(out, UNCORE_LATENCY_UNPROVEN, "no window was left");
			return;
		}
	if (reduce_slope(l->b->tsc[0], l->pairs, l->sets[0].window, STAT_MEDIAN, &tsc) != ST_OK || tsc.value_micro <= 0 ||
	    micro[CLOCK] <= 0 || micro[INSERTS] <= 0 || !out->core_hz) {
		give_up(out, UNCORE_LATENCY_UNPROVEN, "nothing was counted");
		return;
	}
	q->samples = l->pairs;
	q->inserts_milli = mul_div(micro[INSERTS], 1, 1000);
	q->uncore_hz = (uint64_t)mul_div(hz, micro[CLOCK], tsc.value_micro);
	q->uncore_milli = residence(micro, OCCUPANCY, INSERTS);
	q->cycles_milli = mul_div(q->uncore_milli, (int64_t)out->core_hz, (int64_t)q->uncore_hz);
	q->offset_milli = out->value_milli - q->cycles_milli;
	q->response_milli = residence(micro, RESPONSE, RESPONSE_INSERTS);
	q->miss_milli = residence(micro, MISS, MISS_INSERTS);
	q->home_milli = residence(micro, HOME, HOME_INSERTS);
	q->verdict = UNCORE_LATENCY_OK;
	const unsigned type = (unsigned)(counted->plan.slots[0].box - l->b->cpu->processor->boxes);

	if (l->b->uncore.box_partly[type][0]) {
		give_up(out, l->b->uncore.box_lost[type] ? UNCORE_LATENCY_FAULT : UNCORE_LATENCY_UNPROVEN, l->b->uncore.box_partly[type]);
	} else if (moved) {
		give_up(out, UNCORE_LATENCY_UNPROVEN, "the uncore clock moved");
	} else if (q->inserts_milli < INSERTS_LEAST || q->inserts_milli > INSERTS_MOST) {
		q->verdict = UNCORE_LATENCY_UNPROVEN;
		text_init(&reason, q->reason, sizeof(q->reason));
		text_fixed(&reason, q->inserts_milli, 3);
		text_fmt(&reason, " entries a load: other traffic, or loads that did not come so far");
	}
}

/* Bytes per second of each channel and link, in the row's own ticks. Their median may belong to other windows than that of the uncore's cycles, so
 * the clock's rate is not derived from these two. */
static void traffic(struct loop *l, struct row_result *out)
{
	const struct uncore_latency_loop *q = l->beside;
	struct traffic_socket *s = &out->traffic.at[0];
	int64_t units, ticks = 0;
	struct slope tsc;

	if (reduce_slope(l->b->tsc[0], l->pairs, l->sets[0].window, STAT_MEDIAN, &tsc) == ST_OK)
		ticks = tsc.value_micro;
	if (ticks <= 0)
		return;
	traffic_boxes(&l->b->uncore, &q->streams, q->socket, q->counted >> TRAFFIC, s);
	for (unsigned c = 0; c < TRAFFIC_COUNTS; c++) {
		const bool link = c >= TRAFFIC_RECEIVED;
		const unsigned first = c < TRAFFIC_WRITE ? TRAFFIC_READ : !link ? TRAFFIC_WRITE : c < TRAFFIC_SENT ? TRAFFIC_RECEIVED : TRAFFIC_SENT;

		if (c - first >= (link ? s->links : s->channels))
			continue;
		if (slope(l, TRAFFIC + c, &units) != ST_OK)
			return;
		units = link && units < 0 ? 0 : units; /* the row itself moved no data over the links */
		if (units < 0)
			return;
		s->bytes[c] = traffic_bytes(&q->streams, c, mul_div(units, (int64_t)l->b->a->tsc_hz, ticks));
	}
	out->traffic.sockets = s->channels > 0;
}

void uncore_latency_end(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	struct uncore_latency_loop *q = l->beside;
	enum status st;

	if (!q->on)
		return;
	st = uncore_stop(b->a, &b->uncore, &q->plan, 0, q->socket);
	if (q->home_plan.count) {
		const enum status home = uncore_stop(b->a, &b->uncore, &q->home_plan, 0, q->home);

		st = st == ST_OK ? home : st;
	}
	if (b->a->ops->unmap(b->a->self, &q->lock) != ST_OK && st == ST_OK)
		st = ST_BROKEN;
	q->on = false;
	note_status(l, st);
	if (q->status == ST_UNSUPPORTED) {
		give_up(out, UNCORE_LATENCY_UNSUPPORTED, "a box of it does not keep written values");
		return;
	}
	if (q->status != ST_OK) {
		give_up(out, uncore_latency_verdict_of(q->status), q->failed);
		return;
	}
	if (row_was_ended(out->status) || l->pairs == 0) {
		if (q->chase)
			give_up(out, UNCORE_LATENCY_UNPROVEN, "the row has no value");
		return;
	}
	const bool moved = clock_moved(l, out);

	if (q->chase)
		judge(l, moved, out);
	else if (q->counted >> TRAFFIC & 1) {
		traffic(l, out);
		traffic_judge(l->sets[0].kernel, out);
	}
}
