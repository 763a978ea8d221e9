/* bench/measure/reduce.c: see reduce.h. */
#include "bench/measure/reduce.h"

#define CLUSTER_LEAST 16u /* values: among fewer, a cluster may be chance */
#define CLUSTER_CLOSE 1000 /* an interval narrower than 1/N of the value is not split */
#define MEAN_LEAVES_OUT 8u /* trims 1/N of the values at either end: they may be disturbed */
#define TIMES_MANY 196 /* the limit of `times` for many samples */
#define SETTLED_LEAST 3u
#define SURE_UNIT 10000
#define CLUSTER_WIDTHS 3   /* of evenly or normally spread values, the shortest half is about half as wide as all */

int64_t mul_div(int64_t a, int64_t b, int64_t d)
{
	bool negative = (a < 0) != (b < 0);
	uint64_t ua = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
	uint64_t ub = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
	uint64_t ud = (uint64_t)d;
	unsigned __int128 product = (unsigned __int128)ua * ub + ud / 2;
	uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product, quotient, rest;

	if (d <= 0)
		return 0;
	if (high >= ud)
		return negative ? INT64_MIN : INT64_MAX;
	/* The compiler's 128-bit division is a library call that the freestanding build does not have. */
	__asm__("divq %4" : "=a"(quotient), "=d"(rest) : "0"(low), "1"(high), "r"(ud) : "cc");
	if (quotient > (uint64_t)INT64_MAX)
		return negative ? INT64_MIN : INT64_MAX;
	return negative ? -(int64_t)quotient : (int64_t)quotient;
}

void reduce_sort(int64_t *v, unsigned n)
{
	for (unsigned i = 1; i < n; i++) { /* insertion sort is fast enough for SAMPLES_MAX values */
		int64_t x = v[i];
		unsigned k = i;

		for (; k > 0 && v[k - 1] > x; k--)
			v[k] = v[k - 1];
		v[k] = x;
	}
}

int64_t reduce_median(int64_t *v, unsigned n)
{
	reduce_sort(v, n);
	if (n % 2)
		return v[n / 2];
	return v[n / 2 - 1] + (v[n / 2] - v[n / 2 - 1] + 1) / 2;
}

int64_t reduce_mad(const int64_t *v, unsigned n, int64_t centre, int64_t *work)
{
	for (unsigned i = 0; i < n; i++)
		work[i] = v[i] > centre ? v[i] - centre : centre - v[i];
	return reduce_median(work, n);
}

/* The mean of the sorted v, trimmed by an eighth of its n values at either end. */
static int64_t mean_of_most(const int64_t *v, unsigned n)
{
	const unsigned out = n / MEAN_LEAVES_OUT;
	int64_t sum = 0;

	for (unsigned i = out; i < n - out; i++)
		sum += v[i] - v[0];
	return v[0] + mul_div(sum, 1, n - 2 * out);
}

bool reduce_slope_is_sure(const struct pair *pairs, unsigned n, int64_t part)
{
	/* Student's t, 95 %, n - 1 degrees of freedom, from n = 2, in hundredths; the last entry serves 20 and more */
	static const uint16_t times[] = { 1271, 430, 318, 278, 257, 245, 236, 231, 226, 223, 220, 218, 216, 214, 213, 212, 211, 210, 209 };
	int64_t sum = 0, squares = 0; /* of the slopes' deviations, in parts of their mean */

	for (unsigned i = 0; i < n; i++)
		sum += pairs[i].longer - pairs[i].shorter;
	for (unsigned i = 0; i < n && sum > 0; i++) {
		const int64_t off = mul_div((pairs[i].longer - pairs[i].shorter) * n - sum, SURE_UNIT, sum);

		if (off > SURE_UNIT || off < -SURE_UNIT)
			return false;
		squares += off * off;
	}
	if (n < 2 || sum <= 0)
		return false;
	const int64_t t = times[n - 2 < COUNT_OF(times) ? n - 2 : COUNT_OF(times) - 1];

	/* standard error of the mean: root of squares / (n - 1) / n */
	return squares <= mul_div(SURE_UNIT * SURE_UNIT, (int64_t)n * (n - 1) * TIMES_MANY * TIMES_MANY, part * part * t * t);
}

bool reduce_slope_is_settled(const struct pair *pairs, unsigned n, int64_t part)
{
	int64_t each[SAMPLES_MAX], work[SAMPLES_MAX];
	unsigned near = 0;

	if (n < SETTLED_LEAST || n > SAMPLES_MAX)
		return false;
	for (unsigned i = 0; i < n; i++)
		work[i] = each[i] = pairs[i].longer - pairs[i].shorter;
	const int64_t median = reduce_median(work, n);

	for (unsigned i = 0; i < n; i++)
		near += (each[i] > median ? each[i] - median : median - each[i]) * part <= median;
	return near >= SETTLED_LEAST && 2 * near > n;
}

/* `least`: of neighbours, by the least windows. */
static enum status slope(const struct pair *pairs, unsigned n, int64_t units, enum statistic statistic, bool least, struct slope *out)
{
	int64_t each[SAMPLES_MAX], work[SAMPLES_MAX];
	int64_t shorter = INT64_MAX, longer = INT64_MAX;

