/* tests/expect/expect_control.c: the times of loading control words and of flushed products, from the text of a machine file.
 *
 * At least the slowest of allocation, ports and the wait for the word; at most the slowest of these, the front end and the reservation station, and
 * the rounding to whole cycles. */
#include "tests/expect/expect_control.h"

#include <string.h>

#include "tests/expect/expect_core.h"
#include "tests/expect/expect_ports.h"

#define EVENTS 8 /* an iteration */

static int64_t field(struct machine_text *t, const char *section, const char *key) { return (int64_t)machine_field(t, section, key); }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t width(struct machine_text *t) { return larger(1, smaller(field(t, "core", "issue_width"), field(t, "core", "retire_width"))); }

/* A copy, and a product of it. */
static void product(struct machine_text *t, int64_t *least, int64_t *most)
{
	const int64_t tail = field(t, "core", "macrofusion") == 2 ? 1 : 2;
	const struct port_use uses[] = { { "fp_mul", EVENTS * larger(1, cost_of(t, "fp_mul").busy) }, { "vec_move", field(t, "core", "move_elimination") ? 0 : EVENTS }, { "int", tail - 1 },
		{ "branch", 1 }, { NULL, 0 } };
	const int64_t slots = (2 * EVENTS + tail) * 1000 / EVENTS / width(t), ports = ports_turn_milli(t, uses) / EVENTS;
	const int64_t decoded = (2 * EVENTS + tail) * 1000 / EVENTS / larger(1, field(t, "front", "decode_width")), fetched = 10000 / larger(1, field(t, "front", "decode_bytes"));
	const int64_t held = 2000 * field(t, "core", "dispatch_cycles") / larger(1, field(t, "core", "rs"));

	*least = larger(slots, ports);
	*most = larger(larger(slots, ports), larger(decoded, larger(fetched, held))) + 500;
}

/* Loading a control word: load, operation, further uops of microcode, and the wait behind it. */
static void word(struct machine_text *t, const char *class, const char *wait, int64_t *least, int64_t *most)
{
	const struct cost cost = cost_of(t, class);
	const int64_t tail = field(t, "core", "macrofusion") == 2 ? 1 : 2;
	const int64_t uops = field(t, "uops", class), further = uops > 2 ? uops - 2 : 0, all = further + (field(t, "core", "microfusion") ? 1 : 2), cycles = field(t, "core", wait);
	const struct port_use uses[] = { { class, larger(1, cost.busy) }, { "microcode", further }, { "load", 1 }, { NULL, 0 } };
	const int64_t sequencer = larger(1, field(t, "front", "microcode_width")), slots = (EVENTS * all + tail) * 1000 / EVENTS / width(t), ports = ports_turn_milli(t, uses);
	const int64_t chain = field(t, "core", "dispatch_cycles") + load_cycles(t) + cost.latency, held = 1000 * all * (field(t, "core", "dispatch_cycles") + 1) / larger(1, field(t, "core", "rs"));
	const bool sequenced = uops > field(t, "front", "complex_uops");
	const int64_t front = sequenced ? 1000 * ((all + sequencer - 1) / sequencer + field(t, "front", "microcode_switch_cycles")) : 1000;

	const int64_t slowest = larger(slots, larger(ports, cycles ? 1000 * (chain + cycles) : 0));

	*least = slowest;
	*most = larger(slowest, larger(front, held)) + (cycles ? 2000 : 500);
}

enum status control_milli(struct machine_text *t, const char *row, int64_t *least_milli, int64_t *most_milli)
{
	const bool mxcsr = !strncmp(row, "exec.mxcsr", 10);

	if (!strcmp(row, "exec.fp_assist_flushed.interval")) {
		product(t, least_milli, most_milli);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!mxcsr && strncmp(row, "exec.fpcw", 9))
		return ST_MISSING;
	word(t, mxcsr ? "ldmxcsr" : "fldcw", mxcsr ? "mxcsr_cycles" : "fpcw_cycles", least_milli, most_milli);
	/* the baseline only loads */
	const int64_t tail = field(t, "core", "macrofusion") == 2 ? 1 : 2, slots = (EVENTS + tail) * 1000 / EVENTS / width(t), base = larger(slots, 1000 / larger(1, cost_of(t, "load").ports));

	*least_milli -= larger(base, 1000 * (EVENTS + tail) / EVENTS / larger(1, field(t, "front", "decode_width")));
	*most_milli -= base;
	return t->missing ? ST_SYNTAX : ST_OK;
}
