/* runner/data/statistics.c: Student's t test with the spread between boots, and Holm's correction over a table. */
#include <math.h>
#include <stdlib.h>

#include "runner/data/statistics.h"

/* Relative differences below this are not significant: results have three digits, clocks are accurate to some 100 ppm. */
#define RESOLUTION 0.0005

static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1);
	d = 1 / (fabs(d) < tiny ? tiny : d);
	double h = d;
	for (int m = 1; m <= 300; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		h *= d * c;
		if (fabs(d * c - 1) < 1e-14)
			break;
	}
	return h;
}

static double incomplete_beta(double a, double b, double x)
{
	if (x <= 0)
		return 0;
	if (x >= 1)
		return 1;
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double statistics_student_p(double t, double freedom)
{
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double statistics_median_error(double mad, unsigned n)
{
	return n ? 1.2533 * 1.4826 * mad / sqrt(n) : 0;
}

static double mean_of(const double *v, unsigned n)
{
	double sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

/* Sum of squares around the mean; adds the variances within the boots to *within. */
static double squares(const struct boot_variance *s, double mean, double *within)
{
	double sum = 0;
	for (unsigned i = 0; i < s->n; i++) {
		double e = statistics_median_error(s->spread[i], s->samples[i]);
		sum += (s->value[i] - mean) * (s->value[i] - mean);
		*within += e * e;
	}
	return sum;
}

void statistics_difference(const struct boot_variance *a, const struct boot_variance *b, struct difference *out)
{
	unsigned boots = a->n + b->n;
	double within = 0;
	out->a = mean_of(a->value, a->n);
	out->b = mean_of(b->value, b->n);
	double scale = fmax(fabs(out->a), fabs(out->b));
	out->relative = scale > 0 ? (out->b - out->a) / (fabs(out->a) > 0.01 * scale ? fabs(out->a) : scale) : 0;
	double between = squares(a, out->a, &within) + squares(b, out->b, &within);
	double least = RESOLUTION * scale > 0.001 ? RESOLUTION * scale : 0.001;
	double variance = fmax(within / boots, least * least);
	double freedom = 4; /* with one boot per side: a few samples each, whose deviation is only an estimate */
	if (boots > 2) {
		freedom = boots - 2;
		variance = fmax(variance, between / freedom);
	}
	out->error = sqrt(variance * (1.0 / a->n + 1.0 / b->n));
	out->p = statistics_student_p((out->b - out->a) / out->error, freedom);
	out->change = CHANGE_NONE;
}

static int by_p(const void *x, const void *y)
{
	const struct difference *a = *(struct difference *const *)x, *b = *(struct difference *const *)y;
	return a->p < b->p ? -1 : a->p > b->p;
}

void statistics_decide(struct difference *const *rows, unsigned n, bool one_boot)
{
	struct difference **order = calloc(n ? n : 1, sizeof(*order));
	unsigned m = 0;
	if (!order)
		return;
	for (unsigned i = 0; i < n; i++)
		if (rows[i]->change == CHANGE_NONE)
			order[m++] = rows[i];
	qsort(order, m, sizeof(*order), by_p);
	for (unsigned i = 0; i < m && order[i]->p <= CHANGE_ALPHA / (m - i); i++)
		order[i]->change = one_boot ? CHANGE_ONE_BOOT : CHANGE_REAL;
	free(order);
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return a < b ? -1 : a > b;
}

double statistics_median(double *v, unsigned n)
{
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double statistics_deviation(const double *v, unsigned n, double median, double *work)
{
	for (unsigned i = 0; i < n; i++)
		work[i] = fabs(v[i] - median);
	return statistics_median(work, n);
}
