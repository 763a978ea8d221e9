/* tests/unit/rigs/core_bench.h: runs code bytes on the core model, without the backend. */
#ifndef CORE_BENCH_H
#define CORE_BENCH_H

#include "pmu/access.h"
#include "pmu/sim/core/core.h"

#define BENCH_DATA_BYTES (64u << 20)

struct core_bench;

/* Opens a copy of machine `m`, of which only the first thread runs. */
struct core_bench *core_bench_open(const struct machine *m);
void core_bench_close(struct core_bench *b);
struct signals *core_bench_signals(struct core_bench *b);
/* Host address of SPACE_DATA. */
uint8_t *core_bench_data(struct core_bench *b);

/* Code is assembled here and then run from SPACE_SCRATCH to its `ret`. */
void core_bench_clear(struct core_bench *b);
void core_bench_emit(struct core_bench *b, unsigned times, const char *hex);
/* Offset of the next instruction to be emitted. */
unsigned core_bench_here(const struct core_bench *b);
/* Emits `dec rdi; jnz` back to offset `to`. */
void core_bench_loop(struct core_bench *b, unsigned to);

/* Runs with RDI = count, RSI = SPACE_DATA; returns the cycles from the start until the pipeline is drained. */
uint64_t core_bench_run(struct core_bench *b, uint64_t count);
/* Thousandths of a cycle per iteration: the slope between n and 2n iterations, after warm-up. */
uint64_t core_bench_slope(struct core_bench *b, uint64_t n);
/* The same for a loop of `times` copies of `hex`, on a bench of its own. */
uint64_t core_bench_loop_cost(const struct machine *m, unsigned times, const char *hex);
uint64_t core_bench_instructions(const struct core_bench *b);

/* Taps a signal; core_bench_count returns what tap `t` has counted since. */
void core_bench_tap(struct core_bench *b, unsigned t, enum signal sig, unsigned cmask, bool inv, bool edge);
uint64_t core_bench_count(struct core_bench *b, unsigned t);

/* A copy of a built-in machine, without firmware; the test may change it. */
struct machine core_bench_machine(const char *name);

#endif
