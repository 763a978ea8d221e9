/* bench/suite/suite_sections.h: what a suite runs beside rows: the accounting of each workload, and which events
 * count right (trust). Selected by name like rows; part of the full
 * suite. */
#ifndef BENCH_PARTS_H
#define BENCH_PARTS_H

#include "bench/results/writer.h"
#include "bench/suite/suite.h"
#include "bench/workloads/workload_account.h"

/* Whether an accounting was asked for by its own name: then the rows that feed it are measured as well. */
bool suite_section_wants_row(const struct suite_settings *s, const struct row *r);
/* Runs those that were asked for, behind the rows. */
void suite_sections_run(struct writer *w, struct bench *b, const struct suite_settings *s);

#endif
