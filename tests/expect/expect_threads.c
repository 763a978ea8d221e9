/* tests/expect/expect_threads.c: the throughput of two threads that share a core, from the text of a machine file.
 *
 * fp_add_latency: a chain of eight additions, and a decrement with its branch. An iteration of one thread takes the latency of
 * the additions. Two threads overlap as long as issue keeps up. If both need a port in the same cycle, one is a cycle late: at
 * most once in an iteration's additions and once in its branch, two cycles.
 *
 * l1_miss: a load of a line that the L2 has, an addition, a decrement with its branch. One thread is as fast as the slowest of
 * issue, the L2 (l2.busy_cycles a line) and the fill buffers, each of which is held for the L2's latency. The threads share all
 * of these: together they are as fast as one alone. 2 % for the part of a window that is not steady state. */
#include "tests/expect/expect_threads.h"

#include <string.h>

#include "tests/expect/expect_front.h"

#define ADDS       8
#define ADD_UOPS   (ADDS + 2)
#define TOUCH_UOPS 4

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

enum status expect_threads(const char *machine, const char *format, const char *contest, bool together, struct expectation *out)
{
	struct machine_text text = { machine, format, false }, *t = &text;
	const uint64_t width = machine_field(t, "core", "issue_width"), threads = together ? 2 : 1;

	if (machine_field(t, "core", "macrofusion") || machine_field(t, "core", "microfusion"))
		return ST_UNSUPPORTED;
	if (!strcmp(contest, "fp_add_latency")) {
		const uint64_t latency = ADDS * (uint64_t)cost_of(t, "fp_add").latency, least = 1000 * larger(latency, threads * ADD_UOPS / larger(1, width));

		*out = (struct expectation){ (int64_t)(threads * ADD_UOPS * 1000000000ull / (least + (together ? 2000 : 0)) * 99 / 100),
		                             (int64_t)(threads * ADD_UOPS * 1000000000ull / least * 101 / 100) };
	} else if (!strcmp(contest, "l1_miss")) {
		const uint64_t line = larger(1000 * TOUCH_UOPS / larger(1, width), larger(1000 * machine_field(t, "l2", "busy_cycles"),
		                             1000 * machine_field(t, "l2", "cycles") / larger(1, machine_field(t, "lfb", "entries"))));

		*out = (struct expectation){ (int64_t)(TOUCH_UOPS * 1000000000ull / line * 98 / 100), (int64_t)(TOUCH_UOPS * 1000000000ull / line * 102 / 100) };
	} else {
		return ST_MISSING;
	}
	return t->missing ? ST_SYNTAX : ST_OK;
}
