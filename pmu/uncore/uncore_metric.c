/* pmu/uncore/uncore_metric.c: see uncore_metric.h. Values are fractions of 64-bit integers; one that does not fit loses low
 * bits of numerator and denominator, at most one part in 2^20. A difference below 1/THIN_PART of its minuend is not divided by, and
 * is 0 if negative: counters are read one after the other, and that many events may occur between two readings. */
#include "pmu/uncore/uncore_metric.h"
#include "pmu/text.h"

#define NODE_SHIFT 13  /* DNID in a link's match register (manual 331051-002, table 2-173) */
#define DEPTH_MOST 8
#define THIN_PART 50

struct fraction { int64_t over, under; bool thin; }; /* under > 0; thin: a difference too small to divide by */

struct reader {
	const char *at;
	const struct metric_terms *terms;
	struct uncore_metric_events *events;
	const uint64_t *counts; /* NULL: only the events are needed */
	enum status status;
	const char *why;        /* why a value is unknown, in a few words */
	unsigned depth;
};

static struct fraction fail(struct reader *r, enum status status)
{
	if (r->status == ST_OK)
		r->status = status;
	return (struct fraction){ .over = 1, .under = 1 };
}

static struct fraction unknown(struct reader *r, const char *why)
{
	if (r->status == ST_OK)
		r->why = why;
	return fail(r, ST_RANGE);
}

/* ---- fractions -------------------------------------------------------------------------------- */

static uint64_t magnitude(int64_t v) { return v < 0 ? -(uint64_t)v : (uint64_t)v; }

static struct fraction reduced(struct fraction f)
{
	uint64_t a = magnitude(f.over), b = (uint64_t)f.under;
	while (b) {
		const uint64_t t = a % b;
		a = b;
		b = t;
	}
	return a > 1 ? (struct fraction){ f.over / (int64_t)a, f.under / (int64_t)a, f.thin } : f;
}

#define UNDER_LEAST (1 << 20)

/* Drops the lowest bit of numerator and denominator; false: too few would be left. */
static bool coarser(struct fraction *f)
{
	if (f->under < UNDER_LEAST)
		return false;
	f->over /= 2;
	f->under /= 2;
	return true;
}

static struct fraction times(struct reader *r, struct fraction a, struct fraction b)
{
	struct fraction v = { .thin = a.thin || b.thin };
	a = reduced(a);
	b = reduced(b);
	/* cancelled crosswise, so that products stay small */
	const struct fraction ab = reduced((struct fraction){ .over = a.over, .under = b.under }), ba = reduced((struct fraction){ .over = b.over, .under = a.under });
	a = (struct fraction){ .over = ab.over, .under = ba.under };
	b = (struct fraction){ .over = ba.over, .under = ab.under };
	while (__builtin_mul_overflow(a.over, b.over, &v.over) || __builtin_mul_overflow(a.under, b.under, &v.under))
		if (!(a.under > b.under ? coarser(&a) : coarser(&b)))
			return unknown(r, "beyond 64 bits");
	return v;
}

static struct fraction plus(struct reader *r, struct fraction a, struct fraction b)
{
	int64_t left, right;
	struct fraction v = { 0 };
	for (;;) {
		if (!__builtin_mul_overflow(a.over, b.under, &left) && !__builtin_mul_overflow(b.over, a.under, &right) &&
		    !__builtin_add_overflow(left, right, &v.over) && !__builtin_mul_overflow(a.under, b.under, &v.under))
			return reduced(v);
		if (!(a.under > b.under ? coarser(&a) : coarser(&b)))
			return unknown(r, "beyond 64 bits");
	}
}

static struct fraction inverse(struct reader *r, struct fraction a)
{
	if (!a.over)
		return unknown(r, "divided by nothing");
	if (a.thin || a.over < 0)
		return unknown(r, "divided by a difference of almost nothing");
	return (struct fraction){ .over = a.under, .under = a.over };
}

static struct fraction whole(struct reader *r, uint64_t v)
{
	return v > INT64_MAX ? unknown(r, "beyond 64 bits") : (struct fraction){ .over = (int64_t)v, .under = 1 };
}

/* ---- words ------------------------------------------------------------------------------------ */

static bool letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }
static void blanks(struct reader *r)
{
	while (*r->at == ' ')
		r->at++;
}

static bool starts(const char *at, const char *word)
{
	const size_t n = str_length(word);
	for (size_t i = 0; i < n; i++)
		if (at[i] != word[i])
			return false;
	return !letter(at[n]);
}

/* {rank} or {node:NUMBER}, including the braces. */
static void placeholder(struct reader *r, struct text *t)
{
	const char *end = r->at, *colon = NULL;
	uint64_t base = 0;
	for (; *end && *end != '}'; end++)
		if (*end == ':')
			colon = end;
	if (*end && starts(r->at, "{rank"))
		text_fmt(t, "%u", r->terms->rank);
	else if (*end && starts(r->at, "{node") && colon && parse_u64(colon + 1, (size_t)(end - colon - 1), &base) == ST_OK)
		text_fmt(t, "0x%llX", (unsigned long long)(base | (uint64_t)r->terms->node << NODE_SHIFT));
	else
		(void)fail(r, ST_SYNTAX);
	r->at = *end ? end + 1 : end;
}

