/* tests/expect/expect_bound.c: lower and upper bounds of the time of work that moves lines, from the text of a machine file.
 *
 * Each part of the machine takes time for the lines that pass it. Work is no faster than its slowest part: ports and slots of the core, the L2's port,
 * slices, channels, links, and lines in flight over their latency (Little's law). It is no slower than all parts in series, with as many lines in flight
 * as the out-of-order window certainly has. If all other parts together take less than HIDDEN_PERCENT of the slowest one's time, it hides them: measured
 * on random machines. Not modelled: what the caches hold beside the arrays, page walks, the order of requests. */
#include "tests/expect/expect_bound.h"

#include "tests/expect/expect_front.h"
#include "tests/expect/expect_ports.h"

#define ITERATION_LINES 4u /* of each array */
#define LINE_BYTES 64u
#define HIDDEN_PERCENT 55u
#define HIDDEN_SHARED_PERCENT 110u /* for slices and channels, where prefetchers' requests wait as well */
#define HIDDEN_PERMILLE 20u /* of the slowest one's time, which the hidden ones may add */

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t over(uint64_t a, uint64_t b) { return a / larger(1, b); }

unsigned __int128 bound_hz3(struct machine_text *t)
{
	return (unsigned __int128)machine_field(t, "clock", "bus_hz_times_3") * machine_field(t, "clock", "core_ratio");
}

uint64_t bound_ps_milli(struct machine_text *t, uint64_t ps) { return (uint64_t)(bound_hz3(t) * ps / 3000000000ull); }

/* The time of a line at a rate in bytes per second. */
static uint64_t line_milli(struct machine_text *t, uint64_t bytes_per_second) { return (uint64_t)(bound_hz3(t) * LINE_BYTES * 1000 / 3 / larger(1, bytes_per_second)); }

uint64_t bound_channel_milli(struct machine_text *t) { return line_milli(t, machine_field(t, "dram", "channels") * machine_field(t, "dram", "channel_bytes_per_second")); }

static uint64_t uncore_milli(struct machine_text *t, uint64_t cycles) { return over(1000 * cycles * machine_field(t, "clock", "core_ratio"), machine_field(t, "clock", "uncore_ratio")); }

uint64_t bound_slice_milli(struct machine_text *t)
{
	return machine_field(t, "l3", "bytes") ? over(uncore_milli(t, machine_field(t, "l3", "busy_uncore_cycles")), machine_field(t, "l3", "slices")) : 0;
}

uint64_t bound_lookup_milli(struct machine_text *t)
{
	if (machine_field(t, "l3", "bytes"))
		return 1000 * machine_field(t, "l3", "core_cycles") + uncore_milli(t, machine_field(t, "l3", "uncore_cycles"));
	return 1000 * machine_field(t, machine_field(t, "l2", "bytes") ? "l2" : "l1d", "cycles");
}

uint64_t bound_memory_milli(struct machine_text *t, bool remote, bool most)
{
	const uint64_t ps = machine_field(t, "dram", remote ? "remote_ps" : "local_ps");

	if (!machine_field(t, "dram", "open_page"))
		return bound_ps_milli(t, ps);
	return bound_ps_milli(t, most ? ps + machine_field(t, "dram", "page_miss_ps") : ps - machine_field(t, "dram", "page_hit_ps"));
}

