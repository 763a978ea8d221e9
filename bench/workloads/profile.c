/* bench/workloads/profile.c: see profile.h. */
#include "bench/workloads/profile.h"
#include "pmu/netburst/netburst.h"

#include "bench/catalogue/names.h"
#include "bench/measure/cores.h"

#define REPETITIONS_SIMULATED 3
#define REPETITIONS 21
#define ROUNDS_FACTOR 2      /* rounds at most, per round wanted: disturbed ones are repeated */
#define FIXED_INSTRUCTIONS 0 /* SDM vol. 3, table 18-2: what fixed counters 0 and 1 count */
#define FIXED_CYCLES 1
#define LIST_BYTES 4096u     /* a list of names, as long as a setting may be */

/* --- what to count ----------------------------------------------------------------------------- */

static const struct profile *profile_named(const struct processor *p, const char *name)
{
	for (unsigned i = 0; i < p->profile_count; i++)
		if (str_equal(p->profiles[i].name, name))
			return &p->profiles[i];
	return NULL;
}

static bool is_event_list(const char *what)
{
	for (; *what; what++)
		if (*what == ',' || *what == '.' || (*what >= 'A' && *what <= 'Z'))
			return true;
	return false;
}

static enum status no_such_profile(const struct processor *p, const char *what, struct text *problem)
{
	text_fmt(problem, "profile \"%s\": %s has none of that name; known: ", what, p->name);
	for (unsigned i = 0; i < p->profile_count; i++)
		text_fmt(problem, "%s, ", p->profiles[i].name);
	text_fmt(problem, "or names of events separated by commas");
	return ST_MISSING;
}

/* The event of that name in the table or in another document, ignoring case; NULL: none. */
static const struct event *event_named(const struct processor *p, const char *name)
{
	const size_t n = str_length(name);

	for (unsigned i = 0; i < p->event_count; i++)
		if (names_equal(name, n, p->events[i].name))
			return &p->events[i];
	for (unsigned i = 0; i < p->spelling_count; i++)
		if (names_equal(name, n, p->spellings[i].name))
			return event_find(p, p->spellings[i].event);
	return NULL;
}

/* Whether a counting session may know the name although no event of cores has it: an event of the uncore, one with modifiers. */
static bool for_stat(const struct processor *p, const char *name)
{
	const size_t n = str_length(name);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found = found || name[i] == ':' || name[i] == '/';
	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; i < p->boxes[b].event_count; i++)
			found = found || names_equal(name, n, p->boxes[b].events[i].name);
	return found;
}

static enum status no_such_event(const struct processor *p, const char *name, struct text *problem)
{
	struct nearest near;

	if (for_stat(p, name)) {
		text_fmt(problem, "event \"%s\": a profile counts events of cores by their names alone; `stat -e` and the key `count` take those of the uncore and modifiers", name);
		return ST_MISSING;
	}
	nearest_init(&near, name, str_length(name));
	for (unsigned i = 0; i < p->event_count; i++)
		nearest_try(&near, "", p->events[i].name);
	text_fmt(problem, "event \"%s\": %s has none of that name", name, p->name);
	nearest_text(&near, problem);
	return ST_MISSING;
}

static enum status take_event(const struct processor *p, const char *name, const struct event **events, unsigned *n,
                              struct text *problem)
{
	const struct event *e = event_named(p, name);

	if (!e)
		return no_such_event(p, name, problem);
	for (unsigned i = 0; i < *n; i++)
		if (events[i] == e)
			return ST_OK;
	if (*n == PLAN_EVENTS_MAX) {
		text_fmt(problem, "event \"%s\": a profile has at most %u", name, PLAN_EVENTS_MAX);
		return ST_FULL;
	}
	events[(*n)++] = e;
	return ST_OK;
}

static enum status take_list(const struct processor *p, const char *what, const struct event **events, unsigned *n,
                             struct text *problem)
{
	enum status st = ST_OK;

