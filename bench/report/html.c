/* bench/report/html.c: the report's frame, and the primitives of its parts. */
#include "bench/report/html.h"

/* Contrast: text on ground at least 7:1, verdicts at least 4.5:1 in both schemes (WCAG 2.1, 1.4.3). Colour is never the only cue: each verdict is a
 * word too. */
static const char style[] =
	":root{--bg:#fff;--fg:#1a1a1a;--dim:#4a4a4a;--line:#c4c4c4;--ground:#f3f3f3;--bar:#2b6cb0;--bar2:#b7791f;--bar3:#2f855a;"
	"--ok:#1e6b37;--warn:#8a5200;--bad:#a61b1b;--cold:235,242,250;color-scheme:light dark}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#eaeaea;--dim:#b8b8b8;--line:#4a4d55;--ground:#22252b;--bar:#63a4e8;"
	"--bar2:#e0a84a;--bar3:#5fc08a;--ok:#7fd69b;--warn:#f0b860;--bad:#ff9a9a}}\n"
	"*{box-sizing:border-box}body{margin:0 auto;padding:1rem;max-width:1400px;font:16px/1.5 system-ui,sans-serif;background:var(--bg);"
	"color:var(--fg);overflow-wrap:anywhere}\n"
	"h1{font-size:1.6rem;line-height:1.2}h2{margin:2.2rem 0 .3rem;border-bottom:1px solid var(--line)}h3{margin:1.2rem 0 .3rem}"
	"p.why{margin:.2rem 0 .8rem;color:var(--dim);max-width:75ch}a{color:var(--bar)}\n"
	".sim{border:2px solid var(--warn);padding:.6rem;font-weight:bold}.scroll{overflow-x:auto;max-width:100%}"
	".scroll:focus{outline:2px solid var(--bar)}nav ul{display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;list-style:none}\n"
	"table{border-collapse:collapse;font-size:.86rem;width:100%;overflow-wrap:normal}caption{text-align:left;color:var(--dim);padding:.3rem 0}"
	"th,td{padding:.25rem .5rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}th{background:var(--ground)}"
	"tbody th{font-weight:600;min-width:11rem}.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
	"td.w{min-width:14.5rem;overflow-wrap:anywhere}td.p{min-width:9rem}td small{color:var(--dim)}\n"
	".v{font-weight:bold;white-space:nowrap}.ok{color:var(--ok)}.warn{color:var(--warn)}.bad{color:var(--bad)}\n"
	"figure{margin:1rem 0}figcaption{color:var(--dim);font-size:.9rem;max-width:75ch}svg{display:block;width:100%;height:auto;max-width:900px}"
	"svg.s{max-width:420px}.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,300px),1fr));gap:1rem}.grid figure{margin:0}"
	"svg text{font:12px system-ui,sans-serif;fill:var(--fg)}svg .dim{fill:var(--dim)}svg .axis{stroke:var(--line);fill:none}"
	".b1{fill:var(--bar)}.b2{fill:var(--bar2)}.b3{fill:var(--bar3)}.b4{fill:var(--dim)}.l1{stroke:var(--bar)}.l2{stroke:var(--bar2)}"
	".l3{stroke:var(--bar3)}.l4{stroke:var(--dim)}.l{fill:none;stroke-width:2}.mark{stroke:var(--warn);stroke-dasharray:4 3}"
	"svg .heat{stroke:var(--bg)}svg text.on{fill:#fff}svg text.off{fill:#111}\n"
	"@media(max-width:480px){body{padding:.6rem}table{font-size:.7rem}th,td{padding:.2rem .25rem}tbody th{min-width:0}}\n"
	"details summary{cursor:pointer}code{font-size:.9em}\n"
	"@media print{body{max-width:none;font-size:10pt;padding:0}.scroll{overflow:visible}table{font-size:6.5pt}th,td{padding:1pt 2pt}td.w,tbody th{min-width:0}.n{white-space:normal}"
	"figure,tr{break-inside:avoid}h2{break-after:avoid}:root{--bg:#fff;--fg:#000;--dim:#333;--line:#999;--ground:#eee;--bar:#2b6cb0;"
	"--bar2:#b7791f;--bar3:#2f855a;--ok:#1e6b37;--warn:#8a5200;--bad:#a61b1b}}\n";

/* Length of the UTF-8 character at s; 0: invalid (RFC 3629: no overlong forms, no surrogates). */
static unsigned utf8_length(const unsigned char *s)
{
	unsigned n = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;

	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] >= 0xA0) || (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] >= 0x90))
		return 0;
	return n;
}

