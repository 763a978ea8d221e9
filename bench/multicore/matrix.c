/* bench/multicore/matrix.c: a measurement for each pair of cores: the cost of a line that another core holds.
 *
 * For each reader and each owner in the row's relation to it, lines of the reader's memory node are flushed, the owner reads or writes them, and the reader chases them
 * in windows of n and 2n loads over different lines; the slope is one sample. The time of a pair is the same on all machines; the number of
 * pairs grows with the square of the cores. */
#include "bench/multicore/matrix.h"

#define MATRIX_SAMPLES_SIMULATED 3u
#define MATRIX_SAMPLES 21u
#define ASTRAY_PART 4u            /* more than 1/N of unproven samples are not chance */
#define STRANGE_PART 8u           /* more than 1/N of pairs that contradict the proof are not chance */
#define SHARE_LEAST 5u            /* a mode has at least one sample in N */

size_t matrix_bytes(const struct bench *b)
{
	size_t cores = b->a->cores < CORES_MAX ? b->a->cores : CORES_MAX;

	return sizeof(struct matrix) + cores * cores * sizeof(struct matrix_cell);
}

bool matrix_bimodal(const int64_t *v, unsigned n, int64_t *low, int64_t *high)
{
	unsigned at = 0;
	int64_t gap = 0;

	*low = *high = -1;
	for (unsigned i = 1; i < n; i++)
		if (v[i] - v[i - 1] > gap) {
			gap = v[i] - v[i - 1];
			at = i;
		}
	if (!at || at * SHARE_LEAST < n || (n - at) * SHARE_LEAST < n || gap * 10 <= v[n / 2] ||
	    gap <= v[at - 1] - v[0] || gap <= v[n - 1] - v[at])
		return false;
	*low = v[at / 2];
	*high = v[at + (n - at) / 2];
	return true;
}

static enum relation relation_of(const struct row *r)
{
	return r->target == TARGET_SAME_CORE ? RELATION_SAME_CORE : r->target == TARGET_SAME_CLUSTER ? RELATION_SAME_CLUSTER : r->target == TARGET_OTHER_CORE ? RELATION_SAME_SOCKET :
		r->target == TARGET_OTHER_COMPLEX ? RELATION_SAME_PACKAGE : r->target == TARGET_OTHER_DIE ? RELATION_OTHER_DIE : RELATION_OTHER_SOCKET;
}

#define SCATTERED "a pair of cores has samples below zero"

struct matrix_run {
	struct bench *b;
	const struct row *row;
	struct working_set set;
	struct counting counting;
	struct job job;
	struct matrix *matrix;
	int64_t tick_micro;                  /* core cycles per TSC tick, in millionths, if there is no cycle counter */
	int64_t loads, tsc, cycles_milli;    /* sums over all samples */
	int64_t instructions;                /* likewise, where they are counted */
	uint32_t rejected;
	uint32_t samples, astray;            /* of all pairs; and those that do not prove the row on their own */
	bool disturbed;                      /* some pair had no undisturbed windows */
	bool scattered;                      /* a tenth of some pair's samples are below zero: the longer window took less than the shorter one */
};

/* The count that represents samples of `loads` loads: the median, because a small L1 now and then evicts a wrapper's line or keeps a chased one,
 * which is one load more or fewer. If the median falls short of the proof by more than one load: the lower quartile, because the median of cycles
 * includes windows without their loads. */
static int64_t stands_for(int64_t *counts, unsigned n, int64_t loads, const struct row_proof *proof)
{
	const int64_t median = reduce_median(counts, n), quartile = counts[n / 4];

	return (quartile + 1) * 1000 < proof->low_milli * loads ? quartile : median;
}

/* Cycles of a window on b->core, in thousandths, after `owner` has prepared its lines. */
static enum status one_window(struct matrix_run *p, unsigned owner, uint64_t loads, struct window *w, int64_t *cycles_milli)
{
	const struct kernel *flush = kernel_find("k_flush_chain");
	const struct kernel *fill = kernel_find(p->row->prepare == PREPARE_MODIFIED ? "k_dirty_chain" : "k_touch_chain");
	uint64_t arguments[6] = { p->set.at, loads < p->set.shape.nodes ? loads : p->set.shape.nodes };
	enum status st;

	if (!flush || !fill)
		return ST_BROKEN;
	bench_working(p->b);
	st = window_run(p->b, flush, arguments, NULL, 0, w, &p->job);
	if (st == ST_OK)
		st = window_run_on(p->b, owner, fill, arguments, NULL, 0, w, &p->job);
	if (st == ST_OK)
		st = window_units(p->b, &p->set, loads, &p->counting, 0, w, &p->job);
	*cycles_milli = p->counting.on ? (int64_t)w->counts[0] * 1000 : mul_div((int64_t)w->tsc, p->tick_micro, 1000);
	return st;
}

