/* bench/catalogue/series.h: rows with more than one number: a curve, or a value for each pair of nodes. */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#include "bench/catalogue/result.h"

/* Adds a point; a full series drops it. */
void series_add(struct series *s, const int64_t *milli);
/* A JSON object: "columns" and "points". */
void series_json(struct text *t, const struct series *s);
/* The name of a staircase plateau in results: "l2", "l3", "dram"; NULL: no such plateau. */
const char *curve_plateau_name(unsigned plateau);
/* A line below the row's line in the table; nothing without points. */
void series_table_line(struct text *t, const struct series *s);

#endif
