/* tests/reference/reference.h: a core that goes cycle by cycle, for comparison with pmu/sim/core/.
 *
 * It takes the instructions of one run of each thread in the order in which they were carried out and says how
 * much of each thing happened in each cycle. It knows a machine's fields and the rules at the head of
 * pmu/sim/core/core.c, and none of that room's code: no timestamps are computed ahead, a cycle is looked at
 * when it comes, and what can happen in it happens. */
#ifndef TESTS_REFERENCE_H
#define TESTS_REFERENCE_H

#include "pmu/sim/isa/decode.h"
#include "pmu/sim/isa/exec.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/sim/signals/signal.h"

#define REF_INSNS 2048u
#define REF_CYCLES 32768u

/* One instruction of a run. */
struct ref_step { struct insn in; struct effects e; uint64_t ip; };

/* What happened in each cycle, by signal; cycle 0 is the run's first. */
struct ref_trace { uint16_t count[SIG_COUNT][REF_CYCLES]; uint64_t cycles, used; /* used: cycles that may not be 0 */ };
void ref_tell(struct ref_trace *t, enum signal sig, uint64_t cycle, unsigned n);
void ref_clear(struct ref_trace *t);

/* The signals that the reference emits. */
extern const enum signal ref_signals[];
extern const unsigned ref_signals_count;

/* The work of a thread, and its results. */
struct ref_program { const struct ref_step *steps; unsigned n; struct ref_trace *trace; };

/* Runs one program, or two as the threads of a core, on machine m, all code and data in the L1 caches and TLBs. `first` is the
 * number of the cycle that the traces call 0. Traces are cleared first. False when the run does not end within REF_CYCLES. */
bool ref_run(const struct machine *m, const struct ref_program *p, unsigned threads, uint64_t first);

#endif