static enum status one_cell(struct matrix_run *p, unsigned owner)
{
	unsigned n = p->b->repetitions ? p->b->repetitions : p->b->a->kind == ACCESS_SIM ? MATRIX_SAMPLES_SIMULATED : MATRIX_SAMPLES;
	struct matrix_cell *c = &p->matrix->cell[p->matrix->cells];
	const int64_t loads = p->row->window;
	int64_t samples[SAMPLES_MAX], counts[ROW_PROOFS_MAX][SAMPLES_MAX], shorter, longer;

	unsigned spoilt = 0;

	for (unsigned i = 0; i <= n; i++) { /* the first one warms up */
		struct window w[2];
		enum status st = i ? ST_OK : window_clock_follow(p->b, &p->counting, &p->job, &p->tick_micro);

		noise_check_before_multicore(p->b, p->b->core);
		if (st == ST_OK)
			st = one_window(p, owner, loads, &w[0], &shorter);
		if (st == ST_OK)
			st = one_window(p, owner, 2 * loads, &w[1], &longer);
		if (st != ST_OK)
			return st;
		if (noise_check_after_multicore(p->b, p->b->core)) {
			p->rejected++;
			p->disturbed |= spoilt == n;
			if (spoilt++ < n) {
				i--;
				continue;
			}
		}
		if (i == 0)
			continue;
		samples[i - 1] = (longer - shorter) / loads;
		bool proves = true;
		int64_t of_events[ROW_EVENTS_MAX], values[ROW_PROOFS_MAX];

		for (unsigned e = 0; p->counting.on && e < p->counting.events; e++)
			of_events[e] = (int64_t)(w[1].counts[e] - w[0].counts[e]);
		evidence_values(&p->counting, of_events, values);
		for (unsigned e = 0; p->counting.on && e < p->counting.proof_count; e++) {
			const int64_t count = counts[e][i - 1] = values[e];

			proves = proves && count * 1000 >= p->counting.proofs[e].low_milli * loads && count * 1000 <= p->counting.proofs[e].high_milli * loads;
		}
		p->samples++;
		p->instructions += p->counting.instructions ? of_events[p->counting.instructions] : 0;
		p->astray += !proves;
		p->loads += loads;
		p->tsc += (int64_t)(w[1].tsc - w[0].tsc);
		p->cycles_milli += longer - shorter;
	}
	c->owner = (uint16_t)owner;
	c->reader = (uint16_t)p->b->core;
	for (unsigned e = 0; p->counting.on && e < p->counting.proof_count; e++) {
		const int64_t count = stands_for(counts[e], n, loads, &p->counting.proofs[e]);

		c->counts[e] = count < 0 ? 0 : count > UINT16_MAX ? UINT16_MAX : (uint16_t)count;
	}
	c->median_milli = reduce_median(samples, n);
	c->p10_milli = samples[n / 10];
	c->p90_milli = samples[n - 1 - n / 10];
	(void)matrix_bimodal(samples, n, &c->low_milli, &c->high_milli);
	p->scattered |= c->p10_milli < 0;
	if (c->median_milli > 0) /* else the pair has no value */
		p->matrix->cells++;
	return ST_OK;
}

static enum status one_reader(struct matrix_run *p, enum relation relation)
{
	struct bench *b = p->b;
	uint64_t found = 0;
	bool switched = prefetchers_off(b, &found);
	enum status st = p->counting.on ? counters_start(b->a, b->cpu, &p->counting.plan, 0, b->core) : window_clock(p->b, &p->job, &p->tick_micro), stopped;
	unsigned owner;

	for (unsigned n = 0; st == ST_OK && cores_choose(b, b->core, relation, n, &owner) == ST_OK; n++)
		st = one_cell(p, owner);
	if (p->counting.on && (stopped = counters_stop(b->a, b->cpu, &p->counting.plan, 0, b->core)) != ST_OK && st == ST_OK)
		st = stopped;
	if (switched && !prefetchers_back(b, found) && st == ST_OK)
		st = ST_IO;
	return st;
}

/* Whether that count of a pair contradicts the proof: by more than half of its loads, which is more than what a wrapper's lines add. */
static bool strange(const struct matrix_run *p, const struct matrix_cell *c, unsigned e)
{
	const struct row_proof *proof = &p->counting.proofs[e];
	const int64_t loads = p->row->window, milli = (int64_t)c->counts[e] * 1000;

	return milli + 500 * loads < proof->low_milli * loads || milli - 500 * loads > proof->high_milli * loads;
}

