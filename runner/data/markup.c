/* runner/data/markup.c: see markup.h. */
#include "runner/data/markup.h"

void markup_char(FILE *to, char c)
{
	switch (c) {
	case '<': fputs("&lt;", to); break;
	case '>': fputs("&gt;", to); break;
	case '&': fputs("&amp;", to); break;
	case '"': fputs("&quot;", to); break;
	default: putc(((unsigned char)c < ' ' && c != '\t' && c != '\n') || c == 0x7F ? '?' : c, to);
	}
}

void markup_text(FILE *to, const char *s)
{
	while (*s)
		markup_char(to, *s++);
}
