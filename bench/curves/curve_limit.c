/* bench/curves/curve_limit.c: which structure was full at the knee of loads that miss: the fill buffers, one beyond them, or one before them.
 *
 * Behind as many misses as overlap at the knee, a load that hits the L1 needs everything but a fill buffer, and one that hits the L2 a fill buffer
 * but nothing beyond. So the first must not wait and the second must. Square roots that depend on that load, in a chain longer than a miss, make
 * the wait visible. */
#include "bench/curves/curve_pass.h"

#define LINE 64u
#define ROOTS_LEAST 4u
#define ROOTS_MOST 128u           /* each an entry of the reorder buffer */
#define NUMBER 0x4000000000000000ull /* 2.0: its roots have all their bits */
#define NUMBER_LINES 32u          /* as many as two longer windows have iterations */
#define DISPLACING_L1S 2u         /* lines that displace those of an L1, whatever its replacement policy */

uint64_t curve_limit_bytes(const struct cpu *cpu, const struct row_curve *c)
{
	const struct cpu_cache *l1 = cpu_cache(cpu, 1);

	return c->what == CURVE_WINDOW && c->filler == FILLER_MISS && l1 ? DISPLACING_L1S * l1->bytes : 0;
}

/* Loads the lines of the numbers; for FILLER_MISS then other lines, until the L1 has evicted them. */
enum status curve_limit_prepare(struct pass *p)
{
	const struct working_set *w = &p->loop.sets[0];
	const uint64_t page = w->map.va + w->shape.bytes;
	enum status st = curve_run(&p->loop, "k_touch", page + CURVE_HOT_OFFSET, NUMBER_LINES, LINE);

	if (st == ST_OK && p->curve->filler == FILLER_MISS)
		st = curve_run(&p->loop, "k_touch", page + PAGE_4K, curve_limit_bytes(p->b->cpu, p->loop.row->curve) / LINE, LINE);
	return st;
}

static enum status beside(struct pass *p, enum filler level, uint8_t roots, uint32_t x, int64_t *iteration_milli)
{
	struct row_curve c = *p->curve;

	c.what = CURVE_BESIDE;
	c.filler = level;
	c.roots = roots;
	return curve_other_point(p, &c, x, iteration_milli, NULL);
}

enum status curve_limit(struct pass *p, uint32_t misses, int64_t one)
{
	const struct working_set *w = &p->loop.sets[0];
	int64_t alone = 0, iteration = 0;
	uint8_t roots = ROOTS_LEAST;
	enum status st = ST_OK;

	for (uint32_t i = 0; i < NUMBER_LINES; i++)
		*(uint64_t *)mapping_at(&w->map, w->shape.bytes + CURVE_HOT_OFFSET + i * LINE) = NUMBER;
	p->limit = "no load beside the misses shows whether it was the fill buffers that were full";
	for (st = beside(p, FILLER_LOAD, roots, 1, &alone); st == ST_OK && alone < one + one / 2 && roots < ROOTS_MOST; st = beside(p, FILLER_LOAD, roots, 1, &alone))
		roots = (uint8_t)(2 * roots);
	if (st != ST_OK || alone < one + one / 2)
		return st;
	const int64_t late = alone + one / 2;

	st = beside(p, FILLER_LOAD, roots, misses - 1, &iteration);
	if (st == ST_OK && iteration > late) {
		p->limit = "a load that the L1 answers waits too: the load buffer, or another before the fill buffers, was full first";
		p->limited = true;
		return st;
	}
	if (st == ST_OK && !curve_limit_bytes(p->b->cpu, p->curve)) {
		p->limit = "no L1 is known that could lose a line to the L2: whether it was the fill buffers that were full stays open";
		return st;
	}
	if (st == ST_OK)
		st = beside(p, FILLER_MISS, roots, 1, &iteration);
	if (st != ST_OK || iteration > late)
		return st;
	st = beside(p, FILLER_MISS, roots, misses - 1, &iteration);
	p->limited = st == ST_OK && iteration <= late;
	p->limit = p->limited ? "the L2 still answers with that many misses in flight: a queue beyond the fill buffers was full first" : NULL;
	return st;
}

enum status curve_other_point(struct pass *p, const struct row_curve *curve, uint32_t x, int64_t *iteration_milli, int64_t *brought)
{
	const struct pass own = *p;
	const unsigned count = p->out->curve.count;
	enum status st;

	p->curve = curve;
	st = curve_point(p, x, iteration_milli);
	p->out->curve.count = count;
	if (brought)
		*brought = p->counts[0] - own.counts[0];
	memcpy(p->counts, own.counts, sizeof(p->counts));
	p->units = own.units;
	p->spread_milli = own.spread_milli;
	p->spread_of_milli = own.spread_of_milli;
	p->curve = own.curve;
	return st;
}
