/* runner/host/backend.h: opens the machine that a subcommand measures, simulated or this one. */
#ifndef RUNNER_BACKEND_H
#define RUNNER_BACKEND_H

#include "pmu/access.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/sim/backend/sim.h"
#include "runner/host/native.h"

/* Reads a simulated machine by its built-in name or from a file (a name with '/' or '.', or a file's name that is not built in).
 * The event map that it names may be a file in the same folder; its memory is never freed.
 * `problem` gets one line if there is no such machine, or if the file is wrong. */
MUST_CHECK enum status backend_machine(const char *name, struct machine *m, char *problem, size_t capacity);

struct backend {
	const struct access *access;
	struct native *native; /* either this one or `sim` is open */
	struct sim *sim;
	char stem[64];         /* name of its run directories: product and a short machine id */
};

/* m: the simulated machine, NULL for this one. `problem` gets one line on failure. */
MUST_CHECK enum status backend_open(struct backend *b, const struct machine *m, char *problem, size_t capacity);
void backend_close(struct backend *b);

/* Zeroed pages of this process, allocated lazily; memory for the suite and the simulator. */
void *backend_pages_get(void *self, size_t bytes);
void backend_pages_put(void *self, void *at, size_t bytes);

/* One line of /sys/class/dmi/id/WHAT, trimmed; false if there is none. */
bool backend_dmi(const char *what, char *to, size_t capacity);

#endif
