/* bench/report/html_account.c: the cycle accounting of the suite's workloads as stacks, and the events' trust table. */
#include "bench/report/html.h"
#include "bench/measure/reduce.h"

#define WIDTH   720
#define LEFT    150
#define RIGHT   700
#define BLOCK   78              /* a workload's height */
#define BAR     18
#define TERMS_MOST 32
#define CYCLES_MOST 1000000000000000

/* A workload's cycles at execution, whole. */
struct stack {
	int64_t active, wasted, stalls, sum;
	int64_t all;                /* what the picture is as wide as */
};

/* A damaged file may say anything: sums of so many cycles still fit. */
static int64_t clip(int64_t v)
{
	return v < 0 ? 0 : v > CYCLES_MOST ? CYCLES_MOST : v;
}

static int64_t count_of(struct html *h, const struct doc_node *workload, const char *quantity)
{
	return clip(doc_whole(h->d, doc_get(h->d, doc_get(h->d, workload, "counts"), quantity), "count"));
}

/* False: its execution was not counted. Of the active cycles the part is wasted whose uops never retired (guide, "Cycle Accounting
 * and Uop Flow"). */
static bool stack_of(struct html *h, const struct doc_node *workload, struct stack *s)
{
	const struct doc_node *level = doc_get(h->d, doc_get(h->d, workload, "levels"), "execution.core");
	int64_t issued = count_of(h, workload, "issued_uops") + count_of(h, workload, "issued_fused"), retired = count_of(h, workload, "retired_uops");

	*s = (struct stack){ .active = count_of(h, workload, "execute_active"), .stalls = clip(doc_whole(h->d, level, "stalls")),
		.sum = clip(doc_whole(h->d, workload, "core_sum")) };
	if (doc_get(h->d, level, "stalls")->type != DOC_NUMBER || s->active <= 0)
		return false;
	if (retired > 0 && retired < issued)
		s->wasted = mul_div(s->active, issued - retired, issued);
	s->all = s->active + (s->sum > s->stalls ? s->sum : s->stalls);
	return true;
}

static unsigned place(const struct stack *s, int64_t cycles)
{
	return LEFT + (unsigned)mul_div(cycles, RIGHT - LEFT, s->all);
}

/* From cycle `from` to cycle `to`, its word above it where there is room. */
static void piece(struct html *h, const struct stack *s, const char *class, unsigned y, int64_t from, int64_t to, const char *word)
{
	unsigned x = place(s, from), w = place(s, to) - x;

	if (to <= from)
		return;
	text_fmt(&h->t, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\"/>", class, x, y, w ? w : 1, BAR);
	if (w >= 8 * str_length(word))
		text_fmt(&h->t, "<text x=\"%u\" y=\"%u\">%s</text>", x, y - 3, word);
}

/* What is charged to both threads of the core, as the sum is. */
static int64_t term_cycles(struct html *h, const struct doc_node *term)
{
	return clip(doc_whole(h->d, term, "core_cycles"));
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
	piece(h, &s, "b3", y + 16, 0, s.active - s.wasted, "retiring");
	piece(h, &s, "b2", y + 16, s.active - s.wasted, s.active, "wasted");
	piece(h, &s, "b1", y + 16, s.active, s.active + s.stalls, "stalled");
	at = s.active;
	for (const struct doc_node *t = doc_begin(h->d, terms); t; t = doc_next(h->d, t)) {
		int64_t cycles = term_cycles(h, t);
		struct text as;

		n++;
		if (!cycles || at + cycles > s.all + TERMS_MOST) /* the terms of a damaged file may be more than their sum */
			continue;
		text_init(&as, number, sizeof(number));
		text_fmt(&as, "%u", n);
		piece(h, &s, classes[n % COUNT_OF(classes)], y + 50, at, at + cycles > s.all ? s.all : at + cycles, number);
		at += cycles;
	}
	if (at < s.active + s.stalls) {
		unsigned x = place(&s, at), w = place(&s, s.active + s.stalls) - x;

		text_fmt(&h->t, "<rect class=\"axis\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%d\"/>", x, y + 50, w, BAR);
		if (w >= 32)
			text_fmt(&h->t, "<text x=\"%u\" y=\"%u\">rest</text>", x, y + 47);
	}
	text_fmt(&h->t, "\n");
}

/* The split of a workload's cycles: a row of the table of workloads. */
static void share_cell(struct html *h, int64_t part, int64_t all)
{
	text_fmt(&h->t, "<td class=\"n\">%lld<br><small>", (long long)part);
	html_milli(h, all ? mul_div(part, 100000, all) : 0, 1);
	text_fmt(&h->t, " %%</small></td>");
}

static void workload_line(struct html *h, const struct doc_node *workload)
{
	struct stack s;
	bool counted = stack_of(h, workload, &s);
	int64_t cycles = counted ? s.active + s.stalls : 0;

	text_fmt(&h->t, "<tr><th scope=\"row\">");
	html_text(h, doc_string(h->d, workload, "workload"));
	text_fmt(&h->t, "</th><td>");
	html_verdict(h, doc_string(h->d, workload, "status"));
	text_fmt(&h->t, "</td>");
	html_cell_node(h, doc_get(h->d, workload, "threads"), 0);
	if (!counted) {
		text_fmt(&h->t, "<td></td><td></td><td></td><td></td><td></td><td class=\"w\">");
		html_text(h, doc_string(h->d, workload, "reason"));
		text_fmt(&h->t, "</td></tr>\n");
		return;
	}
	text_fmt(&h->t, "<td class=\"n\">%lld</td>", (long long)cycles);
	share_cell(h, s.active - s.wasted, cycles);
	share_cell(h, s.wasted, cycles);
	share_cell(h, s.stalls, cycles);
	share_cell(h, s.sum, cycles);
	share_cell(h, s.stalls - s.sum, cycles);
	text_fmt(&h->t, "</tr>\n");
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
		html_cell(h, doc_string(h->d, t, "name"));
		html_cell(h, doc_string(h->d, t, "row"));
		html_cell(h, doc_string(h->d, t, "event"));
		html_cell_node(h, doc_get(h->d, t, "core_count"), 0);
		html_cell_node(h, doc_get(h->d, t, "penalty"), 2);
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
	             "Cycles in which something was executed, for work that retired or work that was thrown away, and cycles that were stalled. Below the "
	             "stalled ones, the sum of counts times penalties: each penalty is a row of this run. What the sum does not explain is the rest; a sum "
	             "longer than the stalls counts cycles twice, since sequential penalties overlap.");
	html_figure(h, "Cycle accounting", "For each workload two bars: retiring, wasted and stalled cycles, and below the stalled ones the terms of the sum. The "
	            "figures are in the tables.", WIDTH, list->count * BLOCK + 4);
	for (const struct doc_node *w = doc_begin(h->d, list); w; w = doc_next(h->d, w), y += BLOCK)
		draw_stack(h, w, y);
	html_figure_end(h, "Each workload at a scale of its own. Numbers over the lower bars are those of the terms in the table below; the frame is the rest.");
	html_table(h, "Cycles of each workload, at execution", "workload|verdict|#threads|#cycles|#retiring|#wasted|#stalled|#sum of P x N|#unaccounted rest");
	for (const struct doc_node *w = doc_begin(h->d, list); w; w = doc_next(h->d, w))
		workload_line(h, w);
	html_table_end(h);
	html_table(h, "Terms of the sums: those that counted something, and those that are open", "workload|#term|name|penalty's row|event|#count|#penalty|#cycles");
	for (const struct doc_node *w = doc_begin(h->d, list); w; w = doc_next(h->d, w))
		term_lines(h, w);
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
