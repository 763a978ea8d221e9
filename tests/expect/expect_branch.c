/* tests/expect/expect_branch.c: what a wrong guess costs in the loops of asm/branch.asm, and a store to code, from the text of a machine file.
 *
 * A wrong guess is executed, and core.mispredict_cycles later the right path begins to be delivered and allocated. What comes
 * before the next choice then takes whole cycles of fetch, decoders or uop cache, and allocation, which a turn that was
 * foreseen shares with its neighbours. So turns are followed instruction by instruction through the rules at the head of
 * pmu/sim/core/core_front.c and core.c, with choices drawn at random as the row draws them, and as many turns without a wrong
 * guess are taken off. Not seen here: ports that the wrong path takes, but that it leaves to chance which of several free ones is the next in
 * turn; what the L1I or the queue hold back. */
#include "tests/expect/expect_branch.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect/expect_core.h"

#define TURNS 8192u
#define FETCHED_AHEAD 4

#define STATION_MOST 1024
#define BUFFER_MOST 1024 /* slots of the reorder buffer */
struct station { int64_t entries, held, leaves[STATION_MOST]; }; /* when those that are had are left */

struct way { /* of instructions through the front end into allocation */
	int64_t width, decode_width, decode_bytes, taken, window_bytes, cached_width; /* window_bytes 0: no uop cache */
	int64_t group, fetched, decode, alloc; /* fetch group, its cycle; the latest cycle of each stage */
	int64_t decoded, slots, cached;        /* taken of the latest cycle */
	bool redirected;
	struct station *station;
	int64_t rob, retire_width, retire, retiring; /* the cycle in which the last slot retired, and how many did so in it */
	uint64_t number;                             /* of the next slot */
	int64_t retired[BUFFER_MOST];                /* when the slots before it did, by number */
};

static int64_t field(struct machine_text *t, const char *section, const char *key) { return (int64_t)machine_field(t, section, key); }
static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

/* In a cycle, beside so many that have come into it and not been sent. */
static bool is_full(struct station *s, int64_t cycle, int64_t more)
{
	int64_t held = 0;

	for (int64_t i = 0; i < s->held; i++)
		if (s->leaves[i] >= cycle)
			s->leaves[held++] = s->leaves[i];
	s->held = held;
	return held && held + more >= s->entries;
}

/* The next slot has no entry in a cycle: the one that has it has not retired. */
static bool is_held(const struct way *w, int64_t cycle)
{
	return w->rob <= BUFFER_MOST && w->number >= (uint64_t)w->rob && w->retired[(w->number - (uint64_t)w->rob) % BUFFER_MOST] >= cycle;
}

/* The last slots that were allocated, which have completed by then, retire in order. */
static void retire(struct way *w, int64_t slots, int64_t completed)
{
	for (uint64_t i = w->number - (uint64_t)slots; i < w->number; i++) {
		if (completed > w->retire) {
			w->retire = completed;
			w->retiring = 0;
		} else if (w->retiring == w->retire_width) {
			w->retire++;
			w->retiring = 0;
		}
		w->retiring++;
		w->retired[i % BUFFER_MOST] = w->retire;
	}
}

