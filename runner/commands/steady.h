/* runner/commands/steady.h: judges how well a row repeats from run to run, and whether the machine was quiet. */
#ifndef RUNNER_STEADY_H
#define RUNNER_STEADY_H

#include "pmu/base.h"

#define STEADY_RUNS_MAX 100
#define STEADY_CV_PPM 1000      /* 0.1 %: limit for rows of private caches */
#define STEADY_OTHERS_MILLI 100 /* thousandths of one processor's time that other work may take */

struct steady {
	uint32_t cv_ppm;    /* coefficient of variation of the runs' values: standard deviation over mean, in millionths */
	bool noisy;
	char reason[96];    /* "" if it is not noisy */
};

/* Judges the values of n runs, up to STEADY_RUNS_MAX, and `without` runs that have no value. others_milli:
 * time that other work took on all processors, in thousandths of the elapsed time of one processor; negative: unknown. */
void steady_judge(const int64_t *values_milli, unsigned n, unsigned without, int64_t others_milli, struct steady *out);

/* Sum of the busy time of all processors from the text of /proc/stat, in ticks, without steal time; 0 if it cannot be parsed. */
uint64_t steady_busy_ticks(const char *stat);

#endif
