/* bench/curves/skid.h: distance from a load that misses the L1 to its samples, by records and by interrupts.
 *
 * The experiment of Sprunt, Pentium 4 Performance-Monitoring Features (IEEE Micro 2002), figure 5 and table 1: one load of a
 * loop misses, with long blocks of loads that hit before and after it. The load cycles through twice as many lines as the L1 has
 * ways, 8 KiB apart: all in one set. Its register is zero before it and not after it, so a record shows
 * whether it holds the registers before or after the load.
 *
 * ORDER_SKID_PRECISE    instructions from the load to the address in most records; the series is the histogram
 * ORDER_SKID_INTERRUPT  the same for counter interrupts
 * ORDER_SKID_ADDRESSES  lines at the addresses that the records' registers give; the series is the profile */
#ifndef BENCH_SKID_H
#define BENCH_SKID_H

#include "bench/measure/loop.h"

#define SKID_CODE_BYTES 4096u
#define SKID_BLOCK      96u    /* loads that hit, before and after */
#define SKID_STRIDE     8192u

/* Measures the row into *out. */
void skid_row(struct bench *b, const struct row *r, struct row_result *out);
/* The loop's code, run by k_run_code: RDX is the next line, R9 a line that hits. Returns its length; *load: offset of the load that
 * misses. */
uint32_t skid_code(uint8_t *code, uint32_t *load);

#endif
