/* tests/metal/stub.h: QEMU's gdb stub. The remote protocol: "Debugging with GDB", appendix E; registers as QEMU orders them for x86-64
 * (gdb-xml/i386-64bit.xml). What goes wrong ends the guest and this program, with one line. */
#ifndef TESTS_METAL_STUB_H
#define TESTS_METAL_STUB_H

#include "pmu/base.h"

enum {
	STUB_RAX, STUB_RBX, STUB_RCX, STUB_RDX, STUB_RSI, STUB_RDI, STUB_RBP, STUB_RSP, STUB_RIP = 16, STUB_RFLAGS, STUB_CS, STUB_SS,
	STUB_GS_BASE = 25, STUB_CR2 = 28, STUB_CR3, STUB_CR4, STUB_REGISTERS = 33
};

_Noreturn __attribute__((format(printf, 1, 2))) void die(const char *format, ...);

/* Connects; the guest stops. */
void stub_attach(const char *path);
/* Of one processor, numbered from 0. */
void stub_registers(unsigned cpu, uint64_t r[STUB_REGISTERS]);
/* Writes those of `now` that differ from `before`; both as stub_registers gave them. */
void stub_set(unsigned cpu, const uint64_t before[STUB_REGISTERS], const uint64_t now[STUB_REGISTERS]);
void stub_breakpoint(uint64_t address);
void stub_no_breakpoint(uint64_t address);
/* All processors go on, but those of the mask stay. Returns the one that stopped next, or -1: the guest has ended. */
int stub_go_on(uint64_t held, unsigned cpus);
/* Lets all go on for so long. */
void stub_let_run(unsigned us);
unsigned long stub_packets(void);

#endif
