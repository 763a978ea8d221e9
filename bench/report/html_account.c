/* bench/report/html_account.c: the cycle accounting of the suite's workloads as stacks, and the events' trust table. */
#include "bench/report/html.h"
#include "bench/measure/reduce.h"

#define WIDTH   720
#define LEFT    150
#define RIGHT   700
#define BLOCK   78              /* height of a workload */
#define BAR     18
#define TERMS_MOST 32
#define CYCLES_MOST 1000000000000000

/* A workload's cycles at the point its sum is compared with: retirement, or execution where retirement was not counted. */
struct stack {
	int64_t active, stalls, sum, overlap;
	int64_t all;                /* full width of the picture */
};

/* Its cycles at execution. */
struct split { int64_t retiring, wasted, stalls; };

/* A damaged file may hold any number: clip it so that sums cannot overflow. */
static int64_t clip(int64_t v)
{
	return v < 0 ? 0 : v > CYCLES_MOST ? CYCLES_MOST : v;
}

static int64_t count_of(struct html *h, const struct doc_node *workload, const char *quantity)
{
	return clip(doc_whole(h->d, doc_get(h->d, doc_get(h->d, workload, "counts"), quantity), "count"));
}

/* False: no stalls were counted. */
static bool stack_of(struct html *h, const struct doc_node *workload, struct stack *s)
{
	const struct doc_node *levels = doc_get(h->d, workload, "levels"), *level = doc_get(h->d, levels, "retirement.thread");
	const bool retirement = doc_get(h->d, level, "stalls")->type == DOC_NUMBER;

	if (!retirement)
		level = doc_get(h->d, levels, "execution.core");
	*s = (struct stack){ .active = count_of(h, workload, retirement ? "retire_active" : "execute_active"), .stalls = clip(doc_whole(h->d, level, "stalls")),
		.sum = clip(doc_whole(h->d, workload, "sum")), .overlap = clip(doc_whole(h->d, workload, "overlap")) };
	s->all = s->active + (s->sum > s->stalls ? s->sum : s->stalls);
	return doc_get(h->d, level, "stalls")->type == DOC_NUMBER && s->all > 0;
}

/* Splits by the master equation where it holds (Core 2 paper). Otherwise active cycles are wasted in proportion to the uops that never retired
 * (guide, "Cycle Accounting and Uop Flow"). False: execution was not counted. */
static bool split_of(struct html *h, const struct doc_node *workload, struct split *s)
{
	const struct doc_node *master = doc_get(h->d, workload, "master");
	int64_t active = count_of(h, workload, "execute_active"), retired = count_of(h, workload, "retired_uops");
	int64_t issued = count_of(h, workload, "issued_uops") + count_of(h, workload, "issued_fused");

	if (doc_get(h->d, master, "retired")->type == DOC_NUMBER) {
		*s = (struct split){ clip(doc_whole(h->d, master, "retired")), clip(doc_whole(h->d, master, "non_retired")), clip(doc_whole(h->d, master, "stalls")) };
		return true;
	}
	*s = (struct split){ .stalls = count_of(h, workload, "execute_stall") };
	s->wasted = retired > 0 && retired < issued ? mul_div(active, issued - retired, issued) : 0;
	s->retiring = active - s->wasted;
	return active > 0;
}

static unsigned scaled(const struct stack *s, int64_t cycles)
{
	return LEFT + (unsigned)mul_div(cycles, RIGHT - LEFT, s->all);
}

/* A bar from cycle `from` to cycle `to`, with its label above if there is room. */
static void piece(struct html *h, const struct stack *s, const char *class, unsigned y, int64_t from, int64_t to, const char *word)
{
	unsigned x = scaled(s, from), w = scaled(s, to) - x;

	if (to <= from)
		return;
	text_fmt(&h->t, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\"/>", class, x, y, w ? w : 1, BAR);
	if (w >= 8 * str_length(word))
		text_fmt(&h->t, "<text x=\"%u\" y=\"%u\">%s</text>", x, y - 3, word);
}

/* Cycles charged to the counted thread. */
static int64_t term_cycles(struct html *h, const struct doc_node *term)
{
	return clip(doc_whole(h->d, term, "cycles"));
}

