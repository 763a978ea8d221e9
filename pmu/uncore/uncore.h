/* pmu/uncore/uncore.h: the uncore PMU driver: finds, programs and reads the boxes of a socket.
 *
 * The tables describe boxes (struct uncore_box); this engine knows no processor. A type of box has instances; discovery finds
 * those that are present. A socket's registers are reached through one of its logical processors, the speaker, and through
 * configuration space on the socket's buses; registers of the cores that share an L3, through the first of these cores. All
 * writes go through a guarded backend, which restores the former values. */
#ifndef PMU_UNCORE_H
#define PMU_UNCORE_H

#include "pmu/access.h"
#include "pmu/backend/box_place.h"
#include "pmu/core/cpu.h"

#define UNCORE_SOCKETS_MAX   8
#define UNCORE_COMPLEXES_MAX 16 /* of a socket */
#define UNCORE_EVENTS_MAX    32
#define UNCORE_BOXES_MAX     16 /* types of boxes */
#define UNCORE_INSTANCES_MAX BOX_INSTANCES /* of a type in a socket */
#define UNCORE_NO_TELLER     0xFF
#define UNCORE_BUSES_MAX     6  /* named by a register of the socket */

struct uncore_bus { uint16_t segment; uint8_t bus; bool known; };

struct uncore {
	const struct cpu *cpu;
	unsigned sockets;
	uint16_t speaker[UNCORE_SOCKETS_MAX];
	uint16_t complex_speaker[UNCORE_SOCKETS_MAX][UNCORE_COMPLEXES_MAX]; /* the first of those that share an L3 */
	uint8_t complexes[UNCORE_SOCKETS_MAX];
	struct uncore_bus bus[UNCORE_SOCKETS_MAX];    /* of the uncore's functions */
	struct uncore_bus io_bus[UNCORE_SOCKETS_MAX]; /* of the socket's devices */
	struct uncore_bus numbered[UNCORE_SOCKETS_MAX][UNCORE_BUSES_MAX]; /* as the socket's register names them */
	uint64_t present[UNCORE_SOCKETS_MAX][UNCORE_BOXES_MAX]; /* bit i: instance i of the type */
	uint8_t teller[UNCORE_SOCKETS_MAX];           /* index in places.teller; UNCORE_NO_TELLER: none */
	uint64_t mapped[UNCORE_BOXES_MAX];            /* memory-mapped boxes: the address that their registers' offsets are relative to */
	uint8_t width[UNCORE_BOXES_MAX];              /* bits that a counter keeps, probed; 0: not yet */
	const char *box_absent[UNCORE_BOXES_MAX];     /* why no box of the type can count, NULL if one can; may point to box_silent */
	char box_silent[UNCORE_BOXES_MAX][56];        /* names the register that does not answer */
	char box_partly[UNCORE_BOXES_MAX][88];        /* "" if all expected boxes are present; else the first missing one, and why */
	bool box_lost[UNCORE_BOXES_MAX];              /* the reason in box_partly or box_absent: a box that should answer does not */
	bool box_freeze;     /* the global control does not answer: each box is frozen by its own control */
	struct box_places places; /* of boxes that the machine itself locates */
	const char *absent;  /* why nothing can count, NULL if something can */
};

/* Finds the sockets (CPUID leaf 0xB or 1 of each logical processor), their buses and boxes; only reads. ST_OK also if there is no uncore PMU:
 * u->absent says why, u->box_absent for a type. u->box_partly says which instances of a type are missing: there are fewer than the socket
 * reports, or one socket has an instance that another one lacks. */
MUST_CHECK enum status uncore_find(const struct access *a, const struct cpu *cpu, struct uncore *u);
/* The socket of a logical processor as uncore_find numbered it: sockets in the order of their first processors. */
MUST_CHECK enum status uncore_socket(const struct access *a, const struct uncore *u, unsigned core, unsigned *socket);
/* The socket of the first logical processor of a memory node. ST_MISSING: it has none, or its socket is not listed. */
MUST_CHECK enum status uncore_socket_of_node(const struct access *a, const struct uncore *u, unsigned node, unsigned *socket);
/* Number of boxes of a type in a socket. */
unsigned uncore_instances(const struct uncore *u, const struct uncore_box *box, unsigned socket);

/* Finds an event by name, and its box; NULL if the processor has none of that name. A colon ends the name. */
const struct uncore_event *uncore_event_find(const struct processor *p, const char *name, const struct uncore_box **box);
/* Units of a link's counts per line of 64 bytes: line_units of its description, by default 8 (flits of 8 bytes). */
unsigned uncore_line_units(const struct uncore_box *box);

/* Whether the event counts what counter 0 of its box counts. */
bool uncore_sees_counter_0(const struct uncore_box *box, const struct uncore_event *event);
/* Whether filter f of the box has no effect on the event: it acts only on events that select it by their unit masks. */
bool uncore_filter_idle(const struct uncore_box *box, const struct uncore_event *event, unsigned f);

