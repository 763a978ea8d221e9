/* bench/catalogue/names.h: tolerant comparison of names, and the nearest matches of an unknown name. */
#ifndef BENCH_CATALOGUE_NAMES_H
#define BENCH_CATALOGUE_NAMES_H

#include "pmu/text.h"

#define NEAREST_MAX 3u
#define NEAREST_BYTES 96u

/* Compares n bytes of a with all of b, ignoring case; `.`, `_` and `-` are equal. */
bool names_equal(const char *a, size_t n, const char *b);
/* The length of `b` if the n characters at `a` begin with it, else 0. */
size_t names_begin(const char *a, size_t n, const char *b);

/* The three nearest names seen so far, by Levenshtein distance (insert, delete, replace: one each), ignoring case. */
struct nearest {
	const char *wanted;
	size_t length;
	unsigned count;
	struct { char name[NEAREST_BYTES]; unsigned distance; } best[NEAREST_MAX];
};
void nearest_init(struct nearest *n, const char *wanted, size_t length);
void nearest_try(struct nearest *n, const char *prefix, const char *name);
/* "; nearest: A, B and C"; nothing if no name was tried. */
void nearest_text(const struct nearest *n, struct text *t);

#endif
