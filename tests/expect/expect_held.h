/* tests/expect/expect_held.h: what lines hold on their way: entries of a queue, the turn of a port or channel, places in a cache. */
#ifndef TESTS_EXPECT_HELD_H
#define TESTS_EXPECT_HELD_H

#include "pmu/base.h"

/* Equal entries, each held from a cycle to another. */
#define HELD_MOST 4096u
struct held { uint64_t from, to, line; };
struct queue { uint64_t entries, count, last, from[HELD_MOST], to[HELD_MOST]; struct held held[HELD_MOST]; }; /* last: the latest end; from, to: held's, in order */

/* The first cycle from t on from which one of entries - withheld is free for so many cycles. */
uint64_t queue_start(const struct queue *q, uint64_t t, uint64_t cycles, uint64_t withheld);
void queue_hold(struct queue *q, uint64_t from, uint64_t to, uint64_t line);
/* What is over at t, when nobody asks for an earlier time any more. */
void queue_forget(struct queue *q, uint64_t t);
/* That of a line that is not over at t; NULL: none. */
const struct held *queue_find(const struct queue *q, uint64_t t, uint64_t line);

/* What serves one line a period. */
#define TURNS_KEPT 65536u
struct turns { uint64_t period_65536, slot[TURNS_KEPT]; }; /* slot: number + 1 of the one that was taken last here */
/* The first turn that is not over at t: when it begins, or t. */
uint64_t turns_take(struct turns *s, uint64_t t);

/* Places for lines, by replacement policy as [l1d] policy has it. */
struct place { uint64_t line, ready, used; bool modified, fresh; }; /* fresh: no load has asked for it yet */
struct places { uint64_t sets, ways, policy, clock, random; struct place *place; uint64_t *tree; };
bool places_open(struct places *p, uint64_t bytes, uint64_t ways, uint64_t policy);
void places_empty(struct places *p);
void places_close(struct places *p);
struct place *places_find(const struct places *p, uint64_t line);
void places_touch(struct places *p, struct place *at);
/* The place that a line gets; what it holds is given up. Marks it as used. */
struct place *places_victim(struct places *p, uint64_t line);
#define NO_LINE UINT64_MAX

#endif
