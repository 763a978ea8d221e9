/* Tasks in processes of their own: what they see, what they fill in, and what is left when they do not end. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runner/host/tasks.h"

#define TASKS 9u

struct outcome {
	unsigned number, seen;
	pid_t process;
};

static void note(void *context, unsigned i, void *to)
{
	const unsigned *memory = context;
	struct outcome *o = to;

	usleep(2000);
	*o = (struct outcome){ i, *memory, getpid() };
}

static void test_tasks_begin_with_the_memory_of_the_start(void **state)
{
	(void)state;
	for (unsigned at_once = 1; at_once <= 2 * TASKS; at_once *= 3) {
		struct tasks t = { .at_once = at_once };
		unsigned memory = 1;

		assert_int_equal(tasks_start(&t, TASKS, sizeof(struct outcome), note, &memory), ST_OK);
		memory = 2;
		for (unsigned i = TASKS; i-- > 0;) {
			const struct outcome *o = tasks_wait(&t, i);

			assert_non_null(o);
			assert_int_equal(o->number, i);
			assert_int_equal(o->seen, 1);
			assert_int_not_equal(o->process, getpid());
			for (unsigned j = i + 1; j < TASKS; j++)
				assert_int_not_equal(o->process, ((const struct outcome *)tasks_wait(&t, j))->process);
		}
		tasks_end(&t);
	}
}

static void some_die(void *context, unsigned i, void *to)
{
	if (i % 3 == 1)
		kill(getpid(), SIGKILL);
	if (i % 3 == 2)
		_exit(7);
	note(context, i, to);
}

static void test_tasks_that_die_are_told_from_the_others(void **state)
{
	(void)state;
	struct tasks t = { .at_once = 2 };
	unsigned memory = 5;

	assert_int_equal(tasks_start(&t, TASKS, sizeof(struct outcome), some_die, &memory), ST_OK);
	for (unsigned i = 0; i < TASKS; i++) {
		const struct outcome *o = tasks_wait(&t, i);

		assert_int_equal(o != NULL, i % 3 == 0);
		assert_true(!o || o->number == i);
	}
	tasks_end(&t);
}

/* Writes its process's number, then waits for ever. */
static void for_ever(void *context, unsigned i, void *to)
{
	const int *pipe_end = context;
	const pid_t self = getpid();

	(void)i, (void)to;
	if (write(*pipe_end, &self, sizeof(self)) == sizeof(self))
		for (;;)
			pause();
}

static void test_tasks_at_work_end_with_tasks_end(void **state)
{
	(void)state;
	struct tasks t = { .at_once = 2 };
	int ends[2];
	pid_t task[2];
	char none;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(tasks_start(&t, TASKS, 1, for_ever, &ends[1]), ST_OK);
	close(ends[1]);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(read(ends[0], &task[i], sizeof(task[i])), sizeof(task[i]));
	assert_int_not_equal(task[0], task[1]);
	tasks_end(&t);
	assert_int_equal(read(ends[0], &none, 1), 0); /* none has the other end any more */
	close(ends[0]);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tasks_begin_with_the_memory_of_the_start),
		cmocka_unit_test(test_tasks_that_die_are_told_from_the_others),
		cmocka_unit_test(test_tasks_at_work_end_with_tasks_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
