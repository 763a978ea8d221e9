/* bench/measure/noise_check.h: disturbances of a window, checked before and after it. */
#ifndef BENCH_DISTURBANCE_H
#define BENCH_DISTURBANCE_H

#include "pmu/base.h"

/* Disturbances in all windows of the run, including earlier boots up to the last row that they completed. A window is discarded after an SMI,
 * a clock change, thermal throttling or clock modulation. Several of these may hit one window. */
#define SMI_BINS 8
struct disturbances {
	uint32_t windows, clock, thermal, modulated;
	uint32_t smi[SMI_BINS]; /* histogram of windows over their number of SMIs, the last bin open; all 0 where SMIs are not counted */
};

/* State of the checks: SMIs and the core clock around a window. */
struct noise_check {
	bool smi_known, ratio_known, thermal_known;
	bool log_stays;           /* the thermal log bits may not be cleared here */
	uint64_t smi, aperf, mperf, thermal;
	struct disturbances counts;
	int64_t last_ratio_micro; /* APERF / MPERF of the last window, 0 = none yet */
	bool turbo;               /* turbo is on: the clock may differ from row to row */
	int64_t run_ratio_micro;  /* the run's ratio: two consecutive windows agreed on it; 0 = none yet, or turbo */
	bool sibling_known;       /* the core has another thread; its MPERF stops while it sleeps */
	unsigned sibling;
	uint64_t sibling_mperf;
	bool uncore_known;        /* the uncore ratio can be read, for the socket of uncore_core */
	unsigned uncore_core;
	uint64_t uncore_ratio;    /* the first ratio read, 0 = not read yet */
	bool elapsed_looked;
	int64_t elapsed_micro;    /* undisturbed cycles a TSC tick, 0 = not known, or not needed beside other registers */
	int64_t elapsed_more;     /* cycles counted outside such a window's TSC readings */
	bool lost;                /* since noise_check_before a window's cycles did not match its ticks */
};

struct bench;
struct counting;
struct window;

/* Finds which disturbances b->core of this machine can detect. The processor and the core groups must be known. */
void noise_check_find(struct bench *b);
/* Called around a window; noise_check_after is true when that window must be discarded. */
void noise_check_before(struct bench *b);
bool noise_check_after(struct bench *b);
/* The same for `core` around a multicore window, in which sibling threads may be busy too. */
void noise_check_before_multicore(struct bench *b, unsigned core);
bool noise_check_after_multicore(struct bench *b, unsigned core);
/* Calibrates cycles per TSC tick where no register shows SMIs or the clock ratio, once a run. It uses windows too short for many to be
 * disturbed. b->core counts `run` of c. */
void noise_check_look_at_elapsed(struct bench *b, const struct counting *c, unsigned run);
/* Checks a window of b->core, as read, against that calibration. */
void noise_check_elapsed(struct bench *b, const struct counting *c, unsigned run, const struct window *w);
/* SMIs since reset; false where they are not counted. */
bool noise_check_smi(const struct bench *b, uint64_t *count);

#endif
