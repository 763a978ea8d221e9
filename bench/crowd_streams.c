/* bench/crowd_streams.c: bandwidth of several cores at once, and from node to node.
 *
 * All cores run the same stream, each in arrays of its own in memory of its own node (or of the node that is asked
 * for). Rates are all bytes over the slope of the runs' lengths, n and 2n iterations. */
#include "bench/crowd.h"

#define ROUNDS_SIMULATED 3u
#define ROUNDS 15u
#define WINDOW_SCALE 16u      /* real cores take some hundred ns to begin together: longer windows there */
#define ROUNDS_FACTOR 2u      /* runs that did not begin together are repeated, up to as many again */
#define VISITS 2u             /* of arrays that are to stay in a cache, by a core that is new */
#define VISITS_MAX 24u        /* of a level that does not replace the oldest, at most */
#define SETTLED_PART 2000u    /* until a visit is not shorter by such a part than the one before */
#define LAST_FACTOR 6u        /* as many times the last level: all arrays in memory */
#define MANY_CORES 8u         /* beyond: twice as long windows of all cores */
#define NODE_CORES 4u         /* of a node, for which its rows' windows are meant */
#define NODES_MOST 8u         /* as many nodes' pairs go into a series */

/* Few cores of a node go through few pages in a window of many; where prefetchers begin anew must not decide. Of many in memory the
 * longest window ends later than the others by a part that is another each time; in a row's value that must not decide either,
 * where lines go as well as come; nor how a last level that takes what the L2s give up has them mixed. */
static uint32_t window_of(const struct crowd *c)
{
	const unsigned few = c->row->order == ORDER_NODES && c->at_once && c->at_once < NODE_CORES ? (NODE_CORES + c->at_once - 1) / c->at_once : 1;
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const bool uneven = c->at_once > MANY_CORES || (last && last->level > 2 && !last->inclusive);
	const unsigned many = c->row->order == ORDER_CROWD && c->row->prepare == PREPARE_FILL && c->at_once == c->count && uneven ? 2 : 1;

	return c->row->window * few * many * (c->b->a->kind == ACCESS_SIM ? 1 : WINDOW_SCALE);
}

static uint64_t power_of_two_below(uint64_t n)
{
	uint64_t p = 1;

	while (p <= n / 2)
		p *= 2;
	return n ? p : 0;
}

static const uint32_t *groups_of(const struct bench *b, enum place place)
{
	if (place == PLACE_L1)
		return b->groups.core;
	return place == PLACE_L2 || cpu_last_level(b->cpu) < 3 ? b->groups.l2 : b->groups.last;
}

/* The most of the first n members that share a cache of that level. */
static unsigned sharers(const struct crowd *c, unsigned n, enum place place)
{
	const uint32_t *group = groups_of(c->b, place);
	unsigned most = 1;

	for (unsigned i = 0; i < n; i++) {
		unsigned same = 0;

		for (unsigned k = 0; k < n; k++)
			same += group[c->members[k].core] == group[c->members[i].core];
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

static const struct kernel *kernel_of(const struct bench *b, const struct row *r)
{
	for (const char *const *name = r->kernels; *name; name++) {
		const struct kernel *k = kernel_find(*name);

		if (k && !(k->isa & ~b->cpu->isa))
			return k;
	}
	return NULL;
}

/* How many iterations fill the level below a last level that takes what that one gives up: until it is full, it takes what a window
 * stores and gives nothing up. */
static uint64_t below_of(const struct crowd *c, const struct kernel *k)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu)), *below = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu) - 1);

	return below && !last->inclusive ? below->bytes / k->data_bytes * 5 / 4 : 0;
}

/* How many iterations member i makes of the 4/3 of a last level that all who share it go through: whole ways of its array, since a
 * part of a way would leave other sets than those as they were, which the windows come to next. */
