/* tests/expect/expect_walk.c: loads that walk the page table, followed load by load, from the text of a machine file.
 *
 * The rules are those at the head of pmu/sim/memory/tlb.c. What a walk loads lies in the L1 or the L2, as the L1's replacement and the lines between have it; and
 * which of the entries above a page's own are held depends on where the pages before it lay. Both hang on the ring's order, which is drawn at random. So rows are
 * followed as they go: visits before each window, windows of n and 2n loads of test and baseline in any order, the median of five pairs. Where tables and small
 * pages lie in the L1's sets is drawn by pages of 4 KiB, too. Not seen here: what else is in the caches, and lines that the L2 does not keep. */
#include "tests/expect/expect_walk.h"

#include <stdlib.h>

#include "tests/expect/expect_held.h"
#include "tests/expect/follow_core.h"

#define ORDERS 8u               /* of the ring */
#define ROUNDS 6u               /* the first one warms up */
#define SETTLE 2u               /* visits of each set before */
#define REFRESH_VISITS 3u       /* before each window: until one gets no shorter */
#define GROUP 8u                /* entries of 8 bytes in a line */
#define LEVELS 3u
#define DIRECTORY 2u            /* from this level on a buffer's entries begin a table: it lies at a multiple of 1 GiB */
#define ENTRIES_MOST 128u
#define TABLE_LINES (1ull << 40) /* from one level's table to the next one's, and from the data to the baseline's */

struct above { unsigned bits; uint64_t entries, page[ENTRIES_MOST], used[ENTRIES_MOST], clock; };

struct chase {
	const struct walk_ring *ring;
	struct places l1;
	struct above above[LEVELS];      /* of 39, 30 and 21 bits of an address */
	uint64_t l1_cycles, l2_cycles, walk_cycles, random;
	unsigned page_bits;
	uint32_t *order[2];              /* of the pages, and of the baseline's lines */
	uint64_t at[2];
	uint64_t place[LEVELS + 2];      /* lines where tables and data begin */
};

static uint64_t below(struct chase *c, uint64_t n)
{
	c->random = c->random * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's MMIX */
	return (c->random >> 33) % n;
}

static void shuffle(struct chase *c, uint32_t *v, uint64_t n)
{
	for (uint64_t left = n; left > 1; left--) {
		const uint64_t other = below(c, left);
		const uint32_t kept = v[left - 1];

		v[left - 1] = v[other];
		v[other] = kept;
	}
}

static void above_open(struct machine_text *t, struct above *a)
{
	static const struct { const char *entries; unsigned bits; } caches[LEVELS] = { { "pml4_entries", 39 }, { "pdpte_entries", 30 }, { "pde_entries", 21 } };

	for (unsigned i = 0; i < LEVELS; i++) {
		const uint64_t entries = machine_field(t, "walk", caches[i].entries);

		a[i] = (struct above){ .bits = caches[i].bits, .entries = entries < ENTRIES_MOST ? entries : ENTRIES_MOST };
	}
}

/* Whether a cache of entries has that of an address; it does from now on. */
static bool above_has(struct above *a, uint64_t va)
{
	const uint64_t page = 1 + (va >> a->bits);
	uint64_t oldest = 0;

	for (uint64_t i = 0; i < a->entries; i++) {
		if (a->page[i] == page) {
			a->used[i] = ++a->clock;
			return true;
		}
		oldest = a->used[i] < a->used[oldest] ? i : oldest;
	}
	if (a->entries) {
		a->page[oldest] = page;
		a->used[oldest] = ++a->clock;
	}
	return false;
}

static uint64_t load(struct chase *c, uint64_t line)
{
	struct place *p = places_find(&c->l1, line);

	if (p) {
		places_touch(&c->l1, p);
		return c->l1_cycles;
	}
	places_victim(&c->l1, line)->line = line;
	return c->l2_cycles;
}

/* From the page's own entry up as far as a cache of entries has none; loaded from there down. */
static uint64_t walk(struct chase *c, uint64_t va)
{
	const unsigned leaf = c->page_bits == 12 ? LEVELS : c->page_bits == 21 ? LEVELS - 1 : LEVELS - 2;
	unsigned first = leaf;
	uint64_t cycles = c->walk_cycles;

	while (first && !above_has(&c->above[first - 1], va))
		first--;
	for (unsigned i = first; i <= leaf; i++)
		cycles += load(c, c->place[i] + (va >> (i == LEVELS ? 12 : c->above[i].bits)) / GROUP);
	return cycles;
}

