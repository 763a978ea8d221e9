/* bench/report/html.h: the report: one self-contained HTML file with inline SVG, no script.
 *
 * It is drawn from a document (results.json in memory). The machine itself and the host command produce identical bytes. All strings of the
 * document are escaped. Integers only; SVG coordinates are whole units of a picture 720 units wide. */
#ifndef BENCH_HTML_H
#define BENCH_HTML_H

#include "bench/measure/host.h"
#include "bench/results/document.h"
#include "pmu/text.h"

#define HTML_BYTES_MOST (1u << 20)
#define HTML_SECTIONS_MOST 32u /* in the list of contents */

/* Draws the report into at[capacity]. `note` tells the reader about the file ("cut short ..."); "" for none. A section missing from the results is
 * missing from the report. ST_FULL: it does not fit. */
MUST_CHECK enum status html_report(const struct document *d, const char *note, char *at, size_t capacity, size_t *bytes);

/* Draws report.html from the bytes of results.json and has the host write it. */
MUST_CHECK enum status html_file(const struct suite_host *host, const char *json, size_t json_bytes);

/* --- for the files that draw the parts ---------------------------------------------------------- */

struct html {
	struct text t;
	const struct document *d;
	unsigned figures;          /* drawn so far, for their numbers */
	size_t contents_at;        /* in t.at, where the list of contents goes */
	struct { const char *id, *title; } sections[HTML_SECTIONS_MOST];
	unsigned section_count;
};

/* Escapes text as HTML text and as an attribute's value. Control bytes and invalid UTF-8 become U+FFFD. */
void html_text(struct html *h, const char *s);
/* A name of rows or events: a narrow column may break it only after a dot or an operator. */
void html_name(struct html *h, const char *s);
/* <h2 id=ID>TITLE</h2> in a section that the next one or the end closes, and one line of explanation below it. */
void html_section(struct html *h, const char *id, const char *title, const char *explanation);
/* A table that scrolls by itself in a narrow window. `heads`: the columns' titles separated by '|'; '#' at the start of a title marks a numeric
 * column. */
void html_table(struct html *h, const char *caption, const char *heads);
void html_table_end(struct html *h);
/* A cell of text, or of a number in thousandths with that many decimals ("" for a null node). */
void html_cell(struct html *h, const char *s);
void html_cell_milli(struct html *h, int64_t milli, unsigned decimals);
void html_cell_node(struct html *h, const struct doc_node *n, unsigned decimals);
/* A number in thousandths, rounded to 0 to 3 decimals. */
void html_milli(struct html *h, int64_t milli, unsigned decimals);
/* <span> of a verdict, with its colour and its word. */
void html_verdict(struct html *h, const char *verdict);
/* <figure><svg>. `title` and `description`: accessible name and description of the picture. */
void html_figure(struct html *h, const char *title, const char *description, unsigned width, unsigned height);
void html_figure_end(struct html *h, const char *caption);

/* Bytes as "32 KiB", "8 MiB". */
void html_bytes(struct html *h, int64_t bytes);
/* Base-2 logarithm in thousandths; 0 for values below 1. */
int64_t html_log2_milli(int64_t value);

/* The parts; each draws nothing if the document lacks its data. */
void html_rows(struct html *h);      /* the penalty table, with published figures */
void html_methods(struct html *h);   /* three methods side by side */
void html_parts(struct html *h);      /* loads by the boxes of the uncore */
void html_rejected(struct html *h);  /* rows that are not ok, and rejected windows */
void html_histograms(struct html *h);
void html_latencies(struct html *h);
void html_cores(struct html *h);     /* the heat map */
void html_bandwidth(struct html *h);
void html_series(struct html *h);    /* curves, matrices of nodes */
void html_machine(struct html *h);
void html_accounting(struct html *h, const struct doc_node *list); /* stacks of cycles */
void html_trust(struct html *h, const struct doc_node *list);      /* events against known counts */
void html_profile(struct html *h, const struct doc_node *section);
/* Draws a section that no other part draws, as tables: sections of later versions appear too. */
void html_generic(struct html *h, const struct doc_node *section);

#endif
