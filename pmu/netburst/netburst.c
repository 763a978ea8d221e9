/* pmu/netburst/netburst.c: assigns events to NetBurst's ESCRs and counters.
 *
 * The four blocks of counters share no ESCR, and none has more than six counters: a search block by block that tries every
 * allowed (ESCR, counter) pair for each event in turn is exact and short. To report a collision, every event that is not
 * needed for it is left out. */
#include "pmu/netburst/netburst.h"

#define ESCR_FIRST 0x3A0u
#define ESCR_COUNT 0x42u /* to 0x3E1 */

uint32_t netburst_counter_msr(unsigned counter) { return 0x300 + counter; }
uint32_t netburst_cccr_msr(unsigned counter) { return 0x360 + counter; }

/* ESCR: 30:25 event select, 24:9 event mask, 8:5 tag value, 4 tag enable, 3:0 threads by privilege. */
uint32_t netburst_escr_value(const struct netburst_want *w)
{
	return (uint32_t)w->event->select << 25 | (uint32_t)w->mask << 9 | (uint32_t)w->tag << 5 | (w->tag ? 1u << 4 : 0) | w->threads;
}

/* CCCR: 30 cascade, 27 26 OVF_PMI, 25 FORCE_OVF, 24 edge, 23:20 threshold, 19 complement, 18 compare, 17:16 active threads,
 * 15:13 ESCR select, 12 enable: off in a counter that a cascade starts. */
uint32_t netburst_cccr_value(const struct netburst_want *w)
{
	uint32_t v = (uint32_t)w->event->escr_select << 13 | (uint32_t)w->active << 16;
	v |= w->after < 0 ? 1u << 12 : 1u << 30;
	v |= (w->compare ? 1u << 18 : 0) | (w->complement ? 1u << 19 : 0) | (uint32_t)w->threshold << 20 | (w->edge ? 1u << 24 : 0);
	v |= (w->force_overflow ? 1u << 25 : 0) | (w->pmi0 ? 1u << 26 : 0) | (w->pmi1 ? 1u << 27 : 0);
	return v;
}

static const char *name_of(const struct netburst_want *w)
{
	return w->metric ? w->metric->name : w->event->name;
}

/* The counter that starts when `counter` overflows: the other pair of its block (Sprunt: BPU counter 0 starts 2; SDM: likewise
 * in each block, and the fifth and sixth of IQ have none without extended cascading). */
static unsigned cascade_of(unsigned counter)
{
	return counter < 12 ? counter ^ 2 : counter < 16 ? 12 + ((counter - 12) ^ 2) : NETBURST_NO_COUNTER;
}

/* BPU, MS, FLAME, IQ: counters from 0, 4, 8 and 12 on. */
static unsigned block_of(const struct netburst_want *w)
{
	uint32_t counters = w->event->counters[0] | w->event->counters[1];
	return counters < 1u << 4 ? 0 : counters < 1u << 8 ? 1 : counters < 1u << 12 ? 2 : 3;
}

enum { TAGS_COUNTED = 2, TAGS_COUNTED_BY_METRIC }; /* of netburst_event.tags */

