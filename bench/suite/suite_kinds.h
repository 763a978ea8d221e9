/* bench/suite/suite_kinds.h: the kinds of cores of a machine, each with its own descriptor and guard; one kind if all cores are alike.
 *
 * Rows run on one kind after the other. After them, all cores together run rows of several cores, as a kind of its own: without counters and
 * without register writes, since no descriptor applies to all of them. */
#ifndef BENCH_SUITE_KINDS_H
#define BENCH_SUITE_KINDS_H

#include "bench/suite/suite.h"
#include "pmu/backend/core_kind.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/core/cpu.h"

#define SUITE_KINDS_MAX (CORE_KINDS_MAX + 1)

struct suite_kinds {
	unsigned count;
	struct suite_kind run[SUITE_KINDS_MAX]; /* for suite_run_kinds */
	struct suite_kind_layers {
		struct core_kind layer;
		struct msr_guard guard;
		struct msr_guard_saved *saved;
		size_t bytes; /* of `saved` */
		struct cpu cpu;
	} at[SUITE_KINDS_MAX];
	void *(*get)(void *self, size_t bytes);
	void (*put)(void *self, void *at, size_t bytes);
	void *self;
};

/* Identifies the machine's cores and opens the kinds that `wanted` names: "p", "e" or "lpe"; "all" or "": every kind, or for a profile, whose
 * events belong to one kind, the first. Nothing is written yet. get and put: as in struct suite_host. ST_MISSING: the machine has no cores of that
 * kind; ST_FULL: no memory; else the status of cpu_identify. Call suite_kinds_close whatever it returns. */
MUST_CHECK enum status suite_kinds_open(struct suite_kinds *k, const struct access *a, const char *wanted, const struct suite_settings *s,
                                        const struct suite_host *host);
/* Checks the settings against each kind, as suite_check_processor and suite_check_cpuset do. */
MUST_CHECK enum status suite_kinds_check(const struct suite_kinds *k, const struct suite_settings *s, char *problem, size_t capacity);
/* "p: cores 0 to 7, e: cores 8 to 15; rows on p, e, all". False: all cores are alike. */
bool suite_kinds_text(const struct suite_kinds *k, const struct access *a, struct text *t);
/* Restores every register, the last kind's first; returns the first failure's status. */
MUST_CHECK enum status suite_kinds_restore(struct suite_kinds *k);
/* k may be NULL. */
void suite_kinds_close(struct suite_kinds *k);

#endif
