/* bench/suite/cross_check.c: finds the rows of a relation by name and checks the values that the writer noted. */
#include "bench/suite/cross_check.h"
#include "bench/catalogue/row.h"

enum relation_kind { RELATION_AT_MOST, RELATION_DIFFERENCE, RELATION_EQUAL, RELATION_PLATEAU, RELATION_HALF, RELATION_LESS, RELATION_BELOW, RELATION_FILLS, RELATION_PAIRS, RELATION_TWICE, RELATION_REACHES,
	RELATION_NEEDS };

struct relation {
	enum relation_kind kind;
	const char *row, *other, *base; /* base: of a difference */
	unsigned plateau;               /* of the other row: enum of struct curve */
	const char *reads;
};

static const struct relation relations[] = {
#define AT_MOST(low, high, why) { .kind = RELATION_AT_MOST, .row = low, .other = high, .reads = why },
#define DIFFERENCE(part, whole, less, why) { .kind = RELATION_DIFFERENCE, .row = part, .other = whole, .base = less, .reads = why },
#define EQUAL(a, b, why) { .kind = RELATION_EQUAL, .row = a, .other = b, .reads = why },
#define PLATEAU(a, curve, level, why) { .kind = RELATION_PLATEAU, .row = a, .other = curve, .plateau = level, .reads = why },
#define HALF(whole, part, why) { .kind = RELATION_HALF, .row = whole, .other = part, .reads = why },
#define LESS(low, high, why) { .kind = RELATION_LESS, .row = low, .other = high, .reads = why },
#define BELOW(part, limit, why) { .kind = RELATION_BELOW, .row = part, .other = limit, .reads = why },
#define FILLS(part, limit, why) { .kind = RELATION_FILLS, .row = part, .other = limit, .reads = why },
#define PAIRS(part, limit, why) { .kind = RELATION_PAIRS, .row = part, .other = limit, .reads = why },
#define TWICE(part, limit, why) { .kind = RELATION_TWICE, .row = part, .other = limit, .reads = why },
#define REACHES(part, whole, why) { .kind = RELATION_REACHES, .row = part, .other = whole, .reads = why },
#define NEEDS(part, other_, why) { .kind = RELATION_NEEDS, .row = part, .other = other_, .reads = why },
#include "bench/catalogue/relations.def"
};

#define ALLOWED_PERMILLE 30  /* of the larger value: rows of one run differ in clock and in background load */
#define PLATEAU_PERMILLE 100 /* of shared levels: slices differ in their distance, and pages in how often they are open */
#define ALLOWED_SPREADS 3    /* of both rows */
#define BELOW_MILLI 2000     /* entries: a knee is exact to one */
#define BESIDE_MILLI 2000    /* entries: the two loads of an iteration */
#define ALLOWED_MILLI 500    /* half a cycle: the resolution of a short latency */

/* The text that the * of a pattern matches in a name. False: the name does not match. */
static bool star_of(const char *pattern, const char *name, const char **star, size_t *bytes)
{
	size_t before = 0, after, length = str_length(name);

	while (pattern[before] && pattern[before] != '*')
		before++;
	*star = "";
	*bytes = 0;
	if (!pattern[before])
		return str_equal(pattern, name);
	after = str_length(pattern) - before - 1;
	if (length < before + after || memcmp(pattern, name, before) || memcmp(pattern + before + 1, name + length - after, after))
		return false;
	*star = name + before;
	*bytes = length - before - after;
	return true;
}

/* The row that a pattern names once its * is replaced by that text; rows_count: there is none. */
static unsigned row_named(const char *pattern, const char *star, size_t bytes)
{
	char name[96];
	struct text t;

	text_init(&t, name, sizeof(name));
	for (const char *p = pattern; *p; p++)
		if (*p == '*')
			text_bytes(&t, star, bytes);
		else
			text_char(&t, *p);
	for (unsigned i = 0; i < rows_count; i++)
		if (!t.full && str_equal(rows[i].name, name))
			return i;
	return rows_count;
}

static int64_t allowed(const struct writer_note *a, const struct writer_note *b)
{
	const int64_t larger = a->value_milli > b->value_milli ? a->value_milli : b->value_milli;

	return larger / 1000 * ALLOWED_PERMILLE + larger % 1000 * ALLOWED_PERMILLE / 1000 + ALLOWED_SPREADS * (a->spread_milli + b->spread_milli) +
	       ALLOWED_MILLI;
}

/* A plateau has no spread of its own: the other row's is that of its first step. */
static int64_t plateau_allowed(const struct relation *r, const struct writer_note *a)
{
	return (a->value_milli + 999) / 1000 * (r->plateau == CURVE_PLATEAU_L2 ? ALLOWED_PERMILLE : PLATEAU_PERMILLE) + ALLOWED_SPREADS * a->spread_milli + ALLOWED_MILLI;
}

static bool comparable(const struct relation *r, const struct writer_note *a, const struct writer_note *b)
{
	/* REACHES beside an unproven row: its few lines may find some open pages too, and `part` found more. */
	const bool beside_unproven = r->kind == RELATION_NEEDS || (r->kind == RELATION_REACHES && b->status == ROW_UNPROVEN);

	return a->has_value && b->has_value && (a->status == ROW_OK) == (beside_unproven || b->status == ROW_OK);
}

