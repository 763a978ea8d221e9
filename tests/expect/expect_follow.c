/* tests/expect/expect_follow.c: streams followed instruction by instruction, from the text of a machine file.
 *
 * Where a window, a reservation station, buffers and ports all hold a loop up, none of them alone says what it takes. So some
 * hundred iterations go through the rules at the head of pmu/sim/core/core.c and core_memory.c: allocation, dispatch in program
 * order, retirement, stores written one a cycle. Lines are asked for as expect_lines.c says; how many times, from where and on how many
 * cores, as expect_multicore.c says; loops of pairs, as expect_turn.c. Not seen here: what none of them has, as wrong guesses, divides, stores whose bytes are loaded, and misses of the TLB. */
#include "tests/expect/expect_follow.h"

#include <stdlib.h>
#include <string.h>

#include "tests/expect/follow_core.h"

static const char *const classes[KINDS] = { "load", "sta", "std", "lea", "int", "branch", "fp_add", "fp_mul", "imul", "vec_move", "microcode", "int" };

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

uint64_t follow_root(uint64_t n)
{
	uint64_t r = 0;

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1)
		if ((r | bit) * (r | bit) <= n)
			r |= bit;
	return r;
}

uint64_t follow_vector_bytes(struct machine_text *t)
{
	const uint64_t isa = machine_field(t, "cpuid", "isa");

	return isa & 16 ? 64 : isa & 2 ? 32 : 16;
}

const char *follow_loop(struct machine_text *t, enum follow_stream stream)
{
	static const char *const loops[3][3] = {
		{ "a4l4l5l5l5l5l5l5l5l8l8l8l8l8l8l8l8a7a3d3j2", "a4l4l5l5l5l8l8l8l8a7a3d3j2", "a4l6l7l7l7a7a3d3j2" },
		{ "a4s5s6s6s6s6s6s6s6s9s9s9s9s9s9s9s9a7a3d3j6", "a4s4s5s5s5s8s8s8s8a7a3d3j2", "a4s6s7s7s7a7a3d3j2" },
		{ "a4a4l5s4l6s5l6s5l6s5l6s5l6s5l6s5l6s5l9s8l9s8l9s8l9s8l9s8l9s8l9s8l9s8a7a3d3j6",
		  "a4a4l5s4l6s5l6s5l6s5l9s8l9s8l9s8l9s8a7a3d3j6", "a4a4l6s6l7s7l7s7l7s7a7a3d3j2" },
	};
	const unsigned form = follow_vector_bytes(t) == 64 ? 2 : follow_vector_bytes(t) == 32 ? 1 : 0;

	return stream == FOLLOW_TRIAD ? front_triads[form] : loops[stream][form];
}

/* --- the stages ---------------------------------------------------------------------------------- */

/* Of the registers that a group reads, those outside the reorder buffer in cycle t are not in `set`: how many come to it. */
static uint64_t outside(const struct core *c, const enum reg *reads, uint64_t t, uint64_t set)
{
	for (unsigned i = 0; i < 2; i++)
		if (reads[i] != NO_REG && c->written[reads[i]] < t)
			set |= 1ull << reads[i];
	return set;
}

/* When the next group is allocated. */
static uint64_t allocate(struct core *c, uint64_t delivered, bool load, bool store, unsigned entries, const enum reg *reads)
{
	uint64_t t = later(later(c->alloc + (c->slots >= c->width), delivered), c->barrier), set;

	if (c->groups >= c->rob_size)
		t = later(t, c->rob[c->groups % c->rob_size] + 1);
	if (load && c->loads >= c->lb_size)
		t = later(t, c->lb[c->loads % c->lb_size] + 1);
	if (store && c->stores >= c->sb_size)
		t = later(t, c->sb[c->stores % c->sb_size] + 1);
	for (;;) {
		uint64_t held = 0, first = UINT64_MAX;

		for (uint64_t i = 0; i < c->leaving;) {
			if (c->leave[i] < t) {
				c->leave[i] = c->leave[--c->leaving];
				continue;
			}
			held++;
			first = c->leave[i] < first ? c->leave[i] : first;
			i++;
		}
		if (held && held + entries > c->rs_size) {
			t = first + 1;
			continue;
		}
		set = outside(c, reads, t, t == c->alloc ? c->read_set : 0);
		if (c->reads_most && (uint64_t)__builtin_popcountll(set) > c->reads_most && t == c->alloc && c->read_set) {
			t++;
			continue;
		}
		break;
	}
	c->slots = (t == c->alloc ? c->slots : 0) + 1;
	c->read_set = set;
	c->alloc = t;
	c->queued[c->groups % c->queue] = t;
	return t;
}

