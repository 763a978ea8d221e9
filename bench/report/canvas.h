/* bench/report/canvas.h: a framebuffer in memory with rectangles and text, for the machine's own screen.
 *
 * Pixels are 32 bits, 0x00RRGGBB. Drawing is clipped to the picture. The font is tables/fonts/spleen-8x16.txt: the printable characters of ASCII;
 * others appear as '?'. */
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
	unsigned scale;            /* screen pixels per font pixel */
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

/* A picture of width * height pixels at `at`. From a width of 1,920 pixels on, the font is enlarged by width / 960. */
void canvas_init(struct canvas *c, uint32_t *at, unsigned width, unsigned height);
/* Width and height of a character cell. */
unsigned canvas_column(const struct canvas *c);
unsigned canvas_line(const struct canvas *c);
void canvas_fill(struct canvas *c, unsigned x, unsigned y, unsigned width, unsigned height, uint32_t colour);
/* Draws n characters of s over the picture, up to the end of s or the picture's edge. Returns the x after the last one. */
unsigned canvas_text(struct canvas *c, unsigned x, unsigned y, uint32_t colour, const char *s, size_t n);
/* Scrolls the lines of pixels from y `from` to y `to` up by `by`; the vacated lines are cleared to ground. */
void canvas_scroll(struct canvas *c, unsigned from, unsigned to, unsigned by);

#endif
