/* bench/results/writer.h: writes the files of a run: the journal line by line, results.json and penalties.csv at the end. */
#ifndef BENCH_WRITER_H
#define BENCH_WRITER_H

#include "bench/workloads/profile.h"
#include "bench/results/report.h"
#include "bench/workloads/work.h"
#include "pmu/backend/core_kind.h"

#define KNOWN_PROGRAM_NAME "study" /* in the journal's start line; no row has this name */

#define PART_TRUST WORK_KINDS
#define SUITE_SECTIONS (WORK_KINDS + 1) /* sections beside the rows: bench/suite/suite_sections.h */
/* The section's name in its journal start line and in --suite: "account.latency_bound", "trust". */
const char *writer_section_name(unsigned section);

enum resumed_row { RESUMED_NOTHING, RESUMED_BEGUN, RESUMED_DONE };

/* The run's note of a written row. */
struct writer_note {
	size_t at, bytes;        /* its text within `json`; bytes = 0: not written */
	int64_t value_milli, spread_milli;
	int64_t plateau_milli[CURVE_PLATEAUS]; /* 0: it has none */
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
	unsigned kinds;          /* the number of kinds of cores for which there is room */
	bool comma;
	struct text accounting, trust, study; /* in the form of results.json; trust and study with their keys */
	struct json environment;
	/* of the kind of cores whose rows are written, writer_kind */
	unsigned kind;           /* in core_kind_names */
	uint8_t *earlier;        /* enum resumed_row of each row of the table */
	int64_t *penalty_milli;  /* of each row of the table, -1: none in this run */
	struct writer_note *notes; /* of each row of the table */
	uint8_t *part_earlier, *study_earlier; /* enum resumed_row of each section, and of the study of a known program */
	/* of all kinds of cores, one after the other: the arrays that the pointers above select from */
	uint8_t *all_earlier;
	int64_t *all_penalties;
	struct writer_note *all_notes;
	uint8_t all_parts[CORE_KIND_NAMES][SUITE_SECTIONS], all_studies[CORE_KIND_NAMES];
};

#define PROFILE_BYTES (16u << 20) /* all rows under a profile of 64 events */

/* Allocates room for rows of `kinds` kinds of cores, with `profile_bytes` for workloads. ST_FULL: no memory. The other functions keep the first file
 * error in out->files. */
MUST_CHECK enum status writer_open(struct writer *w, const struct access *a, const struct suite_host *host, struct suite_summary *out,
                                   size_t profile_bytes, unsigned kinds);
void writer_close(struct writer *w);
/* Starts a new run on n kinds: writes the head of the results and the first lines of the journal. Reads registers. */
void writer_head(struct writer *w, const struct suite_kind *kinds, unsigned n, const struct suite_settings *s, uint64_t seed, uint64_t key);
/* Selects the kind of cores of `a` for what is written from now on. */
void writer_kind(struct writer *w, const struct access *a);
/* The kind of cores after the @ of a name, in core_kind_names, 0: there is none; *base: the name before it. CORE_KIND_NAMES: no such kind. */
unsigned writer_kind_named(struct json name, struct json *base);
/* Whether `base`, as writer_kind_named found it, is that name. */
bool writer_is(struct json base, const char *name);
/* For writer_resume.c: writer_kind by the kind's number. */
void writer_view(struct writer *w, unsigned kind);
/* "NAME", or "NAME@KIND" with the kind that is written. */
void writer_name(const struct writer *w, struct text *t, const char *name);
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
/* The same from its JSON; not twice for a kind. */
void writer_study(struct writer *w, struct json study);
/* The journal's member that names the kind of cores of a section; nothing where all cores are alike. */
void writer_kind_member(const struct writer *w, struct text *line);
void writer_end(struct writer *w);
/* Rebuilds results.json and penalties.csv from a complete journal, as the run wrote them. ST_MISSING: no first or no end line; ST_SYNTAX: a
 * damaged line that no later boot of the run knew of. w->out->files: a file could not be written. */
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