static uint64_t fill_of(const struct crowd *c, unsigned n, unsigned i, const struct kernel *k)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const uint32_t *group = groups_of(c->b, PLACE_DRAM);
	const unsigned all = sharers(c, n, PLACE_DRAM), ways = last->ways && last->ways != 0xFFFF ? last->ways : 1;
	const uint64_t way = last->bytes / ways / k->step_bytes, wanted = ((uint64_t)ways * 4 / 3 * k->step_bytes + k->data_bytes - 1) / k->data_bytes;
	unsigned before = 0;

	for (unsigned m = 0; m < i; m++)
		before += group[c->members[m].core] == group[c->members[i].core];
	return (wanted * (before + 1) / all - wanted * before / all) * way + 1;
}

/* The most bytes of an array that one of the first n members fills the last level from. */
static uint64_t filled(const struct crowd *c, unsigned n, const struct kernel *k)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < n; i++) {
		const uint64_t bytes = (below_of(c, k) + fill_of(c, n, i, k)) * k->step_bytes;

		most = bytes > most ? bytes : most;
	}
	return most;
}

/* What is to lie between arrays of so many bytes, so that they go through the last level's sets together. */
static uint64_t apart_in_last(const struct crowd *c, uint64_t array_bytes)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const uint64_t way = last->ways && last->ways != 0xFFFF ? last->bytes / last->ways : 0, rest = way ? array_bytes % way : 0;

	return rest ? way - rest : 0;
}

static enum status shape_of(const struct crowd *c, unsigned n, struct shape *s, struct row_result *out)
{
	struct row alone = *c->row;
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	unsigned level = alone.place == PLACE_L1 ? 1 : alone.place == PLACE_L2 ? 2 : 3;
	const struct cpu_cache *own = cpu_cache(c->b->cpu, level), *below = cpu_cache(c->b->cpu, level - 1);
	uint64_t least, bytes;
	enum status st;

	alone.order = ORDER_STREAMS;
	alone.window = window_of(c);
	st = shape_of_test(&alone, c->b->cpu, s, out->reason, sizeof(out->reason));
	if (st != ST_OK || alone.prepare == PREPARE_FLUSH)
		return st;
	if (alone.place == PLACE_DRAM) {
		least = 8ull * alone.window * s->step_bytes; /* no window goes round, nor one of twice the length */
		/* nor does what fills the last level: the windows' lines would be in it */
		if (filled(c, n, kernel_of(c->b, c->row)) > least)
			least = filled(c, n, kernel_of(c->b, c->row));
		bytes = 2 * power_of_two_below(LAST_FACTOR * last->bytes / sharers(c, n, PLACE_DRAM) / s->arrays - 1);
		bytes = bytes > least ? bytes : 2 * power_of_two_below(least - 1);
		s->skew_bytes += apart_in_last(c, bytes);
		set_arrays(s, bytes);
		return ST_OK;
	}
	bytes = power_of_two_below(own->bytes / 4 * 3 / sharers(c, c->count, alone.place) / s->arrays);
	if (bytes >= s->array_bytes)
		return ST_OK;
	set_arrays(s, bytes);
	least = below ? 2 * below->bytes / (level == 3 ? sharers(c, c->count, PLACE_L2) : sharers(c, c->count, PLACE_L1)) : 0;
	if (s->bytes >= least && bytes)
		return ST_OK;
	str_copy(out->reason, sizeof(out->reason), "a core's share of the level is not twice as large as the one below");
	return ST_UNSUPPORTED;
}

/* Cores at equal places of their arrays would go through the same sets of a level that `all` of them share: modified and other
 * lines would come and go there in bunches, and where it has fewer ways they would push each other's out. So member i begins
 * elsewhere: in large arrays that much of a way further, small ones as far from the first as all before it are long. */
