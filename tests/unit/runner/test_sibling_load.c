/* Sibling load runs one thread of idle priority on each other core, and all of them end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "runner/host/sibling_load.h"
#include "runner/host/topology.h"

/* Counts this process's threads; *idle: those with idle priority that are bound to one processor; *own: one of these is bound to `not`. */
static unsigned threads(unsigned *idle, int not, bool *own)
{
	unsigned n = 0;
	DIR *d = opendir("/proc/self/task");
	assert_non_null(d);
	*idle = 0;
	*own = false;
	for (const struct dirent *e; (e = readdir(d));) {
		const pid_t thread = (pid_t)atoi(e->d_name);
		cpu_set_t set;
		if (!thread)
			continue;
		n++;
		if (sched_getscheduler(thread) != SCHED_IDLE || sched_getaffinity(thread, sizeof(set), &set) || CPU_COUNT(&set) != 1)
			continue;
		++*idle;
		*own |= CPU_ISSET(not, &set);
	}
	closedir(d);
	return n;
}

static void test_sibling_load_has_idle_priority_on_the_other_cores(void **state)
{
	(void)state;
	static struct topology t;
	struct sibling_load *c;
	unsigned idle = 0, looks = 0;
	bool own;
	assert_int_equal(topology_read(&t), ST_OK);
	const unsigned before = threads(&idle, t.cpu[0], &own);
	assert_int_equal(idle, 0);
	assert_int_equal(sibling_load_begin(&c), ST_OK);
	do { /* a thread lowers its own priority when it first runs */
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		assert_int_equal(threads(&idle, t.cpu[0], &own), before + t.cores - 1);
	} while (idle < t.cores - 1 && ++looks < 1000);
	assert_int_equal(idle, t.cores - 1);
	assert_false(own);
	sibling_load_end(c);
	for (looks = 0; threads(&idle, t.cpu[0], &own) > before && looks < 1000; looks++) /* the kernel wakes who joins a thread before it takes the thread from /proc */
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	assert_int_equal(threads(&idle, t.cpu[0], &own), before);
	sibling_load_end(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sibling_load_has_idle_priority_on_the_other_cores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
