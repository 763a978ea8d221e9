/* tests/expect/expect_loaded.c: a load from memory while other cores of the socket read as fast as they can, from the text of a machine file.
 *
 * Little's law: if the other cores' lines alone keep channels or slices busy, a load waits behind as many of them as are in flight. At least it waits for
 * half of those that are certainly in flight, beyond the load's own latency. At most it waits for all that fill buffers, super queues and prefetchers can
 * have in flight, each for the time that it occupies channels, slices and entries of the read tracker, which are held from the L3 to memory and back. */
#include "tests/expect/expect_loaded.h"

#include "tests/expect/expect_bound.h"

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

bool loaded_milli(struct machine_text *t, int64_t *least, int64_t *most)
{
	const uint64_t others = machine_told(t, "topology", "cores") - 1, lfb = machine_field(t, "lfb", "entries"), sq = machine_field(t, "sq", "entries"), channel = bound_channel_milli(t);
	const uint64_t slice = bound_slice_milli(t), latency = bound_lookup_milli(t) + bound_memory_milli(t, false, true), few = others * smaller(lfb, sq / larger(1, machine_field(t, "l2", "cores")));
	const uint64_t many = others * (lfb + sq), busy = larger(channel, machine_field(t, "l3", "inclusive") ? slice : 2 * slice);
	const uint64_t lookup = bound_lookup_milli(t), core = machine_field(t, "l3", "bytes") ? 1000 * machine_field(t, "l3", "core_cycles") : lookup;
	const uint64_t tracked = (latency - smaller(latency, core)) / larger(1, machine_field(t, "gq", "read"));
	const uint64_t pages = machine_field(t, "dram", "open_page") ? bound_memory_milli(t, false, true) - bound_memory_milli(t, false, false) : 0;
	const uint64_t sure = machine_field(t, "l3", "bytes") ? smaller(few, machine_field(t, "gq", "read")) : few;

	const uint64_t waited = larger(sure * busy, few * tracked);

	*least = waited > 2 * latency ? (int64_t)((waited - latency) / 2) - (int64_t)pages : -(int64_t)pages;
	*most = (int64_t)(many * (channel + 2 * slice + tracked) + pages + 1000 * machine_field(t, "l2", "busy_cycles") * (sq + lfb));
	return !t->missing;
}
