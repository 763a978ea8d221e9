/* pmu/sim/machine/uncore_map.h: maps event codes of an uncore to signals, by a machine's uncore map (tables/machines/maps/uncore/,
 * described in tables/machines/FORMAT.md).
 *
 * These are the simulator's own maps, from libpfm4 and the vendor's event files, with their names. */
#ifndef SIM_UNCORE_MAP_H
#define SIM_UNCORE_MAP_H

#include "pmu/sim/machine/machine.h"
#include "pmu/sim/signals/uncore_signal.h"

/* The boxes of a map. SOCKET: the one PMU of a socket without boxes. */
#define UNCORE_BOXES(X) X(UBOX) X(CBO) X(SBO) X(PCU) X(HA) X(IMC) X(IRP) X(QPI) X(R2) X(R3) X(CHA) X(M2M) X(UPI) X(M3UPI) X(IIO) X(TRAFFIC) X(M2PCIE) X(SOCKET) X(L3) X(DF) X(UMC) X(ARB)
enum uncore_box {
#define X(name) UNCORE_BOX_##name,
	UNCORE_BOXES(X)
#undef X
	UNCORE_BOX_COUNT
};

#define UNCORE_TERMS 8 /* of a row, at most */
#define UNCORE_UMASK_ANY -1
#define UNCORE_CODE_EXTENDED 0x100

enum uncore_count_mode {
	UNCORE_ADD,          /* the sum of its terms */
	UNCORE_OCCUPANCY,    /* the same, for a queue that a bus lock must have emptied */
	UNCORE_CYCLES,       /* cycles in which the sum is at least `least` */
	UNCORE_BEYOND,       /* the sum's excess over `least` - 1 in each cycle */
	UNCORE_IDLE,         /* cycles in which the sum is 0 */
	UNCORE_CLOCK,        /* cycles of the box's clock */
	UNCORE_COUNTER_0,    /* what counter 0 of the box counts, cycle by cycle, for a threshold */
	UNCORE_NEVER,        /* never happens on such a machine: counts 0, with the reason */
	UNCORE_UNMODELLED    /* known by name only: flagged, with the reason */
};
enum uncore_flag { /* registers and fields that decide which occurrences count */
	UNCORE_OPCODE = 1, UNCORE_NODE = 2, UNCORE_STATE = 4, UNCORE_MATCH = 8, UNCORE_ADDRESS = 16, UNCORE_MESSAGE = 32,
	UNCORE_OPEN_PAGE = 64, UNCORE_CLOSED_PAGE = 128, /* only on a machine whose banks keep their row open, or close it */
	UNCORE_SNOOP = 256,    /* the terms that MSR 0x301 selects, from bit `least` on */
	UNCORE_FORWARDS = 512, /* the term that MSR 0x396 selects */
	UNCORE_BAND = 1024,    /* a clock: while the frequency is at least that of byte `least` of the filter */
	UNCORE_BANK = 2048,    /* the bank of rank `least` that the umask selects */
	UNCORE_RANK = 4096,    /* only on a machine that has rank `least` */
	UNCORE_LANES = 8192,   /* a link that never drops lanes has all of them in every cycle */
	UNCORE_EDGE = 16384,   /* beginnings of runs of such cycles */
	UNCORE_REGION = 32768, /* requests to region `least` of a node */
	UNCORE_INDIRECT = 65536,    /* only on a machine whose homes send no data straight to cores */
	UNCORE_CLOCKED = 131072,    /* a rank's clock that is never off is on in every cycle; with UNCORE_RANK that of rank `least` */
	UNCORE_FAST_EXIT = 262144, UNCORE_SLOW_EXIT = 524288, /* only on a machine whose channels keep their DLLs on, or switch them off */
	UNCORE_DATA_READ = 1048576, UNCORE_CODE_READ = 2097152, UNCORE_OWNERSHIP = 4194304 /* requests of that opcode, which the umask selects */
};
enum { UNCORE_OF_READ = 253, UNCORE_OF_WRITE = 254, UNCORE_OF_PEER = 255 }; /* values of `least`: the number of entries of that queue */

#define UNCORE_OWN_UNITS 0xFF
#define UNCORE_OWN_FIRST 0x80 /* plus n, as a term's unit: number n of the box's own */
struct uncore_term {
	uint16_t signal;
	uint8_t times, unit; /* UNCORE_OWN_UNITS: those of the box; else that one */
	uint64_t tags;       /* all are required */
};
struct uncore_row {
	uint8_t box, counters, how, least;
	uint16_t code;
	uint32_t flags;
	int64_t umask;
	uint8_t term_count;
	const struct uncore_term *terms;
	const char *name, *why; /* why: UNCORE_NEVER, UNCORE_UNMODELLED */
};
struct uncore_map { unsigned count; const struct uncore_row *rows; };

/* Reads and checks the text of an uncore map. `at`: uncore_map_bytes() of it for the rows, aligned as a pointer, which *out
 * then refers to; NULL: only checks it. On failure `problem` (capacity bytes) is one line, "FILE:LINE: column: what is
 * wrong, what is allowed". */
size_t uncore_map_bytes(const char *text, size_t bytes);
MUST_CHECK enum status uncore_map_read(const char *file_name, const char *text, size_t bytes, void *at, struct uncore_map *out,
                                       char *problem, size_t capacity);
/* Bytes that a machine's map needs (0: it has none); reads it into `at` and connects it: m->uncore. */
size_t uncore_map_load_bytes(const struct machine *m);
MUST_CHECK enum status uncore_map_load(struct machine *m, void *at);

/* What a code counts: a row with exactly this umask or for any, or one row for each of its bits (up to 8 rows). 0 rows:
 * unknown code. */
unsigned uncore_map_find(const struct uncore_map *map, enum uncore_box box, unsigned code, uint64_t umask, const struct uncore_row *rows[8]);
/* Any row of a code; NULL: unknown code. */
const struct uncore_row *uncore_map_code(const struct uncore_map *map, enum uncore_box box, unsigned code);

#endif
