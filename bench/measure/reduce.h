/* bench/measure/reduce.h: samples to a value with a spread and a verdict. Integers only. */
#ifndef BENCH_REDUCE_H
#define BENCH_REDUCE_H

#include "bench/catalogue/row.h"

#define SAMPLES_MAX 256

/* round(a * b / d) for a product of up to 128 bits, half away from zero; d > 0. A quotient that does
 * not fit is the largest int64_t of its sign. */
int64_t mul_div(int64_t a, int64_t b, int64_t d);

/* Sorts in place, ascending. */
void samples_sort(int64_t *v, unsigned n);
/* Median of v (which it sorts): the middle one, or the mean of the two middle ones, rounded. n > 0. */
int64_t samples_median(int64_t *v, unsigned n);
/* Median of |v[i] - centre|; `work` holds n values. n > 0. */
int64_t samples_mad(const int64_t *v, unsigned n, int64_t centre, int64_t *work);

/* A pair of windows: what n and 2n units of work took, same clock. */
struct pair { int64_t shorter, longer; };
/* What some windows alone have, such as a branch at their end that is foreseen after two of a kind in a row, may be in the least
 * of few windows of one length and not of the other; of many it is in both. */
#define MINIMUM_PAIRS_LEAST 16u
struct slope {
	int64_t value_micro;  /* clock per unit of work, in millionths */
	int64_t spread_micro; /* median absolute deviation of the pairs' slopes */
	int64_t latency_breakdown_micro;  /* of slope_by_clock and STAT_MINIMUM: how far apart the rounds lie whose mean it is; else 0 */
	unsigned samples;
};
/* The slope of n pairs whose windows differ by `units` of work, n <= SAMPLES_MAX.
 * STAT_MINIMUM: (least longer - least shorter) / units, never the least of the pairs' slopes, which
 * catches a slow shorter window; STAT_MEDIAN, and of fewer pairs than MINIMUM_PAIRS_LEAST: median of the pairs' slopes; STAT_MEAN: their
 * mean without an eighth of them at either end. ST_RANGE for n or units 0. */
MUST_CHECK enum status slope_of(const struct pair *pairs, unsigned n, int64_t units, enum statistic statistic,
                                struct slope *out);

/* Whether the standard error of the mean of n pairs' slopes is at most 1/part of it. Few may be alike by chance: their error has to be smaller, so that the
 * mean is as likely within twice 1/part as that of many (Student's t). */
bool slope_is_sure(const struct pair *pairs, unsigned n, int64_t part);

/* The same in units of another clock whose pairs were taken in the same rounds, differing by clock_units: of each round's
 * quotient of the two slopes, so that a frequency that wanders from round to round is in neither. STAT_MINIMUM: the mean of the
 * shortest interval that holds half of the quotients (as many rounds are lengthened in the one as in the other, so the undisturbed
 * ones lie in the middle and close together; Andrews et al., Robust Estimates of Location, 1972: the shorth), and of its own shortest
 * half as long as that is less than a third as wide (and the interval over 1/1000 of the value): more than half of the rounds were disturbed then, and the others lie
 * there (Bickel and Fruehwirth, On a fast, robust estimator of the mode, 2006). STAT_MEDIAN: their median, STAT_MEAN: as above. Rounds whose clock did not advance are left out; ST_RANGE when none is left. */
MUST_CHECK enum status slope_by_clock(const struct pair *pairs, const struct pair *clock, unsigned n, int64_t units,
                                      int64_t clock_units, enum statistic statistic, struct slope *out);

/* Noisy when the spread is beyond what the kind of row can bear, relative to `scale` (the value
 * itself, or the test's latency under a penalty): 2 % where only this core's work counts, 10 % on
 * levels that others share; or when fewer than 3 samples are left. *why is "" if it is not. */
bool is_noisy(int64_t spread_milli, int64_t scale_milli, unsigned samples, enum statistic statistic, const char **why);

#endif
