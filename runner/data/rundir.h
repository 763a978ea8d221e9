/* runner/data/rundir.h: one directory per run, whose files are complete or absent. */
#ifndef RUNNER_RUNDIR_H
#define RUNNER_RUNDIR_H

#include "pmu/base.h"

struct rundir {
	char path[1024];
	int fd; /* of the directory, -1: none */
};

/* Creates PARENT/NAME-NNNN, NNNN one above the highest existing number, and PARENT if needed; never reuses a directory.
 * Characters of NAME other than letters, digits and "-_." become '-'. `problem` tells what failed. */
MUST_CHECK enum status rundir_make(struct rundir *d, const char *parent, const char *name, char *problem,
                                   size_t capacity);
/* Appends bytes to a file, and returns when they are on the device; a partial write is undone. */
MUST_CHECK enum status rundir_append(struct rundir *d, const char *file, const void *bytes, size_t n);
/* Writes a whole file under a temporary name, syncs and renames it. */
MUST_CHECK enum status rundir_write(struct rundir *d, const char *file, const void *bytes, size_t n);
void rundir_close(struct rundir *d);

#endif