void html_text(struct html *h, const char *s)
{
	const unsigned char *at = (const unsigned char *)s;

	while (*at) {
		unsigned n = utf8_length(at);
		const char *as = *at == '<' ? "&lt;" : *at == '>' ? "&gt;" : *at == '&' ? "&amp;" : *at == '"' ? "&quot;" : *at == '\'' ? "&#39;" :
		                 !n || (*at < ' ' && *at != '\n' && *at != '\t') || *at == 127 ? "\xEF\xBF\xBD" : NULL;

		if (as)
			text_fmt(&h->t, "%s", as);
		else
			text_bytes(&h->t, (const char *)at, n);
		at += n ? n : 1;
	}
}

void html_milli(struct html *h, int64_t milli, unsigned decimals)
{
	static const int64_t units[] = { 1000, 100, 10, 1 };
	int64_t unit = units[decimals > 3 ? 3 : decimals], half = unit / 2;

	text_fixed(&h->t, (milli < 0 ? milli - half : milli + half) / unit, decimals);
}

void html_name(struct html *h, const char *s)
{
	for (char one[2] = ""; *s; s++) {
		one[0] = *s;
		if ((unsigned char)*s >= 0x80) { /* not one of our names: written whole */
			html_text(h, s);
			return;
		}
		html_text(h, one);
		if ((*s == '.' || *s == '+' || *s == '-' || *s == ':') && s[1] && s[1] != ' ' && !(s[1] >= '0' && s[1] <= '9'))
			text_fmt(&h->t, "<wbr>");
	}
}

void html_section(struct html *h, const char *id, const char *title, const char *explanation)
{
	if (h->section_count < HTML_SECTIONS_MOST) {
		h->sections[h->section_count].id = id;
		h->sections[h->section_count++].title = title;
	}
	text_fmt(&h->t, "</section>\n<section aria-labelledby=\"%s\"><h2 id=\"%s\">", id, id);
	html_text(h, title);
	text_fmt(&h->t, "</h2>\n");
	if (explanation[0])
		text_fmt(&h->t, "<p class=\"why\">%s</p>\n", explanation);
}

