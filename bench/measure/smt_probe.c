/* bench/measure/smt_probe.c: see smt_probe.h. */
#include "bench/measure/smt_probe.h"

#define CLUSTER_PART 8u  /* 1/N of the rounds form the cluster: so few undisturbed ones suffice */
#define CLUSTER_LEAST 3u
#define ALIKE_PART 64    /* half a slot of four in 32 cycles; a busy thread takes a quarter to a half of all slots */
#define SHARED_PART 32

/* The middle of the shortest interval of the sorted v that contains `holds` values. */
static int64_t densest(const int64_t *v, unsigned n, unsigned holds)
{
	unsigned best = 0;

	for (unsigned i = 1; i + holds <= n; i++)
		if (v[i + holds - 1] - v[i] < v[best + holds - 1] - v[best])
			best = i;
	return v[best] + (v[best + holds - 1] - v[best]) / 2;
}

unsigned smt_probe_keep(const struct pair *nops, const struct pair *clock, unsigned n, int64_t *least_micro, bool *keep)
{
	int64_t each[SAMPLES_MAX], sorted[SAMPLES_MAX];
	unsigned kept = 0, known = 0;

	for (unsigned i = 0; i < n; i++) {
		const int64_t ticks = clock[i].longer - clock[i].shorter;

		each[i] = ticks > 0 ? mul_div(nops[i].longer - nops[i].shorter, 1000000, ticks) : 0;
		if (each[i] > 0)
			sorted[known++] = each[i];
		keep[i] = false;
	}
	if (known < CLUSTER_LEAST)
		return 0;
	reduce_sort(sorted, known);
	const unsigned holds = known / CLUSTER_PART > CLUSTER_LEAST ? known / CLUSTER_PART : CLUSTER_LEAST;
	const int64_t middle = densest(sorted, known, holds);

	if (*least_micro && middle > *least_micro + *least_micro / SHARED_PART)
		return 0;
	if (!*least_micro || middle < *least_micro)
		*least_micro = middle;
	for (unsigned i = 0; i < n; i++) {
		keep[i] = each[i] >= middle - middle / ALIKE_PART && each[i] <= middle + middle / ALIKE_PART;
		kept += keep[i];
	}
	return kept;
}