	while (*what && st == ST_OK) {
		char name[96];
		size_t bytes = 0;

		for (; *what && *what != ','; what++)
			if (*what != ' ' && bytes < sizeof(name) - 1)
				name[bytes++] = *what;
		name[bytes] = 0;
		if (*what == ',')
			what++;
		st = take_event(p, name, events, n, problem);
	}
	return st;
}

enum status profile_find(const struct cpu *cpu, const char *what, struct profile_plan *out, char *problem, size_t capacity)
{
	const struct processor *p = cpu->processor;
	const struct profile *known;
	const struct event *events[PLAN_EVENTS_MAX];
	const char *name = NULL;
	char list[LIST_BYTES];
	unsigned n = 0;
	enum status st;
	struct text t;

	text_init(&t, problem, capacity);
	memset(out, 0, sizeof(*out));
	if (str_length(what) >= sizeof(list)) {
		text_fmt(&t, "profile: the list is longer than %u characters", (unsigned)sizeof(list) - 1);
		return ST_FULL;
	}
	str_copy(list, sizeof(list), what);
	st = profile_options_cut(list, out, &t);
	if (st != ST_OK)
		return st;
	if (!list[0] && *what) {
		text_fmt(&t, "profile \"%s\": name a profile or events before lbr= and records=", what);
		return ST_SYNTAX;
	}
	what = list;
	known = profile_named(p, what);
	if (!counters_exist(cpu)) {
		text_fmt(&t, "profile \"%s\": no performance counters here%s%s", what, cpu->pmu_absent ? ": " : "", cpu->pmu_absent ? cpu->pmu_absent : "");
		return ST_UNSUPPORTED;
	}
	if (!known && !is_event_list(what))
		return no_such_profile(p, what, &t);
	out->name = known ? known->name : "events";
	out->title = known ? known->title : "as asked for";
	if (known && !out->lbr_select)
		out->lbr_select = known->lbr_select;
	if (!known)
		st = take_list(p, what, events, &n, &t);
	for (unsigned i = 0; known && i < known->event_count && st == ST_OK; i++)
		st = take_event(p, known->events[i], events, &n, &t);
	if (st != ST_OK)
		return st;
	st = plan_events(cpu, events, n, &out->plan, &name);
	if (st != ST_OK) {
		const struct event *e = name ? event_find(p, name) : NULL;
		const char *lacks = e ? plan_lacks(cpu, e) : NULL;

		text_fmt(&t, "profile \"%s\": %s: %s", what, name ? name : "its events", lacks ? lacks : st == ST_UNSUPPORTED ?
		         "no counter of this processor can count it" : "do not fit into a plan");
	}
	return st;
}

/* --- measuring --------------------------------------------------------------------------------- */

/* A run of the plan as windows count it: its events, then instructions and cycles if they are fixed. */
struct profile_run {
	struct counting counting;
	uint8_t index[WINDOW_EVENTS_MAX]; /* of each event in the profile's plan; the fixed counters after them have none */
	unsigned instructions, cycles;    /* index in the run; WINDOW_EVENTS_MAX: absent */
};

struct profile_work { struct pair pairs[WINDOW_EVENTS_MAX][SAMPLES_MAX]; };

static unsigned add_fixed(const struct cpu *cpu, struct counting *c, unsigned counter)
{
	if (!(cpu->fixed_mask >> counter & 1) || c->events == WINDOW_EVENTS_MAX)
		return WINDOW_EVENTS_MAX;
	c->plan.slots[c->events] = (struct plan_slot){ .fixed = true, .counter = (uint8_t)counter, .rdpmc_index = 1u << 30 | counter };
	return c->events++;
}

