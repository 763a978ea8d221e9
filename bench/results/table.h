/* bench/results/table.h: the penalty table as text, for screen, serial line and the host command. */
#ifndef BENCH_TABLE_H
#define BENCH_TABLE_H

#include "bench/results/report.h"

#define TABLE_COLUMNS 79u /* a terminal of 80 breaks no line */
#define TABLE_HANG    4u  /* indentation of continuation lines */
#define TABLE_REASONS 99u /* reasons with a number of their own */

/* What the table has printed so far. All zero at its beginning. */
struct table {
	bool proofs;                     /* below each row that is ok */
	unsigned reasons;
	uint64_t reason[TABLE_REASONS];  /* hashes of those that have a number */
};

/* The table's parts, from the results that row_done received. A reason that several rows share is printed below the first of them; the others show
 * its number after their verdict. */
void table_head(struct text *t);
void table_line(struct text *t, struct table *table, const struct row_result *r);
/* Title above the table: build, machine, backend; states in plain words when the machine is simulated. */
void table_title(struct text *t, const struct access *a, const struct cpu *cpu);
/* What is in progress, without an end of line: `[88/172] row: 12 s, about 80 s left`. before_ms: from the run's start to that row's; row_ms: since
 * then. Returns the part of the work that is done, in thousandths. */
unsigned table_progress(struct text *t, const struct progress *p, uint64_t before_ms, uint64_t row_ms);
/* Summary below the table: rows by status, and a failure to write results. */
void table_summary(struct text *t, const struct access *a, const struct suite_summary *s);

#endif
