/* More than 255 logical processors are distinguished by their x2APIC ids, run a row, and are written to machine.txt and read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/results/inventory.h"
#include "tests/unit/support/closed_loop.h"

#define SOCKETS 5u
#define CORES   52u

static void test_topology_has_all_of_more_than_255_processors(void **state)
{
	(void)state;
	static struct loop_run r;
	static struct inventory_read m;
	static char problem[200];
	static bool seen[4096];
	char number[8], *sockets, *text;
	snprintf(number, sizeof(number), "%u", SOCKETS);
	sockets = loop_changed(loop_built_in("skylake-sp"), "topology", "sockets", number);
	snprintf(number, sizeof(number), "%u", CORES);
	text = loop_changed(sockets, "topology", "cores", number);
	loop_open(&r, text);
	const struct access *a = sim_access(r.sim);
	assert_int_equal(a->cores, SOCKETS * CORES);
	loop_suite(&r, "load.l1.latency");
	assert_int_equal(r.host.results[0].status, ROW_OK);
	const char *file = memory_host_file(&r.host, "machine.txt");
	assert_non_null(file);
	assert_int_equal(inventory_text_read(&m, file, strlen(file), problem, sizeof(problem)), ST_OK);
	assert_int_equal(m.cores, SOCKETS * CORES);
	/* each id occurs once, some exceed the xAPIC's 8 bits, and a socket's cores are on its node */
	unsigned beyond = 0, core = 0;
	for (const char *line = strstr(file, "[core]\n") + 7; core < m.cores; line = strchr(line, '\n') + 1, core++) {
		unsigned n, id, node;
		assert_int_equal(sscanf(line, "%u = %u, node %u", &n, &id, &node), 3);
		assert_int_equal(n, core);
		assert_int_equal(node, core / CORES);
		assert_true(id < COUNT_OF(seen) && !seen[id]);
		seen[id] = true;
		beyond += id > 255;
	}
	assert_true(beyond > 0);
	loop_close(&r);
	free(text);
	free(sockets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_topology_has_all_of_more_than_255_processors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
