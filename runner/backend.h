/* runner/backend.h: opens what a subcommand measures on. */
#ifndef RUNNER_BACKEND_H
#define RUNNER_BACKEND_H

#include "pmu/access.h"
#include "runner/native.h"

struct backend {
	const struct access *access;
	struct native *native;
	char stem[64];         /* what a run directory on it is called: product and a short machine id */
};

/* Opens this machine. `problem` gets one line on failure. */
MUST_CHECK enum status backend_open(struct backend *b, char *problem, size_t capacity);
void backend_close(struct backend *b);

/* Zeroed pages of this process, sparse; what the suite works in. */
void *backend_pages_get(void *self, size_t bytes);
void backend_pages_put(void *self, void *at, size_t bytes);

/* One line of /sys/class/dmi/id/WHAT, trimmed; false if there is none. */
bool backend_dmi(const char *what, char *to, size_t capacity);

#endif
