/* bench/results/table.h: the penalty table as text, for screen, serial line and the host command. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "bench/results/report.h"

/* From the results of suite_run as row_done gave them. */
void table_head(struct text *t);
void table_line(struct text *t, const struct row_result *r);
/* What stands above the table: build, machine, backend, and in plain words when it is simulated. */
void table_title(struct text *t, const struct access *a, const struct cpu *cpu);
/* What stands below it: how many rows gave what, and where results could not be written. */
void table_summary(struct text *t, const struct access *a, const struct suite_summary *s);

#endif
