/* bench/report/canvas.c: see canvas.h. */
#include "bench/report/canvas.h"

#define DOUBLED_FROM 1920u

void canvas_init(struct canvas *c, uint32_t *at, unsigned width, unsigned height)
{
	*c = (struct canvas){ at, width, height, width < DOUBLED_FROM ? 1 : width / (DOUBLED_FROM / 2) };
	canvas_fill(c, 0, 0, width, height, COLOUR_GROUND);
}

unsigned canvas_column(const struct canvas *c)
{
	return FONT_WIDTH * c->scale;
}

unsigned canvas_line(const struct canvas *c)
{
	return FONT_HEIGHT * c->scale;
}

void canvas_fill(struct canvas *c, unsigned x, unsigned y, unsigned width, unsigned height, uint32_t colour)
{
	if (x >= c->width || y >= c->height)
		return;
	width = width > c->width - x ? c->width - x : width;
	height = height > c->height - y ? c->height - y : height;
	for (unsigned row = 0; row < height; row++) {
		uint32_t *at = c->at + (size_t)(y + row) * c->width + x;

		for (unsigned i = 0; i < width; i++)
			at[i] = colour;
	}
}

static void character(struct canvas *c, unsigned x, unsigned y, uint32_t colour, char ch)
{
	unsigned index = ch >= ' ' && ch <= '~' ? (unsigned)(ch - ' ') : '?' - ' ';
	const uint8_t *rows = canvas_font[index];

	for (unsigned row = 0; row < FONT_HEIGHT * c->scale; row++) {
		uint8_t bits = rows[row / c->scale];
		uint32_t *at = c->at + (size_t)(y + row) * c->width + x;

		for (unsigned i = 0; i < FONT_WIDTH * c->scale; i++)
			at[i] = bits & 0x80 >> i / c->scale ? colour : COLOUR_GROUND;
	}
}

unsigned canvas_text(struct canvas *c, unsigned x, unsigned y, uint32_t colour, const char *s, size_t n)
{
	unsigned w = canvas_column(c);

	if (y >= c->height || canvas_line(c) > c->height - y)
		return x;
	for (size_t i = 0; i < n && s[i] && x < c->width && w <= c->width - x; i++, x += w)
		character(c, x, y, colour, s[i]);
	return x;
}

void canvas_scroll(struct canvas *c, unsigned from, unsigned to, unsigned by)
{
	to = to > c->height ? c->height : to;
	if (from >= to)
		return;
	by = by > to - from ? to - from : by;
	for (unsigned y = from; y + by < to; y++)
		memcpy(c->at + (size_t)y * c->width, c->at + (size_t)(y + by) * c->width, (size_t)c->width * sizeof(*c->at));
	canvas_fill(c, 0, to - by, c->width, by, COLOUR_GROUND);
}
