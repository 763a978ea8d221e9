/* tests/expect/expect_turn.c: what a turn of a pair's loop takes, followed instruction by instruction, from the text of a machine file.
 *
 * Where microcode comes beside what a loop is about, or allocation, front end and ports take turns in holding it up, none of them alone says what a turn
 * takes: uops of microcode may go to the port that the operation needs, and which of several free ones is the next in turn decides how
 * often. So the loops of asm/arith.asm and asm/core_misc.asm go through the rules of expect_follow.c, in windows as the rows have them: of n turns and of twice
 * as many. Which port is the next in turn when a window begins is not known: each is tried. */
#include "tests/expect/expect_turn.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect/follow_core.h"

#define STARTS 8u
#define EVENTS 8u /* of a turn */
#define LINE_TURNS 256u
#define OWN_TURNS 1024u      /* of store.rfo.interval, a line each */
#define OWN_BYTES 131072u    /* of its array, in a large page */
#define PAGE_LINES 32768u
#define QUIET_CYCLES 100000u /* between windows */

/* A loop is built from its first instruction on. */
struct turn { struct machine_text *t; struct op ops[OPS_MOST]; unsigned n, at, events; struct cost other; };

static void add(struct turn *l, struct op o)
{
	o.at = 1 + l->at;
	l->at += o.length;
	l->ops[l->n++] = o;
}

