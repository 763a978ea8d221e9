/* bench/workloads/known_program_parts.h: what the files of the study share: study.c (PEBS), study_branches.c (last-branch records),
 * study_memory.c (loads by source, memory traffic), study_threads.c (two threads of a core). */
#ifndef BENCH_STUDY_PARTS_H
#define BENCH_STUDY_PARTS_H

#include "bench/measure/loop.h"

#define STUDY_CHOICES_BYTES 4096u       /* at the start of the buffer: what k_study is called with */
#define STUDY_BUFFER_BYTES  (1u << 20)  /* the buffer: twice Nehalem's L2 and more */

struct study_range { uint32_t from, to; }; /* offsets in the kernel: first and last address that ran */

struct study {
	struct bench *b;
	struct study_result *out;
	const struct kernel *kernel;
	struct mapping map;
	struct job job;
	struct study_range *ranges;
	unsigned range_count;
};

/* Notes why a part is missing; without `why`, the status itself. */
void study_failed(struct study *s, enum study_part part, enum status st, const char *why);
/* Runs a kernel with three arguments under the wrapper. */
MUST_CHECK enum status study_call(struct study *s, const char *kernel, uint64_t a0, uint64_t a1, uint64_t a2);

static inline const uint8_t *study_code(const struct study *s) { return kernel_code + s->kernel->offset; }

static inline bool study_inside(const struct study *s, uint64_t ip)
{
	return ip - (WINDOW_CODE + s->kernel->offset) < s->kernel->bytes;
}

static inline uint32_t study_offset(const struct study *s, uint64_t ip)
{
	return (uint32_t)(ip - (WINDOW_CODE + s->kernel->offset));
}

void study_blocks(struct study *s);
void study_calls(struct study *s);
void study_loads(struct study *s);
void study_traffic(struct study *s);
void study_threads(struct study *s);

#endif
