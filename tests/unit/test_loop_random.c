/* The closed loop on machines that nobody thought of: what is drawn at random is found again.
 *
 * LOOP_SEED=N draws another series, LOOP_MACHINES=N that many, LOOP_FIRST=N from number N on, LOOP_ROWS=LIST runs
 * other rows than these. Streams are not among them: tests/expect has only bounds for what limits them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/closed_loop.h"
#include "tests/unit/machine_random.h"

#define SEED_PRESET 20090330
#define MACHINES_PRESET 20
#define ROWS_PRESET "load.l?.*,load.dram_local.*,tlb.dtlb_4k.*,tlb.stlb_walk_4k.*"
#define TEXT_BYTES 16384
/* A formula that most rows lack would prove nothing. */
#define ROWS_LEAST 9

static uint64_t setting(const char *name, uint64_t preset)
{
	const char *text = getenv(name);
	return text && *text ? strtoull(text, NULL, 0) : preset;
}

/* A machine that misses is kept as a file of its own, so that it can be run again. */
static void keep(const char *text, unsigned number)
{
	const char *out = getenv("OUT");
	char path[256];
	snprintf(path, sizeof(path), "%s/log/random-%u.machine", out && *out ? out : "out", number);
	FILE *f = fopen(path, "w");
	if (!f)
		return;
	fputs(text, f);
	fclose(f);
	fprintf(stderr, "kept as %s\n", path);
}

static void test_loop_random_machines_are_found_again(void **state)
{
	(void)state;
	uint64_t seed = setting("LOOP_SEED", SEED_PRESET);
	unsigned machines = (unsigned)setting("LOOP_MACHINES", MACHINES_PRESET), first = (unsigned)setting("LOOP_FIRST", 0);
	unsigned rows_met = 0, rows_judged = 0, bad = 0;
	static char text[TEXT_BYTES];
	static struct loop_run r;

	fprintf(stderr, "LOOP_SEED=%llu, %u machines from number %u\n", (unsigned long long)seed, machines, first);
	const char *rows_asked = getenv("LOOP_ROWS");
	for (unsigned n = first; n < first + machines; n++) {
		unsigned missed;
		machine_random(seed, n, text, sizeof(text));
		loop_open(&r, text);
		clock_t begin = clock();
		loop_suite(&r, rows_asked ? rows_asked : ROWS_PRESET);
		if (clock() - begin > 5 * CLOCKS_PER_SEC)
			fprintf(stderr, "machine %u took %ld s, %llu instructions\n", n, (long)((clock() - begin) / CLOCKS_PER_SEC),
			        (unsigned long long)r.instructions);
		unsigned met = loop_meets(&r, text, &missed);
		rows_met += met;
		if (missed) {
			fprintf(stderr, "machine %u: %u rows miss\n", n, missed);
			keep(text, n);
			bad++;
		}
		rows_judged += met + missed;
		loop_close(&r);
	}
	fprintf(stderr, "%u machines, %u rows found again, %u machines with a miss\n", machines, rows_met, bad);
	assert_int_equal(bad, 0);
	assert_true(rows_asked || rows_judged >= machines * ROWS_LEAST);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_loop_random_machines_are_found_again) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
