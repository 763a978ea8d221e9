/* bench/uncore/latency_loaded.c: see latency_loaded.h.
 *
 * The table of requests holds a read from the L3's lookup until its data is there, its home from the read's arrival until the data leaves. Both
 * are counted at once, so the home's residence is a part of the table's: the rest is the lookup and the way to the home and back. The home's
 * residence grows under load by the queue in front of the memory's channels, since the home and the DRAM themselves take as long as before. Under
 * load the boxes hold the reads of all cores, of which the chase's are few: residences are those of the mean read. The rest of the chase's penalty
 * is spent waiting for the table, which may be full (Nehalem's 32 entries are), or waiting longer than the mean read.
 * Events: manual 331051-002, 2.3.5 (CBo), 2.4 (HA); guide, tables 22 and 31. */
#include "bench/uncore/latency_loaded.h"

#include "bench/uncore/uncore_latency.h"
#include "pmu/core/concept.h"

#define WINDOWS 3u            /* wanted of each state; */
#define WINDOWS_TRIED 6u      /* some do not begin together */
#define ENTRIES_LEAST 950     /* entries per load of the lone chase, thousandths: all its loads make one */
#define ENTRIES_MOST 1100     /* allows for entries of other reads */

enum { TABLE, TABLE_INSERTS, HOME, HOME_INSERTS, CLOCK, EVENTS };
static const char *const concept_of[2][EVENTS] = {
	{ "queue.read.miss.local.occupancy", "queue.read.miss.local.inserts", "home.read.local.occupancy", "home.read.local.inserts", "uncore.cycles" },
	/* where the table does not distinguish whose memory answers: all misses */
	{ "queue.read.miss.occupancy", "queue.read.miss.inserts", "home.read.local.occupancy", "home.read.local.inserts", "uncore.cycles" },
};

struct counts {
	struct uncore_plan plan;
	unsigned event[UNCORE_EVENTS_MAX]; /* of each slot */
	unsigned socket;
	uint64_t moved[LATENCY_LOADED_STATES][EVENTS], ticks;
};

static const char *name_of(const struct bench *b, unsigned event)
{
	const char *name = NULL;

	for (unsigned i = 0; i < COUNT_OF(concept_of) && !name; i++)
		if (concept_uncore(b->cpu->processor, concept_of[i][TABLE], 0) || i)
			name = concept_uncore(b->cpu->processor, concept_of[i][event], 0);
	return name;
}

/* Plans the table and the clock, with the home where it has a tracker, in one run. */
static bool plan(const struct bench *b, struct counts *c)
{
	const char *names[EVENTS], *problem = "";
	const struct uncore_box *box;
	unsigned n = 0;

	for (unsigned e = 0; e < EVENTS; e++) {
		const char *name = name_of(b, e);

		if (!name || !uncore_event_find(b->cpu->processor, name, &box) || !uncore_instances(&b->uncore, box, c->socket))
			continue;
		c->event[n] = e;
		names[n++] = name;
	}
	return uncore_plan(&b->uncore, names, n, &c->plan, &problem) == ST_OK && c->plan.runs == 1;
}

static enum status one_window(struct bench *b, struct counts *c, const struct latency_loaded_chase *chase, enum latency_loaded_state state, bool *together)
{
	uint64_t before[UNCORE_EVENTS_MAX] = { 0 }, after[UNCORE_EVENTS_MAX] = { 0 }, began = 0, ended = 0;
	enum status st = uncore_values(b->a, &b->uncore, &c->plan, 0, c->socket, before);

	if (st == ST_OK)
		st = b->a->ops->rdtsc(b->a->self, b->core, &began);
	if (st == ST_OK)
		st = chase->window(chase->self, state, chase->loads[state], together);
	if (st == ST_OK)
		st = b->a->ops->rdtsc(b->a->self, b->core, &ended);
	if (st == ST_OK)
		st = uncore_values(b->a, &b->uncore, &c->plan, 0, c->socket, after);
	for (unsigned i = 0; i < c->plan.count && st == ST_OK && *together; i++)
		c->moved[state][c->event[i]] += uncore_moved(&b->uncore, &c->plan.slots[i], before[i], after[i]);
	c->ticks += st == ST_OK && *together ? ended - began : 0;
	return st;
}

