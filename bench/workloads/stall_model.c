/* bench/workloads/stall_model.c: see stall_model.h. */
#include "bench/workloads/stall_model.h"
#include "bench/measure/reduce.h"
#include "pmu/text.h"

const struct expression *stall_count(const struct processor *p, unsigned t)
{
	return p->stalls && t < stall_term_count ? &p->stalls[t] : NULL;
}

const struct event *stall_event(const struct processor *p, const char *concept)
{
	const struct expression *x = concept_counted(p, concept);

	return x && x->term_count == 1 && x->terms[0].sign > 0 ? x->terms[0].event : NULL;
}

const struct event *stall_identity_event(const struct processor *p, enum stall_identity i)
{
	/* dispatch stands in where issue is not counted, as in the Core 2 paper */
	static const char *const names[STALL_IDENTITIES][2] = {
		[STALL_CYCLES] = { "cycles" }, [STALL_REFERENCE] = { "cycles.reference" }, [STALL_EXECUTE] = { "execute.stall" }, [STALL_RETIRE] = { "retire.stall" },
		[STALL_ISSUED] = { "uops.issued", "uops.dispatched" }, [STALL_ISSUED_PAIRS] = { "uops.issued.fused" }, [STALL_RETIRED] = { "uops.retired" },
		[STALL_RETIRED_PAIRS] = { "uops.retired.fused" }, [STALL_NO_ISSUE] = { "alloc.stall" }, [STALL_RESOURCE] = { "resource.stall" },
		[STALL_MISSES] = { "l1d.busy" } };
	const struct event *e = NULL;

	for (unsigned k = 0; k < 2 && names[i][k] && !e; k++)
		e = stall_event(p, names[i][k]);
	return e;
}

static bool is_of(unsigned t, unsigned bounds)
{
	return bounds >> stall_terms[t].bound & 1;
}

static int64_t sum_of(const struct stall_charge *charges, unsigned bounds)
{
	int64_t sum = 0;

	for (unsigned t = 0; t < stall_term_count; t++)
		if (charges[t].known && is_of(t, bounds))
			sum += charges[t].charged;
	return sum;
}

/* Scales the terms of `bounds` by one factor so that their sum is exactly `limit`. -1: no limit. */
static void shrink(struct stall_charge *charges, unsigned bounds, int64_t limit)
{
	const int64_t sum = sum_of(charges, bounds);
	int64_t before = 0;

	if (limit < 0 || sum <= limit)
		return;
	for (unsigned t = 0; t < stall_term_count; t++) {
		if (!charges[t].known || !is_of(t, bounds))
			continue;
		const int64_t from = mul_div(before, limit, sum);

		before += charges[t].charged;
		charges[t].charged = mul_div(before, limit, sum) - from;
	}
}

void stall_settle(const struct stall_bounds *b, struct stall_charge *charges)
{
	const unsigned misses = 1u << STALL_BY_MISSES, front_end = 1u << STALL_BY_FRONT_END, others = front_end | 1u << STALL_BY_STALLS;
	const unsigned last = 1u << STALL_BY_LAST;

	for (unsigned t = 0; t < stall_term_count; t++)
		charges[t].charged = charges[t].known && charges[t].alone > 0 ? charges[t].alone : 0;
	shrink(charges, misses, b->misses);
	shrink(charges, misses, b->stalls);
	shrink(charges, front_end, b->front_end);
	if (b->stalls < 0)
		return;
	shrink(charges, others, b->stalls - sum_of(charges, misses));
	shrink(charges, last, b->stalls - sum_of(charges, misses | others));
}

int64_t stall_front_end(int64_t starved, int64_t active, int64_t issued, int64_t retired)
{
	if (starved < 0 || active < 0 || issued <= 0 || retired < 0)
		return -1;
	return starved + (retired < issued ? mul_div(active, issued - retired, issued) : 0);
}
