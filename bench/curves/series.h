/* bench/curves/series.h: a row that is more than one number: a curve, or a value for each pair of nodes. */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include "pmu/base.h"
#include "pmu/text.h"

#define SERIES_COLUMNS 4
#define SERIES_POINTS 64

/* Numbers in thousandths, those of a column in one unit. */
struct series {
	const char *const *columns; /* names, "cores", "bytes_per_second"; NULL: the row has no series */
	unsigned column_count, points;
	int64_t milli[SERIES_POINTS][SERIES_COLUMNS];
};

/* A further point, nothing where there is no more room. */
void series_add(struct series *s, const int64_t *milli);
/* A JSON object: "columns" and "points". */
void series_json(struct text *t, const struct series *s);
/* A line under the table's, nothing without points. */
void series_table_line(struct text *t, const struct series *s);

#endif
