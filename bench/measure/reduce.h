/* bench/measure/reduce.h: samples to a value with a spread and a verdict. Integers only. */
#ifndef BENCH_REDUCE_H
#define BENCH_REDUCE_H

#include "bench/catalogue/row.h"

#define SAMPLES_MAX 256

/* round(a * b / d) for a product of up to 128 bits, half away from zero; d > 0. A quotient that does
 * not fit is the largest int64_t of its sign. */
int64_t mul_div(int64_t a, int64_t b, int64_t d);

/* Sorts in place, ascending. */
void reduce_sort(int64_t *v, unsigned n);
/* Median of v (which it sorts): the middle one, or the mean of the two middle ones, rounded. n > 0. */
int64_t reduce_median(int64_t *v, unsigned n);
/* Median of |v[i] - centre|; `work` holds n values. n > 0. */
int64_t reduce_mad(const int64_t *v, unsigned n, int64_t centre, int64_t *work);

/* A pair of windows: durations of n and 2n units of work, same clock. */
struct pair { int64_t shorter, longer; };
/* Some effects occur in only a part of the windows, such as a loop-end branch that is predicted after two like windows in a row. With few
 * windows such an effect may be in the minimum of one length and not of the other; with many it is in both minima. */
#define MINIMUM_PAIRS_LEAST 16u
struct slope {
	int64_t value_micro;  /* clock per unit of work, in millionths */
	int64_t spread_micro; /* median absolute deviation of the pairs' slopes */
	int64_t range_micro;  /* of reduce_slope_by_clock with STAT_MINIMUM: range of the rounds averaged into the value; else 0 */
	unsigned samples;
};
/* The slope of n pairs whose windows differ by `units` of work, n <= SAMPLES_MAX.
 * STAT_MINIMUM: (least longer - least shorter) / units. The minimum of the pairs' slopes would select a slow shorter window instead.
 * STAT_MEDIAN, and any statistic of fewer than MINIMUM_PAIRS_LEAST pairs: median of the pairs' slopes.
 * STAT_MEAN: mean of the pairs' slopes, trimmed by an eighth at either end. ST_RANGE for n or units 0. */
MUST_CHECK enum status reduce_slope(const struct pair *pairs, unsigned n, int64_t units, enum statistic statistic,
                                struct slope *out);

/* The slope of windows of which the longer one ran second in pairs 0, 2, ... and the shorter one in the others, directly after another window of the
 * same kernel: (least longer - least shorter) / units of however few pairs. The spread is that of the second windows of neighbouring rounds. */
MUST_CHECK enum status reduce_slope_of_neighbours(const struct pair *pairs, unsigned n, int64_t units, struct slope *out);

/* Whether the standard error of the mean of n pairs' slopes is at most 1/part of it. Few slopes may agree by chance, so the bound is tighter for
 * small n: the mean lies within twice 1/part with the same probability as for many (Student's t). */
bool reduce_slope_is_sure(const struct pair *pairs, unsigned n, int64_t part);

/* Whether more than half of n pairs' slopes, three at least, differ from their median by at most 1/part of it. False for n above SAMPLES_MAX. */
bool reduce_slope_is_settled(const struct pair *pairs, unsigned n, int64_t part);

/* reduce_slope in units of another clock. The clock's pairs come from the same rounds and differ by clock_units. The statistic is taken over each
 * round's quotient of the two slopes, which cancels a frequency that drifts from round to round.
 * STAT_MINIMUM: the shorth, the mean of the shortest interval that holds half of the quotients (Andrews et al., Robust Estimates of Location,
 * 1972). Disturbances lengthen either slope equally often, so undisturbed rounds cluster in the middle. While the interval is wider than 1/1000
 * of the value and its own shortest half is less than a third as wide, more than half of the rounds were disturbed and the interval is replaced
 * by that half (Bickel and Fruehwirth, On a fast, robust estimator of the mode, 2006).
 * STAT_MEDIAN: median of the quotients; STAT_MEAN: as in reduce_slope. Rounds whose clock did not advance are left out; ST_RANGE when none is
 * left. */
MUST_CHECK enum status reduce_slope_by_clock(const struct pair *pairs, const struct pair *clock, unsigned n, int64_t units,
                                      int64_t clock_units, enum statistic statistic, struct slope *out);

/* Noisy when fewer than 3 samples are left or the spread exceeds the tolerance: 2 % for core-private levels, 10 % for shared ones, relative to
 * scale_milli (the value itself; of a penalty, the test's latency). *why is "" if not noisy. */
bool reduce_is_noisy(int64_t spread_milli, int64_t scale_milli, unsigned samples, enum statistic statistic, const char **why);

#endif
