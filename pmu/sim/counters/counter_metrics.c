/* pmu/sim/counters/counter_metrics.c: PERF_METRICS, which accompanies fixed counter 3: how the allocation slots were used, as shares.
 *
 * Layout: SDM volume 3, "Top-Down Microarchitecture Analysis": one byte each, where 255 stands for all slots since fixed counter 3 and this register were
 * written: retiring, bad speculation, frontend bound, backend bound; from Golden Cove on also heavy operations, branch mispredictions, fetch latency, memory bound.
 * It counts while fixed counter 3 does and bit 48 of IA32_PERF_GLOBAL_CTRL is set. Reset: counter 3 first, then this register (Linux 6.12, events/intel, facts
 * only).
 *
 * Not modelled: its overflow (status bit 48); the mode in which RDPMC clears it. */
#include "pmu/sim/counters/counter_state.h"

#define FIXED_SLOTS 3
#define CONTROL_METRICS 48
#define ALL 255u

/* The signals that each byte's tap listens to. */
static const enum signal parts[COUNTER_METRICS_MAX][2] = {
	{ SIG_UOPS_RETIRED_FUSED, SIG_UOPS_RETIRED_FUSED },
	{ SIG_SLOTS_RECOVERY, SIG_UOPS_ISSUED_WRONG_PATH },
	{ SIG_SLOTS_FRONTEND, SIG_SLOTS_FRONTEND },
	{ SIG_SLOTS_BACKEND, SIG_SLOTS_BACKEND },
	{ SIG_UOPS_RETIRED_HEAVY, SIG_UOPS_RETIRED_HEAVY },
	{ SIG_SLOTS_RECOVERY_BRANCH, SIG_UOPS_ISSUED_WRONG_PATH },
	{ SIG_SLOTS_FRONTEND_LATENCY, SIG_SLOTS_FRONTEND_LATENCY },
	{ SIG_SLOTS_MEMORY, SIG_SLOTS_MEMORY },
};

static unsigned tap_of(const struct counters *p, unsigned i)
{
	return (unsigned)(p->m->pmu_fixed + p->m->pmu_general) + i;
}

static uint64_t counted(const struct counters *p, unsigned i)
{
	return p->metrics_base[i] + (p->metrics_on ? signals_tap_get(p->signals, tap_of(p, i))->value : 0);
}

/* Slots since the last write: the base counts slots, the tap cycles. */
static uint64_t slots(const struct counters *p)
{
	const unsigned i = COUNTER_METRICS_MAX;
	return p->metrics_base[i] + (p->metrics_on ? signals_tap_get(p->signals, tap_of(p, i))->value * p->m->core_issue_width : 0);
}

uint64_t counter_metrics_value(const struct counters *p)
{
	const uint64_t all = slots(p);
	uint64_t v = 0;
	for (unsigned i = 0; i < p->m->pmu_metrics && all; i++) {
		const uint64_t share = (counted(p, i) * ALL + all / 2) / all;
		v |= (share < ALL ? share : ALL) << 8 * i;
	}
	return v;
}

void counter_metrics_program(struct counters *p)
{
	if (!p->m->pmu_metrics)
		return;
	const bool on = (p->global_ctrl >> CONTROL_METRICS & 1) && (p->global_ctrl >> (32 + FIXED_SLOTS) & 1) &&
		(p->fixed_ctrl >> (4 * FIXED_SLOTS + p->user) & 1) && !counters_frozen(p);
	uint64_t now[COUNTER_METRICS_MAX + 1];
	for (unsigned i = 0; i < COUNTER_METRICS_MAX; i++)
		now[i] = counted(p, i);
	now[COUNTER_METRICS_MAX] = slots(p);
	memcpy(p->metrics_base, now, sizeof(now));
	for (unsigned i = 0; i <= COUNTER_METRICS_MAX; i++) {
		struct tap t = { .on = true };
		const bool wanted = on && (i < p->m->pmu_metrics || i == COUNTER_METRICS_MAX);
		for (unsigned k = 0; k < 2; k++) {
			const unsigned sig = i < COUNTER_METRICS_MAX ? parts[i][k] : SIG_CYCLES;
			t.listen[sig / 64] |= 1ull << sig % 64;
		}
		signals_tap(p->signals, tap_of(p, i), wanted ? &t : NULL);
	}
	p->metrics_on = on;
}

enum status counter_metrics_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	if (!p->m->pmu_metrics)
		return ST_MISSING;
	if (p->m->pmu_metrics < COUNTER_METRICS_MAX && value >> 8 * p->m->pmu_metrics) {
		find(p, f, FIND_RESERVED, msr, value, "PERF_METRICS: reserved bits raise #GP");
		return ST_FAULT;
	}
	/* From now on the shares refer to the slots in fixed counter 3. Software that writes one of the two must write both. */
	const uint64_t all = counter_fixed_value(p, FIXED_SLOTS);
	if (!value && all && !p->metrics_on)
		find(p, f, FIND_IGNORED, msr, value, "PERF_METRICS is cleared after fixed counter 3: this one still holds slots");
	counter_metrics_program(p);
	for (unsigned i = 0; i < COUNTER_METRICS_MAX; i++)
		p->metrics_base[i] = all * (value >> 8 * i & ALL) / ALL;
	p->metrics_base[COUNTER_METRICS_MAX] = all;
	return ST_OK;
}