static void select_run(const struct cpu *cpu, const struct profile_plan *p, unsigned run, struct profile_run *out)
{
	struct counting *c = &out->counting;

	memset(out, 0, sizeof(*out));
	c->on = true;
	c->plan.runs = 1;
	for (unsigned i = 0; i < p->plan.count && c->events < WINDOW_EVENTS_MAX - 2; i++)
		if (p->plan.slots[i].run == run) {
			out->index[c->events] = (uint8_t)i;
			c->plan.slots[c->events] = p->plan.slots[i];
			c->plan.slots[c->events++].run = 0;
		}
	out->instructions = add_fixed(cpu, c, FIXED_INSTRUCTIONS);
	out->cycles = add_fixed(cpu, c, FIXED_CYCLES);
}

static enum status one_pair(struct loop *l, struct profile_run *run, struct profile_work *work, unsigned keep, bool *disturbed)
{
	struct working_set *w = &l->sets[0];
	bool first = random_below(&l->b->random, 2);

	for (unsigned i = 0; i < 2; i++) {
		bool longer = (i == 0) == first;
		uint64_t units = (uint64_t)w->window << longer;
		struct window out;
		enum status st = window_prepare(l->b, l->row, w, WINDOW_TEST, units, &l->job);

		if (st == ST_OK) {
			noise_check_before(l->b);
			st = window_units(l->b, w, units, &run->counting, 0, &out, &l->job);
		}
		if (st != ST_OK)
			return st;
		if (noise_check_after(l->b))
			*disturbed = true;
		for (unsigned e = 0; e < run->counting.events; e++)
			*(longer ? &work->pairs[e][keep].longer : &work->pairs[e][keep].shorter) = (int64_t)out.counts[e];
	}
	return ST_OK;
}

static enum status all_pairs(struct loop *l, struct profile_run *run, struct profile_work *work)
{
	struct bench *b = l->b;
	unsigned wanted = b->repetitions ? b->repetitions : b->a->kind == ACCESS_SIM ? REPETITIONS_SIMULATED : REPETITIONS;

	l->pairs = 0;
	for (unsigned round = 0; round < 1 + wanted * ROUNDS_FACTOR && l->pairs < wanted; round++) {
		bool disturbed = false;
		enum status st = one_pair(l, run, work, l->pairs, &disturbed);

		if (st != ST_OK)
			return st;
		if (round == 0)
			continue; /* warm-up */
		if (disturbed)
			l->rejected++;
		else
			l->pairs++;
	}
	return ST_OK;
}

static int64_t micro_of(const struct loop *l, const struct profile_work *work, unsigned e, int64_t *spread)
{
	struct slope s;

	if (e >= WINDOW_EVENTS_MAX || reduce_slope(work->pairs[e], l->pairs, l->sets[0].window, STAT_MEDIAN, &s) != ST_OK)
		return -1;
	if (spread)
		*spread = s.spread_micro;
	return s.value_micro;
}

static void reduce_run(const struct loop *l, const struct profile_run *run, const struct profile_work *work, bool first,
                       const struct profile_plan *p, struct profile_result *out)
{
	int64_t instructions = micro_of(l, work, run->instructions, NULL), cycles = micro_of(l, work, run->cycles, NULL);

	if (first) {
		out->instructions_milli = instructions < 0 ? -1 : mul_div(instructions, 1, 1000);
		out->cycles_milli = cycles < 0 ? -1 : mul_div(cycles, 1, 1000);
		out->samples = l->pairs;
	}
	if (l->pairs < out->samples)
		out->samples = l->pairs;
	for (unsigned e = 0; e < run->counting.events && e != run->instructions && e != run->cycles; e++) {
		struct profile_event *to = &out->events[run->index[e]];
		int64_t spread = 0, micro = micro_of(l, work, e, &spread);

		to->slot = &p->plan.slots[run->index[e]];
		to->overcounts = event_overcounts(l->b->cpu->processor, to->slot->event->name);
		to->uncounted = l->b->a->counts && !to->slot->fixed && !l->b->a->counts(l->b->a->counts_self, l->b->core, to->slot->event->netburst ?
			netburst_select(l->b->cpu, to->slot->event) : counter_select(to->slot->event));
		to->unit_milli = mul_div(micro, 1, 1000);
		to->spread_milli = mul_div(spread, 1, 1000);
		to->instructions_micro = instructions > 0 ? mul_div(micro, 1000000, instructions) : -1;
		to->cycles_micro = cycles > 0 ? mul_div(micro, 1000000, cycles) : -1;
	}
}

