/* bench/counting/stat_output.h: the counts as plain text, CSV and JSON. */
#ifndef BENCH_COUNTING_STAT_OUTPUT_H
#define BENCH_COUNTING_STAT_OUTPUT_H

#include "bench/counting/stat.h"

enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };
enum stat_detail { STAT_SUM, STAT_BY_SOCKET, STAT_BY_BOX /* and by core */ };

enum stat_span { STAT_WHOLE_RUN, STAT_INTERVALS };

/* The header: machine, workload, number of runs. CSV: the line of column names. JSON: nothing. */
void stat_head(struct text *t, const struct stat_plan *p, const struct stat_workload *w, enum stat_format f, enum stat_span span);
/* The counts of the whole run or of an interval. JSON: one object; for an interval, on a line of its own. */
void stat_counts(struct text *t, const struct stat_result *r, enum stat_format f, enum stat_detail d, enum stat_span span);

#endif
