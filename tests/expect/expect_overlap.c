/* tests/expect/expect_overlap.c: the time of a load when as many as possible overlap, from the text of a machine file: bounds of expect_bound.c. */
#include "tests/expect/expect_overlap.h"

#include "tests/expect/expect_bound.h"
#include "tests/expect/expect_core.h"

#define FAR_LOADS 24u  /* loads a node of the ring in memory, at most */
#define NEAR_LOADS 28u /* ... in the L3 */

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

bool overlap_milli(struct machine_text *t, bool memory, int64_t *least, int64_t *most)
{
	const uint64_t places = smaller(smaller(machine_field(t, "lfb", "entries"), machine_field(t, "sq", "entries")), machine_field(t, "l3", "bytes") ? machine_field(t, "gq", "read") : UINT64_MAX);
	const uint64_t loads = smaller(smaller(machine_field(t, "core", "load_buffers"), machine_field(t, "core", "rob")), memory ? FAR_LOADS : NEAR_LOADS);
	const uint64_t window = larger(1, smaller(places, loads)), port = 1000 / larger(1, (uint64_t)cost_of(t, "load").ports), l3 = bound_slice_milli(t) * machine_field(t, "l3", "slices");
	const uint64_t lookup = bound_lookup_milli(t) + 1000 * (uint64_t)cost_of(t, "load").latency, channel = memory ? bound_channel_milli(t) : 0;
	const uint64_t shortest = lookup + (memory ? bound_memory_milli(t, false, false) : 0), longest = lookup + (memory ? bound_memory_milli(t, false, true) : 0) + 1000 * machine_field(t, "core", "dispatch_cycles");
	const uint64_t busy = larger(larger(port, 1000 * machine_field(t, "l2", "busy_cycles")), larger(channel, bound_slice_milli(t)));
	/* lines of a node may share a slice or channel; an exclusive L3 takes in a victim for each line that it gives up */
	const uint64_t meet = 2 * l3 / window + channel * (machine_field(t, "dram", "channels") - 1) / window + (machine_field(t, "l3", "inclusive") ? 0 : bound_slice_milli(t));

	*least = (int64_t)larger(busy, shortest / window);
	*most = (int64_t)(larger(busy, longest / window) + smaller(busy, longest / window) + meet);
	return !t->missing;
}
