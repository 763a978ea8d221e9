/* tests/expect/expect_front.c: what a loop takes in the front end, from the text of a machine file.
 *
 * The rules are those at the head of pmu/sim/core_front.c: a loop of no more than front.loop_uops costs nothing; the uop
 * cache delivers front.uop_cache_width uops a cycle, of one window; decoders take front.decode_width instructions a cycle,
 * one of several uops only as the first, of groups that are fetched one a cycle and at most four cycles ahead. Not seen
 * here: microcode, length-changing prefixes, windows that the uop cache cannot hold. */
#include "tests/expect/expect_front.h"

#define TURNS 64u        /* of the decoders; the second half is the answer */
#define FETCHED_AHEAD 4u

const char *const front_triads[3] = {
	"a4a4a4l5a5m5s4l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8a7a3d3j6",
	"a4a4a4m5m5s4m6m6s5m6m6s5m6m6s5m9m9s8m9m9s8m9m9s8m9m9s8a7a3d3j6",
	"a4a4a4m6m6s6m7m7s7m7m7s7m7m7s7a7a3d3j2"
};

static uint64_t slots_of(struct machine_text *t, char kind)
{
	if (kind == 'j')
		return machine_field(t, "core", "macrofusion") == 2 ? 0 : 1;
	return (kind == 's' || kind == 'm') && !machine_field(t, "core", "microfusion") ? 2 : 1;
}

uint64_t front_slots(struct machine_text *t, const char *loop)
{
	uint64_t slots = 0;

	for (; *loop; loop += 2)
		slots += slots_of(t, loop[0]);
	return slots;
}

static uint64_t cached_milli(struct machine_text *t, const char *loop)
{
	const uint64_t window = machine_field(t, "front", "uop_cache_window"), width = machine_field(t, "front", "uop_cache_width");
	uint64_t at = 0, in = UINT64_MAX, cycles = 0, this_cycle = 0;

	for (; *loop && window; at += (uint64_t)(loop[1] - '0'), loop += 2) {
		const uint64_t slots = slots_of(t, loop[0]);

		if (at / window != in || this_cycle + slots > width) {
			cycles++;
			this_cycle = 0;
		}
		in = at / window;
		this_cycle += slots;
	}
	return 1000 * cycles;
}

static uint64_t decoded_milli(struct machine_text *t, const char *loop)
{
	const uint64_t bytes = machine_field(t, "front", "decode_bytes"), width = machine_field(t, "front", "decode_width");
	uint64_t fetched = 0, decode = 0, taken = 0, half = 0;

	for (unsigned turn = 0; turn < TURNS && bytes; turn++) {
		uint64_t at = 0, group = UINT64_MAX;

		if (turn == TURNS / 2)
			half = decode;
		fetched += turn ? machine_field(t, "front", "taken_cycles") : 0;
		for (const char *i = loop; *i; i += 2) {
			const uint64_t slots = slots_of(t, i[0]);

			at += (uint64_t)(i[1] - '0');
			while (group == UINT64_MAX || group != (at - 1) / bytes) {
				fetched = fetched + 1 + FETCHED_AHEAD < decode ? decode - FETCHED_AHEAD : fetched + 1;
				group++;
			}
			if (!slots) /* comes with the instruction before it, once it has been fetched */
				continue;
			if (fetched > decode || taken >= width || (taken && slots > 1)) {
				decode = fetched > decode ? fetched : decode + 1;
				taken = 0;
			}
			taken++;
		}
	}
	return 1000 * (decode - half) / (TURNS / 2);
}

uint64_t front_turn_milli(struct machine_text *t, const char *loop)
{
	if (front_slots(t, loop) <= machine_field(t, "front", "loop_uops"))
		return 0;
	return machine_field(t, "front", "uop_cache") ? cached_milli(t, loop) : decoded_milli(t, loop);
}
