/* runner/commands/steady.h: how well a row repeats from run to run, and whether the machine was quiet meanwhile. */
#ifndef RUNNER_STEADY_H
#define RUNNER_STEADY_H

#include "pmu/base.h"

#define STEADY_RUNS_MAX 100
#define STEADY_CV_PPM 1000      /* 0.1 %: what rows of private caches must keep to */
#define STEADY_OTHERS_MILLI 100 /* of one processor's time, that others may have taken meanwhile */

struct steady {
	uint32_t cv_ppm;    /* standard deviation over mean, of the runs' values, in millionths */
	bool noisy;
	char reason[96];    /* "" when it is not */
};

/* Judges the n values of so many runs, up to STEADY_RUNS_MAX, beside `without` runs that gave none. others_milli: time that other work took on all processors, in thousandths of the
 * elapsed time of one of them; negative: not known. */
void steady_judge(const int64_t *values_milli, unsigned n, unsigned without, int64_t others_milli, struct steady *out);

/* Sum of busy time of all processors from the text of /proc/stat, in ticks; 0 when there is none. Steal is not busy here. */
uint64_t steady_busy_ticks(const char *stat);

#endif
