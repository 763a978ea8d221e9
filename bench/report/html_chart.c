/* bench/report/html_chart.c: latency and bandwidth bars, histograms, the core-to-core heat map. */
#include "bench/report/html.h"
#include "bench/report/staircase.h"

#define WIDTH 720
#define LABEL 250              /* bars begin here */
#define BAR   18

/* length * value / most, for values of any size. */
static unsigned scaled(int64_t value, int64_t most, unsigned length)
{
	if (value <= 0 || most <= 0)
		return 0;
	if (value >= most)
		return length;
	while (most > INT64_MAX / 2048) {
		most >>= 1;
		value >>= 1;
	}
	return (unsigned)(value * length / most);
}

static bool usable(struct html *h, const struct doc_node *row)
{
	return doc_get(h->d, row, "value")->type == DOC_NUMBER && doc_milli(h->d, row, "value") > 0;
}

enum chart { CHART_LATENCY, CHART_BANDWIDTH };

static bool wanted(struct html *h, const struct doc_node *row, enum chart chart)
{
	const char *name = doc_string(h->d, row, "name");

	if (!usable(h, row))
		return false;
	if (chart == CHART_BANDWIDTH)
		return str_equal(doc_string(h->d, row, "unit"), "bytes/s");
	return str_starts(name, "load.") && str_equal(doc_string(h->d, row, "kind"), "latency");
}

static unsigned count_rows(struct html *h, enum chart chart, int64_t *most)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	unsigned n = 0;

	*most = 0;
	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r))
		if (wanted(h, r, chart)) {
			n++;
			if (doc_milli(h->d, r, "value") > *most)
				*most = doc_milli(h->d, r, "value");
		}
	return n;
}

static void bar(struct html *h, unsigned y, const struct doc_node *row, int64_t most, enum chart chart)
{
	int64_t v = doc_milli(h->d, row, "value");
	/* latencies range from 4 to several hundred cycles: a logarithmic scale fits all */
	unsigned w = chart == CHART_BANDWIDTH ? scaled(v, most, WIDTH - LABEL - 90) : scaled(html_log2_milli(v) - 9000, html_log2_milli(most) - 9000, WIDTH - LABEL - 90);

	text_fmt(&h->t, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">", LABEL - 8, y + 13);
	html_text(h, doc_string(h->d, row, "name"));
	text_fmt(&h->t, "</text><rect class=\"%s\" x=\"%d\" y=\"%u\" width=\"%u\" height=\"%d\"/><text x=\"%u\" y=\"%u\">",
	         str_equal(doc_string(h->d, row, "status"), "ok") ? "b1" : "b2", LABEL, y, w ? w : 1, BAR - 3, LABEL + w + 6, y + 13);
	html_milli(h, chart == CHART_BANDWIDTH ? v / 1000000000 : v, 1);
	text_fmt(&h->t, "</text>\n");
}

static void bars(struct html *h, enum chart chart, const char *title, const char *description, const char *caption)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	int64_t most;
	unsigned n = count_rows(h, chart, &most), y = 4;

	html_figure(h, title, description, WIDTH, n * BAR + 8);
	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r))
		if (wanted(h, r, chart)) {
			bar(h, y, r, most, chart);
			y += BAR;
		}
	html_figure_end(h, caption);
}

#define STAIRS_HEIGHT 300
#define STAIRS_LEFT   60
#define STAIRS_RIGHT  660
#define STAIRS_TOP    40
#define STAIRS_BOTTOM 256

static unsigned stairs_x(int64_t bytes, int64_t end)
{
	return STAIRS_LEFT + scaled(html_log2_milli(bytes) - html_log2_milli(STAIRCASE_FROM), html_log2_milli(end) - html_log2_milli(STAIRCASE_FROM), STAIRS_RIGHT - STAIRS_LEFT);
}

