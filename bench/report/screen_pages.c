/* bench/report/screen_pages.c: see screen_pages.h. */
#include "bench/report/screen_pages.h"
#include "bench/report/html.h"
#include "bench/measure/reduce.h"
#include "bench/report/staircase.h"

#define HEAD_LINES 1u          /* on each page of the table */
#define NAME_COLUMNS 36u

/* Cuts the line at the page's edge and marks the cut. */
static void cut(const struct screen_pages *p, char *line)
{
	size_t n = str_length(line);

	if (n > p->columns) {
		n = p->columns;
		line[n - 1] = '>';
	}
	while (n && line[n - 1] == ' ')
		n--;
	line[n] = 0;
}

/* --- the table --------------------------------------------------------------------------------- */

static unsigned rows_a_page(const struct screen_pages *p)
{
	return p->lines > HEAD_LINES + 1 ? p->lines - HEAD_LINES : 1;
}

static unsigned table_pages(const struct screen_pages *p)
{
	unsigned all = doc_get(p->d, doc_root(p->d), "rows")->count;

	return (all + rows_a_page(p) - 1) / rows_a_page(p);
}

unsigned screen_pages_count(const struct screen_pages *p)
{
	struct staircase s;

	return table_pages(p) + (staircase_of(p->d, &s) ? 1 : 0);
}

void screen_pages_title(const struct screen_pages *p, unsigned page, struct text *t)
{
	unsigned all = doc_get(p->d, doc_root(p->d), "rows")->count, a_page = rows_a_page(p), first = page * a_page;

	if (page >= table_pages(p))
		text_fmt(t, "Load to use over the size of the working set; steps at the caches' sizes");
	else
		text_fmt(t, "Penalty table, rows %u to %u of %u", first + 1, first + a_page > all ? all : first + a_page, all);
}

void screen_pages_subtitle(const struct screen_pages *p, struct text *t)
{
	const struct document *d = p->d;
	const struct doc_node *summary = doc_get(d, doc_root(d), "summary");
	char at[320];
	struct text line;
	const long long all = doc_whole(d, summary, "rows");

	text_init(&line, at, sizeof(at));
	if (doc_true(d, doc_root(d), "simulated"))
		text_fmt(&line, "SIMULATED; ");
	if (doc_true(d, summary, "stopped"))
		text_fmt(&line, "stopped by the user; ");
	text_fmt(&line, "%lld row%s:", all, all == 1 ? "" : "s");
	for (unsigned s = 0; s < ROW_STATUS_COUNT; s++)
		if (doc_whole(d, summary, row_status_name(s)))
			text_fmt(&line, " %lld %s", (long long)doc_whole(d, summary, row_status_name(s)), row_status_name(s));
	text_fmt(&line, "; %s, ", doc_string(d, doc_root(d), "backend"));
	text_words(&line, doc_string(d, doc_get(d, doc_root(d), "machine"), "brand"));
	cut(p, at);
	text_fmt(t, "%s", at);
}

static void number(struct text *t, int width, const struct doc_node *n, int64_t divisor)
{
	char at[32];
	struct text v;

	text_init(&v, at, sizeof(at));
	if (n->type == DOC_NUMBER)
		text_fixed(&v, mul_div(n->milli, 1, divisor), 3);
	else
		text_fmt(&v, "-");
	text_fmt(t, " %*s", width, at);
}

static void head_line(struct text *t)
{
	text_fmt(t, "%-36s %11s %-6s  %-11s %9s %9s  %s", "row", "value", "unit", "verdict", "spread", "ns", "proof, or why not");
}

/* The column at which row_line writes the verdict. */
#define VERDICT_AT (NAME_COLUMNS + 1 + 11 + 1 + 6 + 2)

static void row_line(const struct screen_pages *p, const struct doc_node *row, struct text *t)
{
	const struct document *d = p->d;
	bool rate = str_equal(doc_string(d, row, "unit"), "bytes/s");
	int64_t divisor = rate ? 1000000000 : 1;
	const char *status = doc_string(d, row, "status");

	text_fmt(t, "%-36s", doc_string(d, row, "name"));
	number(t, 11, doc_get(d, row, "value"), divisor);
	text_fmt(t, " %-6s  %-11s", rate ? "GB/s" : doc_string(d, row, "unit"), status);
	number(t, 9, doc_get(d, row, "spread"), divisor);
	number(t, 9, doc_get(d, row, "ns"), 1);
	text_fmt(t, "  %s", doc_string(d, row, str_equal(status, "ok") ? "proof" : "reason"));
}

/* The row of that index, searched from the first row each time; tables are short. */
static const struct doc_node *row_at(const struct screen_pages *p, unsigned index)
{
	const struct doc_node *r = doc_begin(p->d, doc_get(p->d, doc_root(p->d), "rows"));

	while (r && index--)
		r = doc_next(p->d, r);
	return r;
}

