/* tests/expect/expect_front.c: what a loop takes in the front end, from the text of a machine file.
 *
 * The rules are those at the head of pmu/sim/core_front.c: a loop of no more than front.loop_uops costs nothing; the uop
 * cache delivers front.uop_cache_width uops a cycle, of one window; decoders take front.decode_width instructions a cycle,
 * one of several uops only as the first, of groups that are fetched one a cycle and at most four cycles ahead. Not seen
 * here: microcode, length-changing prefixes, windows that the uop cache cannot hold. */
#include "tests/expect/expect_front.h"

#define TURNS 64u        /* of which the second half is the answer */
#define FETCHED_AHEAD 4u

const char *const front_triads[3] = {
	"a4a4a4l5a5m5s4l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8a7a3d3j6",
	"a4a4a4m5m5s4m6m6s5m6m6s5m6m6s5m9m9s8m9m9s8m9m9s8m9m9s8a7a3d3j6",
	"a4a4a4m6m6s6m7m7s7m7m7s7m7m7s7a7a3d3j2"
};

uint64_t front_slots_of(struct machine_text *t, char kind)
{
	if (kind == 'j')
		return machine_field(t, "core", "macrofusion") == 2 ? 0 : 1;
	return (kind == 's' || kind == 'm') && !machine_field(t, "core", "microfusion") ? 2 : 1;
}

uint64_t front_slots(struct machine_text *t, const char *loop)
{
	uint64_t slots = 0;

	for (; *loop; loop += 2)
		slots += front_slots_of(t, loop[0]);
	return slots;
}

struct front_flow front_flow_of(struct machine_text *t)
{
	struct front_flow f = { .window = machine_field(t, "front", "uop_cache_window"), .cached_width = machine_field(t, "front", "uop_cache_width"),
		.bytes = machine_field(t, "front", "decode_bytes"), .width = machine_field(t, "front", "decode_width"), .taken_cycles = machine_field(t, "front", "taken_cycles") };

	if (!machine_field(t, "front", "uop_cache"))
		f.window = 0;
	f.missing = !f.bytes;
	return f;
}

void front_turn(struct front_flow *f)
{
	f->at = 0;
	f->group = UINT64_MAX;
	if (f->turns++)
		*(f->window ? &f->decode : &f->fetched) += f->taken_cycles;
}

uint64_t front_flow_step(struct front_flow *f, uint64_t length, uint64_t slots, uint64_t room)
{
	const uint64_t begins = f->at;
	const bool first = f->group == UINT64_MAX;

	f->at += length;
	if (f->window) {
		if (first || begins / f->window != f->group || f->taken + slots > f->cached_width) {
			f->decode++;
			f->taken = 0;
		}
		f->group = begins / f->window;
		f->taken += slots;
	} else {
		while (f->bytes && (f->group == UINT64_MAX || f->group != (f->at - 1) / f->bytes)) {
			f->fetched = f->fetched + 1 + FETCHED_AHEAD < f->decode ? f->decode - FETCHED_AHEAD : f->fetched + 1;
			f->group++;
		}
		if (!slots) /* comes with the instruction before it, once it has been fetched */
			return f->decode;
		if (f->fetched > f->decode || f->taken >= f->width || (f->taken && slots > 1)) {
			f->decode = f->fetched > f->decode ? f->fetched : f->decode + 1;
			f->taken = 0;
		}
		f->taken++;
	}
	if (slots && room > f->decode) { /* the queue is full */
		f->decode = room;
		f->taken = f->window ? slots : 1;
	}
	return f->decode;
}

uint64_t front_turn_milli(struct machine_text *t, const char *loop)
{
	struct front_flow f = front_flow_of(t);
	uint64_t half = 0;

	if (front_slots(t, loop) <= machine_field(t, "front", "loop_uops") || f.missing)
		return 0;
	for (unsigned turn = 0; turn < TURNS; turn++) {
		if (turn == TURNS / 2)
			half = f.decode;
		front_turn(&f);
		for (const char *i = loop; *i; i += 2)
			(void)front_flow_step(&f, (uint64_t)(i[1] - '0'), front_slots_of(t, i[0]), 0);
	}
	return 1000 * (f.decode - half) / (TURNS / 2);
}
