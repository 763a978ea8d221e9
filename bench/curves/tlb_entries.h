/* bench/curves/tlb_entries.h: rows of ORDER_TLB_SIZE: how many pages of 4 KiB a level of the data TLB holds, whatever CPUID tells. */
#ifndef BENCH_TLB_ENTRIES_H
#define BENCH_TLB_ENTRIES_H

#include "bench/measure/loop.h"

/* Chases over one line a page. Rings double until their passes miss; bisection finds the largest without misses, which the row's events count. Where they
 * cannot be counted, the value is the largest of few rings that takes no longer for its pages (tlb_time.c), and the row is unproven. */
void tlb_entries_row(struct bench *b, const struct row *r, struct row_result *out);

#endif