static uint32_t verdict_colour(const char *status)
{
	return str_equal(status, "ok") ? COLOUR_OK : str_equal(status, "fault") || str_equal(status, "timeout") || str_equal(status, "failed") || str_equal(status, "crashed") ? COLOUR_BAD : COLOUR_WARN;
}

static void table_draw(const struct screen_pages *p, unsigned page, struct canvas *c, unsigned top)
{
	char at[512];
	struct text t;
	unsigned w = canvas_column(c), y = top, n = rows_a_page(p);

	text_init(&t, at, sizeof(at));
	head_line(&t);
	canvas_text(c, 0, y, COLOUR_DIM, at, p->columns);
	for (const struct doc_node *r = row_at(p, page * n); r && n--; r = doc_next(p->d, r)) {
		const char *status = doc_string(p->d, r, "status");

		y += canvas_line(c);
		text_init(&t, at, sizeof(at));
		row_line(p, r, &t);
		cut(p, at);
		canvas_text(c, 0, y, COLOUR_TEXT, at, p->columns);
		if (p->columns > VERDICT_AT)
			canvas_text(c, VERDICT_AT * w, y, verdict_colour(status), status, p->columns - VERDICT_AT);
	}
}

static void table_text(const struct screen_pages *p, unsigned page, struct text *t)
{
	char at[512];
	struct text line;
	unsigned n = rows_a_page(p);

	text_init(&line, at, sizeof(at));
	head_line(&line);
	cut(p, at);
	text_fmt(t, "%s\n", at);
	for (const struct doc_node *r = row_at(p, page * n); r && n--; r = doc_next(p->d, r)) {
		text_init(&line, at, sizeof(at));
		row_line(p, r, &line);
		cut(p, at);
		text_fmt(t, "%s\n", at);
	}
}

/* --- the staircase ----------------------------------------------------------------------------- */

static void bytes_text(struct text *t, int64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned u = 0;

	while (u + 1 < COUNT_OF(units) && bytes >= 1024 && bytes % 1024 == 0) {
		bytes /= 1024;
		u++;
	}
	text_fmt(t, "%lld %s", (long long)bytes, units[u]);
}

static void level_text(struct text *t, const struct stair *s)
{
	if (s->level)
		text_fmt(t, "L%u", s->level);
	else
		text_fmt(t, "memory");
}

static unsigned between(int64_t value, int64_t low, int64_t high, unsigned length)
{
	if (value <= low || high <= low)
		return 0;
	return value >= high ? length : (unsigned)((value - low) * length / (high - low));
}

static void stairs_text(const struct screen_pages *p, struct text *t)
{
	struct staircase s;
	const struct stair *stairs = s.stairs;
	unsigned most = p->columns > 60 ? p->columns - 55 : 4;

	if (!staircase_of(p->d, &s))
		return;
	for (unsigned i = 0; i < s.count; i++) {
		char size[24], level[12];
		struct text as;

		text_init(&as, size, sizeof(size));
		bytes_text(&as, stairs[i].level ? stairs[i].to : stairs[i].from);
		text_init(&as, level, sizeof(level));
		level_text(&as, &stairs[i]);
		text_fmt(t, "%s %8s  %-6s", stairs[i].level ? "up to" : "above", size, level);
		number(t, 9, &(struct doc_node){ .type = DOC_NUMBER, .milli = stairs[i].cycles_milli }, 1);
		text_fmt(t, " cycles  %-11s ", stairs[i].status);
		for (unsigned k = between(html_log2_milli(stairs[i].cycles_milli), html_log2_milli(1000), html_log2_milli(s.top), most); k; k--)
			text_char(t, '#');
		text_char(t, '\n');
	}
	text_fmt(t, "Bars are logarithmic: from one cycle to %lld.\n", (long long)(s.top / 1000));
	for (unsigned i = 0, used = 0; i < s.points_count; i++) {
		char at[48];
		struct text one;

		text_init(&one, at, sizeof(at));
		bytes_text(&one, s.points[i].bytes);
		text_fmt(&one, " ");
		text_fixed(&one, (s.points[i].cycles_milli + 50) / 100, 1);
		if (!i)
			text_fmt(t, "Measured, in cycles: ");
		else if (used + one.length + 2 > most)
			text_char(t, '\n');
		else
			text_fmt(t, ", ");
		used = i && used + one.length + 2 > most ? (unsigned)one.length : used + (unsigned)one.length + 2;
		text_fmt(t, "%s", at);
		if (i + 1 == s.points_count)
			text_char(t, '\n');
	}
}

struct plot screen_pages_plot(const struct canvas *c, unsigned top, unsigned bottom)
{
	unsigned w = canvas_column(c), h = canvas_line(c);