/* dec and jnz. */
static void end_loop(struct turn *l)
{
	const bool fuses = machine_field(l->t, "core", "macrofusion") == 2;

	add(l, (struct op){ .kind = 'd', .length = 3, .slots = 1, .what = fuses ? BRANCH : INT, .reads = { COUNTER, NO_REG }, .writes = COUNTER });
	add(l, (struct op){ .kind = 'j', .length = 2, .slots = fuses ? 0 : 1, .what = BRANCH, .reads = { COUNTER, NO_REG }, .writes = NO_REG });
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Cycles from the end of a window of so many turns to that of one of twice as many. */
static uint64_t window(const struct turn *l, unsigned turns, unsigned start)
{
	struct core *c = follow_core_of(l->t, "");
	uint64_t slots = 0, half = 0, whole;

	const struct lines_shape near = { .level = 1, .arrays = 1, .cores = 1, .array_bytes = 4096, .distance = 4096 };

	if (c && !l->t->missing)
		c->lines = lines_open(l->t, &near, NULL, false);
	if (!c || !c->lines) {
		free(c);
		return 0;
	}
	for (unsigned i = 0; i < l->n; i++)
		slots += l->ops[i].slots;
	c->streams = slots <= machine_field(l->t, "front", "loop_uops");
	if (l->other.ports) {
		c->cost[OTHER].ports = l->other.mask;
		c->cost[OTHER].latency = (uint64_t)l->other.latency;
		c->cost[OTHER].busy = (uint64_t)l->other.busy;
	}
	c->above = ~0u << start;
	for (unsigned turn = 0; turn < 2 * turns; turn++) {
		half = turn == turns ? larger(c->retire, c->commit) : half;
		front_turn(&c->front);
		for (unsigned i = 0; i < l->n; i++)
			follow_step(c, &l->ops[i], false, 0, 0, 0, 8);
	}
	whole = larger(c->retire, c->commit);
	lines_close(c->lines);
	free(c);
	return whole - half;
}

/* Thousandths of a cycle an event. */
static void each(const struct turn *l, unsigned turns, int64_t *least, int64_t *most)
{
	*least = INT64_MAX;
	*most = 0;
	for (unsigned start = 0; start < STARTS; start++) {
		const int64_t milli = (int64_t)(1000 * window(l, turns, start) / (l->events * turns));

		*least = milli < *least ? milli : *least;
		*most = milli > *most ? milli : *most;
	}
}

/* CONTROL_WORD: four times one word and the other; NULL: its baseline, plain loads. */
static struct turn control_loop(struct machine_text *t, const char *class)
{
	struct turn l = { .t = t, .events = EVENTS };
	const bool fldcw = class && !strcmp(class, "fldcw"), micro = machine_field(t, "core", "microfusion");
	const uint64_t uops = class ? machine_field(t, "uops", class) : 1, further = uops > 2 ? uops - 2 : 0;
	const uint64_t wait = class ? machine_field(t, "core", fldcw ? "fpcw_cycles" : "mxcsr_cycles") : 0;

	if (class)
		l.other = cost_of(t, class);
	for (unsigned i = 0; i < EVENTS; i++)
		add(&l, (struct op){ .kind = 'f', .length = (uint8_t)((i % 2 ? 2 : 3) + (class && !fldcw)), .slots = (uint8_t)(class ? (micro ? 1 : 2) + further : 1),
			.what = class ? OTHER : KINDS, .reads = { NO_REG, NO_REG }, .writes = class ? NO_REG : VECTOR + (enum reg)(i % 2), .further = further, .hold = wait });
	end_loop(&l);
	return l;
}

/* k_fp_assist_flushed: a copy, and a product of it. */
static struct turn product_loop(struct machine_text *t)
{
	const bool copies_free = machine_field(t, "core", "move_elimination");
	struct turn l = { .t = t, .events = EVENTS };

	for (unsigned i = 0; i < EVENTS; i++) {
		add(&l, (struct op){ .kind = 'a', .length = 5, .slots = 1, .what = MOVE, .reads = { CONSTANT, NO_REG }, .writes = VECTOR + (enum reg)i, .free = copies_free });
		add(&l, (struct op){ .kind = 'a', .length = 5, .slots = 1, .what = MUL, .reads = { VECTOR + (enum reg)i, MASK }, .writes = VECTOR + (enum reg)i });
	}
	end_loop(&l);
	return l;
}

/* k_store_line: the line's address, four stores, and where the next one is. */
bool turn_line_milli(struct machine_text *t, int64_t *least_milli, int64_t *most_milli)
{
	struct turn l = { .t = t, .events = 1 };

	add(&l, (struct op){ .kind = 'a', .length = 4, .slots = 1, .what = LEA, .reads = { AT, BASE }, .writes = POINTER });
	for (unsigned i = 0; i < 4; i++)
		add(&l, (struct op){ .kind = 's', .length = i ? 4 : 3, .slots = (uint8_t)front_slots_of(t, 's'), .reads = { CONSTANT, NO_REG }, .writes = NO_REG, .offset = 16 * i });
	add(&l, (struct op){ .kind = 'a', .length = 4, .slots = 1, .what = INT, .reads = { AT, NO_REG }, .writes = AT });
	add(&l, (struct op){ .kind = 'a', .length = 3, .slots = 1, .what = INT, .reads = { AT, MASK }, .writes = AT });
	end_loop(&l);
	each(&l, LINE_TURNS, least_milli, most_milli);
	return !t->missing;
}

/* A window of stores to lines that no cache holds, from line `first` of the array on: until the last one is written. */
static uint64_t own_window(const struct turn *l, struct core *c, unsigned first, unsigned turns)
{
	const uint64_t begin = larger(c->retire, c->commit) + QUIET_CYCLES;

	c->alloc = begin;
	c->slots = 0;
	lines_flush(c->lines);
	for (unsigned turn = 0; turn < turns; turn++) {
		lines_forget(c->lines, c->alloc, c->alloc);
		front_turn(&c->front);
		for (unsigned i = 0; i < l->n; i++)
			follow_step(c, &l->ops[i], false, (first + turn) * 64ull % OWN_BYTES, 0, 0, 8);
	}
	return larger(c->retire, c->commit) - begin;
}

bool turn_owning_milli(struct machine_text *t, int64_t *least_milli, int64_t *most_milli)
{
	struct turn l = { .t = t };
	uint64_t slots = 0;

	add(&l, (struct op){ .kind = 'a', .length = 4, .slots = 1, .what = LEA, .reads = { AT, BASE }, .writes = POINTER });
	add(&l, (struct op){ .kind = 's', .length = 3, .slots = (uint8_t)front_slots_of(t, 's'), .reads = { COUNTER, NO_REG }, .writes = NO_REG });
	add(&l, (struct op){ .kind = 'a', .length = 4, .slots = 1, .what = INT, .reads = { AT, NO_REG }, .writes = AT });
	add(&l, (struct op){ .kind = 'a', .length = 3, .slots = 1, .what = INT, .reads = { AT, MASK }, .writes = AT });
	end_loop(&l);
	for (unsigned i = 0; i < l.n; i++)
		slots += l.ops[i].slots;
	*least_milli = INT64_MAX;
	*most_milli = 0;
	for (unsigned start = 0; start < STARTS / 2; start++) {
		const struct lines_shape far = { .level = 4, .arrays = 1, .cores = 1, .cold = true, .quiet = true, .array_bytes = OWN_BYTES, .distance = 2 * OWN_BYTES,
			.begins = (1 + start) * PAGE_LINES };
		struct core *c = follow_core_of(t, "");

		if (c && !t->missing)
			c->lines = lines_open(t, &far, NULL, false);
		if (!c || !c->lines) {
			free(c);
			return false;
		}
		c->streams = slots <= machine_field(t, "front", "loop_uops");
		c->above = ~0u << start;
		(void)own_window(&l, c, 0, (1 + start % 2) * OWN_TURNS);
		const uint64_t shorter = own_window(&l, c, OWN_TURNS, OWN_TURNS), longer = own_window(&l, c, start * OWN_TURNS, 2 * OWN_TURNS);
		const int64_t milli = 1000 * ((int64_t)longer - (int64_t)shorter) / OWN_TURNS;

		*least_milli = milli < *least_milli ? milli : *least_milli;
		*most_milli = milli > *most_milli ? milli : *most_milli;
		lines_close(c->lines);
		free(c);
	}
	return true;
}

enum status turn_milli(struct machine_text *t, const char *row, int64_t *least_milli, int64_t *most_milli)
{
	const bool mxcsr = !strncmp(row, "exec.mxcsr", 10), fpcw = !strncmp(row, "exec.fpcw", 9);
	int64_t base_least, base_most;

	if (!strcmp(row, "exec.fp_assist_flushed.interval")) {
		const struct turn l = product_loop(t);

		each(&l, 128, least_milli, most_milli);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!mxcsr && !fpcw)
		return ST_MISSING;
	const struct turn test = control_loop(t, mxcsr ? "ldmxcsr" : "fldcw"), base = control_loop(t, NULL);

	each(&test, 64, least_milli, most_milli);
	each(&base, 64, &base_least, &base_most);
	*least_milli -= base_most;
	*most_milli -= base_least;
	return t->missing ? ST_SYNTAX : ST_OK;
}