/* The cycle in which the last of an instruction's slots is allocated; joined: it is part of the slot before it. */
static int64_t step(struct way *w, int64_t at, int64_t bytes, int64_t slots, bool joined)
{
	if (w->window_bytes) {
		if (w->redirected || at / w->window_bytes != w->group) {
			w->decode = (w->redirected ? later(w->decode, w->fetched) : w->decode) + 1;
			w->cached = 0;
		} else if (w->cached && w->cached + slots > w->cached_width) {
			w->decode++;
			w->cached = 0;
		}
		w->cached += slots;
		w->group = at / w->window_bytes;
		w->fetched = w->decode;
	} else {
		const int64_t last = (at + bytes - 1) / w->decode_bytes;

		for (int64_t g = w->redirected ? at / w->decode_bytes : w->group + 1; (w->redirected || w->group != last) && g <= last; g++)
			w->fetched = later(w->fetched + 1, w->decode - FETCHED_AHEAD);
		w->group = last;
		if (w->fetched > w->decode || (!joined && (w->decoded >= w->decode_width || (w->decoded && slots > 1)))) {
			w->decode = later(w->fetched, w->decode + (w->fetched <= w->decode));
			w->decoded = 0;
		}
		w->decoded += !joined;
	}
	w->redirected = false;
	if (w->decode > w->alloc) {
		w->alloc = w->decode;
		w->slots = 0;
	}
	for (int64_t i = 0; i < slots; i++, w->slots++, w->number++) {
		while (w->slots == w->width || is_held(w, w->alloc) || (w->station && is_full(w->station, w->alloc, i))) {
			w->alloc++;
			w->slots = 0;
		}
		w->retired[w->number % BUFFER_MOST] = 0;
	}
	return w->alloc;
}

/* The same, of what needs no port. */
static void pass(struct way *w, int64_t at, int64_t bytes)
{
	struct station *const s = w->station;

	w->station = NULL;
	retire(w, 1, step(w, at, bytes, 1, false));
	w->station = s;
}

static void leave(struct way *w)
{
	w->redirected = true;
	w->fetched += w->taken;
}

static void correct(struct way *w, int64_t right)
{
	w->redirected = true;
	w->fetched = w->decode = right - 1;
	w->decoded = 0;
}

static struct way way_of(struct machine_text *t)
{
	struct way w = { .width = later(1, field(t, "core", "issue_width")), .decode_width = later(1, field(t, "front", "decode_width")),
		.decode_bytes = later(1, field(t, "front", "decode_bytes")), .taken = field(t, "front", "taken_cycles"),
		.cached_width = field(t, "front", "uop_cache_width"), .redirected = true, .rob = field(t, "core", "rob"),
		.retire_width = later(1, field(t, "core", "retire_width")) };

	if (field(t, "front", "uop_cache"))
		w.window_bytes = field(t, "front", "uop_cache_window");
	return w;
}

static uint32_t next(uint32_t *state)
{
	*state ^= *state << 13; /* Marsaglia 2003 */
	*state ^= *state >> 17;
	return *state ^= *state << 5;
}

/* Ports are taken in program order, for a cycle each: a younger part has what is left, of several free ones the next in turn. */
#define PORT_CYCLES 65536u
struct ports { int64_t last, cycle[PORT_CYCLES]; unsigned busy[PORT_CYCLES], above; struct station station; };

static int64_t send(struct ports *p, unsigned mask, int64_t ready)
{
	for (; mask; ready++) {
		const unsigned i = (unsigned)ready % PORT_CYCLES;

		if (p->cycle[i] != ready) {
			p->cycle[i] = ready;
			p->busy[i] = 0;
		}
		const unsigned free = mask & ~p->busy[i], in_turn = free & p->above ? free & p->above : free, one = in_turn & -in_turn;

		if (!free)
			continue;
		p->busy[i] |= one;
		p->above = -one << 1;
		break;
	}
	p->last = later(p->last, ready);
	return ready;
}

/* An entry of the station is left when the later of its parts is sent. */
static void leave_station(struct ports *p, int64_t one, int64_t other)
{
	if (p->station.held < STATION_MOST)
		p->station.leaves[p->station.held++] = later(one, other);
}

static void leave_parts(struct ports *p, int64_t one, int64_t other, bool joined)
{
	leave_station(p, one, joined ? other : one);
	if (!joined)
		leave_station(p, other, other);
}

static int64_t send_alone(struct ports *p, unsigned mask, int64_t ready)
{
	const int64_t cycle = send(p, mask, ready);

	leave_station(p, cycle, cycle);
	return cycle;
}