/* The median of all pairs hides those of another relation, which firmware has reported wrongly: the row is unproven if they are many, and names one. */
static bool pairs_agree(const struct matrix_run *p, struct text *reason)
{
	unsigned found = 0, first = 0, event = 0;

	for (unsigned i = 0; i < p->matrix->cells; i++)
		for (unsigned e = 0; e < p->counting.proof_count; e++)
			if (strange(p, &p->matrix->cell[i], e)) {
				if (!found++) {
					first = i;
					event = e;
				}
				break;
			}
	if (found * STRANGE_PART <= p->matrix->cells)
		return true;
	const struct matrix_cell *c = &p->matrix->cell[first];

	text_fmt(reason, "%u of %u pairs contradict it: lines of core %u, loaded by core %u: %s ", found, p->matrix->cells, c->owner, c->reader, p->counting.expressions[event]->text);
	text_fixed(reason, mul_div(c->counts[event], 1000, p->row->window), 3);
	text_fmt(reason, " per load");
	return false;
}

static void reduce(struct matrix_run *p, struct row_result *out)
{
	const unsigned n = p->matrix->cells;
	int64_t *work = n ? p->b->host->get(p->b->host->self, 2 * n * sizeof(*work)) : NULL, per_load[ROW_PROOFS_MAX];
	const char *noise = "";
	struct text proof, reason;

	if (!n) {
		out->status = ROW_NOISY;
		out->noisy = true;
		str_copy(out->reason, sizeof(out->reason), SCATTERED);
		return;
	}
	if (!work) {
		out->status = ROW_UNSUPPORTED;
		str_copy(out->reason, sizeof(out->reason), "no memory for the medians");
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		const struct matrix_cell *c = &p->matrix->cell[i];

		work[i] = c->median_milli;
		work[n + i] = (c->p90_milli - c->p10_milli) / 2;
	}
	out->value_milli = out->cycles_milli = reduce_median(work, n);
	out->spread_milli = reduce_median(work + n, n);
	out->samples = (uint32_t)(p->loads / p->row->window);
	if (p->tsc > 0 && p->cycles_milli > 0)
		out->core_hz = (uint64_t)mul_div((int64_t)p->b->a->tsc_hz, p->cycles_milli, p->tsc * 1000);
	out->ns_milli = out->core_hz ? mul_div(out->value_milli, 1000000000, (int64_t)out->core_hz) : -1;
	out->noisy = reduce_is_noisy(out->spread_milli, out->value_milli, out->samples, STAT_MEDIAN, &noise);
	for (unsigned e = 0; e < p->counting.proof_count; e++) {
		for (unsigned i = 0; i < n; i++)
			work[i] = p->matrix->cell[i].counts[e];
		per_load[e] = mul_div(stands_for(work, n, p->row->window, &p->counting.proofs[e]), 1000, p->row->window);
	}
	p->b->host->put(p->b->host->self, work, 2 * n * sizeof(*work));
	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	out->status = ROW_UNPROVEN;
	if (!p->counting.proof_count) {
		out->unprovable = evidence_lacking(p->b, &p->counting, &reason);
	} else if (evidence_holds(&p->counting, per_load, "load", &proof)) {
		int64_t micro[ROW_EVENTS_MAX] = { 0 };

		micro[p->counting.instructions] = mul_div(p->instructions, 1000000, p->loads);
		if (evidence_work_holds(&p->counting, &p->set, micro, "load", out) && pairs_agree(p, &reason))
			out->status = out->noisy ? ROW_NOISY : ROW_OK;
	} else {
		out->unprovable = evidence_refutes(&p->counting, per_load, "load", out->proof, &reason);
		text_fmt(&reason, ", over all pairs");
	}
	out->rejected = p->rejected;
	noise = p->disturbed ? "windows were disturbed again and again" : p->scattered ? SCATTERED : noise;
	out->noisy |= p->disturbed || p->scattered;
	if (out->status == ROW_OK && out->noisy)
		out->status = ROW_NOISY;
	if (out->status == ROW_NOISY)
		str_copy(out->reason, sizeof(out->reason), noise);
	evidence_add_noise(out, noise);
}

void matrix_json(struct text *t, const struct matrix *m)
{
	text_fmt(t, "{\"columns\": [\"owner\", \"reader\", \"median\", \"p10\", \"p90\", \"low\", \"high\"], \"cells\": [");
	for (unsigned i = 0; i < m->cells; i++) {
		const struct matrix_cell *c = &m->cell[i];
		const int64_t values[] = { c->median_milli, c->p10_milli, c->p90_milli, c->low_milli, c->high_milli };

		text_fmt(t, "%s[%u, %u", i ? ", " : "", c->owner, c->reader);
		for (unsigned v = 0; v < COUNT_OF(values); v++) {
			text_fmt(t, ", ");
			if (values[v] < 0 || (v >= 3 && c->low_milli < 0))
				text_fmt(t, "null");
			else
				text_fixed(t, values[v], 3);
		}
		text_char(t, ']');
	}
	text_fmt(t, "]}");
}

