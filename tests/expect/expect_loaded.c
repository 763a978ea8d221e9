/* tests/expect/expect_loaded.c: latency under load, followed core by core.
 *
 * One core's loads wait for each other (k_chase_stop), those of the others of its socket for nothing but room (k_inject with a
 * delay of 1): loops as asm/cores.asm has them, on the cores of expect_follow.c. Whose next load asks first goes on, as
 * everywhere in these rules. Not seen here:
 * two threads of a core, misses of the TLB, lines that the others come to a second time. */
#include "tests/expect/expect_loaded.h"

#include <stdlib.h>

#include "tests/expect/follow_core.h"

#define CORES_MOST 64u
#define STARTS 16u
#define NODES 128u               /* of the chain, each anywhere in its part of the pages, in random order */
#define ROUNDS 3u                /* of two windows, */
#define ROUNDS_LIGHT 4u          /* of longer ones */
#define WINDOW 32u               /* loads; what a window of twice as many takes more counts, */
#define LIGHT_TIMES 4u           /* or of one so many times as long, where loads wait seldom: */
#define LIGHT_DELAY 6u           /* those under the last lighter load, others with so many turns of a delay, take less than twice as long as alone */
#define LIGHT_STARTS 3u
#define DELAY_FIRST 7u           /* of k_inject's instructions, a delay's first and */
#define DELAY_LAST 12u
#define PAGE_BYTES (1ull << 21)
#define CHASE_PAGES_MOST 16u      /* or half of what the TLB has for them */
#define INJECT_BYTES 0x100000u
#define CORE_BYTES ((1ull << 36) + 4096) /* from one core's lines to the next's: other sets and slices, the same places of pages */
#define APART 24u                /* cycles that a core may begin behind another, as they do behind a gate: nothing of what the first loads meet is over by then */
#define BEGIN_CYCLES 100000u     /* what went before is over */
#define VECTOR_BYTES 8u
#define R11 VECTOR
#define RAX (VECTOR + 1)
#define FLAG (VECTOR + 2)

struct loaded { struct core *core[CORES_MOST]; unsigned cores, at[CORES_MOST], delay, turns[CORES_MOST], n, next, last; uint64_t chase_bytes, place[CORES_MOST], asks[CORES_MOST], random, node[NODES]; struct op ops[OPS_MOST]; };

/* k_inject's loop; R9 is the pointer. Its fields: kind, length, what, what it reads and writes, where it loads. */
static unsigned inject_loop(struct machine_text *t, struct op *ops)
{
	static const struct { char kind; uint8_t length; enum what what; enum reg reads[2], writes; uint64_t offset; } loop[] = {
		{ 'f', 2, INT, { CONSTANT, NO_REG }, FLAG, 0 },          /* cmp [rdx], esi */
		{ 'j', 2, BRANCH, { FLAG, NO_REG }, NO_REG, 0 },
		{ 'l', 4, KINDS, { NO_REG, NO_REG }, R11, 0 }, { 'l', 5, KINDS, { NO_REG, NO_REG }, R11, 64 },
		{ 'l', 5, KINDS, { NO_REG, NO_REG }, R11, 128 }, { 'l', 5, KINDS, { NO_REG, NO_REG }, R11, 192 },
		{ 'a', 3, INT, { CONSTANT, NO_REG }, R11, 0 },           /* mov r11, r10 */
		{ 'a', 4, IMUL, { RAX, NO_REG }, RAX, 0 }, { 'a', 4, IMUL, { RAX, NO_REG }, RAX, 0 },
		{ 'a', 4, IMUL, { RAX, NO_REG }, RAX, 0 }, { 'a', 4, IMUL, { RAX, NO_REG }, RAX, 0 },
		{ 'd', 3, INT, { R11, NO_REG }, R11, 0 }, { 'j', 2, BRANCH, { R11, NO_REG }, NO_REG, 0 },
		{ 'a', 7, INT, { POINTER, NO_REG }, POINTER, 0 }, { 'a', 3, INT, { POINTER, MASK }, POINTER, 0 },
		{ 'd', 3, INT, { COUNTER, NO_REG }, COUNTER, 0 }, { 'j', 2, BRANCH, { COUNTER, NO_REG }, NO_REG, 0 },
	};
	const uint64_t fusion = machine_field(t, "core", "macrofusion");

	for (unsigned i = 0, at = 1; i < sizeof(loop) / sizeof(loop[0]); at += loop[i++].length) {
		const bool first = loop[i + 1 < sizeof(loop) / sizeof(loop[0]) ? i + 1 : i].kind == 'j', second = loop[i].kind == 'j';
		const bool fuses = fusion == 2 || (fusion && i < 2);

		ops[i] = (struct op){ .kind = loop[i].kind, .length = loop[i].length, .at = at, .what = loop[i].what, .reads = { loop[i].reads[0], loop[i].reads[1] },
			.writes = loop[i].writes, .array = loop[i].kind == 'f' ? 1 : 0, .offset = loop[i].offset,
			.slots = second && fuses ? 0 : (uint8_t)front_slots_of(t, loop[i].kind == 'f' ? 'm' : 'a') };
		if (first && fuses)
			ops[i].what = BRANCH;
	}
	return sizeof(loop) / sizeof(loop[0]);
}

