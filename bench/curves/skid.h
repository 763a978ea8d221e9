/* bench/curves/skid.h: where samples of a load that misses the L1 are found, by records and by interrupts.
 *
 * The experiment of Sprunt, Pentium 4 Performance-Monitoring Features (IEEE Micro 2002), figure 5 and table 1: one load of a
 * loop misses, long blocks of loads that hit lie before and behind it. The load goes round twice as many lines as the L1 has
 * ways, 8 KiB apart: all in one set. Its value is no address, and its register is zero before it, so that a record shows
 * whether it holds the registers before the load or behind it.
 *
 * ORDER_SKID_PRECISE    instructions from the load to where most records point; the series is the histogram
 * ORDER_SKID_INTERRUPT  the same of counter interrupts
 * ORDER_SKID_ADDRESSES  lines that the records' registers name as those that miss; the series is the profile */
#ifndef BENCH_SKID_H
#define BENCH_SKID_H

#include "bench/measure/loop.h"

#define SKID_CODE_BYTES 4096u
#define SKID_BLOCK      96u    /* loads that hit, before and behind */
#define SKID_STRIDE     8192u

/* Measures the row. Everything is in *out. */
void skid_row(struct bench *b, const struct row *r, struct row_result *out);
/* The loop's code, run by k_run_code: RDX is the next line, R9 a line that hits. Returns its length; *load: where the load that
 * misses lies. */
uint32_t skid_code(uint8_t *code, uint32_t *load);

#endif
