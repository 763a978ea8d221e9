/* bench/uncore/latency_breakdown.c: a chase's loads by the uncore's boxes.
 *
 * The table of requests (TOR) and the ingress queue before it count occupancy on the same single counter, so each group of events has a window of
 * its own, of the row's shorter length and prepared like it. An entry's residence is occupancy over inserts of the same window. A count per load
 * includes the window's prologue and epilogue: a few lines of code in a thousand loads.
 *
 * The home agent's tracker holds a read from its arrival until its data leaves. The difference to its time in the table is the transfer to the
 * home and back, including the link if the home is in another socket. A chase in local memory gives the transfer without a link. No event
 * separates the DRAM from its home agent.
 * Events: manual 331051-002, 2.3.5 (CBo), 2.5.7 (iMC), 2.9.6 (QPI). */
#include "bench/uncore/latency_breakdown.h"

#include "bench/measure/cores.h"
#include "pmu/core/concept.h"

#define ONE_HOME_MILLI 950 /* entries per load, thousandths: all loads go to that home */
#define FEW_MILLI 50       /* entries per load, thousandths: with fewer, no residence is reported */

enum { INGRESS, INGRESS_INSERTS, ALL, ALL_INSERTS, LOCAL, LOCAL_INSERTS, REMOTE, REMOTE_INSERTS, OF_TABLE, FLITS = OF_TABLE, OF_READER };
enum { READS, OPENED, CLOSED, OF_HOME };

static const char *const of_reader[OF_READER] = {
	[INGRESS] = "queue.ingress.occupancy", [INGRESS_INSERTS] = "queue.ingress.inserts",
	[ALL] = "queue.read.occupancy", [ALL_INSERTS] = "queue.read.inserts",
	[LOCAL] = "queue.read.miss.local.occupancy", [LOCAL_INSERTS] = "queue.read.miss.local.inserts",
	[REMOTE] = "queue.read.miss.remote.occupancy", [REMOTE_INSERTS] = "queue.read.miss.remote.inserts",
	[FLITS] = "link.data.received",
};
static const char *const of_home[OF_HOME] = {
	[READS] = "channel.read", [OPENED] = "channel.activate.read", [CLOSED] = "channel.precharge.page_miss",
};

enum status latency_breakdown_count(struct loop *l, unsigned set, const char *const *names, unsigned n, unsigned socket, uint64_t lock_va, uint64_t *values)
{
	struct bench *b = l->b;
	struct uncore_plan plan;
	const char *problem;
	uint64_t before[UNCORE_EVENTS_MAX] = { 0 }, after[UNCORE_EVENTS_MAX] = { 0 };
	struct working_set *w = &l->sets[set];
	struct window out;
	enum status st = uncore_plan(&b->uncore, names, n, &plan, &problem);

	for (unsigned run = 0; st == ST_OK && run < plan.runs; run++) {
		st = uncore_start(b->a, &b->uncore, &plan, run, socket, lock_va);
		if (st == ST_OK)
			st = window_prepare(b, l->row, w, set == 0 ? WINDOW_TEST : WINDOW_BASELINE, w->window, &l->job);
		if (st == ST_OK)
			st = uncore_values(b->a, &b->uncore, &plan, run, socket, before);
		if (st == ST_OK)
			st = window_units(b, w, w->window, NULL, 0, &out, &l->job);
		if (st == ST_OK)
			st = uncore_values(b->a, &b->uncore, &plan, run, socket, after);
		const enum status stop = uncore_stop(b->a, &b->uncore, &plan, run, socket);

		st = st == ST_OK ? stop : st;
		for (unsigned i = 0; i < n && st == ST_OK; i++)
			if (plan.slots[i].run == run)
				values[i] = uncore_moved(&b->uncore, &plan.slots[i], before[i], after[i]);
	}
	return st;
}

/* Same, for a group of concepts. */
static enum status count(struct loop *l, const char *const *concept, unsigned n, unsigned socket, uint64_t lock_va, uint64_t *values)
{
	const char *names[OF_READER];

	for (unsigned i = 0; i < n; i++) {
		names[i] = concept_uncore(l->b->cpu->processor, concept[i], 0);
		if (!names[i])
			return ST_UNSUPPORTED;
	}
	return latency_breakdown_count(l, 0, names, n, socket, lock_va, values);
}

