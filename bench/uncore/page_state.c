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
#define LONGER_PERMILLE 10 /* by which a load may take more time where its DRAM page was not open */
#define PAIRS 201u
#define SURE_PART 3       /* of that many pairs the median is known to this part of their spread: three standard errors */
#define SLOT 2u            /* of the mappings: behind the row's own two */
#define AREA_SLOT 3u
#define AREA_BYTES (256u << 20) /* more than the banks of a socket have open: of 24 channels with four ranks of 32 banks and pages of 8 KiB, 24 MiB */
#define AREA_LEAST (32u << 20)
#define AREA_STEP (509u * 64u)  /* a prime number of lines: channels are visited in turn whatever their number */
#define PAGE_SET (128u << 10)   /* bytes of consecutive lines in one DRAM page of each channel: eight channels with pages of 16 KiB */

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
	st = l->row->node ? uncore_socket_of_node(b->a, &b->uncore, cores_node(b, l->row->node), &socket) : uncore_socket(b->a, &b->uncore, b->core, &socket);
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

/* Runs a kernel over one line in each step of the area. */
static enum status over_area(struct loop *l, const struct mapping *area, const char *kernel)
{
	const struct kernel *k = kernel_find(kernel);
	const uint64_t arguments[6] = { area->va, area->bytes / AREA_STEP, AREA_STEP };
	struct window ignored;

	return k ? window_run(l->b, k, arguments, NULL, 0, &ignored, &l->job) : ST_BROKEN;
}

/* Maps memory of the row's node larger than all pages that its banks can have open: as much as there is. */
static enum status map_area(struct loop *l, struct mapping *area)
{
	const struct access *a = l->b->a;
	enum status st = ST_FULL;

	for (uint64_t bytes = AREA_BYTES; st == ST_FULL && bytes >= AREA_LEAST; bytes /= 2)
		for (uint64_t page = PAGE_2M; page; page = st == ST_UNSUPPORTED && page == PAGE_2M ? PAGE_4K : 0) {
			*area = (struct mapping){ .va = SPACE_DATA + AREA_SLOT * PAGE_1G, .bytes = bytes, .page_bytes = page, .node = cores_node(l->b, l->row->node) };
			st = a->ops->map(a->self, area);
		}
	return st;
}

/* Pairs of windows over nodes of which no two share a DRAM page, each after loads in the area, behind which the banks have other pages open. */
static enum status closed_windows(struct loop *l, struct working_set *w, const struct mapping *area, unsigned pairs, struct pair *tsc)
{
	struct bench *b = l->b;
	struct window out = { .tsc = 0 };
	enum status st = ST_OK;

	for (unsigned i = 0; st == ST_OK && i < 2 * pairs; i++) {
		st = window_prepare(b, l->row, w, WINDOW_TEST, w->shape.nodes, &l->job);
		if (st == ST_OK)
			st = over_area(l, area, "k_touch");
		b->ahead = &w->map;
		if (st == ST_OK)
			st = window_units(b, w, w->window * (1 + i % 2), NULL, 0, &out, &l->job);
		b->ahead = NULL;
		/* The next loads in the area are to come from memory too, and no later row is to find its lines in the last level. */
		if (st == ST_OK)
			st = over_area(l, area, "k_flush");
		*(i % 2 ? &tsc[i / 2].longer : &tsc[i / 2].shorter) = (int64_t)out.tsc;
	}
	return st == ST_OK ? window_prepare(b, l->row, w, WINDOW_TEST, w->shape.nodes, &l->job) : st;
}

/* *permille: how much more time a load takes where its DRAM page is closed before the window, beyond what the samples' spread explains. */
static enum status closed(struct loop *l, struct row_result *out, int64_t *permille)
{
	struct bench *b = l->b;
	const unsigned pairs = b->a->kind == ACCESS_SIM ? 1 : PAIRS;
	struct working_set w = { .kernel = l->sets[0].kernel, .shape = l->sets[0].shape };
	struct mapping area = { .va = 0 };
	struct pair tsc[PAIRS] = { { 0, 0 } };
	struct slope row, alone = { .value_micro = 0 };
	enum status st = reduce_slope(b->tsc[0], l->pairs, l->sets[0].window, l->row->statistic, &row), back = ST_OK;

	const uint64_t sets = w.shape.span_bytes / (w.shape.piece_bytes ? w.shape.piece_bytes : PAGE_SET), round = 2 * w.kernel->loads;
	const uint32_t nodes = (uint32_t)(sets < round ? round : sets / round * round);

	if (!w.shape.piece_bytes)
		w.shape.nodes = nodes;
	w.shape.bytes = w.shape.nodes * (uint64_t)w.shape.line_bytes;
	w.window = nodes / 2;
	if (st == ST_OK)
		st = window_set_up(b, &w, SLOT, out);
	if (st == ST_OK)
		st = map_area(l, &area);
	if (st == ST_OK) {
		st = closed_windows(l, &w, &area, pairs, tsc);
		back = b->a->ops->unmap(b->a->self, &area);
	}
	if (w.mapped) {
		const enum status other = b->a->ops->unmap(b->a->self, &w.map);

		back = back == ST_OK ? other : back;
	}
	if (st == ST_OK)
		st = reduce_slope(tsc, pairs, w.window, STAT_MEDIAN, &alone);
	if (st == ST_OK && row.value_micro <= 0)
		st = ST_RANGE;
	*permille = st == ST_OK ? mul_div(alone.value_micro - alone.spread_micro / SURE_PART - row.value_micro, 1000, row.value_micro) : 0;
	return st == ST_OK ? back : st;
}

/* A chase in random order through an array of which the memory controller holds a part open. */
static void random_row(struct loop *l, struct row_result *out)
{
	const bool sparse = l->row->order == ORDER_SPARSE && l->row->baseline != BASELINE_OPEN_PAGES;
	struct pages p;
	struct text reason;
	const char *why;
	int64_t permille;
	enum status st = ST_OK;
	bool few = false;

	if ((l->row->order != ORDER_REGIONS && !sparse) || out->status != ROW_OK)
		return;
	text_init(&reason, out->reason, sizeof(out->reason));
	const uint64_t from = l->sets[0].at;

	if (pages_of(l, 0, &p, &why) == ST_OK) {
		few = p.hits > OPEN_MILLI;
		if (few)
			add(&reason, "its pages are few for DRAM's banks, hit per load:", p.hits);
		/* The lines of this window do not stay in the last level, which a later row would find there. */
		l->sets[0].at = from;
		st = sparse ? window_prepare(l->b, l->row, &l->sets[0], WINDOW_TEST, l->sets[0].window, &l->job) : ST_OK;
	} else if (sparse) {
		st = closed(l, out, &permille);
		few = st == ST_OK && permille > LONGER_PERMILLE;
		if (few)
			add(&reason, "its pages are few for DRAM's banks; where none is open, a load takes more time by a part of", permille);
	}
	if (few)
		out->status = ROW_UNPROVEN;
	if (st != ST_OK)
		row_failed(out, st, &l->job, "a chase in memory with other pages open");
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