static enum status all_runs(struct loop *l, const struct profile_plan *p, struct profile_work *work, struct profile_result *out)
{
	struct bench *b = l->b;
	enum status st = window_warm_up(b, l->row, &l->sets[0], WINDOW_TEST, &l->job);

	for (unsigned run = 0; run < p->plan.runs && st == ST_OK; run++) {
		struct profile_run selected;
		enum status stopped;

		select_run(b->cpu, p, run, &selected);
		st = counters_start(b->a, b->cpu, &p->plan, run, b->core);
		if (st != ST_OK)
			return st;
		st = all_pairs(l, &selected, work);
		stopped = counters_stop(b->a, b->cpu, &p->plan, run, b->core);
		if (st == ST_OK)
			st = stopped;
		if (st == ST_OK && l->pairs)
			reduce_run(l, &selected, work, run == 0, p, out);
		else if (st == ST_OK)
			out->row.noisy = true;
	}
	return st;
}

void profile_row(struct bench *b, const struct profile_plan *p, const struct row *r, struct profile_result *out)
{
	struct profile_work *work = NULL;
	struct loop l;
	uint64_t found = 0;
	enum status st;

	memset(out, 0, sizeof(*out));
	out->unit = r->order == ORDER_STREAMS ? "iteration" : r->pair ? "event" : "load";
	out->instructions_milli = out->cycles_milli = -1;
	out->sources = b->cpu->processor->latency_sources;
	if (!row_begin(b, r, &out->row))
		return;
	if (!row_is_of_loop(r)) {
		out->row.status = ROW_UNSUPPORTED;
		out->row.absent = true;
		str_copy(out->row.reason, sizeof(out->row.reason), r->order == ORDER_CURVE ? "each point of a curve has code of its own" :
		         "several cores have no single kernel to count");
		return;
	}
	if (!loop_begin(&l, b, r, LOOP_TEST_ALONE, &out->row))
		return;
	work = b->host->get(b->host->self, sizeof(*work));
	bool switched = work && r->prefetch == PREFETCH_OFF && prefetchers_off(b, &found);

	st = work ? all_runs(&l, p, work, out) : ST_FULL;
	if (st == ST_OK && p->lbr_select)
		profile_branches_take(&l, p, out);
	if (st == ST_OK && p->period)
		profile_records_take(&l, p, out);
	if (st != ST_OK)
		row_failed(&out->row, st, &l.job, "running the kernel");
	else if (out->row.noisy) {
		out->row.status = ROW_NOISY;
		str_copy(out->row.reason, sizeof(out->row.reason), "every window of a run was disturbed");
	}
	if (switched && !prefetchers_back(b, found) && out->row.status == ROW_OK)
		row_failed(&out->row, ST_IO, NULL, "the prefetchers could not be switched back");
	out->count = out->row.status == ROW_OK ? p->plan.count : 0;
	out->runs = p->plan.runs;
	out->rejected = l.rejected;
	if (work)
		b->host->put(b->host->self, work, sizeof(*work));
	loop_end(&l, &out->row);
}

/* --- output ------------------------------------------------------------------------------------ */

static void json_part(struct text *t, const char *key, int64_t value, int64_t divisor)
{
	text_fmt(t, ", \"%s\": ", key);
	if (value < 0)
		text_fmt(t, "null");
	else
		text_fixed(t, mul_div(value, 1, divisor), 3);
}

