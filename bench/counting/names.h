/* bench/counting/names.h: forgiving comparison of names, and the nearest ones to a name that is not known. */
#ifndef BENCH_COUNTING_NAMES_H
#define BENCH_COUNTING_NAMES_H

#include "pmu/text.h"

#define NEAREST_MAX 3u
#define NEAREST_BYTES 96u

/* Equal but for case, and for which of `.`, `_` and `-` stands between words; n bytes of a against all of b. */
bool names_equal(const char *a, size_t n, const char *b);

/* The three nearest names seen so far, by Levenshtein's distance (insert, delete, replace: one each), case ignored. */
struct nearest {
	const char *wanted;
	size_t length;
	unsigned count;
	struct { char name[NEAREST_BYTES]; unsigned distance; } best[NEAREST_MAX];
};
void nearest_init(struct nearest *n, const char *wanted, size_t length);
void nearest_try(struct nearest *n, const char *prefix, const char *name);
/* ": did you mean A, B or C?", nothing when none was tried. */
void nearest_say(const struct nearest *n, struct text *t);

#endif
