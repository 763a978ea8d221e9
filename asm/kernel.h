/* asm/kernel.h: the contract between kernels and their callers.
 *
 * A kernel is a leaf function in the System V ABI: arguments in RDI RSI RDX RCX R8 R9, result
 * in RAX, position independent, no red zone, no stack beyond `ret`, caller-saved registers
 * only (RAX RCX RDX RSI RDI R8-R11, all vector registers; x87 and MMX left empty; MXCSR and
 * FPCW as found; direction flag clear). Its loop starts on a 64-byte line. It does not touch
 * memory that its arguments do not name, unless its header says so.
 *
 * All kernels lie in one section, .kernels, which is copied as a whole to SPACE_CODE; a
 * kernel may refer to another only by relative addresses within the section. Beside each
 * kernel stands its record in section .kernel_meta, written by the macro KERNEL of
 * asm/kernel.inc: so the counts stand where the code is, and a test compares them with the
 * interpreter's. */
#ifndef ASM_KERNEL_H
#define ASM_KERNEL_H

#include <stdint.h>

/* Instruction sets that a kernel may need beyond x86-64 with SSE2. Bits of struct cpu.isa too. */
enum isa {
	ISA_SSE41  = 1u << 0,
	ISA_AVX    = 1u << 1,  /* with YMM state enabled */
	ISA_AVX2   = 1u << 2,
	ISA_FMA    = 1u << 3,
	ISA_AVX512 = 1u << 4,  /* F, VL, DQ, with ZMM state enabled */
	ISA_PREFETCHW = 1u << 5,
	ISA_CLFLUSHOPT = 1u << 6,
	ISA_1G     = 1u << 7,  /* CPUID 0x80000001 EDX[26]; no kernel needs it, rows do */
	ISA_RDTSCP = 1u << 8,
	ISA_SSSE3  = 1u << 9,
	ISA_POPCNT = 1u << 10,
};

/* Counts are per iteration of the kernel's loop; `fixed_instructions` is the number that one call
 * retires in addition, `ret` included. Argument `count_argument` is the number of iterations. */
struct kernel {
	const char *name;             /* "k_chase" */
	uint32_t offset;              /* of its entry from the start of .kernels */
	uint32_t bytes;               /* of code */
	uint32_t isa;                 /* enum isa bits it needs */
	uint32_t instructions;        /* per iteration */
	uint32_t loads, stores;       /* memory operations per iteration */
	uint32_t data_bytes;          /* bytes loaded and stored per iteration */
	uint32_t fixed_instructions;
	uint32_t count_argument;      /* which argument, 0 .. 5, is the number of iterations */
	uint32_t step_bytes;          /* of a stream: advance of an iteration in each of its arrays; else 0 */
	uint32_t units;               /* measured operations per iteration, which UNIT marks in the code; 0: none is marked */
};

extern const struct kernel kernel_table[];     /* start of .kernel_meta */
extern const struct kernel kernel_table_end[];
extern const uint8_t kernel_code[];            /* start of .kernels */
extern const uint8_t kernel_code_end[];

/* The one routine that reads counters, asm/measure.asm: entry of every measuring job.
 * `measure(struct measure_block *)`; offset in .kernels as for any kernel ("k_measure").
 *
 *   store counts and TSC before; serialise; call kernel(args); serialise; store after
 *
 * All before-values are stored ahead of the last serialising instruction, so nothing of the
 * measurement is in flight while the kernel runs. The cost of the measurement itself is the
 * same for n and for 2n iterations and drops out of the slope. */
#define MEASURE_COUNTERS_MAX 24
#define MEASURE_GATES_MAX 4
struct measure_block {
	uint64_t kernel;                         /* virtual address of the kernel */
	uint64_t argument[6];
	uint64_t counters;                       /* how many of index[] to read */
	uint64_t serialise;                      /* 0 LFENCE, 1 CPUID (Pentium 4, Core 2) */
	uint64_t result;                         /* out: RAX of the kernel */
	uint64_t tsc_before, tsc_after;          /* out */
	uint64_t index[MEASURE_COUNTERS_MAX];    /* ECX for RDPMC */
	uint64_t before[MEASURE_COUNTERS_MAX];   /* out */
	uint64_t after[MEASURE_COUNTERS_MAX];    /* out */
	uint64_t gate;                           /* value by which k_measure_gated starts all counters (asm/work.asm), k_measure_recorded stops recording (asm/measure_lbr.asm) */
	/* Registers that k_measure_sampled writes before and after the kernel (asm/measure_sampled.asm); TSC ticks that it then waits. */
	uint64_t gates, settle_tsc;
	struct { uint64_t msr, on, off; } gate_list[MEASURE_GATES_MAX];
	/* The routine that k_measure_ahead calls before the wrapper, its arguments, and the wrapper (asm/measure_ahead.asm). */
	uint64_t ahead, ahead_argument[6], wrapper;
};

#endif
