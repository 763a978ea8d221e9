/* bench/curves/sweep2d.h: rows that are a table of two quantities, each point measured by itself.
 *
 * ORDER_STAIRS   latency of a chase over the size of its working set and the stride between its nodes: 4 KiB to 512 MiB,
 *                each doubled, by strides of a line up to 128 KiB. Nodes are visited in random order; points of more
 *                nodes than there is time for are left out. The row's value is the first step: 4 KiB, every line.
 * ORDER_GATHER   a gather from memory, the line that an element a distance ahead needs asked for by PREFETCHT0, and floating-point work
 *                beside it: multiplications by distance. Distance 0 is without prefetch. The value is an element with
 *                the most work at its best distance: memory has gone, the work remains (Levinthal, the Core 2 paper). */
#ifndef BENCH_TABLES_H
#define BENCH_TABLES_H

#include "bench/measure/loop.h"

/* Measures the row. Everything is in *out. */
void sweep2d_stairs_row(struct bench *b, const struct row *r, struct row_result *out);
void sweep2d_gather_row(struct bench *b, const struct row *r, struct row_result *out);
/* Code of a gather, run by k_run_code: RDX goes over offsets of 4 bytes, R9 is the data. Returns its length. */
uint32_t sweep2d_gather_code(uint32_t work, uint32_t distance, uint8_t *code);
#define GATHER_CODE_BYTES 4096u

/* The points as a table with a line for each x, for screen and log; nothing for a curve of one quantity. */
void sweep2d_table_lines(struct text *t, const struct curve *c);

#endif
