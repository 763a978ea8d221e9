/* pmu/sim/machine/machine_reading.h: a machine file while it is read; what machine.c and machine_check.c share. */
#ifndef SIM_MACHINE_READING_H
#define SIM_MACHINE_READING_H

#include "pmu/access.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/text.h"

enum {
#define NUMBER(...) +1
#define TEXT(...) +1
	MACHINE_FIELDS = 0
#include "pmu/sim/machine/machine.def"
#undef NUMBER
#undef TEXT
};

struct machine_reading {
	const char *file;
	struct machine *m;
	struct text problem;
	uint32_t field_line[MACHINE_FIELDS]; /* where a field was given, 0 = it was not */
	uint32_t exec_line[UC_COUNT];        /* likewise of a class of [exec] */
	uint32_t last_line;
};

/* Starts the one line of the problem, "FILE:LINE: "; the caller adds what is wrong. */
struct text *machine_problem(struct machine_reading *r, unsigned line);

/* Complains about the field of r->m that lies at `at`, a number or a text: ST_RANGE. */
enum status machine_wrong(struct machine_reading *r, const uint64_t *at, const char *what) MUST_CHECK;

/* What a class of [exec] is called in a file. */
const char *machine_class_name(unsigned class);

/* The figures of the whole file against each other, and the maps that it names: those beside it (NULL: none) or built in. What the first
 * contradiction is goes into r->problem. */
enum status machine_check(struct machine_reading *r, const struct machine_beside *beside) MUST_CHECK;

#endif