bool bound_of(struct machine_text *t, const struct bound_work *w, struct bound *out)
{
	const bool l3 = machine_field(t, "l3", "bytes"), l2 = machine_field(t, "l2", "bytes"), inclusive = machine_field(t, "l3", "inclusive");
	const bool fetched = !w->alone && machine_field(t, "prefetch", "present");
	const uint64_t l1_milli = 1000 * machine_field(t, "l1d", "cycles"), l2_milli = l2 ? 1000 * machine_field(t, "l2", "cycles") : l1_milli, lookup = bound_lookup_milli(t);
	const uint64_t lfb = larger(1, machine_field(t, "lfb", "entries")), sq = larger(1, machine_field(t, "sq", "entries")), gq = larger(1, machine_field(t, "gq", "read"));
	const uint64_t latency[] = { 0, l1_milli, l2_milli, lookup, lookup + bound_memory_milli(t, w->remote, false) };
	const uint64_t longest = w->level == 4 ? lookup + bound_memory_milli(t, w->remote, true) : latency[w->level];
	/* each complex has an L3 with slices and a tracker of its own, and one path to other complexes and memory */
	const uint64_t complexes = larger(1, machine_field(t, "topology", "complexes")), sharing = over(w->cores + complexes - 1, complexes);
	const uint64_t window = larger(1, smaller(smaller(w->window, lfb), smaller(over(sq, w->of_l2), (l3 && w->level > 2) || w->level == 4 ? over(gq, sharing) : UINT64_MAX)));
	const bool beyond = w->level >= 3 && l3, memory = w->level == 4;
	const uint64_t busy[] = {
		w->core_milli,
		w->level >= 2 && l2 ? 1000 * machine_field(t, "l2", "busy_cycles") * (w->in + w->back) * w->of_l2 : 0,
		/* each line from an exclusive L3 evicts another one from the L2 into it; an inclusive L3 gets back only modified lines */
		beyond ? bound_slice_milli(t) * (w->in + (w->emptied ? 0 : inclusive ? w->back : w->in)) * sharing : 0,
		memory ? bound_channel_milli(t) * (w->in + (w->emptied ? 0 : w->back) + w->past) * w->cores : 0,
		memory && w->remote ? line_milli(t, machine_field(t, "link", "bytes_per_second")) * larger(w->in, w->back + w->past) * w->cores : 0,
		memory && complexes > 1 ? line_milli(t, machine_field(t, "complex", "bytes_per_second")) * w->in * sharing : 0,
	};
	const uint64_t in_flight[] = {
		w->in_core_milli,
		w->past * bound_ps_milli(t, machine_field(t, "wc", "drain_ps")) / lfb,
		w->level >= 2 ? w->in * ((fetched && l2 ? l2_milli : latency[w->level]) - l1_milli) / lfb : 0,
		w->level >= 3 && l2 ? w->in * (latency[w->level] - l2_milli) * w->of_l2 / sq : 0,
		beyond || memory ? w->in * (latency[w->level] - smaller(latency[w->level], (l3 ? 1000 * machine_field(t, "l3", "core_cycles") : 0) + l2_milli)) * sharing / gq : 0,
	};

	uint64_t slowest = w->least_milli ? w->least_milli : w->core_milli;

	*out = (struct bound){ 0, w->level > 1 ? w->in * longest / window : 0 };
	for (unsigned i = 0; i < COUNT_OF(busy); i++) {
		slowest = i ? larger(slowest, busy[i]) : slowest;
		out->most += busy[i];
	}
	out->least = slowest;
	for (unsigned i = 0; i < COUNT_OF(in_flight); i++)
		out->least = larger(out->least, in_flight[i]);
	out->most += in_flight[0] + in_flight[1] + in_flight[4]; /* a line that waits for the tracker already holds its entries below it */
	/* lines in flight never hide as well as the busy time of a part */
	const bool shared = slowest == busy[2] || slowest == busy[3];
	if (out->least == slowest && (out->most - slowest) * 100 < slowest * (shared ? HIDDEN_SHARED_PERCENT : HIDDEN_PERCENT))
		out->most = slowest + slowest * HIDDEN_PERMILLE / 1000;
	/* a line that the L2's prefetcher requests occupies the L2 before the L1 requests it */
	if (w->level >= 3 && l2 && fetched)
		out->most = larger(out->most, busy[1] + 1000 * machine_field(t, "l2", "busy_cycles") * w->in * w->of_l2);
	out->most = larger(out->most, out->least);
	return !t->missing;
}

static uint64_t iterations_a_turn(const struct bound_stream *s, uint64_t vector_bytes) { return s->level == 1 && !s->stored && vector_bytes == 64 ? 2 : 1; }

/* Loops of asm/stream.asm and asm/bandwidth.asm as expect_front.h writes them, by vectors of 16, 32 and 64 bytes. */
static const char *loop_of(const struct bound_stream *s, uint64_t vector_bytes)
{
	static const char *const loops[3][3] = {
		{ "a4l4l5l5l5l5l5l5l5l8l8l8l8l8l8l8l8a7a3d3j2", "a4l4l5l5l5l8l8l8l8a7a3d3j2", "a4l6l7l7l7a7a3d3j2" },
		{ "a4s5s6s6s6s6s6s6s6s9s9s9s9s9s9s9s9a7a3d3j6", "a4s4s5s5s5s8s8s8s8a7a3d3j2", "a4s6s7s7s7a7a3d3j2" },
		{ "a4a4l5s4l6s5l6s5l6s5l6s5l6s5l6s5l6s5l9s8l9s8l9s8l9s8l9s8l9s8l9s8l9s8a7a3d3j6",
		  "a4a4l5s4l6s5l6s5l6s5l9s8l9s8l9s8l9s8a7a3d3j6", "a4a4l6s6l7s7l7s7l7s7a7a3d3j2" },
	};
	const unsigned form = vector_bytes == 64 ? 2 : vector_bytes == 32 ? 1 : 0;

	if (iterations_a_turn(s, vector_bytes) == 2)
		return "a8a3l;l;l;l;a8a3l8l8l8l8d7j2";
	return s->loaded == 2 ? front_triads[form] : loops[s->loaded && s->stored ? 2 : s->stored][form];
}