static void draw_stack(struct html *h, const struct doc_node *workload, unsigned y)
{
	static const char *const classes[] = { "b1", "b2", "b3", "b4" };
	const struct doc_node *terms = doc_get(h->d, workload, "terms");
	struct stack s;
	char number[12];
	unsigned n = 0;
	int64_t at;

	text_fmt(&h->t, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 8, y + 29);
	html_text(h, doc_string(h->d, workload, "workload"));
	text_fmt(&h->t, "</text>");
	if (!stack_of(h, workload, &s)) {
		text_fmt(&h->t, "<text x=\"%d\" y=\"%u\">not counted</text>\n", LEFT, y + 29);
		return;
	}
	piece(h, &s, "b3", y + 16, 0, s.active, "active");
	piece(h, &s, "b1", y + 16, s.active, s.active + s.stalls, "stalled");
	at = s.active;
	for (const struct doc_node *t = doc_begin(h->d, terms); t; t = doc_next(h->d, t)) {
		int64_t cycles = term_cycles(h, t);
		struct text as;

		n++;
		if (!cycles || at + cycles > s.all + TERMS_MOST) /* in a damaged file the terms may exceed their sum */
			continue;
		text_init(&as, number, sizeof(number));
		text_fmt(&as, "%u", n);
		piece(h, &s, classes[n % COUNT_OF(classes)], y + 50, at, at + cycles > s.all ? s.all : at + cycles, number);
		at += cycles;
	}
	if (at < s.active + s.stalls) {
		unsigned x = scaled(&s, at), w = scaled(&s, s.active + s.stalls) - x;

		text_fmt(&h->t, "<rect class=\"axis\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\"/>", x, y + 50, w, BAR);
		if (w >= 32)
			text_fmt(&h->t, "<text x=\"%u\" y=\"%u\">rest</text>", x, y + 47);
	}
	text_fmt(&h->t, "\n");
}

/* A cell with a part of the cycles and its share of all. */
static void share_cell(struct html *h, int64_t part, int64_t all)
{
	text_fmt(&h->t, "<td class=\"n\">%lld<br><small>", (long long)part);
	html_milli(h, all ? mul_div(part, 100000, all) : 0, 1);
	text_fmt(&h->t, " %%</small></td>");
}

static void workload_line(struct html *h, const struct doc_node *workload)
{
	struct stack s;
	struct split e;
	const bool counted = stack_of(h, workload, &s), split = split_of(h, workload, &e);
	const int64_t cycles = split ? e.retiring + e.wasted + e.stalls : s.active + s.stalls, all = s.active + s.stalls;

	text_fmt(&h->t, "<tr><th scope=\"row\">");
	html_text(h, doc_string(h->d, workload, "workload"));
	text_fmt(&h->t, "</th><td>");
	html_verdict(h, doc_string(h->d, workload, "status"));
	text_fmt(&h->t, "</td>");
	html_cell_node(h, doc_get(h->d, workload, "threads"), 0);
	if (!counted) {
		text_fmt(&h->t, "<td></td><td></td><td></td><td></td><td></td><td></td><td></td><td class=\"w\">");
		html_text(h, doc_string(h->d, workload, "reason"));
		text_fmt(&h->t, "</td></tr>\n");
		return;
	}
	text_fmt(&h->t, "<td class=\"n\">%lld</td>", (long long)cycles);
	if (split) {
		share_cell(h, e.retiring, cycles);
		share_cell(h, e.wasted, cycles);
		share_cell(h, e.stalls, cycles);
	} else {
		text_fmt(&h->t, "<td></td><td></td><td></td>");
	}
	share_cell(h, s.stalls, all);
	share_cell(h, s.sum, all);
	share_cell(h, s.overlap, all);
	share_cell(h, s.stalls - s.sum, all);
	text_fmt(&h->t, "</tr>\n");
}

/* Values derived from the counts, as on the console: formulas, front-side bus, uops started per cycle. */
static void figure_lines(struct html *h, const struct doc_node *workload)
{
	const struct doc_node *values = doc_get(h->d, workload, "values"), *bus = doc_get(h->d, workload, "bus");
	unsigned uops = 0;

	for (const struct doc_node *v = doc_begin(h->d, values); v; v = doc_next(h->d, v)) {
		text_fmt(&h->t, "<tr><th scope=\"row\">");
		html_text(h, doc_string(h->d, workload, "workload"));
		text_fmt(&h->t, "</th>");
		html_cell(h, v->key);
		html_cell_node(h, doc_get(h->d, v, "value"), 3);
		text_fmt(&h->t, "</tr>\n");
	}
	for (const struct doc_node *v = doc_begin(h->d, bus); v; v = doc_next(h->d, v)) {
		text_fmt(&h->t, "<tr><th scope=\"row\">");
		html_text(h, doc_string(h->d, workload, "workload"));
		text_fmt(&h->t, "</th><td>front-side bus: ");
		html_text(h, v->key);
		text_fmt(&h->t, "</td>");
		html_cell_node(h, v, 3);
		text_fmt(&h->t, "</tr>\n");
	}
	for (const struct doc_node *v = doc_begin(h->d, doc_get(h->d, workload, "ilp")); v; v = doc_next(h->d, v)) {
		text_fmt(&h->t, "<tr><th scope=\"row\">");
		html_text(h, doc_string(h->d, workload, "workload"));
		text_fmt(&h->t, "</th><td>cycles that start %u%s uops</td>", uops, doc_next(h->d, v) ? "" : " and more");
		html_cell_node(h, v, 0);
		text_fmt(&h->t, "</tr>\n");
		uops++;
	}
}

