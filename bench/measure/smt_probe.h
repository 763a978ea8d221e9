/* bench/measure/smt_probe.h: detects a busy sibling thread where no register shows it.
 *
 * A process does not see what a hypervisor, or another process, runs on the sibling thread of its core. A sibling takes issue slots: a loop
 * bound by issue width slows down, a loop bound by a dependency chain does not. So windows of NOPs run beside the clock's windows of dependent
 * adds, and rounds with slow NOPs are discarded.
 *
 * Not detected: programs that share only caches or memory; a sibling that runs the same load throughout the program. */
#ifndef BENCH_WITNESS_H
#define BENCH_WITNESS_H

#include "bench/measure/reduce.h"

/* Keeps the rounds of n whose NOPs ran at full speed: within 1/64 of the densest cluster, the shortest interval that holds an eighth of the
 * quotients NOPs : clock (undisturbed rounds agree, disturbed ones scatter). *least_micro is the smallest cluster of the run, 0 if none yet. A
 * cluster more than 1/32 above it means that the core was shared all the time. Returns the number of rounds kept and marks them in keep[];
 * n <= SAMPLES_MAX. */
unsigned smt_probe_keep(const struct pair *nops, const struct pair *clock, unsigned n, int64_t *least_micro, bool *keep);

#endif
