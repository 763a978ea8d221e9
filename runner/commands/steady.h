/* runner/commands/steady.h: how well a row repeats from run to run, and whether the machine was quiet. */
#ifndef RUNNER_STEADY_H
#define RUNNER_STEADY_H

#include "pmu/base.h"

#define STEADY_RUNS_MAX 100
#define STEADY_CV_PPM 1000      /* 0.1 %: limit for rows of private caches */
#define STEADY_OTHERS_MILLI 100 /* of one processor's time: most that others may have taken */

struct steady {
	uint32_t cv_ppm;    /* standard deviation over mean, of the runs' values, in millionths */
	bool noisy;
	char reason[96];    /* "" when it is not */
};

/* Judges the n values of as many runs, up to STEADY_RUNS_MAX, in addition to `without` runs without a value. others_milli:
 * time that other work took on all processors, in thousandths of the elapsed time of one; negative: unknown. */
void steady_judge(const int64_t *values_milli, unsigned n, unsigned without, int64_t others_milli, struct steady *out);

/* Sum of busy time of all processors from the text of /proc/stat, in ticks; 0 if there is none. Steal is not busy here. */
uint64_t steady_busy_ticks(const char *stat);

#endif
