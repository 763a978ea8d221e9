/* bench/report/html_series.c: rows with more than one number: curves, and values for each pair of nodes. */
#include "bench/report/html.h"

#define WIDTH  720
#define HEIGHT 300
#define LEFT   70
#define RIGHT  700
#define TOP    16
#define BOTTOM 250
#define POINTS_MOST 256

/* A curve: numbers in thousandths. */
struct curve_data {
	int64_t x[POINTS_MOST], y[POINTS_MOST];
	unsigned n;
	int64_t x_low, x_high, y_high;
	bool logarithmic;           /* x, if its range is wide */
	const char *x_name, *y_name;
};

static const struct doc_node *child(struct html *h, const struct doc_node *list, unsigned index)
{
	const struct doc_node *c = doc_begin(h->d, list);

	while (c && index--)
		c = doc_next(h->d, c);
	return c ? c : &h->d->nodes[0];
}

/* "bytes_per_second" is shown as GB/s, other columns unchanged. */
static bool is_rate(const char *name)
{
	return str_equal(name, "bytes_per_second") || str_equal(name, "bytes/s");
}

static void column_name(struct html *h, const char *name)
{
	char word[64];

	str_copy(word, sizeof(word), is_rate(name) ? "GB/s" : name);
	for (char *p = word; *p; p++)
		if (*p == '_')
			*p = ' ';
	html_text(h, word);
}

static void column_value(struct html *h, const char *name, int64_t milli)
{
	size_t n = str_length(name);

	if (is_rate(name))
		html_milli(h, milli / 1000000000, 1);
	else if (n >= 5 && str_equal(name + n - 5, "bytes"))
		html_bytes(h, milli / 1000);
	else
		html_milli(h, milli, milli % 1000 ? 1 : 0);
}

/* Chooses the columns: the last against the first; loaded latency against the bandwidth reached. */
static void gather(struct html *h, const struct doc_node *series, struct curve_data *c)
{
	const struct doc_node *columns = doc_get(h->d, series, "columns"), *points = doc_get(h->d, series, "points");
	unsigned x = 0, y = columns->count - 1;

	for (unsigned i = 0; columns->count > 2 && i < y; i++)
		if (is_rate(child(h, columns, i)->string))
			x = i;
	c->x_name = child(h, columns, x)->string;
	c->y_name = child(h, columns, y)->string;
	c->x_low = INT64_MAX;
	for (const struct doc_node *p = doc_begin(h->d, points); p && c->n < POINTS_MOST; p = doc_next(h->d, p)) {
		const struct doc_node *vx = child(h, p, x), *vy = child(h, p, y);

		if (vx->type != DOC_NUMBER || vy->type != DOC_NUMBER || vx->milli < 0 || vy->milli < 0)
			continue;
		c->x[c->n] = vx->milli;
		c->y[c->n++] = vy->milli;
		c->x_low = vx->milli < c->x_low ? vx->milli : c->x_low;
		c->x_high = vx->milli > c->x_high ? vx->milli : c->x_high;
		c->y_high = vy->milli > c->y_high ? vy->milli : c->y_high;
	}
	c->logarithmic = c->n && c->x_low > 0 && c->x_high / c->x_low >= 16;
}

static unsigned scaled(int64_t value, int64_t low, int64_t high, unsigned from, unsigned to)
{
	int64_t length = (int64_t)to - (int64_t)from;

	if (high <= low)
		return from;
	while (high > INT64_MAX / 4096) {
		value >>= 1;
		low >>= 1;
		high >>= 1;
	}
	return (unsigned)((int64_t)from + (value - low) * length / (high - low));
}

static unsigned pixel_x(const struct curve_data *c, int64_t x)
{
	if (!c->logarithmic)
		return scaled(x, 0, c->x_high, LEFT, RIGHT - 20);
	return scaled(html_log2_milli(x), html_log2_milli(c->x_low), html_log2_milli(c->x_high), LEFT + 10, RIGHT - 20);
}

static unsigned pixel_y(const struct curve_data *c, int64_t y)
{
	return scaled(y, 0, c->y_high, BOTTOM, TOP + 8);
}

