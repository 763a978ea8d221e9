/* bench/uncore/boxes.h: which boxes of the uncore a run found, and why others cannot count: said once a run. */
#ifndef BENCH_BOXES_H
#define BENCH_BOXES_H

#include "pmu/text.h"
#include "pmu/uncore/uncore.h"

struct box_types {
	struct { const char *name, *absent; unsigned boxes; } types[UNCORE_BOXES_MAX]; /* boxes: of all sockets; absent: NULL if they count */
	unsigned count;      /* types that the processor has */
	const char *absent;  /* why nothing of the uncore can be counted, NULL if something can */
};

void boxes_note(const struct uncore *u, struct box_types *out);
/* A list of objects, and a line of the table's end for each type that cannot count. */
void boxes_json(struct text *t, const struct box_types *b);
void boxes_table_lines(struct text *t, const struct box_types *b);

#endif
