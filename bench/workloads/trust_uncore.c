/* bench/workloads/trust_uncore.c: see trust.h. The boxes of a socket count around pairs of windows of the row's kernel; the slope cancels the
 * traffic of the readings and the preparation. */
#include "bench/workloads/trust.h"

#include "bench/measure/cores.h"
#include "bench/measure/reduce.h"

#define PAIRS 5u
#define PAIRS_SIMULATED 1u
#define ROUNDS_FACTOR 2u   /* rounds at most, per pair wanted: disturbed ones are repeated */
#define TERMS_MOST 8u     /* terms of a concept: one per channel */

/* One socket's events for a row: each slot of the plan is a term of an entry. */
struct trust_request {
	struct loop *l;
	struct uncore_plan plan;
	uint8_t entry[UNCORE_EVENTS_MAX];
	unsigned socket;
	uint64_t lock_va;
	struct pair pairs[UNCORE_EVENTS_MAX + 1][PAIRS]; /* the last: ticks */
};

static bool of_row(unsigned entry, const struct row *row, enum trust_side side)
{
	return trust_table[entry].side == side && str_equal(trust_table[entry].row, row->name);
}

/* Why the events of an expression cannot be compared with a known count here; NULL: they can. */
static const char *why_not(const struct bench *b, const struct expression *x, const char *concept, unsigned socket)
{
	const struct uncore_box *box = NULL;
	const char *name = x && x->exactness == EXACTNESS_EXACT ? concept_uncore(b->cpu->processor, concept, 0) : NULL;

	if (!name)
		return x && x->why ? x->why : "no events of this processor are known";
	if (b->uncore.absent)
		return b->uncore.absent;
	if (uncore_event_find(b->cpu->processor, name, &box) && uncore_instances(&b->uncore, box, socket))
		return NULL;
	return box && b->uncore.box_absent[box - b->cpu->processor->boxes] ? b->uncore.box_absent[box - b->cpu->processor->boxes] : "this socket has no such box";
}

/* Plans a socket's entries of the row; what cannot be counted gets its reason. False: there is nothing to count. */
static bool ask(struct trust_request *a, const struct bench *b, const struct row *row, enum trust_side side, struct trust_result *out)
{
	const char *names[UNCORE_EVENTS_MAX], *problem = "";
	unsigned n = 0;

	for (unsigned i = 0; i < TRUST_ENTRIES; i++) {
		if (!of_row(i, row, side))
			continue;
		const char *concept = trust_table[i].concept;
		const struct expression *x = concept_find(b->cpu->processor, concept);
		const char *why = why_not(b, x, concept, a->socket);

		out->entries[i].event = x && x->exactness != EXACTNESS_NONE ? x->text : NULL;
		if (why)
			str_copy(out->entries[i].reason, sizeof(out->entries[i].reason), why);
		for (unsigned p = 0; !why && p < TERMS_MOST && n < UNCORE_EVENTS_MAX; p++) {
			names[n] = concept_uncore(b->cpu->processor, concept, p);
			if (!names[n])
				break;
			a->entry[n++] = (uint8_t)i;
		}
	}
	if (!n)
		return false;
	if (uncore_plan(&b->uncore, names, n, &a->plan, &problem) == ST_OK)
		return true;
	for (unsigned i = 0; i < n; i++)
		str_copy(out->entries[a->entry[i]].reason, sizeof(out->entries[0].reason), "its events do not fit into a plan");
	return false;
}

/* One window; what the slots of the run counted, and the ticks, go into pair number `keep`. */
static enum status one_window(struct trust_request *a, unsigned run, bool longer, unsigned keep)
{
	struct bench *b = a->l->b;
	struct working_set *w = &a->l->sets[0];
	const uint64_t units = (uint64_t)w->window << longer;
	uint64_t before[UNCORE_EVENTS_MAX] = { 0 }, after[UNCORE_EVENTS_MAX] = { 0 };
	struct window out;
	enum status st = window_prepare(b, a->l->row, w, WINDOW_TEST, units, &a->l->job);

