/* bench/workloads/workload_account.c: see workload_account.h. */
#include "bench/workloads/workload_account_parts.h"

#include "bench/measure/cores.h"
#include "pmu/netburst/netburst.h"

#define FIXED_CYCLES 1u /* SDM vol. 3, table 18-2 */
#define TERM_BUNDLE 64u /* bundles from here on: the events of one term are counted in one run */

struct quantity_facts { const char *concept; uint8_t bundle, cmask, inv, edge, any; };
static const struct quantity_facts quantities[ACCOUNT_QUANTITIES] = {
#define QUANTITY(id, bundle, cmask, inv, edge, any, concept) { concept, bundle, cmask, inv, edge, any },
#include "bench/workloads/workload_account.def"
};

#define CYCLES (Q_CYCLES + 1)
enum {
	NOTHING = Q_NOTHING + 1,
#define QUANTITY(id, bundle, cmask, inv, edge, any, concept) id = Q_##id + 1,
#include "bench/workloads/workload_account.def"
};
#define MINUS(q) -(q)
#define IF_ANY(q) ((q) + ACCOUNT_IF_ANY)
#define WHERE_COUNTED ACCOUNT_WHERE_COUNTED
#define NOT_NEGATIVE ACCOUNT_NOT_NEGATIVE
#define UNWRAP(x) UNWRAP_ x
#define UNWRAP_(...) __VA_ARGS__
#define FORMULA(name, threads, divisor, equals, sum, source) { name, source, threads, (divisor) - 1, \
	(equals) - 1, UNWRAP(sum) },
const struct account_formula workload_account_formulas[ACCOUNT_FORMULAS] = {
#include "bench/workloads/workload_account.def"
};
_Static_assert(ACCOUNT_QUANTITIES < ACCOUNT_IF_ANY - 1, "ACCOUNT_IF_ANY is a bit above all quantities");

bool workload_account_feeds(const struct row *r)
{
	for (unsigned t = 0; t < stall_term_count; t++)
		if (str_equal(stall_terms[t].penalty, r->name))
			return true;
	return false;
}

/* --- what to count ----------------------------------------------------------------------------- */

static bool same_count(const struct ask *a, const struct ask *b)
{
	return str_equal(a->event.name, b->event.name) && a->core == b->core && a->event.cmask == b->event.cmask && a->event.inv == b->event.inv &&
	       a->event.edge == b->event.edge && a->event.any == b->event.any;
}

/* How an event is counted: with its own modifiers unless the quantity overrides them. */
struct how { uint8_t bundle, cmask, inv, edge, any; bool core; };

/* The ask for an event, existing or new; ASKS_MAX: it cannot be counted. */
static unsigned ask_for(struct bench *b, struct account_work *w, const struct event *e, struct how how)
{
	struct ask a = { .event = *e, .bundle = how.bundle, .core = how.core };

	if (how.cmask && e->netburst)
		return ASKS_MAX; /* NetBurst's events carry their own thresholds */
	if (how.cmask) {
		a.event.cmask = how.cmask;
		a.event.inv = how.inv;
		a.event.edge = how.edge;
	}
	a.event.any |= how.any;
	a.event.fixed = 0; /* the fixed counters are taken by cycles in every run */
	a.event.pebs = 0;
	for (unsigned i = 0; i < w->ask_count; i++)
		if (same_count(&w->asks[i], &a) && (!a.bundle || !w->asks[i].bundle || a.bundle == w->asks[i].bundle)) {
			w->asks[i].bundle |= a.bundle;
			return i;
		}
	if (w->ask_count == ASKS_MAX ||
	    (b->a->counts && !b->a->counts(b->a->counts_self, b->core, e->netburst ? netburst_select(b->cpu, e) : counter_select(&a.event))))
		return ASKS_MAX;
	w->asks[w->ask_count] = a;
	if (e->netburst) {
		struct ask *kept = &w->asks[w->ask_count];

		kept->use = *e->netburst;
		kept->use.threads |= how.core ? 2 : 0; /* includes the sibling's */
		kept->event.netburst = &kept->use;
	}
	return w->ask_count++;
}

