/* bench/measure/smt_probe.h: whether the core was one's own, where no register says so.
 *
 * A process does not see what the host of a virtual machine, or another process, runs on the other thread of its core. But it
 * takes part of each cycle's slots: a loop as wide as the core takes longer then, one as long as its chain does not. So beside
 * the clock's windows of dependent adds, windows of NOPs are run, and rounds in which these were slow are left out.
 *
 * Not seen: what shares only caches or memory, and another thread that runs alike all the time the program does. */
#ifndef BENCH_WITNESS_H
#define BENCH_WITNESS_H

#include "bench/measure/reduce.h"

/* Which of n rounds' NOPs were as fast as they are on a core of one's own: within 1/64 of the densest cluster, the shortest
 * interval that holds an eighth of the quotients NOPs : clock (what is undisturbed is alike, what is disturbed is not). *least_micro:
 * the least such quotient ever found, 0 when there was none yet; where the densest is over a 32th above it, the core has been
 * shared all the time. Returns how many are kept, keep[] says which; n <= SAMPLES_MAX. */
unsigned smt_probe_keep(const struct pair *nops, const struct pair *clock, unsigned n, int64_t *least_micro, bool *keep);

#endif