/* Windows of both states. *good: the smaller of their numbers. */
static enum status windows(struct bench *b, struct counts *c, const struct latency_loaded_chase *chase, unsigned *good)
{
	unsigned done[LATENCY_LOADED_STATES] = { 0 };
	enum status st = ST_OK;

	for (unsigned i = 0; i < WINDOWS_TRIED && st == ST_OK; i++)
		for (unsigned s = 0; s < LATENCY_LOADED_STATES && st == ST_OK; s++) {
			bool together = true;

			if (done[s] < WINDOWS)
				st = one_window(b, c, chase, s, &together);
			done[s] += st == ST_OK && together && done[s] < WINDOWS;
		}
	*good = done[0] < done[1] ? done[0] : done[1];
	return st;
}

static int64_t held(const uint64_t moved[EVENTS], unsigned occupancy)
{
	return moved[occupancy + 1] ? mul_div((int64_t)moved[occupancy], 1000, (int64_t)moved[occupancy + 1]) : -1;
}

static void judge(struct bench *b, const struct counts *c, const struct latency_loaded_chase *chase, unsigned good, struct latency_loaded_result *out)
{
	const int64_t loads = (int64_t)(chase->loads[LATENCY_ALONE] * good);
	struct text t;

	text_init(&t, out->reason, sizeof(out->reason));
	if (!good) {
		text_fmt(&t, "the cores never began together");
		return;
	}
	out->entries_milli = mul_div((int64_t)c->moved[LATENCY_ALONE][TABLE_INSERTS], 1000, loads);
	out->uncore_hz = c->ticks ? (uint64_t)mul_div((int64_t)(c->moved[0][CLOCK] + c->moved[1][CLOCK]), (int64_t)b->a->tsc_hz, (int64_t)c->ticks) : 0;
	for (unsigned s = 0; s < LATENCY_LOADED_STATES; s++) {
		out->table_milli[s] = held(c->moved[s], TABLE);
		out->home_milli[s] = held(c->moved[s], HOME);
	}
	out->before_milli = mul_div(chase->penalty_milli, (int64_t)out->uncore_hz, (int64_t)b->a->tsc_hz) - (out->table_milli[LATENCY_LOADED] - out->table_milli[LATENCY_ALONE]);
	out->windows = good;
	out->verdict = UNCORE_LATENCY_OK;
	if (out->entries_milli >= ENTRIES_LEAST && out->entries_milli <= ENTRIES_MOST)
		return;
	out->verdict = UNCORE_LATENCY_UNPROVEN;
	text_fixed(&t, out->entries_milli, 3);
	text_fmt(&t, " entries a load of the lone chase: other traffic, or loads that did not come so far");
}

