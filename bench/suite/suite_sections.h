/* bench/suite/suite_sections.h: the sections of a suite beside its rows: the accounting of each workload, and the check of which events count
 * right (trust). They are selected by name like rows and belong to the full suite. */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H

#include "bench/results/writer.h"
#include "bench/suite/suite.h"
#include "bench/workloads/workload_account.h"

/* Whether the row feeds an accounting that was selected by name: then it is measured too. */
bool suite_section_wants_row(const struct suite_settings *s, const struct row *r);
/* Runs the selected sections after the rows. */
void suite_sections_run(struct writer *w, struct bench *b, const struct suite_settings *s);

#endif
