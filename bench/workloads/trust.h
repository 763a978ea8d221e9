/* bench/workloads/trust.h: which events of this processor count correctly. Each concept whose true count a row's kernel fixes is counted by this
 * processor's expression of it and compared with that count. The counts are rows of trust.def; a processor needs no list of its own. */
#ifndef BENCH_TRUST_H
#define BENCH_TRUST_H

#include "bench/workloads/profile.h"

#define TRUST_ENTRIES 152

enum trust_base { TRUST_ONE, TRUST_ITERATION, TRUST_INSTRUCTIONS, TRUST_LOADS, TRUST_STORES, TRUST_CYCLES, TRUST_TICKS };
/* The counters used: the core's, or the uncore's of its own socket or of the socket whose memory the row reads. */
enum trust_side { TRUST_CORE, TRUST_OWN, TRUST_HOME };
enum trust_verdict { TRUST_RIGHT, TRUST_OVER, TRUST_UNDER, TRUST_UNKNOWN, TRUST_VERDICTS };
const char *trust_verdict_name(enum trust_verdict v);

/* least, most: thousandths of the base; equal where the count is exact. */
struct trust_facts { enum trust_side side; const char *row; enum trust_base base; uint32_t least, most; const char *concept; };
extern const struct trust_facts trust_table[TRUST_ENTRIES];

struct trust_entry {
	const char *event;           /* the processor's expression of the concept; NULL: none */
	const char *kernel, *unit;
	enum trust_verdict verdict;  /* right: within 1 % */
	int64_t least_milli, most_milli, counted_milli; /* per unit */
	int64_t ratio_milli;         /* counted over expected, or over the nearer end of a range; 1000 within it */
	char reason[96];             /* why it is unknown */
};

struct trust_result { bool ran; struct trust_entry entries[TRUST_ENTRIES]; };

/* Counts all entries. Failures are in *out. */
void trust_run(struct bench *b, struct trust_result *out);
/* The value of "trust" of the results; lines for screen and log. */
void trust_json(struct text *t, const struct trust_result *r);
void trust_lines(struct text *t, const struct trust_result *r);
/* Judges an entry: its counts against the expected fraction of `base_milli` per unit, cycles or ticks. */
void trust_judge(struct trust_entry *e, const struct trust_facts *f, const struct row *r, const struct kernel *k, int64_t base_milli);

/* --- trust_uncore.c ---------------------------------------------------------------------------- */

/* The entries of a row that the uncore counts. */
void trust_uncore_row(struct bench *b, const struct row *row, struct trust_result *out);

#endif