/* Moves the lines to the memory node of b->core, unless they are there. */
static enum status bring_home(struct matrix_run *p, struct row_result *out)
{
	struct bench *b = p->b;
	struct working_set *w = &p->set;
	enum status st;

	if (w->mapped && w->map.node == cores_node(b, NODE_OWN))
		return ST_OK;
	st = w->mapped ? cores_leave(b, w, &p->job) : ST_OK;
	if (st == ST_OK && w->mapped)
		st = b->a->ops->unmap(b->a->self, &w->map);
	if (st != ST_OK)
		return st;
	w->mapped = false;
	return window_set_up(b, w, 0, out);
}

/* Measures all pairs of cores with that kernel. */
static enum status measure(struct matrix_run *p, const char *kernel, struct row_result *out)
{
	struct bench *b = p->b;
	const unsigned core = b->core, count = b->a->cores < CORES_MAX ? b->a->cores : CORES_MAX;
	const enum relation relation = relation_of(p->row);
	enum status st;

	out->kernel = kernel;
	p->set.kernel = kernel_find(kernel);
	p->matrix->cells = 0;
	p->loads = p->tsc = p->cycles_milli = p->instructions = 0;
	p->rejected = p->samples = p->astray = 0;
	p->disturbed = p->scattered = false;
	st = p->set.kernel ? ST_OK : ST_BROKEN;
	for (b->core = 0; b->core < count && st == ST_OK; b->core++)
		if (b->cpuset.core[b->core] && cores_choose(b, b->core, relation, 0, &(unsigned){ 0 }) == ST_OK && (st = bring_home(p, out)) == ST_OK)
			st = one_reader(p, relation);
	b->core = core;
	if (st == ST_OK)
		reduce(p, out);
	return st;
}

void matrix_row(struct bench *b, const struct row *r, struct row_result *out)
{
	struct matrix_run p = { .b = b, .row = r };
	struct text reason;
	unsigned core = b->core, count = b->a->cores < CORES_MAX ? b->a->cores : CORES_MAX;
	enum status st;

	out->kernel = r->kernels[0];
	text_init(&reason, out->reason, sizeof(out->reason));
	for (b->core = 0; b->core < count && (!b->cpuset.core[b->core] || cores_choose(b, b->core, relation_of(r), 0, &(unsigned){ 0 }) != ST_OK); b->core++)
		;
	if (b->core == count) {
		b->core = core;
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		text_fmt(&reason, "no two cores stand so to each other");
		return;
	}
	p.matrix = b->host->get(b->host->self, matrix_bytes(b));
	p.set.kernel = kernel_find(r->kernels[0]);
	p.set.window = r->window;
	st = p.matrix && p.set.kernel ? shape_of_test(r, b->cpu, &p.set.shape, out->reason, sizeof(out->reason)) : ST_FULL;
	b->core = core;
	evidence_plan(b, r, 1, &p.counting);
	if (st == ST_OK)
		st = measure(&p, r->kernels[0], out);
	/* Among 16 loads, a single line of the wrapper that a small L1 has evicted is too much: then the cold wrapper. Where the L1 keeps these lines,
	 * that wrapper would only add DRAM accesses to the windows. */
	if (st == ST_OK && p.counting.proof_count && (out->status == ROW_UNPROVEN || p.astray * ASTRAY_PART > p.samples) && r->kernels[1])
		st = measure(&p, r->kernels[1], out);
	if (st == ST_OK && p.set.mapped)
		st = cores_leave(b, &p.set, &p.job);
	out->footprint_bytes = p.set.shape.bytes;
	out->page_bytes = p.set.map.page_bytes;
	if (p.set.mapped && b->a->ops->unmap(b->a->self, &p.set.map) != ST_OK && st == ST_OK)
		st = ST_BROKEN;
	if (st == ST_OK) {
		out->matrix = p.matrix;
		return;
	}
	text_init(&reason, out->reason, sizeof(out->reason));
	out->status = row_status_of(st);
	if (st == ST_FULL)
		text_fmt(&reason, "not enough memory");
	else if (st == ST_TIMEOUT)
		text_fmt(&reason, "core %u did not answer in time", p.job.core);
	else
		text_fmt(&reason, "running the kernel on core %u: %s", p.job.core, status_name(st));
	if (p.matrix)
		b->host->put(b->host->self, p.matrix, matrix_bytes(b));
}