/* So many loads of the test (0) or the baseline (1). */
static uint64_t loads(struct chase *c, unsigned which, uint64_t units)
{
	const struct walk_ring *r = c->ring;
	uint64_t cycles = 0;

	for (uint64_t i = 0; i < units; i++) {
		const uint64_t n = c->order[which][c->at[which]];

		c->at[which] = (c->at[which] + 1) % r->nodes;
		if (which) {
			cycles += load(c, n);
			continue;
		}
		const uint64_t va = n * r->page_bytes + (n / r->spread + (r->spread_far ? n / r->spread_far : 0)) * 64 % r->page_bytes;

		cycles += walk(c, va);
		cycles += load(c, c->place[LEVELS + 1] + va / 64);
	}
	return cycles;
}

static void draw_order(struct chase *c)
{
	const struct walk_ring *r = c->ring;
	const uint64_t groups = r->nodes / GROUP;
	uint32_t group[1 << 16];

	for (uint64_t i = 0; i < r->nodes; i++)
		c->order[0][i] = c->order[1][i] = (uint32_t)i;
	for (uint64_t i = 0; i < r->nodes; i += 64)
		shuffle(c, c->order[1] + i, r->nodes - i < 64 ? r->nodes - i : 64);
	if (!r->passes && !r->grouped) {
		shuffle(c, c->order[0], r->nodes);
		return;
	}
	for (uint64_t g = 0; g < groups; g++)
		group[g] = (uint32_t)g;
	shuffle(c, group, groups);
	for (uint64_t i = 0; i < groups * GROUP; i++) {
		const uint32_t g = r->passes ? group[i % groups] : group[i / GROUP];

		c->order[0][i] = g * GROUP + (uint32_t)(r->passes ? (i / groups + g) % GROUP : i % GROUP);
	}
	for (uint64_t g = 0; g < groups && r->grouped; g++)
		shuffle(c, c->order[0] + g * GROUP, GROUP);
}

static int64_t middle(int64_t *v, unsigned n)
{
	for (unsigned i = 1; i < n; i++)
		for (unsigned k = i; k && v[k] < v[k - 1]; k--) {
			const int64_t other = v[k];

			v[k] = v[k - 1];
			v[k - 1] = other;
		}
	return v[n / 2];
}

/* As the row goes: what the test's loads take more than the baseline's. */
static int64_t row_milli(struct chase *c)
{
	const uint64_t units = c->ring->units, visit = REFRESH_VISITS * c->ring->nodes;
	int64_t slope[2][ROUNDS];

	for (unsigned i = 0; i < 2 * SETTLE; i++)
		(void)loads(c, 1 - i % 2, SETTLE * c->ring->nodes);
	for (unsigned round = 0; round < ROUNDS; round++) {
		uint32_t order[4] = { 0, 1, 2, 3 };
		uint64_t took[4];

		shuffle(c, order, 4);
		for (unsigned i = 0; i < 4; i++) {
			(void)loads(c, order[i] / 2, visit);
			took[order[i]] = loads(c, order[i] / 2, units << order[i] % 2);
		}
		for (unsigned which = 0; which < 2; which++)
			slope[which][round] = 1000 * ((int64_t)took[2 * which + 1] - (int64_t)took[2 * which]) / (int64_t)units;
	}
	return middle(slope[0] + 1, ROUNDS - 1) - middle(slope[1] + 1, ROUNDS - 1);
}

