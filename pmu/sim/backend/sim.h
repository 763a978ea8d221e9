/* pmu/sim/backend/sim.h: the simulated machine as a backend (struct access).
 *
 * Logical processor t is thread t % threads of core t / threads; sockets and memory nodes follow each
 * other likewise: the nodes of socket n begin with n * topology.nodes, and node k is at physical addresses k * dram.node_bytes and up. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "pmu/access.h"
#include "pmu/sim/counters/counter.h"
#include "pmu/sim/machine/machine.h"

struct sim;

/* Where the simulator's memory comes from: zeroed, page aligned; sparse on Linux (mmap). */
struct sim_memory {
	void *self;
	void *(*get)(void *self, size_t bytes); /* NULL when there is none */
	void (*put)(void *self, void *at, size_t bytes);
};

/* Builds the machine. `m` and `memory` are copied. ST_FULL when memory runs out. */
MUST_CHECK enum status sim_open(const struct machine *m, const struct sim_memory *memory, struct sim **out);
void sim_close(struct sim *s);

/* The machine as a backend; valid until sim_close. kind ACCESS_SIM, name "sim:<machine name>". */
const struct access *sim_access(struct sim *s);

/* Whether the code of jobs runs at CPL 3 from now on, where counters of user mode count, instead of at CPL 0. ST_UNSUPPORTED: NetBurst. */
MUST_CHECK enum status sim_user(struct sim *s, bool user);

/* Finding n of the latest access through rdmsr, wrmsr, rdpmc, pci_*: NULL when there are no more. */
const struct sim_finding *sim_latest(const struct sim *s, unsigned n);

/* A foreign address space: another program's page tables, in memory shared with this one. */
struct sim_page {
	uint64_t va, page_bytes; /* of the page */
	uint64_t pa;             /* where the machine has it: node n's memory begins at n * dram.node_bytes */
	void *host;              /* where this program has it; pages that follow each other here follow each other there */
	bool executable;
};
struct sim_space {
	void *self;
	bool (*page)(void *self, uint64_t va, struct sim_page *out); /* false: not mapped */
};
/* Makes jobs run in that space instead of the machine's own; code stays at its fixed address. The space is queried anew for each job. */
void sim_space(struct sim *s, const struct sim_space *space);

/* What a job begins and ends with: gpr as instructions number them (RAX RCX RDX RBX RSP ...). */
struct sim_registers { uint64_t gpr[16], rip; };
/* As the access's run, where jobs[i] begins with registers[i] instead of fresh ones, at their rip, and ends where its routine returns to: to
 * the address on its stack. With ST_OK registers[i] are those behind the return, else those before what it ended at. */
MUST_CHECK enum status sim_run_from(struct sim *s, struct job *jobs, struct sim_registers *registers, unsigned n, uint64_t limit_tsc);

/* Lets that many core cycles pass in which nothing runs on this machine. */
void sim_wait(struct sim *s, uint64_t cycles);

/* Totals since the machine was opened; `recalled`: instructions of which the pipeline's part was known from before (core_memo.h). */
struct sim_totals { uint64_t instructions, uops, cycles, recalled; };
void sim_totals(const struct sim *s, struct sim_totals *out);

/* Whether the simulator prefetches on the host what it will read soon. On by default; switched off before the first run, for hosts whose prefetch
 * instructions have no effect. */
void sim_look_ahead(struct sim *s, bool on);

#endif