/* Asks for the events of a term, for the thread and, with two threads, for the core. */
static void ask_term(struct bench *b, struct account_work *w, struct account_result *out, unsigned t)
{
	const struct expression *x = stall_count(b->cpu->processor, t);
	struct workload_term *term = &out->terms[t];

	if (!x || x->exactness == EXACTNESS_NONE) {
		term->open = x ? x->why : "the events of this processor are not known";
		return;
	}
	term->count_of = x->text;
	for (unsigned i = 0; i < x->term_count; i++) {
		struct how how = { .bundle = (uint8_t)(x->term_count > 1 ? TERM_BUNDLE + t : 0) };

		w->term[t][i] = (uint8_t)ask_for(b, w, x->terms[i].event, how);
		if (w->term[t][i] == ASKS_MAX)
			term->open = "the simulated machine does not model its event";
		how.core = true;
		how.any = 1;
		if (out->threads > 1)
			w->core_term[t][i] = (uint8_t)ask_for(b, w, x->terms[i].event, how);
	}
}

static void choose_asks(struct bench *b, struct account_work *w, struct account_result *out)
{
	memset(w->quantity, ASKS_MAX, sizeof(w->quantity));
	memset(w->term, ASKS_MAX, sizeof(w->term));
	memset(w->core_term, ASKS_MAX, sizeof(w->core_term));
	for (unsigned q = 0; q < ACCOUNT_QUANTITIES; q++) {
		const struct quantity_facts *f = &quantities[q];
		const struct event *e = stall_event(b->cpu->processor, f->concept);
		const struct how how = { .bundle = f->bundle, .cmask = f->cmask, .inv = f->inv, .edge = f->edge, .any = f->any && out->threads > 1 };

		if (!e)
			continue;
		w->quantity[q] = (uint8_t)ask_for(b, w, e, how);
		if (w->quantity[q] < ASKS_MAX)
			out->event[q] = e->name;
	}
	for (unsigned t = 0; t < stall_term_count; t++)
		ask_term(b, w, out, t);
}

/* Whether one write starts all counters and a fixed counter counts cycles. Otherwise each run also counts cycles, after its asks. */
static bool has_gate(const struct bench *b)
{
	return b->cpu->pmu_version >= 2 && b->cpu->fixed_mask >> FIXED_CYCLES & 1;
}

/* Whether the planner fits the asks of `list` into one run; *plan is then that plan. */
static bool one_run(const struct bench *b, const struct account_work *w, const uint8_t *list, unsigned n, struct plan *plan)
{
	const struct event *events[RUN_ASKS + 1];
	const char *problem;

	for (unsigned i = 0; i < n; i++)
		events[i] = &w->asks[list[i]].event;
	if (!has_gate(b))
		events[n++] = b->cycles;
	return plan_events(b->cpu, events, n, plan, &problem) == ST_OK && plan->runs == 1;
}

/* Puts asks into the first run that fits them all, or into a new one. */
static bool assign_bundle(const struct bench *b, struct account_work *w, const uint8_t *asks, unsigned n)
{
	for (unsigned r = 0; r <= w->run_count && r < RUNS_MAX; r++) {
		struct ask_run *run = &w->runs[r];
		struct plan plan;

		if (run->count + n > RUN_ASKS)
			continue;
		memcpy(run->asks + run->count, asks, n);
		if (!one_run(b, w, run->asks, run->count + n, &plan))
			continue;
		run->plan = plan;
		run->count = (uint8_t)(run->count + n);
		if (r == w->run_count)
			w->run_count++;
		return true;
	}
	return false;
}

/* Bundles first, then single asks. If no run fits a whole bundle, its longest prefix that fits goes together. An ask that fits no run is not
 * counted. */