static int64_t each(const struct loop *l, uint64_t n) { return mul_div((int64_t)n, 1000, (int64_t)l->sets[0].window); }

/* Residence, from two counts of one window; -1: too few entries. */
static int64_t held(const struct loop *l, uint64_t occupancy, uint64_t inserts)
{
	return each(l, inserts) < FEW_MILLI ? -1 : mul_div((int64_t)occupancy, 1000, (int64_t)inserts);
}

static int64_t less(int64_t a, int64_t b) { return a > b ? a - b : 0; }

static enum status home_of(const struct loop *l, unsigned own, unsigned *socket)
{
	const struct bench *b = l->b;

	*socket = own;
	return l->row->node ? uncore_socket_of_node(b->a, &b->uncore, cores_node(b, l->row->node), socket) : ST_OK;
}

/* If all loads go to one home: their time there, and on the way there and back. */
static void way_to_home(struct bench *b, int64_t home_milli, struct latency_breakdown_result *r)
{
	const bool local = r->entries_milli[BREAKDOWN_LOCAL] >= ONE_HOME_MILLI, remote = r->entries_milli[BREAKDOWN_REMOTE] >= ONE_HOME_MILLI;
	const int64_t held_milli = r->held_milli[local ? BREAKDOWN_LOCAL : BREAKDOWN_REMOTE];

	r->home_milli = r->way_milli = r->link_milli = -1;
	if (local == remote || home_milli < 0 || held_milli < home_milli)
		return;
	r->home_milli = home_milli;
	r->way_milli = held_milli - home_milli;
	if (local)
		b->way_home_milli = r->way_milli;
	else if (b->way_home_milli && r->way_milli >= b->way_home_milli)
		r->link_milli = r->way_milli - b->way_home_milli;
}

