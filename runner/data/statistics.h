/* runner/data/statistics.h: decides whether values of several boots differ. Host only: floating point. */
#ifndef RUNNER_STATISTICS_H
#define RUNNER_STATISTICS_H

#include "pmu/base.h"

/* Probability that any row of a whole table is called changed although the runs are equal. */
#define CHANGE_ALPHA 0.005

enum change {
	CHANGE_NONE,           /* within the spread */
	CHANGE_REAL,           /* more than the spread between boots */
	CHANGE_ONE_BOOT,       /* more than the spread within a boot; the spread between boots is unknown */
	CHANGE_NOT_COMPARABLE, /* the method's revisions differ */
	CHANGE_STATUS,         /* proved on one side only */
	CHANGE_MISSING         /* on one side only */
};

/* A row's value in each boot of one side, and its median absolute deviation within each. */
struct boot_variance { unsigned n; const double *value, *spread; const unsigned *samples; };

struct difference {
	double a, b;      /* means over the boots */
	double relative;  /* (b - a) / a; relative to the larger of both if a is nearly 0 */
	double error;     /* standard error of b - a */
	double p;         /* two-sided p value of "no change"; 1 if undetermined */
	enum change change;
};

/* Two-sided probability that Student's t of `freedom` degrees is as large as |t| (incomplete beta function by
 * Lentz's continued fraction; Press et al., Numerical Recipes, 6.4). */
double statistics_student_p(double t, double freedom);
/* Standard error of the median of n normally distributed windows with this median absolute deviation:
 * 1.2533 * 1.4826 * mad / sqrt(n). */
double statistics_median_error(double mad, unsigned n);
/* Means, their difference and p of one row. The variance is the pooled one between the boots of a side, and never smaller than
 * that of the samples within the boots; with one boot per side it is the latter. */
void statistics_difference(const struct boot_variance *a, const struct boot_variance *b, struct difference *out);
/* Decides for a whole table (Holm's step-down over all comparable rows): sets `change` of those whose change is CHANGE_NONE
 * on entry. `one_boot`: changes become CHANGE_ONE_BOOT. */
void statistics_decide(struct difference *const *rows, unsigned n, bool one_boot);
/* Median of v, which is sorted in place, n > 0; median absolute deviation from `median`, for which `work` has n elements. */
double statistics_median(double *v, unsigned n);
double statistics_deviation(const double *v, unsigned n, double median, double *work);

#endif
