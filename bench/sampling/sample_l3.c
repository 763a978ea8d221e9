/* bench/sampling/sample_l3.c: the third method on AMD's processors: latency of lines from beyond the L3, as the L3 itself samples it.
 *
 * The counters of the core's L3 run during windows of the row's chase. Time over lines is a line's latency from the L3's miss on; the load-to-use
 * latency of an L3 hit, which an earlier row measured, is added. AMD's documents give the time in tenths, of core cycles on some processors and of
 * ns on others: the unit is the one that comes nearer to the samples of IBS (10 cycles are 2 to 3 ns: they cannot be confused). Zen to Zen 3 add
 * up the lines of all senders, in sixteenths of core cycles: the lines are the row's if there are as many as its loads. */
#include "bench/sampling/sample_parts.h"

#include "pmu/core/concept.h"
#include "pmu/uncore/uncore.h"

#define WINDOWS 3u
#define TENTHS 10
#define SIXTEENTHS 16
#define LEAST_MILLI 900  /* least lines sampled per load of the chase */
#define MOST_MILLI 1100  /* and most, with page walks */

static const struct { enum source source; const char *time, *lines; } fills[] = {
	{ SOURCE_DRAM_LOCAL, "fill.dram.local.time", "fill.dram.local.lines" }, { SOURCE_DRAM_REMOTE, "fill.dram.remote.time", "fill.dram.remote.lines" },
	{ SOURCE_NEAR_CLEAN, "fill.near.time", "fill.near.lines" }, { SOURCE_NEAR_MODIFIED, "fill.near.time", "fill.near.lines" },
	{ SOURCE_REMOTE_CLEAN, "fill.remote.time", "fill.remote.lines" }, { SOURCE_REMOTE_MODIFIED, "fill.remote.time", "fill.remote.lines" },
};

struct l3_run { struct loop *l; struct uncore_plan plan; unsigned socket; bool any; uint64_t time, lines, loads; };

static enum status one_window(struct l3_run *p, uint64_t loads)
{
	struct bench *b = p->l->b;
	struct working_set *w = &p->l->sets[0];
	uint64_t values[UNCORE_EVENTS_MAX] = { 0 };
	struct window ignored;
	enum status st = window_prepare(b, p->l->row, w, WINDOW_TEST, loads, &p->l->job), stopped;

	if (st == ST_OK)
		st = uncore_start(b->a, &b->uncore, &p->plan, 0, p->socket, 0);
	if (st != ST_OK)
		return st;
	st = window_units(b, w, loads, NULL, 0, &ignored, &p->l->job);
	if (st == ST_OK)
		st = uncore_values(b->a, &b->uncore, &p->plan, 0, p->socket, values);
	stopped = uncore_stop(b->a, &b->uncore, &p->plan, 0, p->socket);
	p->time += values[0];
	p->lines += values[1];
	p->loads += loads;
	return st != ST_OK ? st : stopped;
}

static int64_t distance(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

static void judge(const struct l3_run *p, const struct row_result *row, struct sample_l3 *out)
{
	const int64_t milli = p->lines ? mul_div((int64_t)p->time * (p->any ? SIXTEENTHS : TENTHS), 1000, (int64_t)p->lines) : 0;
	const int64_t hit = p->l->b->l3_milli, beyond = row->sample.value_milli - hit;
	const int64_t as_ns = row->core_hz ? mul_div(milli, (int64_t)row->core_hz, 1000000000) : 0;

	out->verdict = SAMPLE_UNPROVEN;
	out->lines = (uint32_t)p->lines;
	out->ns = !p->any && as_ns && distance(as_ns, beyond) < distance(milli, beyond);
	out->value_milli = (out->ns ? as_ns : milli) + hit;
	if ((int64_t)p->lines * 1000 < LEAST_MILLI * (int64_t)p->loads || (int64_t)p->lines * 1000 > MOST_MILLI * (int64_t)p->loads || row->value_milli <= 0)
		return;
	out->difference_milli = mul_div(out->value_milli - row->value_milli, 1000, row->value_milli);
	out->verdict = distance(out->value_milli, row->value_milli) * 1000 <= SAMPLE_AGREE_MILLI * row->value_milli ? SAMPLE_AGREES : SAMPLE_DIFFERS;
}

void sample_l3_row(struct loop *l, struct row_result *row)
{
	struct bench *b = l->b;
	const char *names[2] = { NULL, NULL }, *problem;
	struct l3_run p = { .l = l };
	const struct kernel *k = l->sets[0].kernel;
	uint64_t loads = l->sets[0].shape.nodes / k->loads * k->loads;
	enum status st;

	if (l->row->source == SOURCE_L3_UNSHARED && l->row->kind == KIND_LATENCY && row->status == ROW_OK)
		b->l3_milli = row->value_milli;
	for (unsigned i = 0; i < COUNT_OF(fills); i++)
		if (fills[i].source == l->row->source) {
			names[0] = concept_uncore(b->cpu->processor, fills[i].time, 0);
			names[1] = concept_uncore(b->cpu->processor, fills[i].lines, 0);
			p.any = !names[0];
		}
	if (p.any) {
		names[0] = concept_uncore(b->cpu->processor, "fill.any.time", 0);
		names[1] = concept_uncore(b->cpu->processor, "fill.any.lines", 0);
	}
	if (!names[0] || !names[1] || !b->l3_milli || row->sample.verdict != SAMPLE_AGREES || b->uncore.absent || !loads)
		return;
	loads = loads > l->row->window ? l->row->window : loads;
	if (uncore_plan(&b->uncore, names, 2, &p.plan, &problem) != ST_OK || p.plan.runs != 1 || uncore_socket(b->a, &b->uncore, b->core, &p.socket) != ST_OK)
		return;
	st = ST_OK;
	for (unsigned i = 0; i < WINDOWS && st == ST_OK; i++)
		st = one_window(&p, loads);
	if (st == ST_OK)
		judge(&p, row, &row->sample.l3);
	else
		row->sample.l3.verdict = SAMPLE_FAILED;
}
