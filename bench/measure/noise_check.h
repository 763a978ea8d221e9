/* bench/measure/noise_check.h: what may spoil a window, looked at before and behind it. */
#ifndef BENCH_DISTURBANCE_H
#define BENCH_DISTURBANCE_H

#include "pmu/base.h"

/* What happened in the windows of all rows of the run; of earlier boots up to the last row that ended. Those that an SMI, a change of the clock, heat or a modulated
 * clock touched were thrown away; one may have been touched by several. */
#define SMI_BINS 8
struct disturbances {
	uint32_t windows, clock, thermal, modulated;
	uint32_t smi[SMI_BINS]; /* windows by how many SMIs they met, the last without end; all 0 where SMIs are not counted */
};

/* What happened in a window that may spoil it: SMIs and the clock of the core. */
struct noise_check {
	bool smi_known, ratio_known, thermal_known;
	bool log_stays;           /* of heat: it may not be cleared here */
	uint64_t smi, aperf, mperf, thermal;
	struct disturbances counts;
	int64_t last_ratio_micro; /* APERF / MPERF of the last window, 0 = none yet */
	bool turbo;               /* the clock may be another one in each row */
	int64_t run_ratio_micro;  /* what two windows in a row agreed in, 0 = none yet or turbo */
	bool sibling_known;       /* another thread of the core, whose MPERF stands still while it sleeps */
	unsigned sibling;
	uint64_t sibling_mperf;
	bool uncore_known;        /* the ratio of the uncore clock, of the socket of this core: */
	unsigned uncore_core;
	uint64_t uncore_ratio;    /* as it was first, 0 = not looked at yet */
	bool elapsed_looked;
	int64_t elapsed_micro;    /* cycles that are counted a TSC tick where nothing disturbs, 0 = not known, or other registers tell all */
	int64_t elapsed_more;     /* cycles that such a window counts before its first tick and behind its last one */
	bool lost;                /* a window since noise_check_before has counted others */
};

struct bench;
struct counting;
struct window;

/* Finds which of them can be seen on b->core of this machine; its processor and groups of cores are known. */
void noise_check_find(struct bench *b);
/* Around a window; true when the window just run is to be thrown away. */
void noise_check_before(struct bench *b);
bool noise_check_after(struct bench *b);
/* The same around windows of several cores, of which `core` is one: the threads beside it may be at work too. */
void noise_check_before_multicore(struct bench *b, unsigned core);
bool noise_check_after_multicore(struct bench *b, unsigned core);
/* Where SMIs or the ratio of the clock can be read nowhere: how many cycles a TSC tick windows count that are too short for either to
 * come to many of them; once a run. b->core counts `run` of c. */
void noise_check_look_at_elapsed(struct bench *b, const struct counting *c, unsigned run);
/* Holds a window of b->core, as it was read, against that. */
void noise_check_elapsed(struct bench *b, const struct counting *c, unsigned run, const struct window *w);
/* SMIs since reset; false where they are not counted. */
bool noise_check_smi(const struct bench *b, uint64_t *count);

#endif
