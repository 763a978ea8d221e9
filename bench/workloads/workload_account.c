/* bench/workloads/workload_account.c: see account.h. */
#include "bench/workloads/workload_account.h"

#include "bench/measure/cores.h"
#include "pmu/core/counters.h"
#include "pmu/netburst/netburst.h"

#define FIXED_CYCLES 1u        /* SDM vol. 3, table 18-2 */
#define FIXED_REFERENCE 2u     /* at the TSC's rate */
#define PAIRS_SIMULATED 1u
#define PAIRS_WANTED 11u
#define ROUNDS_FACTOR 3u       /* disturbed pairs are repeated, up to so many in all */
#define COMPANION_FACTOR 2u    /* the other thread works twice as long */
#define ASKS_MAX 96u
#define RUN_ASKS 16u
#define RUNS_MAX 48u
#define NAMES_MAX 5u

struct quantity_facts { const char *names[NAMES_MAX]; uint8_t bundle, cmask, inv, edge, any; };
static const struct quantity_facts quantities[ACCOUNT_QUANTITIES] = {
#define QUANTITY(id, bundle, cmask, inv, edge, any, ...) { { __VA_ARGS__ }, bundle, cmask, inv, edge, any },
#include "bench/workloads/workload_account.def"
};

#define CYCLES (Q_CYCLES + 1)
enum {
	NOTHING = Q_NOTHING + 1,
#define QUANTITY(id, bundle, cmask, inv, edge, any, ...) id = Q_##id + 1,
#include "bench/workloads/workload_account.def"
};
#define MINUS(q) -(q)
#define UNWRAP(x) UNWRAP_ x
#define UNWRAP_(...) __VA_ARGS__
#define FORMULA(name, threads, divisor, equals, sum, source) { name, source, threads, (divisor) - 1, \
	(equals) - 1, UNWRAP(sum) },
const struct account_formula account_formulas[ACCOUNT_FORMULAS] = {
#include "bench/workloads/workload_account.def"
};
const struct account_term_facts account_terms[ACCOUNT_TERMS] = {
#define TERM(name, row, ...) { name, row, NULL, NULL, { __VA_ARGS__ } },
#define TERM_LESS(name, row, gross, less, ...) { name, row, gross, less, { __VA_ARGS__ } },
#include "bench/workloads/workload_account.def"
};

bool account_feeds(const struct row *r)
{
	for (unsigned i = 0; i < ACCOUNT_TERMS; i++)
		if (str_equal(account_terms[i].row, r->name))
			return true;
	return false;
}

/* --- what to count ----------------------------------------------------------------------------- */

/* Something to count: a quantity, or a term of the thread or of the core. */
struct ask { struct event event; struct netburst_use use; uint8_t bundle, quantity, term; bool core; };

struct ask_run { struct plan plan; uint8_t asks[RUN_ASKS]; uint8_t count; };

struct account_work {
	struct ask asks[ASKS_MAX];
	unsigned ask_count;
	struct ask_run runs[RUNS_MAX];
	unsigned run_count;
};

static const struct event *first_event(const struct cpu *cpu, const char *const *names)
{
	for (unsigned i = 0; i < NAMES_MAX && names[i]; i++) {
		const struct event *e = event_find(cpu->processor, names[i]);

		if (e)
			return e;
	}
	return NULL;
}

static bool add_ask(struct bench *b, struct account_work *w, const struct event *e, struct ask how)
{
	struct ask *a = &w->asks[w->ask_count];

	if (w->ask_count == ASKS_MAX)
		return false;
	how.event.name = e->name;
	how.event.select = e->select;
	how.event.umask = e->umask;
	how.event.any |= e->any;
	how.event.arch = e->arch;
	how.event.counter_mask = e->counter_mask;
	how.event.extra_msr = e->extra_msr;
	how.event.extra_value = e->extra_value;
	if (b->a->counts && !b->a->counts(b->a->counts_self, e->netburst ? netburst_select(b->cpu, e) : counter_select(&how.event)))
		return false;
	*a = how;
	if (e->netburst) {
		a->use = *e->netburst;
		a->use.threads |= how.core ? 2 : 0; /* the other thread's too */
		a->event.netburst = &a->use;
	}
	w->ask_count++;
	return true;
}

