/* tests/expect/expect_front.c: the time of a loop in the front end, from the text of a machine file.
 *
 * The rules are those at the head of pmu/sim/core/core_front.c: a loop of no more than front.loop_uops costs nothing; the uop
 * cache delivers front.uop_cache_width uops a cycle, of one window; decoders take front.decode_width instructions a cycle,
 * one of several uops only as the first, of groups that are fetched one a cycle and at most four cycles ahead; the sequencer delivers
 * instructions of more than front.complex_uops. Not modelled: length-changing prefixes, more windows than the uop cache has room for. */
#include "tests/expect/expect_front.h"

#define ITERATIONS 64u        /* the second half of which is the result */
#define FETCHED_AHEAD 4u

const char *const front_triads[3] = {
	"a4a4a4l9a5m9s4l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l6a5m6s5l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8l9a5m9s8a7a3d3j6",
	"a4a4a4m9m9s4m6m6s5m6m6s5m6m6s5m9m9s8m9m9s8m9m9s8m9m9s8a7a3d3j6",
	"a4a4a4m:m:s6m7m7s7m7m7s7m7m7s7a7a3d3j2"
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

/* Position in a loop that is followed instruction by instruction. window: of the uop cache, 0: none; held: which of the loop's first 64 windows the
 * cache has. */
struct flow {
	uint64_t window, window_most, cached_width, switch_cycles, bytes, width, taken_cycles, complex, microcode_width, microcode_cycles;
	uint64_t at, group, in_window, held, fetch_group, fetched, decode, taken, iterations;
	bool redirected, from_cache, sequencer, missing;
};

static struct flow flow_of(struct machine_text *t)
{
	struct flow f = { .window = machine_field(t, "front", "uop_cache_window"), .window_most = machine_field(t, "front", "uop_cache_window_uops"),
		.cached_width = machine_field(t, "front", "uop_cache_width"), .switch_cycles = machine_field(t, "front", "uop_cache_switch_cycles"),
		.bytes = machine_field(t, "front", "decode_bytes"), .width = machine_field(t, "front", "decode_width"), .taken_cycles = machine_field(t, "front", "taken_cycles"),
		.complex = machine_field(t, "front", "complex_uops"), .microcode_width = machine_field(t, "front", "microcode_width"),
		.microcode_cycles = machine_field(t, "front", "microcode_switch_cycles") };

	if (!machine_field(t, "front", "uop_cache"))
		f.window = 0;
	f.missing = !f.bytes || !f.microcode_width;
	return f;
}

/* Restarts the loop. */
static void begin_anew(struct flow *f)
{
	f->at = 0;
	f->redirected = true;
	if (f->iterations++)
		f->fetched += f->taken_cycles;
}

/* Leaves a window of the uop cache for another, or for its own beginning. */
static void window_begins(struct flow *f, uint64_t window)
{
	const bool had = f->from_cache;

	if (!had && f->in_window && f->in_window <= f->window_most)
		f->held |= 1ull << f->group % 64;
	f->from_cache = f->held >> window % 64 & 1;
	if (had && !f->from_cache) {
		f->fetched = f->fetched > f->decode + f->switch_cycles ? f->fetched : f->decode + f->switch_cycles;
		f->redirected = true;
	}
	if (f->from_cache) {
		f->decode = (f->redirected && f->fetched > f->decode ? f->fetched : f->decode) + 1;
		f->taken = 0;
	}
	f->group = window;
	f->in_window = 0;
}

/* Fetches groups up to that of the instruction's last byte. */
static void fetch(struct flow *f, uint64_t first, uint64_t last)
{
	for (uint64_t group = f->redirected ? first : f->fetch_group + 1; group <= last; group++)
		f->fetched = f->fetched + 1 + FETCHED_AHEAD < f->decode ? f->decode - FETCHED_AHEAD : f->fetched + 1;
	f->fetch_group = last;
	f->redirected = false;
}

static void bubble(struct flow *f, uint64_t until)
{
	if (until > f->decode) {
		f->decode = until;
		f->taken = 0;
	}
}

/* Delivers the next instruction; returns the cycle in which it can be allocated. */
static uint64_t step(struct flow *f, uint64_t length, uint64_t slots)
{
	const uint64_t begins = f->at;
	const bool microcode = slots > f->complex, begun = microcode && !f->sequencer;

	f->at += length;
	f->sequencer = microcode;
	if (f->window && (f->redirected || begins / f->window != f->group))
		window_begins(f, begins / f->window);
	f->in_window += slots;
	if (f->from_cache) {
		if (f->taken && f->taken + slots > f->cached_width) {
			f->decode++;
			f->taken = 0;
		}
	} else {
		fetch(f, begins / f->bytes, (f->at - 1) / f->bytes);
		if (!slots) /* is delivered with the instruction before it once it has been fetched */
			return f->decode;
		if (f->fetched > f->decode || f->taken >= f->width || (f->taken && slots > 1)) {
			f->decode = f->fetched > f->decode ? f->fetched : f->decode + 1;
			f->taken = 0;
		}
	}
	if (begun)
		bubble(f, f->decode + f->microcode_cycles);
	const uint64_t delivered = f->decode;

	if (microcode)
		f->decode += (slots - 1) / f->microcode_width;
	if (f->from_cache) {
		f->taken = microcode ? f->cached_width : f->taken + slots;
		f->fetched = f->decode;
		f->redirected = false;
	} else {
		f->taken = microcode ? f->width : f->taken + 1;
	}
	return delivered;
}

uint64_t front_iteration_milli(struct machine_text *t, const char *loop)
{
	struct flow f = flow_of(t);
	uint64_t half = 0;

	if (front_slots(t, loop) <= machine_field(t, "front", "loop_uops") || f.missing)
		return 0;
	for (unsigned iteration = 0; iteration < ITERATIONS; iteration++) {
		if (iteration == ITERATIONS / 2)
			half = f.decode;
		begin_anew(&f);
		for (const char *i = loop; *i; i += 2)
			(void)step(&f, (uint64_t)(i[1] - '0'), front_slots_of(t, i[0]));
	}
	return 1000 * (f.decode - half) / (ITERATIONS / 2);
}