static void pack(const struct bench *b, struct account_work *w)
{
	bool packed[ASKS_MAX] = { false };

	for (unsigned single = 0; single < 2; single++)
		for (unsigned i = 0; i < w->ask_count; i++) {
			uint8_t bundle[RUN_ASKS];
			unsigned n = 0;

			if (packed[i] || (w->asks[i].bundle == 0) != single)
				continue;
			for (unsigned k = i; k < w->ask_count && n < RUN_ASKS; k++)
				if (k == i || (!single && !packed[k] && w->asks[k].bundle == w->asks[i].bundle))
					bundle[n++] = (uint8_t)k;
			while (n && !assign_bundle(b, w, bundle, n))
				n--;
			for (unsigned k = 0; k < n; k++)
				packed[bundle[k]] = true;
		}
}

/* --- the sum ----------------------------------------------------------------------------------- */

static int64_t row_penalty(const struct account_penalties *p, const char *name)
{
	const struct row *r = row_find(name);

	return r ? p->row_milli[r - rows] : name[0] ? -1 : 1000;
}

/* The ask, if it was counted; else NULL. */
static const struct ask *counted(const struct account_work *w, unsigned ask)
{
	return ask < ASKS_MAX && w->asks[ask].known ? &w->asks[ask] : NULL;
}

/* A term's events added up: as counted, with the cycles of the first one's run, and in thousandths, each scaled to `to` cycles. */
struct term_sum { int64_t count, cycles, milli; };
/* False: one was not counted. */
static bool term_count(const struct account_work *w, const struct expression *x, const uint8_t *asks, int64_t to, struct term_sum *out)
{
	int64_t sum = 0, brought = 0;

	for (unsigned i = 0; i < x->term_count; i++) {
		const struct ask *a = counted(w, asks[i]);

		if (!a)
			return false;
		sum += x->terms[i].sign * a->count;
		brought += x->terms[i].sign * workload_account_brought(a->count * 1000, a->cycles, to);
		out->cycles = i ? out->cycles : a->cycles;
	}
	out->count = sum > 0 ? sum : 0; /* counts of different runs vary */
	out->milli = brought > 0 ? brought : 0;
	return x->term_count > 0;
}

static void charge(struct stall_charge *c, bool known, int64_t count_milli, int64_t penalty_milli)
{
	c->known = known && penalty_milli >= 0;
	c->alone = c->known ? mul_div(count_milli, penalty_milli, 1000000) : 0;
}

/* Cycles of the run that counted the stalls, with which the sum is compared. */
static int64_t cycles_of_stalls(const struct account_result *r)
{
	return r->bundle_cycles[r->known[Q_RETIRE_STALL] ? Q_RETIRE_STALL : Q_EXECUTE_STALL];
}

/* Moves the counts from the asks to the quantities and terms. */
static void settle_counts(const struct bench *b, const struct account_work *w, struct account_result *out, const struct account_penalties *p)
{
	for (unsigned q = 0; q < ACCOUNT_QUANTITIES; q++) {
		const struct ask *a = counted(w, w->quantity[q]);

		out->known[q] = a != NULL;
		out->value[q] = a ? a->count : 0;
		out->bundle_cycles[q] = a ? a->cycles : 0;
	}
	out->cycles = cycles_of_stalls(out);
	for (unsigned q = 0; q < ACCOUNT_QUANTITIES && !out->cycles; q++)
		out->cycles = out->bundle_cycles[q];
	for (unsigned t = 0; t < stall_term_count; t++) {
		struct workload_term *term = &out->terms[t];
		const struct expression *x = stall_count(b->cpu->processor, t);
		struct term_sum thread = { 0 }, both = { 0 };
		bool known, core;

		term->penalty_milli = row_penalty(p, stall_terms[t].penalty);
		if (!x)
			continue;
		known = term_count(w, x, w->term[t], out->cycles, &thread);
		core = out->threads > 1 ? term_count(w, x, w->core_term[t], out->cycles, &both) : known;
		if (out->threads < 2)
			both = thread;
		term->count = thread.count;
		term->cycles = thread.cycles;
		term->core_count = both.count;
		if (!known && !term->open)
			term->open = "no run could count it";
		if (term->penalty_milli < 0 && !term->open)
			term->open = "its row gave no penalty in this run";
		charge(&term->thread, known && !term->open, thread.milli, term->penalty_milli);
		charge(&term->core, core && !term->open, both.milli, term->penalty_milli);
	}
}

