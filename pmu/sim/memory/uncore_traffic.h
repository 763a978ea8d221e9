/* pmu/sim/memory/uncore_traffic.h: what a request means for rings, links, home agents and queues. The memory model calls it while
 * `s->sink.traffic` says that somebody counts any of that. Times in core cycles. */
#ifndef SIM_UNCORE_TRAFFIC_H
#define SIM_UNCORE_TRAFFIC_H

#include "pmu/sim/memory/memory_state.h"

/* A read or request for ownership that a slice answers: `came`: its arrival at the slice, `granted`: the slice accepted it, `t`: it got an
 * entry in the table of requests. */
struct uncore_traffic_read { unsigned socket; const struct line_request *q; enum line_state state; uint64_t came, granted, t; const struct fill *f; };
void uncore_traffic_read(struct memory *s, const struct uncore_traffic_read *r);
/* A slice snoops the cores of its socket. */
void uncore_traffic_core_snoop(struct memory *s, unsigned socket, uint32_t line, enum line_state had, uint64_t t);
/* Another socket is snooped and answers. was: what it had. */
void uncore_traffic_peer(struct memory *s, unsigned asker, unsigned socket, uint32_t line, enum line_state was, bool own, uint64_t t);
/* A line that another socket sends at t to the one that requested it. */
void uncore_traffic_forward(struct memory *s, unsigned sender, unsigned asker, uint32_t line, bool modified, bool own, uint64_t t, uint64_t sent);
/* A core gives a line up to a slice. */
void uncore_traffic_write_back(struct memory *s, unsigned socket, unsigned core, uint32_t line, bool had, uint64_t t);
/* A slice throws a line out. */
void uncore_traffic_evict(struct memory *s, unsigned socket, uint32_t line, enum line_state was, uint64_t t);
/* A home reads a line: requested at t, its channel got the request at `sent`, the line moves at `start`; bank; page: a row was opened. */
void uncore_traffic_home_read(struct memory *s, unsigned from, uint32_t line, uint64_t t, uint64_t sent, uint64_t start);
/* The read's data has reached the requester. */
void uncore_traffic_home_answers(struct memory *s, unsigned asker, uint32_t line, bool own, bool shared, uint64_t asked, uint64_t ready);
enum uncore_traffic_write { UNCORE_TRAFFIC_WRITE_BACK, UNCORE_TRAFFIC_UNCACHED, UNCORE_TRAFFIC_DEVICE };
/* A home writes a line. */
void uncore_traffic_home_write(struct memory *s, unsigned from, uint32_t line, bool full, enum uncore_traffic_write kind, uint64_t t, uint64_t sent, uint64_t start);
/* A socket's device writes its n-th line, and reads another, at t. */
void uncore_traffic_device(struct memory *s, unsigned socket, uint64_t n, uint64_t t);
/* Refreshes all channels until the core cycle t. */
void uncore_traffic_refresh(struct memory *s, uint64_t t);
/* A split lock holds all sockets. */
void uncore_traffic_hold(struct memory *s, uint64_t t);

#endif
