/* bench/measure/codegen.h: code that rows run and no assembler can write: its shape depends on the caches and TLBs found.
 *
 * Each is entered at code_start(), by k_run_code, and ends with `jmp r11`. It may use RAX, RCX, RDX, R8 to
 * R10. It is written before any window of its row; what it does to a buffer is said below. */
#ifndef BENCH_CODE_H
#define BENCH_CODE_H

#include "bench/catalogue/row.h"
#include "pmu/access.h"
#include "pmu/core/cpu.h"

#define CODE_COMPARES 4096u      /* more than uop caches hold, less than an L1I of 32 KiB */
#define CODE_NOPS 3072u      /* of 8 bytes: likewise */
#define CODE_JUMPS 8192u     /* more than branch target buffers hold, 16 KiB */
#define CODE_LINES 64u
#define CODE_LINES_FAR 192u
#define CODE_ITLB_PAGES 256u /* more than first-level ITLBs hold, less than half of second-level TLBs */
#define CODE_WALK_PAGES 2048u

/* How many bytes the code spans on this machine. ST_UNSUPPORTED, ST_MISSING with the reason when it cannot
 * have the intended shape here. */
MUST_CHECK enum status code_span(enum code code, const struct cpu *cpu, uint64_t *bytes, char *reason, size_t capacity);
/* Writes it to m->host, which is code_span() bytes long and zero. */
void code_write(enum code code, const struct cpu *cpu, const struct mapping *m);
/* Where the lines of CODE_LINES_L3 in one set of the L2 lie, sets from 0: *count of them, *step apart. False: no such set, or other code. */
bool code_lines_of_set(enum code code, const struct cpu *cpu, uint32_t set, uint64_t *from, uint64_t *count, uint64_t *step);
/* What one pass of it under k_run_code is: how many of the operations that it is about, and how many instructions. */
struct code_work { uint32_t units, instructions; };
struct code_work code_work(enum code code);
/* Where it begins. */
uint64_t code_start(enum code code, uint64_t code_va);
/* What k_run_code passes in RDX: where the code stores, if it does: its own line, or the buffer. */
uint64_t code_pointer(enum code code, uint64_t code_va, uint64_t buffer_va);

#endif
