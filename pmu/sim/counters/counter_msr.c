/* pmu/sim/counters/counter_msr.c: model-specific registers other than the counters.
 *
 * Addresses and bits: SDM volume 3, chapter "Model-Specific Registers" (2016).
 *
 * Not modelled: frequency requests (the core's clock is the machine file's; turbo is a fault switch), effects of memory
 * types, power and thermal registers beyond storing what is written. */
#include "pmu/sim/counters/counter_state.h"
#include "pmu/sim/findings/register.h"

#define MSR_TSC             0x010
#define MSR_PLATFORM_ID     0x017
#define MSR_APIC_BASE       0x01B
#define MSR_SMI_COUNT       0x034
#define MSR_BIOS_SIGN_ID    0x08B
#define MSR_PLATFORM_INFO   0x0CE
#define MSR_PKG_CST         0x0E2
#define MSR_MPERF           0x0E7
#define MSR_APERF           0x0E8
#define MSR_MTRRCAP         0x0FE
#define MSR_PERF_STATUS     0x198
#define MSR_PERF_CTL        0x199
#define MSR_CLOCK_MOD       0x19A
#define MSR_THERM_INTERRUPT 0x19B
#define MSR_THERM_STATUS    0x19C
#define MSR_MISC_ENABLE     0x1A0
#define MSR_TSX_FORCE_ABORT 0x10F
#define MSR_PREFETCH        0x1A4
#define MSR_TURBO_LIMIT     0x1AD
#define MSR_ENERGY_BIAS     0x1B0
#define MSR_POWER_CTL       0x1FC
#define MSR_MTRR_VARIABLE   0x200
#define MSR_PAT             0x277
#define MSR_MTRR_DEFAULT    0x2FF
#define MSR_PERF_CAPABILITIES 0x345
#define MSR_UNCORE_LIMIT    0x620
#define MSR_UNCORE_STATUS   0x621
#define MSR_EFER            0xC0000080

#define MISC_EMON    (1ull << 7)
#define MISC_NO_BTS  (1ull << 11)
#define MISC_NO_PEBS (1ull << 12)
#define MISC_LIMIT_CPUID (1ull << 22)
#define MISC_NO_TURBO (1ull << 38)
#define PERF_CTL_NO_TURBO (1ull << 32)
#define THERM_HOT    1u
#define THERM_LOG    2u

static const uint16_t mtrr_fixed_at[MTRR_FIXED] = {
	0x250, 0x258, 0x259, 0x268, 0x269, 0x26A, 0x26B, 0x26C, 0x26D, 0x26E, 0x26F
};

void counter_msr_reset(struct counters *p)
{
	const struct machine *m = p->m;
	/* Fast strings, thermal control, EMON if there is a PMU, no BTS, SpeedStep. */
	p->misc_enable = 1 | 1 << 3 | (m->pmu_version || netburst_sim(p) ? MISC_EMON : 0) | MISC_NO_BTS |
		(m->pmu_pebs_format == 255 ? MISC_NO_PEBS : 0) | 1 << 16;
	p->hwcr = 1 << 24; /* the TSC counts at the P0 state's rate */
	p->perf_ctl = m->clock_core_ratio << 8;
	p->clock_modulation = m->fault_duty_cycle ? 0x1A : 0;
	p->pat = 0x0007040600070406ull; /* SDM: value after reset */
	p->mtrr_default = 1 << 11 | 1 << 10 | 6; /* enabled, write-back */
	for (unsigned i = 0; i < MTRR_FIXED; i++)
		p->mtrr_fixed[i] = 0x0606060606060606ull;
	p->apic_base = 0xFEE00000u | 1 << 11 | (p->thread ? 0 : 1 << 8);
	uint64_t low = m->fault_uncore_float_ratio && m->fault_uncore_float_ratio < m->clock_uncore_ratio ?
		m->fault_uncore_float_ratio : m->clock_uncore_ratio;
	p->uncore_limit = m->clock_uncore_ratio | low << 8;
	counter_hwp_reset(p);
}

