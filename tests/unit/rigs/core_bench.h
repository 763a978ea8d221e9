/* tests/unit/rigs/core_bench.h: code bytes on the core model, without the backend around it. */
#ifndef CORE_BENCH_H
#define CORE_BENCH_H

#include "pmu/access.h"
#include "pmu/sim/core/core.h"

#define BENCH_DATA_BYTES (64u << 20)

struct core_bench;

/* A machine of one core with fields of `m`; threads beyond the first do not run. */
struct core_bench *core_bench_open(const struct machine *m);
void core_bench_close(struct core_bench *b);
struct signals *core_bench_signals(struct core_bench *b);
/* Bytes of SPACE_DATA. */
uint8_t *core_bench_data(struct core_bench *b);

/* Code is put together here and then run from SPACE_SCRATCH to its `ret`. */
void core_bench_clear(struct core_bench *b);
void core_bench_emit(struct core_bench *b, unsigned times, const char *hex);
/* Where the next instruction goes, as an offset. */
unsigned core_bench_here(const struct core_bench *b);
/* `dec rdi; jnz` back to an offset. */
void core_bench_loop(struct core_bench *b, unsigned to);

/* Runs with RDI = count, RSI = SPACE_DATA; the cycles from start to the last commit. */
uint64_t core_bench_run(struct core_bench *b, uint64_t count);
/* Cycles an iteration, in thousandths: the slope between n and 2n, warmed up. */
uint64_t core_bench_slope(struct core_bench *b, uint64_t n);
/* The same of a loop of `times` x hex on a machine of its own. */
uint64_t core_bench_loop_cost(const struct machine *m, unsigned times, const char *hex);
uint64_t core_bench_instructions(const struct core_bench *b);

/* A tap on one signal; what it counted since. */
void core_bench_tap(struct core_bench *b, unsigned t, enum signal sig, unsigned cmask, bool inv, bool edge);
uint64_t core_bench_count(struct core_bench *b, unsigned t);

/* A built-in machine by name, to be changed at will. */
struct machine core_bench_machine(const char *name);

#endif