static void loaded_close(struct loaded *l)
{
	for (unsigned i = 0; i < l->cores; i++) {
		if (l->core[i] && l->core[i]->lines)
			lines_close(l->core[i]->lines);
		free(l->core[i]);
	}
	free(l);
}

static uint64_t below(struct loaded *l, uint64_t n)
{
	l->random = l->random * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's MMIX */
	return (l->random >> 33) % n;
}

/* The first core chases. Lines lie in large pages behind each other. */
static struct loaded *loaded_open(struct machine_text *t, unsigned cores, bool quiet, unsigned start)
{
	const unsigned of_l2 = (unsigned)machine_field(t, "l2", "cores");
	struct loaded *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	const uint64_t pages = machine_field(t, "dtlb", "large_entries") / 2;

	l->chase_bytes = (!pages || pages > CHASE_PAGES_MOST ? CHASE_PAGES_MOST : pages) * PAGE_BYTES;
	l->n = inject_loop(t, l->ops);
	l->random = start + 1;
	for (unsigned i = 0; i < cores; i++) {
		const uint64_t place = 1 + start + (i ? l->chase_bytes / PAGE_BYTES + i - 1 : 0);
		const struct lines_shape shape = { .level = 4, .arrays = 1, .cores = cores, .cold = true, .quiet = quiet && !i, .array_bytes = i ? INJECT_BYTES : l->chase_bytes,
			.distance = l->chase_bytes, .base = i * CORE_BYTES, .begins = (place * PAGE_BYTES - i * CORE_BYTES) / 64 };

		l->core[i] = follow_core_of(t, "m2j2l4l5l5l5a3a4a4a4a4d3j2a7a3d3j2");
		l->cores = i + 1;
		if (l->core[i] && !t->missing)
			l->core[i]->lines = lines_open(t, &shape, i ? l->core[i - 1]->lines : NULL, of_l2 && i % of_l2);
		if (!l->core[i] || !l->core[i]->lines) {
			loaded_close(l);
			return NULL;
		}
		l->core[i]->above = ~0u << start;
	}
	l->core[0]->streams = true;
	return l;
}

/* Before which cycle nobody asks for anything. */
static uint64_t behind(const struct loaded *l)
{
	uint64_t first = l->core[0]->alloc;

	for (unsigned i = 1; i < l->cores; i++)
		first = l->core[i]->alloc < first ? l->core[i]->alloc : first;
	return first;
}

/* The next instruction of one of the others. */
static void inject(struct loaded *l, unsigned i)
{
	struct core *c = l->core[i];

	if (!l->at[i]) {
		lines_forget(c->lines, c->alloc, behind(l));
		front_turn(&c->front);
	}
	follow_step(c, &l->ops[l->at[i]], false, l->place[i], i * CORE_BYTES, l->chase_bytes, VECTOR_BYTES);
	if (l->at[i] == DELAY_LAST && ++l->turns[i] % l->delay)
		l->at[i] = DELAY_FIRST - 1;
	if (++l->at[i] == l->n) {
		l->at[i] = 0;
		l->place[i] = (l->place[i] + 256) % INJECT_BYTES;
	}
	l->asks[i] = follow_asks(c, &l->ops[l->at[i]], false);
}

/* The chain's lines: one anywhere in each part of the pages, in random order. */
static void chain(struct loaded *l)
{
	for (unsigned i = 0; i < NODES; i++)
		l->node[i] = (l->chase_bytes / 64 / NODES * i + below(l, l->chase_bytes / 64 / NODES)) * 64;
	for (unsigned i = NODES; i-- > 1;) {
		const uint64_t other = below(l, i + 1), node = l->node[i];

		l->node[i] = l->node[other];
		l->node[other] = node;
	}
}

/* All begin behind cycle t, the others anywhere in their lines, of which no cache holds any. */
static void begin(struct loaded *l, uint64_t t)
{
	for (unsigned i = 0; i < l->cores; i++) {
		lines_flush(l->core[i]->lines);
		l->core[i]->alloc = t + below(l, APART);
		l->core[i]->slots = 0;
		l->at[i] = 0;
		l->place[i] = below(l, INJECT_BYTES / 256) * 256;
		l->asks[i] = l->core[i]->alloc;
	}
}