struct uncore_slot {
	const struct uncore_event *event;
	const struct uncore_box *box;
	uint8_t run;
	uint8_t counter;   /* general counter; for fixed ones see event->fixed */
	uint8_t threshold; /* 0: the event's own */
	bool edge, invert;
	uint8_t used;      /* bit f: the event needs filter f of the box, with this value: */
	uint32_t filter[UNCORE_FILTERS_MAX];
};
struct uncore_plan {
	struct uncore_slot slots[UNCORE_EVENTS_MAX]; /* in the order requested */
	uint8_t count, runs;
};
/* Packs events into runs, each into the first run whose counters can then count all of its events, and in which no other event needs another
 * value of the same extra register or filter, or would be filtered without requesting it. An event that counts what counter 0 counts is in
 * the run of the last event before it that only counter 0 can count. A name may be followed by `:FILTER=VALUE` of its box, `:thresh=N`, `:edge`
 * and `:invert`. ST_MISSING, ST_SYNTAX (an unknown suffix, or a missing filter that the event needs), ST_RANGE (more than the filter holds),
 * ST_FULL, ST_UNSUPPORTED (no such box here): *problem names the event. */
MUST_CHECK enum status uncore_plan(const struct uncore *u, const char *const *names, unsigned n, struct uncore_plan *plan,
                                   const char **problem);

/* Programs a run of the plan on a socket: freeze, selects and counters 0, boxes reset, overflow bits cleared, extra
 * registers and filters, selects, a bus lock if one of the events is a queue's occupancy, release. Counter widths are
 * probed the first time. `lock_va` is a mapped address of two lines that may be changed, used only for the bus lock.
 * ST_UNSUPPORTED: a box does not keep what is written; u->box_absent says so from then on. */
MUST_CHECK enum status uncore_start(const struct access *a, struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                    unsigned socket, uint64_t lock_va);
/* Freezes the boxes of a run and disables their selects; afterwards the socket's global control is as uncore_start found
 * it. Values stay readable. */
MUST_CHECK enum status uncore_stop(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                   unsigned socket);
/* Reads the events of a run into values[slot], summed over the boxes; does not change other slots. */
MUST_CHECK enum status uncore_values(const struct access *a, const struct uncore *u, const struct uncore_plan *plan, unsigned run,
                                   unsigned socket, uint64_t *values);
/* The boxes of one slot separately: values[i] of instance i, 0 for absent ones. */
MUST_CHECK enum status uncore_instance_values(const struct access *a, const struct uncore *u, const struct uncore_slot *s,
                                              unsigned socket, uint64_t values[UNCORE_INSTANCES_MAX]);
/* Difference between two readings of a counter, or of the sum of a slot's counters. */
uint64_t uncore_moved(const struct uncore *u, const struct uncore_slot *s, uint64_t before, uint64_t after);

/* Empties all queues: a locked operation that spans two lines, on a core, through the measuring wrapper. */
MUST_CHECK enum status uncore_bus_lock(const struct access *a, unsigned core, uint64_t va);

/* --- one register of a box (uncore_register.c) --------------------------------------------------- */

/* An instance of a box on a socket; `function` is UNCORE_OWN or another one, `reg` as in the table for instance 0. Counters
 * have up to 64 bits: in configuration space they take two reads, and a third that shows whether the first is still valid. */
struct uncore_at { const struct uncore_box *box; uint16_t socket, instance; uint8_t function; };
MUST_CHECK enum status uncore_reg_write(const struct access *a, const struct uncore *u, struct uncore_at at, uint32_t reg, uint64_t value);
MUST_CHECK enum status uncore_reg_read(const struct access *a, const struct uncore *u, struct uncore_at at, uint32_t reg, uint64_t *value);
MUST_CHECK enum status uncore_write_counter(const struct access *a, const struct uncore *u, struct uncore_at at, uint32_t reg, uint64_t value);
MUST_CHECK enum status uncore_read_counter(const struct access *a, const struct uncore *u, struct uncore_at at, uint32_t reg, uint64_t *value);
/* The bus of a box's functions on a socket. */
const struct uncore_bus *uncore_bus_of(const struct uncore *u, const struct uncore_box *box, unsigned socket);
/* The location of an instance's select and counter c, as a register for these functions. */
uint32_t uncore_select_at(const struct uncore *u, struct uncore_at at, unsigned c);
uint32_t uncore_counter_at(const struct uncore *u, struct uncore_at at, unsigned c);
/* Writes a select as often as its type needs; in configuration space the high half of more than 32 bits is written first. */
MUST_CHECK enum status uncore_write_select(const struct access *a, const struct uncore *u, struct uncore_at at, unsigned counter, uint64_t value);

#endif
