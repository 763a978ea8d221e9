/* runner/commands/fleet_html.c: the fleet as one HTML file: a map of runs x rows, findings, drifts. No script. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/commands/fleet.h"
#include "runner/data/markup.h"
#include "runner/data/statistics.h"

#define MAP_ROWS_MOST 400u

static const char style[] =
	":root{--bg:#fff;--fg:#1a1a1a;--dim:#4a4a4a;--line:#c4c4c4;--ground:#eef1f4;--more:#b7470b;--less:#1f5fa8;--none:#6d4aa8;color-scheme:light dark}\n"
	"@media(prefers-color-scheme:dark){:root{--bg:#16181c;--fg:#eaeaea;--dim:#b8b8b8;--line:#4a4d55;--ground:#22252b;--more:#f0965c;--less:#63a4e8;--none:#b79ae8}}\n"
	"body{margin:0 auto;padding:1rem;max-width:1400px;font:16px/1.5 system-ui,sans-serif;background:var(--bg);color:var(--fg)}"
	"h1{font-size:1.6rem}h2{margin:2rem 0 .3rem;border-bottom:1px solid var(--line)}p,figcaption{color:var(--dim);max-width:75ch}"
	".sim{border:2px solid var(--more);padding:.6rem;font-weight:bold;color:var(--fg)}.scroll{overflow-x:auto}"
	"table{border-collapse:collapse;font-size:.86rem}th,td{padding:.2rem .5rem;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}"
	"th{background:var(--ground)}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}tbody th{white-space:nowrap}"
	"svg text{font:10px system-ui,sans-serif;fill:var(--fg)}.g{fill:var(--ground)}.m{fill:var(--more)}.l{fill:var(--less)}.u{fill:var(--none)}"
	".d{fill:none;stroke:var(--less);stroke-width:1.5}@media print{body{max-width:none;font-size:9pt}.scroll{overflow:visible}}\n";

static double scale_of(const struct fleet_row *row)
{
	return strcmp(row->unit, "bytes/s") ? 1 : 1e9;
}

static void head(FILE *to, const struct fleet *f)
{
	bool simulated = false;
	unsigned outlying = 0, drifts = 0;
	for (unsigned i = 0; i < f->run_count; i++)
		simulated = simulated || f->runs[i].simulated;
	for (unsigned i = 0; i < f->finding_count; i++) {
		bool first = !i || f->findings[i].run != f->findings[i - 1].run || f->findings[i].drift != f->findings[i - 1].drift;
		outlying += first && !f->findings[i].drift;
		drifts += first && f->findings[i].drift;
	}
	fprintf(to, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
	        "<link rel=\"icon\" href=\"data:,\"><title>Stallmeter: a fleet of %u runs</title>\n<style>\n%s</style></head>\n<body><header><h1>A fleet of %u runs</h1>\n",
	        f->run_count, style, f->run_count);
	if (simulated)
		fputs("<p class=\"sim\" role=\"note\">SIMULATED machines are among these runs: their numbers say nothing about real hardware.</p>\n", to);
	fprintf(to, "<p id=\"summary\">%u outlying runs, %u machines drifted, %u runs could not be read.</p>\n<nav><a href=\"#outlying\">Outlying runs</a> "
	        "<a href=\"#drift\">Drift</a> <a href=\"#map\">Map</a></nav></header>\n<main>\n<table><thead><tr><th>group</th><th>runs</th></tr></thead><tbody>\n",
	        outlying, drifts, f->unreadable);
	for (unsigned g = 0; g < f->group_count; g++) {
		fputs("<tr><td>", to);
		markup_text(to, f->groups[g].name);
		fprintf(to, "</td><td class=\"n\">%u</td></tr>\n", f->groups[g].runs);
	}
	fputs("</tbody></table>\n", to);
}

static void differences(FILE *to, const struct fleet *f, const struct fleet_run *r)
{
	for (unsigned i = 0; i < r->fact_count; i++) {
		unsigned have, of;
		const char *usual = fleet_usual(f, r->group, r->facts[i].key, &have, &of);
		if (usual == r->facts[i].value || 2 * have <= of)
			continue;
		markup_text(to, r->facts[i].key);
		fputs(": ", to);
		markup_text(to, r->facts[i].value);
		fprintf(to, " (%u of %u: ", have, of);
		markup_text(to, usual);
		fputs(")<br>", to);
	}
}

static void finding_line(FILE *to, const struct fleet *f, const struct fleet_finding *x, bool first, unsigned rows)
{
	const struct fleet_row *row = &f->rows[x->row];
	const struct fleet_run *r = &f->runs[x->run];
	double by = scale_of(row);
	fputs("<tr>", to);
	if (first) {
		fprintf(to, "<th scope=\"row\" rowspan=\"%u\">", rows);
		markup_text(to, x->drift ? r->machine : r->path);
		fputs("</th>", to);
	}
	fputs("<td>", to);
	markup_text(to, row->name);
	fputs("</td>", to);
	if (x->status) {
		fputs("<td colspan=\"3\">", to);
		markup_text(to, x->status);
		fputs("; most runs have a value</td>", to);
	} else
		fprintf(to, "<td class=\"n\">%.3f %s</td><td class=\"n\">%.3f</td><td class=\"n\">%+.1f %%</td>", x->value / by, by > 1 ? "GB/s" : row->unit,
		        x->median / by, x->median != 0 ? 100 * (x->value - x->median) / fabs(x->median) : 0);
	if (first && !x->drift) {
		fprintf(to, "<td rowspan=\"%u\">", rows);
		differences(to, f, r);
		fputs("</td>", to);
	}
}

/* Draws a machine's values of a row over its runs. */
static void course(FILE *to, const struct fleet *f, const struct fleet_finding *x)
{
	unsigned last = x->run, first = last, n = 0;
	double low = INFINITY, high = -INFINITY;
	while (first && f->runs[first - 1].machine == f->runs[last].machine && f->runs[first - 1].product == f->runs[last].product)
		first--;
	for (unsigned i = first; i <= last; i++) {
		const struct fleet_value *v = fleet_value(&f->runs[i], x->row);
		low = v && v->measured ? fmin(low, v->value) : low;
		high = v && v->measured ? fmax(high, v->value) : high;
	}
	fputs("<td><svg width=\"160\" height=\"30\" role=\"img\" aria-label=\"from the first run to the last\"><polyline class=\"d\" points=\"", to);
	for (unsigned i = first; i <= last; i++, n++) {
		const struct fleet_value *v = fleet_value(&f->runs[i], x->row);
		if (v && v->measured)
			fprintf(to, "%.1f,%.1f ", 4 + 152.0 * n / (last > first ? last - first : 1), 26 - 22 * (high > low ? (v->value - low) / (high - low) : 0.5));
	}
	fputs("\"/></svg></td>", to);
}

