/* bench/workloads/work.c: see work.h. */
#include "bench/workloads/work.h"

#define LINE 64u
#define SPREAD_BYTES (22ull << 20)   /* DRAM lines at random addresses: eleven 2 MiB pages; a DTLB of 32 entries covers twice as many */
#define SLICE_BYTES  8192u           /* at most one line per slice, hence per DRAM page */
#define HOT_BYTES    (64u << 10)     /* after it: lines for the L3, then as many bytes of lines for the L2 */
#define ARRAY_BYTES  (1ull << 20)   /* of each stream */
#define STREAM_STRIDE (ARRAY_BYTES + PAGE_4K / 2) /* no 4 KiB aliasing between streams */
#define CHOICES_BYTES 8192u

/* Target level of each load of a ring, sixteen per period: DRAM, L3, L2, or L1 (another word of the previous load's line). */
struct work_facts {
	const char *name, *description, *kernel, *ring;
	uint32_t iterations;
	bool streams, choices;
};

static const struct work_facts facts[WORK_KINDS] = {
	[WORK_LATENCY] = { "latency_bound", "dependent loads, two thirds of them from memory", "k_chase", .ring = "DDD3DDD2DDLD3D3D", .iterations = 64 },
	[WORK_BANDWIDTH] = { "bandwidth_bound", "a[i] = b[i] + s * c[i], arrays in memory", "k_triad_sse2", .iterations = 192, .streams = true },
	[WORK_BRANCHY] = { "branchy", "two branches by random bits and little else", "k_work_branchy", .iterations = 1024, .choices = true },
	[WORK_MIXED] = { "mixed", "a load of a chain, a random branch, arithmetic and a store an iteration", "k_work_mixed", .ring = "D3L22LD32L3232L3", .iterations = 512, .choices = true },
};

const char *work_name(enum work_kind k) { return facts[k].name; }
const char *work_description(enum work_kind k) { return facts[k].description; }
const char *work_kernel(enum work_kind k) { return facts[k].kernel; }
uint64_t work_iterations(enum work_kind k) { return facts[k].iterations; }

static uint64_t l3_at(void) { return SPREAD_BYTES; }
static uint64_t l2_at(void) { return SPREAD_BYTES + HOT_BYTES; }
static uint64_t evict_at(void) { return SPREAD_BYTES + 2 * HOT_BYTES; }

static uint64_t evict_bytes(const struct bench *b)
{
	const struct cpu_cache *l2 = cpu_cache(b->cpu, 2);

	return 2 * (l2 && l2->bytes <= 8u << 20 ? l2->bytes : 1u << 20);
}

/* Offset of the k-th line of a class, in random order. */
static uint64_t line_of(struct work *w, char class, uint32_t k, const uint32_t *order)
{
	if (class == 'D')
		return (uint64_t)order[k] * SLICE_BYTES + random_below(&w->b->random, SLICE_BYTES / LINE) * LINE;
	return (class == '3' ? l3_at() : l2_at()) + (uint64_t)order[k] * LINE;
}

/* Links the ring. Each class of lines is visited in its own random order. */
static enum status link_ring(struct work *w)
{
	static const char classes[] = "D32";
	const char *pattern = facts[w->kind].ring;
	size_t bytes = COUNT_OF(classes) * w->nodes * sizeof(uint32_t);
	uint32_t *work = w->b->host->get(w->b->host->self, bytes), used[COUNT_OF(classes)] = { 0 };
	uint8_t *host = w->map.host;
	uint64_t first = 0, last = 0;

	if (!work)
		return ST_FULL;
	for (unsigned c = 0; classes[c]; c++) {
		unsigned of_16 = 0;

		for (unsigned i = 0; i < 16; i++)
			of_16 += pattern[i] == classes[c];
		random_shuffle(&w->b->random, work + c * w->nodes, w->nodes / 16 * of_16);
	}
	for (uint32_t i = 0; i < w->nodes; i++) {
		char class = pattern[i % 16];
		uint64_t node = last + 8;

		for (unsigned c = 0; classes[c] && class != 'L'; c++)
			if (class == classes[c])
				node = line_of(w, class, used[c]++, work + c * w->nodes);
		if (i)
			*(uint64_t *)(host + last) = w->map.va + node;
		else
			first = node;
		last = node;
	}
	*(uint64_t *)(host + last) = w->map.va + first;
	w->first = w->at = w->map.va + first;
	w->b->host->put(w->b->host->self, work, bytes);
	return ST_OK;
}