static unsigned stairs_y(int64_t milli, int64_t top)
{
	return STAIRS_BOTTOM - scaled(html_log2_milli(milli) - html_log2_milli(1000), html_log2_milli(top) - html_log2_milli(1000), STAIRS_BOTTOM - STAIRS_TOP);
}

/* Latency against working-set size. */
static void staircase(struct html *h)
{
	struct staircase s;

	if (!staircase_of(h->d, &s))
		return;
	const struct stair *stairs = s.stairs;
	const unsigned n = s.count;
	const int64_t top = s.top, end = s.end;

	html_figure(h, "Latency over the size of the working set", "A staircase: each cache answers up to its size with the latency of its row, memory what is larger. Dots are "
	            "single sizes as measured. Both axes are logarithmic; the figures are in the penalty table and in that of the dots' row.", WIDTH, STAIRS_HEIGHT);
	for (int64_t v = 1000; v <= top; v *= 2)
		text_fmt(&h->t, "<path class=\"axis\" d=\"M%d %uH%d\"/><text class=\"dim\" x=\"%d\" y=\"%u\" text-anchor=\"end\">%lld</text>", STAIRS_LEFT, stairs_y(v, top), STAIRS_RIGHT,
		         STAIRS_LEFT - 6, stairs_y(v, top) + 4, (long long)(v / 1000));
	for (int64_t v = STAIRCASE_FROM; v <= end; v *= 8) {
		text_fmt(&h->t, "<text class=\"dim\" x=\"%u\" y=\"%d\" text-anchor=\"middle\">", stairs_x(v, end), STAIRS_BOTTOM + 16);
		html_bytes(h, v);
		text_fmt(&h->t, "</text>");
	}
	text_fmt(&h->t, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">bytes of the working set</text><text x=\"14\" y=\"%d\" transform=\"rotate(-90 14 %d)\">core cycles</text>\n",
	         (STAIRS_LEFT + STAIRS_RIGHT) / 2, STAIRS_BOTTOM + 36, STAIRS_BOTTOM - 60, STAIRS_BOTTOM - 60);
	for (unsigned i = 0; i < n; i++)
		if (stairs[i].level)
			text_fmt(&h->t, "<path class=\"mark\" d=\"M%u %dV%d\"/>", stairs_x(stairs[i].to, end), STAIRS_TOP, STAIRS_BOTTOM);
	text_fmt(&h->t, "<polyline class=\"l l1\" points=\"");
	for (unsigned i = 0; i < n; i++)
		text_fmt(&h->t, "%s%u,%u %u,%u", i ? " " : "", stairs_x(stairs[i].from, end), stairs_y(stairs[i].cycles_milli, top), stairs_x(stairs[i].to, end),
		         stairs_y(stairs[i].cycles_milli, top));
	text_fmt(&h->t, "\"/>");
	for (unsigned i = 0; i < n; i++) {
		text_fmt(&h->t, "<text x=\"%u\" y=\"%u\">", stairs_x(stairs[i].from, end) + 6, stairs_y(stairs[i].cycles_milli, top) - 20);
		if (stairs[i].level) {
			text_fmt(&h->t, "L%u, ", stairs[i].level);
			html_bytes(h, stairs[i].to);
		} else {
			text_fmt(&h->t, "memory");
		}
		text_fmt(&h->t, "</text><text x=\"%u\" y=\"%u\">", stairs_x(stairs[i].from, end) + 6, stairs_y(stairs[i].cycles_milli, top) - 6);
		html_milli(h, stairs[i].cycles_milli, 1);
		text_fmt(&h->t, " cycles</text>");
	}
	for (unsigned i = 0; i < s.points_count; i++)
		text_fmt(&h->t, "<circle class=\"b2\" cx=\"%u\" cy=\"%u\" r=\"4\"/>", stairs_x(s.points[i].bytes, end), stairs_y(s.points[i].cycles_milli, top));
	html_figure_end(h, s.points_count ? "Latency over the size of the working set. Line: each level's row, with steps at the sizes that CPUID says (dashed). "
	                "Dots: load.staircase.latency, each size as measured at its smallest stride." : "Latency over the size of the working set: as measured for each level, with "
	                "steps at the sizes that CPUID says (dashed). No row measured the sizes between.");
}