enum listed { LIST_OUTLIERS, LIST_DRIFTS };

static void findings(FILE *to, const struct fleet *f, enum listed listed)
{
	const bool drift = listed == LIST_DRIFTS;

	fprintf(to, "<h2 id=\"%s\">%s</h2>\n<div class=\"scroll\"><table><thead><tr><th>%s</th><th>row</th><th>value</th><th>%s</th><th>difference</th><th>%s</th></tr></thead><tbody>\n",
	        drift ? "drift" : "outlying", drift ? "Machines that drifted" : "Outlying runs", drift ? "machine" : "run", drift ? "at first" : "median of the group",
	        drift ? "course" : "what else differs from most of the group");
	for (unsigned i = 0; i < f->finding_count; i++) {
		const struct fleet_finding *x = &f->findings[i];
		if (x->drift != drift)
			continue;
		bool first = !i || x[-1].run != x->run || x[-1].drift != drift;
		unsigned rows = 1;
		while (i + rows < f->finding_count && x[rows].run == x->run && x[rows].drift == drift)
			rows++;
		finding_line(to, f, x, first, rows);
		if (drift)
			course(to, f, x);
		fputs("</tr>\n", to);
	}
	fputs("</tbody></table></div>\n", to);
}

/* Draws a mark for each finding on a grid of all runs x rows; runs are grouped and sorted as in the fleet. */
static void map(FILE *to, const struct fleet *f)
{
	unsigned cell = f->run_count > 300 ? 3 : 8, left = 240, rows = f->row_count < MAP_ROWS_MOST ? f->row_count : MAP_ROWS_MOST;
	unsigned width = left + cell * f->run_count + 10, height = 12 * rows + 10;
	fprintf(to, "<h2 id=\"map\">Rows of all runs</h2>\n<figure><div class=\"scroll\"><svg width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\" "
	        "aria-label=\"findings by run and row\"><rect class=\"g\" x=\"%u\" y=\"0\" width=\"%u\" height=\"%u\"/>\n", width, height, width, height, left, cell * f->run_count, 12 * rows);
	for (unsigned i = 0; i < rows; i++) {
		fprintf(to, "<text x=\"%u\" y=\"%u\" text-anchor=\"end\">", left - 6, 12 * i + 10);
		markup_text(to, f->rows[i].name);
		fputs("</text>\n", to);
	}
	for (unsigned i = 0; i < f->finding_count; i++) {
		const struct fleet_finding *x = &f->findings[i];
		if (x->drift || x->row >= rows)
			continue;
		fprintf(to, "<rect class=\"%s\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"11\"><title>", x->status ? "u" : x->value > x->median ? "m" : "l",
		        left + cell * x->run, 12 * x->row, cell);
		markup_text(to, f->runs[x->run].path);
		fputs(": ", to);
		markup_text(to, f->rows[x->row].name);
		if (!x->status && x->median != 0)
			fprintf(to, " %+.1f %%", 100 * (x->value - x->median) / fabs(x->median));
		fputs("</title></rect>\n", to);
	}
	fputs("</svg></div><figcaption>One column a run, by product, machine and time; a mark where the row lies above (orange) or below (blue) its group's median by more "
	      "than it should, or has no value (violet). Point at a mark for its run.</figcaption></figure>\n", to);
}

void fleet_html(FILE *to, const struct fleet *f)
{
	head(to, f);
	findings(to, f, LIST_OUTLIERS);
	findings(to, f, LIST_DRIFTS);
	map(to, f);
	fputs("</main></body></html>\n", to);
}
