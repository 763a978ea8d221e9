/* bench/report/canvas.h: a picture in memory: rectangles and text, for the machine's own screen.
 *
 * Pixels are 32 bits, 0x00RRGGBB. Whatever lies outside the picture is left out. The font is tables/fonts/spleen-8x16.txt:
 * the printable characters of ASCII; others appear as '?'. */
#ifndef BENCH_CANVAS_H
#define BENCH_CANVAS_H

#include "pmu/base.h"

#define FONT_CHARACTERS 95u
#define FONT_HEIGHT 16u
#define FONT_WIDTH  8u
extern const uint8_t canvas_font[FONT_CHARACTERS][FONT_HEIGHT];

struct canvas {
	uint32_t *at;
	unsigned width, height;
	unsigned scale;            /* pixels of the screen a pixel of the font */
};

/* The colours of the report's dark scheme. */
#define COLOUR_GROUND 0x16181Cu
#define COLOUR_TEXT   0xEAEAEAu
#define COLOUR_DIM    0xB8B8B8u
#define COLOUR_LINE   0x4A4D55u
#define COLOUR_BAR    0x63A4E8u
#define COLOUR_MARK   0xE0A84Au
#define COLOUR_OK     0x7FD69Bu
#define COLOUR_WARN   0xF0B860u
#define COLOUR_BAD    0xFF9A9Au

/* A picture of width * height pixels at `at`; its font is doubled from 1,920 pixels on, and so on. */
void canvas_init(struct canvas *c, uint32_t *at, unsigned width, unsigned height);
/* Width and height of a character. */
unsigned canvas_column(const struct canvas *c);
unsigned canvas_line(const struct canvas *c);
void canvas_fill(struct canvas *c, unsigned x, unsigned y, unsigned width, unsigned height, uint32_t colour);
/* n characters of s, or up to its end, or to the edge, over what is there. Returns the x behind it. */
unsigned canvas_text(struct canvas *c, unsigned x, unsigned y, uint32_t colour, const char *s, size_t n);
/* Moves what is below `from` (to `to`, both y) up by `by` lines of pixels; what becomes free is ground. */
void canvas_scroll(struct canvas *c, unsigned from, unsigned to, unsigned by);

#endif