/* A loop with a choice: it is loaded, worked on, jumped by; an arm for each choice leads to the end of the loop. */
struct choices {
	bool indirect;
	int64_t arm[4], jumped, end; /* addresses; which arms end with a jump */
	uint32_t count;
};

#define CHANCES 4u /* which port is the next in turn behind a wrong path: as before it, or drawn */

/* Cycles of the turns; how many of them go wrong, if any does. */
static int64_t choose(struct machine_text *t, const struct choices *c, bool random, uint32_t chance, uint32_t *wrong)
{
	const int64_t dispatch = field(t, "core", "dispatch_cycles"), l1 = load_cycles(t), mispredict = field(t, "core", "mispredict_cycles");
	const int64_t one = cost_of(t, "int").latency, branch = cost_of(t, "branch").latency, shift = cost_of(t, "shift").latency;
	const int64_t fusion = field(t, "core", "macrofusion");
	struct way w = way_of(t);
	uint32_t state = 2463534242u, slots = 0, ports = 2463534242u + chance;
	int64_t counter = 0, sum = 0, cycles;
	const unsigned loads = cost_of(t, "load").mask, ints = cost_of(t, "int").mask, shifts = cost_of(t, "shift").mask, jumps = cost_of(t, "branch").mask;
	struct ports *p = calloc(1, sizeof(*p));

	if (!p)
		return 0;
	p->station.entries = field(t, "core", "rs");
	w.station = &p->station;
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		const uint32_t choice = random ? next(&state) >> 7 & (c->count - 1) : 0, guess = random ? next(&state) >> 7 & (c->count - 1) : choice;
		int64_t data = send_alone(p, loads, later(step(&w, 0, 5, 1, false) + dispatch, counter)) + l1, at = 5;

		retire(&w, 1, data);
		if (c->indirect) {
			data = send_alone(p, shifts, later(step(&w, at, 3, 1, false) + dispatch, data)) + shift;
			retire(&w, 1, data);
			data = send_alone(p, ints, later(step(&w, at + 3, 3, 1, false) + dispatch, data)) + one;
			retire(&w, 1, data);
			at += 6;
		} else if (!fusion) {
			data = send_alone(p, ints, later(step(&w, at, 2, 1, false) + dispatch, data)) + one;
			retire(&w, 1, data);
			at += 2;
		} else {
			step(&w, at, 2, 1, false);
			at += 2;
		}
		const bool fused = !c->indirect && fusion;
		const int64_t executed = send_alone(p, jumps, later(step(&w, at, 2, !fused, fused) + dispatch, data)) + branch;

		retire(&w, 1, executed);
		if (guess != choice) {
			correct(&w, executed + mispredict);
			p->above = chance ? ~0u << (next(&ports) >> 7 & 7) : p->above;
		} else if (c->arm[choice] != at + 2) {
			leave(&w);
		}
		*wrong += guess != choice;
		sum = send_alone(p, ints, later(step(&w, c->arm[choice], 4, 1, false) + dispatch, sum)) + one;
		retire(&w, 1, sum);
		pass(&w, c->arm[choice] + 4, 1);
		if (c->jumped >> choice & 1) {
			retire(&w, 1, send_alone(p, jumps, step(&w, c->arm[choice] + 5, 2, 1, false) + dispatch) + branch);
			leave(&w);
		} else {
			pass(&w, c->arm[choice] + 5, 1);
		}
		counter = later(step(&w, c->end, 3, 1, false) + dispatch, counter);
		counter = fusion == 2 ? send_alone(p, jumps, counter) + branch : send_alone(p, ints, counter) + one;
		retire(&w, 1, counter);

		const int64_t looped = step(&w, c->end + 3, 2, fusion != 2, fusion == 2) + dispatch;

		if (fusion != 2)
			retire(&w, 1, send_alone(p, jumps, later(looped, counter)) + branch);
		leave(&w);
		slots = (c->indirect ? 4 : fusion ? 2 : 3) + 3 + (fusion == 2 ? 1 : 2);
	}
	cycles = later(later(w.alloc, p->last), TURNS * slots / later(1, field(t, "core", "retire_width")));
	free(p);
	return cycles;
}