	if (st == ST_OK)
		st = uncore_values(b->a, &b->uncore, &a->plan, run, a->socket, before);
	if (st == ST_OK)
		st = window_units(b, w, units, NULL, 0, &out, &a->l->job);
	if (st == ST_OK)
		st = uncore_values(b->a, &b->uncore, &a->plan, run, a->socket, after);
	if (st != ST_OK)
		return st;
	for (unsigned s = 0; s <= a->plan.count; s++) {
		struct pair *p = &a->pairs[s == a->plan.count ? UNCORE_EVENTS_MAX : s][keep];

		if (s < a->plan.count && a->plan.slots[s].run != run)
			continue;
		*(longer ? &p->longer : &p->shorter) = s == a->plan.count ? (int64_t)out.tsc :
			(int64_t)uncore_moved(&b->uncore, &a->plan.slots[s], before[s], after[s]);
	}
	return ST_OK;
}

static enum status all_windows(struct trust_request *a, unsigned run, unsigned *kept)
{
	struct bench *b = a->l->b;
	const unsigned wanted = b->a->kind == ACCESS_SIM ? PAIRS_SIMULATED : PAIRS;
	enum status st = ST_OK;

	*kept = 0;
	for (unsigned round = 0; round < 1 + wanted * ROUNDS_FACTOR && *kept < wanted && st == ST_OK; round++) {
		bool disturbed = false;

		for (unsigned longer = 0; longer < 2 && st == ST_OK; longer++) {
			noise_check_before(b);
			st = one_window(a, run, longer, *kept);
			disturbed = noise_check_after(b) || disturbed;
		}
		*kept += round > 0 && !disturbed; /* the first warms up */
	}
	return st == ST_OK && !*kept ? ST_MISSING : st;
}

/* Adds the counts of a run of the plan, per unit, to its entries. */
static enum status take(struct trust_request *a, const struct row_result *result, unsigned run, unsigned kept, struct trust_result *out)
{
	const struct kernel *k = kernel_find(result->kernel);
	int64_t milli[TRUST_ENTRIES] = { 0 };
	bool counted[TRUST_ENTRIES] = { false };
	uint8_t line_units[TRUST_ENTRIES] = { 0 };
	struct slope s, ticks;
	enum status st = reduce_slope(a->pairs[UNCORE_EVENTS_MAX], kept, a->l->sets[0].window, STAT_MEDIAN, &ticks);

	for (unsigned i = 0; i < a->plan.count && st == ST_OK; i++)
		if (a->plan.slots[i].run == run) {
			const bool clock = str_equal(trust_table[a->entry[i]].concept, "uncore.cycles"); /* each box of several counts it */
			const unsigned boxes = clock ? uncore_instances(&a->l->b->uncore, a->plan.slots[i].box, a->socket) : 1;

			st = reduce_slope(a->pairs[i], kept, a->l->sets[0].window, STAT_MEDIAN, &s);
			milli[a->entry[i]] += mul_div(s.value_micro, 1, 1000 * (int64_t)(boxes ? boxes : 1));
			counted[a->entry[i]] = true;
			line_units[a->entry[i]] = (uint8_t)uncore_line_units(a->plan.slots[i].box);
		}
	for (unsigned i = 0; i < TRUST_ENTRIES && k && st == ST_OK; i++)
		if (counted[i]) {
			struct trust_facts f = trust_table[i]; /* trust.def has a line's usual units */

			f.least = f.least * line_units[i] / uncore_line_units(NULL);
			f.most = f.most * line_units[i] / uncore_line_units(NULL);
			out->entries[i].unit = a->l->row->order == ORDER_STREAMS ? "iteration" : "load";
			out->entries[i].counted_milli += milli[i]; /* channels may be in several runs */
			trust_judge(&out->entries[i], &f, a->l->row, k, mul_div(ticks.value_micro, 1, 1000));
		}
	return k ? st : ST_BROKEN;
}