static void choose_asks(struct bench *b, struct account_work *w, struct account_result *out)
{
	bool both = out->threads > 1;

	for (unsigned q = 0; q < ACCOUNT_QUANTITIES; q++) {
		const struct quantity_facts *f = &quantities[q];
		const struct event *e = first_event(b->cpu, f->names);
		struct ask ask = { .bundle = f->bundle, .quantity = (uint8_t)q, .event = { .cmask = f->cmask, .inv = f->inv,
			.edge = f->edge, .any = f->any && both } };

		if (e && add_ask(b, w, e, ask))
			out->event[q] = e->name;
	}
	for (unsigned t = 0; t < ACCOUNT_TERMS; t++) {
		const struct event *e = first_event(b->cpu, account_terms[t].events);
		struct ask ask = { .quantity = Q_NOTHING, .term = (uint8_t)t };

		if (!e) {
			out->terms[t].open = "this processor has no event for it";
			continue;
		}
		out->terms[t].event = e->name;
		ask.event.cmask = e->cmask;
		ask.event.inv = e->inv;
		ask.event.edge = e->edge;
		if (!add_ask(b, w, e, ask))
			out->terms[t].open = "the simulated machine does not model its event";
		ask.core = true;
		ask.event.any = 1;
		if (both && !out->terms[t].open)
			(void)add_ask(b, w, e, ask);
	}
}

/* Whether one write starts all counters, and one of them counts cycles without being asked; else each run counts them behind its asks. */
static bool has_gate(const struct bench *b)
{
	return b->cpu->pmu_version >= 2 && b->cpu->fixed_mask >> FIXED_CYCLES & 1;
}

/* Whether the planner gets the asks of `list` into one run; then the plan is in *plan. */
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

/* Puts asks into the first run that takes them all, or into a new one. */
static bool place(const struct bench *b, struct account_work *w, const uint8_t *asks, unsigned n)
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

/* Bundles first, then what stands alone. Of a bundle that no run takes whole, as many from its start as one does take
 * go together. What no run takes is not counted. */
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
			while (n && !place(b, w, bundle, n))
				n--;
			for (unsigned k = 0; k < n; k++)
				packed[bundle[k]] = true;
		}
}

/* --- windows ----------------------------------------------------------------------------------- */

struct gated {
	struct bench *b;
	struct work work[2];
	unsigned threads;
	uint64_t gate;
	bool gated;             /* else counters are read within the window */
	struct job job;         /* the last one */
};

/* One window of so many iterations on all threads. */
static enum status run_window(struct gated *g, const struct ask_run *run, uint64_t iterations)
{
	const char *const wrappers[2] = { g->gated ? "k_measure_gated" : "k_measure", "k_measure" };
	struct bench *b = g->b;
	struct job jobs[2];
	enum status st = ST_OK;

