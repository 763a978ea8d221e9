/* Fuzzes the reader of journals, cut and damaged anywhere: a tree of what whole lines say, or one line of why not. (What is drawn from
 * such trees is fuzz_results's.) max_len=1100
 * seed_folder=tests/fuzz/seeds/journal */
#include <stdlib.h>
#include <string.h>

#include "runner/data/reader.h"
#include "tests/fuzz/arena.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct results r;
	char problem[1600] = "";
	char *copy = malloc(size ? size : 1);
	arena_begin();
	memcpy(copy, data, size);
	enum status st = reader_parse(&r, copy, size, READER_JOURNAL, "f", problem, sizeof(problem));
	if (st == ST_OK) {
		if (doc_root(&r.d)->type != DOC_OBJECT || strchr(r.note, '\n') || (r.cut && !r.note[0]))
			abort();
		reader_free(&r);
	} else if (!problem[0] || strchr(problem, '\n'))
		abort();
	arena_end();
	free(copy);
	return 0;
}
