/* tests/unit/support/native_cpu.h: runs machine code on the host's processor from a given register state and
 * catches its faults: the reference for the interpreter. */
#ifndef TESTS_NATIVE_CPU_H
#define TESTS_NATIVE_CPU_H

#include "pmu/sim/isa/exec.h"

/* Maps the areas below, once per process; false: the host does not provide their addresses. */
bool judge_open(void);
/* Installs handlers for fault signals. To be called inside each test that runs code, because cmocka installs its own before each test. */
void judge_catch(void);

/* Executable and writable bytes of the address space. */
#define NATIVE_CODE (SPACE_SCRATCH)
#define NATIVE_CODE_BYTES 0x10000u
#define NATIVE_DATA (SPACE_SCRATCH + 0x100000)
#define NATIVE_DATA_BYTES 0x2000u

/* Writes a jump that ends the run at `at` (14 bytes); judge_exit returns the `which` of the one taken. */
void judge_exit_stub(uint8_t *at, unsigned which);

/* Runs from regs->rip with the registers of *regs (vectors to 256 bits where the processor has AVX) to an exit
 * stub, and stores the resulting state in *regs. Returns 0, or the signal that stopped the run (*regs is then unchanged). */
int judge_run(struct hart_regs *regs);
unsigned judge_exit(void);

/* Whether the processor has these extensions (enum isa bits). */
bool judge_has(uint32_t isa);
bool judge_has_avx(void);

#endif