void html_latencies(struct html *h)
{
	int64_t most;

	if (!count_rows(h, CHART_LATENCY, &most))
		return;
	html_section(h, "latencies", "Load to use, by who answers", "");
	bars(h, CHART_LATENCY, "Load-to-use latency in core cycles", "Horizontal bars, one for each load latency row, on a logarithmic scale. The figures are in the penalty table.",
	     "Core cycles, logarithmic scale. Bars of another colour: the row is not ok.");
	staircase(h);
}

/* A table of channels or links by socket: bytes in both directions. Older results lack the socket or the channel. */
static void traffic(struct html *h, const char *list_key, const char *index_key, const char *in, const char *out, const char *title,
                    const char *columns)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	bool open = false;

	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		const struct doc_node *c = doc_get(h->d, r, list_key);
		unsigned index = 0;

		for (const struct doc_node *one = c->type == DOC_LIST ? doc_begin(h->d, c) : NULL; one; one = doc_next(h->d, one), index++) {
			if (!open)
				html_table(h, title, columns);
			open = true;
			text_fmt(&h->t, "<tr><th scope=\"row\">");
			html_text(h, doc_string(h->d, r, "name"));
			text_fmt(&h->t, "</th>");
			html_cell_node(h, doc_get(h->d, one, "socket"), 0);
			if (doc_get(h->d, one, index_key)->type == DOC_NUMBER)
				html_cell_node(h, doc_get(h->d, one, index_key), 0);
			else
				text_fmt(&h->t, "<td class=\"n\">%u</td>", index);
			html_cell_milli(h, doc_milli(h->d, one, in) / 1000000000, 2);
			html_cell_milli(h, doc_milli(h->d, one, out) / 1000000000, 2);
			text_fmt(&h->t, "</tr>\n");
		}
	}
	if (open)
		html_table_end(h);
}

void html_bandwidth(struct html *h)
{
	int64_t most;

	if (!count_rows(h, CHART_BANDWIDTH, &most))
		return;
	html_section(h, "bandwidth", "Bandwidth", "Bytes that the loop asks for; the line that a regular store reads for ownership is not counted.");
	bars(h, CHART_BANDWIDTH, "Bandwidth in GB/s", "Horizontal bars, one for each bandwidth row. The figures are in the penalty table.", "GB/s (10^9 bytes a second).");
	traffic(h, "memory_channels", "channel", "read", "write", "Memory channels, as the memory controller counted them",
	        "row|#socket|#channel|#read, GB/s|#written as full lines, GB/s");
	traffic(h, "socket_links", "link", "received", "sent", "Links between sockets, as their boxes counted data of lines",
	        "row|#socket|#link|#data received, GB/s|#data sent, GB/s");
}

/* --- histograms -------------------------------------------------------------------------------- */