/* The first cycle from t on in which a port for it is free; of several the next one in turn. */
static uint64_t send(struct core *c, enum what what, uint64_t t)
{
	for (;; t++) {
		unsigned free = c->cost[what].ports;

		for (uint64_t i = 0; i < later(c->cost[what].busy, 1) && free; i++)
			if (c->busy[(t + i) % CYCLES].cycle == t + i)
				free &= ~c->busy[(t + i) % CYCLES].taken;
		if (!free)
			continue;
		const unsigned next = free & c->above ? free & c->above : free, bit = next & -next;

		for (uint64_t i = 0; i < later(c->cost[what].busy, 1); i++) {
			if (c->busy[(t + i) % CYCLES].cycle != t + i)
				c->busy[(t + i) % CYCLES].taken = 0;
			c->busy[(t + i) % CYCLES].cycle = t + i;
			c->busy[(t + i) % CYCLES].taken |= bit;
		}
		c->above = -bit << 1;
		return t;
	}
}

/* A group that completes in `done` leaves the station in `left` and the reorder buffer in the cycle that is returned. */
static uint64_t retire(struct core *c, uint64_t left, unsigned entries, uint64_t done)
{
	for (unsigned i = 0; i < entries; i++)
		c->leave[c->leaving++] = left;
	if (done > c->retire) {
		c->retire = done;
		c->retired_now = 0;
	}
	if (c->retired_now >= c->retire_width) {
		c->retire++;
		c->retired_now = 0;
	}
	c->retired_now++;
	c->rob[c->groups++ % c->rob_size] = c->retire;
	return c->retire;
}

static uint64_t deliver(struct core *c, const struct op *o)
{
	const uint64_t room = c->groups >= c->queue ? c->queued[c->groups % c->queue] : 0;

	return c->streams ? 0 : front_flow_step(&c->front, o->length, o->slots, room);
}

/* --- instructions -------------------------------------------------------------------------------- */

/* The uops behind an instruction's own, in a chain that none but its retirement waits for; what is behind it may. Returns when the last one retires. */
static uint64_t microcode(struct core *c, const struct op *o, uint64_t delivered, uint64_t done, uint64_t retired)
{
	static const enum reg none[2] = { NO_REG, NO_REG };

	for (uint64_t i = 0; i < o->further; i++) {
		const uint64_t at = send(c, MICROCODE, allocate(c, delivered, false, false, 1, none) + c->dispatch);

		retired = retire(c, at, 1, later(done, at + 1));
	}
	c->barrier = o->hold ? later(c->barrier, done + o->hold) : c->barrier;
	return retired;
}

static void operation(struct core *c, const struct op *o, uint64_t delivered)
{
	const uint64_t a = allocate(c, delivered, false, false, o->free ? 0 : 1, o->reads), ready = later(later(a + c->dispatch, c->ready[o->reads[0]]), c->ready[o->reads[1]]);
	const uint64_t at = o->free ? ready : send(c, o->what, ready), done = at + (o->free ? 0 : c->cost[o->what].latency);

	c->written[o->writes] = microcode(c, o, delivered, done, retire(c, at, o->free ? 0 : 1, done));
	if (o->writes != NO_REG)
		c->ready[o->writes] = done;
}

/* A load that finds the same place of a page in a store under way is held up by it. */
static uint64_t behind_alias(const struct core *c, uint64_t va, uint64_t bytes, uint64_t t)
{
	for (uint64_t i = va / 8; i <= (va + bytes - 1) / 8; i++) {
		const struct piece *p = &c->piece[i % PIECES];

		if (p->commit > t && p->address_cycle <= t && c->stores - p->number < c->sb_size)
			return t + c->alias_cycles;
	}
	return t;
}

/* By how many cycles one comes late. */
static uint64_t lateness(struct core *c)
{
	if (!c->late)
		return 0;
	c->random = c->random * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's MMIX */
	return (c->random >> 33) % c->late;
}

