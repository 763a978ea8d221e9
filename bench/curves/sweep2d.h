/* bench/curves/sweep2d.h: rows that sweep two quantities; each point is measured on its own.
 *
 * ORDER_STAIRS   latency of a chase over the size of its working set and the stride between its nodes: 4 KiB to 512 MiB,
 *                doubling, by strides of a line up to 128 KiB. Nodes are visited in random order; points with too many
 *                nodes for the budget are left out. The row's value is the first step: 4 KiB, every line.
 * ORDER_GATHER   a gather from memory that prefetches (PREFETCHT0) the line of an element some distance ahead, and a chain of additions of
 *                each element as work. Distance 0: no prefetch. The value is the time of an element
 *                with the most work at its best distance among those where counters show that no load waited for memory: the work
 *                remains, the latency of memory is hidden (Levinthal, the Core 2 paper). Without the prefetch the additions fill the
 *                reservation station, so few loads overlap. */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include "bench/measure/loop.h"

/* Measures the row into *out. */
void sweep2d_stairs_row(struct bench *b, const struct row *r, struct row_result *out);
void sweep2d_gather_row(struct bench *b, const struct row *r, struct row_result *out);
/* Code of a gather, run by k_run_code: RDX walks an array of 4-byte offsets, R9 is the data, RCX is the sum of the gathered elements. Returns its length. */
uint32_t sweep2d_gather_code(uint32_t work, uint32_t distance, uint8_t *code);
#define GATHER_CODE_BYTES 4096u

/* The points as a table with a line for each x, for screen and log; nothing for a one-dimensional curve. */
void sweep2d_table_lines(struct text *t, const struct curve *c);

#endif
