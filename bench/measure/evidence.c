/* bench/measure/evidence.c: the counters that prove a row, and the counts that they must show. */
#include "bench/measure/codegen.h"
#include "bench/measure/cores.h"
#include "bench/measure/loop.h"
#include "pmu/backend/core_kind.h"
#include "pmu/netburst/netburst.h"

#define UNMODELLED "this simulated machine does not model %s"

bool evidence_counts(const struct counting *c, const char *concept)
{
	for (unsigned i = 0; i < c->proof_count; i++)
		if (str_equal(c->proofs[i].concept, concept))
			return true;
	return false;
}

static bool within(const struct row_proof *p, int64_t per_unit_milli) { return per_unit_milli >= p->low_milli && per_unit_milli <= p->high_milli; }

bool evidence_holds(const struct counting *c, const int64_t *per_unit_milli, const char *unit, struct text *text)
{
	bool holds = true;

	for (unsigned i = 0; i < c->proof_count; i++) {
		const struct row_proof *p = &c->proofs[i];

		text_fmt(text, "%s%s ", i ? ", " : "", c->expressions[i]->text);
		text_fixed(text, per_unit_milli[i], 3);
		text_fmt(text, " per %s", p->per == PER_STORE ? "store" : p->per == PER_LOAD ? "load" : unit);
		holds = holds && within(p, per_unit_milli[i]);
	}
	return holds;
}

/* The first unmodelled event of an expression whose counts could bring its value, which is too low or too high, into the bounds; NULL: there is none. */
static const struct event *unmodelled_in(const struct counting *c, const struct expression *x, bool too_low)
{
	for (unsigned t = 0; t < x->term_count; t++)
		for (unsigned e = 0; e < c->events; e++)
			if (c->list[e] == x->terms[t].event && c->unmodelled >> e & 1 && (x->terms[t].sign > 0) == too_low)
				return c->list[e];
	return NULL;
}

/* The first unmodelled event of the counts outside the bounds, if each of them has one; otherwise NULL: what is modelled refutes the row. */
static const struct event *unmodelled_alone(const struct counting *c, const int64_t *per_unit_milli)
{
	const struct event *first = NULL;

	for (unsigned i = 0; i < c->proof_count; i++) {
		const struct event *e;

		if (within(&c->proofs[i], per_unit_milli[i]))
			continue;
		e = unmodelled_in(c, c->expressions[i], per_unit_milli[i] < c->proofs[i].low_milli);
		if (!e)
			return NULL;
		first = first ? first : e;
	}
	return first;
}

bool evidence_unmodelled(const struct counting *c, struct text *reason)
{
	unsigned e = 0;

	while (e < c->events && !(c->unmodelled >> e & 1))
		e++;
	if (e < c->events)
		text_fmt(reason, UNMODELLED, c->list[e]->name);
	return e < c->events;
}

bool evidence_refutes(const struct counting *c, const int64_t *per_unit_milli, const char *unit, const char *proof, struct text *reason)
{
	const struct event *unmodelled = unmodelled_alone(c, per_unit_milli);
	const size_t begun = reason->length;

	if (unmodelled) {
		text_fmt(reason, UNMODELLED, unmodelled->name);
		return true;
	}
	text_fmt(reason, "counted %s", proof);
	for (unsigned i = 0; reason->full && i < c->proof_count; i++) { /* once: the text is no longer full */
		const struct row_proof *p = &c->proofs[i];

		if (within(p, per_unit_milli[i]))
			continue;
		reason->length = begun;
		reason->full = false;
		text_fmt(reason, "counted %s ", p->concept);
		text_fixed(reason, per_unit_milli[i], 3);
		text_fmt(reason, " per %s; the proof needs ", p->per == PER_STORE ? "store" : p->per == PER_LOAD ? "load" : unit);
		text_fixed(reason, p->low_milli, 3);
		text_fmt(reason, " to ");
		text_fixed(reason, p->high_milli, 3);
	}
	return false;
}

void evidence_values(const struct counting *c, const int64_t *counts, int64_t *values)
{
	for (unsigned i = 0; i < c->proof_count; i++)
		if (expression_value(c->expressions[i], c->list, c->events, counts, &values[i]) != ST_OK)
			values[i] = INT64_MIN; /* outside all bounds; cannot happen, since evidence_plan_set lists each event */
}

