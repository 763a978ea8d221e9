/* bench/results/document.h: a results object in memory, as a tree of values: the source of the report.
 *
 * The suite fills it from the text that it has just written, the host's reader from a validated file. So a report shows exactly the contents of
 * the results, on every platform. */
#ifndef BENCH_DOCUMENT_H
#define BENCH_DOCUMENT_H

#include "pmu/base.h"

enum doc_type { DOC_NULL, DOC_BOOL, DOC_NUMBER, DOC_STRING, DOC_LIST, DOC_OBJECT };

struct doc_node {
	enum doc_type type;
	bool truth;                /* DOC_BOOL */
	const char *key;           /* in an object, else "" */
	const char *string;        /* DOC_STRING: UTF-8; DOC_NUMBER: as it was written; else "" */
	int64_t milli;             /* DOC_NUMBER: in thousandths, saturated to int64_t */
	uint32_t first, next, count; /* first child, next sibling (0: none), number of children */
};

struct document {
	struct doc_node *nodes;    /* [0] is the null node that stands for missing values, [1] the root */
	uint32_t count, most;
	char *strings;
	size_t used, capacity;
};

/* Upper bounds of the memory for a document of `bytes` of JSON text. */
uint32_t document_nodes_most(const char *json, size_t bytes);
size_t document_strings_most(const char *json, size_t bytes);
void document_init(struct document *d, struct doc_node *nodes, uint32_t most, char *strings, size_t capacity);
/* Adds a node after the last child of `parent` (0: the root). ST_FULL. */
MUST_CHECK enum status document_add(struct document *d, uint32_t parent, uint32_t *last, enum doc_type type,
                                    const char *key, size_t key_length, uint32_t *out);
/* Copies n bytes and terminates them; NULL when they do not fit. */
const char *document_keep(struct document *d, const char *s, size_t n);
/* Fills an empty document from JSON text that this program wrote; the host reads foreign text with a library. ST_SYNTAX, ST_FULL, ST_RANGE
 * (nested deeper than 32). */
MUST_CHECK enum status document_parse(struct document *d, const char *json, size_t bytes);

/* Never NULL: a null node when there is none. */
const struct doc_node *doc_root(const struct document *d);
const struct doc_node *doc_get(const struct document *d, const struct doc_node *n, const char *key);
const struct doc_node *doc_first(const struct document *d, const struct doc_node *n);
/* The next sibling, or NULL; for (n = doc_begin(...); n; n = doc_next(...)). */
const struct doc_node *doc_begin(const struct document *d, const struct doc_node *n);
const struct doc_node *doc_next(const struct document *d, const struct doc_node *n);
/* "" unless a string; 0 unless a number; false unless true. */
const char *doc_string(const struct document *d, const struct doc_node *n, const char *key);
int64_t doc_milli(const struct document *d, const struct doc_node *n, const char *key);
int64_t doc_whole(const struct document *d, const struct doc_node *n, const char *key);
bool doc_true(const struct document *d, const struct doc_node *n, const char *key);
/* The row of that name, or a null node. */
const struct doc_node *doc_row(const struct document *d, const char *name);

#endif
