/* bench/results/writer.h: writes the files of a run: the journal line by line, results.json and penalties.csv at the end. */
#ifndef BENCH_WRITER_H
#define BENCH_WRITER_H

#include "bench/workloads/profile.h"
#include "bench/results/report.h"
#include "bench/workloads/work.h"

#define KNOWN_PROGRAM_NAME "study" /* in the journal's start line; no row has this name */

#define PART_TRUST WORK_KINDS
#define SUITE_SECTIONS (WORK_KINDS + 1) /* sections beside the rows: bench/suite/suite_sections.h */
/* The section's name in its journal start line and in --suite: "account.latency_bound", "trust". */
const char *writer_section_name(unsigned section);

enum earlier { EARLIER_NOTHING, EARLIER_BEGUN, EARLIER_DONE };

/* The run's note of a written row. */
struct writer_note {
	size_t at, bytes;        /* its text within `json`; bytes = 0: not written */
	int64_t value_milli, spread_milli;
	bool has_value;          /* ok, noisy or unproven, with a value */
	bool amended;
	bool odd;                /* not as expected */
	enum row_status status;
};

struct writer {
	const struct access *a;
	const struct suite_host *host;
	struct suite_summary *out;
	char backend[64];
	struct text json, csv;
	struct text profile;     /* workloads of a profile in the form of results.json; at = NULL: no room was requested */
	size_t json_bytes, profile_bytes;
	bool comma;
	/* of earlier boots */
	uint8_t *earlier;        /* enum earlier of each row of the table */
	int64_t *penalty_milli;  /* of each row of the table, -1: none in this run */
	struct writer_note *notes; /* of each row of the table */
	struct text accounting, trust; /* in the form of results.json */
	uint8_t part_earlier[SUITE_SECTIONS];
	bool known_program_begun;
	struct json study;       /* of the journal, bytes = 0: none yet */
	struct json environment;
};

#define PROFILE_BYTES (16u << 20) /* all rows under a profile of 64 events */

/* Allocates room, with `profile_bytes` for workloads. ST_FULL: no memory. The other functions keep the first file error in out->files. */
MUST_CHECK enum status writer_open(struct writer *w, const struct access *a, const struct suite_host *host, struct suite_summary *out,
                                   size_t profile_bytes);
void writer_close(struct writer *w);
/* Starts a new run: writes the head of the results and the first lines of the journal. Reads registers. */
void writer_head(struct writer *w, const struct cpu *cpu, const struct suite_settings *s, uint64_t seed, uint64_t key);
/* Resumes a run: takes the contents of host->journal and appends a line for this boot. False: its first line is damaged. */
bool writer_earlier(struct writer *w);
void writer_start(struct writer *w, const char *name);
/* `odd`: the row's status is unexpected. */
void writer_row(struct writer *w, const struct row_result *r, bool odd);
void writer_profile(struct writer *w, const struct profile_plan *plan, const struct profile_result *r, bool odd);
/* Gives a written row another status and reason in the journal, in results.json and penalties.csv and in the summary, and reports it. Only the
 * first amendment of a row takes effect. `odd`: the new status is unexpected. */
void writer_amend(struct writer *w, unsigned row, enum row_status status, const char *reason, bool odd);
void writer_known_program(struct writer *w, unsigned odd);
void writer_end(struct writer *w);
/* Rebuilds results.json and penalties.csv from a complete journal, as the run wrote them. ST_MISSING: no first or no end line; ST_SYNTAX: a
 * damaged line. w->out->files: a file could not be written. */
MUST_CHECK enum status writer_rebuild(struct writer *w, const char *journal, size_t bytes);

/* For suite_sections.c and writer_resume.c: notes a failure; appends a line to the journal; adds a section, a row or the workload of a profile to
 * the whole files; writes the whole files after the last row, with the given summary. */
void writer_failed(struct writer *w, enum status st);
void writer_journal(struct writer *w, const struct text *line);
void writer_part(struct writer *w, unsigned part, struct json json);
void writer_add_row(struct writer *w, struct json row);
/* writer_amend for a line that the journal already has: writes no journal line and reports nothing. False: no such row, or already amended. */
bool writer_take_amendment(struct writer *w, unsigned row, enum row_status status, struct json reason, bool odd);
void writer_add_profile(struct writer *w, struct json workload);
void writer_whole(struct writer *w, struct json summary);

#endif