/* Adds instructions retired to the plan if that needs no further run. */
static void plan_instructions(const struct bench *b, struct counting *c)
{
	const struct expression *x = concept_counted(b->cpu->processor, "instructions");
	const char *problem;
	struct plan plan;

	if (!x || x->term_count != 1 || x->exactness != EXACTNESS_EXACT)
		return;
	for (unsigned i = 1; i < c->events; i++)
		if (c->list[i] == x->terms[0].event) {
			c->instructions = i;
			return;
		}
	if (c->events == ROW_EVENTS_MAX)
		return;
	c->list[c->events] = x->terms[0].event;
	if (plan_events(b->cpu, c->list, c->events + 1, &plan, &problem) != ST_OK || plan.runs > c->plan.runs)
		return;
	c->plan = plan;
	c->instructions = c->events++;
}

/* Whether the expression of a concept can prove what the proof asks: a count or, for an absence, that the event never occurred. */
static bool can_show(const struct expression *x, const struct row_proof *p, bool absence)
{
	return absence ? expression_proves(x, 0, 0) : expression_proves(x, p->low_milli, p->high_milli);
}

/* The events of a list that this simulated machine knows by name only, as bits. */
static uint32_t unmodelled_of(const struct bench *b, const struct event *const *list, unsigned events)
{
	uint32_t of = 0;

	for (unsigned i = 0; b->a->counts && i < events; i++)
		if (!list[i]->fixed && !b->a->counts(b->a->counts_self, b->core, list[i]->netburst ? netburst_select(b->cpu, list[i]) : counter_select(list[i])))
			of |= 1u << i;
	return of;
}

/* Whether a set needs a count all of whose events are unmodelled. */
static bool needs_unmodelled(const struct counting *c, const struct row_proof_set *set)
{
	for (unsigned i = 0; c->unmodelled && i < ROW_PROOFS_MAX && set->proofs[i].concept; i++) {
		unsigned modelled = 0;

		for (unsigned e = 0; e < c->events; e++)
			for (unsigned t = 0; t < c->expressions[i]->term_count; t++)
				modelled += c->expressions[i]->terms[t].event == c->list[e] && !(c->unmodelled >> e & 1);
		if (set->proofs[i].low_milli > 0 && !modelled)
			return true;
	}
	return false;
}

/* Whether the processor has one expression for two concepts of a set that exclude each other: more of the one than it allows of the other. */
static bool contradicts_itself(const struct row_proof_set *set, const struct expression *const *of, unsigned n)
{
	const struct row_proof *p = set->proofs;

	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < n; k++)
			if (str_equal(of[i]->text, of[k]->text) && p[i].per == p[k].per && p[i].low_milli > p[k].high_milli)
				return true;
	return false;
}

enum sets {
	SETS_THAT_MAY_HOLD, /* without those that need a count of unmodelled events alone */
	SETS_ALL,
	SETS_MODELLED       /* all of whose events are modelled */
};

static bool plan_set(struct bench *b, const struct row_proof_set *set, unsigned runs, bool absence, enum sets sets, struct counting *c)
{
	const char *problem = NULL;
	unsigned n = 0, events = 1;

	c->list[0] = b->cycles;
	for (; n < ROW_PROOFS_MAX && set->proofs[n].concept; n++) {
		const struct row_proof *p = &set->proofs[n];
		const struct expression *x = concept_find(b->cpu->processor, p->concept);

		if (!x || !can_show(x, p, absence)) {
			c->unproving = c->unproving ? c->unproving : x;
			return false;
		}
		c->expressions[n] = x;
		if (expression_events(x, c->list, &events, ROW_EVENTS_MAX) != ST_OK) {
			c->crowded = true;
			return false;
		}
	}
	if (contradicts_itself(set, c->expressions, n)) {
		c->unproving = c->unproving ? c->unproving : c->expressions[n - 1];
		return false;
	}
	c->unmodelled = unmodelled_of(b, c->list, events);
	c->events = events;
	if ((sets == SETS_MODELLED && c->unmodelled) || (sets == SETS_THAT_MAY_HOLD && needs_unmodelled(c, set)))
		return false;
	if (plan_events(b->cpu, c->list, events, &c->plan, &problem) != ST_OK) {
		for (unsigned i = 1; i < events; i++)
			c->uncounted = problem && str_equal(c->list[i]->name, problem) ? c->list[i] : c->uncounted;
		return false;
	}
	if (c->plan.runs > runs) {
		c->crowded = true;
		return false;
	}
	c->proofs = set->proofs;
	c->proof_count = n;
	c->events = events;
	c->absence = absence;
	plan_instructions(b, c);
	c->on = true;
	return true;
}

