/* bench/multicore/multicore.c: several cores at work at once: starting them together, and choosing them. */
#include "bench/multicore/multicore.h"

#define TOGETHER_PART 8u /* of a run: all windows have begun within its first eighth */
/* Spreads close seeds apart (2^64 over the golden ratio: Knuth, volume 3, 6.4). xorshift adds without carry, so streams of close seeds differ by
 * nearly constants: in a quarter of all pairs of windows, two cores would be as far apart as in another pair. */
#define SCATTER 0x9E3779B97F4A7C15ull
#define PAIR_SEEDS 256u  /* seeds of one pair of windows; members beyond share them with another pair's */
#define FIRST_SLOT 16u   /* GiB of the data space before the members' parts: they belong to methods that run beside */

enum status multicore_begin(struct multicore *c, struct bench *b, const struct row *r)
{
	memset(c, 0, sizeof(*c));
	c->b = b;
	c->row = r;
	c->members = b->host->get(b->host->self, MULTICORE_MAX * sizeof(*c->members));
	c->jobs = b->host->get(b->host->self, MULTICORE_MAX * sizeof(*c->jobs));
	return c->members && c->jobs ? ST_OK : ST_FULL;
}

static enum status run_jobs(struct multicore *c, unsigned n)
{
	enum status st = c->b->a->ops->run(c->b->a->self, c->jobs, n, 0);

	for (unsigned i = 0; i < n && st != ST_OK; i++)
		if (c->jobs[i].status == st) {
			c->failed = c->jobs[i].core;
			c->vector = c->jobs[i].vector;
			c->in_kernel = true;
			break;
		}
	return st;
}

enum status multicore_run(struct multicore *c, unsigned n, enum multicore_counts counts, bool *together)
{
	const bool counted = counts == MULTICORE_COUNTED;
	uint64_t first = UINT64_MAX, last = 0;
	bool disturbed = false;
	enum status st = ST_OK;

	if (counted && c->members[0].core == c->b->core)
		noise_check_look_at_elapsed(c->b, &c->counting, 0);
	for (unsigned i = 0; i < n && st == ST_OK; i++) {
		struct member *m = &c->members[i];
		uint64_t arguments[6];

		if (m->kernel)
			memcpy(arguments, m->arguments, sizeof(arguments));
		else
			window_arguments(c->b, &m->set, m->units, arguments);
		st = window_load(c->b, m->core, m->kernel ? m->kernel : m->set.kernel, arguments, counted ? &c->counting : NULL, 0, &c->jobs[i]);
		if (st == ST_OK && c->cold)
			st = window_cold(&c->jobs[i]);
	}
	if (st == ST_OK) {
		noise_check_before_multicore(c->b, c->members[0].core);
		st = run_jobs(c, n);
	}
	for (unsigned i = 0; i < n && st == ST_OK; i++) {
		struct member *m = &c->members[i];

		window_read(c->b, m->core, counted ? &c->counting : NULL, 0, &m->window);
		if (!m->kernel) {
			m->set.at = m->window.result;
			m->touched_bytes += c->moves ? 0 : m->units * m->set.shape.step_bytes;
		}
		first = m->window.began < first ? m->window.began : first;
		last = m->window.began > last ? m->window.began : last;
	}
	if (st == ST_OK) {
		disturbed = noise_check_after_multicore(c->b, c->members[0].core);
		c->disturbed += disturbed;
	}
	*together = st == ST_OK && !disturbed && last - first <= multicore_ticks(c, n) / TOGETHER_PART;
	return st;
}

/* Flushes `bytes` of each array of the first n members' streams, from byte offset `from`: whole iterations of the kernel. */
static enum status flush(struct multicore *c, unsigned n, const uint64_t *from, const uint64_t *bytes)
{
	const struct kernel *kernel = kernel_find("k_warm_flush");
	enum status st = kernel ? ST_OK : ST_BROKEN;