bool walk_milli(struct machine_text *t, const struct walk_ring *ring, int64_t *least_milli, int64_t *most_milli)
{
	bool there = ring->nodes >= GROUP && ring->nodes <= 1 << 19;

	*least_milli = INT64_MAX;
	*most_milli = INT64_MIN;
	for (unsigned order = 0; order < ORDERS && there; order++) {
		struct chase c = { .ring = ring, .random = order + 1, .l1_cycles = machine_field(t, "l1d", "cycles"), .l2_cycles = machine_field(t, "l2", "cycles"),
			.walk_cycles = machine_field(t, "walk", "cycles") + (machine_field(t, "stlb", "entries") ? machine_field(t, "stlb", "cycles") : 0),
			.page_bits = ring->page_bytes == 4096 ? 12 : ring->page_bytes == 1u << 21 ? 21 : 30 };
		const uint64_t ways = machine_field(t, "l1d", "ways");

		above_open(t, c.above);
		c.order[0] = malloc(ring->nodes * sizeof(uint32_t));
		c.order[1] = malloc(ring->nodes * sizeof(uint32_t));
		there = places_open(&c.l1, machine_field(t, "l1d", "bytes"), ways, machine_field(t, "l1d", "policy")) && c.l1.sets && c.order[0] && c.order[1] && !t->missing;
		if (there) {
			c.l1.random += order;
			for (unsigned i = 0; i < LEVELS + 2; i++)
				c.place[i] = (1 + i) * TABLE_LINES + (i < DIRECTORY ? below(&c, 64) : i <= LEVELS || ring->page_bytes == 4096 ? below(&c, 64) * 64 : 0);
			draw_order(&c);
			const int64_t milli = row_milli(&c);

			*least_milli = milli < *least_milli ? milli : *least_milli;
			*most_milli = milli > *most_milli ? milli : *most_milli;
		}
		places_close(&c.l1);
		free(c.order[0]);
		free(c.order[1]);
	}
	return there;
}

/* --- walks at a time ----------------------------------------------------------------------------- */

#define LOADS 8u                 /* a turn */
#define NODE_BYTES (LOADS * BREAKDOWN_BYTES)
#define BREAKDOWN_BYTES (4096u + 64u) /* from one load to the next: on by a page and a line */
#define SAMPLES 4u               /* the first one warms up */
#define VISITS 3u
#define QUIET_CYCLES 100000u     /* between windows */
#define NODES_MOST 8192u
#define TABLE_BYTES (1ull << 46)

/* A ring of nodes in random order, of which each turn of the loop loads eight pages. */
struct walkers {
	struct core *core;
	struct lines *lines;
	struct queue walking;
	struct above above[LEVELS];
	uint64_t lookup_cycles, walk_cycles, random, place[LEVELS + 1], first_page;
	struct op ops[OPS_MOST];
	unsigned n, nodes, at;
	uint16_t order[NODES_MOST];
};

/* A load whose page no level of the TLB has: it is looked for, waits for a walker, and its entries are loaded one after the other. */
static uint64_t translate(void *self, uint64_t at, uint64_t t)
{
	struct walkers *w = self;
	const uint64_t va = at - w->first_page * 4096; /* where the pages lie in the L1's sets says nothing of their entries */
	const uint64_t from = queue_start(&w->walking, t + w->lookup_cycles, 1, 0);
	unsigned first = LEVELS;

	while (first && !above_has(&w->above[first - 1], va))
		first--;
	t = from + w->walk_cycles;
	for (unsigned i = first; i <= LEVELS; i++)
		t = lines_load(w->lines, 1 + i, w->place[i] + (va >> (i == LEVELS ? 12 : w->above[i].bits)) * 8, t);
	queue_hold(&w->walking, from, t, NO_LINE);
	return t;
}

/* k_run_code's loop and the code of a point of CURVE_WALKS (bench/curves/curve_codegen.c): RDX is the first pointer, RCX the second one. */
static unsigned walkers_loop(struct machine_text *t, struct op *ops)
{
	const bool fuses = machine_field(t, "core", "macrofusion") == 2, free_copies = machine_field(t, "core", "move_elimination");
	unsigned n = 0;

	ops[n++] = (struct op){ .kind = 'a', .length = 2, .slots = 1, .what = BRANCH, .reads = { CONSTANT, NO_REG }, .writes = NO_REG };
	ops[n++] = (struct op){ .kind = 'a', .length = 3, .slots = 1, .what = INT, .reads = { POINTER, NO_REG }, .writes = POINTER + 1, .free = free_copies };
	for (unsigned i = 0; i < LOADS; i++)
		ops[n++] = (struct op){ .kind = 'l', .length = i ? 7 : 3, .slots = 1, .what = KINDS, .reads = { NO_REG, NO_REG }, .writes = i ? VECTOR : POINTER,
			.array = i ? 1 : 0, .offset = i * BREAKDOWN_BYTES };
	ops[n++] = (struct op){ .kind = 'a', .length = 3, .slots = 1, .what = INT, .reads = { POINTER, NO_REG }, .writes = VECTOR + 1, .free = free_copies };
	ops[n++] = (struct op){ .kind = 'a', .length = 3, .slots = 1, .what = BRANCH, .reads = { CONSTANT, NO_REG }, .writes = NO_REG };
	ops[n++] = (struct op){ .kind = 'd', .length = 3, .slots = 1, .what = fuses ? BRANCH : INT, .reads = { COUNTER, NO_REG }, .writes = COUNTER };
	ops[n++] = (struct op){ .kind = 'j', .length = 2, .slots = fuses ? 0 : 1, .what = BRANCH, .reads = { COUNTER, NO_REG }, .writes = NO_REG };
	return n;
}