static struct fraction event(struct reader *r)
{
	struct uncore_metric_events *e = r->events;
	char name[METRIC_NAME_BYTES];
	struct text t;
	unsigned n = 0;
	text_init(&t, name, sizeof(name));
	while (letter(*r->at) || digit(*r->at) || *r->at == '.' || *r->at == ':' || *r->at == '=' || *r->at == '{')
		if (*r->at == '{')
			placeholder(r, &t);
		else
			text_char(&t, *r->at++);
	while (n < e->count && !str_equal(e->name[n], name))
		n++;
	if (r->counts)
		return n < e->count ? whole(r, r->counts[n]) : fail(r, ST_MISSING);
	if (n == METRIC_EVENTS_MAX)
		return fail(r, ST_FULL);
	if (n == e->count) {
		str_copy(e->name[n], sizeof(e->name[n]), name);
		e->list[n] = e->name[n];
		e->count++;
	}
	return (struct fraction){ .over = 1, .under = 1 };
}

static struct fraction term_outside(struct reader *r)
{
	const struct { const char *name; uint64_t value; } known[] = {
		{ "$INSTRUCTIONS", r->terms->instructions }, { "$CORE_CYCLES", r->terms->core_cycles }, { "$TSC_MHZ", r->terms->tsc_mhz },
		{ "$READ_TSC", r->terms->read_tsc }, { "$TSC", r->terms->tsc }, { "$BOXES", r->terms->boxes },
	};
	for (unsigned i = 0; i < COUNT_OF(known); i++)
		if (starts(r->at, known[i].name)) {
			r->at += str_length(known[i].name);
			return whole(r, r->counts ? known[i].value : 1);
		}
	return fail(r, ST_SYNTAX);
}

/* ---- the expression --------------------------------------------------------------------------- */

static struct fraction sum(struct reader *r);

static struct fraction factor(struct reader *r)
{
	blanks(r);
	if (*r->at == '(') {
		if (++r->depth > DEPTH_MOST)
			return fail(r, ST_SYNTAX);
		r->at++;
		const struct fraction v = sum(r);
		blanks(r);
		if (*r->at != ')')
			return fail(r, ST_SYNTAX);
		r->at++;
		r->depth--;
		return v;
	}
	if (*r->at == '$')
		return term_outside(r);
	if (digit(*r->at)) {
		const char *start = r->at;
		uint64_t v = 0;
		while (digit(*r->at))
			r->at++;
		return parse_u64(start, (size_t)(r->at - start), &v) == ST_OK ? whole(r, v) : fail(r, ST_SYNTAX);
	}
	return letter(*r->at) ? event(r) : fail(r, ST_SYNTAX);
}

static struct fraction product(struct reader *r)
{
	struct fraction v = factor(r);
	for (blanks(r); r->status == ST_OK && (*r->at == '*' || *r->at == '/'); blanks(r)) {
		const bool divide = *r->at++ == '/';
		struct fraction f = factor(r);
		if (divide && r->counts)
			f = inverse(r, f);
		v = r->counts ? times(r, v, f) : v;
	}
	return v;
}

static struct fraction sum(struct reader *r)
{
	struct fraction v = product(r);
	for (blanks(r); r->status == ST_OK && (*r->at == '+' || *r->at == '-'); blanks(r)) {
		const bool minus = *r->at++ == '-';
		struct fraction f = product(r);
		if (!r->counts)
			continue;
		const struct fraction before = v;
		if (minus)
			f.over = -f.over;
		v = plus(r, v, f);
		if (minus && r->status == ST_OK && before.over > 0) {
			const struct fraction part = times(r, v, inverse(r, before));
			v.thin = magnitude(part.over) < (uint64_t)part.under / THIN_PART;
		}
	}
	return v;
}

static struct fraction evaluate(const struct uncore_metric *m, struct reader *r)
{
	r->at = m->expression;
	const struct fraction v = sum(r);
	if (r->status == ST_OK && *r->at)
		r->status = ST_SYNTAX;
	return v;
}

enum status uncore_metric_events(const struct uncore_metric *m, const struct metric_terms *t, struct uncore_metric_events *out)
{
	struct reader r = { .terms = t, .events = out };
	memset(out, 0, sizeof(*out));
	if (m->lacks[0])
		return ST_UNSUPPORTED;
	(void)evaluate(m, &r);
	return r.status;
}

enum status uncore_metric_value(const struct uncore_metric *m, const struct metric_terms *t, const struct uncore_metric_events *e,
                         const uint64_t *counts, int64_t *milli, const char **why)
{
	struct uncore_metric_events same = *e;
	struct reader r = { .terms = t, .events = &same, .counts = counts };
	*why = m->lacks;
	if (m->lacks[0])
		return ST_UNSUPPORTED;
	struct fraction v = times(&r, evaluate(m, &r), (struct fraction){ .over = 1000, .under = 1 });
	if (v.over < 0 && v.thin)
		v.over = 0;
	if (r.status == ST_OK && v.over < 0) /* counts that do not belong together: no share can be computed */
		(void)unknown(&r, "a value below zero");
	if (r.status == ST_OK)
		*milli = v.over / v.under;
	*why = r.why ? r.why : "";
	return r.status;
}