	for (unsigned array = 0, jobs = 1; jobs && st == ST_OK; array++) {
		jobs = 0;
		for (unsigned i = 0; i < n && st == ST_OK; i++) {
			struct working_set *w = &c->members[i].set;
			uint64_t arguments[6];

			if (array >= w->shape.arrays || !bytes[i])
				continue;
			w->at = from[i];
			window_warm_arguments(c->b, w, kernel, bytes[i] / w->shape.step_bytes, arguments);
			arguments[0] = arguments[array];
			st = window_load(c->b, c->members[i].core, kernel, arguments, NULL, 0, &c->jobs[jobs++]);
		}
		if (st == ST_OK && jobs)
			st = run_jobs(c, jobs);
	}
	return st;
}

enum status multicore_flush(struct multicore *c, unsigned n)
{
	uint64_t from[MULTICORE_MAX], bytes[MULTICORE_MAX];

	for (unsigned i = 0; i < n; i++) {
		struct member *m = &c->members[i];

		bytes[i] = m->units * m->set.shape.step_bytes;
		if (m->set.at + bytes[i] > m->set.shape.array_bytes) {
			m->touched_bytes += c->moves ? 0 : m->set.shape.array_bytes - m->set.at;
			m->set.at = 0;
		}
		from[i] = m->set.at;
	}
	return flush(c, n, from, bytes);
}

uint64_t multicore_start_offset(const struct multicore *c, unsigned member, unsigned pair)
{
	const struct shape *s = &c->members[member].set.shape;
	const uint64_t part = c->starts_bytes / START_OFFSETS;
	uint32_t order[START_OFFSETS];
	struct random r;

	random_init(&r, ((uint64_t)(pair + 1) * PAIR_SEEDS + member) * SCATTER);
	if (!part)
		return (uint64_t)random_below(&r, (uint32_t)((s->array_bytes - c->pair_bytes) / s->line_bytes)) * s->line_bytes;
	const uint64_t page = random_below(&r, (uint32_t)((part - c->pair_bytes) / PAGE_4K)) + 1;

	random_init(&r, (member + 1) * SCATTER);
	random_shuffle(&r, order, START_OFFSETS);
	return s->array_bytes - c->starts_bytes + order[pair % START_OFFSETS] * part + page * PAGE_4K - s->start_bytes % PAGE_4K;
}

/* Bytes of a member's arrays that a cache may still hold: those touched, and under an LRU last level at most its capacity, plus that of the level
 * whose victims it takes. */
static uint64_t still_held(const struct multicore *c, const struct member *m)
{
	const struct cpu_cache *last = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu)), *below = cpu_cache(c->b->cpu, cpu_last_level(c->b->cpu) - 1);
	const uint64_t most = last ? (last->bytes + (below && !last->inclusive ? below->bytes : 0)) / m->set.shape.arrays : m->touched_bytes;
	const uint64_t held = m->touched_bytes < most || c->b->last_forgets ? m->touched_bytes : most;

	return held < m->set.shape.array_bytes ? held : m->set.shape.array_bytes;
}

enum status multicore_give_back(struct multicore *c)
{
	const struct access *a = c->b->a;
	uint64_t from[MULTICORE_MAX], bytes[MULTICORE_MAX];
	unsigned pair = 0;
	enum status st = ST_OK;

	do {
		for (unsigned i = 0; i < MULTICORE_MAX; i++) {
			const struct member *m = &c->members[i];
			const bool stream = m->set.mapped && m->set.shape.order == ORDER_STREAMS && (m->touched_bytes || pair < c->pairs);

			bytes[i] = !stream ? 0 : pair < c->pairs ? c->pair_bytes : still_held(c, m);
			from[i] = !stream ? 0 : pair < c->pairs ? multicore_start_offset(c, i, pair) : ((c->moves ? m->touched_to : m->set.at) - bytes[i]) & (m->set.shape.array_bytes - 1);
		}
		if (!c->in_kernel) /* a core that failed once gets no further job */
			st = flush(c, c->count, from, bytes);
	} while (pair++ < c->pairs && st == ST_OK);
	c->pairs = 0;
	for (unsigned i = 0; i < MULTICORE_MAX; i++) {
		struct member *m = &c->members[i];

		if (m->set.mapped && a->ops->unmap(a->self, &m->set.map) != ST_OK && st == ST_OK)
			st = ST_BROKEN;
		m->set.mapped = false;
	}
	return st;
}

