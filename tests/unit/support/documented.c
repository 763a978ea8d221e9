#include "tests/unit/support/documented.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Copies the n-th cell of a table's line, trimmed; false if the line has fewer cells. */
static bool cell(const char *line, unsigned n, char *to, size_t capacity)
{
	for (unsigned i = 0; line && i <= n; i++)
		line = strchr(i ? line + 1 : line, '|');
	const char *end = line ? strchr(line + 1, '|') : NULL;
	if (!end || (size_t)(end - line) > capacity)
		return false;
	for (line++; line < end && *line == ' '; line++)
		;
	while (end > line && end[-1] == ' ')
		end--;
	memcpy(to, line, (size_t)(end - line));
	to[end - line] = 0;
	return true;
}

static unsigned column_named(const char *line, const char *column)
{
	char text[256];
	for (unsigned n = 1; cell(line, n, text, sizeof(text)); n++)
		if (!strcmp(text, column))
			return n;
	return 0;
}

static double number(const char *text, unsigned nth)
{
	for (;;) {
		text += strcspn(text, "+-0123456789");
		if (!*text || !nth--)
			return strtod(text, NULL);
		text += strspn(text, "+-.0123456789");
	}
}

double documented(const char *page, const char *row, const char *column, unsigned nth)
{
	char line[4096], text[256];
	unsigned at = 0;
	bool in_table = false;
	FILE *f = fopen(page, "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (line[0] != '|') {
			in_table = false;
			continue;
		}
		if (!in_table)
			at = column_named(line, column);
		in_table = true;
		if (at && cell(line, 0, text, sizeof(text)) && !strcmp(text, row) && cell(line, at, text, sizeof(text))) {
			fclose(f);
			return number(text, nth);
		}
	}
	fclose(f);
	fail_msg("%s: no table has a line %s with a column \"%s\"", page, row, column);
	return 0;
}