static void histogram(struct html *h, const char *row, const struct doc_node *source)
{
	const struct doc_node *list = doc_get(h->d, source, "histogram");
	int64_t most = 0;
	unsigned i = 0, base = 130;

	for (const struct doc_node *b = doc_begin(h->d, list); b; b = doc_next(h->d, b))
		most = b->milli > most ? b->milli : most;
	html_figure(h, source->key, "Histogram of the recorded latencies of this data source, in core cycles; each bar is twice as wide a range as the one before.", 340, 170);
	text_fmt(&h->t, "<path class=\"axis\" d=\"M20 %uH328\"/>", base);
	for (const struct doc_node *b = doc_begin(h->d, list); b && i < 16; b = doc_next(h->d, b), i++) {
		unsigned height = scaled(b->milli, most, 110), x = 22 + i * 19;

		if (b->milli > 0 && !height)
			height = 1;
		text_fmt(&h->t, "<rect class=\"b1\" x=\"%u\" y=\"%u\" width=\"17\" height=\"%u\"/>", x, base - height, height);
		if (i % 2 == 1)
			text_fmt(&h->t, "<text class=\"dim\" x=\"%u\" y=\"%u\" text-anchor=\"middle\">%u</text>", x, base + 16, 1u << i);
	}
	text_fmt(&h->t, "<text class=\"dim\" x=\"174\" y=\"166\" text-anchor=\"middle\">core cycles</text>");
	text_fmt(&h->t, "</svg><figcaption>Figure %u. ", h->figures);
	html_text(h, row);
	text_fmt(&h->t, ": <b>");
	html_text(h, source->key);
	text_fmt(&h->t, "</b>, ");
	html_milli(h, doc_milli(h->d, source, "count"), 0);
	text_fmt(&h->t, " records, median ");
	html_milli(h, doc_milli(h->d, source, "median"), 0);
	text_fmt(&h->t, ", p10 ");
	html_milli(h, doc_milli(h->d, source, "p10"), 0);
	text_fmt(&h->t, ", p90 ");
	html_milli(h, doc_milli(h->d, source, "p90"), 0);
	text_fmt(&h->t, ", p99 ");
	html_milli(h, doc_milli(h->d, source, "p99"), 0);
	text_fmt(&h->t, " cycles.</figcaption></figure>\n");
}

void html_histograms(struct html *h)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	bool open = false;

	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		const struct doc_node *sources = doc_get(h->d, doc_get(h->d, r, "latency_event"), "sources");

		for (const struct doc_node *s = doc_begin(h->d, sources); s; s = doc_next(h->d, s)) {
			if (!open) {
				html_section(h, "histograms", "Latencies by data source",
				             "Loads that the processor sampled by its load-latency facility or IBS, sorted by who answered them.");
				text_fmt(&h->t, "<div class=\"grid\">\n");
			}
			open = true;
			histogram(h, doc_string(h->d, r, "name"), s);
		}
	}
	if (open)
		text_fmt(&h->t, "</div>\n");
}

/* --- core to core ------------------------------------------------------------------------------ */

#define CORES_DRAWN 32         /* most rows and columns; beyond it, neighbouring cores share a square, which shows the median of their first pair */

struct heat { unsigned cores, step; int64_t low, high; };

/* The rows of one line state, clean or modified, that have a matrix. */
static const struct doc_node *heat_next(struct html *h, const struct doc_node *r, const char *state)
{
	for (; r; r = doc_next(h->d, r)) {
		const char *name = doc_string(h->d, r, "name");

		if (str_starts(name, "core_to_core.") && str_starts(name + 13, state) && doc_get(h->d, r, "matrix")->type == DOC_OBJECT)
			return r;
	}
	return NULL;
}

static const struct doc_node *heat_first(struct html *h, const char *state)
{
	return heat_next(h, doc_begin(h->d, doc_get(h->d, doc_root(h->d), "rows")), state);
}

struct cell { unsigned owner, reader; int64_t median; };

static struct cell cell_of(struct html *h, const struct doc_node *n)
{
	struct cell c = { 0 };
	unsigned i = 0;

	for (const struct doc_node *v = doc_begin(h->d, n); v && i < 3; v = doc_next(h->d, v), i++) {
		if (i == 0)
			c.owner = (unsigned)(v->milli / 1000);
		else if (i == 1)
			c.reader = (unsigned)(v->milli / 1000);
		else
			c.median = v->milli;
	}
	return c;
}

static struct heat heat_range(struct html *h, const char *state)
{
	struct heat m = { .step = 1, .low = INT64_MAX };

	for (const struct doc_node *r = heat_first(h, state); r; r = heat_next(h, doc_next(h->d, r), state)) {
		const struct doc_node *cells = doc_get(h->d, doc_get(h->d, r, "matrix"), "cells");

		for (const struct doc_node *n = doc_begin(h->d, cells); n; n = doc_next(h->d, n)) {
			struct cell c = cell_of(h, n);

			m.cores = c.owner >= m.cores ? c.owner + 1 : m.cores;
			m.cores = c.reader >= m.cores ? c.reader + 1 : m.cores;
			m.low = c.median < m.low ? c.median : m.low;
			m.high = c.median > m.high ? c.median : m.high;
		}
	}
	while (m.cores / m.step > CORES_DRAWN)
		m.step++;
	return m;
}