	if (n == 0 || n > SAMPLES_MAX || units <= 0)
		return ST_RANGE;
	for (unsigned i = 0; i < n; i++) {
		each[i] = mul_div(pairs[i].longer - pairs[i].shorter, 1000000, units);
		if (pairs[i].shorter < shorter)
			shorter = pairs[i].shorter;
		if (pairs[i].longer < longer)
			longer = pairs[i].longer;
	}
	if (least || (statistic == STAT_MINIMUM && n >= MINIMUM_PAIRS_LEAST)) {
		out->value_micro = mul_div(longer - shorter, 1000000, units);
	} else {
		memcpy(work, each, n * sizeof(each[0]));
		out->value_micro = reduce_median(work, n);
		if (statistic == STAT_MEAN)
			out->value_micro = mean_of_most(work, n);
	}
	/* A pair for the spread: the second window of one round and that of the next, which has the other length. */
	for (unsigned i = 0; least && i + 1 < n; i++)
		each[i] = mul_div(pairs[i + i % 2].longer - pairs[i + 1 - i % 2].shorter, 1000000, units);
	const unsigned spread = least && n > 1 ? n - 1 : n;
	/* It is taken around their own median, since the minimum lies at the edge of its samples. */
	memcpy(work, each, spread * sizeof(each[0]));
	int64_t centre = reduce_median(work, spread);

	out->spread_micro = reduce_mad(each, spread, centre, work);
	out->range_micro = 0;
	out->samples = n;
	return ST_OK;
}

enum status reduce_slope(const struct pair *pairs, unsigned n, int64_t units, enum statistic statistic, struct slope *out)
{
	return slope(pairs, n, units, statistic, false, out);
}

enum status reduce_slope_of_neighbours(const struct pair *pairs, unsigned n, int64_t units, struct slope *out)
{
	return slope(pairs, n, units, STAT_MINIMUM, true, out);
}

/* Index at which the shortest interval of the sorted v begins that holds half of its n values; *holds is their number. */
static unsigned shortest_half(const int64_t *v, unsigned n, unsigned *holds)
{
	const unsigned half = n / 2 + 1;
	unsigned best = 0;

	for (unsigned i = 1; i + half <= n; i++)
		if (v[i + half - 1] - v[i] < v[best + half - 1] - v[best])
			best = i;
	*holds = half;
	return best;
}

/* The mean of the densest cluster of the sorted v, as reduce_slope_by_clock describes; *apart is the width of the cluster. */
static int64_t mean_of_cluster(const int64_t *v, unsigned n, int64_t *apart)
{
	unsigned holds, closer;
	int64_t sum = 0;

	v += shortest_half(v, n, &holds);
	while (holds / 2 + 1 >= CLUSTER_LEAST) {
		const int64_t *part = v + shortest_half(v, holds, &closer), width = v[holds - 1] - v[0];

		if (width <= CLUSTER_WIDTHS * (part[closer - 1] - part[0]) || width <= v[0] / CLUSTER_CLOSE)
			break;
		v = part;
		holds = closer;
	}
	for (unsigned i = 0; i < holds; i++)
		sum += v[i] - v[0];
	*apart = v[holds - 1] - v[0];
	return v[0] + mul_div(sum, 1, holds);
}

enum status reduce_slope_by_clock(const struct pair *pairs, const struct pair *clock, unsigned n, int64_t units, int64_t clock_units,
                           enum statistic statistic, struct slope *out)
{
	int64_t each[SAMPLES_MAX], sorted[SAMPLES_MAX], work[SAMPLES_MAX];
	unsigned good = 0;

	if (n == 0 || n > SAMPLES_MAX || units <= 0 || clock_units <= 0)
		return ST_RANGE;
	for (unsigned i = 0; i < n; i++) {
		int64_t ticks = clock[i].longer - clock[i].shorter;

		if (ticks > 0)
			each[good++] = mul_div((pairs[i].longer - pairs[i].shorter) * clock_units, 1000000, ticks * units);
	}
	if (!good)
		return ST_RANGE;
	memcpy(sorted, each, good * sizeof(each[0]));
	const int64_t centre = reduce_median(sorted, good);

	out->range_micro = 0;
	out->value_micro = statistic == STAT_MINIMUM ? mean_of_cluster(sorted, good, &out->range_micro) : statistic == STAT_MEAN ? mean_of_most(sorted, good) : centre;
	out->spread_micro = reduce_mad(each, good, centre, work);
	out->samples = good;
	return ST_OK;
}

bool reduce_is_noisy(int64_t spread_milli, int64_t scale_milli, unsigned samples, enum statistic statistic, const char **why)
{
	int64_t limit = statistic == STAT_MINIMUM ? scale_milli / 50 : scale_milli / 10;

	*why = "";
	if (samples < 3)
		*why = "fewer than 3 samples are left";
	else if (scale_milli <= 0)
		*why = "the longer windows took no longer than the shorter";
	else if (spread_milli > limit)
		*why = statistic == STAT_MINIMUM ? "spread above 2 %" : "spread above 10 %";
	return **why != 0;
}