	memset(jobs, 0, sizeof(jobs));
	for (unsigned i = 0; i < g->threads && st == ST_OK; i++)
		st = work_prepare(&g->work[i], i ? iterations * COMPANION_FACTOR : iterations, &g->job);
	for (unsigned i = 0; i < g->threads && st == ST_OK; i++) {
		struct work *w = &g->work[i];
		struct measure_block *block = b->a->ops->control(b->a->self, w->core);
		const struct kernel *wrapper = kernel_find(wrappers[i]);

		if (!block || !wrapper)
			return ST_BROKEN;
		memset(block, 0, sizeof(*block));
		block->kernel = WINDOW_CODE + w->kernel->offset;
		block->serialise = b->cpu->processor->serialise_cpuid;
		block->gate = g->gate;
		for (unsigned k = 0; !g->gated && !i && k <= run->count; k++)
			block->index[block->counters++] = run->plan.slots[k].rdpmc_index;
		work_arguments(w, i ? iterations * COMPANION_FACTOR : iterations, block->argument);
		jobs[i].core = w->core;
		jobs[i].entry = WINDOW_CODE + wrapper->offset;
		jobs[i].argument = WINDOW_CONTROL + w->core * CONTROL_BYTES;
	}
	if (st != ST_OK)
		return st;
	st = b->a->ops->run(b->a->self, jobs, g->threads, 0);
	g->job = jobs[g->threads > 1 && jobs[0].status == ST_OK];
	for (unsigned i = 0; i < g->threads && st == ST_OK; i++) {
		const struct measure_block *block = b->a->ops->control(b->a->self, g->work[i].core);

		work_goes_on(&g->work[i], block->result);
	}
	return st;
}

static enum status read_one(const struct bench *b, uint32_t index, bool fixed, uint64_t *value)
{
	unsigned width = fixed ? b->cpu->fixed_width : b->cpu->general_width;
	enum status st = b->a->ops->rdpmc(b->a->self, b->core, index, value);

	*value &= width && width < 64 ? (1ull << width) - 1 : UINT64_MAX;
	return st;
}

struct reading { uint64_t cycles, reference, asks[RUN_ASKS]; };

static enum status read_all(const struct bench *b, const struct ask_run *run, struct reading *out)
{
	enum status st = read_one(b, 1u << 30 | FIXED_CYCLES, true, &out->cycles);

	out->reference = 0;
	if (st == ST_OK && b->cpu->fixed_mask >> FIXED_REFERENCE & 1)
		st = read_one(b, 1u << 30 | FIXED_REFERENCE, true, &out->reference);
	for (unsigned i = 0; i < run->count && st == ST_OK; i++)
		st = read_one(b, run->plan.slots[i].rdpmc_index, run->plan.slots[i].fixed, &out->asks[i]);
	return st;
}

static uint64_t moved(const struct bench *b, bool fixed, uint64_t before, uint64_t after)
{
	unsigned width = fixed ? b->cpu->fixed_width : b->cpu->general_width;

	return (after - before) & (width && width < 64 ? (1ull << width) - 1 : UINT64_MAX);
}

/* What was read at both ends of the window just run. */
static enum status read_window(const struct bench *b, const struct ask_run *run, struct reading *out)
{
	const struct measure_block *block = b->a->ops->control(b->a->self, b->core);

	memset(out, 0, sizeof(*out));
	if (!block)
		return ST_BROKEN;
	for (unsigned i = 0; i < run->count; i++)
		out->asks[i] = moved(b, false, block->before[i], block->after[i]);
	out->cycles = moved(b, false, block->before[run->count], block->after[run->count]);
	return ST_OK;
}

/* What a window counts. */
static enum status one_window(struct gated *g, const struct ask_run *run, uint64_t iterations, struct reading *out, bool *disturbed)
{
	struct reading before;
	enum status st = g->gated ? read_all(g->b, run, &before) : ST_OK;

	if (st == ST_OK) {
		noise_check_before(g->b);
		st = run_window(g, run, iterations);
	}
	if (st != ST_OK)
		return st;
	*disturbed = noise_check_after(g->b) || *disturbed;
	if (!g->gated)
		return read_window(g->b, run, out);
	st = read_all(g->b, run, out);
	out->cycles = moved(g->b, true, before.cycles, out->cycles);
	out->reference = moved(g->b, true, before.reference, out->reference);
	for (unsigned i = 0; i < run->count; i++)
		out->asks[i] = moved(g->b, run->plan.slots[i].fixed, before.asks[i], out->asks[i]);
	return st;
}

