/* runner/export/account_svg.c: see account_svg.h. */
#include <inttypes.h>

#include "runner/export/account_svg.h"

#define WIDTH  640
#define STACK  600
#define LEAST  14   /* vertical distance of labels */

static const char *const colours[] = {"#1b6ca8", "#c0711c", "#2f7d4f", "#8a3b8f", "#b03a3a", "#4c6b8a", "#8a7a2a", "#3a8f8a"};

struct stack { FILE *to; double y, label; unsigned colour; int64_t total; };

static void piece(struct stack *s, const char *name, double cycles, const char *colour)
{
	double height = s->total > 0 ? cycles / (double)s->total * STACK : 0;
	if (cycles <= 0)
		return;
	fprintf(s->to, "<rect x=\"20\" y=\"%.2f\" width=\"120\" height=\"%.2f\" fill=\"%s\"/>\n", s->y, height, colour);
	double label = s->y + height / 2 + 4 > s->label + LEAST ? s->y + height / 2 + 4 : s->label + LEAST;
	fprintf(s->to, "<path d=\"M140 %.2fL170 %.2f\" stroke=\"#888\"/><text x=\"176\" y=\"%.2f\">%s: %.0f cycles, %.1f %%</text>\n", s->y + height / 2,
	        label - 4, label, name, cycles, 100 * cycles / (double)s->total);
	s->y += height;
	s->label = label;
}

void account_svg(FILE *to, const struct account *a)
{
	struct stack s = {.to = to, .y = 20, .label = 8, .total = a->has_total ? a->total : a->stalls};
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-labelledby=\"t d\" font-family=\"sans-serif\" "
	        "font-size=\"12\"><title id=\"t\">Where the cycles went</title><desc id=\"d\">%" PRId64 " cycles: %" PRId64 " retiring, %" PRId64
	        " wasted, %" PRId64 " stalled.</desc>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", WIDTH, STACK + 260, s.total, a->retired, a->wasted,
	        a->stalls);
	if (a->at_retirement)
		piece(&s, "uops retire", (double)(s.total - a->bounds.stalls), "#9aa0a6"); /* wasted uops are among the stalls of retirement */
	else {
		piece(&s, a->has_waste ? "retiring" : "not stalled", (double)a->retired, "#9aa0a6");
		piece(&s, "wasted", (double)a->wasted, "#d7b4b4");
	}
	for (unsigned i = 0; i < stall_term_count; i++)
		if (a->terms[i].state == ACCOUNT_GOOD)
			piece(&s, stall_terms[i].title, (double)a->terms[i].charged, colours[i % COUNT_OF(colours)]);
	piece(&s, "unaccounted", (double)(a->bounds.stalls - a->charged), "#e8e2c8");
	if (a->high > a->charged)
		fprintf(to, "<text x=\"20\" y=\"%d\">Costs of %" PRId64 " cycles overlapped, of %" PRId64 " in all: they are not drawn.</text>\n", STACK + 245, a->high - a->charged, a->high);
	fputs("</svg>\n", to);
}
