/* pmu/counters/counters.h: the core PMU driver: events to register values, packed into few runs. */
#ifndef PMU_COUNTERS_H
#define PMU_COUNTERS_H

#include "pmu/access.h"
#include "pmu/core/plan.h"

/* Finds an event of the processor by its name; NULL if it has none of that name. */
const struct event *event_find(const struct processor *p, const char *name);
/* The quirk that makes an event of the processor overcount; NULL: none is known. */
const struct quirk *event_overcounts(const struct processor *p, const char *name);
/* Packs events into the fewest runs that counters, fixed counters and extra MSRs allow.
 * Every run also has cycles and instructions where fixed counters give them free.
 * ST_UNSUPPORTED: no counter can count one of them; *problem names it. */
MUST_CHECK enum status plan_events(const struct cpu *cpu, const struct event *const *events, unsigned n,
                                   struct plan *plan, const char **problem);
/* Whether the event needs an extra register that does not answer on this machine. */
bool plan_extra_absent(const struct cpu *cpu, const struct event *e);
/* Why this processor cannot count an event of its list whatever counters are free, or NULL. */
const char *plan_lacks(const struct cpu *cpu, const struct event *e);
/* Enables the counters of `enable` and disables all others that the descriptor lists. Unlisted ones stay as they are. */
MUST_CHECK enum status counters_global(const struct access *a, const struct cpu *cpu, unsigned core, uint64_t enable);
/* Programs run `run` of the plan on a core: everything off, quirks, values zeroed, events set, all on. counters_stop
 * disables them. Both go through a guarded backend. */
MUST_CHECK enum status counters_start(const struct access *a, const struct cpu *cpu, const struct plan *plan,
                                      unsigned run, unsigned core);
MUST_CHECK enum status counters_stop(const struct access *a, const struct cpu *cpu, const struct plan *plan,
                                     unsigned run, unsigned core);

/* Stops all counters that counters_start has started, at once; writing *gate to IA32_PERF_GLOBAL_CTRL (k_measure_gated)
 * restarts them together. ST_UNSUPPORTED: no such register. */
MUST_CHECK enum status counters_hold(const struct access *a, const struct cpu *cpu, unsigned core, uint64_t *gate);

/* Whether there are counters that a plan can use. */
bool counters_exist(const struct cpu *cpu);

/* What IA32_PERFEVTSELn holds while general counter n counts an event. */
uint64_t counter_select(const struct event *e);
/* Why the selects of this processor cannot hold the event, or NULL. */
const char *counter_select_lacks(const struct cpu *cpu, const struct event *e);

/* Writes a general counter: at full width where the processor can (0x345 bit 13), else as the
 * 32-bit value that the processor sign-extends. ST_RANGE: not writable that way. */
MUST_CHECK enum status counter_write(const struct access *a, const struct cpu *cpu, unsigned core,
                                     unsigned counter, uint64_t value);

/* Reads all registers of a core that counting needs, and removes from *cpu what does not answer: a counter from its masks,
 * precise sampling, or, if no counter works without it, the PMU (cpu->pmu_absent says why). Call it before any other
 * function here. */
void counters_answer(const struct access *a, struct cpu *cpu, unsigned core);

/* Writes a pattern into each general counter of a core and reads it back: a counter that does not keep it is removed from
 * cpu's masks, and without any left there is no PMU (cpu->pmu_absent says so). Extra registers of events that do not answer
 * are listed in cpu->extras_absent: no counter counts those events. Call it while counters are off. */
MUST_CHECK enum status counters_verify(const struct access *a, struct cpu *cpu, unsigned core);

/* A counter that firmware left enabled. */
struct firmware_counter { bool fixed, returned; uint8_t counter; uint64_t control; };
#define FIRMWARE_COUNTERS_MAX 40
/* Lists the counters of a core that are already enabled and disables them. Call it before the first counters_start. `list`
 * has FIRMWARE_COUNTERS_MAX entries. */
MUST_CHECK enum status counters_firmware_check(const struct access *a, const struct cpu *cpu, unsigned core,
                                               struct firmware_counter *list, unsigned *count);
/* Call it some 100 ms later, before counters_start: a counter that is enabled again belongs to an SMM agent. It is marked
 * `returned` and removed from cpu's masks, so that no plan uses it. */
MUST_CHECK enum status counters_firmware_recheck(const struct access *a, struct cpu *cpu, unsigned core,
                                                 struct firmware_counter *list, unsigned count);

#endif