/* Pairs of windows; what the longer one counts more goes to kept[]. */
static enum status pairs_of(struct gated *g, const struct ask_run *run, uint64_t iterations, struct reading *kept, unsigned wanted, unsigned *n)
{
	for (unsigned round = 0; round < wanted * ROUNDS_FACTOR && *n < wanted; round++) {
		struct reading window[2];
		bool disturbed = false;

		for (unsigned longer = 0; longer < 2; longer++) {
			enum status st = one_window(g, run, iterations << longer, &window[longer], &disturbed);

			if (st != ST_OK)
				return st;
		}
		if (disturbed)
			continue;
		kept[*n].cycles = window[1].cycles - window[0].cycles;
		kept[*n].reference = window[1].reference - window[0].reference;
		for (unsigned i = 0; i < run->count; i++)
			kept[*n].asks[i] = window[1].asks[i] - window[0].asks[i];
		(*n)++;
	}
	return ST_OK;
}

/* A sibling that works for the row disturbs nothing. */
static enum status all_pairs(struct gated *g, const struct ask_run *run, uint64_t iterations, struct reading *kept, unsigned wanted, unsigned *n)
{
	struct noise_check *d = &g->b->disturbance;
	const bool sibling = d->sibling_known;

	d->sibling_known = sibling && g->threads < 2;
	const enum status st = pairs_of(g, run, iterations, kept, wanted, n);
	d->sibling_known = sibling;
	return st;
}

/* All of a run comes from one pair, so that what was counted together stays together: the pair of the median cycles. */
static const struct reading *median_pair(const struct reading *kept, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned below = 0, equal = 0;

		for (unsigned k = 0; k < n; k++) {
			below += (int64_t)kept[k].cycles < (int64_t)kept[i].cycles;
			equal += kept[k].cycles == kept[i].cycles;
		}
		if (below <= n / 2 && n / 2 < below + equal)
			return &kept[i];
	}
	return kept;
}

static void take(struct account_result *out, const struct account_work *w, const struct ask_run *run, const struct reading *r, uint64_t tsc_hz)
{
	if (!out->core_hz && (int64_t)r->cycles > 0 && (int64_t)r->reference > 0)
		out->core_hz = mul_div((int64_t)tsc_hz, (int64_t)r->cycles, (int64_t)r->reference);
	for (unsigned i = 0; i < run->count; i++) {
		const struct ask *a = &w->asks[run->asks[i]];
		const int64_t counted = (int64_t)r->asks[i], n = counted > 0 ? counted : 0; /* a longer window may by chance have had fewer than a shorter */

		if (a->quantity != Q_NOTHING) {
			out->value[a->quantity] = n;
			out->bundle_cycles[a->quantity] = (int64_t)r->cycles;
			out->known[a->quantity] = true;
			if (!out->cycles)
				out->cycles = (int64_t)r->cycles;
		} else if (a->core) {
			out->terms[a->term].core_count = n;
			out->terms[a->term].core_known = true;
		} else {
			out->terms[a->term].count = n;
			out->terms[a->term].known = true;
		}
	}
}

static enum status all_runs(struct gated *g, struct account_work *w, struct account_result *out)
{
	struct bench *b = g->b;
	unsigned wanted = b->repetitions ? b->repetitions : b->a->kind == ACCESS_SIM ? PAIRS_SIMULATED : PAIRS_WANTED;
	struct reading *kept = b->host->get(b->host->self, wanted * sizeof(*kept));
	enum status st = kept ? ST_OK : ST_FULL;

	out->pairs = wanted;
	for (unsigned r = 0; r < w->run_count && st == ST_OK; r++) {
		unsigned n = 0;
		enum status stopped;

		st = counters_start(b->a, b->cpu, &w->runs[r].plan, 0, b->core);
		if (st == ST_OK && g->gated)
			st = counters_hold(b->a, b->cpu, b->core, &g->gate);
		if (st == ST_OK)
			st = all_pairs(g, &w->runs[r], out->iterations, kept, wanted, &n);
		stopped = counters_stop(b->a, b->cpu, &w->runs[r].plan, 0, b->core);
		if (st == ST_OK)
			st = stopped;
		if (st == ST_OK && n)
			take(out, w, &w->runs[r], median_pair(kept, n), b->a->tsc_hz);
		if (n < out->pairs)
			out->pairs = n;
	}
	if (kept)
		b->host->put(b->host->self, kept, wanted * sizeof(*kept));
	return st;
}

