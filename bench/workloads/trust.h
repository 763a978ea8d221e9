/* bench/workloads/trust.h: which events of this processor count right: each event whose true count a row's kernel fixes, measured
 * against expected. The expectations are rows of trust.def. */
#ifndef BENCH_TRUST_H
#define BENCH_TRUST_H

#include "bench/workloads/profile.h"

#define TRUST_ENTRIES 27
#define TRUST_NAMES   4

enum trust_base { TRUST_ONE, TRUST_ITERATION, TRUST_INSTRUCTIONS, TRUST_LOADS, TRUST_STORES };
enum trust_verdict { TRUST_RIGHT, TRUST_OVER, TRUST_UNDER, TRUST_UNKNOWN, TRUST_VERDICTS };
const char *trust_verdict_name(enum trust_verdict v);

struct trust_facts { const char *row; enum trust_base base; uint32_t milli; const char *names[TRUST_NAMES]; };
extern const struct trust_facts trust_table[TRUST_ENTRIES];

struct trust_entry {
	const char *event;           /* NULL: this processor has none of the names */
	const char *kernel, *unit;
	enum trust_verdict verdict;  /* right: within 1 % */
	int64_t expected_milli, counted_milli, ratio_milli; /* a unit; a ratio */
	char reason[80];             /* why it is unknown */
};

struct trust_result { bool ran; struct trust_entry entries[TRUST_ENTRIES]; };

/* Counts all of them. Whatever happens is in *out. */
void trust_run(struct bench *b, struct trust_result *out);
/* The value of "trust" of the results; lines for screen and log. */
void trust_json(struct text *t, const struct trust_result *r);
void trust_lines(struct text *t, const struct trust_result *r);

#endif
