/* bench/uncore/boxes.h: the uncore boxes that a run found, and the reasons why others cannot count; reported once per run. */
#ifndef BENCH_BOXES_H
#define BENCH_BOXES_H

#include "pmu/text.h"
#include "pmu/uncore/uncore.h"

struct box_types {
	struct { const char *name; char absent[96], partly[88]; unsigned boxes; } types[UNCORE_BOXES_MAX]; /* boxes: of all sockets; absent: "" if they count; partly: "" if none is missing */
	unsigned count;      /* types that the processor has */
	const char *absent;  /* why no box can count, NULL if any can */
};

void boxes_note(const struct uncore *u, struct box_types *out);
/* JSON: a list of objects. Table: one line at its end for each box type that cannot count, or of which one is missing. */
void boxes_json(struct text *t, const struct box_types *b);
void boxes_table_lines(struct text *t, const struct box_types *b);

#endif