static void set_apart(const struct crowd *c, unsigned i, unsigned all, struct working_set *w)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu));
	const uint32_t *group = groups_of(c->b, PLACE_DRAM);
	const uint64_t way = last && last->ways && last->ways != 0xFFFF ? last->bytes / last->ways : 0;
	struct shape *s = &w->shape;
	unsigned before = 0;

	if (!way)
		return;
	for (unsigned m = 0; m < i; m++)
		before += group[c->members[m].core] == group[c->members[i].core];
	if (c->row->prepare == PREPARE_WARM || c->row->prepare == PREPARE_FLUSH) {
		if (all <= last->ways)
			return;
		s->start_bytes = before * ((s->span_bytes + s->line_bytes - 1) / s->line_bytes * s->line_bytes) % way;
		s->span_bytes += s->start_bytes;
	} else {
		w->at = (c->members[0].set.at + way / all * before / s->step_bytes * s->step_bytes) & (s->array_bytes - 1);
	}
}

/* Whether one of the first n members shares the last level with member i. */
static bool warmed(const struct crowd *c, unsigned n, unsigned i)
{
	const uint32_t *group = groups_of(c->b, PLACE_DRAM);
	bool is = false;

	for (unsigned k = 0; k < n; k++)
		is = is || group[c->members[k].core] == group[c->members[i].core];
	return is;
}

/* One visit of all members. */
static enum status visit(struct crowd *c, unsigned n)
{
	bool ignored;
	enum status st;

	for (unsigned i = 0; i < n; i++)
		window_arguments(&c->members[i].set, c->members[i].units, c->members[i].arguments);
	st = crowd_run(c, n, false, &ignored);
	for (unsigned i = 0; i < n; i++)
		c->members[i].set.at = c->members[i].window.result;
	return st;
}

/* Arrays that are to stay: two visits, or until one gets no shorter. */
static enum status settle(struct crowd *c, unsigned n)
{
	const unsigned most = c->settles ? VISITS_MAX : VISITS;
	uint64_t before = 0;
	enum status st = ST_OK;

	for (unsigned visits = 0; visits < most && st == ST_OK; visits++) {
		st = visit(c, n);
		if (visits && c->settles && crowd_ticks(c, n) >= before - before / SETTLED_PART)
			break;
		before = crowd_ticks(c, n);
	}
	return st;
}

/* Members from..n-1 are new. Their arrays come into the level, or the last levels that are new into the row's state. */
static enum status warm_up(struct crowd *c, unsigned from, unsigned n)
{
	const struct kernel *k = c->members[0].set.kernel;
	const struct kernel *visitor = kernel_find(window_visitor(c->row, k));
	const unsigned all = c->row->prepare == PREPARE_FILL && !from && below_of(c, k) ? c->count : n;
	unsigned more = 0;
	bool any = false;
	struct job job;
	enum status st = visitor ? ST_OK : ST_BROKEN;

	if (c->row->prepare == PREPARE_FLUSH)
		return ST_OK;
	/* the levels below, while what they held from before is pushed out of the last one */
	for (unsigned i = 0; i < all; i++) {
		struct member *m = &c->members[i];

		if (c->row->prepare == PREPARE_WARM)
			m->units = i >= from || c->settles ? m->set.shape.array_bytes / k->step_bytes : 1;
		else
			m->units = (all > n ? below_of(c, k) : 0) + (i >= from && i < n && !warmed(c, from, i) ? fill_of(c, n, i, k) : 1);
		any = any || m->units > 1;
		m->kernel = visitor;
	}
	if (any && st == ST_OK)
		st = c->row->prepare == PREPARE_WARM ? settle(c, n) : visit(c, all);
	if (any && st == ST_OK && c->row->prepare == PREPARE_FILL)
		st = window_fills(c->b, c->row, &c->members[0].set, c->members[0].units, &more, &job);
	while (more-- && st == ST_OK)
		st = visit(c, n);
	for (unsigned i = 0; i < all; i++)
		c->members[i].kernel = NULL;
	return st;
}

struct point {
	int64_t rate_milli, spread_milli, counts[ROW_PROOFS_MAX];
	unsigned good, rejected;
	struct traffic_result traffic;
};

