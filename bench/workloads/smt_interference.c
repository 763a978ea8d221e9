/* bench/workloads/smt_interference.c: uops that a thread of a core retires alone and beside a sibling that runs the same kernel. See
 * known_program.h.
 *
 * Sprunt, Pentium 4 Performance-Monitoring Features (IEEE Micro 2002), "Simultaneous multithreading": a dependent chain of additions leaves the
 * adder free for a second thread; loads that all miss the L1 keep the memory subsystem busy. A thread's own events are counted in windows of n and
 * 8n iterations while the sibling runs longer; then the roles are swapped. The shorter window is short because two threads that compete for the
 * same resource settle into a different phase each time. */
#include "bench/measure/cores.h"
#include "bench/workloads/known_program_parts.h"
#include "pmu/core/concept.h"
#include "pmu/counters/counters.h"

#define ADD_ITERATIONS   100u
#define LONGER           8u   /* longer window over the shorter one */
#define LINE             64u
#define PAIRS_WANTED     21u
#define PAIRS_SIMULATED  3u
#define ROUNDS_FACTOR    2u   /* pairs at most, per pair wanted: disturbed ones are repeated */

/* The sibling starts before the window and ends after it, so its work exceeds the longer window by this factor. */
#define MORE(n)          ((n) + (n) / 2)

enum { EVENT_CYCLES, EVENT_UOPS, EVENT_MISSES, EVENT_OTHER, EVENTS };
struct smt_pair {
	struct known_program *s;
	const struct kernel *kernel;
	struct mapping map[2];
	unsigned cores[2], mapped;
	uint64_t shorter, buffer_lines;
	bool disturbed;             /* all windows of a thread were disturbed */
	bool lines;                 /* k_touch over one buffer per thread, else a chain without memory */
	struct counting counting;
};

/* Chooses the events; false: the part records what is missing. */
static bool choose_events(struct smt_pair *c)
{
	const struct processor *p = c->s->b->cpu->processor;
	const struct event *misses = concept_event(p, "load.miss.l1"), *events[EVENTS] = { c->s->b->cycles, concept_event(p, "uops.retired"),
		misses ? misses : concept_event(p, "line.in.l1d"), concept_event(p, "uops.retired.other_thread") };
	const char *problem = NULL;
	enum status st = ST_UNSUPPORTED;

	c->counting.events = events[EVENT_OTHER] ? EVENTS : EVENT_OTHER;
	c->counting.on = true;
	if (events[EVENT_CYCLES] && events[EVENT_UOPS] && events[EVENT_MISSES])
		st = plan_events(c->s->b->cpu, events, c->counting.events, &c->counting.plan, &problem);
	if (st != ST_OK || c->counting.plan.runs != 1) {
		known_program_failed(c->s, KNOWN_PROGRAM_THREADS, ST_UNSUPPORTED, "no events of cycles, uops and L1 misses that can be counted together");
		return false;
	}
	return true;
}

static void arguments_of(const struct smt_pair *c, unsigned slot, uint64_t iterations, uint64_t a[6])
{
	memset(a, 0, 6 * sizeof(a[0]));
	a[c->kernel->count_argument] = iterations;
	if (c->lines) {
		a[0] = c->map[slot].va;
		a[2] = LINE;
	}
}

/* Brings each thread's buffer into the L2, and evicts from the L1 every line a window starts with. */
static enum status prepare(struct smt_pair *c, unsigned threads)
{
	enum status st = ST_OK;

	for (unsigned i = 0; i < threads && c->lines && st == ST_OK; i++) {
		uint64_t a[6];
		struct window ignored;

		arguments_of(c, i, c->buffer_lines, a);
		st = window_run_on(c->s->b, c->cores[i], c->kernel, a, NULL, 0, &ignored, &c->s->job);
	}
	return st;
}

/* One window of thread `who`. The sibling, if it runs, continues past its end. */
static enum status one_window(struct smt_pair *c, unsigned threads, unsigned who, uint64_t iterations, struct window *out, bool *disturbed)
{
	struct bench *b = c->s->b;
	struct job jobs[2];
	uint64_t a[6];
	enum status st = prepare(c, threads);

	arguments_of(c, who, iterations, a);
	if (st == ST_OK)
		st = window_load(b, c->cores[who], c->kernel, a, &c->counting, 0, &jobs[0]);
	if (st == ST_OK && threads > 1) {
		arguments_of(c, !who, MORE(LONGER * c->shorter), a);
		st = window_load(b, c->cores[!who], c->kernel, a, NULL, 0, &jobs[1]);
	}
	if (st != ST_OK)
		return st;
	noise_check_before(b);
	st = b->a->ops->run(b->a->self, jobs, threads, 0);
	*disturbed = noise_check_after(b) || *disturbed;
	if (st == ST_OK)
		window_read(b, c->cores[who], &c->counting, 0, out);
	return st;
}

/* The undisturbed pair with the median cycles: counts of its longer window minus those of its shorter one. */
static enum status measure(struct smt_pair *c, unsigned threads, unsigned who, uint64_t more[EVENTS])
{
	struct bench *b = c->s->b;
	const unsigned wanted = b->repetitions ? b->repetitions : b->a->kind == ACCESS_SIM ? PAIRS_SIMULATED : PAIRS_WANTED;
	uint64_t kept[PAIRS_WANTED][EVENTS];
	unsigned n = 0, most = wanted < PAIRS_WANTED ? wanted : PAIRS_WANTED;

