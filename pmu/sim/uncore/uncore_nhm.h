/* pmu/sim/uncore/uncore_nhm.h: the simulator's own map of Nehalem's uncore events, for its box and for tests. */
#ifndef SIM_UNCORE_NHM_H
#define SIM_UNCORE_NHM_H

#include "pmu/sim/uncore/box.h"

enum uncore_kind {
	UNCORE_ADD, UNCORE_OCCUPANCY, UNCORE_CYCLES, UNCORE_CLOCK, UNCORE_OPEN_PAGE, UNCORE_CLOSED_PAGE, UNCORE_SNOOP,
	UNCORE_MATCH, UNCORE_NEVER, UNCORE_UNMODELLED
};

struct uncore_event_row {
	uint8_t select, umask;
	uint8_t kind;          /* enum uncore_kind */
	int8_t least;
	uint8_t term_count;
	struct uncore_term terms[4];
	const char *name;
};

/* What a code counts: a row with exactly this umask, or one row for each of its bits if they add up (up to 8 rows). 0:
 * unknown code. */
unsigned uncore_nhm_find(uint8_t select, uint8_t umask, const struct uncore_event_row *rows[8]);
const struct uncore_event_row *uncore_nhm_map(unsigned *n);

#endif
