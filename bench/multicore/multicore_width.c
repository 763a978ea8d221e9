/* bench/multicore/multicore_width.c: the vector width and the offset between arrays with which several cores together are fastest: bench/measure/vector_width.h. */
#include "bench/measure/vector_width.h"
#include "bench/multicore/multicore_buffers.h"

enum status multicore_width_choose(struct multicore *c, unsigned n, struct row_result *out)
{
	const uint64_t units = (uint64_t)multicore_window(c) * multicore_times(c->row);
	const struct stream_choice *fastest;
	enum status st = ST_OK;
	struct trial t;

	vector_width_begin(&t, c->b, c->row, c->members[0].set.shape.arrays);
	if (!t.wanted || c->stream)
		return ST_OK;
	c->cold = multicore_pushes_wrapper(c, n);
	if (c->row->prepare == PREPARE_FLUSH)
		c->pair_bytes = units * c->members[0].set.shape.step_bytes;
	c->pairs = c->moves && !c->pairs ? 1 : c->pairs; /* multicore_give_back flushes the lines of that many pairs */
	for (; st == ST_OK && vector_width_goes_on(&t, c->b); t.tries++)
		for (unsigned i = 0; i < t.count && st == ST_OK; i++) {
			const unsigned whose = vector_width_choice(&t, i);
			bool together; /* a run that did not start together, one in many, is accepted */

			bench_working(c->b);
			for (unsigned m = 0; m < n; m++) {
				vector_width_set(&c->members[m].set, &t.choice[whose]);
				c->members[m].units = units;
				if (c->moves)
					c->members[m].set.at = multicore_start_offset(c, m, 0);
			}
			if (c->row->target == TARGET_DRAM)
				st = multicore_flush(c, n);
			if (st == ST_OK)
				st = multicore_run(c, n, MULTICORE_UNCOUNTED, &together);
			t.ticks[whose][t.tries] = (int64_t)multicore_ticks(c, n);
		}
	if (st != ST_OK)
		return st;
	fastest = vector_width_fastest(&t);
	c->stream = fastest->kernel;
	for (unsigned m = 0; m < n; m++)
		vector_width_set(&c->members[m].set, fastest);
	out->kernel = c->stream->name;
	return ST_OK;
}