/* A load alone, or an operation with one. */
static void load(struct core *c, const struct op *o, uint64_t va, uint64_t bytes, uint64_t delivered)
{
	const bool alone = o->what == KINDS, one = alone || c->micro;
	const enum reg pointer = POINTER + (enum reg)o->array, with = o->reads[0];
	const enum reg address[2] = { pointer, alone || !one ? NO_REG : with }, rest[2] = { with, NO_REG };
	const unsigned entries = one && !alone && c->unfused ? 2 : 1;
	uint64_t a = allocate(c, delivered, true, false, entries, address), left, done, r;

	left = send(c, LOAD, later(a + c->dispatch, c->ready[pointer]));
	if (o->kind == 'f') {
		done = left + c->l1_cycles;
	} else {
		const uint64_t goes = behind_alias(c, va, bytes, left);

		done = lines_load(c->lines, o->at, va, c->translate ? c->translate(c->pages, va, goes) : goes);
	}
	done += c->cost[LOAD].latency;
	done += lateness(c);
	if (!one) {
		r = retire(c, left, 1, done);
		c->lb[c->loads++ % c->lb_size] = r;
		a = allocate(c, delivered, false, false, 1, rest);
	}
	if (!alone) {
		left = send(c, o->what, later(later(a + c->dispatch, done), c->ready[with]));
		done = left + c->cost[o->what].latency;
	}
	r = retire(c, left, entries, done);
	if (one)
		c->lb[c->loads++ % c->lb_size] = r;
	c->written[o->writes] = microcode(c, o, delivered, done, r);
	if (o->writes != NO_REG)
		c->ready[o->writes] = done;
}

static void store(struct core *c, bool nontemporal, enum reg data, uint64_t va, uint64_t bytes, uint64_t delivered)
{
	const enum reg both[2] = { POINTER, c->micro ? data : NO_REG }, rest[2] = { data, NO_REG };
	uint64_t a = allocate(c, delivered, false, true, c->micro && c->unfused ? 2 : 1, both), address, left, r;

	left = send(c, STA, later(a + c->dispatch, c->ready[POINTER]));
	address = left + c->cost[STA].latency;
	if (!c->micro) {
		(void)retire(c, left, 1, address);
		a = allocate(c, delivered, false, false, 1, rest);
	}
	const uint64_t sent = send(c, STD, later(a + c->dispatch, c->ready[data])), there = sent + c->cost[STD].latency + (c->loads ? 0 : lateness(c));

	r = retire(c, c->micro ? later(left, sent) : sent, c->micro && c->unfused ? 2 : 1, later(c->micro ? address : 0, there));
	c->commit = later(r + 1, c->commit + 1);
	c->commit = later(c->commit, nontemporal ? lines_past(c->lines, va, bytes, c->commit) : lines_store(c->lines, va, r + 1));
	for (uint64_t i = va / 8; i <= (va + bytes - 1) / 8; i++)
		c->piece[i % PIECES] = (struct piece){ c->commit, address, c->stores };
	c->sb[c->stores++ % c->sb_size] = c->commit;
}

/* --- loops ------------------------------------------------------------------------------------- */

/* What the letters of a loop are in a stream. */
static unsigned read_loop(struct machine_text *t, const char *loop, unsigned arrays, uint64_t bytes, struct op *ops)
{
	const bool fuses = machine_field(t, "core", "macrofusion") == 2;
	unsigned n = 0, pointers = 0, stored = 0, loaded = 0;

	for (const char *i = loop; *i && n < OPS_MOST; i += 2, n++) {
		const unsigned loads_a_vector = arrays == 3 ? 2 : 1, at = i[0] == 's' ? stored : loaded / loads_a_vector;
		struct op *o = &ops[n];

		*o = (struct op){ .kind = i[0], .length = (uint8_t)(i[1] - '0'), .slots = (uint8_t)front_slots_of(t, i[0]), .what = INT, .reads = { NO_REG, NO_REG }, .writes = NO_REG };
		if (i[0] == 'a' && pointers < arrays) { /* that of the array that is stored to comes last */
			o->writes = POINTER + ++pointers % arrays;
			o->what = LEA;
			memcpy(o->reads, (enum reg[]){ AT, o->writes - POINTER + BASE }, sizeof(o->reads));
		} else if (i[0] == 'a' && i[2] == 'm') {
			o->what = MUL;
			o->writes = VECTOR + (loaded - 1) / loads_a_vector % VECTORS;
			memcpy(o->reads, (enum reg[]){ o->writes, CONSTANT }, sizeof(o->reads));
		} else if (i[0] == 'a') {
			o->writes = o->reads[0] = AT;
			o->reads[1] = i[2] == 'd' ? MASK : NO_REG;
		} else if (i[0] == 'l' || i[0] == 'm') {
			const bool product = bytes > 16 && !(loaded % 2);

			o->what = i[0] == 'l' ? KINDS : product ? MUL : ADD;
			o->writes = VECTOR + at % VECTORS;
			o->reads[0] = product ? CONSTANT : o->writes;
			o->array = arrays == 3 ? 2 - loaded % 2 : arrays - 1;
			o->offset = at * bytes;
			loaded++;
		} else if (i[0] == 's') {
			o->reads[0] = arrays == 1 ? CONSTANT : VECTOR + at % VECTORS;
			o->offset = at * bytes;
			stored++;
		} else {
			o->what = i[0] == 'j' || fuses ? BRANCH : INT;
			o->reads[0] = COUNTER;
			o->writes = i[0] == 'd' ? COUNTER : NO_REG;
		}
	}
	return n;
}

