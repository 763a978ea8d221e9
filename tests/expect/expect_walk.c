/* tests/expect/expect_walk.c: loads that walk the page table, from the text of a machine file.
 *
 * A walk takes a fixed time and its loads: that of the page's own entry, and those of the entries above it that no paging-structure cache holds. The L1 or
 * the L2 answers a load: certainly the L1 if few lines are used between two uses of its line, the L2 if many are. Data come from the L2 with and without
 * walks. */
#include "tests/expect/expect_walk.h"

#include "tests/expect/expect_core.h"

#define ENTRIES_A_LINE 8u
#define LOADS 8u /* in flight */

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }
static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* Thousandths of a cycle of a walk's loads, at least and at most; `between`: lines used between two uses of a line of entries. */
static void loads_milli(struct machine_text *t, const struct walk_ring *r, uint64_t between, uint64_t *least, uint64_t *most)
{
	const unsigned page = r->page_bytes == 4096 ? 12 : r->page_bytes == 1u << 21 ? 21 : 30;
	const uint64_t l1 = 1000 * machine_field(t, "l1d", "cycles"), l2 = larger(l1, 1000 * machine_field(t, "l2", "cycles")), lines = machine_field(t, "l1d", "bytes") / 64;
	const bool lru = !machine_field(t, "l1d", "policy");
	uint64_t above_least, above_most;

	machine_walk_loads(t, page, r->nodes * r->page_bytes, &above_least, &above_most);
	*least = lru && !r->grouped && between >= 2 * lines ? l2 : l1;
	*most = lru && between <= lines / 4 ? l1 : l2;
	/* entries of upper levels are few: only paging-structure caches miss some of them */
	*least += above_least * l1;
	*most += above_most * l2;
}

bool walk_milli(struct machine_text *t, const struct walk_ring *ring, int64_t *least_milli, int64_t *most_milli)
{
	const uint64_t fixed = 1000 * (machine_field(t, "walk", "cycles") + (machine_field(t, "stlb", "entries") ? machine_field(t, "stlb", "cycles") : 0));
	const uint64_t lines = machine_field(t, "l1d", "bytes") / 64, differs = 1000 * (machine_field(t, "l2", "cycles") - smaller(machine_field(t, "l2", "cycles"), machine_field(t, "l1d", "cycles")));
	/* a line of entries is used for one of its pages at a time (passes), or for all of them in a row; each use loads a line of data as well */
	const uint64_t between = ring->passes ? ring->nodes / ENTRIES_A_LINE * 2 : ring->nodes;
	uint64_t least, most;

	loads_milli(t, ring, between, &least, &most);
	if (ring->grouped) /* seven of eight entries are in the line that has just arrived */
		most = larger(least, 1000 * machine_field(t, "l1d", "cycles")) + differs / ENTRIES_A_LINE + (most - smaller(most, least)) / ENTRIES_A_LINE;
	/* of a thousand loads at most 30 more find their line in the L1 than of the baseline's, or 30 fewer; but data of pages that are far apart fill the L1's
	 * sets unevenly, consecutive lines do not */
	*most_milli = (int64_t)(fixed + most + (ring->passes ? differs * 30 / 1000 : ring->nodes > lines / 2 ? differs : 0));
	*least_milli = (int64_t)(fixed + least) - (int64_t)(machine_field(t, "l1d", "policy") ? differs * 30 / 1000 : 0);
	return !t->missing;
}

bool walkers_milli(struct machine_text *t, uint64_t pages, int64_t *least_milli, int64_t *most_milli)
{
	const struct walk_ring ring = { .page_bytes = 4096, .nodes = pages, .grouped = true }; /* a node's eight pages are consecutive */
	const uint64_t walkers = smaller(LOADS, larger(1, machine_field(t, "walk", "walkers"))), lookup = machine_field(t, "stlb", "entries") ? 1000 * machine_field(t, "stlb", "cycles") : 0, walk = 1000 * machine_field(t, "walk", "cycles");
	const uint64_t node = 1000 * machine_field(t, "l2", "cycles") + lookup, port = 1000 * machine_field(t, "l2", "busy_cycles");
	uint64_t least, most;

	loads_milli(t, &ring, pages, &least, &most);
	/* eight at a time, of which the first one has the address of the next eight: a round of walks, and its data */
	*least_milli = (int64_t)larger((walk + least) / walkers, port);
	*most_milli = (int64_t)((walk + least) / walkers + (walk + most + node) / LOADS + 2 * port + 1000);
	return !t->missing;
}