/* The rule that a want violates, whatever counters and ESCRs the others have; NULL: none. */
static const char *unlawful(const struct netburst_want *wants, unsigned n, unsigned i)
{
	const struct netburst_want *w = &wants[i];
	unsigned known = 0;
	for (unsigned u = 0; u < w->event->unit_count; u++)
		known |= 1u << w->event->units[u].bit;
	if (!w->mask || w->mask & ~known)
		return "its event mask must be some of its units";
	if (!w->threads || w->threads > 15)
		return "it must detect at least one of T0_OS T0_USR T1_OS T1_USR";
	if (w->tag > 15 || (w->tag && w->event->tags != 1))
		return "only uops by type and those of the floating-point and SIMD units can be tagged, by 1 to 15";
	if (w->upstream && !w->tag && w->event->tags)
		return "detected for its tags alone, it must have a tag";
	if ((w->complement || w->edge || w->threshold) && !w->compare)
		return "complement, edge and threshold need compare";
	if (w->escr && !w->event->escr[w->escr - 1])
		return "it has no such ESCR";
	if (w->threshold > 15 || w->active > NETBURST_ANY)
		return "the threshold must be 0 to 15, active threads 0 to 3";
	if (w->metric && (w->event->tags != TAGS_COUNTED_BY_METRIC))
		return "only the detector of replayed uops has metrics";
	if (w->pebs && w->event->tags < TAGS_COUNTED)
		return "PEBS records tagged uops that retire alone";
	if (w->pebs && w->upstream)
		return "PEBS needs a counter";
	if (w->after >= 0 && ((unsigned)w->after >= n || (unsigned)w->after == i || wants[w->after].upstream || wants[w->after].after >= 0))
		return "a cascade starts after an event that has a counter and starts by itself";
	if (w->after >= 0 && block_of(w) != block_of(&wants[w->after]))
		return "a cascade cannot start: its two counters must be of one block";
	return NULL;
}

struct search {
	const struct netburst_want *wants;
	struct netburst_assignment *assigned;
	unsigned n;
	uint32_t usable;               /* counters */
	uint32_t escr[ESCR_COUNT];     /* value that it holds */
	uint8_t users[ESCR_COUNT];
	uint32_t taken;                /* counters */
	uint32_t left_out;             /* wants without an assignment */
	unsigned block;                /* whose wants are assigned now */
};

static uint32_t reach(const struct search *k, const struct netburst_want *w, unsigned side)
{
	uint32_t counters = w->event->counters[side] & k->usable;
	if (w->pebs)
		counters &= w->threads & (NETBURST_T1_OS | NETBURST_T1_USR) ? 1u << (NETBURST_PEBS_COUNTER + 1) : 1u << NETBURST_PEBS_COUNTER;
	return counters;
}

/* Whether the want's ESCR can detect it in addition to what it already detects. */
static bool escr_fits(const struct search *k, unsigned slot, uint32_t value)
{
	return !k->users[slot] || k->escr[slot] == value;
}

static bool skipped(const struct search *k, unsigned i)
{
	return k->left_out >> i & 1 || block_of(&k->wants[i]) != k->block;
}

/* Whether counter c may take want i, given the cascades of the wants assigned before it. */
static bool cascade_fits(const struct search *k, unsigned i, unsigned c)
{
	for (unsigned j = 0; j < i; j++) {
		if (skipped(k, j))
			continue;
		if (k->wants[i].after == (int)j && cascade_of(k->assigned[j].counter) != c)
			return false;
		if (k->wants[j].after == (int)i && cascade_of(c) != k->assigned[j].counter)
			return false;
	}
	return true;
}

static bool search(struct search *k, unsigned i)
{
	while (i < k->n && skipped(k, i))
		i++;
	if (i == k->n)
		return true;
	const struct netburst_want *w = &k->wants[i];
	struct netburst_assignment *to = &k->assigned[i];
	uint32_t value = netburst_escr_value(w);
	for (unsigned side = 0; side < 2; side++) {
		unsigned slot = w->event->escr[side] - ESCR_FIRST;
		if (!w->event->escr[side] || (w->escr && w->escr != side + 1) || !escr_fits(k, slot, value))
			continue;
		k->escr[slot] = value;
		k->users[slot]++;
		*to = (struct netburst_assignment){ .escr = w->event->escr[side], .counter = NETBURST_NO_COUNTER, .escr_value = value };
		if (w->upstream) {
			if (search(k, i + 1))
				return true;
		} else {
			uint32_t counters = reach(k, w, side) & ~k->taken;
			for (unsigned c = 0; c < NETBURST_COUNTERS; c++) {
				if (!(counters >> c & 1) || !cascade_fits(k, i, c))
					continue;
				k->taken |= 1u << c;
				to->counter = (uint8_t)c;
				to->cccr_value = netburst_cccr_value(w);
				if (search(k, i + 1))
					return true;
				k->taken &= ~(1u << c);
			}
		}
		k->users[slot]--;
	}
	return false;
}