/* --- the sum ----------------------------------------------------------------------------------- */

static int64_t row_penalty(const struct account_penalties *p, const char *name)
{
	const struct row *r = row_find(name);

	return r ? p->row_milli[r - rows] : name[0] ? -1 : 1000;
}

static bool one_of(const char *list, const char *name)
{
	const size_t n = str_length(name);

	for (const char *at = list; *at; at++)
		if ((at == list || at[-1] == '|') && !memcmp(at, name, str_length(at) < n ? str_length(at) : n) && (at[n] == '|' || !at[n]))
			return true;
	return false;
}

/* Terms whose event counts another term's too. */
static void take_off(struct account_result *out)
{
	for (unsigned t = 0; t < ACCOUNT_TERMS; t++) {
		const struct account_term_facts *f = &account_terms[t];

		if (!f->gross || !out->terms[t].event || !one_of(f->gross, out->terms[t].event))
			continue;
		for (unsigned k = 0; k < ACCOUNT_TERMS; k++)
			if (str_equal(account_terms[k].name, f->less)) {
				out->terms[t].known = out->terms[t].known && out->terms[k].known;
				out->terms[t].count -= out->terms[k].count;
			}
		if (out->terms[t].count < 0) /* counted in other runs */
			out->terms[t].count = 0;
	}
}

static void add_up(struct account_result *out, const struct account_penalties *p)
{
	take_off(out);
	for (unsigned t = 0; t < ACCOUNT_TERMS; t++) {
		bool known = out->terms[t].known;

		out->terms[t].penalty_milli = row_penalty(p, account_terms[t].row);
		if (out->terms[t].penalty_milli < 0 && !out->terms[t].open)
			out->terms[t].open = "its row gave no penalty in this run";
		out->terms[t].known = known && !out->terms[t].open;
		if (out->threads < 2) {
			out->terms[t].core_count = out->terms[t].count;
			out->terms[t].core_known = known;
		}
		out->terms[t].core_known = out->terms[t].core_known && !out->terms[t].open;
		if (out->terms[t].known)
			out->sum += mul_div(out->terms[t].count, out->terms[t].penalty_milli, 1000);
		if (out->terms[t].core_known)
			out->core_sum += mul_div(out->terms[t].core_count, out->terms[t].penalty_milli, 1000);
	}
}

/* Why this processor cannot be accounted for, NULL if it can. */
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
	if (!first_event(b->cpu, quantities[Q_RETIRE_STALL].names) && !first_event(b->cpu, quantities[Q_EXECUTE_STALL].names) && !first_event(b->cpu, quantities[Q_ISSUE_STALL].names))
		return "this processor's description has no events of uops issued or executed";
	return NULL;
}

void account_run(struct bench *b, enum work_kind kind, const struct account_penalties *p, struct account_result *out)
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
		st = all_runs(&g, w, out);
	}
	for (unsigned i = 0; i < g.threads; i++) {
		closed = work_close(&g.work[i]);
		if (st == ST_OK)
			st = closed;
	}
	if (w)
		b->host->put(b->host->self, w, sizeof(*w));
	if (st != ST_OK) {
		struct text t;

		out->status = ROW_FAULT;
		text_init(&t, out->reason, sizeof(out->reason));
		text_fmt(&t, "%s: %s, exception %u at 0x%llx", work_name(kind), status_name(st), g.job.vector, (unsigned long long)g.job.ip);
		return;
	}
	if (!out->pairs) {
		out->status = ROW_NOISY;
		str_copy(out->reason, sizeof(out->reason), "every window of a run was disturbed");
		return;
	}
	add_up(out, p);
}
