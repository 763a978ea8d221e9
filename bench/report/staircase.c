/* bench/report/staircase.c: see staircase.h. */
#include "bench/report/staircase.h"
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

static unsigned steps_of(const struct document *d, struct stair stairs[STAIRCASE_MOST])
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

/* Points are [KiB, stride_bytes, cycles]; the first one of a size has the smallest stride. */
static unsigned points_of(const struct document *d, struct stair_point points[STAIRCASE_POINTS])
{
	const struct doc_node *list = doc_get(d, doc_get(d, doc_row(d, "load.staircase.latency"), "curve"), "points");
	unsigned n = 0;

	for (const struct doc_node *p = doc_begin(d, list); p && n < STAIRCASE_POINTS; p = doc_next(d, p)) {
		const struct doc_node *size = doc_begin(d, p), *stride = size ? doc_next(d, size) : NULL, *cycles = stride ? doc_next(d, stride) : NULL;
		int64_t bytes = size && size->milli > 0 && size->milli < INT64_MAX / 8192 ? size->milli / 1000 * 1024 : 0;

		if (!cycles || cycles->milli < 1 || bytes < STAIRCASE_FROM || (n && bytes <= points[n - 1].bytes))
			continue;
		points[n++] = (struct stair_point){ bytes, cycles->milli };
	}
	return n;
}

bool staircase_of(const struct document *d, struct staircase *s)
{
	s->count = steps_of(d, s->stairs);
	s->points_count = points_of(d, s->points);
	if (!s->count && !s->points_count)
		return false;
	const struct stair *last = s->count ? &s->stairs[s->count - 1] : NULL;
	const struct stair_point *largest = s->points_count ? &s->points[s->points_count - 1] : NULL;
	s->end = !last ? 0 : last->level ? last->to * 8 : last->to;
	if (largest && largest->bytes > s->end) {
		s->end = largest->bytes;
		if (last && !last->level)
			s->stairs[s->count - 1].to = s->end;
	}
	s->top = 2000;
	for (unsigned i = 0; i < s->count; i++)
		while (s->top < s->stairs[i].cycles_milli && s->top < INT64_MAX / 4)
			s->top *= 2;
	for (unsigned i = 0; i < s->points_count; i++)
		while (s->top < s->points[i].cycles_milli && s->top < INT64_MAX / 4)
			s->top *= 2;
	return true;
}
