/* tests/unit/support/native_cpu.h: runs machine code on the processor at hand from a given register state
 * and catches what it raises: the judge of the interpreter. */
#ifndef TESTS_NATIVE_CPU_H
#define TESTS_NATIVE_CPU_H

#include "pmu/sim/isa/exec.h"

/* Maps the areas below; false: the window is not to be had here. Once a process. */
bool judge_open(void);
/* Takes the signals of faults. Inside each test that runs code: cmocka takes them before it. */
void judge_catch(void);

/* Executable and writable bytes of the address space. */
#define NATIVE_CODE (SPACE_SCRATCH)
#define NATIVE_CODE_BYTES 0x10000u
#define NATIVE_DATA (SPACE_SCRATCH + 0x100000)
#define NATIVE_DATA_BYTES 0x2000u

/* Writes a jump out of the run at `at` (14 bytes); judge_exit then says which. */
void judge_exit_stub(uint8_t *at, unsigned which);

/* Runs from regs->rip, all registers as in *regs (vectors to 256 bits where the processor has AVX), until
 * a stub; *regs is what it left. Returns 0, or the signal that stopped it (regs then as before). */
int judge_run(struct hart_regs *regs);
unsigned judge_exit(void);

/* Whether the processor has what kernels of these enum isa bits need. */
bool judge_has(uint32_t isa);
bool judge_has_avx(void);

#endif
