/* runner/data/rundir.h: one directory a run, and files in it that are whole or not there. */
#ifndef RUNNER_RUNDIR_H
#define RUNNER_RUNDIR_H

#include "pmu/base.h"

struct rundir {
	char path[1024];
	int fd; /* of the directory, -1 if there is none */
};

/* Makes PARENT/NAME-NNNN, NNNN one above the highest that is there; PARENT is made too. Never one that exists.
 * Characters of NAME that a FAT file name may not have become '-'. `problem` tells what failed. */
MUST_CHECK enum status rundir_make(struct rundir *d, const char *parent, const char *name, char *problem,
                                   size_t capacity);
/* Adds bytes to a file and has them on the device before it returns; what fits only in part is taken back. */
MUST_CHECK enum status rundir_append(struct rundir *d, const char *file, const void *bytes, size_t n);
/* Writes a whole file: under a temporary name, on the device, then renamed. */
MUST_CHECK enum status rundir_write(struct rundir *d, const char *file, const void *bytes, size_t n);
void rundir_close(struct rundir *d);

#endif
