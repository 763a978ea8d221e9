/* bench/uncore/latency_loaded.h: residence of a socket's reads of its memory in each box, for a lone chase and while the other cores saturate memory. */
#ifndef BENCH_LATENCY_LOADED_H
#define BENCH_LATENCY_LOADED_H

#include "bench/measure/measure.h"
#include "bench/catalogue/result.h"

/* Runs one window of `loads` of the chase in that state. *together: all cores began at once, undisturbed. */
struct latency_loaded_chase {
	enum status (*window)(void *self, enum latency_loaded_state state, uint64_t loads, bool *together);
	void *self;
	uint64_t loads[LATENCY_LOADED_STATES]; /* of a window */
	int64_t penalty_milli;                 /* that the load costs the chase, core cycles */
};

/* Counts the boxes of b->core's socket around such windows. If they are absent, or their counts are not those of the chase,
 * *out has the reason; it stays unchanged if the processor has no event for such reads. */
void latency_loaded_count(struct bench *b, const struct latency_loaded_chase *chase, struct latency_loaded_result *out);

/* JSON: an object of results.json, or null. Table: one line. */
void latency_loaded_json(struct text *t, const struct latency_loaded_result *r);
void latency_loaded_table_line(struct text *t, const struct latency_loaded_result *r);

#endif