/* The code lies elsewhere than the loop, which goes on behind its jump. */
static void jump(struct front_flow *f, uint64_t to)
{
	front_turn(f);
	f->at = to;
}

static uint64_t walkers_window(struct walkers *w, unsigned turns)
{
	struct core *c = w->core;
	const uint64_t begin = c->retire + QUIET_CYCLES;

	c->alloc = begin;
	c->slots = 0;
	for (unsigned turn = 0; turn < turns; turn++) {
		const uint64_t node = w->first_page * 4096 + (uint64_t)w->order[w->at] * NODE_BYTES;

		w->at = (w->at + 1) % w->nodes;
		lines_forget(w->lines, c->alloc, c->alloc);
		queue_forget(&w->walking, c->alloc);
		jump(&c->front, 0);
		for (unsigned i = 0; i < w->n; i++) {
			if (i == 1)
				jump(&c->front, 1024);
			else if (w->ops[i].kind == 'd')
				jump(&c->front, 2);
			follow_step(c, &w->ops[i], false, 0, node, 0, 8);
		}
	}
	return c->retire - begin;
}

/* As the row goes: whole rounds, the middle of three samples of one and two of them. */
static int64_t walkers_row(struct walkers *w)
{
	int64_t samples[SAMPLES];

	for (unsigned visit = 0; visit < VISITS; visit++)
		(void)walkers_window(w, w->nodes);
	for (unsigned i = 0; i < SAMPLES; i++) {
		const uint64_t shorter = walkers_window(w, w->nodes), longer = walkers_window(w, 2 * w->nodes);

		samples[i] = 1000 * ((int64_t)longer - (int64_t)shorter) / (w->nodes * LOADS);
	}
	return middle(samples + 1, SAMPLES - 1);
}

static struct walkers *walkers_open(struct machine_text *t, uint64_t pages, unsigned start)
{
	const struct lines_shape shape = { .level = 2, .arrays = 1, .cores = 1, .cold = true, .quiet = true, .array_bytes = 1ull << 40, .distance = 1ull << 41 };
	struct walkers *w = calloc(1, sizeof(*w));
	struct chase draw = { .random = start + 1 };

	if (!w)
		return NULL;
	w->nodes = (unsigned)(pages / LOADS < NODES_MOST ? pages / LOADS : NODES_MOST);
	w->core = follow_core_of(t, "");
	if (w->core && w->nodes && !t->missing)
		w->lines = lines_open(t, &shape, NULL, false);
	if (!w->lines) {
		free(w->core);
		free(w);
		return NULL;
	}
	w->core->lines = w->lines;
	w->core->translate = translate;
	w->core->pages = w;
	w->core->streams = false;
	w->core->above = ~0u << start;
	w->walking.entries = machine_field(t, "walk", "walkers");
	w->walk_cycles = machine_field(t, "walk", "cycles");
	w->lookup_cycles = machine_field(t, "stlb", "cycles");
	w->first_page = below(&draw, 64);
	above_open(t, w->above);
	for (unsigned i = 0; i <= LEVELS; i++)
		w->place[i] = (1 + i) * TABLE_BYTES + below(&draw, 64) * (i < DIRECTORY ? 64 : 4096);
	for (unsigned i = 0; i < w->nodes; i++) {
		const unsigned other = (unsigned)below(&draw, i + 1);

		w->order[i] = w->order[other];
		w->order[other] = (uint16_t)i;
	}
	w->n = walkers_loop(t, w->ops);
	return w;
}

bool walkers_milli(struct machine_text *t, uint64_t pages, int64_t *least_milli, int64_t *most_milli)
{
	*least_milli = INT64_MAX;
	*most_milli = INT64_MIN;
	for (unsigned order = 0; order < ORDERS; order++) {
		struct walkers *w = walkers_open(t, pages, order);

		if (!w)
			return false;
		const int64_t milli = walkers_row(w);

		*least_milli = milli < *least_milli ? milli : *least_milli;
		*most_milli = milli > *most_milli ? milli : *most_milli;
		lines_close(w->lines);
		free(w->core);
		free(w);
	}
	return true;
}