/* Light to dark blue: a monotone lightness scale that stays readable in grey. The number's colour contrasts with it. */
static void heat_cell(struct html *h, const struct heat *m, struct cell c, unsigned side)
{
	unsigned shade = m->high > m->low ? scaled(c.median - m->low, m->high - m->low, 1000) : 0;
	unsigned red = 225 - shade * 205 / 1000, green = 238 - shade * 180 / 1000, blue = 250 - shade * 120 / 1000;
	unsigned x = 46 + c.reader / m->step * side, y = 46 + c.owner / m->step * side;

	text_fmt(&h->t, "<rect class=\"heat\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" fill=\"#%02x%02x%02x\"/>", x, y, side, side, red, green, blue);
	if (side >= 30) {
		text_fmt(&h->t, "<text class=\"%s\" x=\"%u\" y=\"%u\" text-anchor=\"middle\">", shade > 450 ? "on" : "off", x + side / 2, y + side / 2 + 4);
		html_milli(h, c.median, 0);
		text_fmt(&h->t, "</text>");
	}
}

static void heat_map(struct html *h, const char *state, const char *title)
{
	struct heat m = heat_range(h, state);
	unsigned drawn = (m.cores + m.step - 1) / m.step, side = drawn ? 600 / drawn : 0;

	if (!m.cores)
		return;
	side = side > 60 ? 60 : side;
	html_figure(h, title, "A square for each pair of cores: rows are the cores that had the line, columns those that loaded it; darker is slower.",
	            drawn * side + 60 > 500 ? drawn * side + 60 : 501, drawn * side + 56);
	text_fmt(&h->t, "<text x=\"46\" y=\"14\">core that loads</text><text x=\"14\" y=\"46\" transform=\"rotate(90 14 46)\">core that has the line</text>\n");
	for (unsigned i = 0; i < drawn; i++)
		if (side >= 18 || i % 4 == 0)
			text_fmt(&h->t, "<text class=\"dim\" x=\"%u\" y=\"38\" text-anchor=\"middle\">%u</text><text class=\"dim\" x=\"40\" y=\"%u\" "
			         "text-anchor=\"end\">%u</text>", 46 + i * side + side / 2, i * m.step, 46 + i * side + side / 2 + 4, i * m.step);
	for (const struct doc_node *r = heat_first(h, state); r; r = heat_next(h, doc_next(h->d, r), state)) {
		const struct doc_node *cells = doc_get(h->d, doc_get(h->d, r, "matrix"), "cells");

		for (const struct doc_node *n = doc_begin(h->d, cells); n; n = doc_next(h->d, n)) {
			struct cell c = cell_of(h, n);

			if (c.owner % m.step == 0 && c.reader % m.step == (c.owner / m.step == c.reader / m.step && m.step > 1 ? 1u : 0u))
				heat_cell(h, &m, c, side);
		}
	}
	text_fmt(&h->t, "</svg><figcaption>Figure %u. %s, core cycles: ", h->figures, title);
	html_milli(h, m.low, 1);
	text_fmt(&h->t, " (light) to ");
	html_milli(h, m.high, 1);
	text_fmt(&h->t, " (dark).%s</figcaption></figure>\n", m.step > 1 ? " Neighbouring cores share a square: its first pair." : "");
}

void html_cores(struct html *h)
{
	if (!heat_first(h, "clean") && !heat_first(h, "modified"))
		return;
	html_section(h, "cores", "From core to core", "Load to use of a line that another core holds, for each pair of cores.");
	heat_map(h, "clean", "Clean lines");
	heat_map(h, "modified", "Modified lines");
}
