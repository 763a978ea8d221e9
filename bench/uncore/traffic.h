/* bench/uncore/traffic.h: memory traffic of streams by the uncore's counters: bytes of each channel of a socket, and data bytes that each link to
 * other sockets received and sent.
 *
 * bench/uncore/uncore_latency.c counts the own socket of a single-core row. For a multicore row this module counts every socket that takes part. */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include "bench/catalogue/result.h"
#include "pmu/uncore/uncore.h"

/* The event for each count, as uncore_plan takes it; NULL: none. `each`: one event counts on as many boxes as there are channels or links; its name
 * is at the first of their indices. */
struct traffic_method { const char *names[TRAFFIC_COUNTS]; bool each; uint8_t line_units; /* of a link's event: units per line */ };
/* Uses the processor's expressions of the concepts. false: channels cannot count lines. */
bool traffic_method_of(const struct processor *p, struct traffic_method *out);
/* Number of counts, from `count` on, that a slot's event fills. */
unsigned traffic_instances(const struct traffic_method *m, unsigned count);
/* A slot's values on a socket, from values[count] on; 0 for an absent box. */
MUST_CHECK enum status traffic_read(const struct access *a, const struct uncore *u, const struct traffic_method *m,
                                    const struct uncore_slot *s, unsigned socket, unsigned count, uint64_t *values);
/* Number of a socket's channels and links in `counted` (bit i: a slot of the plan counts from count i on). */
void traffic_boxes(const struct uncore *u, const struct traffic_method *m, unsigned socket, uint32_t counted, struct traffic_socket *s);
/* Bytes of a count's units: of a channel's lines, of the flits of a link that carry lines. */
int64_t traffic_bytes(const struct traffic_method *m, unsigned count, int64_t units);

/* Multicore rows: sockets are requested, then counted around windows. */
struct bench;
struct pair;
struct traffic {
	struct traffic_method method;
	unsigned sockets, socket[TRAFFIC_SOCKETS];
	struct uncore_plan plan[TRAFFIC_SOCKETS];
	uint8_t count[TRAFFIC_SOCKETS][UNCORE_EVENTS_MAX]; /* of each slot: its first count */
	uint32_t counted[TRAFFIC_SOCKETS];
	bool there;         /* the processor counts channels and an uncore is present */
	bool on[TRAFFIC_SOCKETS];
	enum status status; /* the first that was not ST_OK: then nothing is reported */
	uint64_t before[TRAFFIC_SOCKETS][TRAFFIC_COUNTS];
	struct pair *pairs; /* SAMPLES_MAX of each count of each socket */
};
/* No socket is requested yet. Requests have no effect where the processor does not count channels. */
void traffic_init(struct traffic *t, struct bench *b);
/* Requests the socket of a core; the home socket of a node. */
void traffic_want_core(struct traffic *t, struct bench *b, unsigned core);
void traffic_want_node(struct traffic *t, struct bench *b, unsigned node);
/* Starts the counters of all requested sockets. */
void traffic_start(struct traffic *t, struct bench *b);
/* Called around the shorter or the longer window of pair number `keep`. */
void traffic_before(struct traffic *t, const struct bench *b);
void traffic_after(struct traffic *t, const struct bench *b, unsigned keep, bool longer);
/* Medians of the first `good` pairs, whose windows differ by `units` units of ticks_micro millionths of a TSC tick each. Call it before
 * traffic_stop. */
void traffic_reduce(const struct traffic *t, const struct bench *b, unsigned good, int64_t units, int64_t ticks_micro,
                    struct traffic_result *out);
/* Stops the counters and releases the pairs' memory. */
void traffic_stop(struct traffic *t, const struct bench *b);

/* An `ok` stream in memory becomes `unproven`, with the figures, unless the counted channels read and wrote lines in the proportion of its arrays and
 * at least a part of the moved lines. No effect where a socket's channels are not counted. */
struct kernel;
void traffic_judge(const struct kernel *k, struct row_result *out);

/* JSON: a list, or null if empty. Table: lines below the row's own. */
void traffic_channels_json(struct text *t, const struct traffic_result *r);
void traffic_links_json(struct text *t, const struct traffic_result *r);
void traffic_table_lines(struct text *t, const struct traffic_result *r);

#endif
