/* bench/suite/boot_variance.h: the same run over several boots: how far its values lie apart. */
#ifndef BENCH_BOOTS_H
#define BENCH_BOOTS_H

#include "bench/catalogue/result.h"

#define BOOT_VARIANCE_RUNS 99
#define BOOT_VARIANCE_ROWS 512
#define BOOT_VARIANCE_TEXT (1u << 20)

struct boot_variance {
	char runs[BOOT_VARIANCE_RUNS][96];
	unsigned run_count;
	struct { unsigned count, ok; int64_t values[BOOT_VARIANCE_RUNS]; } rows[BOOT_VARIANCE_ROWS]; /* as in the table of rows */
};

/* Takes the rows of a run's journal; lines that are damaged are left out. */
void boot_variance_add(struct boot_variance *b, const char *run, const char *journal, size_t bytes);
/* Per row: in how many boots it has a value and was ok; median, median absolute deviation, least and most. */
void boot_variance_json(struct text *t, const struct boot_variance *b);
void boot_variance_csv(struct text *t, const struct boot_variance *b);

#endif
