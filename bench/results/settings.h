/* bench/results/settings.h: the settings of a run, which head its results. */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include "pmu/base.h"

/* Settings, from stallmeter.ini, UEFI load options or the command line. */
struct suite_settings {
	const char *suite;        /* "quick", "full", or a comma list of row names and globs */
	unsigned repetitions;     /* 0: the row's own */
	unsigned vector_bits;     /* kernels with wider vectors are left out; 0: none is */
	const char *kernels;      /* names separated by commas: streams that have some of these kernels run only those; NULL or "": any */
	unsigned ibs_misses;      /* ibs_filter (pmu/amd/ibs.h): 0, 1, or cycles */
	uint64_t seed;            /* 0: a fixed one, printed */
	const char *label;        /* the user's label for this run, "" if none */
	const char *expect;       /* text of an --expect file, NULL if none: "row = status" lines */
	const char *cores, *nodes; /* for multicore rows: lists such as "0-3,8"; NULL or "": all */
	bool counting;            /* events are counted on `cores`, which need not have core 0 (bench/counting/session.h) */
	const char *profile;      /* a profile or a list of events: counts the rows' kernels instead of measuring the rows; NULL none */
};

/* The list of selected rows: s->suite, or its default. */
const char *settings_rows(const struct suite_settings *s);

#endif
