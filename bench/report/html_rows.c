/* bench/report/html_rows.c: the rows as tables: penalty table, the three methods, rejected windows. */
#include "bench/report/html.h"
#include "tables/processor.h"

/* The family of a row: its name up to the first dot. Rows of one family are grouped. */
static size_t family_length(const char *name)
{
	size_t n = 0;

	while (name[n] && name[n] != '.')
		n++;
	return n;
}

static bool same_family(const char *a, const char *b)
{
	size_t n = family_length(a);

	return n == family_length(b) && !memcmp(a, b, n);
}

static bool is_bandwidth(struct html *h, const struct doc_node *row)
{
	return str_equal(doc_string(h->d, row, "unit"), "bytes/s");
}

/* A row's value: cycles with two decimals, bandwidth in GB/s. */
static void value_cell(struct html *h, const struct doc_node *row, const char *key)
{
	const struct doc_node *n = doc_get(h->d, row, key);

	if (n->type != DOC_NUMBER)
		text_fmt(&h->t, "<td class=\"n\">-</td>");
	else
		html_cell_milli(h, is_bandwidth(h, row) ? n->milli / 1000000000 : n->milli, 2);
}

/* Whether a processor's descriptor is that of the machine's cores of a kind, "p" or "e". */
static bool is_of_kind(const struct html *h, const struct doc_node *machine, const char *descriptor, const char *kind)
{
	const uint8_t core_type = str_equal(kind, "p") ? CORE_TYPE_CORE : str_equal(kind, "e") ? CORE_TYPE_ATOM : 0;

	for (unsigned i = 0; i < processor_count && core_type; i++) {
		const struct processor *p = &processors[i];

		if (!str_equal(p->name, descriptor) || p->core_type != core_type || !str_equal(p->vendor, doc_string(h->d, machine, "vendor")) ||
		    doc_whole(h->d, machine, "family") != p->family)
			continue;
		for (unsigned k = 0; k < p->model_count; k++)
			if (doc_whole(h->d, machine, "model") == p->models[k])
				return true;
	}
	return false;
}

/* Whether the figure is of this row, or of a row of one kind of cores ("load.l1.latency@e"), and of the processor on which it was measured. */
static bool is_published(const struct html *h, const struct published *p, const char *row)
{
	const struct doc_node *machine = doc_get(h->d, doc_root(h->d), "machine");
	const size_t n = str_length(p->row);

	if (str_equal(p->row, row))
		return str_equal(p->processor, doc_string(h->d, machine, "descriptor"));
	return str_length(row) > n && !memcmp(p->row, row, n) && row[n] == '@' && is_of_kind(h, machine, p->processor, row + n + 1);
}

static void published_cell(struct html *h, const struct doc_node *row)
{
	for (unsigned i = 0; i < published_count; i++) {
		const struct published *p = &published[i];

		if (!is_published(h, p, doc_string(h->d, row, "name")))
			continue;
		text_fmt(&h->t, "<td class=\"n\">");
		html_milli(h, p->low_milli, p->low_milli % 1000 ? 1 : 0);
		if (p->high_milli != p->low_milli) {
			text_fmt(&h->t, " to ");
			html_milli(h, p->high_milli, p->high_milli % 1000 ? 1 : 0);
		}
		text_fmt(&h->t, " %s</td><td class=\"p\">", p->unit);
		html_text(h, p->how);
		text_fmt(&h->t, " <small>");
		html_text(h, p->source);
		text_fmt(&h->t, "</small></td>");
		return;
	}
	text_fmt(&h->t, "<td></td><td></td>");
}

/* The first row with this reason; the others refer to it. */
static const struct doc_node *first_with(struct html *h, const char *reason)
{
	const struct doc_node *r = doc_begin(h->d, doc_get(h->d, doc_root(h->d), "rows"));

	while (r && !str_equal(doc_string(h->d, r, "reason"), reason))
		r = doc_next(h->d, r);
	return r;
}

static void small(struct html *h, const char *s, bool *begun)
{
	if (!s[0])
		return;
	text_fmt(&h->t, *begun ? "<br><small>" : "<small>");
	html_text(h, s);
	text_fmt(&h->t, "</small>");
	*begun = true;
}

