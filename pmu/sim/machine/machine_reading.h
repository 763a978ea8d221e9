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
	uint32_t field_line[MACHINE_FIELDS]; /* line of a field, 0 = not given */
	uint32_t exec_line[UC_COUNT];        /* likewise for a class of [exec] */
	uint32_t last_line;
};

/* Begins the problem's line with "FILE:LINE: "; the caller adds what is wrong. */
struct text *machine_problem(struct machine_reading *r, unsigned line);

/* Reports a problem of the field at `at` in r->m, a number or a text: ST_RANGE. */
enum status machine_wrong(struct machine_reading *r, const uint64_t *at, const char *what) MUST_CHECK;

/* The name of a class of [exec] in a machine file. */
const char *machine_class_name(unsigned class);

/* Checks the file's figures against each other, and the maps that it names, beside it (NULL: none) or built in. r->problem gets the first
 * contradiction. */
enum status machine_check(struct machine_reading *r, const struct machine_beside *beside) MUST_CHECK;

#endif