void latency_breakdown_row(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	struct latency_breakdown_result *r = &out->queue.breakdown;
	struct mapping lock = { .va = SPACE_LOCK, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
	uint64_t v[OF_READER] = { 0 }, h[OF_HOME] = { 0 };
	unsigned socket = 0, home = 0;

	if ((out->queue.verdict != UNCORE_LATENCY_OK && !b->a->dry) || !concept_uncore(b->cpu->processor, of_reader[LOCAL], 0) ||
	    uncore_socket(b->a, &b->uncore, b->core, &socket) != ST_OK || b->a->ops->map(b->a->self, &lock) != ST_OK)
		return;
	const bool table = count(l, of_reader, OF_TABLE, socket, lock.va, v) == ST_OK;
	const bool links = table && count(l, &of_reader[FLITS], 1, socket, lock.va, &v[FLITS]) == ST_OK;
	const bool pages = table && home_of(l, socket, &home) == ST_OK && count(l, of_home, OF_HOME, home, lock.va, h) == ST_OK;

	if (b->a->ops->unmap(b->a->self, &lock) != ST_OK || !table)
		return;
	r->there = true;
	r->uncore_hz = out->queue.uncore_hz;
	r->ingress_milli = held(l, v[INGRESS], v[INGRESS_INSERTS]);
	r->entries_milli[BREAKDOWN_LOCAL] = each(l, v[LOCAL_INSERTS]);
	r->entries_milli[BREAKDOWN_REMOTE] = each(l, v[REMOTE_INSERTS]);
	r->entries_milli[BREAKDOWN_HIT] = less(each(l, v[ALL_INSERTS]), r->entries_milli[BREAKDOWN_LOCAL] + r->entries_milli[BREAKDOWN_REMOTE]);
	r->held_milli[BREAKDOWN_LOCAL] = held(l, v[LOCAL], v[LOCAL_INSERTS]);
	r->held_milli[BREAKDOWN_REMOTE] = held(l, v[REMOTE], v[REMOTE_INSERTS]);
	r->held_milli[BREAKDOWN_HIT] = held(l, (uint64_t)less((int64_t)v[ALL], (int64_t)(v[LOCAL] + v[REMOTE])),
	                                (uint64_t)less((int64_t)v[ALL_INSERTS], (int64_t)(v[LOCAL_INSERTS] + v[REMOTE_INSERTS])));
	r->pages_milli[BREAKDOWN_PAGE_HIT] = pages ? each(l, (uint64_t)less((int64_t)h[READS], (int64_t)h[OPENED])) : -1;
	r->pages_milli[BREAKDOWN_PAGE_EMPTY] = pages ? each(l, (uint64_t)less((int64_t)h[OPENED], (int64_t)h[CLOSED])) : -1;
	r->pages_milli[BREAKDOWN_PAGE_MISS] = pages ? each(l, h[CLOSED]) : -1;
	r->flits_milli = links ? each(l, v[FLITS]) : -1;
	way_to_home(b, out->queue.home_milli, r);
}

/* --- output ------------------------------------------------------------------------------------ */

static const char *const answers[BREAKDOWN_ANSWERS] = { "hit", "local_miss", "remote_miss" };
static const char *const page_names[BREAKDOWN_PAGES] = { "hit", "empty", "miss" };

static void milli_or_null(struct text *t, int64_t milli)
{
	if (milli < 0)
		text_fmt(t, "null");
	else
		text_fixed(t, milli, 3);
}

static void json_group(struct text *t, const char *key, const char *const *names, const int64_t *values, unsigned n)
{
	text_fmt(t, ", \"%s\": {", key);
	for (unsigned i = 0; i < n; i++) {
		text_fmt(t, "%s\"%s\": ", i ? ", " : "", names[i]);
		milli_or_null(t, values[i]);
	}
	text_char(t, '}');
}

void latency_breakdown_json(struct text *t, const struct latency_breakdown_result *r)
{
	if (!r->there) {
		text_fmt(t, "null");
		return;
	}
	text_fmt(t, "{\"ingress\": ");
	milli_or_null(t, r->ingress_milli);
	json_group(t, "held", answers, r->held_milli, BREAKDOWN_ANSWERS);
	json_group(t, "entries", answers, r->entries_milli, BREAKDOWN_ANSWERS);
	json_group(t, "pages", page_names, r->pages_milli, BREAKDOWN_PAGES);
	text_fmt(t, ", \"data_flits\": ");
	milli_or_null(t, r->flits_milli);
	text_fmt(t, ", \"home\": ");
	milli_or_null(t, r->home_milli);
	text_fmt(t, ", \"way\": ");
	milli_or_null(t, r->way_milli);
	text_fmt(t, ", \"link\": ");
	milli_or_null(t, r->link_milli);
	text_char(t, '}');
}

void latency_breakdown_print_time(struct text *t, const char *what, int64_t milli, uint64_t uncore_hz)
{
	text_fmt(t, "%s ", what);
	text_fixed(t, mul_div(milli, 1, 100), 1);
	if (uncore_hz) {
		text_fmt(t, " (");
		text_fixed(t, mul_div(milli, 10000000, (int64_t)uncore_hz), 1);
		text_fmt(t, " ns)");
	}
}

static void table_time(struct text *t, const struct latency_breakdown_result *r, const char *what, int64_t milli)
{
	if (milli < 0)
		return;
	latency_breakdown_print_time(t, what, milli, r->uncore_hz);
	text_fmt(t, ", ");
}

void latency_breakdown_table_line(struct text *t, const struct latency_breakdown_result *r)
{
	static const char *const held_in[BREAKDOWN_ANSWERS] = { "table, hit", "table, local miss", "table, remote miss" };

	if (!r->there)
		return;
	text_fmt(t, "  by boxes, uncore cycles: ");
	table_time(t, r, "ingress", r->ingress_milli);
	for (unsigned i = 0; i < BREAKDOWN_ANSWERS; i++)
		table_time(t, r, held_in[i], r->held_milli[i]);
	table_time(t, r, "of it at the home with its DRAM", r->home_milli);
	table_time(t, r, "on the way there and back", r->way_milli);
	table_time(t, r, "of that on the link", r->link_milli);
	text_fmt(t, "a load's pages");
	for (unsigned i = 0; i < BREAKDOWN_PAGES; i++) {
		text_fmt(t, " %s ", page_names[i]);
		milli_or_null(t, r->pages_milli[i]);
	}
	text_fmt(t, ", data flits ");
	milli_or_null(t, r->flits_milli);
	text_fmt(t, "\n");
}