bool evidence_plan_set(struct bench *b, const struct row_proof_set *set, unsigned runs, struct counting *c)
{
	return plan_set(b, set, runs, false, SETS_MODELLED, c);
}

bool evidence_plan_least(struct bench *b, const struct row_proof_set *set, unsigned runs, struct counting *c)
{
	return plan_set(b, set, runs, false, SETS_ALL, c);
}

static bool has_victim_l3(const struct cpu *cpu)
{
	const struct cpu_cache *l3 = cpu_cache(cpu, 3);

	return l3 && !l3->inclusive;
}

static bool is_one_socket(const struct bench *b) { return cores_node(b, NODE_REMOTE) == cores_node(b, NODE_OWN); }

/* Whether the row needs memory of one node but the firmware reports one node for several packages: it may spread addresses over all packages'
 * memory. Processors on one front-side bus share their memory. */
static bool node_is_unknown(const struct bench *b, const struct row *r)
{
	const struct expression *bus = concept_counted(b->cpu->processor, "bus.line"), *queue = concept_counted(b->cpu->processor, "bus.read.inserts");
	bool several = false;

	if ((r->source != SOURCE_DRAM_LOCAL && r->source != SOURCE_DRAM_OF_CORE) || r->kind == KIND_SIZE || b->a->nodes > 1 || bus || queue)
		return false;
	for (unsigned core = 1; core < b->a->cores && core < CORES_MAX; core++)
		several = several || b->groups.package[core] != b->groups.package[0];
	return several;
}

/* Whether the set shows which node's memory answered, by its concepts' names. */
static bool names_node(const struct row_proof_set *set)
{
	for (unsigned i = 0; i < ROW_PROOFS_MAX && set->proofs[i].concept; i++)
		if (str_glob("*.dram.local", set->proofs[i].concept))
			return true;
	return false;
}

/* Whether the set needs lines of an L2 that is known to be absent. */
static bool asks_for_absent_l2(const struct bench *b, const struct row_proof_set *set)
{
	for (unsigned i = 0; cpu_last_level(b->cpu) == 1 && i < ROW_PROOFS_MAX && set->proofs[i].concept; i++)
		if (str_glob("line.in.l2*", set->proofs[i].concept))
			return true;
	return false;
}

/* Whether the set needs lines of another socket's memory, which a machine of one socket has none of: another node of the socket is not counted as remote. */
static bool asks_for_absent_socket(const struct bench *b, const struct row_proof_set *set)
{
	for (unsigned i = 0; is_one_socket(b) && i < ROW_PROOFS_MAX && set->proofs[i].concept; i++)
		if (str_equal(set->proofs[i].concept, "line.dram.remote"))
			return true;
	return false;
}

/* Whether the set is about machines of another kind. */
static bool is_elsewhere(const struct bench *b, const struct row_proof_set *set)
{
	return (set->without_l3 && cpu_last_level(b->cpu) > 2) || (set->victim_l3 && !has_victim_l3(b->cpu)) || (set->one_socket && !is_one_socket(b)) ||
	       asks_for_absent_socket(b, set) || asks_for_absent_l2(b, set);
}

void evidence_plan(struct bench *b, const struct row *r, unsigned runs, struct counting *c)
{
	const bool node = node_is_unknown(b, r);
	const char *problem;

	memset(c, 0, sizeof(*c));
	if (!b->cycles)
		return;
	for (enum sets sets = SETS_THAT_MAY_HOLD; r->proofs && sets <= SETS_ALL; sets++)
		for (const struct row_proof_set *set = r->proofs; set->proofs[0].concept; set++) {
			if (is_elsewhere(b, set))
				continue;
			if (node && !names_node(set))
				c->node_unknown = true;
			else if (plan_set(b, set, runs, false, sets, c))
				return;
		}
	for (const struct row_proof_set *set = r->proofs; r->pair && r->pair->lacked && set->proofs[0].concept; set++)
		if (plan_set(b, set, runs, true, SETS_MODELLED, c))
			return;
	c->list[0] = b->cycles;
	c->events = 1;
	c->on = plan_events(b->cpu, c->list, 1, &c->plan, &problem) == ST_OK;
	if (c->on)
		plan_instructions(b, c);
}

