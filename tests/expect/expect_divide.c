/* tests/expect/expect_divide.c: the times of divisions, from the text of a machine file.
 *
 * An integer division is tens of uops. If the reorder buffer or the station does not hold several divisions, the loop's time
 * depends on when each entry is released. So the loop is followed group by group through the rules at the head of
 * pmu/sim/core/core.c. The front end is a separate bound: the sequencer delivers the divisions, the decoders the rest. */
#include "tests/expect/expect_divide.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect/expect_core.h"

#define ITERATIONS 16              /* the second half is the result */
#define DIVISIONS 4           /* an iteration */
#define UOPS_MOST 201         /* of one instruction */
#define GROUPS (ITERATIONS * (DIVISIONS * (UOPS_MOST + 2) + 2))
#define CYCLES 65536

static int64_t field(struct machine_text *t, const char *section, const char *key) { return (int64_t)machine_field(t, section, key); }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t divide_cycles(struct machine_text *t, const char *class, int64_t bits, int64_t of_bits, bool interval)
{
	const struct cost c = cost_of(t, class);
	const int64_t least = field(t, "core", "divide_least_cycles"), whole = interval ? c.busy : c.latency;

	return least && least < whole ? least + ((whole - least) * bits + of_bits - 1) / of_bits : whole;
}

struct core {
	int64_t width, retire_width, rob, rs, dispatch;
	int64_t groups;               /* that have retired */
	int64_t alloc, alloc_slots, retire, retire_slots;
	int64_t retired[GROUPS];
	uint16_t in_station[CYCLES], busy[CYCLES]; /* groups; ports */
	unsigned iteration;                /* of the ports: the one at which the search begins */
	int64_t divider;              /* the cycle from which it is free */
};

/* A group that needs no entry of the station, or that dispatches later (core_left). */
static int64_t core_allocate(struct core *c, bool stays)
{
	int64_t at = c->alloc + (c->alloc_slots == c->width);

	if (c->groups >= c->rob)
		at = larger(at, c->retired[c->groups - c->rob] + 1);
	while (stays && at < CYCLES - 1 && c->in_station[at] >= c->rs)
		at++;
	c->alloc_slots = at == c->alloc ? c->alloc_slots + 1 : 1;
	return c->alloc = at < CYCLES - 1 ? at : CYCLES - 1;
}

/* Dispatches to one of the ports in the first cycle from `ready` on in which a port is free, and the divider too if it is a division. */
static int64_t core_send(struct core *c, const struct cost *cost, int64_t busy, bool divides, int64_t allocated, int64_t ready)
{
	int64_t d = larger(allocated + c->dispatch, ready);

	if (divides)
		d = larger(d, c->divider);
	while (d < CYCLES - 1 && !(cost->mask & ~(unsigned)c->busy[d]))
		d++;
	const unsigned free = cost->mask & ~(unsigned)c->busy[d], behind = free & ~((1u << c->iteration) - 1), pick = behind ? behind : free;
	const unsigned port = pick ? (unsigned)__builtin_ctz(pick) : 0;

	for (int64_t i = 0; i < (divides ? 1 : larger(1, busy)) && d + i < CYCLES; i++)
		c->busy[d + i] |= (uint16_t)(1u << port);
	c->iteration = (port + 1) % 16;
	if (divides)
		c->divider = d + larger(1, busy);
	for (int64_t i = allocated; i <= d; i++)
		c->in_station[i]++;
	return d;
}

static void core_retire(struct core *c, int64_t done)
{
	const int64_t at = larger(c->retire + (c->retire_slots == c->retire_width), done);

	c->retire_slots = at == c->retire ? c->retire_slots + 1 : 1;
	c->retired[c->groups++] = c->retire = at;
}

/* An instruction of one group; returns when its result is ready. free: it needs no port. */
static int64_t core_simple(struct core *c, const struct cost *cost, bool free, int64_t ready)
{
	const int64_t at = core_allocate(c, !free), done = free ? larger(at, ready) : core_send(c, cost, cost->busy, false, at, ready) + cost->latency;

	core_retire(c, free ? at : done);
	return done;
}

static int64_t loop_milli(struct machine_text *t, const char *class, int64_t latency, int64_t busy, bool interval)
{
	const struct cost one = cost_of(t, "int"), branch = cost_of(t, "branch"), microcode = cost_of(t, "microcode"), division = cost_of(t, class);
	const int64_t uops = field(t, "uops", class) < UOPS_MOST ? field(t, "uops", class) : UOPS_MOST;
	const bool free_zero = field(t, "core", "zero_idioms") == 2, copies_free = field(t, "core", "move_elimination"), fused = field(t, "core", "macrofusion") == 2;
	struct core *c = calloc(1, sizeof(*c));
	const bool known_zero = field(t, "core", "zero_idioms"); /* otherwise the XOR waits for the previous division's result in that register */
	int64_t a = 0, remainder = 0, count = 0, half = 0, whole;

	if (!c)
		return 0;
	c->width = larger(1, field(t, "core", "issue_width"));
	c->retire_width = larger(1, field(t, "core", "retire_width"));
	c->rob = larger(1, field(t, "core", "rob"));
	c->rs = larger(1, field(t, "core", "rs"));
	c->dispatch = field(t, "core", "dispatch_cycles");
	for (int64_t iteration = 0; iteration < ITERATIONS; iteration++) {
		half = iteration == ITERATIONS / 2 ? c->retire : half;
		for (int64_t i = 0; i < DIVISIONS; i++) {
			a = core_simple(c, &one, interval && copies_free, interval ? 0 : a);

			const int64_t zero = core_simple(c, &one, free_zero && !interval, known_zero || interval ? 0 : remainder); /* a MOV for an interval, else an XOR */
			const int64_t done = core_send(c, &division, busy, true, core_allocate(c, true), larger(a, zero)) + latency;

			a = remainder = done;
			core_retire(c, done);
			for (int64_t extra = 1; extra < uops; extra++)
				core_retire(c, larger(done, core_send(c, &microcode, 1, false, core_allocate(c, true), 0) + 1));
		}
		if (!fused)
			count = core_simple(c, &one, false, count);
		count = core_simple(c, &branch, false, count);
	}
	whole = c->retire - half;
	free(c);
	return 1000 * whole / (ITERATIONS / 2 * DIVISIONS);
}

int64_t divide_loop_milli(struct machine_text *t, const char *class, int64_t bits, int64_t of_bits, bool interval)
{
	const int64_t uops = field(t, "uops", class), sequencer = larger(1, field(t, "front", "microcode_width")), decoded = larger(1, field(t, "front", "decode_width"));
	const int64_t tail = field(t, "core", "macrofusion") == 2 ? 1 : 2;
	int64_t front = 0;

	if (uops > field(t, "front", "complex_uops") && 4 * (uops + 2) + tail > field(t, "front", "loop_uops"))
		front = 250 * (4 * ((uops + sequencer - 1) / sequencer + field(t, "front", "microcode_switch_cycles")) +
		               3 * ((2 + decoded - 1) / decoded) + (2 + tail + decoded - 1) / decoded);
	return larger(front, loop_milli(t, class, divide_cycles(t, class, bits, of_bits, false), divide_cycles(t, class, bits, of_bits, true), interval));
}
