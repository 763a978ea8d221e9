/* bench/counting/stat_output.h: the counts as text for people, as CSV and as JSON. */
#ifndef BENCH_COUNTING_STAT_OUTPUT_H
#define BENCH_COUNTING_STAT_OUTPUT_H

#include "bench/counting/stat.h"

enum stat_format { STAT_TEXT, STAT_CSV, STAT_JSON };
enum stat_detail { STAT_SUM, STAT_BY_SOCKET, STAT_BY_BOX /* and by core */ };

/* What stands above everything: the machine, the workload, how often it ran. Of CSV the line of column names; of JSON nothing. */
void stat_head(struct text *t, const struct stat_plan *p, const struct stat_workload *w, enum stat_format f, bool intervals);
/* The counts of the whole run or of an interval. JSON: one object, a line of its own, for an interval. */
void stat_counts(struct text *t, const struct stat_result *r, enum stat_format f, enum stat_detail d, bool intervals);

#endif
