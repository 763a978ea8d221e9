/* tests/judge/plan.h: the input of the icount judge's guest: memory, and calls to make. Written by
 * tests/judge/judge.c on the host, loaded by QEMU as a multiboot module. */
#ifndef TESTS_JUDGE_PLAN_H
#define TESTS_JUDGE_PLAN_H

#include <stdint.h>

#define JUDGE_MAGIC 0x4A554447u /* "JUDG" */

struct judge_call {
	char kernel[40];
	uint64_t offset;      /* of the kernel in .kernels */
	uint64_t argument[6];
	uint64_t isa;
};

struct judge_plan {
	uint32_t magic, calls;
	uint64_t measure;      /* offset of k_measure */
	uint64_t memory_bytes; /* that follow the calls: what SPACE_DATA holds before each call */
	struct judge_call call[];
};

#endif