/* Tells the machine the switches in effect: locked bits keep their reset value in the register, ignored ones have no effect. */
void counter_msr_prefetchers(struct counters *p)
{
	if (!p->env.prefetchers)
		return;
	unsigned off = (unsigned)p->first->prefetch & 0xF;
	if (p->m->control_prefetch_amd) {
		/* L2 stream, L2 up/down, L1 stream, L1 stride; the region prefetcher is not modelled. */
		const uint64_t v = p->first->prefetch_amd;
		off = (unsigned)((v >> 3 & 1) | (v >> 5 & 1) << 1 | (v & 1) << 2 | (v >> 1 & 1) << 3);
	}
	if (p->m->control_prefetch_misc) {
		/* MISC_ENABLE: 9 hardware prefetcher, 19 adjacent line, 37 DCU, 39 IP. */
		off = (unsigned)((p->misc_enable >> 9 & 1) | (p->misc_enable >> 19 & 1) << 1 |
		                 (p->misc_enable >> 37 & 1) << 2 | (p->misc_enable >> 39 & 1) << 3);
	}
	p->env.prefetchers(p->env.self, off & ~(unsigned)p->m->fault_prefetch_ignored);
}

static uint64_t capabilities(const struct machine *m)
{
	uint64_t v = m->pmu_lbr_format;
	if (m->pmu_pebs_format != 255)
		v |= 1u << 6 | m->pmu_pebs_format << 8 | (m->pmu_pebs_format ? 1u << 7 : 0);
	if (m->pmu_pebs_format >= 4 && m->pmu_pebs_format != 255)
		v |= 1u << 14 | m->pmu_retire_latency << 17; /* baseline; timed */
	v |= m->pmu_freeze_smm << 12 | m->pmu_full_width << 13 | (m->pmu_metrics ? 1u << 15 : 0);
	return v;
}

/* The ratio in every byte: the same limit for any number of active cores. */
static uint64_t turbo_limits(const struct machine *m)
{
	uint64_t ratio = m->control_turbo_ratio ? m->control_turbo_ratio : m->clock_core_ratio;
	return ratio * 0x0101010101010101ull;
}

/* Registers that only store what is written; *legal: their writable bits. */
static uint64_t *plain(struct counters *p, uint32_t msr, uint64_t *legal)
{
	const struct machine *m = p->m;
	*legal = ~0ull;
	switch (msr) {
	case MSR_PERF_CTL: *legal = 0xFFFF | PERF_CTL_NO_TURBO; return &p->perf_ctl;
	case MSR_CLOCK_MOD: *legal = 0x1F; return &p->clock_modulation;
	case MSR_THERM_INTERRUPT: *legal = 0x1FFFF1F; return &p->therm_interrupt;
	case MSR_ENERGY_BIAS: *legal = 0xF; return m->control_platform_info ? &p->energy_bias : NULL;
	case MSR_POWER_CTL: return m->control_platform_info ? &p->power_ctl : NULL;
	case MSR_PKG_CST: return m->control_platform_info ? &p->pkg_cst : NULL;
	case MSR_TSX_FORCE_ABORT: *legal = 1; return m->pmu_tsx_counter ? &p->tsx_force_abort : NULL;
	case MSR_PREFETCH: *legal = m->control_prefetch_bits; return m->control_prefetch_msr ? &p->first->prefetch : NULL;
	case MSR_PAT: *legal = 0x0707070707070707ull; return &p->pat;
	case MSR_MTRR_DEFAULT: *legal = 0xCFF; return &p->mtrr_default;
	case MSR_APIC_BASE: *legal = mask_of(m->control_physical_bits) & ~0x2FFull; return &p->apic_base;
	case MSR_UNCORE_LIMIT: *legal = 0x7F7F; return m->control_uncore_ratio_msr ? &p->uncore_limit : NULL;
	}
	if (msr - MSR_MTRR_VARIABLE < 2 * MTRR_VARIABLE) {
		*legal = mask_of(m->control_physical_bits) & (msr & 1 ? ~0x7FFull : ~0xF00ull);
		return &p->mtrr_variable[msr - MSR_MTRR_VARIABLE];
	}
	for (unsigned i = 0; i < MTRR_FIXED; i++)
		if (msr == mtrr_fixed_at[i])
			return &p->mtrr_fixed[i];
	return NULL;
}

/* The uncore clock's current ratio. With the fault it alternates, unless the limits fix it and the fault respects them. */
static uint64_t uncore_ratio_now(const struct counters *p)
{
	const struct machine *m = p->m;
	const uint64_t stays = m->core_hz / 1000000 * m->fault_uncore_float_us;
	const bool steady = m->fault_uncore_float_range && (p->uncore_limit & 0x7F) == (p->uncore_limit >> 8 & 0x7F);
	const uint64_t now = p->env.cycle ? p->env.cycle(p->env.self) : 0;
	return m->fault_uncore_float_ratio && !steady && stays && (now / stays & 1) ? m->fault_uncore_float_ratio : m->clock_uncore_ratio;
}