enum status multicore_end(struct multicore *c)
{
	const struct suite_host *host = c->b->host;
	const enum status st = c->members && c->jobs ? multicore_give_back(c) : ST_OK;

	if (c->members)
		host->put(host->self, c->members, MULTICORE_MAX * sizeof(*c->members));
	if (c->jobs)
		host->put(host->self, c->jobs, MULTICORE_MAX * sizeof(*c->jobs));
	return st;
}

uint64_t multicore_ticks(const struct multicore *c, unsigned n)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < n; i++)
		most = c->members[i].window.tsc > most ? c->members[i].window.tsc : most;
	return most;
}

/* Start of a member's part of the data space, behind those of the members before it. A part is a GiB, halved until all processors have one; a
 * member with larger arrays takes several. */
static uint64_t member_va(const struct multicore *c, unsigned member)
{
	uint64_t part = PAGE_1G, va = SPACE_DATA + FIRST_SLOT * PAGE_1G;

	while (FIRST_SLOT * PAGE_1G + c->b->a->cores * part > SPACE_END - SPACE_DATA)
		part /= 2;
	for (unsigned i = 0; i < member; i++)
		va += c->members[i].set.mapped ? (c->members[i].set.map.bytes + part - 1) / part * part : part;
	return va;
}

enum status multicore_map(struct multicore *c, unsigned member, unsigned node, struct row_result *out)
{
	const struct access *a = c->b->a;
	struct working_set *w = &c->members[member].set;
	const uint64_t va = member_va(c, member);
	uint64_t page = w->shape.page_bytes;
	enum status st;

	if (va >= SPACE_END || w->shape.span_bytes > SPACE_END - va - page)
		return ST_FULL;
	for (;;) {
		w->map = (struct mapping){ .va = va, .page_bytes = page, .node = node,
		                           .bytes = (w->shape.span_bytes + page - 1) / page * page };
		st = a->ops->map(a->self, &w->map);
		if (st != ST_UNSUPPORTED || page == PAGE_4K)
			break;
		page = PAGE_4K;
		str_copy(out->remark, sizeof(out->remark), "4 KiB pages: no 2 MiB pages available; TLB misses are in it");
	}
	w->mapped = st == ST_OK;
	c->members[member].touched_bytes = c->members[member].touched_to = 0;
	if (st == ST_OK && out->page_bytes < page)
		out->page_bytes = page;
	return st;
}

/* The number of threads of the same core with lower numbers. */
static unsigned thread_of(const struct bench *b, unsigned core)
{
	unsigned n = 0;

	for (unsigned i = 0; i < core; i++)
		n += b->groups.core[i] == b->groups.core[core];
	return n;
}

void multicore_everybody(struct multicore *c)
{
	const struct bench *b = c->b;
	unsigned cores = b->a->cores < CORES_MAX ? b->a->cores : CORES_MAX, threads = 1;

	c->count = 0;
	for (unsigned thread = 0; thread < threads; thread++)
		for (unsigned other = 0; other < 2; other++)
			for (unsigned i = 0; i < cores; i++) {
				unsigned own = thread_of(b, i);

				threads = own >= threads ? own + 1 : threads;
				if (b->cpuset.core[i] && own == thread && (b->groups.package[i] != b->groups.package[b->core]) == other && c->count < MULTICORE_MAX)
					c->members[c->count++].core = i;
			}
}

void multicore_failed(const struct multicore *c, enum status st, struct row_result *out)
{
	struct text reason;

	text_init(&reason, out->reason, sizeof(out->reason));
	out->status = row_status_of(st);
	out->absent = st == ST_FULL;
	out->series.points = 0;
	if (st == ST_FULL)
		text_fmt(&reason, "not enough memory");
	else if (st == ST_TIMEOUT)
		text_fmt(&reason, "core %u did not answer in time", c->failed);
	else if (st == ST_FAULT && !c->in_kernel)
		text_fmt(&reason, "a register could not be read or written");
	else if (st == ST_FAULT)
		text_fmt(&reason, "running the kernel on core %u: fault, vector %u", c->failed, c->vector);
	else
		text_fmt(&reason, "several cores at once: %s", status_name(st));
}