	return (struct plot){ 8 * w, c->width - 8 * w, top + 2 * h, bottom - 2 * h };
}

static unsigned plot_x(const struct plot *g, int64_t bytes, int64_t end)
{
	return g->left + between(html_log2_milli(bytes), html_log2_milli(STAIRCASE_FROM), html_log2_milli(end), g->right - g->left);
}

static unsigned plot_y(const struct plot *g, int64_t milli, int64_t top)
{
	return g->bottom - between(html_log2_milli(milli), html_log2_milli(1000), html_log2_milli(top), g->bottom - g->top);
}

static void axes(struct canvas *c, const struct plot *g, int64_t end, int64_t top)
{
	unsigned w = canvas_column(c), h = canvas_line(c), last = 0;
	char at[24];
	struct text t;

	for (int64_t v = 1000; v <= top; v *= 2) {
		unsigned y = plot_y(g, v, top);

		canvas_fill(c, g->left, y, g->right - g->left, c->scale, COLOUR_LINE);
		text_init(&t, at, sizeof(at));
		text_fmt(&t, "%6lld", (long long)(v / 1000));
		canvas_text(c, w / 2, y - h / 2, COLOUR_DIM, at, sizeof(at));
	}
	canvas_text(c, w / 2, g->top - 2 * h, COLOUR_DIM, "cycles", 6);
	for (int64_t v = STAIRCASE_FROM; v <= end; v *= 4) {
		unsigned x = plot_x(g, v, end);

		if (last && x < last + w)
			continue;
		canvas_fill(c, x, g->bottom, c->scale, h / 3, COLOUR_LINE);
		text_init(&t, at, sizeof(at));
		bytes_text(&t, v);
		last = canvas_text(c, x, g->bottom + h / 2, COLOUR_DIM, at, sizeof(at));
	}
}

static void stairs_draw(const struct screen_pages *p, struct canvas *c, unsigned from, unsigned to)
{
	struct staircase all;
	unsigned w = canvas_column(c), h = canvas_line(c);
	struct plot g = screen_pages_plot(c, from, to);

	if (!staircase_of(p->d, &all) || g.bottom <= g.top + 4 * h || g.right <= g.left + 20 * w)
		return;
	const int64_t top = all.top, end = all.end;

	axes(c, &g, end, top);
	for (unsigned i = 0; i < all.count; i++) {
		const struct stair *s = &all.stairs[i];
		unsigned x = plot_x(&g, s->from, end), x_end = plot_x(&g, s->to, end), y = plot_y(&g, s->cycles_milli, top);
		char at[80];
		struct text t;

		/* the cache's size as a dashed line */
		for (unsigned dash = g.top; s->level && dash + 4 * c->scale < g.bottom; dash += 8 * c->scale)
			canvas_fill(c, x_end, dash, c->scale, 4 * c->scale, COLOUR_MARK);
		canvas_fill(c, x, y, x_end - x, 3 * c->scale, COLOUR_BAR);
		if (i && y < plot_y(&g, s[-1].cycles_milli, top))
			canvas_fill(c, x, y, 3 * c->scale, plot_y(&g, s[-1].cycles_milli, top) - y + 3 * c->scale, COLOUR_BAR);
		text_init(&t, at, sizeof(at));
		level_text(&t, s);
		if (s->level) {
			text_char(&t, ' ');
			bytes_text(&t, s->to);
		}
		unsigned label = y >= g.top + 2 * h + h / 2 ? y - 2 * h - h / 2 : y + 4 * c->scale;
		canvas_text(c, x + w, label, COLOUR_MARK, at, sizeof(at));
		text_init(&t, at, sizeof(at));
		text_fixed(&t, s->cycles_milli, 3);
		text_fmt(&t, " cycles");
		if (!str_equal(s->status, "ok"))
			text_fmt(&t, " (%s)", s->status);
		canvas_text(c, x + w, label + h, COLOUR_TEXT, at, sizeof(at));
	}
	/* individual sizes as measured */
	for (unsigned i = 0; i < all.points_count; i++)
		canvas_fill(c, plot_x(&g, all.points[i].bytes, end) - 2 * c->scale, plot_y(&g, all.points[i].cycles_milli, top) - 2 * c->scale, 5 * c->scale, 5 * c->scale, COLOUR_OK);
}

/* --- both -------------------------------------------------------------------------------------- */

void screen_pages_text(const struct screen_pages *p, unsigned page, struct text *t)
{
	if (page < table_pages(p))
		table_text(p, page, t);
	else
		stairs_text(p, t);
}

void screen_pages_draw(const struct screen_pages *p, unsigned page, struct canvas *c, unsigned top, unsigned bottom)
{
	if (page < table_pages(p))
		table_draw(p, page, c, top);
	else
		stairs_draw(p, c, top, bottom);
}
