/* pmu/sim/machine/sim.h: the simulated machine as a backend (struct access).
 *
 * Logical processor t is thread t % threads of core t / threads; sockets and memory nodes follow each
 * other likewise: node n is the memory of socket n, at physical addresses n * dram.node_bytes and up. */
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

/* What the registers' rooms found worth a word so far (the first SIM_FINDINGS), and how many in all. */
#define SIM_FINDINGS 256
uint64_t sim_findings(const struct sim *s, const struct sim_finding **list, unsigned *n);
/* How many of a kind. */
uint64_t sim_found(const struct sim *s, enum finding_kind kind);
/* How many in all, and the latest of them (of no meaning while there is none). */
uint64_t sim_last_finding(const struct sim *s, const struct sim_finding **last);

/* Whether the code of jobs runs at CPL 3 from now on, where counters of user mode count, instead of at CPL 0. ST_UNSUPPORTED: NetBurst. */
MUST_CHECK enum status sim_user(struct sim *s, bool user);

/* Finding n of the latest access through rdmsr, wrmsr, rdpmc, pci_*: NULL when there are no more. */
const struct sim_finding *sim_latest(const struct sim *s, unsigned n);

/* Why the last run ended as it did when it did not end well, in words: an instruction outside the
 * subset with its bytes, an address without a page. "" after a run that did. */
const char *sim_problem(const struct sim *s);

/* Totals since the machine was opened; `recalled`: instructions of which the pipeline's part was known from before (core_memo.h). */
struct sim_totals { uint64_t instructions, uops, cycles, recalled; };
void sim_totals(const struct sim *s, struct sim_totals *out);

/* Whether what the pipeline did may be recalled instead of worked out again; nothing that a program or a counter sees depends on
 * it. On to begin with. */
void sim_recall(struct sim *s, bool on);

/* Whether this program has the host's prefetch instructions bring near what it will look at soon. On to begin with; off, before the first
 * run, where they do nothing. */
void sim_look_ahead(struct sim *s, bool on);

/* The signals of a logical processor, for tests that look at truths without registers in between. */
struct signals *sim_signals(struct sim *s, unsigned thread);

#endif
