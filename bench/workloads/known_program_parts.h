/* bench/workloads/known_program_parts.h: shared by the files of the study: known_program.c (PEBS), known_program_branches.c (last-branch records),
 * known_program_memory.c (loads by source, DRAM lines by node), smt_interference.c (two threads of a core). */
#ifndef BENCH_STUDY_PARTS_H
#define BENCH_STUDY_PARTS_H

#include "bench/measure/loop.h"
#include "bench/workloads/known_program.h"

#define KNOWN_PROGRAM_CHOICES_BYTES 4096u       /* at the start of the buffer: the arguments of k_known_program */
#define KNOWN_PROGRAM_BUFFER_BYTES  (1u << 20)  /* the buffer: more than twice Nehalem's L2 */

struct known_program_range { uint32_t from, to; }; /* offsets in the kernel: first and last address executed */

struct known_program {
	struct bench *b;
	struct known_program_result *out;
	const struct kernel *kernel;
	struct mapping map;
	struct job job;
	struct known_program_range *ranges;
	unsigned range_count;
};

enum known_program_weight { KNOWN_PROGRAM_EQUAL, KNOWN_PROGRAM_INVERSE };
/* Adds a value; known_program_values_end() computes mean and RMS. KNOWN_PROGRAM_INVERSE: each value counts as 1 / itself, for a loop that appears
 * once per iteration. */
void known_program_value(struct known_program_values *v, uint64_t value);
void known_program_values_end(struct known_program_values *v, enum known_program_weight weight);
/* Records why a part is missing; `why` NULL: the status itself. */
void known_program_failed(struct known_program *s, enum known_program_part part, enum status st, const char *why);
/* Runs a kernel with three arguments under the wrapper. */
MUST_CHECK enum status known_program_call(struct known_program *s, const char *kernel, uint64_t a0, uint64_t a1, uint64_t a2);

static inline const uint8_t *known_program_code(const struct known_program *s) { return kernel_code + s->kernel->offset; }

static inline bool known_program_inside(const struct known_program *s, uint64_t ip)
{
	return ip - (SPACE_CODE + s->kernel->offset) < s->kernel->bytes;
}

static inline uint32_t known_program_offset(const struct known_program *s, uint64_t ip)
{
	return (uint32_t)(ip - (SPACE_CODE + s->kernel->offset));
}

void known_program_blocks(struct known_program *s);
void known_program_calls(struct known_program *s);
void known_program_loads(struct known_program *s);
void known_program_traffic(struct known_program *s);
void known_program_threads(struct known_program *s);

#endif
