/* tests/bench/likwid.h: the kernels of the likwid-bench that is installed here, as they are in its file. */
#ifndef TEST_LIKWID_H
#define TEST_LIKWID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* n: elements; the streams in likwid-bench's order, as many as the kernel has. */
typedef void likwid_kernel(uint64_t n, double *stream0, double *stream1, double *stream2);

/* A loaded likwid-bench. */
struct likwid { uint8_t *at; size_t bytes; };

/* Brings code and data of the program `path` into memory, nothing of which runs. False: no such file, or none that can be read (l->at is NULL). */
bool likwid_open(struct likwid *l, const char *path);
/* The kernel of a test, as `likwid-bench -a` names it; NULL: there is none. */
likwid_kernel *likwid_find(const struct likwid *l, const char *name);

#endif
