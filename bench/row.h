/* bench/row.h: a benchmark is one row of data, never code of its own. */
#ifndef BENCH_ROW_H
#define BENCH_ROW_H

#include "asm/kernel.h"
#include "pmu/base.h"
#include "pmu/text.h"

enum row_kind { KIND_LATENCY, KIND_PENALTY, KIND_THROUGHPUT };
enum row_unit { UNIT_CYCLES, UNIT_NS, UNIT_BYTES_PER_SECOND };
enum row_status { ROW_OK, ROW_NOISY, ROW_UNPROVEN, ROW_UNSUPPORTED, ROW_FAULT, ROW_CRASHED, ROW_STATUS_COUNT };
const char *row_status_name(enum row_status s);

/* An event whose count per unit of work must lie within [low, high], in thousandths. */
#define ROW_PROOFS_MAX 4
struct row_proof { const char *event; int32_t low_milli, high_milli; };

struct row; /* bench/rows.c: the table; its owner defines the fields (design section 6) */

struct row_result {
	const struct row *row;
	const char *name;          /* "load.l2.latency" */
	enum row_kind kind;
	enum row_unit unit;
	enum row_status status;
	char reason[128];          /* why it is not ok, "" if it is */
	int64_t value_milli;       /* in `unit`, thousandths */
	int64_t spread_milli;      /* median absolute deviation, same unit */
	int64_t cycles_milli;      /* shared levels: core cycles as well, else -1 */
	int64_t ns_milli;          /* nanoseconds as well, else -1 */
	uint32_t samples, rejected;
	char proof[160];           /* "MEM_LOAD_RETIRED.L2_HIT 1.000 per load" */
	uint32_t revision;         /* of the method */
};

#endif
