/* bench/curves/tlb_entries.h: rows of ORDER_TLB_SIZE: the number of 4 KiB pages that a level of the data TLB holds, independently of CPUID. */
#ifndef BENCH_TLB_ENTRIES_H
#define BENCH_TLB_ENTRIES_H

#include "bench/measure/loop.h"

/* Chases over one line per page. Rings double until their passes miss; bisection finds the largest without misses, which the row's events count. Where
 * misses cannot be counted, the value is the largest of a few rings whose loads take no longer (tlb_time.c), and the row is unproven. */
void tlb_entries_row(struct bench *b, const struct row *r, struct row_result *out);

#endif