/* A routine that is called, stores over its return address, and returns to `back`. What the call stores is its operation's. */
static int64_t call(struct machine_text *t, int64_t back, bool foreseen)
{
	const struct cost branch = cost_of(t, "branch"), std = cost_of(t, "std"), sta = cost_of(t, "sta"), load = cost_of(t, "load"), one = cost_of(t, "int"), extra = cost_of(t, "microcode");
	const int64_t dispatch = field(t, "core", "dispatch_cycles"), forward = field(t, "store", "forward_cycles");
	const int64_t parts = field(t, "core", "microfusion") ? 1 : 2, stack = field(t, "core", "stack_engine") ? 0 : 1, fusion = field(t, "core", "macrofusion");
	const int64_t slots = 1 + parts + stack + 1 + parts + parts + stack + (fusion == 2 ? 1 : 2);
	const bool joined = parts == 1 && !field(t, "core", "rs_unfused");
	struct way w = way_of(t);
	int64_t pointer = 0, counter = 0, sum = 0, cycles;
	struct ports *p = calloc(1, sizeof(*p));

	if (!p)
		return 0;
	p->station.entries = field(t, "core", "rs");
	w.station = &p->station;
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		const int64_t sent = step(&w, 0, 5, 1 + parts + stack, false) + dispatch, called = send_alone(p, branch.mask, later(sent, pointer)) + branch.latency;
		const int64_t told = send(p, sta.mask, later(sent, pointer)), sent_back = send(p, std.mask, called);

		leave_parts(p, told, sent_back, joined);
		if (stack)
			pointer = later(called, send_alone(p, extra.mask, sent) + 1);
		retire(&w, 1 + parts + stack, later(later(called, pointer), later(told + sta.latency, sent_back + std.latency)));
		leave(&w);
		sum = send_alone(p, one.mask, later(step(&w, 64, 4, 1, false) + dispatch, sum)) + one.latency;
		retire(&w, 1, sum);

		const int64_t kept = step(&w, 68, 4, parts, false) + dispatch, address = send(p, sta.mask, later(kept, pointer)), value = send(p, std.mask, kept);

		leave_parts(p, address, value, joined);
		retire(&w, parts, later(value + std.latency, address + sta.latency));

		const int64_t data = later(value + std.latency, address + sta.latency), back_at = step(&w, 72, 1, parts + stack, false) + dispatch;
		const int64_t asked = send(p, load.mask, later(back_at, pointer)), went = send(p, branch.mask, later(data, asked) + forward), executed = went + branch.latency;

		leave_parts(p, asked, went, joined);
		if (stack)
			pointer = later(executed, send_alone(p, extra.mask, back_at) + 1);
		retire(&w, parts + stack, later(executed, pointer));
		if (foreseen)
			leave(&w);
		else
			correct(&w, executed + field(t, "core", "mispredict_cycles"));
		counter = later(step(&w, back, 3, 1, false) + dispatch, counter);
		counter = fusion == 2 ? send_alone(p, branch.mask, counter) + branch.latency : send_alone(p, one.mask, counter) + one.latency;
		retire(&w, 1, counter);

		const int64_t looped = step(&w, back + 3, 2, fusion != 2, fusion == 2) + dispatch;

		if (fusion != 2)
			retire(&w, 1, send_alone(p, branch.mask, later(looped, counter)) + branch.latency);
		leave(&w);
	}
	cycles = later(later(later(w.alloc, p->last), pointer), TURNS * slots / later(1, field(t, "core", "retire_width")));
	free(p);
	return cycles;
}

