/* runner/host/tasks.c: see tasks.h.
 *
 * A process forked at the start, the spawner, does nothing but fork one process a task: a task that starts late begins with the memory of that
 * moment too. The spawner writes the number of each task that has ended to a pipe. */
#include "runner/host/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum task_state { TASK_OPEN, TASK_DONE, TASK_LOST };

#define ALIGNED(n) (((n) + 4095) & ~(size_t)4095)

static unsigned char *result_of(const struct tasks *t, unsigned i) { return t->shared + ALIGNED(t->count) + i * t->bytes; }

/* A process ends as soon as the one that it was forked from has. */
static void end_with(pid_t from)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != from)
		_exit(1);
}

/* Waits for one process; writes its task's number. */
static void reap(const struct tasks *t, pid_t *of, int to)
{
	int how;
	const pid_t ended = wait(&how);

	for (unsigned i = 0; ended > 0 && i < t->count; i++)
		if (of[i] == ended) {
			of[i] = 0;
			t->shared[i] = WIFEXITED(how) && WEXITSTATUS(how) == 0 ? TASK_DONE : TASK_LOST;
			if (write(to, &i, sizeof(i)) != sizeof(i))
				_exit(1);
		}
}

static void run_spawner(const struct tasks *t, void (*task)(void *context, unsigned i, void *to), void *context, int to)
{
	const pid_t self = getpid();
	pid_t *of = calloc(t->count, sizeof(*of));
	unsigned running = 0;

	for (unsigned i = 0; of && i < t->count; i++) {
		for (; running >= t->at_once; running--)
			reap(t, of, to);
		const pid_t child = fork();
		if (child == 0) {
			end_with(self);
			task(context, i, result_of(t, i));
			_exit(0);
		}
		if (child < 0)
			break; /* the tasks from here on are lost: the pipe's end says so */
		of[i] = child;
		running++;
	}
	for (; running; running--)
		reap(t, of, to);
	_exit(0);
}

enum status tasks_start(void *tasks, unsigned count, size_t bytes, void (*task)(void *context, unsigned i, void *to), void *context)
{
	struct tasks *t = tasks;
	const pid_t self = getpid();
	int ends[2];

	t->count = count;
	t->bytes = ALIGNED(bytes);
	t->shared_bytes = ALIGNED(count) + count * t->bytes;
	t->spawner = 0;
	t->shared = mmap(NULL, t->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (t->shared == MAP_FAILED)
		return ST_FULL;
	if (pipe2(ends, O_CLOEXEC)) {
		munmap(t->shared, t->shared_bytes);
		return ST_FULL;
	}
	t->ended = ends[0];
	fflush(NULL); /* else each process would write it */
	t->spawner = fork();
	if (t->spawner == 0) {
		end_with(self);
		(void)setpgid(0, 0); /* Ctrl-C is for the process that writes the results: it lets the row in progress end */
		close(ends[0]);
		run_spawner(t, task, context, ends[1]);
	}
	close(ends[1]);
	if (t->spawner > 0)
		return ST_OK;
	t->spawner = 0;
	tasks_end(t);
	return ST_FULL;
}

const void *tasks_wait(void *tasks, unsigned i)
{
	const struct tasks *t = tasks;

	while (t->shared[i] == TASK_OPEN) {
		unsigned ended;
		const ssize_t n = read(t->ended, &ended, sizeof(ended));
		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(ended))
			break;
	}
	return t->shared[i] == TASK_DONE ? result_of(t, i) : NULL;
}

void tasks_end(void *tasks)
{
	struct tasks *t = tasks;

	if (t->spawner > 0) {
		kill(t->spawner, SIGKILL); /* its tasks end with it */
		while (waitpid(t->spawner, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(t->ended);
	munmap(t->shared, t->shared_bytes);
	t->spawner = 0;
}