static void settle_sum(struct account_result *out)
{
	struct stall_charge thread[STALL_TERMS_MAX], core[STALL_TERMS_MAX];
	struct stall_bounds bounds;

	for (unsigned t = 0; t < stall_term_count; t++) {
		thread[t] = out->terms[t].thread;
		core[t] = out->terms[t].core;
	}
	workload_account_bounds(out, ACCOUNT_OF_THREAD, &bounds);
	stall_settle(&bounds, thread);
	workload_account_bounds(out, ACCOUNT_OF_CORE, &bounds);
	stall_settle(&bounds, core);
	for (unsigned t = 0; t < stall_term_count; t++) {
		out->terms[t].thread = thread[t];
		out->terms[t].core = core[t];
		out->sum += thread[t].charged;
		out->core_sum += core[t].charged;
		out->overlap += thread[t].alone - thread[t].charged;
	}
}

/* Why this processor has no cycle accounting, NULL if it has. */
static const char *lacks(const struct bench *b)
{
	if (b->a->kind == ACCESS_NATIVE)
		return "this backend has no counters";
	if (b->cpu->pmu_absent)
		return b->cpu->pmu_absent;
	if (!counters_exist(b->cpu))
		return "no performance counters";
	if (!has_gate(b) && (!b->cpu->processor->detector_count || !b->cycles))
		return "no global control of the counters, or no fixed counter of cycles";
	if (!stall_event(b->cpu->processor, "retire.stall") && !stall_event(b->cpu->processor, "execute.stall") && !stall_event(b->cpu->processor, "uops.issued"))
		return "this processor's description has no events of uops issued or executed";
	return NULL;
}

void workload_account_run(struct bench *b, enum work_kind kind, const struct account_penalties *p, struct account_result *out)
{
	struct gated g = { .b = b, .threads = 1, .gated = has_gate(b) };
	struct account_work *w = NULL;
	unsigned cores[2] = { b->core, 0 };
	const char *why = lacks(b);
	enum status st = ST_OK, closed;

	memset(out, 0, sizeof(*out));
	out->kind = kind;
	out->iterations = work_iterations(kind);
	if (cores_choose(b, b->core, RELATION_SAME_CORE, 0, &cores[1]) == ST_OK)
		g.threads = 2;
	out->threads = g.threads;
	if (why) {
		out->status = ROW_UNSUPPORTED;
		str_copy(out->reason, sizeof(out->reason), why);
		return;
	}
	w = b->host->get(b->host->self, sizeof(*w));
	if (!w)
		st = ST_FULL;
	for (unsigned i = 0; i < g.threads && st == ST_OK; i++)
		st = work_open(&g.work[i], b, kind, cores[i], i);
	if (st == ST_OK) {
		choose_asks(b, w, out);
		pack(b, w);
		out->runs = w->run_count;
		st = workload_account_count(&g, w, out);
	}
	for (unsigned i = 0; i < g.threads; i++) {
		closed = work_close(&g.work[i]);
		if (st == ST_OK)
			st = closed;
	}
	if (st == ST_OK && out->pairs) {
		settle_counts(b, w, out, p);
		settle_sum(out);
	}
	if (w)
		b->host->put(b->host->self, w, sizeof(*w));
	if (st != ST_OK) {
		struct text t;

		out->status = row_status_of(st);
		text_init(&t, out->reason, sizeof(out->reason));
		text_fmt(&t, "%s: %s", work_name(kind), status_name(st));
		if (st == ST_FAULT && g.job.status == ST_FAULT)
			text_fmt(&t, ", exception %u at 0x%llx", g.job.vector, (unsigned long long)g.job.ip);
		return;
	}
	if (!out->pairs) {
		out->status = ROW_NOISY;
		str_copy(out->reason, sizeof(out->reason), "every window of a run was disturbed");
	} else if (workload_account_contradicted(out, out->reason, sizeof(out->reason))) {
		out->status = ROW_UNPROVEN;
	}
}
