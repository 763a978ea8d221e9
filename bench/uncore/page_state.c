/* bench/uncore/page_state.c: see page_state.h. */
#include "bench/uncore/page_state.h"

#include "bench/measure/cores.h"
#include "bench/uncore/latency_breakdown.h"
#include "pmu/core/concept.h"

#define TERMS_MOST 16u
#define HIT_MILLI 985   /* page hits per load of rows on open pages: the other loads are the first of their page,
 * one in 128 for pages of 8 KiB; each takes a tenth to a third longer */
#define MOST_MILLI 900  /* page misses per load in random order: the other loads find their page open by chance */
#define FEW_MILLI 100
#define OPEN_MILLI 50 /* page hits per load of a chase through many pages: each is up to a half shorter, so that more of them are not its latency */
#define SAME_MILLI 5

enum { READS, ACTIVATES, PRECHARGES, CONCEPTS };
static const char *const counted[CONCEPTS] = { "channel.read", "channel.activate.read", "channel.precharge.page_miss" };

/* Sums of the concepts' events in one window of a working set. *why: what is missing. */
static enum status count(struct loop *l, unsigned set, uint64_t sums[CONCEPTS], const char **why)
{
	struct bench *b = l->b;
	struct mapping lock = { .va = SPACE_LOCK, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
	const char *names[TERMS_MOST];
	uint64_t values[TERMS_MOST] = { 0 };
	unsigned of[TERMS_MOST], n = 0, socket = 0;
	enum status st;

	*why = "its memory controller's counts are not described";
	for (unsigned i = 0; i < CONCEPTS; i++) {
		const struct expression *x = concept_counted(b->cpu->processor, counted[i]);

		if (!x || n + x->term_count > TERMS_MOST)
			return ST_UNSUPPORTED;
		for (unsigned t = 0; t < x->term_count; t++) {
			if (!x->terms[t].uncore)
				return ST_UNSUPPORTED;
			of[n] = i;
			names[n++] = x->terms[t].uncore;
		}
	}
	*why = "its memory controller could not be counted";
	st = uncore_socket(b->a, &b->uncore, b->core, &socket);
	if (st == ST_OK)
		st = b->a->ops->map(b->a->self, &lock);
	if (st != ST_OK)
		return st;
	st = latency_breakdown_count(l, set, names, n, socket, lock.va, values);
	for (unsigned i = 0; i < n; i++)
		sums[of[i]] += values[i];
	const enum status back = b->a->ops->unmap(b->a->self, &lock);

	return st == ST_OK ? back : st;
}

struct pages { int64_t hits, misses, activates; }; /* per load, thousandths */

static enum status pages_of(struct loop *l, unsigned set, struct pages *p, const char **why)
{
	const int64_t loads = (int64_t)l->sets[set].window;
	uint64_t sums[CONCEPTS] = { 0 };
	enum status st = count(l, set, sums, why);

	p->activates = mul_div((int64_t)sums[ACTIVATES], 1000, loads);
	p->misses = mul_div((int64_t)sums[PRECHARGES], 1000, loads);
	p->hits = mul_div((int64_t)sums[READS], 1000, loads) - p->activates;
	if (p->hits < 0)
		p->hits = 0;
	return st;
}

static void add(struct text *t, const char *what, int64_t milli)
{
	text_fmt(t, "%s%s ", t->length ? ", " : "", what);
	text_fixed(t, milli, 3);
}

/* A chase in random order through all pages of an array, where the memory controller holds a large part of the array open. */
static void random_row(struct loop *l, struct row_result *out)
{
	struct pages p;
	struct text reason;
	const char *why;

	if (l->row->order != ORDER_REGIONS || out->status != ROW_OK || pages_of(l, 0, &p, &why) != ST_OK || p.hits <= OPEN_MILLI)
		return;
	out->status = ROW_UNPROVEN;
	text_init(&reason, out->reason, sizeof(out->reason));
	add(&reason, "its pages are few for DRAM's banks, hit per load:", p.hits);
}

void page_state_row(struct loop *l, struct row_result *out)
{
	random_row(l, out);
	const bool hit = l->row->order == ORDER_OPEN_PAGES, miss = l->row->baseline == BASELINE_OPEN_PAGES;
	struct pages test, base = { .hits = 1000 };
	const char *why;
	struct text proof = { out->proof, sizeof(out->proof), str_length(out->proof), false }, reason;

	if ((!hit && !miss) || (out->status != ROW_OK && out->status != ROW_NOISY))
		return;
	text_init(&reason, out->reason, sizeof(out->reason));
	if (pages_of(l, 0, &test, &why) != ST_OK || (miss && pages_of(l, 1, &base, &why) != ST_OK)) {
		out->status = ROW_UNPROVEN;
		out->unprovable = true;
		text_fmt(&reason, "which DRAM pages were open is not known: %s", why);
		return;
	}
	add(&proof, "DRAM pages hit", test.hits);
	add(&proof, "missed", test.misses);
	if (miss)
		add(&proof, "hit by the baseline", base.hits);
	text_fmt(&proof, " per load");
	if ((hit ? test.hits >= HIT_MILLI : test.misses >= MOST_MILLI) && base.hits >= HIT_MILLI)
		return;
	if (test.hits < FEW_MILLI && test.misses < FEW_MILLI && test.activates >= MOST_MILLI) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		out->samples = 0;
		text_fmt(&reason, "the memory controller closes pages: no load found one open");
		return;
	}
	/* A second window with the same count shows that the cause is the number of lines of a page, not other activity. */
	if (hit || base.hits < HIT_MILLI) {
		const struct pages *first = hit ? &test : &base;
		struct pages again;

		if (pages_of(l, hit ? 0 : 1, &again, &why) == ST_OK && again.hits < first->hits + SAME_MILLI && again.hits > first->hits - SAME_MILLI) {
			out->status = ROW_UNSUPPORTED;
			out->absent = true;
			out->samples = 0;
			add(&reason, "a DRAM page has too few lines, hit per load:", first->hits);
			return;
		}
	}
	out->status = ROW_UNPROVEN;
	if (hit || base.hits < HIT_MILLI)
		add(&reason, hit ? "DRAM pages hit per load:" : "DRAM pages hit per load of the baseline:", hit ? test.hits : base.hits);
	else
		add(&reason, "DRAM pages missed per load:", test.misses);
}
