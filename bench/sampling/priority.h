/* bench/sampling/priority.h: which of several counters acts first where they are due at one instruction.
 *
 * SDM volume 3B, 18.8.1.1 (Nehalem): counters are served in the order of their numbers, so that of simultaneous overflows and PEBS assists the one of
 * the lowest counter comes first; the threshold of the buffer is reported behind the record that meets it. No interrupt is needed to see it: a record
 * holds IA32_PERF_GLOBAL_STATUS as it is when the record is written. The loads are those of a chase through memory, each later than the time until
 * PEBS is armed.
 *
 * ORDER_PRIORITY_RECORDS    all sampling counters are due at the same load: how many write their records in the order of their numbers
 * ORDER_PRIORITY_OVERFLOWS  one counter samples, the others overflow at the load of its record: how many of them the record's status shows, which
 *                           are those with lower numbers. Overflows a load earlier are all shown, those a load later are not. */
#ifndef BENCH_PRIORITY_H
#define BENCH_PRIORITY_H

#include "bench/measure/loop.h"

/* Measures a row that row_begin has named. Everything is in *out. Unsupported with the reason: without PEBS, or with records that hold no counter
 * status (Core 2; from Skylake on they name their own counters alone). */
void priority_row(struct bench *b, const struct row *r, struct row_result *out);

#endif