enum status work_open(struct work *w, struct bench *b, enum work_kind kind, unsigned core, unsigned slot)
{
	const struct work_facts *f = &facts[kind];
	uint64_t bytes = f->choices ? CHOICES_BYTES : 0;
	enum status st;

	memset(w, 0, sizeof(*w));
	w->b = b;
	w->kind = kind;
	w->core = core;
	w->kernel = kernel_find(f->kernel);
	if (!w->kernel)
		return ST_BROKEN;
	if (f->ring) {
		w->nodes = 4 * f->iterations * (f->choices ? 1 : w->kernel->loads);
		bytes += evict_at() + evict_bytes(b);
	}
	if (f->streams)
		bytes = 3 * STREAM_STRIDE;
	w->map.va = SPACE_DATA + slot * PAGE_1G;
	w->map.node = b->a->core_node ? b->a->core_node[core] : 0;
	for (w->map.page_bytes = PAGE_2M;; w->map.page_bytes = PAGE_4K) {
		w->map.bytes = (bytes + w->map.page_bytes - 1) / w->map.page_bytes * w->map.page_bytes;
		st = b->a->ops->map(b->a->self, &w->map);
		if (st != ST_UNSUPPORTED || w->map.page_bytes == PAGE_4K)
			break;
	}
	if (st != ST_OK)
		return st;
	w->mapped = true;
	if (f->choices)
		w->choices = w->map.va + w->map.bytes - CHOICES_BYTES;
	return f->ring ? link_ring(w) : ST_OK;
}

static enum status run_kernel(struct work *w, const char *kernel, uint64_t a0, uint64_t a1, uint64_t a2, struct job *job)
{
	const struct kernel *k = kernel_find(kernel);
	uint64_t arguments[6] = { a0, a1, a2 };
	struct window ignored;

	return k ? window_run_on(w->b, w->core, k, arguments, NULL, 0, &ignored, job) : ST_BROKEN;
}

enum status work_prepare(struct work *w, uint64_t iterations, struct job *job)
{
	const uint64_t nodes_read = iterations * (w->choices ? 1 : w->kernel->loads);
	enum status st = ST_OK;

	if (w->choices) {
		uint8_t *at = (uint8_t *)w->map.host + (w->choices - w->map.va);

		for (unsigned i = 0; i < CHOICES_BYTES; i++)
			at[i] = (uint8_t)random_below(&w->b->random, 4);
	}
	for (unsigned i = 0; facts[w->kind].streams && i < 3 && st == ST_OK; i++) /* flushes everything a window may read from all caches */
		st = run_kernel(w, "k_flush", w->map.va + i * STREAM_STRIDE, 4 * facts[w->kind].iterations * w->kernel->step_bytes / LINE, LINE, job);
	if (w->nodes) {
		st = run_kernel(w, "k_flush_chain", w->at, nodes_read < w->nodes ? nodes_read : w->nodes, 0, job);
		if (st == ST_OK)
			st = run_kernel(w, "k_touch", w->map.va + l3_at(), HOT_BYTES / LINE, LINE, job);
		if (st == ST_OK)
			st = run_kernel(w, "k_touch", w->map.va + evict_at(), evict_bytes(w->b) / LINE, LINE, job);
		if (st == ST_OK)
			st = run_kernel(w, "k_touch", w->map.va + l2_at(), HOT_BYTES / LINE, LINE, job);
	}
	if (w->choices && st == ST_OK)
		st = run_kernel(w, "k_touch", w->choices, CHOICES_BYTES / LINE, LINE, job);
	return st;
}

void work_arguments(const struct work *w, uint64_t iterations, uint64_t a[6])
{
	memset(a, 0, 6 * sizeof(a[0]));
	if (facts[w->kind].streams) {
		for (unsigned i = 0; i < 3; i++)
			a[i] = w->map.va + i * STREAM_STRIDE;
		a[4] = ARRAY_BYTES - 1;
	} else if (w->nodes) {
		a[0] = w->at;
		a[2] = w->choices;
	} else {
		a[0] = w->choices;
	}
	a[w->kernel->count_argument] = iterations;
}

void work_goes_on(struct work *w, uint64_t result)
{
	if (w->nodes)
		w->at = result;
}

void work_again(struct work *w) { w->at = w->first; }

enum status work_close(struct work *w)
{
	return w->mapped ? w->b->a->ops->unmap(w->b->a->self, &w->map) : ST_OK;
}
