/* tests/unit/support/memory_host.h: a struct suite_host that keeps files in memory. */
#ifndef TESTS_MEMORY_HOST_H
#define TESTS_MEMORY_HOST_H

#include "bench/suite/suite.h"

#define MEMORY_RESULTS_MAX 320

struct memory_file { char name[64]; char *bytes; size_t n; };

struct memory_host {
	struct suite_host host;       /* argument of suite_run */
	struct memory_file files[8];
	unsigned file_count;
	struct row_result results[MEMORY_RESULTS_MAX];
	unsigned result_count;
	unsigned stop_after;          /* rows; 0: never */
	enum status append_status, write_status; /* returned by append and write; ST_OK: they work */
	size_t taken;                 /* bytes of work memory not yet returned */
};

void memory_host_init(struct memory_host *h);
void memory_host_free(struct memory_host *h);
/* A file's text, terminated; NULL if it was not written. */
const char *memory_host_file(const struct memory_host *h, const char *name);
/* The result of a row; NULL if it did not run. */
const struct row_result *memory_host_result(const struct memory_host *h, const char *name);
/* NULL if the text is one JSON value (RFC 8259), otherwise the position of the error. */
const char *json_problem(const char *text);

#endif
