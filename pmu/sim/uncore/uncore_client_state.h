/* pmu/sim/uncore/uncore_client_state.h: shared by uncore_client.c and uncore_client_memory.c. */
#ifndef SIM_UNCORE_CLIENT_STATE_H
#define SIM_UNCORE_CLIENT_STATE_H

#include "pmu/sim/uncore/box.h"
#include "pmu/sim/machine/uncore_map.h"

#define CBO_MAX 8u
#define COUNTERS 2u
#define FREE 5u
#define CONTROLLERS 2u
#define CONTROLLER_STEP 0x10000u
#define CONTROLLER_COUNTERS 5u
#define CONTROLLER_ALWAYS 3u

struct layout {
	uint32_t global, status;    /* 0: none, and counters run by their selects alone */
	uint8_t boxes;              /* CBos; 0: they have other registers, which are not modelled */
	bool graphics;              /* MSR 0x396 counts the graphics' box too */
	uint32_t counter, select;   /* of the ARB */
	uint8_t counters;
	uint32_t fixed_control, fixed;
	bool selects;               /* of memory controllers, which have two; cmask of the ARB has six bits */
	uint32_t always;            /* two memory controllers: where the free-running counters' part of the window begins; 0: one, with counters of 32 bits */
};

struct unit {
	uint64_t select, base, start; /* base: value when it was enabled; start: uncore cycle of that */
	int16_t watch;                /* -1: none */
	bool on, clock, channel;      /* channel: its clock is the memory's */
	const char *told;             /* its mistake, once that has been reported */
};

struct client {
	const struct machine *m;
	struct uncore_taps *taps;
	const struct layout *layout;
	unsigned boxes;               /* CBos */
	uint64_t global;
	struct unit fixed, arb[COUNTERS], cbo[CBO_MAX][COUNTERS], imc[FREE];
	struct controller { struct unit counter[CONTROLLER_COUNTERS], always[CONTROLLER_ALWAYS]; bool frozen; } controller[CONTROLLERS];
};

/* uncore_client.c: a counter's value; disables it. */
uint64_t client_value(struct client *u, const struct unit *c);
void client_go_off(struct client *u, struct unit *c);
/* Fills *w with the terms of a code. NULL: done; else why the model cannot count it. */
const char *client_watch_of(const struct client *u, enum uncore_box box, unsigned instance, uint64_t select, struct uncore_watch *w);
/* Enables a counter of a clock or of these terms; the same by its select. */
void client_begin(struct client *u, struct unit *c, const struct uncore_watch *w, const char **why);
void client_go_on(struct client *u, enum uncore_box box, unsigned instance, unsigned n, struct unit *c, struct sim_finding *f, uint32_t msr);
void client_report(struct sim_finding *f, enum finding_kind kind, uint32_t address, uint64_t value, const char *why);

/* uncore_client_memory.c: memory controllers in the window, since Alder Lake. */
void client_memory_read(struct client *u, uint64_t address, unsigned width_bytes, uint64_t *value, struct sim_finding *f);
void client_memory_write(struct client *u, uint64_t address, unsigned width_bytes, uint64_t value, struct sim_finding *f);

#endif
