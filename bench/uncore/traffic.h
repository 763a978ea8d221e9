/* bench/uncore/traffic.h: what streams moved by the uncore's counters: bytes of each channel of a socket's memory, bytes of data that each
 * link to other sockets brought and took.
 *
 * bench/uncore/uncore_latency.c counts the own socket of a row of one core; a row of several cores counts here every socket that takes part. */
#ifndef BENCH_TRAFFIC_H
#define BENCH_TRAFFIC_H

#include "bench/catalogue/result.h"
#include "pmu/uncore/uncore.h"

/* What a processor counts at each place, as uncore_plan takes it; NULL: it has no such event. `each`: one event of as many boxes as there are
 * channels or links stands at the first of its places. */
struct traffic_method { const char *names[TRAFFIC_COUNTS]; bool each; };
/* By the processor's expressions of the concepts. false: lines of channels cannot be counted. */
bool traffic_method_of(const struct processor *p, struct traffic_method *out);
/* How many places, from `count` on, a slot's event fills. */
unsigned traffic_places(const struct traffic_method *m, unsigned count);
/* A slot's values on a socket at their places from values[count] on; places without a box are 0. */
MUST_CHECK enum status traffic_read(const struct access *a, const struct uncore *u, const struct traffic_method *m,
                                    const struct uncore_slot *s, unsigned socket, unsigned count, uint64_t *values);
/* How many channels and links of a socket are in `counted` (bit i: a slot of the plan counts from place i on). */
void traffic_boxes(const struct uncore *u, const struct traffic_method *m, unsigned socket, uint32_t counted, struct traffic_socket *s);
/* Bytes of a line of a channel, of a flit of a link's data. */
unsigned traffic_bytes(unsigned count);

/* Several cores: sockets are wanted, then counted around windows. */
struct bench;
struct pair;
struct traffic {
	struct traffic_method method;
	unsigned sockets, socket[TRAFFIC_SOCKETS];
	struct uncore_plan plan[TRAFFIC_SOCKETS];
	uint8_t count[TRAFFIC_SOCKETS][UNCORE_EVENTS_MAX]; /* of each slot: its first place */
	uint32_t counted[TRAFFIC_SOCKETS];
	bool there;         /* the processor counts channels, and here is an uncore */
	bool on[TRAFFIC_SOCKETS];
	enum status status; /* the first that was not ST_OK: nothing is said then */
	uint64_t before[TRAFFIC_SOCKETS][TRAFFIC_COUNTS];
	struct pair *pairs; /* SAMPLES_MAX of each count of each socket */
};
/* Nobody is wanted yet; nobody is taken where the processor does not count channels. */
void traffic_init(struct traffic *t, struct bench *b);
/* The socket of a core; the socket whose memory a node is. */
void traffic_want_core(struct traffic *t, struct bench *b, unsigned core);
void traffic_want_node(struct traffic *t, struct bench *b, unsigned node);
/* Starts the counters of all sockets that are wanted. */
void traffic_start(struct traffic *t, struct bench *b);
/* Around a window, the shorter or the longer one of pair number `keep`. */
void traffic_before(struct traffic *t, const struct bench *b);
void traffic_after(struct traffic *t, const struct bench *b, unsigned keep, bool longer);
/* The median of the first `good` pairs, whose shorter windows are `units` long; a unit takes ticks_micro millionths of TSC ticks.
 * Before they are stopped. */
void traffic_reduce(const struct traffic *t, const struct bench *b, unsigned good, int64_t units, int64_t ticks_micro,
                    struct traffic_result *out);
/* Stops them and gives the pairs' memory back. */
void traffic_stop(struct traffic *t, const struct bench *b);

/* Lists of results.json, null where there is nothing to list; lines below the row's own in the table. */
void traffic_channels_json(struct text *t, const struct traffic_result *r);
void traffic_links_json(struct text *t, const struct traffic_result *r);
void traffic_table_lines(struct text *t, const struct traffic_result *r);

#endif