void evidence_add_noise(struct row_result *out, const char *noise)
{
	struct text reason = { .at = out->reason, .capacity = sizeof(out->reason), .length = str_length(out->reason) };

	if (out->status == ROW_UNPROVEN && out->noisy)
		text_fmt(&reason, "; noisy: %s", noise);
}

bool evidence_lacking(const struct bench *b, const struct counting *c, struct text *why)
{
	static const char *const counts[] = { [EXACTNESS_NONE] = "", [EXACTNESS_EXACT] = "", [EXACTNESS_SUPERSET] = "its event counts more, ",
		[EXACTNESS_SUBSET] = "its event counts less, ", [EXACTNESS_CYCLES] = "its event counts " };
	const struct expression *x = c->unproving;

	if (!b->cycles)
		text_fmt(why, "no performance counters%s%s", b->cpu->pmu_absent ? ": " : "", b->cpu->pmu_absent ? b->cpu->pmu_absent : "");
	else if (c->node_unknown)
		text_fmt(why, "one memory node for several packages, and no event used here tells whose memory answered");
	else if (c->uncounted && plan_extra_absent(b->cpu, c->uncounted))
		text_fmt(why, "register 0x%x of %s does not answer", c->uncounted->extra_msr, c->uncounted->name);
	else if (c->uncounted && plan_lacks(b->cpu, c->uncounted))
		text_fmt(why, "%s: %s", c->uncounted->name, plan_lacks(b->cpu, c->uncounted));
	else if (c->uncounted)
		text_fmt(why, "no counter can count %s", c->uncounted->name);
	else if (c->crowded)
		text_fmt(why, "the events that prove it need more counters than there are");
	else if (x && x->exactness < COUNT_OF(counts))
		text_fmt(why, "this processor has no event that proves it: %s%s", counts[x->exactness], x->why);
	else
		text_fmt(why, "this processor has no event that proves it");
	/* no event exists on both kinds of cores */
	return (b->a->core_kind && str_equal(b->a->core_kind, CORE_KIND_ALL)) || (b->cycles && !c->node_unknown && !c->uncounted && !c->crowded && x);
}

/* --- instructions retired against the code ----------------------------------------------------- */

#define WORK_PART 100 /* instructions may differ by 1/N: few units meet an event that makes the processor repeat some */

enum work_check evidence_work(const struct counting *c, const struct working_set *w, const int64_t *counts_micro, int64_t *expected_micro)
{
	struct codegen_work of = { w->kernel->units, w->kernel->instructions };
	int64_t off;

	*expected_micro = 0;
	if (w->shape.order == ORDER_STREAMS) /* the unit is an iteration */
		of.units = 1;
	else if (w->pair && (w->pair->counted || w->pair->iterations != 1))
		of.units = 0;
	else if (w->pair && w->code)
		of = codegen_work(w->code);
	if (!c->instructions || !of.units)
		return WORK_UNKNOWN;
	*expected_micro = mul_div(of.instructions, 1000000, of.units);
	off = counts_micro[c->instructions] - *expected_micro;
	return (off < 0 ? -off : off) > *expected_micro / WORK_PART ? WORK_DIFFERS : WORK_AGREES;
}

bool evidence_work_holds(const struct counting *c, const struct working_set *w, const int64_t *counts_micro, const char *unit, struct row_result *out)
{
	int64_t expected_micro;
	struct text reason;

	if (evidence_work(c, w, counts_micro, &expected_micro) != WORK_DIFFERS)
		return true;
	text_init(&reason, out->reason, sizeof(out->reason));
	text_fmt(&reason, "retired ");
	text_fixed(&reason, mul_div(counts_micro[c->instructions], 1, 1000), 3);
	text_fmt(&reason, " instructions per %s, the code of %s has ", unit, w->kernel->name);
	text_fixed(&reason, mul_div(expected_micro, 1, 1000), 3);
	return false;
}
