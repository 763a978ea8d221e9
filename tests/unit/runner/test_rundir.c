/* Run directories: numbers are not reused, files are written whole or not at all, and a full or vanished volume is a status. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "runner/data/rundir.h"

static char parent[64];

static int make_parent(void **state)
{
	(void)state;
	strcpy(parent, P_tmpdir "/stallmeter-test-XXXXXX");
	return mkdtemp(parent) ? 0 : -1;
}

static int remove_parent(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", parent);
	return system(command);
}

static size_t content(const struct rundir *d, const char *file, char *to, size_t capacity)
{
	char path[1200];
	snprintf(path, sizeof(path), "%s/%s", d->path, file);
	FILE *f = fopen(path, "r");
	if (!f)
		return SIZE_MAX;
	size_t n = fread(to, 1, capacity, f);
	fclose(f);
	return n;
}

static void test_rundir_counts_up_and_never_reuses(void **state)
{
	struct rundir d;
	char problem[256], below[128], expected[160];
	(void)state;
	snprintf(below, sizeof(below), "%s/a/b", parent);
	for (unsigned i = 1; i <= 3; i++) {
		assert_int_equal(rundir_make(&d, below, "My Product/1-ab", problem, sizeof(problem)), ST_OK);
		snprintf(expected, sizeof(expected), "%s/My-Product-1-ab-%04u", below, i);
		assert_string_equal(d.path, expected);
		rundir_close(&d);
	}
	/* a gap is not filled: the name of a removed run is not reused while a later run exists */
	snprintf(expected, sizeof(expected), "%s/My-Product-1-ab-0002", below);
	assert_int_equal(rmdir(expected), 0);
	assert_int_equal(rundir_make(&d, below, "My Product/1-ab", problem, sizeof(problem)), ST_OK);
	snprintf(expected, sizeof(expected), "%s/My-Product-1-ab-0004", below);
	assert_string_equal(d.path, expected);
	rundir_close(&d);
	/* another machine's runs have their own numbers */
	assert_int_equal(rundir_make(&d, below, "My Product/1-ab-9", problem, sizeof(problem)), ST_OK);
	snprintf(expected, sizeof(expected), "%s/My-Product-1-ab-9-0001", below);
	assert_string_equal(d.path, expected);
	rundir_close(&d);
}

static void test_rundir_without_a_place_says_why(void **state)
{
	struct rundir d;
	char problem[256] = "";
	(void)state;
	assert_int_not_equal(rundir_make(&d, "/proc/nowhere/at/all", "x", problem, sizeof(problem)), ST_OK);
	assert_non_null(strstr(problem, "/proc/nowhere"));
	assert_int_equal(d.fd, -1);
}

static void test_rundir_append_adds_and_write_replaces_whole(void **state)
{
	struct rundir d;
	char problem[256], at[64];
	(void)state;
	assert_int_equal(rundir_make(&d, parent, "m", problem, sizeof(problem)), ST_OK);
	assert_int_equal(rundir_append(&d, "j", "one\n", 4), ST_OK);
	assert_int_equal(rundir_append(&d, "j", "two\n", 4), ST_OK);
	assert_int_equal(content(&d, "j", at, sizeof(at)), 8);
	assert_memory_equal(at, "one\ntwo\n", 8);
	assert_int_equal(rundir_write(&d, "r", "first", 5), ST_OK);
	assert_int_equal(rundir_write(&d, "r", "2nd", 3), ST_OK);
	assert_int_equal(content(&d, "r", at, sizeof(at)), 3);
	assert_int_equal(content(&d, "r.tmp", at, sizeof(at)), SIZE_MAX);
	rundir_close(&d);
}

/* A file-size limit stands for a full volume: write() takes a part, then fails. */
static void test_rundir_full_volume_leaves_whole_lines_and_old_files(void **state)
{
	struct rundir d;
	char problem[256], at[16384], big[8192];
	struct rlimit old, small;
	(void)state;
	memset(big, 'x', sizeof(big));
	assert_int_equal(rundir_make(&d, parent, "m", problem, sizeof(problem)), ST_OK);
	assert_int_equal(rundir_append(&d, "j", "line\n", 5), ST_OK);
	assert_int_equal(rundir_write(&d, "r", "old", 3), ST_OK);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 4096;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	enum status append = rundir_append(&d, "j", big, sizeof(big)), write = rundir_write(&d, "r", big, sizeof(big));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	assert_int_equal(append, ST_FULL);
	assert_int_equal(write, ST_FULL);
	assert_int_equal(content(&d, "j", at, sizeof(at)), 5);
	assert_memory_equal(at, "line\n", 5);
	assert_int_equal(content(&d, "r", at, sizeof(at)), 3);
	assert_memory_equal(at, "old", 3);
	assert_int_equal(content(&d, "r.tmp", at, sizeof(at)), SIZE_MAX);
	rundir_close(&d);
}

static void test_rundir_vanished_volume_is_a_status(void **state)
{
	struct rundir d;
	char problem[256];
	(void)state;
	assert_int_equal(rundir_make(&d, parent, "m", problem, sizeof(problem)), ST_OK);
	assert_int_equal(rmdir(d.path), 0);
	assert_int_not_equal(rundir_append(&d, "j", "x", 1), ST_OK);
	assert_int_not_equal(rundir_write(&d, "r", "x", 1), ST_OK);
	rundir_close(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rundir_counts_up_and_never_reuses, make_parent, remove_parent),
		cmocka_unit_test(test_rundir_without_a_place_says_why),
		cmocka_unit_test_setup_teardown(test_rundir_append_adds_and_write_replaces_whole, make_parent, remove_parent),
		cmocka_unit_test_setup_teardown(test_rundir_full_volume_leaves_whole_lines_and_old_files, make_parent,
		                                remove_parent),
		cmocka_unit_test_setup_teardown(test_rundir_vanished_volume_is_a_status, make_parent, remove_parent),
	};
	return cmocka_run_group_tests_name("rundir", tests, NULL, NULL);
}