/* Registers that software can only read. */
static bool read_only(struct counters *p, uint32_t msr, uint64_t *value)
{
	const struct machine *m = p->m;
	switch (msr) {
	case MSR_PLATFORM_ID: *value = 0; return true;
	case MSR_MTRRCAP: *value = MTRR_VARIABLE | 1 << 8 | 1 << 10; return true; /* fixed ranges, write combining */
	case MSR_PERF_STATUS: *value = counters_ratio_now(p) << 8; return true;
	case MSR_SMI_COUNT: *value = p->smis; return m->control_smi_count;
	case MSR_PLATFORM_INFO: *value = m->clock_tsc_ratio << 8 | m->control_least_ratio << 40; return m->control_platform_info;
	case MSR_TURBO_LIMIT: *value = turbo_limits(m); return m->control_platform_info;
	case MSR_PERF_CAPABILITIES: *value = capabilities(m); return m->pmu_capabilities && m->pmu_version;
	case MSR_UNCORE_STATUS: *value = uncore_ratio_now(p); return m->control_uncore_ratio_msr;
	}
	return false;
}

static uint64_t heat_cycles(const struct counters *p, uint64_t us)
{
	return p->m->core_hz / 1000000 * us;
}

/* Number of overheatings so far; each is at the end of a period. */
static uint64_t times_hot(const struct counters *p)
{
	const struct machine *m = p->m;
	return m->fault_heat_period_us ? (counters_now(p) + heat_cycles(p, m->fault_heat_us)) / heat_cycles(p, m->fault_heat_period_us) : 0;
}

static uint64_t heat(const struct counters *p)
{
	const struct machine *m = p->m;
	if (!m->fault_heat_period_us)
		return 0;
	uint64_t period = heat_cycles(p, m->fault_heat_period_us), last = heat_cycles(p, m->fault_heat_us);
	bool hot = counters_now(p) % period + last >= period;
	return (hot ? THERM_HOT : 0) | (hot || times_hot(p) != p->heat_cleared ? THERM_LOG : 0);
}

static enum status no_register(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	if (sim_register_find(p->m, msr))
		find(p, f, FIND_FAULT, msr, value, "this processor has no such register");
	else
		find(p, f, FIND_OUTSIDE, msr, value, "no register of performance monitoring, and none that the simulated machine has");
	return ST_MISSING;
}

enum status counter_msr_read(struct counters *p, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	uint64_t legal;
	if (p->m->pmu_amd && counter_amd_lacks(msr))
		return no_register(p, msr, 0, f);
	const uint64_t *at = plain(p, msr, &legal);
	if (at) {
		*value = *at;
		return ST_OK;
	}
	if (read_only(p, msr, value))
		return ST_OK;
	switch (msr) {
	case MSR_TSC: *value = counters_rdtsc(p); return ST_OK;
	case MSR_BIOS_SIGN_ID: *value = p->m->control_microcode << 32; return ST_OK;
	case MSR_MISC_ENABLE: *value = p->misc_enable; return ST_OK;
	case MSR_THERM_STATUS: *value = 1u << 31 | 40u << 16 | heat(p); return ST_OK; /* valid, 40 K below the limit */
	case MSR_EFER: *value = 0xD01; return ST_OK; /* SCE, LME, LMA, NXE */
	case MSR_MPERF: case MSR_APERF:
		if (!p->m->control_aperf_mperf)
			break;
		*value = msr == MSR_MPERF ? counters_mperf(p) + p->mperf_base : counters_aperf(p) + p->aperf_base;
		return ST_OK;
	}
	return no_register(p, msr, 0, f);
}

static bool memory_types_legal(uint64_t v)
{
	for (unsigned i = 0; i < 8; i++, v >>= 8)
		if ((v & 7) == 2 || (v & 7) == 3)
			return false;
	return true;
}

static enum status reserved_bits(struct counters *p, struct sim_finding *f, uint32_t msr, uint64_t bits)
{
	find(p, f, FIND_RESERVED, msr, bits, "reserved bits raise #GP");
	return ST_FAULT;
}

