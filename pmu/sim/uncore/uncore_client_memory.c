/* pmu/sim/uncore/uncore_client_memory.c: accesses to the two memory controllers of Tiger Lake, Alder Lake and their successors, in the host bridge's window. uncore_client.c
 * lists the registers.
 *
 * Source: Linux 6.12 events/intel/uncore_snb.c, adl_uncore_imc*, tgl_uncore_imc* (facts only).
 *
 * Not modelled: the global control of both, on which no select depends here; selects of channels. */
#include "pmu/sim/uncore/uncore_client_state.h"

#define CONTROLLER_SELECT 0xD9D0u
#define CONTROLLER_COUNTER 0xD9E8u
#define CONTROLLER_CONTROL 0xD9C4u
#define CONTROLLER_FROZEN 1u
#define CONTROLLER_SELECT_LEGAL 0x40FFFull

static const struct { uint32_t offset; uint8_t code; } of_controllers[CONTROLLER_ALWAYS] = { { 0x40, 0xF0 }, { 0x58, 0xF1 }, { 0xA0, 0xF2 } };

/* The counter that a memory controller's register belongs to; NULL with *control: the controller's own control. */
static struct unit *of_controller(struct client *u, uint64_t address, unsigned *controller, unsigned *n, bool *select, bool *always, bool *control)
{
	const uint32_t at = (uint32_t)(address - u->m->uncore_window) % CONTROLLER_STEP;
	*controller = (unsigned)((address - u->m->uncore_window) / CONTROLLER_STEP);
	*select = u->layout->selects && at - CONTROLLER_SELECT < 4 * CONTROLLER_COUNTERS && !(at & 3);
	*control = u->layout->selects && at == CONTROLLER_CONTROL;
	*always = false;
	*n = *select ? (at - CONTROLLER_SELECT) / 4 : (at - CONTROLLER_COUNTER) / 8;
	if (*select || (u->layout->selects && at - CONTROLLER_COUNTER < 8 * CONTROLLER_COUNTERS && !(at & 7)))
		return &u->controller[*controller].counter[*n];
	for (*n = 0; *n < CONTROLLER_ALWAYS; ++*n)
		if (at == u->layout->always + of_controllers[*n].offset) {
			*always = true;
			return &u->controller[*controller].always[*n];
		}
	return NULL;
}

/* A counter with a select counts while that names an event and the controller is not frozen. */
static void program_controller(struct client *u, unsigned i, struct sim_finding *f, uint64_t address)
{
	for (unsigned n = 0; n < CONTROLLER_COUNTERS; n++) {
		struct unit *c = &u->controller[i].counter[n];
		const bool want = !u->controller[i].frozen && c->select & 0xFF;
		if (c->on && !want)
			client_go_off(u, c);
		else if (!c->on && want)
			client_go_on(u, UNCORE_BOX_IMC, i, n, c, f, (uint32_t)address);
	}
}

void client_memory_read(struct client *u, uint64_t address, unsigned width_bytes, uint64_t *value, struct sim_finding *f)
{
	unsigned i, n;
	bool select, always, control;
	struct unit *c = of_controller(u, address, &i, &n, &select, &always, &control);
	const char *why = NULL;
	*value = 0;
	if (always && !c->on) {
		struct uncore_watch w = { 0 };
		why = client_watch_of(u, UNCORE_BOX_IMC, i, of_controllers[n].code, &w);
		client_begin(u, c, &w, &why);
	}
	if (why)
		client_report(f, FIND_UNMODELLED, (uint32_t)address, 0, why);
	if (c)
		*value = select ? c->select : client_value(u, c);
	if ((!c && !control) || width_bytes != (c && !select ? 8 : 4))
		client_report(f, FIND_OUTSIDE, (uint32_t)address, width_bytes, "no register of the memory controllers' counters, or not as wide");
}

void client_memory_write(struct client *u, uint64_t address, unsigned width_bytes, uint64_t value, struct sim_finding *f)
{
	unsigned i, n;
	bool select, always, control;
	struct unit *c = of_controller(u, address, &i, &n, &select, &always, &control);
	if (always || (!c && !control) || width_bytes != (c && !select ? 8 : 4)) {
		client_report(f, always ? FIND_IGNORED : FIND_OUTSIDE, (uint32_t)address, value, always ? "the memory controller's free-running counters are read-only" : "no register of the memory controllers' counters, or not as wide");
		return;
	}
	for (unsigned k = 0; k < CONTROLLER_COUNTERS; k++) {
		struct unit *each = &u->controller[i].counter[k];
		if (control || each == c)
			client_go_off(u, each);
		each->select = control && value & 2 ? 0 : each->select;
		each->base = control && value & 4 ? 0 : each->base;
	}
	if (control)
		u->controller[i].frozen = value & CONTROLLER_FROZEN;
	else if (!select)
		c->base = value;
	else
		c->select = value & CONTROLLER_SELECT_LEGAL, c->clock = false;
	if (select && value & ~CONTROLLER_SELECT_LEGAL)
		client_report(f, FIND_RESERVED_IGNORED, (uint32_t)address, value, "reserved bits of a select");
	program_controller(u, i, f, address);
}