/* Marks the cache sizes if the curve's x is a size. */
static void mark_caches(struct html *h, const struct curve_data *c)
{
	const struct doc_node *caches = doc_get(h->d, doc_get(h->d, doc_root(h->d), "machine"), "caches");
	size_t n = str_length(c->x_name);

	if (n < 5 || !str_equal(c->x_name + n - 5, "bytes") || is_rate(c->x_name))
		return;
	for (const struct doc_node *k = doc_begin(h->d, caches); k; k = doc_next(h->d, k)) {
		int64_t size = doc_milli(h->d, k, "bytes");

		if (str_equal(doc_string(h->d, k, "type"), "I") || size < c->x_low || size > c->x_high)
			continue;
		text_fmt(&h->t, "<path class=\"mark\" d=\"M%u %dV%d\"/><text x=\"%u\" y=\"%d\">L", pixel_x(c, size), TOP, BOTTOM, pixel_x(c, size) + 4, TOP + 10);
		html_milli(h, doc_milli(h->d, k, "level"), 0);
		text_fmt(&h->t, " ");
		html_bytes(h, size / 1000);
		text_fmt(&h->t, "</text>");
	}
}

static void draw_curve(struct html *h, const struct doc_node *row, const struct curve_data *c)
{
	unsigned last = 0;

	html_figure(h, doc_string(h->d, row, "name"), "A curve through the measured points; the table below it has their numbers.", WIDTH, HEIGHT);
	text_fmt(&h->t, "<path class=\"axis\" d=\"M%d %dV%dH%d\"/>", LEFT, TOP, BOTTOM, RIGHT);
	mark_caches(h, c);
	for (unsigned i = 0; i <= 4; i++) {
		int64_t y = c->y_high / 4 * i;

		text_fmt(&h->t, "<text class=\"dim\" x=\"%d\" y=\"%u\" text-anchor=\"end\">", LEFT - 6, pixel_y(c, y) + 4);
		html_milli(h, is_rate(c->y_name) ? y / 1000000000 : y, c->y_high < 20000 && !is_rate(c->y_name) ? 1 : 0);
		text_fmt(&h->t, "</text>");
	}
	text_fmt(&h->t, "<polyline class=\"l l1\" points=\"");
	for (unsigned i = 0; i < c->n; i++)
		text_fmt(&h->t, "%s%u,%u", i ? " " : "", pixel_x(c, c->x[i]), pixel_y(c, c->y[i]));
	text_fmt(&h->t, "\"/>");
	for (unsigned i = 0; i < c->n; i++) {
		unsigned x = pixel_x(c, c->x[i]);

		text_fmt(&h->t, "<circle class=\"b1\" cx=\"%u\" cy=\"%u\" r=\"3\"/>", x, pixel_y(c, c->y[i]));
		if (i && x < last + 64 && x + 64 > last)
			continue; /* the label would overlap the previous one */
		text_fmt(&h->t, "<text class=\"dim\" x=\"%u\" y=\"%d\" text-anchor=\"middle\">", x < RIGHT - 24 ? x : RIGHT - 24, BOTTOM + 18);
		column_value(h, c->x_name, c->x[i]);
		text_fmt(&h->t, "</text>");
		last = x;
	}
	text_fmt(&h->t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (LEFT + RIGHT) / 2, BOTTOM + 38);
	column_name(h, c->x_name);
	text_fmt(&h->t, "%s</text><text x=\"14\" y=\"%d\" transform=\"rotate(-90 14 %d)\">", c->logarithmic ? " (logarithmic)" : "", BOTTOM, BOTTOM);
	column_name(h, c->y_name);
	text_fmt(&h->t, "</text>\n");
	text_fmt(&h->t, "</svg><figcaption>Figure %u. ", h->figures);
	html_text(h, doc_string(h->d, row, "name"));
	text_fmt(&h->t, ": ");
	html_text(h, doc_string(h->d, row, "asks"));
	text_fmt(&h->t, " (");
	html_verdict(h, doc_string(h->d, row, "status"));
	text_fmt(&h->t, ").</figcaption></figure>\n");
}

/* Whether the point of that index is marked: "noisy", "tlb". */
static bool is_marked_point(struct html *h, const struct doc_node *series, const char *mark, int64_t index)
{
	for (const struct doc_node *n = doc_begin(h->d, doc_get(h->d, series, mark)); n; n = doc_next(h->d, n))
		if (n->type == DOC_NUMBER && n->milli == index * 1000)
			return true;
	return false;
}

