/* bench/measure/layout.h: working sets: how large, where each node lies, in which order they are visited. */
#ifndef BENCH_LAYOUT_H
#define BENCH_LAYOUT_H

#include "bench/catalogue/row.h"
#include "pmu/access.h"
#include "pmu/core/cpu.h"

/* xorshift64* (Vigna 2016, arXiv:1402.6246): small, and the same everywhere. */
struct random { uint64_t state; };
void random_init(struct random *r, uint64_t seed);
uint64_t random_next(struct random *r);
/* Uniform in [0, n), n > 0; the bias of 2^-32 and less does not matter here. */
uint32_t random_below(struct random *r, uint32_t n);
/* Fills order[0..n) with 0..n-1 shuffled (Fisher-Yates). */
void random_shuffle(struct random *r, uint32_t *order, uint32_t n);
/* Fills next[0..n) with a permutation that is one cycle through all (Sattolo). */
void random_cycle(struct random *r, uint32_t *next, uint32_t n);

#define LARGE_SPAN_MAX (256 * PAGE_1G) /* of a row about large pages */

/* The size and form of a working set on the machine at hand. */
struct shape {
	enum order order;
	uint64_t bytes;         /* footprint: of the nodes' lines, or of the arrays */
	uint64_t span_bytes;    /* from the first byte to the last: what has to be mapped */
	uint64_t page_bytes;    /* wanted */
	uint32_t nodes;         /* of a chase, a multiple of 16 */
	uint32_t line_bytes;
	uint32_t spread_pages, spread_far_pages; /* PAGE orders: after so many pages the line within the page moves on by one; after so many (0: none) once more */
	uint32_t arrays, step_bytes; /* streams: how many, and what an iteration goes on by in each */
	uint32_t region_nodes;  /* ORDER_REGIONS, ORDER_PAGES if not 0: consecutive nodes that are visited before others */
	uint64_t array_bytes;   /* streams: of each array, a power of two */
	uint64_t start_bytes;   /* of the first line of consecutive ones or the first array, from the start of the mapping */
	uint64_t skew_bytes;    /* streams: what b is moved by, and c twice: no 4 KiB aliases with a */
};

/* Works out a row's working set from the discovered caches and TLBs. ST_UNSUPPORTED with the reason when
 * the machine has no such level, or none that a working set could aim at; ST_MISSING when what has to be
 * known for it is not. */
MUST_CHECK enum status shape_of_test(const struct row *r, const struct cpu *cpu, struct shape *out,
                                     char *reason, size_t capacity);
/* The same for its baseline (not BASELINE_NONE). */
MUST_CHECK enum status shape_of_baseline(const struct row *r, const struct cpu *cpu, const struct shape *test,
                                         struct shape *out, char *reason, size_t capacity);

/* Over how many bytes a chase in memory can go at random without leaving the DTLB: a multiple of 2 MiB. */
uint64_t shape_memory_span(const struct cpu *cpu);

/* Links the nodes of a chase at m->host into one cycle of window addresses. `work` holds 2 * nodes numbers. */
void shape_link(const struct shape *s, const struct mapping *m, struct random *random, uint32_t *work);
/* Byte offset of node i from the start of the mapping; ORDER_SPARSE draws it, so ask once a node. */
uint64_t shape_node(const struct shape *s, uint32_t i, struct random *random);

#endif