static void row_line(struct html *h, const struct doc_node *row)
{
	const char *reason = doc_string(h->d, row, "reason"), *name = doc_string(h->d, row, "name");
	const struct doc_node *first = reason[0] ? first_with(h, reason) : NULL;
	bool begun = doc_string(h->d, row, "proof")[0];

	text_fmt(&h->t, "<tr><th scope=\"row\" id=\"row-");
	html_text(h, name);
	text_fmt(&h->t, "\" title=\"");
	html_text(h, doc_string(h->d, row, "asks"));
	text_fmt(&h->t, "\">");
	html_name(h, name);
	text_fmt(&h->t, "</th><td>");
	html_verdict(h, doc_string(h->d, row, "status"));
	text_fmt(&h->t, "</td>");
	value_cell(h, row, "value");
	html_cell(h, is_bandwidth(h, row) ? "GB/s" : doc_string(h->d, row, "unit"));
	value_cell(h, row, "spread");
	html_cell_node(h, doc_get(h->d, row, "ns"), 2);
	html_cell_node(h, doc_get(h->d, row, "samples"), 0);
	published_cell(h, row);
	text_fmt(&h->t, "<td class=\"w\">");
	html_name(h, doc_string(h->d, row, "proof"));
	if (first && first != row) {
		text_fmt(&h->t, "%s<small>as <a href=\"#row-", begun ? "<br>" : "");
		html_text(h, doc_string(h->d, first, "name"));
		text_fmt(&h->t, "\">");
		html_name(h, doc_string(h->d, first, "name"));
		text_fmt(&h->t, "</a></small>");
		begun = true;
	} else
		small(h, reason, &begun);
	small(h, doc_string(h->d, row, "remark"), &begun);
	text_fmt(&h->t, "</td></tr>\n");
}

void html_rows(struct html *h)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	const char *before = "";

	if (!list->count)
		return;
	html_section(h, "penalties", "Penalty table",
	             "A latency is load to use; a penalty is what the event costs over its baseline, and only penalties feed a cycle accounting; a "
	             "throughput is a rate. The spread is the median absolute deviation of the windows. Verdict <b>ok</b>: quiet, and proved by what the "
	             "processor counted. Published figures are other people's, by their own methods: they stand beside, nothing was fitted to them.");
	html_table(h, "Every row, as measured", "row|verdict|#value|unit|#spread|#ns|#n|#published|how, and where|proof, and why not");
	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		const char *name = doc_string(h->d, r, "name");

		if (!same_family(before, name)) {
			if (before[0])
				text_fmt(&h->t, "</tbody><tbody>\n");
			before = name;
		}
		row_line(h, r);
	}
	html_table_end(h);
}

/* --- three methods ----------------------------------------------------------------------------- */

static bool has_methods(struct html *h, const struct doc_node *row)
{
	return doc_get(h->d, row, "latency_event")->type == DOC_OBJECT || doc_get(h->d, row, "uncore_queue")->type == DOC_OBJECT;
}

static void verdict_cell(struct html *h, const struct doc_node *n)
{
	text_fmt(&h->t, "<td>");
	if (n->type == DOC_OBJECT)
		html_verdict(h, doc_string(h->d, n, "verdict"));
	if (doc_string(h->d, n, "reason")[0]) {
		text_fmt(&h->t, "<br><small>");
		html_text(h, doc_string(h->d, n, "reason"));
		text_fmt(&h->t, "</small>");
	}
	text_fmt(&h->t, "</td>");
}

static void method_line(struct html *h, const struct doc_node *row)
{
	const struct doc_node *event = doc_get(h->d, row, "latency_event"), *queue = doc_get(h->d, row, "uncore_queue");
	const struct doc_node *difference = doc_get(h->d, event, "difference");

	text_fmt(&h->t, "<tr><th scope=\"row\">");
	html_name(h, doc_string(h->d, row, "name"));
	text_fmt(&h->t, "</th>");
	value_cell(h, row, "value");
	html_cell_node(h, doc_get(h->d, event, "value"), 2);
	text_fmt(&h->t, "<td class=\"n\">");
	if (difference->type == DOC_NUMBER && doc_get(h->d, event, "value")->type == DOC_NUMBER) {
		/* thousandths of the row's value with three decimals, shown in per cent */
		html_milli(h, difference->milli / 10, 1);
		text_fmt(&h->t, " %%");
	}
	text_fmt(&h->t, "</td>");
	verdict_cell(h, event);
	html_cell_node(h, doc_get(h->d, queue, "cycles"), 2);
	html_cell_node(h, doc_get(h->d, queue, "core_to_queue"), 2);
	verdict_cell(h, queue);
	text_fmt(&h->t, "</tr>\n");
}