static uint64_t vector_bytes(struct machine_text *t)
{
	const uint64_t isa = machine_field(t, "cpuid", "isa");

	return isa & 1u << 4 ? 64 : isa & 1u << 1 ? 32 : 16;
}

/* An iteration's time in the core: the slowest of allocation, retirement, front end, ports, and one store written a cycle (in the L1 at most their sum);
 * and the bound by the entries of reservation station, reorder buffer and load and store buffers that its instructions hold when the L1 answers. */
static void core_of(struct machine_text *t, const struct bound_stream *s, const char *loop, uint64_t bytes, struct bound_work *w)
{
	const uint64_t turn = iterations_a_turn(s, bytes), vectors = turn * ITERATION_LINES * LINE_BYTES / bytes, width = larger(1, smaller(machine_field(t, "core", "issue_width"), machine_field(t, "core", "retire_width")));
	const bool fuses = machine_field(t, "core", "macrofusion") == 2, triad = s->loaded == 2;
	const uint64_t dispatch = 1000 * machine_field(t, "core", "dispatch_cycles"), l1 = s->loaded ? 1000 * machine_field(t, "l1d", "cycles") : 0;
	const uint64_t slots = front_slots(t, loop), loads = vectors * s->loaded, stores = vectors * s->stored;
	const uint64_t sum = triad ? 1000 * (uint64_t)(cost_of(t, "fp_mul").latency + cost_of(t, "fp_add").latency) : 0;
	int64_t addresses = 0;

	for (const char *i = loop; *i; i += 2)
		addresses += *i == 'a';
	addresses -= triad && bytes == 16 ? (int64_t)vectors : 0; /* its products; its sums are 'm', with their load */
	const struct port_use uses[] = { { "load", (int64_t)loads }, { "sta", (int64_t)stores }, { "std", (int64_t)stores },
		{ "fp_mul", triad ? (int64_t)vectors : 0 }, { "fp_add", triad ? (int64_t)vectors : 0 }, { "int", addresses + !fuses }, { "branch", 1 }, { NULL, 0 } };
	const uint64_t threads = larger(1, s->threads);
	const struct { uint64_t milli, of; } parts[] = { { 1000 * slots / width, 1 }, { front_iteration_milli(t, loop), threads }, { (uint64_t)ports_turn_milli(t, uses), 1 }, { 1000 * stores, threads } };
	const uint64_t held[] = { over(slots * dispatch + stores * (l1 + sum), machine_field(t, "core", "rs")), over(slots * (dispatch + l1), machine_field(t, "core", "rob")),
		over(loads * (dispatch + l1), machine_field(t, "core", "load_buffers")), over(stores * (dispatch + l1 + sum), machine_field(t, "core", "store_buffers")) };

	for (unsigned i = 0; i < COUNT_OF(parts); i++) {
		w->core_milli = s->level == 1 ? w->core_milli + parts[i].milli / turn : larger(w->core_milli, parts[i].milli / parts[i].of);
		w->least_milli = larger(w->least_milli, parts[i].milli / parts[i].of / turn);
	}
	for (unsigned i = 0; i < COUNT_OF(held); i++)
		w->in_core_milli = larger(w->in_core_milli, held[i] / turn);
	w->waiting = stores + (triad ? 2 * vectors : 0);
}

bool bound_stream(struct machine_text *t, const struct bound_stream *s, struct bound *out)
{
	const uint64_t bytes = vector_bytes(t), vectors = ITERATION_LINES * LINE_BYTES / bytes, past = s->nontemporal ? s->stored : 0, arrays = s->loaded + s->stored;
	const char *loop = loop_of(s, bytes);
	const uint64_t of_rob = over(machine_field(t, "core", "rob") * iterations_a_turn(s, bytes) * ITERATION_LINES * arrays, front_slots(t, loop));
	const uint64_t of_buffers = over(machine_field(t, "core", s->loaded ? "load_buffers" : "store_buffers") * ITERATION_LINES, vectors);
	struct bound_work w = { .in = ITERATION_LINES * (arrays - past), .back = ITERATION_LINES * (s->stored - past), .past = ITERATION_LINES * past,
		.remote = s->remote, .emptied = s->emptied, .level = s->level, .cores = s->cores,
		.of_l2 = s->of_l2 };

	core_of(t, s, loop, bytes, &w);
	w.window = smaller(smaller(of_rob, of_buffers), s->loaded && w.waiting ? over(machine_field(t, "core", "rs") * ITERATION_LINES * arrays, w.waiting) : UINT64_MAX);
	return bound_of(t, &w, out);
}
