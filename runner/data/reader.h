/* runner/data/reader.h: results.json and journal.jsonl of any run, checked, in memory.
 *
 * JSON itself is libjansson's work. What is read here was written by other machines and other versions, or cut
 * short by a power cut, or is no result at all. The schema is in results/SCHEMA.md. */
#ifndef RUNNER_READER_H
#define RUNNER_READER_H

#include "bench/results/document.h"

struct results {
	struct document d;      /* as results.json, also when a journal was read */
	char path[1024];        /* the file that was read */
	char note[256];         /* what is missing: "cut short ...", "" if nothing is */
	bool journal, cut;      /* read from a journal; which has no end */
	void *nodes, *strings;
};

#define RESULTS_BYTES_MOST (64u << 20)

/* Reads PATH: a results.json, a journal.jsonl, or a run's directory (its results.json, else its journal.jsonl).
 * A journal is read up to its last whole line. Anything else than ST_OK leaves one line in `problem`, with the file,
 * the place in it and the reason, and nothing to free: ST_SYNTAX (no JSON), ST_RANGE (numbers that cannot be, an
 * unknown version), ST_MISSING (no such file, a key that must be there), ST_FULL, ST_IO. */
MUST_CHECK enum status results_read(struct results *r, const char *path, char *problem, size_t capacity);
/* The same from text; `name` is what problems call it. `journal`: lines of a journal. */
MUST_CHECK enum status results_parse(struct results *r, const char *text, size_t bytes, bool journal, const char *name,
                                     char *problem, size_t capacity);
void results_free(struct results *r);

/* Whether what stands in the document can be: 1 line with the place ("rows[3].value") and the reason if not.
 * ST_OK, ST_RANGE, ST_MISSING. */
MUST_CHECK enum status results_check(const struct document *d, char *problem, size_t capacity);

#endif
