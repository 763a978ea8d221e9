/* runner/data/counts.h: reads the output of `perf stat -x,` and `perf stat -j`, and plain EVENT,COUNT lines. */
#ifndef RUNNER_COUNTS_H
#define RUNNER_COUNTS_H

#include "bench/report/user_account.h"

#define COUNTS_MOST 512

/* file: number of the text that contains it, from 1. All zero: nothing was read yet. */
struct count { char event[96]; int64_t value; enum workload_account_count state; unsigned file; };
struct counts { struct count list[COUNTS_MOST]; unsigned n, files; };

/* Adds the counts of a text, which belong to one run of the program with the cycles that the text counts. Lines that begin with '#' and blank
 * lines are ignored. A line's separator is the first ';', tab or '|' in it, else ','. Privilege modifiers (:u) are dropped, generic names (cycles,
 * instructions, ref-cycles) become those of their concept. ST_SYNTAX, ST_RANGE, ST_FULL with one line in `problem`: "NAME:LINE: why". */
MUST_CHECK enum status counts_parse(struct counts *c, const char *text, size_t bytes, const char *name, char *problem, size_t capacity);
/* Looks up the count of an event; if several texts have one, the first that was not multiplexed. */
struct account_counts counts_of(const struct counts *c);

#endif
