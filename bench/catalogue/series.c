/* bench/catalogue/series.c: see series.h. */
#include "bench/catalogue/series.h"

#define GIGA 1000000000

void series_add(struct series *s, const int64_t *milli)
{
	if (s->points == SERIES_POINTS)
		return;
	for (unsigned c = 0; c < s->column_count; c++)
		s->milli[s->points][c] = milli[c];
	s->points++;
}

void series_json(struct text *t, const struct series *s)
{
	text_fmt(t, "{\"columns\": [");
	for (unsigned c = 0; c < s->column_count; c++)
		text_fmt(t, "%s\"%s\"", c ? ", " : "", s->columns[c]);
	text_fmt(t, "], \"points\": [");
	for (unsigned p = 0; p < s->points; p++) {
		for (unsigned c = 0; c < s->column_count; c++) {
			text_fmt(t, c ? ", " : p ? ", [" : "[");
			text_fixed(t, s->milli[p][c], 3);
		}
		text_char(t, ']');
	}
	text_fmt(t, "]}");
}

const char *curve_plateau_name(unsigned plateau)
{
	static const char *const names[CURVE_PLATEAUS] = { [CURVE_PLATEAU_L2] = "l2", [CURVE_PLATEAU_L3] = "l3", [CURVE_PLATEAU_MEMORY] = "dram" };

	return plateau < CURVE_PLATEAUS ? names[plateau] : NULL;
}

static void column_name(struct text *t, const char *name)
{
	text_fmt(t, "%s", str_equal(name, "bytes_per_second") ? "GB/s" : name);
}

void series_table_line(struct text *t, const struct series *s)
{
	if (!s->points)
		return;
	text_fmt(t, "  ");
	for (unsigned c = 0; c < s->column_count; c++) {
		text_fmt(t, c ? ":" : "");
		column_name(t, s->columns[c]);
	}
	for (unsigned p = 0; p < s->points; p++)
		for (unsigned c = 0; c < s->column_count; c++) {
			bool rate = str_equal(s->columns[c], "bytes_per_second");

			text_char(t, c ? ':' : ' ');
			if (s->milli[p][c] % 1000 == 0 && !rate)
				text_fmt(t, "%lld", (long long)(s->milli[p][c] / 1000));
			else
				text_fixed(t, rate ? (s->milli[p][c] + GIGA / 2) / GIGA : s->milli[p][c], 3); /* rates are positive */
		}
	text_char(t, '\n');
}
