/* tests/expect/expect_core.c: what rows of bench/catalogue/pairs.def should find, from the text of a machine file.
 *
 * Each formula follows the kernel's critical chain through the rules at the head of pmu/sim/core/core.c and of
 * FORMAT.md: an operation dispatches core.dispatch_cycles after it was allocated, and so on. Cycles in thousandths. */
#include "tests/expect/expect_core.h"

#include <string.h>

#include "pmu/text.h"
#include "tests/expect/expect_branch.h"
#include "tests/expect/expect_divide.h"
#include "tests/expect/expect_front.h"
#include "tests/expect/expect_ports.h"
#include "tests/expect/expect_control.h"

static int64_t field(struct machine_text *t, const char *section, const char *key)
{
	uint64_t value = 0;

	if (expect_field(t->machine, t->format, section, key, &value) != ST_OK)
		t->missing = true;
	return (int64_t)value;
}

static bool is(const char *at, size_t n, const char *text)
{
	return strlen(text) == n && !memcmp(at, text, n);
}

static bool parse_cost(const char *text, size_t n, struct cost *out)
{
	uint64_t latency = 0, busy = 0;
	const char *a = memchr(text, ' ', n), *b = a ? memchr(a + 1, ' ', (size_t)(text + n - a - 1)) : NULL;

	if (!b || parse_u64(text, (size_t)(a - text), &latency) != ST_OK || parse_u64(b + 1, (size_t)(text + n - b - 1), &busy) != ST_OK)
		return false;
	*out = (struct cost){ (int64_t)latency, b - a - 1, (int64_t)busy, 0 };
	for (const char *at = a + 1; at < b; at++)
		if (*at != '-')
			out->mask |= 1u << (*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
	return true;
}

/* The file's value, or else the preset in FORMAT.md's list of classes: | class | LATENCY PORTS BUSY | */
struct cost cost_of(struct machine_text *t, const char *class)
{
	struct ini ini;
	struct cost c = { 0, 1, 0, 0 };
	char row[64] = "\n| ";

	ini_init(&ini, t->machine, strlen(t->machine));
	while (ini_next(&ini) == ST_OK)
		if (is(ini.section, ini.section_length, "exec") && is(ini.key, ini.key_length, class) && !is(ini.value, ini.value_length, "unknown")) {
			t->missing |= !parse_cost(ini.value, ini.value_length, &c);
			return c;
		}
	strcat(strncat(row, class, 32), " | ");
	const char *list = strstr(t->format, "<!-- classes -->"), *at = list ? strstr(list, row) : NULL, *end = at ? strstr(at + strlen(row), " |") : NULL;

	if (!end || !parse_cost(at + strlen(row), (size_t)(end - at) - strlen(row), &c))
		t->missing = true;
	return c;
}

static int64_t latency(struct machine_text *t, const char *class) { return cost_of(t, class).latency; }

int64_t load_cycles(struct machine_text *t) { return field(t, "l1d", "cycles") + latency(t, "load"); }

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Slots a cycle of a loop that allocation or retirement bounds. */
static int64_t slots_a_cycle(struct machine_text *t) { return larger(1, smaller(field(t, "core", "issue_width"), field(t, "core", "retire_width"))); }

/* A NOP of k_nop, whose iteration of 8 NOPs and the loop's end is bound by allocation or the front end. */
static int64_t nop_milli(struct machine_text *t)
{
	return larger((8 + (field(t, "core", "macrofusion") == 2 ? 1 : 2)) * 1000 / slots_a_cycle(t), (int64_t)front_iteration_milli(t, "a1a1a1a1a1a1a1a1d3j2")) / 8;
}

/* From a load's data to the data of a later load, through a store. */
static int64_t forward(struct machine_text *t) { return field(t, "store", "forward_cycles") + latency(t, "std"); }

/* The load waits until the store is written: the store's data, the cycle after it retires, one cycle for the write. The baseline is a forwarded load. */
static int64_t forward_fail(struct machine_text *t)
{
	return latency(t, "std") + 2 + field(t, "store", "forward_fail_cycles") - forward(t);
}

/* With four stores an iteration a store retires in the cycle after its load, or later by the cycles that its uops take to retire, for the first store
 * those of the loop's end as well. */
static int64_t late_milli(struct machine_text *t)
{
	const int64_t width = larger(1, field(t, "core", "retire_width")), parts = field(t, "core", "microfusion") ? 1 : 2;
	const int64_t tail = field(t, "core", "macrofusion") == 2 ? 1 : 2;

	return 250 * (larger(0, (tail + parts) / width - 1) + 3 * larger(0, parts / width - 1));
}

/* One of eight pairs of operations, at whose second operation allocation stalls: the stall, and the cycles that allocate this operation, the loop's
 * end where it follows, and the first operation of the next pair. */
static int64_t stalled_milli(struct machine_text *t, int64_t cycles)
{
	const int64_t width = slots_a_cycle(t), tail = field(t, "core", "macrofusion") == 2 ? 1 : 2, alone = (2 + width - 1) / width;

	return 1000 * (cycles + alone) + 125 * ((2 + tail + width - 1) / width - alone);
}

static int64_t uncore_cycles(struct machine_text *t, int64_t n)
{
	int64_t core = field(t, "clock", "core_ratio"), uncore = field(t, "clock", "uncore_ratio");

	return uncore ? (n * core + uncore - 1) / uncore : 0;
}

#define C(cycles) (1000 * (cycles))

/* An x87 operation with its load from memory and its store with a pop. */
static int64_t x87_interval(struct machine_text *t, const char *class, int64_t bits)
{
	int64_t uops = 8 * (field(t, "core", "microfusion") ? 3 : 4) + (field(t, "core", "macrofusion") == 2 ? 1 : 2);

	return larger(C(divide_cycles(t, class, bits, 64, true)), uops * 1000 / 8 / slots_a_cycle(t));
}

/* Whether that many bytes of code stay in the L1I beside 1 KiB of the code that runs them. */
static bool code_stays(struct machine_text *t, int64_t bytes) { return bytes + 1024 <= field(t, "l1i", "bytes"); }

/* 192 lines of code of which six times as many as the L2 has ways share a set (fewer, at least twice as many, if the L3 does not hold six times):
 * whether sets 17 lines apart have room for them, and 192 consecutive lines stay in the L1I. */
static bool code_misses_l2(struct machine_text *t)
{
	const int64_t ways = larger(1, field(t, "l2", "ways")), way = field(t, "l2", "bytes") / ways;
	int64_t times = 6;

	while (times > 2 && (times * ways > 192 || 192 / (192 / (times * ways)) * way > field(t, "l3", "bytes") / 4 * 3))
		times--;
	return code_stays(t, 192 * 64) && way && 192 / (times * ways) * 17 * 64 <= way;
}

/* 64 lines of code of which twice as many as there are ways share a set: whether sets 1 KiB apart have room for them, and 64 consecutive lines stay
 * in the L1I. */
static bool code_misses(struct machine_text *t, const char *cache)
{
	const int64_t ways = larger(1, field(t, cache, "ways"));

	return code_stays(t, 64 * 64) && field(t, "l2", "bytes") && 64 / (2 * ways) * 1024 <= field(t, cache, "bytes") / ways;
}

#define CODE_PAGES 2048
#define ENTRIES_A_LINE 8

/* frontend.itlb_walk goes from page i to page 5 i + 3 of its 2048, whose entries lie in 256 consecutive lines. Counts the steps whose line of entries
 * is no longer in the L1: with LRU, those since whose last use as many other lines of the set were used as there are ways; with another policy,
 * anything between none and all unless all lines fit. */
static void entries_gone(struct machine_text *t, int64_t *least, int64_t *most)
{
	const int64_t ways = larger(1, field(t, "l1d", "ways")), sets = larger(1, field(t, "l1d", "bytes") / 64 / ways), lines = CODE_PAGES / ENTRIES_A_LINE;
	int64_t used[CODE_PAGES / ENTRIES_A_LINE] = { 0 }, page = 0;

	*least = *most = 0;
	for (int64_t step = 1; step <= 2 * CODE_PAGES; step++, page = (5 * page + 3) % CODE_PAGES) {
		const int64_t line = page / ENTRIES_A_LINE;
		int64_t since = 0;

		for (int64_t other = line % sets; other < lines; other += sets)
			since += other != line && used[other] > used[line];
		*most += step > CODE_PAGES && since >= ways;
		used[line] = step;
	}
	if (field(t, "l1d", "policy"))
		*most = lines > sets * ways ? CODE_PAGES : *most;
	else
		*least = *most;
}

/* Whether the uop cache has room for that many lines of code of that many uops each. */
static bool uops_stay(struct machine_text *t, int64_t lines, int64_t uops)
{
	const int64_t each = larger(1, field(t, "front", "uop_cache_line_uops"));

	return lines * ((uops + each - 1) / each) <= field(t, "front", "uop_cache") / each;
}

enum status expect_core(const char *machine, const char *format, const char *row, struct expectation *out)
{
	struct machine_text text = { machine, format, false }, *t = &text;
	int64_t l1 = load_cycles(t), dispatch = field(t, "core", "dispatch_cycles");
	int64_t moves = field(t, "core", "move_elimination") ? 0 : 1;
	bool has_stlb = field(t, "stlb", "entries"), has_l3 = field(t, "l3", "bytes");
	const int64_t decoded = larger(1, field(t, "front", "decode_width"));
	int64_t microcode = field(t, "uops", "microcode"), sequencer = larger(1, field(t, "front", "microcode_width"));
	int64_t transition = field(t, "core", "avx_transition_cycles"), tail = field(t, "core", "macrofusion") == 2 ? 1 : 2;
	int64_t slots = (16 + tail) * 1000 / 8 / slots_a_cycle(t);
	/* ports and slots of the 8 pairs of operations and the loop's end that such a stall delays */
	const int64_t flags_stall = field(t, "core", "partial_flags_cycles"), register_stall = field(t, "core", "partial_register_cycles");
	const struct port_use added_uses[] = { { "int", 16 + tail - 1 }, { "branch", 1 }, { NULL, 0 } }, copied_uses[] = { { "int", 8 + 8 * moves + tail - 1 }, { "branch", 1 }, { NULL, 0 } };
	const int64_t added = larger(ports_turn_milli(t, added_uses) / 8, slots), copied = larger(ports_turn_milli(t, copied_uses) / 8, slots);
	/* 8 copies, products, and the loop's end */
	const struct port_use product_uses[] = { { "fp_mul", 8 * larger(1, cost_of(t, "fp_mul").busy) }, { "vec_move", moves ? 8 : 0 }, { "int", tail - 1 }, { "branch", 1 }, { NULL, 0 } };
	const int64_t products = ports_turn_milli(t, product_uses) / 8;
	const int64_t waited = 2 * latency(t, "imul") + latency(t, "int") + latency(t, "sta"); /* until the address in store.unknown_address is known */
	const int64_t parts = field(t, "core", "microfusion") ? 1 : 2, stored = C(16 * parts + tail) / 16 / slots_a_cycle(t);
	const int64_t iteration = larger(C(6 + parts + tail) / slots_a_cycle(t), (int64_t)front_iteration_milli(t, "a2a3a4a4a3s5l3d3j2")); /* of store.unknown_address */
	const struct { const char *row; bool there; int64_t milli; } formulas[] = {
		{ "store.forward.latency", true, C(forward(t)) },
		/* the second store's data follows the first's by a cycle */
		{ "store.forward_fail.penalty", true, C(forward_fail(t) + larger(1, parts / larger(1, field(t, "core", "retire_width")))) + late_milli(t) },
		{ "store.forward_fail_8_4_2.penalty", field(t, "store", "forward_middle") == 0, C(forward_fail(t)) + late_milli(t) },
		{ "store.forward_fail_*.penalty", true, C(forward_fail(t)) + late_milli(t) },
		{ "store.alias_4k.penalty", true, C(field(t, "store", "alias_cycles")) },
		/* its excess over the iteration's allocation, or over the chain through the L1 */
		{ "store.unknown_address.penalty", true, larger(C(l1 + waited), iteration) - larger(C(l1), iteration) },
		/* from the last product of a chain to the store's address, the load's data and the addition's retirement, or to that of the uops
		 * before it if these retire later; then the clear, and the dispatch of the next product */
		{ "store.disambiguation_clear.penalty", true, C(larger(latency(t, "sta") + field(t, "store", "forward_cycles") + latency(t, "int"),
		  (tail + 3 + 2 * parts) / larger(1, field(t, "core", "retire_width"))) + field(t, "core", "clear_cycles") + dispatch) },
		{ "split.load_line.penalty", true, C(field(t, "load", "split_cycles")) },
		{ "split.load_page.penalty", true, C(field(t, "load", "split_cycles") + field(t, "load", "page_split_cycles")) },
		/* one store is written per cycle, or per allocation of a store */
		{ "split.store_line.penalty", true, larger(C(1 + field(t, "store", "split_cycles")), stored) - larger(C(1), stored) },
		/* 5 bytes instead of 6, where fetch, allocation or decoders bound the iteration */
		{ "frontend.lcp.penalty", code_stays(t, 6 * 4096), C(field(t, "front", "lcp_cycles")) + C(5) / larger(1, field(t, "front", "decode_bytes")) -
		  larger(C(6) / larger(1, field(t, "front", "decode_bytes")), C(1) / larger(1, smaller(slots_a_cycle(t), field(t, "front", "decode_width")))) },
		{ "frontend.l1i_l2.penalty", code_misses(t, "l1i"), C(field(t, "l2", "cycles")) },
		{ "frontend.l1i_l3.penalty", has_l3 && code_misses_l2(t), C(field(t, "l3", "core_cycles") + uncore_cycles(t, field(t, "l3", "uncore_cycles"))) },
		{ "frontend.baclear.penalty", code_stays(t, 2 * 8192), C(field(t, "front", "baclear_cycles") - field(t, "front", "taken_cycles")) },
		{ "tlb.itlb.penalty", has_stlb && field(t, "stlb", "entries") >= 512 && field(t, "itlb", "entries") <= 128 && field(t, "l1i", "bytes") >= 16384, C(field(t, "stlb", "cycles")) },
		{ "exec.addsd.latency", true, C(latency(t, "fp_add")) },
		{ "exec.mulsd.latency", true, C(latency(t, "fp_mul")) },
		{ "exec.divsd_easy.latency", true, C(divide_cycles(t, "fp_div64", 1, 53, false)) },
		{ "exec.divsd_hard.latency", true, C(divide_cycles(t, "fp_div64", 53, 53, false)) },
		{ "exec.divsd_easy.interval", true, C(divide_cycles(t, "fp_div64", 1, 53, true)) },
		{ "exec.divsd_hard.interval", true, C(divide_cycles(t, "fp_div64", 53, 53, true)) },
		{ "exec.sqrtsd_easy.latency", true, C(divide_cycles(t, "fp_sqrt64", 1, 53, false)) },
		{ "exec.sqrtsd_hard.latency", true, C(divide_cycles(t, "fp_sqrt64", 53, 53, false) + 2 * latency(t, "vec_logic")) },
		{ "exec.sqrtsd_hard.interval", true, C(divide_cycles(t, "fp_sqrt64", 53, 53, true)) },
		{ "exec.sqrtsd_easy.interval", true, C(divide_cycles(t, "fp_sqrt64", 1, 53, true)) },
		{ "exec.div64_easy.latency", true, divide_loop_milli(t, "idiv64", 1, 64, false) },
		{ "exec.div64_hard.latency", true, divide_loop_milli(t, "idiv64", 62, 64, false) },
		{ "exec.div64_easy.interval", true, divide_loop_milli(t, "idiv64", 1, 64, true) },
		{ "exec.div64_hard.interval", true, divide_loop_milli(t, "idiv64", 62, 64, true) },
		{ "exec.div32_easy.latency", true, divide_loop_milli(t, "idiv32", 1, 32, false) },
		{ "exec.div32_hard.latency", true, divide_loop_milli(t, "idiv32", 30, 32, false) },
		{ "exec.div32_easy.interval", true, divide_loop_milli(t, "idiv32", 1, 32, true) },
		{ "exec.div32_hard.interval", true, divide_loop_milli(t, "idiv32", 30, 32, true) },
		{ "exec.fdiv_easy.latency", true, C(divide_cycles(t, "x87_div", 1, 64, false)) },
		{ "exec.fdiv_easy.interval", true, x87_interval(t, "x87_div", 1) },
		{ "exec.fdiv_hard.interval", true, x87_interval(t, "x87_div", 64) },
		{ "exec.fsqrt_easy.latency", true, C(divide_cycles(t, "x87_sqrt", 1, 64, false)) },
		{ "exec.fsqrt_hard.latency", true, C(divide_cycles(t, "x87_sqrt", 64, 64, false) + latency(t, "x87_mul")) },
		{ "exec.fsqrt_easy.interval", true, x87_interval(t, "x87_sqrt", 1) },
		{ "exec.fsqrt_hard.interval", true, x87_interval(t, "x87_sqrt", 64) },
		{ "frontend.decode.interval", code_stays(t, 8 * 3072) && !uops_stay(t, 384, 8), C(larger(larger(64 / field(t, "front", "decode_bytes"), 8 / larger(1, field(t, "front", "decode_width"))),
		  8 / slots_a_cycle(t))) },
		/* the cycles of the sequencer, of the decoders for three NOPs, and of the switch; or of allocation; or of the ports; or of the
		 * reservation station, which each uop occupies until it dispatches */
		{ "exec.microcode_switch.penalty", true, larger(larger(larger(C((microcode + sequencer - 1) / sequencer + (3 + decoded - 1) / decoded + field(t, "front", "microcode_switch_cycles")),
		  (8 * (microcode + 3) + tail) * 125 / slots_a_cycle(t)), microcode * 1000 / cost_of(t, "microcode").ports), (8 * microcode + tail) * 125 * (dispatch + 1) / field(t, "core", "rs")) -
		  (8 * 4 + tail) * 125 / (8 * 4 + tail <= field(t, "front", "loop_uops") ? slots_a_cycle(t) : smaller(slots_a_cycle(t), decoded)) },
		/* the cycle in which allocation stops, and the stall; minus half an OR, of which the baseline has a chain of four an iteration */
		{ "exec.sse_avx_transition.penalty", field(t, "cpuid", "isa") & 2, transition ? C(transition + 1) - latency(t, "vec_logic") * 500 : 0 },
		/* one of its two quotients has 62 significant bits, the logarithm that the chain began with */
		{ "exec.fdiv.latency", true, 500 * (divide_cycles(t, "x87_div", 64, 64, false) + divide_cycles(t, "x87_div", 62, 64, false)) },
		/* allocation, copy, product and retirement, minus a product of the baseline */
		{ "exec.fp_assist.penalty", true, C(dispatch + moves + latency(t, "fp_mul") + field(t, "core", "fp_assist_cycles")) -
		  larger(products, slots) },
		{ "exec.partial_flags.penalty", true, flags_stall ? larger(C(latency(t, "int")), stalled_milli(t, flags_stall)) - larger(C(latency(t, "int")), added) : 0 },
		{ "exec.partial_register.penalty", true, register_stall ? stalled_milli(t, register_stall) - copied : 0 },
		{ "exec.bypass_delay.penalty", true, C(field(t, "core", "bypass_cycles")) },
		/* the baseline is a chain through memory as well */
		{ "sync.lock.penalty", true, C(latency(t, "lock") - forward(t) - latency(t, "int")) },
		{ "sync.split_lock.penalty", true, C(latency(t, "lock") + field(t, "core", "split_lock_cycles") - forward(t) - latency(t, "int")) },
		{ "sync.mfence.penalty", true, C(latency(t, "mfence")) - nop_milli(t) },
		{ "sync.lfence.penalty", true, C(dispatch + latency(t, "lfence") + 1) - nop_milli(t) },
		{ "sync.sfence.penalty", true, C(cost_of(t, "sfence").busy) - nop_milli(t) },
		{ "sync.pause.penalty", true, C(dispatch + latency(t, "pause")) - nop_milli(t) },
	};

	int64_t branch_least, branch_most, control_least, control_most;

	if (!strcmp(row, "split.load_l2.penalty")) { /* two lines instead of one: the second may wait for the L2 */
		const int64_t held = field(t, "load", "split_miss_cycles"), split = C(held ? held : field(t, "load", "split_cycles")), most = split + C(field(t, "l2", "busy_cycles"));

		int64_t bytes = 2048; /* a power of two that is at least twice the L1, in three quarters of the L2 */

		while (bytes < 2 * field(t, "l1d", "bytes"))
			bytes *= 2;
		*out = (struct expectation){ split - larger(500, split / 50), most + larger(500, most / 50) };
		return t->missing ? ST_SYNTAX : bytes > field(t, "l2", "bytes") / 4 * 3 ? ST_UNSUPPORTED : ST_OK;
	}

	if (branch_milli(t, row, &branch_least, &branch_most) == ST_OK) {
		*out = (struct expectation){ branch_least - larger(500, branch_least / 50), branch_most + larger(500, branch_most / 50) };
		/* the two cycles that allocate the loop's end and the routine read at most three registers each from outside the ROB */
		if (!strcmp(row, "branch.return.penalty") && field(t, "core", "register_reads") && field(t, "core", "register_reads") < 3)
			out->most_milli += C(2);
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "store.disambiguation_clear.penalty") && !field(t, "store", "disambiguation"))
		return t->missing ? ST_SYNTAX : ST_MISSING; /* no load passes a store: there is nothing to clear or to count */
	/* A loop buffer replaces the sequencer: there is no switch to it, and Nehalem's UOPS_DECODED.MS counts no uop. */
	const int64_t loop = field(t, "front", "loop_uops"), mxcsr = field(t, "uops", "ldmxcsr") - (field(t, "core", "microfusion") ? 1 : 0);

	if ((!strcmp(row, "exec.microcode_switch.penalty") && 8 * (microcode + 3) + tail <= loop) ||
	    (str_glob("exec.mxcsr*.penalty", row) && strstr(machine, "events = nehalem") && 8 * mxcsr + tail <= loop))
		return t->missing ? ST_SYNTAX : ST_MISSING;
	if (control_milli(t, row, &control_least, &control_most) == ST_OK) {
		const bool penalty = strstr(row, ".penalty");

		*out = (struct expectation){ control_least - (penalty ? larger(500, control_least / 50) : larger(100, control_least / 100)), control_most + (penalty ? larger(500, control_most / 50) : larger(100, control_most / 100)) };
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	/* The reorder buffer and the station must not bound the baseline (Little's law): slots are held until the load has its data, operations until
	 * they dispatch. Otherwise allocation never runs far enough ahead of the chain, the baseline's loads wait as well, and nothing proves the
	 * row. */
	const int64_t kept = (6 + parts + tail) * (dispatch + waited + l1 + 1), waiting = (6 + tail) * dispatch + 5 * latency(t, "imul") + 2 * latency(t, "int") + l1;

	/* the last of eight consecutive loads would pass its store */
	if (!strcmp(row, "store.unknown_address.penalty") && field(t, "store", "disambiguation_limit") < 8)
		return t->missing ? ST_SYNTAX : ST_MISSING;
	if (!strcmp(row, "store.unknown_address.penalty") && (iteration > C(l1) || kept > l1 * field(t, "core", "rob") || waiting > l1 * field(t, "core", "rs")))
		return t->missing ? ST_SYNTAX : ST_MISSING;
	if (!strcmp(row, "frontend.itlb_walk.penalty")) {
		const int64_t nearest = field(t, "l1d", "cycles"); /* a walk's load needs no port */
		const int64_t walk = C((has_stlb ? field(t, "stlb", "cycles") : 0) + field(t, "walk", "cycles") + nearest), farther = field(t, "l2", "bytes") ? C(field(t, "l2", "cycles") - nearest) : 0;
		uint64_t above_least, above_most;
		int64_t least = 0, most = 0, tolerance;

		/* 2048 pages of code, of which the first level holds less than half and the second less than three quarters. A line of code and an
		 * entry of each fit in three quarters of the L2, and no set of it gets more lines than it has ways, one of the wrapper's included
		 * where every set has code. */
		const int64_t l2 = field(t, "l2", "bytes"), ways = larger(1, field(t, "l2", "ways")), sets = larger(1, l2 / 64 / ways);
		const int64_t met = (CODE_PAGES - 1) / sets + 1 + (CODE_PAGES / ENTRIES_A_LINE - 1) / sets + 1 + (sets > CODE_PAGES ? 0 : 1);

		if (field(t, "itlb", "entries") > 1024 || field(t, "stlb", "entries") > 1536 || (l2 && (l2 / 4 * 3 < CODE_PAGES * (64 + 8) || met > ways)))
			return t->missing ? ST_SYNTAX : ST_UNSUPPORTED;
		entries_gone(t, &least, &most);
		machine_walk_loads(t, 12, CODE_PAGES * 4096, &above_least, &above_most);
		least = walk + farther * least / CODE_PAGES + C(nearest) * (int64_t)above_least;
		most = walk + farther * most / CODE_PAGES + C(nearest) * (int64_t)above_most;
		tolerance = larger(500, most / 50);
		*out = (struct expectation){ least - tolerance, most + tolerance };
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "exec.rob_read_port.penalty") && field(t, "core", "register_reads") == 3) {
		/* one comparison a cycle, not one per port or as many as allocation admits of 16 and the loop's end */
		const int64_t alone = larger(1000 / cost_of(t, "int").ports, (16 + tail) * 1000 / 16 / slots_a_cycle(t));
		const int64_t most = alone < 1000 ? 1000 - alone : 0;

		*out = (struct expectation){ most > 167 ? most - 167 : 0, most + 100 };
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (t->missing)
		return ST_SYNTAX;
	for (size_t i = 0; i < COUNT_OF(formulas); i++) {
		int64_t milli = formulas[i].milli, tolerance;

		if (!str_glob(formulas[i].row, row))
			continue;
		if (!formulas[i].there)
			return ST_UNSUPPORTED;
		/* The formulas leave out how much of the neighbouring allocation a penalty hides. */
		tolerance = strstr(row, ".penalty") ? (milli / 50 > 500 ? milli / 50 : 500) : (milli / 100 > 100 ? milli / 100 : 100);
		*out = (struct expectation){ milli - tolerance, milli + tolerance };
		return ST_OK;
	}
	return ST_MISSING;
}
