/* bench/results/report.h: results as text: JSON for the journal and the results file, CSV, the table. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "bench/results/journal.h"
#include "bench/measure/host.h"
#include "bench/measure/noise_check.h"
#include "bench/results/settings.h"
#include "bench/uncore/boxes.h"
#include "bench/workloads/known_program.h"
#include "pmu/backend/core_kind.h"
#include "pmu/core/freq_lock.h"

#define RESULTS_VERSION 1

/* Summary of a run. */
struct suite_summary {
	struct disturbances disturbances;
	struct freq_locks locks;  /* locked clocks, of the kind of cores whose rows run */
	struct { const char *core_kind; struct freq_locks locks; } locks_before[CORE_KINDS_MAX]; /* of the kinds of cores whose rows ran before */
	unsigned kinds_before;
	const char *core_kind;    /* NULL: all cores are alike */
	unsigned last_level_nodes; /* memory nodes whose processors share a last level; bench/measure/cores.h */
	struct box_types boxes;   /* uncore boxes that the rows found */
	unsigned rows, by_status[ROW_STATUS_COUNT];
	unsigned unexpected;      /* simulated: rows that are neither ok nor unsupported as expected; else rows that differ from --expect */
	bool stopped;             /* by the user; the files are valid */
	uint64_t instructions;    /* simulated ones of this boot, 0 on a real machine */
	unsigned boots;           /* 1, plus one for each time that the run was resumed */
	struct known_program_result study; /* of the full suite, where there is a PMU */
	enum status files;        /* ST_OK, or why results could not be written */
};

/* A kind of cores with its own descriptor; its rows run after those of the kind before. */
struct suite_kind { const struct access *a; const struct cpu *cpu; };

/* The members of the results object that describe the run: schema, machine, settings, CPUID, registers. One member a line, without braces and
 * without a final comma. Reads registers: call it before the first write. */
void report_head(struct text *t, const struct access *a, const struct cpu *cpu, const struct suite_settings *s,
                 uint64_t seed);
/* A kind of cores: a JSON object with what report_head says of the machine. */
void report_kind(struct text *t, const struct access *a, const struct cpu *cpu);
/* The environment block: a JSON object. */
void report_environment(struct text *t, const struct suite_host *host);
/* One row: a JSON object on one line. */
void report_row(struct text *t, const struct access *a, const struct row_result *r);
/* "summary": a JSON object. */
void report_summary(struct text *t, const struct suite_summary *s);
/* penalties.csv: the header, and one line per row from the JSON that report_row wrote. `backend` as in results.json. */
void report_csv_head(struct text *t);
void report_csv_row(struct text *t, const char *backend, struct json row);
/* The commit of this build. */
const char *report_build(void);

#endif
