/* tests/boot/firmware/picture.c: reads a dump of the guest's screen (binary PPM, 8 bits a colour).
 *
 *   picture text FONT PPM            the characters on it, a line each; '#' for what is no character of FONT
 *   picture column RRGGBB PPM X      all y of that colour in column X, on one line
 *   picture line RRGGBB PPM Y        all x of that colour in line Y, on one line
 *   picture size PPM                 width and height
 * FONT is tables/fonts/spleen-8x16.txt. Exit status 2: bad input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUND 0x16181C

struct picture { unsigned width, height; unsigned char *at; };

static void bad(const char *what)
{
	fprintf(stderr, "picture: %s\n", what);
	exit(2);
}

static struct picture read_picture(const char *path)
{
	struct picture p = {0};
	unsigned most = 0;
	FILE *f = fopen(path, "rb");
	if (!f || fscanf(f, "P6 %u %u %u", &p.width, &p.height, &most) != 3 || most != 255 || p.width > 16384 || p.height > 16384 || fgetc(f) != '\n')
		bad("no binary PPM");
	size_t bytes = (size_t)p.width * p.height * 3;
	p.at = malloc(bytes);
	if (!p.at || fread(p.at, 1, bytes, f) != bytes)
		bad("PPM is cut short");
	fclose(f);
	return p;
}

static unsigned long pixel(const struct picture *p, unsigned x, unsigned y)
{
	const unsigned char *at = p->at + ((size_t)y * p->width + x) * 3;
	return (unsigned long)at[0] << 16 | (unsigned long)at[1] << 8 | at[2];
}

static void text(const char *font, const struct picture *p)
{
	static unsigned char glyph[128][16];
	char line[256];
	FILE *f = fopen(font, "r");
	if (!f)
		bad("no font");
	while (fgets(line, sizeof(line), f)) {
		unsigned code, row;
		if (line[0] == '#')
			continue;
		if (sscanf(line, "%2x", &code) != 1 || code > 127 || strlen(line) < 35)
			bad("font");
		for (unsigned i = 0; i < 16; i++) {
			if (sscanf(line + 3 + 2 * i, "%2x", &row) != 1)
				bad("font");
			glyph[code][i] = (unsigned char)row;
		}
	}
	fclose(f);
	for (unsigned y = 0; y + 16 <= p->height; y += 16) {
		unsigned n = 0;
		for (unsigned x = 0; x + 8 <= p->width; x += 8) {
			unsigned char seen[16] = {0};
			int found = '#';
			for (unsigned i = 0; i < 16; i++)
				for (unsigned k = 0; k < 8; k++)
					if (pixel(p, x + k, y + i) != GROUND)
						seen[i] |= (unsigned char)(0x80 >> k);
			for (int c = '~'; c >= ' '; c--)
				if (!memcmp(glyph[c], seen, 16))
					found = c;
			line[n++ % sizeof(line)] = (char)found;
		}
		while (n && line[n - 1] == ' ')
			n--;
		printf("%.*s\n", (int)n, line);
	}
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "text")) {
		struct picture p = read_picture(argv[3]);
		if (p.width > 8 * 256)
			bad("too wide");
		text(argv[2], &p);
	} else if (argc == 5 && (!strcmp(argv[1], "column") || !strcmp(argv[1], "line"))) {
		struct picture p = read_picture(argv[3]);
		unsigned long colour = strtoul(argv[2], NULL, 16), at = strtoul(argv[4], NULL, 10);
		int column = argv[1][0] == 'c';
		if (at >= (column ? p.width : p.height))
			bad("outside");
		for (unsigned i = 0; i < (column ? p.height : p.width); i++)
			if ((column ? pixel(&p, (unsigned)at, i) : pixel(&p, i, (unsigned)at)) == colour)
				printf("%u ", i);
		putchar('\n');
	} else if (argc == 3 && !strcmp(argv[1], "size")) {
		struct picture p = read_picture(argv[2]);
		printf("%u %u\n", p.width, p.height);
	} else {
		bad("see the head of tests/boot/firmware/picture.c");
	}
	return 0;
}
