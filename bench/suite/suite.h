/* bench/suite/suite.h: runs rows of the benchmark table on a backend and writes what they gave.
 *
 * efi/ and runner/ call this, with the same arguments and the same results: what is written
 * outside the environment block depends on the backend's machine alone. */
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include "bench/uncore/boxes.h"
#include "bench/catalogue/row.h"
#include "bench/workloads/known_program.h"
#include "pmu/access.h"
#include "pmu/core/cpu.h"
#include "pmu/core/freq_lock.h"

/* Settings, from stallmeter.ini, UEFI load options or the command line. */
struct suite_settings {
	const char *suite;        /* "quick", "full", or a comma list of row names and globs */
	unsigned repetitions;     /* 0: the row's own */
	uint64_t seed;            /* 0: a fixed one, printed */
	const char *label;        /* the user's word for this run, "" if none */
	const char *expect;       /* text of an --expect file, NULL if none: "row = status" lines */
	const char *cores, *nodes; /* of rows of several: lists such as "0-3,8"; NULL or "": all */
	const char *profile;      /* a profile or a list of events: the rows' kernels are counted, not measured; NULL none */
};

/* One line of the environment block: facts that differ between places of running. */
struct environment_line { const char *key, *value; };

#define SUITE_STUDY_NAME "precise sampling and last-branch records"

struct progress {
	const struct row *row;    /* NULL: what follows the rows */
	const char *part;         /* its name; NULL: the study behind the rows of the full suite */
	unsigned done, total;     /* rows */
	uint64_t work_done, work_total; /* of the instruction budgets, to estimate the time left */
};

/* What is being run. */
static inline const char *progress_name(const struct progress *p)
{
	return p->row ? p->row->name : p->part ? p->part : SUITE_STUDY_NAME;
}

/* What the place of running supplies. */
struct suite_host {
	void *self;
	/* Files of this run's own directory. append: bytes added and flushed before it returns;
	 * write: the whole file, under a temporary name first, then renamed. */
	enum status (*append)(void *self, const char *name, const void *bytes, size_t n);
	enum status (*write)(void *self, const char *name, const void *bytes, size_t n);
	void (*progress)(void *self, const struct progress *p);
	void (*row_done)(void *self, const struct row_result *r); /* a line for screen and log */
	void (*say)(void *self, const char *lines);               /* other lines for screen and log; may be NULL */
	bool (*stop)(void *self);                                 /* Ctrl-C, Esc */
	void *(*get)(void *self, size_t bytes);                   /* zeroed work memory, or NULL */
	void (*put)(void *self, void *at, size_t bytes);
	/* What earlier boots of this same run (suite_key) left of its journal, whole lines; NULL: a new run. Rows that
	 * ended are taken from it, one that only began is `crashed` and skipped, the others run. */
	const char *journal;
	size_t journal_bytes;
	const struct environment_line *environment;
	unsigned environment_lines;
};

/* What happened in the windows of all rows of the run; of earlier boots up to the last row that ended. Those that an SMI, a change of the clock, heat or a modulated
 * clock touched were thrown away; one may have been touched by several. */
#define SMI_BINS 8
struct disturbances {
	uint32_t windows, clock, thermal, modulated;
	uint32_t smi[SMI_BINS]; /* windows by how many SMIs they met, the last without end; all 0 where SMIs are not counted */
};

struct suite_summary {
	struct disturbances disturbances;
	struct pins pins;         /* clocks that were kept where they are */
	struct box_types boxes;   /* of the uncore, as the rows found them */
	unsigned rows, by_status[ROW_STATUS_COUNT];
	unsigned unexpected;      /* simulated: neither ok nor an expected unsupported; else rows against --expect */
	bool stopped;             /* by the user; the files are valid */
	uint64_t instructions;    /* simulated ones of this boot, 0 on a real machine */
	unsigned boots;           /* it took: 1, and one for each time that it was resumed */
	struct known_program_result study; /* of the full suite, where there is a PMU */
	enum status files;        /* ST_OK, or why results could not be written */
};

/* Checks the settings against the tables: a name that matches no row is one line in `problem`. */
MUST_CHECK enum status suite_check(const struct suite_settings *s, char *problem, size_t capacity);
/* The same for what the processor must be able to count: ST_OK, or the name and the reason in `problem`. */
MUST_CHECK enum status suite_check_processor(const struct cpu *cpu, const struct suite_settings *s, char *problem, size_t capacity);
/* The same for cores and nodes that the machine must have. */
MUST_CHECK enum status suite_check_cpuset(const struct access *a, const struct suite_settings *s, char *problem, size_t capacity);
/* The rows that were asked for, as a list: s->suite or what stands for it. */
const char *suite_rows(const struct suite_settings *s);
/* Whether these settings take in the row. */
bool suite_selects(const struct suite_settings *s, const struct row *r);
/* Whether they take in something by this name that belongs to these suites (bits of enum suites). */
bool suite_selects_name(const struct suite_settings *s, const char *name, unsigned suites);
/* Runs them. ST_OK whatever the rows gave; another status when nothing could be run at all. */
MUST_CHECK enum status suite_run(const struct access *a, const struct cpu *cpu, const struct suite_settings *s,
                                 const struct suite_host *host, struct suite_summary *out);
/* Equal for runs that may go on in each other's journal: same build, machine and settings. In the journal's first line. */
uint64_t suite_key(const struct access *a, const struct cpu *cpu, const struct suite_settings *s);
/* results.json and penalties.csv from a journal that has its end, byte for byte as the run wrote them, by host->write
 * (get and put as well). ST_MISSING: no beginning or no end; ST_SYNTAX: a damaged line; or what writing gave. */
MUST_CHECK enum status suite_rebuild(const char *journal, size_t bytes, const struct suite_host *host);
/* What a run's directory is called before its number: PRODUCT-ID, the product as a file's name, the id 16 bits
 * of a hash of what stays the same on that machine. */
void suite_run_name(char *to, size_t capacity, const char *product, uint64_t identity);
/* The penalty table as text (for screen, serial and the host command), from the results of suite_run
 * as row_done gave them. */
void suite_table_head(struct text *t);
void suite_table_line(struct text *t, const struct row_result *r);
/* What stands above the table: build, machine, backend, and in plain words when it is simulated. */
void suite_table_title(struct text *t, const struct access *a, const struct cpu *cpu);
/* What stands below it: how many rows gave what, and where results could not be written. */
void suite_table_summary(struct text *t, const struct access *a, const struct suite_summary *s);

#endif