static enum status write_misc_enable(struct counters *p, uint64_t value, struct sim_finding *f)
{
	const struct machine *m = p->m;
	uint64_t fixed = MISC_EMON | MISC_NO_BTS | MISC_NO_PEBS; /* read-only */
	uint64_t legal = 1 | 1 << 3 | 1 << 16 | 1 << 18 | 1 << 20 | MISC_LIMIT_CPUID | 1 << 23 | 1ull << 34 | fixed;
	if (m->control_turbo_ratio)
		legal |= MISC_NO_TURBO;
	if (m->control_prefetch_misc)
		legal |= 1 << 9 | 1 << 19 | 1ull << 37 | 1ull << 39;
	if (value & ~legal)
		return reserved_bits(p, f, MSR_MISC_ENABLE, value & ~legal);
	if ((value ^ p->misc_enable) & fixed)
		find(p, f, FIND_IGNORED, MSR_MISC_ENABLE, (value ^ p->misc_enable) & fixed, "MISC_ENABLE: bits 7, 11 and 12 are read-only");
	if (m->fault_turbo_locked && ((value ^ p->misc_enable) & MISC_NO_TURBO)) {
		find(p, f, FIND_IGNORED, MSR_MISC_ENABLE, MISC_NO_TURBO, "locked bits keep their value");
		value ^= MISC_NO_TURBO;
	}
	p->misc_enable = (value & ~fixed) | (p->misc_enable & fixed);
	counters_clock_set(p);
	counter_msr_prefetchers(p);
	return ST_OK;
}

enum status counter_msr_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	const struct machine *m = p->m;
	uint64_t legal, ignored;
	if (m->pmu_amd && counter_amd_lacks(msr))
		return no_register(p, msr, value, f);
	uint64_t *at = plain(p, msr, &legal);
	if (at) {
		if (value & ~legal)
			return reserved_bits(p, f, msr, value & ~legal);
		if ((msr == MSR_PAT && !memory_types_legal(value))) {
			find(p, f, FIND_FAULT, msr, value, "PAT: memory types 2 and 3 raise #GP");
			return ST_FAULT;
		}
		if (msr == MSR_PREFETCH && ((value ^ *at) & m->fault_prefetch_locked)) {
			find(p, f, FIND_IGNORED, msr, (value ^ *at) & m->fault_prefetch_locked, "locked bits keep their value");
			value = (value & ~m->fault_prefetch_locked) | (*at & m->fault_prefetch_locked);
		}
		if (msr == MSR_PERF_CTL && m->fault_turbo_locked && ((value ^ *at) & PERF_CTL_NO_TURBO)) {
			find(p, f, FIND_IGNORED, msr, PERF_CTL_NO_TURBO, "locked bits keep their value");
			value ^= PERF_CTL_NO_TURBO;
		}
		if (msr == MSR_PERF_CTL && (value >> 8 & 0xFF) != m->clock_core_ratio)
			find(p, f, FIND_SIMULATOR, msr, value, "the core stays at the machine's ratio");
		if (msr == MSR_CLOCK_MOD && (value & 0x10))
			find(p, f, FIND_SIMULATOR, msr, value, "clock modulation");
		if (msr == MSR_UNCORE_LIMIT && (value & 0x7F) != m->clock_uncore_ratio)
			find(p, f, FIND_SIMULATOR, msr, value, "the uncore stays at the machine's ratio");
		*at = value;
		if (msr == MSR_TSX_FORCE_ABORT)
			counters_program(p, f, msr);
		if (msr == MSR_PREFETCH)
			counter_msr_prefetchers(p);
		if (msr == MSR_PERF_CTL)
			counters_clock_set(p);
		if (msr == MSR_UNCORE_LIMIT && p->env.uncore_steady)
			p->env.uncore_steady(p->env.self, m->fault_uncore_float_range && (value & 0x7F) == (value >> 8 & 0x7F));
		return ST_OK;
	}
	if (read_only(p, msr, &ignored)) {
		find(p, f, FIND_FAULT, msr, value, "read-only");
		return ST_FAULT;
	}
	switch (msr) {
	case MSR_TSC:
		p->tsc_offset = (int64_t)(value - (counters_rdtsc(p) - (uint64_t)p->tsc_offset));
		return ST_OK;
	case MSR_MISC_ENABLE:
		return write_misc_enable(p, value, f);
	case MSR_BIOS_SIGN_ID:
		if (value)
			find(p, f, FIND_IGNORED, msr, value, "only 0 is written here, ahead of CPUID");
		return ST_OK;
	case MSR_THERM_STATUS: /* log bits can be cleared; only bit 1 is modelled */
		if ((value & THERM_LOG) == 0)
			p->heat_cleared = times_hot(p);
		return ST_OK;
	case MSR_EFER:
		find(p, f, FIND_SIMULATOR, msr, value, "EFER does not change");
		return ST_OK;
	case MSR_MPERF: case MSR_APERF:
		if (!m->control_aperf_mperf)
			break;
		if (msr == MSR_MPERF)
			p->mperf_base = value - counters_mperf(p);
		else
			p->aperf_base = value - counters_aperf(p);
		return ST_OK;
	}
	return no_register(p, msr, value, f);
}
