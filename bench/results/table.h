/* bench/results/table.h: the penalty table as text, for screen, serial line and the host command. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "bench/results/report.h"

/* The table's parts, from the results that row_done received. */
void table_head(struct text *t);
void table_line(struct text *t, const struct row_result *r);
/* Title above the table: build, machine, backend; states in plain words when the machine is simulated. */
void table_title(struct text *t, const struct access *a, const struct cpu *cpu);
/* Summary below the table: rows by status, and a failure to write results. */
void table_summary(struct text *t, const struct access *a, const struct suite_summary *s);

#endif