static void count(struct trust_request *a, const struct row_result *result, struct trust_result *out)
{
	struct bench *b = a->l->b;
	enum status st = window_warm_up(b, a->l->row, &a->l->sets[0], WINDOW_TEST, &a->l->job);

	for (unsigned run = 0; run < a->plan.runs && st == ST_OK; run++) {
		unsigned kept = 0;

		st = uncore_start(b->a, &b->uncore, &a->plan, run, a->socket, a->lock_va);
		if (st == ST_OK)
			st = all_windows(a, run, &kept);
		const enum status stopped = uncore_stop(b->a, &b->uncore, &a->plan, run, a->socket);

		st = st == ST_OK ? stopped : st;
		if (st == ST_OK)
			st = take(a, result, run, kept, out);
	}
	for (unsigned i = 0; i < a->plan.count && st != ST_OK; i++) {
		struct trust_entry *e = &out->entries[a->entry[i]];
		struct text t;

		e->verdict = TRUST_UNKNOWN;
		text_init(&t, e->reason, sizeof(e->reason));
		text_fmt(&t, "counting it failed: %s", st == ST_MISSING ? "every window was disturbed" : status_name(st));
	}
}

static void each_socket(struct trust_request *a, const struct row_result *result, struct trust_result *out)
{
	struct bench *b = a->l->b;
	const struct row *row = a->l->row;

	for (enum trust_side side = TRUST_OWN; side <= TRUST_HOME; side++) {
		enum status st = uncore_socket(b->a, &b->uncore, b->core, &a->socket);

		if (st == ST_OK && side == TRUST_HOME)
			st = uncore_socket_of_node(b->a, &b->uncore, cores_node(b, row->node), &a->socket);
		for (unsigned i = 0; i < TRUST_ENTRIES && st != ST_OK; i++)
			if (of_row(i, row, side))
				str_copy(out->entries[i].reason, sizeof(out->entries[i].reason), "its socket is not known");
		if (st == ST_OK && ask(a, b, row, side, out))
			count(a, result, out);
	}
}

/* Gives entries without a result or a reason the row's reason. */
static void not_run(const struct row *row, const char *why, struct trust_result *out)
{
	for (unsigned i = 0; i < TRUST_ENTRIES; i++)
		if (trust_table[i].side != TRUST_CORE && str_equal(trust_table[i].row, row->name) && !out->entries[i].kernel && !out->entries[i].reason[0])
			str_copy(out->entries[i].reason, sizeof(out->entries[i].reason), why);
}

/* Whether a socket of this machine counts any entry; the others get their reason without a run. */
static bool any_counted(const struct bench *b, const struct row *row, struct trust_result *out)
{
	bool any = false;

	for (unsigned i = 0; i < TRUST_ENTRIES; i++) {
		if (!of_row(i, row, TRUST_OWN) && !of_row(i, row, TRUST_HOME))
			continue;
		const struct expression *x = concept_find(b->cpu->processor, trust_table[i].concept);
		const char *why = why_not(b, x, trust_table[i].concept, 0);

		out->entries[i].event = x && x->exactness != EXACTNESS_NONE ? x->text : NULL;
		str_copy(out->entries[i].reason, sizeof(out->entries[i].reason), why ? why : "");
		any = any || !why;
	}
	return any;
}

void trust_uncore_row(struct bench *b, const struct row *row, struct trust_result *out)
{
	struct trust_request *a = row && any_counted(b, row, out) ? b->host->get(b->host->self, sizeof(*a)) : NULL;
	struct row_result *result = a ? b->host->get(b->host->self, sizeof(*result)) : NULL;
	struct mapping lock = { .va = SPACE_LOCK, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
	uint64_t found = 0;
	struct loop l;

	if (result && row_begin(b, row, result) && loop_begin(&l, b, row, LOOP_TEST_ALONE, result)) {
		const bool switched = row->prefetch == PREFETCH_OFF && prefetchers_off(b, &found);
		const bool mapped = b->a->ops->map(b->a->self, &lock) == ST_OK;

		a->l = &l;
		a->lock_va = lock.va;
		if (mapped)
			each_socket(a, result, out);
		if (mapped && b->a->ops->unmap(b->a->self, &lock) != ST_OK)
			not_run(row, "the page of the bus lock could not be unmapped", out);
		if (switched && !prefetchers_back(b, found))
			not_run(row, "the prefetchers could not be switched back", out);
		loop_end(&l, result);
	}
	if (row)
		not_run(row, result && result->reason[0] ? result->reason : a ? "its row did not run" : "no memory", out);
	if (result)
		b->host->put(b->host->self, result, sizeof(*result));
	if (a)
		b->host->put(b->host->self, a, sizeof(*a));
}
