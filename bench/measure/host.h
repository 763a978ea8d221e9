/* bench/measure/host.h: services of the platform that runs the suite: files, memory, screen, stop key. efi/ and runner/ implement them. */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include "bench/catalogue/result.h"

/* One line of the environment block: facts that differ between platforms. */
struct environment_line { const char *key, *value; };

#define SUITE_STUDY_NAME "precise sampling and last-branch records"

struct progress {
	const struct row *row;    /* NULL: a section after the rows */
	const char *part;         /* name of that section; NULL: the study of the full suite */
	unsigned done, total;     /* rows */
	uint64_t work_done, work_total; /* in instructions of the budgets, to estimate the time left */
};

/* Name of the row or section in progress. */
static inline const char *progress_name(const struct progress *p)
{
	return p->row ? p->row->name : p->part ? p->part : SUITE_STUDY_NAME;
}

/* Services of the platform. */
struct suite_host {
	void *self;
	/* Files of this run's own directory. append adds bytes and flushes them before it returns. write replaces the whole file: it writes under a
	 * temporary name, then renames. */
	enum status (*append)(void *self, const char *name, const void *bytes, size_t n);
	enum status (*write)(void *self, const char *name, const void *bytes, size_t n);
	void (*progress)(void *self, const struct progress *p);
	void (*row_done)(void *self, const struct row_result *r); /* a line for screen and log */
	void (*print)(void *self, const char *lines);               /* other lines for screen and log; may be NULL */
	bool (*stop)(void *self);                                 /* Ctrl-C, Esc */
	void (*working)(void *self);                              /* between windows of a row, many times a second; may be NULL */
	void *(*get)(void *self, size_t bytes);                   /* zeroed work memory, or NULL */
	void (*put)(void *self, void *at, size_t bytes);
	/* The journal that earlier boots of this run (suite_key) left, in whole lines; NULL: a new run. Completed rows are taken from it, a row that
	 * only began is `crashed` and skipped, the others run. */
	const char *journal;
	size_t journal_bytes;
	const struct environment_line *environment;
	unsigned environment_lines;
	/* Processes of their own for rows of several cores (bench/suite/row_tasks.h). tasks_start: each task begins on the machine as it is now and
	 * fills in `bytes` at `to`. tasks_wait: what task i filled in; NULL: its process ended before. tasks_end: ends those still at work. All NULL:
	 * rows run one after the other. */
	void *tasks;
	enum status (*tasks_start)(void *tasks, unsigned count, size_t bytes, void (*task)(void *context, unsigned i, void *to), void *context);
	const void *(*tasks_wait)(void *tasks, unsigned i);
	void (*tasks_end)(void *tasks);
};

#endif
