/* bench/counting/request_parts.h: the words of a request, for request*.c only. */
#ifndef BENCH_COUNTING_REQUEST_PARTS_H
#define BENCH_COUNTING_REQUEST_PARTS_H

#include "bench/counting/request.h"

/* One name of LIST and the text after its first colon. */
struct word { const char *at; size_t length, name; };
/* The next KEY or KEY=VALUE after a colon. */
struct modifier { const char *at; size_t length, key; uint64_t value; bool given; };

/* The modifier after w's character *from, which moves on; false: none left. *st: whether the value is a number. */
bool request_modifier_next(const struct word *w, size_t *from, struct modifier *m, enum status *st);
/* Whether the modifier has that key, and no value or a value. */
bool request_modifier_is_flag(const struct modifier *m, const char *key);
bool request_modifier_is_valued(const struct modifier *m, const char *key);
/* All modifiers from w's character `from` on, into r->event and r->use. ST_SYNTAX, ST_RANGE: `problem` names the one. */
MUST_CHECK enum status request_modifiers(const struct processor *p, struct request *r, const struct word *w, size_t from, struct text *problem);

/* ST_RANGE: w does not fit into a request's name; `problem` says so. */
MUST_CHECK enum status request_too_long(const struct word *w, struct text *problem);

/* ST_UNSUPPORTED: only a fixed counter counts e, and r, made from e, has a setting that this counter lacks. */
MUST_CHECK enum status request_fixed_alone(const struct request *r, const struct event *e, const struct word *w, struct text *problem);

#define REQUEST_LDLAT       0x3F6u /* MSR_PEBS_LD_LAT_THRESHOLD (SDM vol. 3, load-latency facility) */
#define REQUEST_LDLAT_LEAST 3u     /* its lowest threshold (ibid.) */

/* request_perf.c. ST_UNSUPPORTED: w has a modifier of perf's that is not supported here; `problem` says which, and why. */
MUST_CHECK enum status request_perf_modifiers(const struct word *w, struct text *problem);
/* Also: cpu/event=0xcb,umask=0x2,name=.../ as perf and `stallmeter events` write it. *found: w is of this form; ST_SYNTAX, ST_RANGE, ST_UNSUPPORTED:
 * `problem` names the term. */
struct word request_perf_plain(const struct word *w); /* NAME of NAME/period=N/, else w */
MUST_CHECK enum status request_perf_terms(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found);

/* Also: rHHHH, bits of PERFEVTSEL; of PERF_CTL on AMD, whose event codes have four bits more, in 35:32. ST_SYNTAX: a further register selects what
 * the code counts. */
MUST_CHECK enum status request_raw(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found);

/* Whether w's name, up to a colon, is this one; *from: where it ends. */
bool request_names(const struct word *w, const char *known, size_t *from);

/* request_spelling.c. The event for a name that is in no event table: a document's spelling, perf's name of what every processor counts (cycles,
 * branch-misses), or a concept that one event counts exactly. NULL: none. *from: where the name ends. */
const struct event *request_spelled(const struct processor *p, const struct word *w, size_t *from);
/* Whether the name has a meaning that no event counts here; `problem` says which, and why. */
bool request_why_not(const struct processor *p, const struct word *w, struct text *problem);

/* request_uncore.c. An event of a box, under its own name, BOX.EVENT, BOX[N].EVENT, or without a box if only one kind has it. ST_SYNTAX, ST_RANGE:
 * `problem` says which filter is missing or does not fit. */
MUST_CHECK enum status request_uncore(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found);

/* request_netburst.c. One modifier of an event of NetBurst. ST_MISSING: it names a unit that its detector lacks; `problem` has the line. */
MUST_CHECK enum status request_netburst_modifier(const struct processor *p, struct netburst_use *u, const struct modifier *m, struct text *problem);
/* EVENT.UNIT+UNIT of a detector, which needs no listed event, with the event that tags its uops. *found: the name is a detector's. */
MUST_CHECK enum status request_netburst(const struct processor *p, const struct word *w, struct request *r, struct text *problem, bool *found);
/* A cascade starts when the event requested before it overflows: gives that one its start. ST_SYNTAX: there is none, or it does not overflow. */
MUST_CHECK enum status request_netburst_cascade(struct request *before, struct request *r, struct text *problem);

#endif
