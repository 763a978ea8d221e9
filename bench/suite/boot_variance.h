/* bench/suite/boot_variance.h: the same run over several boots: how far its values lie apart. */
#ifndef BENCH_BOOTS_H
#define BENCH_BOOTS_H

#include "bench/catalogue/row.h"

#define BOOTS_RUNS 99
#define BOOTS_ROWS 512
#define BOOTS_TEXT (1u << 20)

struct boots {
	char runs[BOOTS_RUNS][96];
	unsigned run_count;
	struct { unsigned count, ok; int64_t values[BOOTS_RUNS]; } rows[BOOTS_ROWS]; /* as in the table of rows */
};

/* Takes the rows of a run's journal; lines that are damaged are left out. */
void boots_add(struct boots *b, const char *run, const char *journal, size_t bytes);
/* Per row: in how many boots it has a value and was ok; median, median absolute deviation, least and most. */
void boots_json(struct text *t, const struct boots *b);
void boots_csv(struct text *t, const struct boots *b);

#endif
