/* bench/suite/l2_port.c: see l2_port.h.
 *
 * Loads of a chase follow one another. Independent loads of the same lines overlap, so that the port alone separates them: it takes several cycles for a line, a
 * hit 10 or more. If they take as long as the chase does, the chase waited for the port. */
#include "bench/suite/l2_port.h"

#define LOADS 256u       /* of the shorter window */
#define ROUNDS 5u        /* on real machines, where other activity lengthens a window */
#define SAME_PERCENT 97

/* k_touch: `loads` independent loads of consecutive lines; or k_flush. */
static enum status each_line(struct bench *b, const char *kernel, const struct working_set *w, uint32_t first, uint32_t loads, struct window *out, struct job *job)
{
	const struct kernel *k = kernel_find(kernel);
	const uint64_t arguments[6] = { w->map.va + first * (uint64_t)w->shape.line_bytes, loads, w->shape.line_bytes };

	return k ? window_run(b, k, arguments, NULL, 0, out, job) : ST_BROKEN;
}

static void least_of(int64_t *least, const struct window *out)
{
	if ((int64_t)out->tsc < *least)
		*least = (int64_t)out->tsc;
}

/* Ticks of LOADS loads by the chase and by independent loads: the least longer window less the least shorter one. An L1 without the lines of a window comes from a
 * lap of the chase, and for independent loads from one of their own that ends with other lines. */
static enum status ticks_of_both(struct bench *b, struct working_set *w, int64_t ticks[2])
{
	int64_t least[2][2] = { { INT64_MAX, INT64_MAX }, { INT64_MAX, INT64_MAX } };
	struct window out = { .tsc = 0 };
	struct job job;
	enum status st = window_units(b, w, (uint64_t)w->shape.nodes, NULL, 0, &out, &job);

	for (unsigned i = 0; st == ST_OK && i < (b->a->kind == ACCESS_SIM ? 1 : ROUNDS); i++) {
		for (unsigned longer = 0; st == ST_OK && longer < 2; longer++) {
			st = window_units(b, w, LOADS << longer, NULL, 0, &out, &job);
			least_of(&least[0][longer], &out);
		}
		if (st == ST_OK)
			st = each_line(b, "k_touch", w, 0, w->shape.nodes, &out, &job);
		if (st == ST_OK)
			st = each_line(b, "k_touch", w, 0, 2 * LOADS, &out, &job);
		least_of(&least[1][1], &out);
		if (st == ST_OK)
			st = each_line(b, "k_touch", w, 2 * LOADS, LOADS, &out, &job);
		least_of(&least[1][0], &out);
	}
	/* No line is left for a later row to find. */
	if (st == ST_OK)
		st = each_line(b, "k_flush", w, 0, w->shape.nodes, &out, &job);
	for (unsigned kernel = 0; st == ST_OK && kernel < 2; kernel++)
		ticks[kernel] = least[kernel][1] - least[kernel][0];
	return st;
}

enum l2_port l2_port_measured(struct bench *b)
{
	const struct random before = b->random;
	const struct row *r = row_find("load.l2.latency");
	struct row_result ignored = { .row = r };
	struct working_set w = { .kernel = r ? kernel_find(r->kernels[0]) : NULL };
	int64_t ticks[2] = { 0, 0 };
	uint64_t found = 0;

	if (b->l2_port != L2_PORT_UNKNOWN)
		return b->l2_port;
	b->l2_port = L2_PORT_FREE;
	if (!w.kernel || shape_of_test(r, b->cpu, &w.shape, ignored.reason, sizeof(ignored.reason)) != ST_OK || w.shape.nodes < 3 * LOADS)
		return b->l2_port;
	const bool switched = prefetchers_known(b) && prefetchers_off(b, &found);
	enum status st = window_set_up(b, &w, 0, &ignored);

	if (st == ST_OK)
		st = ticks_of_both(b, &w, ticks);
	const enum status unmapped = w.mapped ? b->a->ops->unmap(b->a->self, &w.map) : ST_OK;
	const bool restored = !switched || prefetchers_back(b, found);

	b->random = before;
	if (st != ST_OK || unmapped != ST_OK || !restored)
		b->l2_port = L2_PORT_FAILED;
	else if (ticks[0] > 0 && ticks[1] * 100 >= ticks[0] * SAME_PERCENT)
		b->l2_port = L2_PORT_DELAYS;
	return b->l2_port;
}
