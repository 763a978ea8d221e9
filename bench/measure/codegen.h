/* bench/measure/codegen.h: code generated at run time, because its shape depends on the caches and TLBs found.
 *
 * k_run_code enters each piece at codegen_start(); the piece ends with `jmp r11`. It may use RAX, RCX, RDX and R8 to R10. It is written before any
 * window of its row. */
#ifndef BENCH_CODE_H
#define BENCH_CODE_H

#include "bench/catalogue/row.h"
#include "pmu/access.h"
#include "pmu/core/cpu.h"

#define CODE_COMPARES 4096u      /* exceeds the uop caches, fits a 32 KiB L1I */
#define CODE_NOPS 3072u      /* of 8 bytes: likewise */
#define CODE_JUMPS 8192u     /* exceeds the branch target buffers; 16 KiB of code */
#define CODE_LINES 64u
#define CODE_LINES_FAR 192u
#define CODE_ITLB_PAGES 256u /* exceeds first-level ITLBs, fits half of an STLB */
#define CODE_WALK_PAGES 2048u

/* Bytes that the code spans on this machine. ST_UNSUPPORTED or ST_MISSING, with the reason, when it cannot have the intended shape here. */
MUST_CHECK enum status codegen_span(enum code code, const struct cpu *cpu, uint64_t *bytes, char *reason, size_t capacity);
/* Writes the code to m->host, a zeroed area of codegen_span() bytes. */
void codegen_write(enum code code, const struct cpu *cpu, const struct mapping *m);
/* Addresses of the CODE_LINES_L3 lines in one L2 set (numbered from 0): *count lines, from *from, *step bytes apart. False: no such set, or
 * other code. */
bool codegen_lines_of_set(enum code code, const struct cpu *cpu, uint32_t set, uint64_t *from, uint64_t *count, uint64_t *step);
/* Work of one pass under k_run_code: units (the operations that the code times) and instructions. */
struct codegen_work { uint32_t units, instructions; };
struct codegen_work codegen_work(enum code code);
/* Entry point of the code. */
uint64_t codegen_start(enum code code, uint64_t code_va);
/* The value of RDX under k_run_code: the address that the code stores to, if it stores. It lies in the code's own line or in the buffer. */
uint64_t codegen_pointer(enum code code, uint64_t code_va, uint64_t buffer_va);

#endif