void html_methods(struct html *h)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	bool open = false;

	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		if (!has_methods(h, r))
			continue;
		if (!open) {
			html_section(h, "methods", "Three methods side by side",
			             "The same loads by a dependent chase, by the latencies that the processor itself recorded for sampled loads, and by the "
			             "time that the uncore's queue held each of them. The queue holds a load for less than its whole way: the rest is from "
			             "the core to the queue and back. Of code that misses the L1I or the ITLB, jumps and sampled fetches likewise. All in core cycles.");
			html_table(h, "Latency by three methods, core cycles",
			           "row|#chase|#latency event or IBS|#difference|verdict|#in the uncore's queue|#to it and back|verdict");
			open = true;
		}
		method_line(h, r);
	}
	if (open)
		html_table_end(h);
}

/* A load's latency by uncore box. */
static void parts_line(struct html *h, const struct doc_node *row, const struct doc_node *parts)
{
	static const char *const groups[] = { "held", "pages" }, *const keys[][3] = { { "hit", "local_miss", "remote_miss" }, { "hit", "empty", "miss" } };

	text_fmt(&h->t, "<tr><th scope=\"row\">");
	html_name(h, doc_string(h->d, row, "name"));
	text_fmt(&h->t, "</th>");
	html_cell_node(h, doc_get(h->d, parts, "ingress"), 1);
	for (unsigned g = 0; g < COUNT_OF(groups); g++) {
		for (unsigned k = 0; k < 3; k++)
			html_cell_node(h, doc_get(h->d, doc_get(h->d, parts, groups[g]), keys[g][k]), g ? 3 : 1);
		if (!g) {
			html_cell_node(h, doc_get(h->d, doc_get(h->d, row, "uncore_queue"), "home"), 1);
			html_cell_node(h, doc_get(h->d, parts, "link"), 1);
		}
	}
	html_cell_node(h, doc_get(h->d, parts, "data_flits"), 3);
	text_fmt(&h->t, "</tr>\n");
}

/* Writes the section's heading once, before whichever of its tables is the first. */
static void parts_heading(struct html *h, bool *open)
{
	if (!*open)
		html_section(h, "parts", "Loads taken apart by the uncore's boxes",
		             "How long the same loads were held on their way, in uncore cycles: waiting for the table of requests, in it by where they "
		             "were answered, and by the home of their line; for each load, how memory found its page, and flits of data over links. "
		             "Under load, those of all cores of the socket: what their home holds them longer than alone is the channels' queue.");
	*open = true;
}

/* A read from memory alone and under load. */
static void loaded_line(struct html *h, const struct doc_node *row, const struct doc_node *loaded)
{
	static const char *const states[] = { "alone", "loaded" };

	text_fmt(&h->t, "<tr><th scope=\"row\">");
	html_name(h, doc_string(h->d, row, "name"));
	text_fmt(&h->t, "</th>");
	for (unsigned s = 0; s < COUNT_OF(states); s++)
		html_cell_node(h, doc_get(h->d, doc_get(h->d, loaded, states[s]), "table"), 1);
	html_cell_node(h, doc_get(h->d, loaded, "way"), 1);
	html_cell_node(h, doc_get(h->d, doc_get(h->d, loaded, "alone"), "home"), 1);
	html_cell_node(h, doc_get(h->d, loaded, "queue"), 1);
	html_cell_node(h, doc_get(h->d, loaded, "before"), 1);
	text_fmt(&h->t, "<td>");
	html_verdict(h, doc_string(h->d, loaded, "verdict"));
	text_fmt(&h->t, "</td></tr>\n");
}

