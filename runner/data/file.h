/* runner/data/file.h: reads whole files. */
#ifndef RUNNER_FILE_H
#define RUNNER_FILE_H

#include "pmu/base.h"

/* Reads a whole file of at most `most` bytes; *text is terminated, and the caller frees it. On failure `problem` gets one
 * line, "FILE: why". */
MUST_CHECK enum status file_read(const char *path, size_t most, char **text, size_t *bytes, char *problem,
                                 size_t capacity);

#endif