static bool assign_all(struct search *k)
{
	memset(k->users, 0, sizeof(k->users));
	k->taken = 0;
	for (k->block = 0; k->block < 4; k->block++)
		if (!search(k, 0))
			return false;
	return true;
}

/* Appends the registers that the wants need: ESCRs, then counters. */
static void explain_registers(const struct search *k, struct text *why)
{
	uint32_t counters = 0;
	const char *before = " need ";
	for (unsigned slot = 0; slot < ESCR_COUNT; slot++)
		for (unsigned i = 0, named = 0; i < k->n && !named; i++)
			for (unsigned side = 0; side < 2 && !(k->left_out >> i & 1); side++)
				if (k->wants[i].event->escr[side] == ESCR_FIRST + slot && !named) {
					text_fmt(why, "%sESCR 0x%X", before, ESCR_FIRST + slot);
					before = ", ";
					named = 1;
				}
	for (unsigned i = 0; i < k->n; i++)
		for (unsigned side = 0; side < 2; side++)
			if (!(k->left_out >> i & 1) && !k->wants[i].upstream)
				counters |= reach(k, &k->wants[i], side);
	before = " and counter ";
	for (unsigned c = 0; c < NETBURST_COUNTERS; c++)
		if (counters >> c & 1) {
			text_fmt(why, "%s%u", before, c);
			before = ", ";
		}
}

/* Leaves out every want without which the rest still collides; names those that remain. */
static void explain_collision(struct search *k, struct text *why)
{
	const char *before = "";
	for (unsigned i = 0; i < k->n; i++) {
		k->left_out |= 1u << i;
		for (unsigned j = 0; j < k->n; j++) /* a want is kept while one that its overflow starts is kept */
			if (k->wants[j].after == (int)i && !(k->left_out >> j & 1))
				k->left_out &= ~(1u << i);
		if (k->left_out >> i & 1 && assign_all(k))
			k->left_out &= ~(1u << i);
	}
	for (unsigned i = 0; i < k->n; i++)
		if (!(k->left_out >> i & 1)) {
			text_fmt(why, "%s%s", before, name_of(&k->wants[i]));
			before = ", ";
		}
	explain_registers(k, why);
	text_fmt(why, ", and cannot all have them");
}

enum status netburst_assign(uint32_t usable, const struct netburst_want *wants, unsigned n, struct netburst_assignment *assigned,
                           struct text *why)
{
	struct search k = { .wants = wants, .assigned = assigned, .n = n, .usable = usable };
	const struct netburst_want *metric = NULL;
	if (n > NETBURST_WANTS_MAX) {
		text_fmt(why, "%u events; at most %u at once", n, NETBURST_WANTS_MAX);
		return ST_FULL;
	}
	for (unsigned i = 0; i < n; i++) {
		const char *bad = unlawful(wants, n, i);
		if (bad) {
			text_fmt(why, "%s: %s", name_of(&wants[i]), bad);
			return ST_RANGE;
		}
		if (wants[i].metric && metric && wants[i].metric != metric->metric) {
			text_fmt(why, "%s and %s: IA32_PEBS_ENABLE (0x3F1) and MSR_PEBS_MATRIX_VERT (0x3F2) hold one metric", name_of(metric),
			         name_of(&wants[i]));
			return ST_UNSUPPORTED;
		}
		metric = wants[i].metric ? &wants[i] : metric;
	}
	if (assign_all(&k))
		return ST_OK;
	explain_collision(&k, why);
	memset(assigned, 0, n * sizeof(*assigned));
	return ST_UNSUPPORTED;
}
