/* bench/suite/suite_kinds.h: the kinds of cores of a machine, each with its own descriptor and guard; one kind if all cores are alike.
 *
 * Rows run on one kind after the other. Behind them, as a kind of its own, all cores together run what several cores do at once: without counters
 * and without a register that is written, since no descriptor holds of them all. */
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

/* Looks at the machine and takes what `wanted` names: "p", "e", "lpe", or "all" or "": every kind, of a profile, whose events are of one kind, the
 * first. Nothing is written yet. get and put: as of struct suite_host. ST_MISSING: it has no cores of that kind; ST_FULL: no memory; else that of
 * cpu_identify. Whatever it returns, suite_kinds_close comes after it. */
MUST_CHECK enum status suite_kinds_open(struct suite_kinds *k, const struct access *a, const char *wanted, const struct suite_settings *s,
                                        const struct suite_host *host);
/* Checks the settings against each kind, as suite_check_processor and suite_check_cpuset do. */
MUST_CHECK enum status suite_kinds_check(const struct suite_kinds *k, const struct suite_settings *s, char *problem, size_t capacity);
/* "p: cores 0 to 7, e: cores 8 to 15; rows on p, e, all". False: all cores are alike. */
bool suite_kinds_text(const struct suite_kinds *k, const struct access *a, struct text *t);
/* Puts every register back, the last kind's first; the first failure's status. */
MUST_CHECK enum status suite_kinds_restore(struct suite_kinds *k);
/* Takes NULL too. */
void suite_kinds_close(struct suite_kinds *k);

#endif
