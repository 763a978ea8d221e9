/* bench/sampling/priority.h: the order in which counters that are due at the same instruction are served.
 *
 * SDM volume 3B, 18.8.1.1 (Nehalem): of simultaneous overflows and PEBS assists the one with the lowest counter number comes first, and the
 * buffer's threshold is reported after the record that meets it. No interrupt is needed to observe this, because a record holds the value of
 * IA32_PERF_GLOBAL_STATUS at the time it is written. The loads are those of a chase through memory, each of which takes longer than it takes to
 * arm PEBS.
 *
 * ORDER_PRIORITY_RECORDS: all sampling counters are due at the same load; the value is how many write their records in the order of their numbers.
 *
 * ORDER_PRIORITY_OVERFLOWS: one counter samples, and the others overflow at the load of its record; the value is how many of them the record's
 * status shows, namely those with lower numbers. Overflows one load earlier are all shown, those one load later are not. */
#ifndef BENCH_PRIORITY_H
#define BENCH_PRIORITY_H

#include "bench/measure/loop.h"

/* Measures a row that row_begin has named. Everything is in *out. Unsupported with the reason: without PEBS, or with records that hold no counter
 * status (Core 2; from Skylake on they name their own counters alone). */
void priority_row(struct bench *b, const struct row *r, struct row_result *out);

#endif
