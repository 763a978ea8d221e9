/* Fuzzes the reader of perf stat's output: any bytes; what it accepts can be accounted, and terms are in order. max_len=768
 * seed_folder=tests/fuzz/seeds/counts */
#include <stdlib.h>
#include <string.h>

#include "runner/data/counts.h"
#include "runner/data/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct results r;
	static struct counts counts;
	static struct account a;
	char problem[1600] = "";
	if (!r.nodes && reader_read(&r, "tests/results/account.json", problem, sizeof(problem)) != ST_OK)
		abort();
	char *copy = malloc(size ? size : 1);
	memcpy(copy, data, size);
	counts.n = counts.files = 0;
	enum status st = counts_parse(&counts, copy, size, "f", problem, sizeof(problem));
	if (st != ST_OK && (!problem[0] || strchr(problem, '\n')))
		abort();
	struct account_counts get = counts_of(&counts);
	if (st == ST_OK && user_account_of(&r.d, &get, &a) == ST_OK)
		for (unsigned i = 0; i < stall_term_count; i++)
			if (a.terms[i].low > a.terms[i].high || a.terms[i].low < 0 || a.terms[i].charged > a.terms[i].high || a.terms[i].charged < 0 || a.retired < 0 || a.wasted < 0)
				abort();
	free(copy);
	return 0;
}
