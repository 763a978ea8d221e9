/* Fuzzes the reader of results: any bytes; what it accepts can be drawn, and a refusal is one line. max_len=1280
 * seed_folder=tests/fuzz/seeds/results */
#include <stdlib.h>
#include <string.h>

#include "bench/report/html.h"
#include "runner/data/reader.h"
#include "tests/fuzz/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char page[HTML_BYTES_MOST];
	struct results r;
	char problem[1600] = "";
	size_t bytes;
	char *copy = malloc(size ? size : 1);
	arena_begin();
	memcpy(copy, data, size);
	enum status st = reader_parse(&r, copy, size, READER_DOCUMENT, "f", problem, sizeof(problem));
	if (st == ST_OK) {
		if (html_report(&r.d, r.note, page, sizeof(page), &bytes) != ST_OK || bytes != strlen(page) || strstr(page, "<script"))
			abort();
		reader_free(&r);
	} else if (!problem[0] || strchr(problem, '\n'))
		abort();
	arena_end();
	free(copy);
	return 0;
}