	for (unsigned round = 0; round <= most * ROUNDS_FACTOR && n < most; round++) { /* the first is warm-up */
		struct window w[2];
		bool disturbed = false;

		for (unsigned longer = 0; longer < 2; longer++) {
			enum status st = one_window(c, threads, who, longer ? c->shorter * LONGER : c->shorter, &w[longer], &disturbed);

			if (st != ST_OK)
				return st;
		}
		if (disturbed || !round)
			continue;
		for (unsigned e = 0; e < c->counting.events; e++)
			kept[n][e] = w[1].counts[e] - w[0].counts[e];
		n++;
	}
	for (unsigned i = 0; i < n; i++) {
		unsigned below = 0, equal = 0;

		for (unsigned k = 0; k < n; k++) {
			below += (int64_t)kept[k][EVENT_CYCLES] < (int64_t)kept[i][EVENT_CYCLES];
			equal += kept[k][EVENT_CYCLES] == kept[i][EVENT_CYCLES];
		}
		if (below <= n / 2 && n / 2 < below + equal) {
			memcpy(more, kept[i], sizeof(kept[i]));
			return (int64_t)more[EVENT_CYCLES] > 0 ? ST_OK : ST_BROKEN;
		}
	}
	c->disturbed = n == 0;
	return ST_BROKEN;
}

static enum status take(struct smt_pair *c, unsigned threads, unsigned who, struct known_program_rate *out)
{
	struct bench *b = c->s->b;
	const bool sibling = b->disturbance.sibling_known;
	uint64_t more[EVENTS] = { 0 };
	enum status st = counters_start(b->a, b->cpu, &c->counting.plan, 0, c->cores[who]), stopped;

	b->disturbance.sibling_known = sibling && threads < 2; /* a sibling that runs the study is no disturbance */
	if (st == ST_OK)
		st = measure(c, threads, who, more);
	b->disturbance.sibling_known = sibling;
	stopped = counters_stop(b->a, b->cpu, &c->counting.plan, 0, c->cores[who]);
	if (st != ST_OK)
		return st;
	out->uops_micro = mul_div((int64_t)more[EVENT_UOPS], 1000000, (int64_t)more[EVENT_CYCLES]);
	out->misses_milli = mul_div((int64_t)more[EVENT_MISSES], 1000, (int64_t)(c->shorter * (LONGER - 1)));
	out->other_known = c->counting.events > EVENT_OTHER;
	out->other_micro = out->other_known ? mul_div((int64_t)more[EVENT_OTHER], 1000000, (int64_t)more[EVENT_CYCLES]) : 0;
	return stopped;
}

static enum status open_buffers(struct smt_pair *c)
{
	enum status st = ST_OK;

	for (unsigned i = 0; i < 2 && c->lines && st == ST_OK; i++) {
		struct mapping *m = &c->map[i];

		m->va = SPACE_DATA + (1 + i) * PAGE_1G;
		for (m->page_bytes = PAGE_2M;; m->page_bytes = PAGE_4K) {
			m->bytes = (c->buffer_lines * LINE + m->page_bytes - 1) / m->page_bytes * m->page_bytes;
			st = c->s->b->a->ops->map(c->s->b->a->self, m);
			if (st != ST_UNSUPPORTED || m->page_bytes == PAGE_4K)
				break;
		}
		c->mapped += st == ST_OK;
	}
	return st;
}

static void contest_run(struct smt_pair *c, struct known_program_smt_pair *out)
{
	enum status st = c->kernel ? open_buffers(c) : ST_BROKEN;

	out->kernel = c->kernel ? c->kernel->name : "";
	if (st == ST_OK)
		st = take(c, 1, 0, &out->alone);
	for (unsigned who = 0; who < 2 && st == ST_OK; who++)
		st = take(c, 2, who, &out->together[who]);
	for (unsigned i = 0; i < c->mapped; i++) {
		enum status closed = c->s->b->a->ops->unmap(c->s->b->a->self, &c->map[i]);

		if (st == ST_OK)
			st = closed;
	}
	if (st != ST_OK)
		known_program_failed(c->s, KNOWN_PROGRAM_THREADS, st, c->disturbed ? "every window was disturbed" : NULL);
}

void known_program_threads(struct known_program *s)
{
	const struct cpu_cache *l1 = cpu_cache(s->b->cpu, 1), *l2 = cpu_cache(s->b->cpu, 2);
	const uint64_t of_l2 = l2 ? l2->bytes / LINE / 8 : 0;
	struct smt_pair c = { .s = s, .cores = { s->b->core, 0 } };

	if (cores_choose(s->b, s->b->core, RELATION_SAME_CORE, 0, &c.cores[1]) != ST_OK) {
		known_program_failed(s, KNOWN_PROGRAM_THREADS, ST_UNSUPPORTED, "one thread a core");
		return;
	}
	if (!choose_events(&c))
		return;
	c.kernel = kernel_find("k_addsd_chain");
	c.shorter = ADD_ITERATIONS;
	s->out->contests[0].name = "fp_add_latency";
	contest_run(&c, &s->out->contests[0]);
	if (s->out->parts[KNOWN_PROGRAM_THREADS].status != ST_OK)
		return;
	if (!l1 || !l1->bytes) {
		known_program_failed(s, KNOWN_PROGRAM_THREADS, ST_UNSUPPORTED, "the size of the L1 is not known");
		return;
	}
	c.kernel = kernel_find("k_touch");
	c.lines = true;
	c.shorter = (2 * l1->bytes / LINE > of_l2 ? 2 * l1->bytes / LINE : of_l2) / LONGER; /* exceeds the L1; both buffers fit in the L2 */
	c.buffer_lines = MORE(LONGER * c.shorter);
	s->out->contests[1].name = "l1_miss";
	contest_run(&c, &s->out->contests[1]);
}
