/* bench/report/screen_pages.h: the results as pages for the machine's own screen, drawn on a canvas or as terminal text: the penalty table, with a
 * fixed number of rows per page, then the latency staircase. */
#ifndef BENCH_PAGES_H
#define BENCH_PAGES_H

#include "bench/report/canvas.h"
#include "bench/results/document.h"
#include "pmu/text.h"

struct screen_pages {
	const struct document *d;
	unsigned columns, lines;   /* page size in characters: at least 40 and 8 */
};

/* Plot area of the staircase, in pixels: y grows downwards, x = left is STAIRCASE_FROM bytes, y = bottom is one cycle. Both axes are logarithmic. */
struct plot { unsigned left, right, top, bottom; };

unsigned screen_pages_count(const struct screen_pages *p);
/* "Penalty table, rows 1 to 40 of 160". */
void screen_pages_title(const struct screen_pages *p, unsigned page, struct text *t);
/* Below it on each page: whether the machine is simulated and the user stopped the run, how many rows of each status, backend and processor. */
void screen_pages_subtitle(const struct screen_pages *p, struct text *t);
/* The page as lines of at most `columns` characters. */
void screen_pages_text(const struct screen_pages *p, unsigned page, struct text *t);
/* Draws the page between the pixel lines top and bottom of the canvas, which must be cleared to ground. */
void screen_pages_draw(const struct screen_pages *p, unsigned page, struct canvas *c, unsigned top, unsigned bottom);
struct plot screen_pages_plot(const struct canvas *c, unsigned top, unsigned bottom);

#endif
