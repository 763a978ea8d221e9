/* bench/catalogue/provable.h: which rows a processor's events can prove, from the tables alone. */
#ifndef BENCH_PROVABLE_H
#define BENCH_PROVABLE_H

#include "bench/catalogue/row.h"
#include "tables/processor.h"

/* Whether the processor counts every concept of one of the row's proofs accurately enough; a row without proofs needs instructions. What the
 * machine at hand lacks (threads, cores, counters that firmware keeps) is not considered. */
bool row_provable(const struct row *r, const struct processor *p);

/* The rows of the full suite that a machine of one socket can have, and how many of them are provable. */
struct provable_share { unsigned rows, proved; };
struct provable_share provable_share(const struct processor *p);

#endif
