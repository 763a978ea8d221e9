/* pmu/counters/topdown.h: shares of a core's allocation slots by their use: PERF_METRICS and fixed counter 3. */
#ifndef PMU_TOPDOWN_H
#define PMU_TOPDOWN_H

#include "pmu/access.h"
#include "pmu/core/plan.h"
#include "pmu/sampling_gate.h"

#define TOPDOWN_FIXED   3  /* fixed counter of the slots */
#define TOPDOWN_GLOBAL  48 /* its bit in IA32_PERF_GLOBAL_CTRL */
#define TOPDOWN_SHARES  12 /* the first level, and each of its four in two */
#define TOPDOWN_WHOLE   255u

/* Slots since topdown_clear, and the bytes of the register, of which TOPDOWN_WHOLE is all of them. */
struct topdown { uint64_t slots; uint8_t bytes[8]; };
/* A sum over windows: parts are slots times TOPDOWN_WHOLE. */
struct topdown_sum { uint64_t slots, parts[8]; };

/* The register's bytes on this processor: 0, 4 (the first level) or 8. */
unsigned topdown_bytes(const struct cpu *cpu);
/* The plan with which counters_start has fixed counter 3 and the register count. */
void topdown_plan(struct plan *plan);
/* Holds both, and makes the gate by which a job lets them count around its kernel. */
MUST_CHECK enum status topdown_gate(const struct access *a, unsigned core, struct sampling_gate *gate);
/* Starts again at no slots. */
MUST_CHECK enum status topdown_clear(const struct access *a, unsigned core);
MUST_CHECK enum status topdown_read(const struct access *a, unsigned core, struct topdown *out);
void topdown_add(struct topdown_sum *sum, const struct topdown *t);
/* Name and share, in hundred-thousandths, of number i below TOPDOWN_SHARES; false: this processor's register does not have that share, or there
 * were no slots. */
bool topdown_share(const struct cpu *cpu, const struct topdown_sum *sum, unsigned i, const char **name, int64_t *share);

#endif