/* The rate of the first n members; t counts beside them. */
static enum status measure(struct crowd *c, unsigned n, struct traffic *t, struct point *p)
{
	struct bench *b = c->b;
	unsigned wanted = b->repetitions ? b->repetitions : b->a->kind == ACCESS_SIM ? ROUNDS_SIMULATED : ROUNDS;
	uint64_t window = window_of(c);
	struct pair *tsc = b->tsc[0];
	struct slope slope, count;
	enum status st = ST_OK;

	memset(p, 0, sizeof(*p));
	for (unsigned round = 0; round < 1 + wanted * ROUNDS_FACTOR && p->good < wanted && st == ST_OK; round++) {
		bool together = true;

		for (unsigned longer = 0; longer < 2 && st == ST_OK; longer++) {
			bool this_one;

			for (unsigned i = 0; i < n; i++)
				c->members[i].units = window << longer;
			if (c->row->place == PLACE_DRAM) /* other cores may still hold lines from before */
				st = crowd_flush(c, n);
			traffic_before(t, b);
			if (st == ST_OK)
				st = crowd_run(c, n, c->counting.on, &this_one);
			if (st != ST_OK)
				return st;
			traffic_after(t, b, p->good, longer);
			together = together && this_one;
			*(longer ? &tsc[p->good].longer : &tsc[p->good].shorter) = (int64_t)crowd_ticks(c, n);
			for (unsigned e = 0; c->counting.on && e < c->counting.events; e++)
				*(longer ? &b->counts[0][e][p->good].longer : &b->counts[0][e][p->good].shorter) =
					(int64_t)c->members[0].window.counts[e];
		}
		if (round == 0)
			continue; /* warm-up */
		if (together)
			p->good++;
		else
			p->rejected++;
	}
	if (!p->good)
		return st;
	st = slope_of(tsc, p->good, (int64_t)window, STAT_MEDIAN, &slope);
	if (st == ST_OK && slope.value_micro > 0) {
		p->rate_milli = mul_div((int64_t)c->members[0].set.kernel->data_bytes * n * 1000000000, (int64_t)b->a->tsc_hz, slope.value_micro);
		p->spread_milli = mul_div(p->rate_milli, slope.spread_micro, slope.value_micro);
		traffic_reduce(t, b, p->good, (int64_t)window, slope.value_micro, &p->traffic);
	}
	for (unsigned e = 0; st == ST_OK && e < c->counting.proof_count; e++) {
		st = slope_of(b->counts[0][1 + e], p->good, (int64_t)window, STAT_MEDIAN, &count);
		p->counts[e] = mul_div(count.value_micro, 1, 1000);
		if (c->counting.proofs[e].per_load)
			p->counts[e] = mul_div(p->counts[e], 1, c->members[0].set.kernel->loads);
	}
	return st;
}

/* Of arrays in memory, the sockets of the first n members and those whose memory it is. */
static void want_sockets(const struct crowd *c, unsigned n, struct traffic *t)
{
	traffic_init(t, c->b);
	for (unsigned i = 0; i < n && c->row->place == PLACE_DRAM; i++) {
		traffic_want_core(t, c->b, c->members[i].core);
		traffic_want_node(t, c->b, c->members[i].set.map.node);
	}
}

static enum status counted(struct crowd *c, unsigned n, struct point *p)
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
	if (t.status != ST_OK) /* the rate stands without */
		p->traffic.sockets = 0;
	if (c->counting.on && (stopped = counters_stop(c->b->a, c->b->cpu, &c->counting.plan, 0, core)) != ST_OK && st == ST_OK)
		st = stopped;
	return st;
}

/* Whether the counts of a point are those of arrays that have come into their level. */
static bool all_there(const struct crowd *c, const struct point *p)
{
	char ignored[160];
	struct text t;

	text_init(&t, ignored, sizeof(ignored));
	return p->good && c->counting.proof_count && proof_holds(c->counting.proofs, c->counting.proof_count, p->counts, "iteration", &t);
}