static void term_lines(struct html *h, const struct doc_node *workload)
{
	unsigned n = 0;

	for (const struct doc_node *t = doc_begin(h->d, doc_get(h->d, workload, "terms")); t; t = doc_next(h->d, t)) {
		const char *open = doc_string(h->d, t, "open");

		n++;
		if (!open[0] && !term_cycles(h, t))
			continue;
		text_fmt(&h->t, "<tr><th scope=\"row\">");
		html_text(h, doc_string(h->d, workload, "workload"));
		text_fmt(&h->t, "</th><td class=\"n\">%u</td>", n);
		html_cell(h, doc_string(h->d, t, doc_string(h->d, t, "title")[0] ? "title" : "name"));
		html_cell(h, doc_string(h->d, t, "row"));
		html_cell(h, doc_string(h->d, t, "event"));
		html_cell_node(h, doc_get(h->d, t, "count"), 0);
		html_cell_node(h, doc_get(h->d, t, "penalty"), 2);
		html_cell_node(h, doc_get(h->d, t, "alone"), 0);
		if (open[0]) {
			text_fmt(&h->t, "<td class=\"w\">left open: ");
			html_text(h, open);
			text_fmt(&h->t, "</td></tr>\n");
		} else {
			text_fmt(&h->t, "<td class=\"n\">%lld</td></tr>\n", (long long)term_cycles(h, t));
		}
	}
}

void html_accounting(struct html *h, const struct doc_node *list)
{
	unsigned y = 0;

	if (list->type != DOC_LIST || !list->count)
		return;
	html_section(h, "accounting", "Where the cycles of the suite's workloads went",
	             "Cycles in which uops retire, and cycles that are stalled. Below the stalled ones, the sum of counts times penalties: each penalty is a row of "
	             "this run, and what overlapped is not charged: loads that miss cost at most the cycles with a miss in flight, the front end at most what it "
	             "starved or wasted, all together at most the stalls. What the sum does not explain is the rest.");
	html_figure(h, "Cycle accounting", "For each workload two bars: active and stalled cycles, and below the stalled ones the terms of the sum. The "
	            "figures are in the tables.", WIDTH, list->count * BLOCK + 4);
	for (const struct doc_node *w = doc_begin(h->d, list); w; w = doc_next(h->d, w), y += BLOCK)
		draw_stack(h, w, y);
	html_figure_end(h, "Each workload at a scale of its own. Numbers over the lower bars are those of the terms in the table below; the frame is the rest.");
	html_table(h, "Cycles of each workload: at execution retiring, wasted and stalled; at retirement stalled, and what of it is charged",
	           "workload|verdict|#threads|#cycles|#retiring|#wasted|#stalled|#without retirement|#sum|#overlapped|#unaccounted rest");
	for (const struct doc_node *w = doc_begin(h->d, list); w; w = doc_next(h->d, w))
		workload_line(h, w);
	html_table_end(h);
	html_table(h, "Terms of the sums: those that counted something, and those that are open", "workload|#term|source of stalls|penalty's row|event|#count|#penalty|#alone|#charged");
	for (const struct doc_node *w = doc_begin(h->d, list); w; w = doc_next(h->d, w))
		term_lines(h, w);
	html_table_end(h);
	html_table(h, "What is made of the counts", "workload|figure|#value");
	for (const struct doc_node *w = doc_begin(h->d, list); w; w = doc_next(h->d, w))
		figure_lines(h, w);
	html_table_end(h);
}

void html_trust(struct html *h, const struct doc_node *list)
{
	if (list->type != DOC_LIST || !list->count)
		return;
	html_section(h, "trust", "Which events count right",
	             "Kernels whose true counts are known, and what the processor's events counted over them. Right is within 1 %.");
	html_table(h, "Events against kernels of known counts", "event|verdict|#ratio|#counted|#expected|#at most|for each|row|why not");
	for (const struct doc_node *e = doc_begin(h->d, list); e; e = doc_next(h->d, e)) {
		text_fmt(&h->t, "<tr><th scope=\"row\">");
		html_text(h, doc_string(h->d, e, "event"));
		text_fmt(&h->t, "</th><td>");
		html_verdict(h, doc_string(h->d, e, "verdict"));
		text_fmt(&h->t, "</td>");
		html_cell_node(h, doc_get(h->d, e, "ratio"), 3);
		html_cell_node(h, doc_get(h->d, e, "counted"), 3);
		html_cell_node(h, doc_get(h->d, e, "expected"), 3);
		html_cell_node(h, doc_get(h->d, e, "expected_most"), 3);
		html_cell(h, doc_string(h->d, e, "unit"));
		html_cell(h, doc_string(h->d, e, "row"));
		html_cell(h, doc_string(h->d, e, "reason"));
		text_fmt(&h->t, "</tr>\n");
	}
	html_table_end(h);
}
