/* runner/data/reader.h: reads and checks results.json and journal.jsonl of any run.
 *
 * libjansson parses JSON. The files come from other machines and other versions, may be truncated by a power cut, or may not be
 * results at all. results/SCHEMA.md has the schema. */
#ifndef RUNNER_READER_H
#define RUNNER_READER_H

#include "bench/results/document.h"

struct results {
	struct document d;      /* in the form of results.json, even if a journal was read */
	char path[1024];        /* the file that was read */
	char note[400];         /* what is missing: "cut short ..."; "" if it is complete */
	bool journal, cut;      /* read from a journal; the journal has no end */
	void *nodes, *strings;
};

#define RESULTS_BYTES_MOST (64u << 20)

/* Reads PATH: a results.json, a journal.jsonl, or a run's directory (its results.json, else its journal.jsonl). A journal
 * is read up to its last complete line. On failure `problem` is one line with the file, the place in it and the reason, and
 * nothing has to be freed: ST_SYNTAX (not JSON), ST_RANGE (impossible numbers, an unknown version), ST_MISSING (no such file,
 * a missing key), ST_FULL, ST_IO. */
MUST_CHECK enum status reader_read(struct results *r, const char *path, char *problem, size_t capacity);
enum reader_form { READER_DOCUMENT, READER_JOURNAL };
/* The same from text, a document or lines of a journal; `name` is used in problems. */
MUST_CHECK enum status reader_parse(struct results *r, const char *text, size_t bytes, enum reader_form form, const char *name,
                                     char *problem, size_t capacity);
void reader_free(struct results *r);

/* Checks that the document's contents are possible; if not, `problem` is one line with the place ("rows[3].value") and the reason. ST_OK,
 * ST_RANGE, ST_MISSING. */
MUST_CHECK enum status reader_check(const struct document *d, char *problem, size_t capacity);

#endif