/* The triad past the caches stores whole lines of up to eight vectors, behind the loads for them. */
static void group_stores(struct op *ops, unsigned n, uint64_t bytes)
{
	const unsigned group = bytes == 64 ? 4 : 8;
	struct op held[VECTORS], sorted[OPS_MOST];
	unsigned stores = 0, out = 0;

	for (unsigned i = 0; i < n; i++) {
		if (ops[i].kind == 's')
			held[stores++] = ops[i];
		else
			sorted[out++] = ops[i];
		for (unsigned k = 0; stores == group && k < group; k++)
			sorted[out++] = held[k];
		stores = stores == group ? 0 : stores;
	}
	memcpy(ops, sorted, out * sizeof(*ops));
}

unsigned follow_ops(struct machine_text *t, enum follow_stream stream, bool nontemporal, struct op *ops)
{
	const unsigned arrays = follow_arrays(stream);
	const uint64_t bytes = follow_vector_bytes(t);
	const unsigned n = read_loop(t, follow_loop(t, stream), arrays, bytes, ops);

	if (nontemporal && arrays == 3)
		group_stores(ops, n, bytes);
	for (unsigned i = 0, at = 1; i < n; at += ops[i++].length)
		ops[i].at = at;
	return n;
}

uint64_t follow_asks(const struct core *c, const struct op *o, bool nontemporal)
{
	const bool loads = o->kind == 'l' || o->kind == 'm' || o->kind == 'f';
	uint64_t t = c->alloc;

	if (!loads && o->kind != 's')
		return t;
	t = later(t, c->barrier);
	if (c->groups >= c->rob_size)
		t = later(t, c->rob[c->groups % c->rob_size] + 1);
	if (loads && c->loads >= c->lb_size)
		t = later(t, c->lb[c->loads % c->lb_size] + 1);
	if (loads)
		t = later(t + c->dispatch, c->ready[POINTER + (enum reg)o->array]);
	if (o->kind == 's')
		t = later(t, (nontemporal ? later(c->retire, c->commit) : c->retire) + 1);
	return lines_room(c->lines, t);
}

void follow_step(struct core *c, const struct op *o, bool nontemporal, uint64_t at, uint64_t base, uint64_t distance, uint64_t bytes)
{
	const uint64_t delivered = deliver(c, o), va = base + o->array * distance + at + o->offset;

	if (o->kind == 'l' || o->kind == 'm' || o->kind == 'f')
		load(c, o, va, bytes, delivered);
	else if (o->kind == 's')
		store(c, nontemporal, o->reads[0], va, bytes, delivered);
	else if (o->slots)
		operation(c, o, delivered);
}

struct core *follow_core_of(struct machine_text *t, const char *loop)
{
	struct core *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->t = t;
	for (unsigned i = 0; i < KINDS; i++) {
		const struct cost cost = cost_of(t, classes[i]);

		c->cost[i].ports = cost.mask;
		c->cost[i].latency = (uint64_t)cost.latency;
		c->cost[i].busy = (uint64_t)cost.busy;
		t->missing |= !cost.mask;
	}
	c->front = front_flow_of(t);
	c->streams = front_slots(t, loop) <= machine_field(t, "front", "loop_uops");
	c->l1_cycles = machine_field(t, "l1d", "cycles");
	c->width = machine_field(t, "core", "issue_width");
	c->retire_width = machine_field(t, "core", "retire_width");
	c->rob_size = machine_field(t, "core", "rob");
	c->rs_size = machine_field(t, "core", "rs");
	c->lb_size = machine_field(t, "core", "load_buffers");
	c->sb_size = machine_field(t, "core", "store_buffers");
	c->dispatch = machine_field(t, "core", "dispatch_cycles");
	c->reads_most = machine_field(t, "core", "register_reads");
	c->queue = machine_field(t, "front", "queue");
	c->alias_cycles = machine_field(t, "store", "alias_cycles");
	c->unfused = machine_field(t, "core", "rs_unfused");
	c->micro = machine_field(t, "core", "microfusion");
	t->missing |= c->front.missing || !c->width || !c->retire_width || !c->rob_size || c->rob_size > WINDOW_MOST || !c->rs_size || !c->lb_size ||
		c->lb_size > WINDOW_MOST || !c->sb_size || c->sb_size > WINDOW_MOST || !c->queue || c->queue > WINDOW_MOST;
	return c;
}
