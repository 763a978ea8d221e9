/* Fuzzes the configuration's text and what it may hold: lines of keys, numbers, sizes, suites and expectations. max_len=512
 * seed_files=runner/stallmeter.ini */
#include <stdlib.h>
#include <string.h>

#include "bench/suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ini ini;
	enum status st;
	char problem[400] = "";
	char *copy = malloc(size + 1);
	memcpy(copy, data, size);
	copy[size] = 0;
	ini_init(&ini, copy, size);
	while ((st = ini_next(&ini)) == ST_OK) {
		uint64_t number;
		char value[256];
		if (ini.key < copy || ini.value + ini.value_length > copy + size || !ini.key_length)
			abort();
		if (parse_u64(ini.value, ini.value_length, &number) == ST_OK && !ini.value_length)
			abort();
		if (parse_bytes(ini.value, ini.value_length, &number) == ST_OK && !ini.value_length)
			abort();
		if (ini.value_length < sizeof(value)) {
			memcpy(value, ini.value, ini.value_length);
			value[ini.value_length] = 0;
			struct suite_settings s = {.suite = value};
			if (suite_check(&s, problem, sizeof(problem)) != ST_OK && !problem[0])
				abort();
		}
	}
	if (st == ST_SYNTAX && (!ini.problem || !ini.problem[0]))
		abort();
	struct suite_settings s = {.suite = "quick", .expect = copy};
	if (suite_check(&s, problem, sizeof(problem)) != ST_OK && !problem[0])
		abort();
	free(copy);
	return 0;
}