/* A window of so many loads, which go on round the chain: when the last one has come. */
static uint64_t window(struct loaded *l, unsigned most)
{
	const struct op load = { .kind = 'l', .length = 3, .slots = 1, .what = KINDS, .reads = { NO_REG, NO_REG }, .writes = VECTOR };
	const uint64_t fence = 1 + (uint64_t)cost_of(l->core[0]->t, "lfence").latency;
	struct core *c = l->core[0];
	uint64_t barrier = c->alloc;

	for (unsigned loads = 0; loads < most;) {
		unsigned next = 0;
		uint64_t first = barrier + c->dispatch; /* every buffer is free */

		for (unsigned i = 1; i < l->cores; i++) {
			next = l->asks[i] < first || (l->asks[i] == first && (!next || i == l->last)) ? i : next; /* who asks in the same cycle as another goes on, one of the others mostly */
			first = l->asks[i] < first ? l->asks[i] : first;
		}
		if (next) {
			l->last = next;
			inject(l, next);
			continue;
		}
		lines_forget(c->lines, c->alloc, behind(l));
		c->alloc = barrier;               /* nothing behind an LFENCE is allocated before it has retired */
		c->slots = 0;
		follow_step(c, &load, false, l->node[(l->next + loads) % NODES], 0, l->chase_bytes, VECTOR_BYTES);
		barrier = c->ready[VECTOR] + fence;
		loads++;
	}
	l->next += most;
	return barrier;
}

/* What a window of so many loads takes, of cores that begin together. */
static uint64_t taken(struct loaded *l, unsigned loads)
{
	begin(l, l->core[0]->alloc + BEGIN_CYCLES);

	const uint64_t from = l->core[0]->alloc;

	return window(l, loads) - from;
}

/* Thousandths of a cycle a load, of those that a window so many times as long has more: the mean of rounds of both, each window anew from where the others
 * have nothing under way. What the first loads wait is another time in each. Before them comes a round that does not count: memory's rows are as its lines
 * left them, and those of the others that came later. */
static int64_t latency(struct loaded *l, unsigned times)
{
	const unsigned rounds = times == LIGHT_TIMES ? ROUNDS_LIGHT : ROUNDS;
	int64_t more = 0;

	chain(l);
	for (unsigned round = 0; round <= rounds; round++) {
		const uint64_t shorter = taken(l, WINDOW), longer = taken(l, times * WINDOW);

		more += round ? (int64_t)longer - (int64_t)shorter : 0;
	}
	return 1000 * more / (times - 1) / WINDOW / rounds;
}

static bool once(struct machine_text *t, unsigned cores, bool quiet, unsigned start, unsigned delay, unsigned times, int64_t *milli)
{
	struct loaded *l = loaded_open(t, cores, quiet, start);

	if (!l)
		return false;
	l->delay = delay;
	*milli = latency(l, times);
	loaded_close(l);
	return true;
}

/* Which windows the row has, as it looks at them: with *either some starts are light and others are not. */
static bool is_light(struct machine_text *t, unsigned cores, bool quiet, bool *light, bool *either)
{
	unsigned lights = 0;

	for (unsigned start = 0; start < LIGHT_STARTS; start++) {
		int64_t alone, loaded;

		if (!once(t, 1, quiet, start, 1, 2, &alone) || !once(t, cores, quiet, start, LIGHT_DELAY, 2, &loaded))
			return false;
		lights += loaded < 2 * alone;
	}
	*light = lights;
	*either = lights && lights < LIGHT_STARTS;
	return true;
}

bool loaded_milli(struct machine_text *t, int64_t *least, int64_t *most)
{
	const unsigned cores = (unsigned)machine_field(t, "topology", "cores");
	/* the first core's are switched off, where a driver knows how */
	const bool quiet = machine_field(t, "cpuid", "family") == 6 && (machine_field(t, "control", "prefetch_msr") || machine_field(t, "control", "prefetch_misc"));
	bool light, either;

	*least = INT64_MAX;
	*most = INT64_MIN;
	if (cores > CORES_MOST || !is_light(t, cores, quiet, &light, &either))
		return false;
	for (unsigned start = 0; start < STARTS; start++) {
		/* of longer windows the same lines without load */
		const unsigned times = light && !(either && start % 2) ? LIGHT_TIMES : 2;
		int64_t alone, loaded;

		if (!once(t, 1, quiet, start, 1, times, &alone) || !once(t, cores, quiet, start, 1, times, &loaded))
			return false;
		*least = loaded - alone < *least ? loaded - alone : *least;
		*most = loaded - alone > *most ? loaded - alone : *most;
	}
	return *least <= *most;
}
