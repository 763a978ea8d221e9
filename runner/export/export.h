/* runner/export/export.h: the formats of `stallmeter export`. */
#ifndef RUNNER_EXPORT_H
#define RUNNER_EXPORT_H

#include "bench/results/document.h"
#include "runner/options/command.h"

struct export { const struct command *c; const struct document *d; bool unproven; };

/* Each writes to standard output and reports on standard error what its format cannot hold. ST_MISSING: these results have
 * nothing for it; one line says why, nothing is written. */
enum status export_retire_latency(const struct export *e);
enum status export_pmu_tools(const struct export *e);
enum status export_perf_metrics(const struct export *e);
enum status export_likwid(const struct export *e);
enum status export_hmat(const struct export *e);

/* Formats of many runs, "ndjson", "sql" and "sql-copy": the operands are runs or folders of them. The exit status. */
int export_table(const struct command *c, const char *format, int operands, char **operand);

double export_number(const struct doc_node *n);
/* Whether the row has a value and is proved, noisy ones included; with --unproven also if it is not proved. */
bool export_measured(const struct export *e, const struct doc_node *row);
const struct doc_node *export_rows(const struct document *d);
/* A quoted CSV field. */
void export_csv_text(const char *s);

#endif