/* The value of a row is one of its points. */
static void take(const struct crowd *c, const struct point *p, struct row_result *out)
{
	const char *noise = "";
	struct text proof, reason;

	out->value_milli = p->rate_milli;
	out->spread_milli = p->spread_milli;
	out->traffic = p->traffic;
	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	out->noisy = is_noisy(p->spread_milli, p->rate_milli, p->good, STAT_MEDIAN, &noise);
	out->status = ROW_UNPROVEN;
	if (!p->good) {
		out->status = ROW_NOISY;
		out->noisy = true;
		text_fmt(&reason, "the cores never began together");
	} else if (!c->counting.proof_count) {
		text_fmt(&reason, c->b->cycles ? "this processor has no event that proves it" : "no performance counters");
	} else if (!proof_holds(c->counting.proofs, c->counting.proof_count, p->counts, "iteration", &proof)) {
		text_fmt(&reason, "counted %s", out->proof);
	} else {
		out->status = out->noisy ? ROW_NOISY : ROW_OK;
		text_fmt(&reason, "%s", out->noisy ? noise : "");
	}
}

static unsigned node_of(const struct bench *b, unsigned core)
{
	return b->a->core_node ? b->a->core_node[core] : 0;
}

/* The next number of cores: twice as many, but also all of the first socket, then all. */
static unsigned next_point(const struct crowd *c, unsigned n)
{
	const uint32_t *package = c->b->groups.package;
	unsigned socket = 0;

	while (socket < c->count && package[c->members[socket].core] == package[c->members[0].core])
		socket++;
	if (n < socket && 2 * n > socket)
		return socket;
	return 2 * n < c->count ? 2 * n : c->count;
}

/* Members from..n-1, which begin when n are at work, get arrays as long as that number wants; they keep them when more are. */
static enum status join(struct crowd *c, unsigned from, unsigned n, struct row_result *out)
{
	struct shape s;
	enum status st = shape_of(c, n, &s, out);

	for (unsigned i = from; i < n && st == ST_OK; i++) {
		struct working_set *w = &c->members[i].set;

		w->shape = s;
		w->kernel = kernel_of(c->b, c->row);
		set_apart(c, i, sharers(c, c->count, PLACE_DRAM), w);
		st = crowd_map(c, i, node_of(c->b, c->members[i].core), out);
		out->footprint_bytes += w->shape.bytes;
	}
	return st;
}

static enum status curve(struct crowd *c, struct row_result *out)
{
	static const char *const columns[] = { "cores", "bytes_per_second" };
	struct point p = { 0 };
	unsigned from = 0;
	enum status st = ST_OK;

	out->series.columns = columns;
	out->series.column_count = 2;
	crowd_everybody(c);
	if (c->count < 2) {
		str_copy(out->reason, sizeof(out->reason), "one core");
		return ST_UNSUPPORTED;
	}
	for (unsigned n = 1; st == ST_OK; from = n, n = next_point(c, n)) {
		st = join(c, from, n, out);
		if (n == c->count)
			break;
	}
	from = 0;
	for (unsigned n = 1; st == ST_OK; n = next_point(c, n)) {
		/* the first ones have gone on since; who has visited its arrays stays where it is */
		for (unsigned i = from; from && i < n && c->row->prepare == PREPARE_FILL && !below_of(c, c->members[i].set.kernel); i++)
			set_apart(c, i, sharers(c, c->count, PLACE_DRAM), &c->members[i].set);
		st = warm_up(c, from, n);
		c->at_once = n;
		if (st == ST_OK)
			st = counted(c, n, &p);
		/* not all there: no level that replaces the oldest, so all visit theirs until they are */
		if (st == ST_OK && c->row->prepare == PREPARE_WARM && !c->settles && !all_there(c, &p)) {
			c->settles = true;
			st = warm_up(c, 0, n);
			if (st == ST_OK)
				st = counted(c, n, &p);
		}
		out->rejected += p.rejected;
		out->samples += p.good;
		series_add(&out->series, (int64_t[]){ (int64_t)n * 1000, p.rate_milli });
		if (n == c->count)
			break;
		from = n;
	}
	if (st == ST_OK)
		take(c, &p, out);
	return st;
}