void latency_loaded_count(struct bench *b, const struct latency_loaded_chase *chase, struct latency_loaded_result *out)
{
	struct counts c = { 0 };
	struct mapping lock = { .va = SPACE_LOCK, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
	unsigned good = 0;
	enum status st, stopped;

	if (b->uncore.absent || !name_of(b, TABLE) || uncore_socket(b->a, &b->uncore, b->core, &c.socket) != ST_OK || !plan(b, &c))
		return;
	out->verdict = UNCORE_LATENCY_FAILED;
	str_copy(out->reason, sizeof(out->reason), "no page for the bus lock");
	if (b->a->ops->map(b->a->self, &lock) != ST_OK)
		return;
	st = uncore_start(b->a, &b->uncore, &c.plan, 0, c.socket, lock.va);
	if (st == ST_OK)
		st = windows(b, &c, chase, &good);
	stopped = uncore_stop(b->a, &b->uncore, &c.plan, 0, c.socket);
	st = st == ST_OK ? stopped : st;
	if (b->a->ops->unmap(b->a->self, &lock) != ST_OK && st == ST_OK)
		st = ST_BROKEN;
	out->verdict = st == ST_OK ? UNCORE_LATENCY_UNPROVEN : st == ST_UNSUPPORTED ? UNCORE_LATENCY_UNSUPPORTED : uncore_latency_verdict_of(st);
	str_copy(out->reason, sizeof(out->reason), st == ST_UNSUPPORTED ? "a box of it does not keep written values" : status_name(st));
	if (st == ST_OK)
		judge(b, &c, chase, good, out);
}

/* --- output ------------------------------------------------------------------------------------ */

/* The home's queue; where no home is counted, the table's: what a read waits more under load than alone. */
static int64_t queue_of(const struct latency_loaded_result *r)
{
	const int64_t *held_milli = r->home_milli[LATENCY_LOADED] >= 0 && r->home_milli[LATENCY_ALONE] >= 0 ? r->home_milli : r->table_milli;

	return held_milli[LATENCY_LOADED] - held_milli[LATENCY_ALONE];
}

/* The L3's lookup and the way to the home. 0 where the table counts from the L3's miss on, as the home does; -1: no home is counted. */
static int64_t way_of(const struct latency_loaded_result *r)
{
	const int64_t way = r->table_milli[LATENCY_LOADED] - r->home_milli[LATENCY_LOADED];

	return r->home_milli[LATENCY_LOADED] < 0 ? -1 : way < 0 ? 0 : way;
}

void latency_loaded_json(struct text *t, const struct latency_loaded_result *r)
{
	static const char *const names[LATENCY_LOADED_STATES] = { "alone", "loaded" };
	const bool there = r->windows > 0;

	if (r->verdict == UNCORE_LATENCY_NONE) {
		text_fmt(t, "null");
		return;
	}
	text_fmt(t, "{\"verdict\": \"%s\", \"reason\": \"", uncore_latency_verdict_name(r->verdict));
	text_json(t, r->reason);
	text_fmt(t, "\", \"entries\": ");
	text_fixed_or_null(t, r->entries_milli, 3, there);
	for (unsigned s = 0; s < LATENCY_LOADED_STATES; s++) {
		text_fmt(t, ", \"%s\": {\"table\": ", names[s]);
		text_fixed_or_null(t, r->table_milli[s], 3, there && r->table_milli[s] >= 0);
		text_fmt(t, ", \"home\": ");
		text_fixed_or_null(t, r->home_milli[s], 3, there && r->home_milli[s] >= 0);
		text_char(t, '}');
	}
	text_fmt(t, ", \"way\": ");
	text_fixed_or_null(t, way_of(r), 3, there && way_of(r) >= 0);
	text_fmt(t, ", \"queue\": ");
	text_fixed_or_null(t, queue_of(r), 3, there);
	text_fmt(t, ", \"before\": ");
	text_fixed_or_null(t, r->before_milli, 3, there);
	text_fmt(t, ", \"uncore_hz\": %llu, \"windows\": %u}", (unsigned long long)r->uncore_hz, r->windows);
}

void latency_loaded_table_line(struct text *t, const struct latency_loaded_result *r)
{
	if (r->verdict == UNCORE_LATENCY_NONE || r->verdict == UNCORE_LATENCY_UNSUPPORTED)
		return;
	text_fmt(t, "  under load by boxes, %s", r->verdict == UNCORE_LATENCY_OK ? "uncore cycles: " : uncore_latency_verdict_name(r->verdict));
	if (r->verdict != UNCORE_LATENCY_OK) {
		text_fmt(t, ": %s\n", r->reason);
		return;
	}
	latency_breakdown_print_time(t, "in the table", r->table_milli[LATENCY_LOADED], r->uncore_hz);
	if (way_of(r) >= 0) {
		latency_breakdown_print_time(t, "; of it the L3 and the way to the home", way_of(r), r->uncore_hz);
		latency_breakdown_print_time(t, ", home and DRAM", r->home_milli[LATENCY_ALONE], r->uncore_hz);
	}
	latency_breakdown_print_time(t, r->home_milli[LATENCY_LOADED] >= 0 ? ", queue of the channels" : "; more than alone, in queues,", queue_of(r), r->uncore_hz);
	latency_breakdown_print_time(t, "; before it", r->before_milli, r->uncore_hz);
	text_fmt(t, "\n");
}
