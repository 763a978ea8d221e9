/* pmu/sim/machine/map_text.c: see map_text.h.
 *
 * Not modelled: quotes; a cell cannot contain its separator. */
#include "pmu/sim/machine/map_text.h"

bool map_same(const char *a, size_t n, const char *b, bool any_case)
{
	for (size_t i = 0; i < n; i++) {
		char c = any_case && b[i] >= 'A' && b[i] <= 'Z' ? (char)(b[i] - 'A' + 'a') : b[i];
		if (!b[i] || a[i] != c)
			return false;
	}
	return !b[n];
}

const struct map_name *map_find_name(const struct map_name *list, unsigned n, const char *at, size_t length, bool any_case)
{
	for (unsigned i = 0; i < n; i++)
		if (map_same(at, length, list[i].name, any_case))
			return &list[i];
	return NULL;
}

bool map_next_line(struct map_text *text, struct map_cell *line)
{
	while (text->at < text->end) {
		const char *start = text->at;
		while (text->at < text->end && *text->at != '\n')
			text->at++;
		*line = (struct map_cell){ start, (size_t)(text->at - start) };
		text->at += text->at < text->end;
		text->line++;
		while (line->length && (line->at[line->length - 1] == '\r' || line->at[line->length - 1] == ' '))
			line->length--;
		if (line->length && *line->at != '#')
			return true;
	}
	return false;
}

size_t map_lines(const char *text, size_t bytes)
{
	size_t lines = 1;
	for (size_t i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	return lines;
}

const char *map_keep(char **at, const struct map_cell *words)
{
	char *start = *at;
	memcpy(start, words->at, words->length);
	start[words->length] = 0;
	*at += words->length + 1;
	return start;
}

struct map_cell map_cut(struct map_cell *rest, char separator)
{
	struct map_cell c = { rest->at, 0 };
	while (c.length < rest->length && c.at[c.length] != separator)
		c.length++;
	const size_t used = c.length + (c.length < rest->length);
	rest->at += used;
	rest->length -= used;
	return c;
}
