/* pmu/sim/counters/counter_clock.c: the clocks of one hardware thread: time stamp, APERF and MPERF, and the core clock's
 * ratio, which a fault switch changes periodically.
 *
 * Not modelled: the thread's own frequency requests (pmu/sim/counters/counter_msr.c). */
#include "pmu/sim/counters/counter_state.h"

uint64_t counters_now(const struct counters *p)
{
	return p->env.cycle ? p->env.cycle(p->env.self) : 0;
}

/* TSC ticks of `cycles` while the core clock alternates between two ratios: whole double periods, then the rest. */
static uint64_t float_ticks(const struct machine *m, uint64_t cycles)
{
	uint64_t bus = m->fault_ratio_period_us * (m->clock_bus_hz_times_3 / 3) / 1000000 + 1; /* bus clocks per period */
	uint64_t first = bus * m->clock_core_ratio, second = bus * m->fault_ratio_other;
	uint64_t ticks = cycles / (first + second) * 2 * bus * m->clock_tsc_ratio;
	uint64_t rest = cycles % (first + second);
	if (rest < first)
		return ticks + counters_scale(rest, m->clock_tsc_ratio, m->clock_core_ratio);
	return ticks + bus * m->clock_tsc_ratio + counters_scale(rest - first, m->clock_tsc_ratio, m->fault_ratio_other);
}

static uint64_t steady_ticks(const struct machine *m, uint64_t cycles)
{
	return counters_scale(cycles, m->tick_per_core_cycle, m->tick_per_tsc);
}

uint64_t counters_ticks(const struct counters *p, uint64_t cycles)
{
	const struct machine *m = p->m;
	if (!m->fault_ratio_period_us)
		return steady_ticks(m, cycles);
	if (cycles < p->clock_cycle) /* before the last change: as if the clock had been steady up to it */
		return p->clock_ticks - steady_ticks(m, p->clock_cycle - cycles);
	uint64_t since = cycles - p->clock_cycle;
	return p->clock_ticks + (p->clock_steady ? steady_ticks(m, since) : float_ticks(m, since));
}

void counters_clock_set(struct counters *p)
{
	const bool asked = !p->hwp_enable && (p->perf_ctl >> 32 & 1) != 0; /* SDM 14.4.2: HWP disregards IA32_PERF_CTL */
	bool steady = p->m->fault_ratio_turbo && ((p->misc_enable >> 38 & 1) != 0 || asked || (p->first->hwcr >> 25 & 1) != 0); /* CpbDis */
	steady = steady || (p->m->fault_ratio_hwp && counter_hwp_holds(p));
	if (steady == p->clock_steady)
		return;
	uint64_t cycle = counters_now(p);
	p->clock_ticks = counters_ticks(p, cycle);
	p->clock_cycle = cycle;
	p->clock_steady = steady;
}

uint64_t counters_ratio_now(const struct counters *p)
{
	const struct machine *m = p->m;
	if (!m->fault_ratio_period_us || p->clock_steady)
		return m->clock_core_ratio;
	uint64_t bus = m->fault_ratio_period_us * (m->clock_bus_hz_times_3 / 3) / 1000000 + 1;
	uint64_t first = bus * m->clock_core_ratio, second = bus * m->fault_ratio_other;
	return (counters_now(p) - p->clock_cycle) % (first + second) < first ? m->clock_core_ratio : m->fault_ratio_other;
}

uint64_t counters_aperf(const struct counters *p)
{
	return counters_now(p) - p->halted;
}

uint64_t counters_mperf(const struct counters *p)
{
	return counters_ticks(p, counters_now(p) - p->halted);
}

uint64_t counters_rdtsc(struct counters *p)
{
	return counters_ticks(p, counters_now(p)) + (uint64_t)p->tsc_offset;
}

void counters_halted(struct counters *p, uint64_t cycles)
{
	p->halted += cycles;
}

void counters_smi(struct counters *p)
{
	p->smis++;
}