void html_parts(struct html *h)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	bool open = false, of_loads = false, loaded = false;

	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		const struct doc_node *parts = doc_get(h->d, doc_get(h->d, r, "uncore_queue"), "parts");

		if (parts->type != DOC_OBJECT)
			continue;
		parts_heading(h, &open);
		if (!of_loads)
			html_table(h, "A load by boxes",
			           "row|#ingress|#table, hit|#table, local miss|#table, remote miss|#home|#link|#page open|#page empty|#other page|#data flits");
		of_loads = true;
		parts_line(h, r, parts);
	}
	if (of_loads)
		html_table_end(h);
	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		const struct doc_node *of = doc_get(h->d, r, "loaded");

		if (of->type != DOC_OBJECT)
			continue;
		parts_heading(h, &open);
		if (!loaded)
			html_table(h, "A read under load by boxes", "row|#table, alone|#table, under load|#L3 and way|#home and DRAM|#queue|#before the table|verdict");
		loaded = true;
		loaded_line(h, r, of);
	}
	if (loaded)
		html_table_end(h);
}

/* --- rejected windows -------------------------------------------------------------------------- */

/* Number of windows, causes of rejection, and the SMIs with the number of windows they hit. */
static void windows(struct html *h)
{
	static const struct { const char *key, *what; } causes[] = {
		{ "windows_clock_moved", "whose core clock moved" }, { "windows_hot", "that heat or a power limit held down" },
		{ "windows_modulated", "with a modulated clock" },
	};
	const struct doc_node *summary = doc_get(h->d, doc_root(h->d), "summary"), *smis = doc_get(h->d, summary, "windows_by_smis");
	unsigned bin = 0;
	int64_t known = 0;

	if (doc_whole(h->d, summary, "windows") < 1)
		return;
	text_fmt(&h->t, "<p id=\"windows\">");
	html_milli(h, doc_milli(h->d, summary, "windows"), 0);
	text_fmt(&h->t, " windows in all. Thrown away: ");
	for (unsigned i = 0; i < COUNT_OF(causes); i++) {
		html_milli(h, doc_milli(h->d, summary, causes[i].key), 0);
		text_fmt(&h->t, " %s%s", causes[i].what, i + 1 < COUNT_OF(causes) ? ", " : "");
	}
	text_fmt(&h->t, ".</p>\n");
	for (const struct doc_node *n = doc_begin(h->d, smis); n; n = doc_next(h->d, n))
		known += n->type == DOC_NUMBER && n->milli > 0;
	if (!known) {
		text_fmt(&h->t, "<p>SMIs: nothing counts them here.</p>\n");
		return;
	}
	html_table(h, "Windows by the SMIs that hit them", "SMIs in a window|#windows");
	for (const struct doc_node *n = doc_begin(h->d, smis); n; n = doc_next(h->d, n), bin++) {
		text_fmt(&h->t, "<tr><th scope=\"row\">%u%s</th>", bin, bin + 1 == smis->count ? " or more" : "");
		html_cell_node(h, n, 0);
		text_fmt(&h->t, "</tr>\n");
	}
	html_table_end(h);
}

void html_rejected(struct html *h)
{
	const struct doc_node *list = doc_get(h->d, doc_root(h->d), "rows");
	bool open = false;

	if (!list->count)
		return;
	html_section(h, "rejected", "What was rejected, and why",
	             "Rows that are not ok, and windows that were thrown away because an SMI or a change of frequency hit them.");
	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r)) {
		const char *status = doc_string(h->d, r, "status");

		if (str_equal(status, "ok") && !doc_milli(h->d, r, "rejected"))
			continue;
		if (!open)
			html_table(h, "Rows that are not ok, or lost windows", "row|verdict|why|#windows kept|#thrown away");
		open = true;
		text_fmt(&h->t, "<tr><th scope=\"row\">");
		html_text(h, doc_string(h->d, r, "name"));
		text_fmt(&h->t, "</th><td>");
		html_verdict(h, status);
		text_fmt(&h->t, "</td>");
		html_cell(h, doc_string(h->d, r, "reason"));
		html_cell_node(h, doc_get(h->d, r, "samples"), 0);
		html_cell_node(h, doc_get(h->d, r, "rejected"), 0);
		text_fmt(&h->t, "</tr>\n");
	}
	if (open)
		html_table_end(h);
	else
		text_fmt(&h->t, "<p>None: every row is ok and no window was discarded.</p>\n");
	windows(h);
}
