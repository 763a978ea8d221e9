/* runner/data/rundir.h: one directory per run, and files in it that are complete or absent. */
#ifndef RUNNER_RUNDIR_H
#define RUNNER_RUNDIR_H

#include "pmu/base.h"

struct rundir {
	char path[1024];
	int fd; /* of the directory, -1: none */
};

/* Creates PARENT/NAME-NNNN, NNNN one above the highest existing number, and PARENT if needed; never an existing one.
 * Characters of NAME that are not allowed in a FAT file name become '-'. `problem` tells what failed. */
MUST_CHECK enum status rundir_make(struct rundir *d, const char *parent, const char *name, char *problem,
                                   size_t capacity);
/* Appends bytes to a file and has them on the device before it returns; a partial write is undone. */
MUST_CHECK enum status rundir_append(struct rundir *d, const char *file, const void *bytes, size_t n);
/* Writes a whole file: under a temporary name, on the device, then renamed. */
MUST_CHECK enum status rundir_write(struct rundir *d, const char *file, const void *bytes, size_t n);
void rundir_close(struct rundir *d);

#endif