void html_table(struct html *h, const char *caption, const char *heads)
{
	text_fmt(&h->t, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table><caption>%s</caption><thead><tr>", caption, caption);
	while (*heads) {
		bool number = *heads == '#';
		const char *end;

		heads += number;
		for (end = heads; *end && *end != '|'; end++)
			;
		text_fmt(&h->t, "<th scope=\"col\"%s>%.*s</th>", number ? " class=\"n\"" : "", (int)(end - heads), heads);
		heads = *end ? end + 1 : end;
	}
	text_fmt(&h->t, "</tr></thead><tbody>\n");
}

void html_table_end(struct html *h)
{
	text_fmt(&h->t, "</tbody></table></div>\n");
}

void html_cell(struct html *h, const char *s)
{
	text_fmt(&h->t, "<td>");
	html_text(h, s);
	text_fmt(&h->t, "</td>");
}

void html_cell_milli(struct html *h, int64_t milli, unsigned decimals)
{
	text_fmt(&h->t, "<td class=\"n\">");
	html_milli(h, milli, decimals);
	text_fmt(&h->t, "</td>");
}

void html_cell_node(struct html *h, const struct doc_node *n, unsigned decimals)
{
	if (n->type == DOC_NUMBER)
		html_cell_milli(h, n->milli, decimals);
	else
		html_cell(h, n->type == DOC_STRING ? n->string : "");
}

void html_verdict(struct html *h, const char *verdict)
{
	static const char *const good[] = { "ok", "agrees", "right", "proved", "trusted" };
	static const char *const bad[] = { "fault", "timeout", "failed", "crashed", "differs", "broken", "wrong" };
	const char *kind = "warn";

	for (unsigned i = 0; i < COUNT_OF(good); i++)
		if (str_equal(verdict, good[i]))
			kind = "ok";
	for (unsigned i = 0; i < COUNT_OF(bad); i++)
		if (str_equal(verdict, bad[i]))
			kind = "bad";
	text_fmt(&h->t, "<span class=\"v %s\">", kind);
	html_text(h, verdict);
	text_fmt(&h->t, "</span>");
}

void html_figure(struct html *h, const char *title, const char *description, unsigned width, unsigned height)
{
	h->figures++;
	text_fmt(&h->t, "<figure><svg%s viewBox=\"0 0 %u %u\" role=\"img\" aria-labelledby=\"f%ut f%ud\"><title id=\"f%ut\">",
	         width < 500 ? " class=\"s\"" : "", width, height, h->figures, h->figures, h->figures);
	html_text(h, title);
	text_fmt(&h->t, "</title><desc id=\"f%ud\">", h->figures);
	html_text(h, description);
	text_fmt(&h->t, "</desc>\n");
}

void html_figure_end(struct html *h, const char *caption)
{
	text_fmt(&h->t, "</svg><figcaption>Figure %u. ", h->figures);
	html_text(h, caption);
	text_fmt(&h->t, "</figcaption></figure>\n");
}

void html_bytes(struct html *h, int64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned u = 0;
	int64_t milli = bytes > INT64_MAX / 1000 ? INT64_MAX : bytes * 1000;

	while (u + 1 < COUNT_OF(units) && milli >= 1024000) {
		milli /= 1024;
		u++;
	}
	html_milli(h, milli, milli % 1000 ? 1 : 0);
	text_fmt(&h->t, " %s", units[u]);
}

int64_t html_log2_milli(int64_t value)
{
	unsigned whole;
	uint64_t x;
	int64_t fraction = 0;

	if (value < 1)
		return 0;
	whole = 63u - (unsigned)__builtin_clzll((unsigned long long)value);
	/* 1 <= x < 2 with 31 fractional bits: each squaring that reaches 2 yields a 1 bit of the logarithm */
	x = whole >= 31 ? (uint64_t)value >> (whole - 31) : (uint64_t)value << (31 - whole);
	for (int64_t bit = 1 << 15; bit; bit >>= 1) {
		x = x * x >> 31;
		if (x >> 32) {
			fraction += bit;
			x >>= 1;
		}
	}
	return (int64_t)whole * 1000 + (fraction * 1000 >> 16);
}

/* --- the page ---------------------------------------------------------------------------------- */

static void page_head(struct html *h)
{
	const struct doc_node *root = doc_root(h->d), *machine = doc_get(h->d, root, "machine");

	text_fmt(&h->t, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	         "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n<title>Stallmeter: ");
	html_text(h, doc_string(h->d, machine, "brand"));
	text_fmt(&h->t, "</title>\n<style>\n");
	text_bytes(&h->t, style, sizeof(style) - 1);
	text_fmt(&h->t, "</style></head>\n<body><header><h1>What stalls cost: ");
	html_text(h, doc_string(h->d, machine, "brand"));
	text_fmt(&h->t, "</h1>\n");
}

/* The figures that most readers look for first: load to use of each level. */
static void key_figures(struct html *h)
{
	static const char *const levels[][2] = { { "load.l1.latency", "L1" }, { "load.l2.latency", "L2" }, { "load.l3.latency", "L3" },
		{ "load.dram_local.latency", "memory" } };
	unsigned shown = 0;

	for (unsigned i = 0; i < COUNT_OF(levels); i++) {
		const struct doc_node *row = doc_row(h->d, levels[i][0]);

		if (row->type != DOC_OBJECT || doc_get(h->d, row, "cycles")->type != DOC_NUMBER)
			continue;
		text_fmt(&h->t, shown++ ? ", %s " : "<p>Load to use: %s ", levels[i][1]);
		html_milli(h, doc_milli(h->d, row, "cycles"), 1);
		text_fmt(&h->t, " cycles (");
		html_milli(h, doc_milli(h->d, row, "ns"), 1);
		text_fmt(&h->t, " ns");
		if (!str_equal(doc_string(h->d, row, "status"), "ok")) {
			text_fmt(&h->t, ", ");
			html_verdict(h, doc_string(h->d, row, "status"));
		}
		text_char(&h->t, ')');
	}
	if (shown)
		text_fmt(&h->t, ".</p>\n");
}

static void page_summary(struct html *h, const char *note)
{
	static const char *const statuses[] = { "ok", "noisy", "unproven", "unsupported", "fault", "timeout", "failed", "crashed" };
	const struct doc_node *root = doc_root(h->d), *list = doc_get(h->d, root, "rows");
	unsigned counts[COUNT_OF(statuses)] = { 0 };

	if (doc_true(h->d, root, "simulated")) {
		text_fmt(&h->t, "<p class=\"sim\" role=\"note\">SIMULATED machine (");
		html_text(h, doc_string(h->d, root, "backend"));
		text_fmt(&h->t, "): these numbers say nothing about real hardware.</p>\n");
	}
	if (note[0]) {
		text_fmt(&h->t, "<p class=\"sim\" role=\"note\">Incomplete results: ");
		html_text(h, note);
		text_fmt(&h->t, ".</p>\n");
	}
	for (const struct doc_node *r = doc_begin(h->d, list); r; r = doc_next(h->d, r))
		for (unsigned i = 0; i < COUNT_OF(statuses); i++)
			counts[i] += str_equal(doc_string(h->d, r, "status"), statuses[i]);
	text_fmt(&h->t, "<p id=\"summary\">%u row%s:", list->count, list->count == 1 ? "" : "s");
	for (unsigned i = 0; i < COUNT_OF(statuses); i++)
		if (counts[i]) {
			text_fmt(&h->t, " %u ", counts[i]);
			html_verdict(h, statuses[i]);
		}
	if (doc_true(h->d, doc_get(h->d, root, "summary"), "stopped"))
		text_fmt(&h->t, ", then <b>stopped by the user</b>");
	text_fmt(&h->t, ". Suite ");
	html_text(h, doc_string(h->d, doc_get(h->d, root, "settings"), "suite"));
	text_fmt(&h->t, ", build <code>");
	html_text(h, doc_string(h->d, root, "build"));
	text_fmt(&h->t, "</code>");
	if (doc_string(h->d, root, "label")[0]) {
		text_fmt(&h->t, ", label: ");
		html_text(h, doc_string(h->d, root, "label"));
	}
	text_fmt(&h->t, ".</p>\n");
	key_figures(h);
	h->contents_at = h->t.length;
	text_fmt(&h->t, "</header>\n<main><section>");
}

/* Inserts the list of contents at the place that page_summary noted: the sections are known only at the end. */
static void page_contents(struct html *h)
{
	char at[4096];
	struct html nav = { .d = h->d };
	text_init(&nav.t, at, sizeof(at));
	text_fmt(&nav.t, "<nav aria-label=\"Contents\"><ul>");
	for (unsigned i = 0; i < h->section_count; i++) {
		text_fmt(&nav.t, "<li><a href=\"#");
		html_text(&nav, h->sections[i].id);
		text_fmt(&nav.t, "\">");
		html_text(&nav, h->sections[i].title);
		text_fmt(&nav.t, "</a></li>");
	}
	text_fmt(&nav.t, "</ul></nav>\n");
	if (nav.t.full || h->t.full || h->t.length + nav.t.length >= h->t.capacity) {
		h->t.full = true;
		return;
	}
	for (size_t i = h->t.length + 1; i-- > h->contents_at;)
		h->t.at[i + nav.t.length] = h->t.at[i];
	memcpy(h->t.at + h->contents_at, at, nav.t.length);
	h->t.length += nav.t.length;
}

/* Whether a part draws the key, or it is no section. */
static bool is_drawn(const char *key)
{
	static const char *const keys[] = { "schema", "version", "simulated", "backend", "build", "label", "settings", "machine", "cpuid",
		"registers", "rows", "summary", "environment", "accounting", "trust", "profile", "study" };

	for (unsigned i = 0; i < COUNT_OF(keys); i++)
		if (str_equal(key, keys[i]))
			return true;
	return false;
}

enum status html_report(const struct document *d, const char *note, char *at, size_t capacity, size_t *bytes)
{
	struct html h = { .d = d };
	const struct doc_node *root = doc_root(d);

	text_init(&h.t, at, capacity);
	page_head(&h);
	page_summary(&h, note);
	html_rows(&h);
	html_latencies(&h);
	html_methods(&h);
	html_parts(&h);
	html_histograms(&h);
	html_cores(&h);
	html_bandwidth(&h);
	html_series(&h);
	/* fixed order: a journal holds the sections in the order they were measured */
	html_accounting(&h, doc_get(d, root, "accounting"));
	html_trust(&h, doc_get(d, root, "trust"));
	html_profile(&h, doc_get(d, root, "profile"));
	html_generic(&h, doc_get(d, root, "study"));
	for (const struct doc_node *s = doc_begin(d, root); s; s = doc_next(d, s))
		if (!is_drawn(s->key))
			html_generic(&h, s);
	html_rejected(&h);
	html_machine(&h);
	text_fmt(&h.t, "</section></main></body></html>\n");
	page_contents(&h);
	*bytes = h.t.length;
	return h.t.full ? ST_FULL : ST_OK;
}
