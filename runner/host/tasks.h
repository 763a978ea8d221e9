/* runner/host/tasks.h: tasks in processes of their own, several at a time, each of which begins with a copy of this process's memory. */
#ifndef RUNNER_TASKS_H
#define RUNNER_TASKS_H

#include <sys/types.h>

#include "pmu/base.h"

struct tasks {
	unsigned at_once;       /* set by the caller: processes at a time */
	unsigned count;
	size_t bytes, shared_bytes;
	unsigned char *shared;  /* a byte a task, then what tasks fill in */
	pid_t spawner;          /* the process that all tasks are forked from; 0: none */
	int ended;              /* its pipe: the number of each task that has ended */
};

/* The functions are those of struct suite_host (bench/measure/host.h); `tasks` is a struct tasks.
 *
 * Starts `count` tasks in their order. task(context, i, to) runs in a process that sees this process's memory as it is now, whenever it starts, and
 * fills in `bytes` at `to`, zeroed before. Their processes end with this one. ST_FULL: no memory or no process. */
MUST_CHECK enum status tasks_start(void *tasks, unsigned count, size_t bytes, void (*task)(void *context, unsigned i, void *to), void *context);
/* Waits until task i has ended. What it filled in, valid until tasks_end; NULL: its process did not end by itself. */
const void *tasks_wait(void *tasks, unsigned i);
/* Ends the processes that still run, and gives the memory back. */
void tasks_end(void *tasks);

#endif
