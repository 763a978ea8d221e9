/* bench/measure/host.h: what the place of running supplies: files, memory, a screen, a key to stop. efi/ and runner/ fill it in. */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include "bench/catalogue/result.h"

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

#endif
