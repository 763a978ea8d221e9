/* pmu/sim/counters/counter.h: the simulated PMU's registers, bit by bit as in the processor.
 *
 * Written from the SDM and the vendor's event files, never from the drivers above the backend: the two must not share
 * encode or decode code. What faults on hardware faults here; what hardware ignores or counts wrongly is recorded as a
 * finding (struct sim_finding). */
#ifndef SIM_COUNTER_H
#define SIM_COUNTER_H

#include "pmu/base.h"
#include "pmu/sim/core/core.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/sim/findings/finding.h"
#include "pmu/sim/signals/signal.h"

struct counters; /* the register file of one hardware thread; counter.c */

/* What the register file needs from its machine; any member may be NULL. */
struct counters_env {
	void *self;
	/* Host pointer to `bytes` bytes of simulated memory at a virtual address, within one mapping: the DS area and
	 * the PEBS buffer. NULL = not mapped. */
	void *(*memory)(void *self, uint64_t va, unsigned bytes, bool write);
	/* The core's prefetcher switches were written: the mask of memory_prefetchers, 1 = off. */
	void (*prefetchers)(void *self, unsigned off_mask);
	/* MSR 0x620 was written: whether the uncore clock stays at the machine's ratio. */
	void (*uncore_steady)(void *self, bool steady);
	/* Core cycles of this thread since the machine was opened, parked time included. */
	uint64_t (*cycle)(void *self);
};

size_t counters_bytes(const struct machine *m);
struct counters *counters_init(void *at, const struct machine *m, unsigned thread, struct signals *signals);
/* For a core of two threads: `both` holds the taps of counters with AnyThread; `first` is the register file of the core's
 * first thread (p itself for that thread). The threads share NetBurst's counters. */
void counters_pair(struct counters *p, struct counters *first, struct signals *both);
/* Connects the register file to the machine; *env is copied. Before, there is no memory and time is 0. Reports the
 * reset state of the prefetcher switches at once. */
void counters_connect(struct counters *p, const struct counters_env *env);

/* Sets whether code runs at CPL 3; initially it runs at CPL 0. Decides which of a select's USR and OS bits count. Not for NetBurst. */
void counters_user(struct counters *p, bool user);

/* ST_FAULT if the processor raises #GP; ST_MISSING if the address is not a register of this file (the caller tries the next
 * unit, and faults if none has it). *finding describes a notable access, else its `why` is NULL. */
MUST_CHECK enum status counters_rdmsr(struct counters *p, uint32_t msr, uint64_t *value, struct sim_finding *finding);
MUST_CHECK enum status counters_wrmsr(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *finding);
MUST_CHECK enum status counters_rdpmc(struct counters *p, uint32_t index, uint64_t *value);
/* Time stamp counter, as RDTSC and MSR 0x10 read it. */
uint64_t counters_rdtsc(struct counters *p);
/* CPUID as this thread sees it; MISC_ENABLE changes it (limited leaves). out: EAX EBX ECX EDX. */
void counters_cpuid(const struct counters *p, uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
/* The thread slept (parked, or in SMM) for that many of env's cycles: APERF and MPERF did not advance. */
void counters_halted(struct counters *p, uint64_t cycles);
/* An SMI was taken. */
void counters_smi(struct counters *p);
/* Called for each retired instruction, in program order: PEBS, LBR, load latency. `regs` is the state after it. */
void counters_retired(struct counters *p, const struct retired *r, const struct hart_regs *regs);
/* Called for each fetch of code while counters_want_retired is true; page_bytes: the size of the code's pages. */
void counters_fetched(struct counters *p, const struct fetched *f, uint64_t page_bytes);
/* Whether a counter's interrupt is due after the instruction that retired in `cycle`. Called once per instruction, after
 * counters_retired, if interrupts are taken. Only NetBurst's counters raise any. */
bool counters_interrupt(struct counters *p, uint64_t cycle);
/* Whether the next event of some counter may leave a record in the debug store. */
bool counters_armed(const struct counters *p);
/* Whether counters_retired has to be called. */
bool counters_want_retired(const struct counters *p);

#endif