/* All cores of a node in memory of one node. */
static enum status pair_of_nodes(struct crowd *c, unsigned from, unsigned to, struct point *p, struct row_result *out)
{
	const struct access *a = c->b->a;
	enum status st = ST_OK;

	c->count = c->at_once = 0;
	for (unsigned i = 0; i < a->cores && i < CORES_MAX; i++)
		c->at_once += c->b->places.core[i] && node_of(c->b, i) == from;
	for (unsigned i = 0; i < a->cores && i < CORES_MAX && c->count < CROWD_MAX && st == ST_OK; i++) {
		struct member *m = &c->members[c->count];

		if (!c->b->places.core[i] || node_of(c->b, i) != from)
			continue;
		m->core = i;
		m->set.kernel = kernel_of(c->b, c->row);
		m->set.at = 0;
		st = shape_of(c, 1, &m->set.shape, out);
		if (st == ST_OK)
			set_apart(c, c->count, c->at_once, &m->set);
		if (st == ST_OK)
			st = crowd_map(c, c->count, to, out);
		out->footprint_bytes = m->set.shape.bytes;
		c->count++;
	}
	if (st == ST_OK && c->count)
		st = counted(c, c->count, p);
	for (unsigned i = 0; i < c->count; i++) {
		struct working_set *w = &c->members[i].set;

		if (w->mapped && a->ops->unmap(a->self, &w->map) != ST_OK && st == ST_OK)
			st = ST_BROKEN;
		w->mapped = false;
	}
	return st;
}

/* The row's value is its least point, as measured. */
static enum status nodes(struct crowd *c, struct row_result *out)
{
	static const char *const columns[] = { "cores_node", "memory_node", "bytes_per_second" };
	unsigned count = c->b->a->nodes < NODES_MOST ? c->b->a->nodes : NODES_MOST;
	struct point least = { .rate_milli = INT64_MAX }, p = { 0 };
	enum status st = ST_OK;

	out->series.columns = columns;
	out->series.column_count = 3;
	if (c->row->node && cores_node(c->b, 1) == cores_node(c->b, 0)) {
		str_copy(out->reason, sizeof(out->reason), "one memory node");
		return ST_UNSUPPORTED;
	}
	if (c->b->a->nodes > NODES_MOST)
		str_copy(out->remark, sizeof(out->remark), "the first 8 nodes alone");
	for (unsigned from = 0; from < count; from++)
		for (unsigned to = 0; to < count && st == ST_OK; to++) {
			if ((from != to) != c->row->node || !c->b->places.node[from] || !c->b->places.node[to])
				continue;
			st = pair_of_nodes(c, from, to, &p, out);
			if (st != ST_OK || !c->count) /* a node without cores */
				continue;
			out->rejected += p.rejected;
			out->samples += p.good;
			series_add(&out->series, (int64_t[]){ (int64_t)from * 1000, (int64_t)to * 1000, p.rate_milli });
			if (p.rate_milli < least.rate_milli)
				least = p;
		}
	if (st == ST_OK)
		take(c, &least, out);
	return st;
}

void crowd_row(struct bench *b, const struct row *r, struct row_result *out)
{
	struct crowd c;
	struct text why;
	enum status st = crowd_begin(&c, b, r), ended;

	text_init(&why, out->reason, sizeof(out->reason));
	evidence_plan(b, r, &c.counting, &why);
	if (c.counting.on && c.counting.plan.runs > 1) {
		c.counting.proof_count = 0;
		c.counting.on = false;
	}
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
		crowd_failed(&c, st, out);
	}
	ended = crowd_end(&c);
	if (ended != ST_OK && out->status == ROW_OK)
		crowd_failed(&c, ended, out);
}
