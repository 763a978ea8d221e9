/* bench/measure/layout.h: working sets: their size, the address of each node, and the order of visits. */
#ifndef BENCH_LAYOUT_H
#define BENCH_LAYOUT_H

#include "bench/catalogue/row.h"
#include "bench/measure/random.h"
#include "pmu/access.h"
#include "pmu/core/cpu.h"

#define SHAPE_LINE_BYTES_LEAST 16 /* smaller line sizes of CPUID are not believed */
#define SHAPE_PAGE_GROUP 8        /* page-table entries of 8 bytes in a line of 64 */

#define SPAN_MAX (6 * PAGE_1G) /* of a row in memory: beyond it are pages of samples (bench/sampling/sample_ibs.c) and of the bus lock */
#define LARGE_SPAN_MAX (256 * PAGE_1G) /* of a row about large pages */

/* The size and form of a working set on the machine at hand. */
struct shape {
	enum order order;
	uint64_t bytes;         /* footprint: of the nodes' lines, or of the arrays */
	uint64_t span_bytes;    /* to be mapped: from the first byte to the last */
	uint64_t page_bytes;    /* of the requested pages */
	uint32_t nodes;         /* of a chase, a multiple of 16 */
	uint32_t line_bytes;    /* from one place for a node to the next: a line, or several where only one of them is used */
	uint32_t spread_pages, spread_far_pages; /* PAGE orders: the line's offset within its page advances by one after this many pages, and once more after that many (0: never) */
	uint32_t arrays, step_bytes; /* streams: number of arrays, and bytes that an iteration advances in each */
	uint32_t region_nodes;  /* ORDER_REGIONS, ORDER_PAGES: nodes of a region, which are visited one after another; 0: no regions */
	uint32_t rounds;        /* ORDER_OPEN_PAGES: number of times that the chase returns to each page, for another part of its lines; 0: once */
	uint64_t array_bytes;   /* streams: of each array, a power of two */
	uint64_t start_bytes;   /* offset of the first line or array from the start of the mapping */
	uint64_t piece_bytes;   /* distance between each 4 KiB of lines (of a region) and the next; 0: they are consecutive, or anywhere */
	uint64_t skew_bytes;    /* streams: the gap between one array and the next: avoids 4 KiB aliases */
	bool aligned;           /* streams: the gap is its whole pages alone, as bench/measure/vector_width.h may choose */
};

/* Bytes from the start of an array of a stream to that of the next. */
static inline uint64_t shape_stride_bytes(const struct shape *s)
{
	return s->array_bytes + (s->aligned ? s->skew_bytes / PAGE_4K * PAGE_4K : s->skew_bytes);
}

/* Derives a row's working set from the caches and TLBs. ST_UNSUPPORTED with the reason: the machine has no such level, or none that a working set
 * could aim at; ST_MISSING: the level's size is not known. */
MUST_CHECK enum status shape_of_test(const struct row *r, const struct cpu *cpu, struct shape *out,
                                     char *reason, size_t capacity);
/* The same for its baseline (not BASELINE_NONE). */
MUST_CHECK enum status shape_of_baseline(const struct row *r, const struct cpu *cpu, const struct shape *test,
                                         struct shape *out, char *reason, size_t capacity);

/* Whether the first level of the DTLB is known to keep pages of 2 MiB as pieces of 4 KiB. */
bool shape_in_pieces(const struct cpu *cpu);
/* The bytes that a random chase in memory may cover without a DTLB miss: a multiple of 2 MiB, or of 4 KiB where the DTLB keeps large pages in pieces. */
uint64_t shape_memory_span(const struct cpu *cpu);

/* Links the nodes of a chase at m->host into one cycle of virtual addresses. `work` holds 2 * nodes numbers. */
void shape_link(const struct shape *s, const struct mapping *m, struct random *random, uint32_t *work);
/* Byte offset of node i from the start of the mapping. ORDER_SPARSE draws it: call it once per node. */
uint64_t shape_node(const struct shape *s, uint32_t i, struct random *random);

/* Pages of a ring that misses in a TLB of `entries`: `wanted`, limited to the lines of half of the L2. They must exceed the entries by a third, so that
 * an LRU set of three or more ways holds none of them; 0: they do not. */
uint32_t shape_missing_pages(uint32_t entries, uint32_t wanted, const struct cpu_cache *l2, uint32_t line_bytes);

#endif
