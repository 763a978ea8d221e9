/* bench/staircase.c: see staircase.h. */
#include "bench/staircase.h"
#include "pmu/text.h"

static const struct doc_node *cache_of_level(const struct document *d, unsigned level)
{
	const struct doc_node *caches = doc_get(d, doc_get(d, doc_root(d), "machine"), "caches");

	for (const struct doc_node *c = doc_begin(d, caches); c; c = doc_next(d, c))
		if (doc_whole(d, c, "level") == level && !str_equal(doc_string(d, c, "type"), "I"))
			return c;
	return NULL;
}

static bool step_of(const struct document *d, const char *name, unsigned level, int64_t from, int64_t to, struct stair *s)
{
	const struct doc_node *row = doc_row(d, name);

	if (doc_get(d, row, "cycles")->type != DOC_NUMBER || doc_milli(d, row, "cycles") < 1 || to <= from)
		return false;
	*s = (struct stair){ doc_string(d, row, "name"), doc_string(d, row, "status"), level, from, to, doc_milli(d, row, "cycles"), doc_milli(d, row, "ns") };
	return true;
}

unsigned staircase_of(const struct document *d, struct stair stairs[STAIRCASE_MOST])
{
	unsigned n = 0;
	int64_t from = STAIRCASE_FROM;

	for (unsigned level = 1; level + 1 < STAIRCASE_MOST; level++) {
		const struct doc_node *cache = cache_of_level(d, level);
		int64_t to = cache ? doc_whole(d, cache, "bytes") : 0;
		char name[32];
		struct text t;

		if (to <= from || to > INT64_MAX / 8)
			continue;
		text_init(&t, name, sizeof(name));
		text_fmt(&t, "load.l%u.latency", level);
		n += step_of(d, name, level, from, to, &stairs[n]);
		from = to;
	}
	return n + (from > STAIRCASE_FROM && step_of(d, "load.dram_local.latency", 0, from, from * 8, &stairs[n]));
}

int64_t staircase_top(const struct stair *stairs, unsigned count)
{
	int64_t top = 2000;

	for (unsigned i = 0; i < count; i++)
		while (top < stairs[i].cycles_milli && top < INT64_MAX / 4)
			top *= 2;
	return top;
}