/* CODE_SMC of bench/measure/codegen.c, or its baseline: a store, six NOPs, a jump to the kernel's end of the loop, and back. Behind a clear
 * decoders take up what follows the store, since a uop cache has lost it; it has the window again when it is left. */
static int64_t rewritten(struct machine_text *t, bool clears)
{
	const struct cost branch = cost_of(t, "branch"), std = cost_of(t, "std"), sta = cost_of(t, "sta"), one = cost_of(t, "int");
	const int64_t dispatch = field(t, "core", "dispatch_cycles"), parts = field(t, "core", "microfusion") ? 1 : 2, fusion = field(t, "core", "macrofusion");
	struct way w = way_of(t);
	const int64_t window = w.window_bytes;
	int64_t counter = 0, cycles;
	struct ports *p = calloc(1, sizeof(*p));

	if (!p)
		return 0;
	p->station.entries = field(t, "core", "rs");
	w.station = &p->station;
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		const int64_t sent = step(&w, 0, 3, parts, false) + dispatch, told = send(p, sta.mask, sent), value = send(p, std.mask, sent);

		leave_parts(p, told, value, parts == 1 && !field(t, "core", "rs_unfused"));
		retire(&w, parts, later(told + sta.latency, value + std.latency));
		if (clears) {
			correct(&w, w.retire + field(t, "core", "smc_cycles"));
			w.window_bytes = 0;
		}
		for (int64_t nop = 0; nop < 6; nop++)
			pass(&w, 3 + nop, 1);
		retire(&w, 1, send_alone(p, branch.mask, step(&w, 9, 3, 1, false) + dispatch) + branch.latency);
		leave(&w);
		w.window_bytes = window;
		counter = later(step(&w, 66, 3, 1, false) + dispatch, counter);
		counter = fusion == 2 ? send_alone(p, branch.mask, counter) + branch.latency : send_alone(p, one.mask, counter) + one.latency;
		retire(&w, 1, counter);

		const int64_t looped = step(&w, 69, 2, fusion != 2, fusion == 2) + dispatch;

		if (fusion != 2)
			retire(&w, 1, send_alone(p, branch.mask, later(looped, counter)) + branch.latency);
		leave(&w);
		retire(&w, 1, send_alone(p, branch.mask, step(&w, 64, 2, 1, false) + dispatch) + branch.latency);
		leave(&w);
	}
	cycles = w.retire;
	free(p);
	return cycles;
}

enum status branch_milli(struct machine_text *t, const char *row, int64_t *least_milli, int64_t *most_milli)
{
	static const struct choices conditional = { false, { 16, 9 }, 2, 22, 2 }, indirect = { true, { 16, 32, 48, 64 }, 15, 80, 4 };
	const struct choices *c = strcmp(row, "branch.indirect.penalty") ? &conditional : &indirect;

	if (!strcmp(row, "branch.return.penalty")) {
		*least_milli = *most_milli = 1000 * (call(t, 6, false) - call(t, 5, true)) / TURNS;
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (!strcmp(row, "sync.self_modifying_code.penalty")) {
		*least_milli = *most_milli = 1000 * (rewritten(t, true) - rewritten(t, false)) / TURNS;
		return t->missing ? ST_SYNTAX : ST_OK;
	}
	if (strcmp(row, "branch.conditional.penalty") && strcmp(row, "branch.indirect.penalty"))
		return ST_MISSING;
	*least_milli = INT64_MAX;
	*most_milli = INT64_MIN;
	for (uint32_t chance = 0; chance < CHANCES; chance++) {
		uint32_t wrong = 0, none = 0;
		const int64_t cycles = choose(t, c, true, chance, &wrong), milli = 1000 * (cycles - choose(t, c, false, 0, &none)) / later(1, wrong);

		*least_milli = milli < *least_milli ? milli : *least_milli;
		*most_milli = later(*most_milli, milli);
	}
	return t->missing ? ST_SYNTAX : ST_OK;
}