/* What the relation's row is compared with: the other row's value, or its plateau; 0: it has none. */
static int64_t said_of(const struct relation *r, const struct writer_note *other)
{
	return r->kind == RELATION_PLATEAU ? other->plateau_milli[r->plateau] : other->value_milli;
}

static bool broken(const struct relation *r, const struct writer_note *a, const struct writer_note *b, int64_t base_milli)
{
	const int64_t over = a->value_milli - said_of(r, b);

	switch (r->kind) {
	case RELATION_AT_MOST: return over > allowed(a, b);
	case RELATION_HALF: return over - b->value_milli > allowed(a, b);
	case RELATION_LESS: case RELATION_BELOW: return over > -BELOW_MILLI;
	case RELATION_FILLS: return over >= -BESIDE_MILLI || (over + a->value_milli <= 0 && over + a->value_milli >= -BESIDE_MILLI - 1000); /* of two entries each, one may stay free */
	case RELATION_PAIRS: return over - b->value_milli >= -1000; /* an odd entry has a load too */
	case RELATION_TWICE: return over - b->value_milli >= 0;
	case RELATION_REACHES: return -over > allowed(a, b);
	case RELATION_NEEDS: return b->status == ROW_UNPROVEN;
	case RELATION_DIFFERENCE: return over + base_milli > allowed(a, b) || -over - base_milli > allowed(a, b);
	case RELATION_PLATEAU: return said_of(r, b) > 0 && (over < 0 ? -over : over) > plateau_allowed(r, a);
	default: return over > allowed(a, b) || -over > allowed(a, b);
	}
}

static void amend(struct writer *w, unsigned row, unsigned other, int64_t other_milli, const struct relation *r, cross_check_odd *odd, const void *self)
{
	char reason[128];
	struct text t;

	text_init(&t, reason, sizeof(reason));
	text_fmt(&t, "contradicts %s (", rows[other].name);
	if (rows[other].unit == UNIT_BYTES_PER_SECOND)
		text_fixed(&t, other_milli / 1000000000, 3);
	else
		text_fixed(&t, other_milli, 3);
	text_fmt(&t, "%s): %s", rows[other].unit == UNIT_BYTES_PER_SECOND ? " GB/s" : "", r->reads);
	writer_amend(w, row, ROW_UNPROVEN, reason, odd(self, row, ROW_UNPROVEN, r->kind >= RELATION_BELOW));
}

/* Amends penalties below 0 by more than noise, of rows whose test does all that the baseline does, and more. Other rows' baselines may take
 * longer, as an addition that waits for a store may take longer than a locked one. */
static void below_zero(struct writer *w, cross_check_odd *odd, const void *self)
{
	static const char *const more[] = { "load.*", "tlb.*", "split.*", "frontend.*", "branch.*" };

	for (unsigned i = 0; i < rows_count; i++) {
		const struct writer_note *n = &w->notes[i];
		bool of_these = false;

		for (unsigned k = 0; k < COUNT_OF(more); k++)
			of_these |= str_glob(more[k], rows[i].name);
		if (of_these && rows[i].kind == KIND_PENALTY && n->has_value && n->value_milli < -ALLOWED_MILLI - ALLOWED_SPREADS * n->spread_milli)
			writer_amend(w, i, ROW_UNPROVEN, "a penalty is not below 0: its baseline took longer", odd(self, i, ROW_UNPROVEN, false));
	}
}

void cross_check_run(struct writer *w, cross_check_odd *odd, const void *self)
{
	below_zero(w, odd, self);
	for (unsigned n = 0; n < COUNT_OF(relations); n++)
		for (unsigned i = 0; i < rows_count; i++) {
			const struct relation *r = &relations[n];
			const char *star;
			size_t bytes;

			if (!star_of(r->row, rows[i].name, &star, &bytes))
				continue;
			unsigned other = row_named(r->other, star, bytes), base = r->base ? row_named(r->base, star, bytes) : other;
			if (other == rows_count || base == rows_count || !comparable(r, &w->notes[i], &w->notes[other]) || !comparable(r, &w->notes[i], &w->notes[base]) ||
			    !broken(r, &w->notes[i], &w->notes[other], r->base ? w->notes[base].value_milli : 0))
				continue;
			amend(w, i, other, said_of(r, &w->notes[other]), r, odd, self);
			if (r->kind < RELATION_BELOW)
				amend(w, other, i, w->notes[i].value_milli, r, odd, self);
		}
}

void cross_check_list(struct text *t)
{
	static const char *const words[] = { [RELATION_AT_MOST] = "at most", [RELATION_DIFFERENCE] = "is", [RELATION_EQUAL] = "equals", [RELATION_PLATEAU] = "is on", [RELATION_HALF] = "at most twice", [RELATION_LESS] = "is less than", [RELATION_BELOW] = "is below",
		[RELATION_FILLS] = "does not fill", [RELATION_PAIRS] = "is below twice", [RELATION_TWICE] = "is less than twice", [RELATION_REACHES] = "reaches", [RELATION_NEEDS] = "is proved only beside a proved" };

	for (unsigned n = 0; n < COUNT_OF(relations); n++) {
		const struct relation *r = &relations[n];

		text_fmt(t, "%s %s %s%s%s   %s\n", r->row, words[r->kind], r->other, r->base ? " less " : "", r->base ? r->base : "", r->reads);
	}
}
