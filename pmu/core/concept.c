/* pmu/core/concept.c: lookups of concepts and the sums of their expressions. */
#include "pmu/core/concept.h"
#include "pmu/text.h"

const char *exactness_name(unsigned exactness)
{
	static const char *const names[] = { [EXACTNESS_NONE] = "none", [EXACTNESS_EXACT] = "exact", [EXACTNESS_SUPERSET] = "superset",
		[EXACTNESS_SUBSET] = "subset", [EXACTNESS_CYCLES] = "cycles" };
	return exactness < COUNT_OF(names) ? names[exactness] : "?";
}

static int order_of(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return (unsigned char)*a - (unsigned char)*b;
}

const struct expression *concept_find(const struct processor *p, const char *name)
{
	for (unsigned low = 0, high = p->expression_count; low < high;) {
		unsigned middle = (low + high) / 2;
		int order = order_of(name, p->expressions[middle].concept);

		if (order == 0)
			return &p->expressions[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

const struct expression *concept_counted(const struct processor *p, const char *name)
{
	const struct expression *x = concept_find(p, name);

	return x && x->exactness != EXACTNESS_NONE ? x : NULL;
}

static const struct expression *exact(const struct processor *p, const char *name)
{
	const struct expression *x = concept_find(p, name);

	return x && x->exactness == EXACTNESS_EXACT ? x : NULL;
}

const struct event *concept_event(const struct processor *p, const char *name)
{
	const struct expression *x = exact(p, name);

	return x && x->term_count == 1 ? x->terms[0].event : NULL;
}

const char *concept_uncore(const struct processor *p, const char *name, unsigned term)
{
	const struct expression *x = exact(p, name);

	return x && term < x->term_count ? x->terms[term].uncore : NULL;
}

static unsigned event_index(const struct event *e, const struct event *const *events, unsigned count)
{
	unsigned i = 0;

	while (i < count && events[i] != e)
		i++;
	return i;
}

enum status expression_events(const struct expression *x, const struct event **events, unsigned *count, unsigned capacity)
{
	unsigned n = *count;

	for (unsigned t = 0; t < x->term_count; t++) {
		if (!x->terms[t].event)
			return ST_UNSUPPORTED;
		if (event_index(x->terms[t].event, events, n) < n)
			continue;
		if (n >= capacity)
			return ST_FULL;
		events[n++] = x->terms[t].event;
	}
	*count = n;
	return ST_OK;
}

enum status expression_value(const struct expression *x, const struct event *const *events, unsigned count, const int64_t *counts, int64_t *value)
{
	int64_t sum = 0;

	for (unsigned t = 0; t < x->term_count; t++) {
		unsigned i = event_index(x->terms[t].event, events, count);

		if (i == count)
			return ST_MISSING;
		sum += x->terms[t].sign * counts[i];
	}
	*value = sum;
	return ST_OK;
}

bool expression_proves(const struct expression *x, int64_t low_milli, int64_t high_milli)
{
	switch (x->exactness) {
	case EXACTNESS_EXACT:
		return true;
	case EXACTNESS_SUPERSET:
		return low_milli <= 0;
	case EXACTNESS_SUBSET:
		return low_milli > 0;
	case EXACTNESS_CYCLES:
		return low_milli > 0 && high_milli >= CONCEPT_ANY_NUMBER;
	default:
		return false;
	}
}