static void points_table(struct html *h, const struct doc_node *series)
{
	int64_t index = 0;
	const struct doc_node *columns = doc_get(h->d, series, "columns"), *points = doc_get(h->d, series, "points");

	text_fmt(&h->t, "<details><summary>Its points</summary><div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Points\"><table><caption>Measured points%s%s</caption><thead><tr>", doc_get(h->d, series, "noisy")->count ? "; ~ measured again and not sure" : "",
	         doc_get(h->d, series, "tlb")->count ? "; + with misses of the first-level data TLB" : "");
	for (const struct doc_node *c = doc_begin(h->d, columns); c; c = doc_next(h->d, c)) {
		text_fmt(&h->t, "<th scope=\"col\" class=\"n\">");
		column_name(h, c->string);
		text_fmt(&h->t, "</th>");
	}
	text_fmt(&h->t, "</tr></thead><tbody>\n");
	for (const struct doc_node *p = doc_begin(h->d, points); p; p = doc_next(h->d, p), index++) {
		const struct doc_node *c = doc_begin(h->d, columns);
		const char *const mark = is_marked_point(h, series, "noisy", index) ? "~ " : is_marked_point(h, series, "tlb", index) ? "+ " : "";

		text_fmt(&h->t, "<tr>");
		for (const struct doc_node *v = doc_begin(h->d, p); v && c; v = doc_next(h->d, v), c = doc_next(h->d, c)) {
			text_fmt(&h->t, "<td class=\"n\">%s", doc_next(h->d, v) ? "" : mark);
			if (v->type == DOC_NUMBER)
				column_value(h, c->string, v->milli);
			text_fmt(&h->t, "</td>");
		}
		text_fmt(&h->t, "</tr>\n");
	}
	html_table_end(h);
	text_fmt(&h->t, "</details>\n");
}

/* Points for pairs of nodes: a table with one line per node of the cores. */
static bool is_node_pairs(struct html *h, const struct doc_node *row, const struct doc_node *series)
{
	return str_starts(doc_string(h->d, row, "name"), "read.node_") && doc_get(h->d, series, "columns")->count == 3;
}

static void node_pairs(struct html *h, const struct doc_node *list)
{
	bool open = false;

	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		const struct doc_node *series = doc_get(h->d, r, "series");

		if (series->type != DOC_OBJECT || !is_node_pairs(h, r, series))
			continue;
		if (!open)
			html_table(h, "Bandwidth from all cores of a node to the memory of each", "#node of the cores|#node of the memory|#GB/s|verdict");
		open = true;
		for (const struct doc_node *p = doc_begin(h->d, doc_get(h->d, series, "points")); p; p = doc_next(h->d, p)) {
			text_fmt(&h->t, "<tr>");
			html_cell_node(h, child(h, p, 0), 0);
			html_cell_node(h, child(h, p, 1), 0);
			html_cell_milli(h, child(h, p, 2)->milli / 1000000000, 2);
			text_fmt(&h->t, "<td>");
			html_verdict(h, doc_string(h->d, r, "status"));
			text_fmt(&h->t, "</td></tr>\n");
		}
	}
	if (open)
		html_table_end(h);
}

/* A row has its points under either key. */
static const struct doc_node *series_of(struct html *h, const struct doc_node *row)
{
	static const char *const keys[] = { "series", "curve" };

	for (unsigned i = 0; i < COUNT_OF(keys); i++) {
		const struct doc_node *s = doc_get(h->d, row, keys[i]), *columns = doc_get(h->d, s, "columns");

		if (columns->type == DOC_LIST && columns->count >= 2 && doc_get(h->d, s, "points")->count)
			return s;
	}
	return NULL;
}

void html_series(struct html *h)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	bool open = false;

	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		const struct doc_node *series = series_of(h, r);
		struct curve_data c = { .n = 0 };

		if (!series)
			continue;
		if (!open)
			html_section(h, "curves", "Curves and matrices", "Rows that are more than one number: the row's own value is named in the penalty table.");
		open = true;
		if (is_node_pairs(h, r, series))
			continue;
		gather(h, series, &c);
		if (c.n < 2)
			continue;
		draw_curve(h, r, &c);
		points_table(h, series);
	}
	if (open)
		node_pairs(h, list);
}
