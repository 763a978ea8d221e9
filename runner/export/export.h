/* runner/export/export.h: the formats of `stallmeter export`. */
#ifndef RUNNER_EXPORT_H
#define RUNNER_EXPORT_H

#include "bench/results/document.h"
#include "runner/options/command.h"

struct export { const struct command *c; const struct document *d; bool unproven; };

/* Each writes to standard output and reports on standard error what its format cannot hold. ST_MISSING: these results have
 * no data for it; the reason is reported in one line, and nothing is written. */
enum status export_retire_latency(const struct export *e);
enum status export_pmu_tools(const struct export *e);
enum status export_perf_metrics(const struct export *e);
enum status export_likwid(const struct export *e);
enum status export_hmat(const struct export *e);

/* Writes many runs as "ndjson", "sql" or "sql-copy": the operands are runs or folders of runs. Returns the exit status. */
int export_table(const struct command *c, const char *format, int operands, char **operand);

double export_number(const struct doc_node *n);
/* Whether the row has a value and is ok or noisy; with --unproven also if it is unproven. */
bool export_measured(const struct export *e, const struct doc_node *row);
const struct doc_node *export_rows(const struct document *d);
/* Prints a quoted CSV field. */
void export_csv_text(const char *s);

#endif
