/* bench/suite/boot_variance.h: variance of the same run over several boots. */
#ifndef BENCH_BOOTS_H
#define BENCH_BOOTS_H

#include "bench/catalogue/result.h"

#define BOOT_VARIANCE_RUNS 99
#define BOOT_VARIANCE_ROWS 1024
#define BOOT_VARIANCE_TEXT (1u << 20)

struct boot_variance {
	char runs[BOOT_VARIANCE_RUNS][96];
	unsigned run_count;
	struct { unsigned count, ok; int64_t values[BOOT_VARIANCE_RUNS]; } rows[BOOT_VARIANCE_ROWS]; /* indexed like the table of rows, once for each of core_kind_names */
};

/* Adds the rows of a run's journal; skips damaged lines. */
void boot_variance_add(struct boot_variance *b, const char *run, const char *journal, size_t bytes);
/* Per row: number of boots with a value, number of boots that were ok; median, median absolute deviation, minimum and maximum. */
void boot_variance_json(struct text *t, const struct boot_variance *b);
void boot_variance_csv(struct text *t, const struct boot_variance *b);

#endif