void profile_json(struct text *t, const struct profile_plan *p, const struct profile_result *r)
{
	text_fmt(t, "{\"profile\": \"");
	text_json(t, p->name);
	text_fmt(t, "\", \"title\": \"");
	text_json(t, p->title);
	text_fmt(t, "\", \"runs\": %u, \"row\": \"%s%s%s\", \"status\": \"%s\", \"reason\": \"", p->plan.runs, r->row.name,
	         r->row.core_kind ? "@" : "", r->row.core_kind ? r->row.core_kind : "",
	         row_status_name(r->row.status));
	text_json(t, r->row.reason);
	text_fmt(t, "\", \"kernel\": \"%s\", \"unit\": \"%s\", \"samples\": %u, \"rejected\": %u", r->row.kernel, r->unit ? r->unit : "", r->samples,
	         r->rejected);
	json_part(t, "instructions", r->instructions_milli, 1);
	json_part(t, "cycles", r->cycles_milli, 1);
	text_fmt(t, ", \"events\": [");
	for (unsigned i = 0; i < r->count; i++) {
		const struct profile_event *e = &r->events[i];

		text_fmt(t, "%s{\"name\": \"%s\", \"run\": %u, \"value\": ", i ? ", " : "", e->slot->event->name, e->slot->run);
		if (e->uncounted) {
			text_fmt(t, "null}");
			continue;
		}
		text_fixed(t, e->unit_milli, 3);
		text_fmt(t, ", \"spread\": ");
		text_fixed(t, e->spread_milli, 3);
		json_part(t, "per_1000_instructions", e->instructions_micro, 1);
		json_part(t, "per_1000_cycles", e->cycles_micro, 1);
		if (e->overcounts)
			text_fmt(t, ", \"overcounts\": \"%s\"", e->overcounts->name);
		text_fmt(t, "}");
	}
	text_fmt(t, "], \"last_branches\": ");
	profile_branches_json(t, p, r);
	text_fmt(t, ", \"records\": ");
	profile_records_json(t, p, r);
	text_fmt(t, "}");
}

static void column_or_dash(struct text *t, int64_t milli, bool there)
{
	char number[32];
	struct text n;

	text_init(&n, number, sizeof(number));
	if (there)
		text_fixed(&n, milli, 3);
	else
		text_char(&n, '-');
	text_fmt(t, " %12s", number);
}

static void column(struct text *t, int64_t milli) { column_or_dash(t, milli, true); }

void profile_lines(struct text *t, const struct profile_plan *p, const struct profile_result *r)
{
	text_fmt(t, "%s: %s%s%s", p->name, r->row.name, r->row.core_kind ? "@" : "", r->row.core_kind ? r->row.core_kind : "");
	if (r->row.status != ROW_OK) {
		text_fmt(t, "  %s: %s\n", row_status_name(r->row.status), r->row.reason);
		return;
	}
	text_fmt(t, " (%s), %u event%s in %u run%s\n  %-48s a %-10s %12s %12s  run\n", r->row.kernel, p->plan.count, p->plan.count == 1 ? "" : "s", p->plan.runs,
	         p->plan.runs == 1 ? "" : "s", "event", r->unit, "/1000 instr", "/1000 cycles");
	for (unsigned i = 0; i < r->count; i++) {
		const struct profile_event *e = &r->events[i];

		text_fmt(t, "  %-48s", e->slot->event->name);
		if (e->uncounted) {
			text_fmt(t, " %12s  not modelled by this simulated machine\n", "-");
			continue;
		}
		column(t, e->unit_milli);
		column_or_dash(t, e->instructions_micro, e->instructions_micro >= 0);
		column_or_dash(t, e->cycles_micro, e->cycles_micro >= 0);
		text_fmt(t, "  %s%u%s\n", e->slot->fixed ? "all " : "", e->slot->fixed ? 0 : e->slot->run, e->overcounts ? "  counts too much" : "");
	}
	profile_branches_lines(t, p, r);
	profile_records_lines(t, p, r);
}
