/* pmu/counters/counters.c: programs the core PMU of Intel processors, architectural versions 1 to 5.
 *
 * Source: SDM volume 3B chapter 18.2; bit layout also in appendix II of the Nehalem guide. The program runs at privilege
 * level 0, so every event counts there (OS bit); no interrupt is requested. Version 6 keeps the addresses below as aliases. */
#include "pmu/counters/counters.h"
#include "pmu/counters/pebs.h"
#include "pmu/counters/topdown.h"

#include "pmu/core/amd_counters.h"
#include "pmu/netburst/netburst.h"

#define IA32_PMC0              0xC1
#define IA32_PERFEVTSEL0       0x186
#define IA32_DEBUGCTL          0x1D9
#define IA32_FIXED_CTR0        0x309
#define IA32_FIXED_CTR_CTRL    0x38D
#define IA32_PERF_GLOBAL_STATUS 0x38E
#define IA32_PERF_GLOBAL_CTRL  0x38F
#define IA32_PERF_GLOBAL_OVF_CTRL 0x390
#define IA32_PEBS_ENABLE       0x3F1
#define EVENT_LATENCY          3 /* struct event.pebs: the load-latency event */
#define IA32_A_PMC0            0x4C1

#define EVTSEL_USR   (1ull << 16)
#define EVTSEL_OS    (1ull << 17)
#define EVTSEL_EDGE  (1ull << 18)
#define EVTSEL_ANY   (1ull << 21)
#define EVTSEL_EN    (1ull << 22)
#define EVTSEL_INV   (1ull << 23)
#define FIXED_OS     1ull
#define FIXED_ALWAYS 0x7u /* instructions, core cycles, reference cycles: counted in every run */

#define CAPABILITY_FREEZE_WHILE_SMM (1ull << 12)
#define CAPABILITY_FW_WRITE         (1ull << 13)
#define DEBUGCTL_BTS_AND_FREEZE     0x10C0ull /* TR of branches, BTS, freeze on PMI: off */
#define DEBUGCTL_FREEZE_WHILE_SMM   (1ull << 14)

#define STATUS_OVF_BUFFER (1ull << 62)
#define STATUS_COND_CHANGED (1ull << 63)
#define STATUS_V4_FROZEN  (7ull << 58) /* LBR_Frz, CTR_Frz, ASCI: version 4 and later */

static enum status wr(const struct access *a, unsigned core, uint32_t msr, uint64_t value)
{
	return a->ops->wrmsr(a->self, core, msr, value);
}

/* Family 15 has different counters: netburst.h. */
static bool is_netburst(const struct cpu *cpu)
{
	return cpu->processor->detector_count != 0 && cpu->general_mask != 0;
}

bool counters_exist(const struct cpu *cpu)
{
	return cpu->pmu_version != 0 || is_netburst(cpu);
}

static uint32_t select_msr(const struct cpu *cpu, unsigned counter)
{
	return cpu->pmu_kind == PMU_INTEL ? IA32_PERFEVTSEL0 + counter : amd_select_msr(cpu, counter);
}

static uint32_t count_msr(const struct cpu *cpu, unsigned counter)
{
	return cpu->pmu_kind == PMU_INTEL ? IA32_PMC0 + counter : amd_count_msr(cpu, counter);
}

static uint64_t all_counters(const struct cpu *cpu)
{
	return cpu->general_mask | (uint64_t)cpu->fixed_mask << 32;
}

uint64_t counter_select(const struct event *e)
{
	const uint64_t levels = (e->privilege & EVENT_USER ? EVTSEL_USR : 0) | (e->privilege == EVENT_USER ? 0 : EVTSEL_OS);
	return (e->select & 0xFFu) | (uint64_t)(e->select >> 8) << 32 | (uint64_t)(e->umask & 0xFF) << 8 | (uint64_t)(e->umask >> 8) << 40 | levels |
	       EVTSEL_EN | (uint64_t)e->cmask << 24 | (e->edge ? EVTSEL_EDGE : 0) | (e->inv ? EVTSEL_INV : 0) | (e->any ? EVTSEL_ANY : 0);
}

const char *counter_select_lacks(const struct cpu *cpu, const struct event *e)
{
	return !e->netburst && e->umask > 0xFF && !(cpu->select_bits & CPU_SELECT_MASK2) ?
		"it needs a second unit mask (select bits 47:40); CPUID 0x23 reports none" : NULL;
}

enum status counter_write(const struct access *a, const struct cpu *cpu, unsigned core, unsigned counter, uint64_t value)
{
	if (is_netburst(cpu))
		return netburst_write(a, cpu, core, counter, value);
	uint64_t limit = cpu->general_width >= 64 ? ~0ull : (1ull << cpu->general_width) - 1;
	if (counter >= 32 || !(cpu->general_mask >> counter & 1) || value > limit)
		return ST_RANGE;
	if (cpu->pmu_kind != PMU_INTEL)
		return wr(a, core, amd_count_msr(cpu, counter), value);
	if (cpu->perf_capabilities & CAPABILITY_FW_WRITE)
		return wr(a, core, IA32_A_PMC0 + counter, value);
	/* Bits above 31 become copies of bit 31. */
	uint64_t extended = (uint64_t)(int64_t)(int32_t)(uint32_t)value & limit;
	if (extended != value)
		return ST_RANGE;
	return wr(a, core, IA32_PMC0 + counter, (uint32_t)value);
}

enum status counters_global(const struct access *a, const struct cpu *cpu, unsigned core, uint64_t enable)
{
	uint64_t now = 0;
	if (cpu->pmu_kind != PMU_INTEL)
		return wr(a, core, AMD_GLOBAL_CTL, enable);
	if (cpu->unlisted && a->ops->rdmsr(a->self, core, IA32_PERF_GLOBAL_CTRL, &now) != ST_OK)
		return ST_IO;
	return wr(a, core, IA32_PERF_GLOBAL_CTRL, enable | (now & cpu->unlisted));
}

/* Everything off: precise sampling first, since the global control does not stop it on all processors; then all counters at
 * once, then one by one. */
static enum status all_off(const struct access *a, const struct cpu *cpu, unsigned core)
{
	enum status s = ST_OK;
	if (cpu->pebs)
		s = wr(a, core, IA32_PEBS_ENABLE, 0);
	if (s == ST_OK && cpu->pmu_version >= 2)
		s = counters_global(a, cpu, core, 0);
	return s;
}

static enum status selects_off(const struct access *a, const struct cpu *cpu, unsigned core)
{
	enum status s = ST_OK;
	for (unsigned c = 0; c < 32 && s == ST_OK; c++)
		if (cpu->general_mask >> c & 1)
			s = wr(a, core, select_msr(cpu, c), 0);
	if (s == ST_OK && cpu->fixed_mask)
		s = wr(a, core, IA32_FIXED_CTR_CTRL, 0);
	return s;
}

/* Clears overflow bits left from before. */
static enum status clear_overflow(const struct access *a, const struct cpu *cpu, unsigned core)
{
	uint64_t status, ours = all_counters(cpu) | STATUS_OVF_BUFFER | STATUS_COND_CHANGED;
	if (cpu->pmu_version < 2)
		return ST_OK;
	if (cpu->pmu_kind != PMU_INTEL) {
		enum status read = a->ops->rdmsr(a->self, core, AMD_GLOBAL_STATUS, &status);
		return read == ST_OK ? wr(a, core, AMD_GLOBAL_CLEAR, status & cpu->general_mask) : read;
	}
	if (cpu->pmu_version >= 4)
		ours |= STATUS_V4_FROZEN;
	enum status s = a->ops->rdmsr(a->self, core, IA32_PERF_GLOBAL_STATUS, &status);
	return s == ST_OK ? wr(a, core, IA32_PERF_GLOBAL_OVF_CTRL, status & ours) : s;
}

/* Whether it is a register of an absent general counter: other such processors have more. */
static bool of_absent_counter(const struct cpu *cpu, uint32_t msr)
{
	const uint32_t first = msr >= IA32_PERFEVTSEL0 ? IA32_PERFEVTSEL0 : IA32_PMC0;
	return msr >= first && msr < first + 32 && !(cpu->general_mask >> (msr - first) & 1);
}

/* Whether CPUID tells that a quirk is there, on the core. */
static enum status quirk_told(const struct access *a, unsigned core, const struct cpuid_bit *bit, bool *told)
{
	struct cpuid_regs r;
	*told = true;
	if (!bit->leaf)
		return ST_OK;
	const enum status s = a->ops->cpuid(a->self, core, bit->leaf, bit->subleaf, &r);
	const uint32_t value[4] = { r.eax, r.ebx, r.ecx, r.edx };
	*told = s == ST_OK && value[bit->reg] >> bit->bit & 1;
	return s;
}

static enum status quirk_writes(const struct access *a, const struct cpu *cpu, unsigned core)
{
	enum status s = ST_OK;
	bool told = false;
	for (unsigned q = 0; q < cpu->processor->quirk_count && s == ST_OK; q++) {
		if (cpu->processor->quirks[q].write_count)
			s = quirk_told(a, core, &cpu->processor->quirks[q].told, &told);
		for (unsigned i = 0; told && i < cpu->processor->quirks[q].write_count && s == ST_OK; i++) {
			const uint32_t msr = cpu->processor->quirks[q].writes[i].msr;
			const uint64_t value = cpu->processor->quirks[q].writes[i].value;
			if (!of_absent_counter(cpu, msr))
				s = msr == IA32_PERF_GLOBAL_CTRL ? counters_global(a, cpu, core, value & all_counters(cpu)) : wr(a, core, msr, value);
		}
	}
	return s;
}

/* Excludes system management mode from the counts if the processor can. */
static enum status leave_smm_out(const struct access *a, const struct cpu *cpu, unsigned core)
{
	uint64_t value;
	if (!(cpu->perf_capabilities & CAPABILITY_FREEZE_WHILE_SMM))
		return ST_OK;
	enum status s = a->ops->rdmsr(a->self, core, IA32_DEBUGCTL, &value);
	if (s != ST_OK)
		return s;
	return wr(a, core, IA32_DEBUGCTL, (value & ~DEBUGCTL_BTS_AND_FREEZE) | DEBUGCTL_FREEZE_WHILE_SMM);
}

/* The fixed counters that count while the plan runs: those beyond the third only where the plan asks for them. */
static uint32_t fixed_wanted(const struct cpu *cpu, const struct plan *plan)
{
	uint32_t wanted = FIXED_ALWAYS;
	for (unsigned i = 0; i < plan->count; i++)
		if (plan->slots[i].fixed)
			wanted |= 1u << plan->slots[i].counter;
	return wanted & cpu->fixed_mask & 0xFFFF;
}

static enum status zero_fixed(const struct access *a, unsigned core, uint32_t wanted)
{
	enum status s = ST_OK;
	for (unsigned f = 0; f < 16 && s == ST_OK; f++)
		if (wanted >> f & 1)
			s = wr(a, core, IA32_FIXED_CTR0 + f, 0);
	return s;
}

/* Sets one event in its counter, with its extra register. Two slots of one event share a counter. */
static enum status set_event(const struct access *a, const struct cpu *cpu, unsigned core, const struct plan_slot *slot)
{
	enum status s = ST_OK;
	if (slot->event->extra_msr)
		s = wr(a, core, slot->event->extra_msr, slot->event->extra_value);
	if (s == ST_OK)
		s = counter_write(a, cpu, core, slot->counter, 0);
	if (s == ST_OK)
		s = wr(a, core, select_msr(cpu, slot->counter), counter_select(slot->event));
	return s;
}

enum status counters_start(const struct access *a, const struct cpu *cpu, const struct plan *plan, unsigned run, unsigned core)
{
	uint64_t enable = 0, fixed_control = 0, sampling = 0;
	uint32_t latency = 0;
	if (run >= plan->runs)
		return ST_RANGE;
	if (is_netburst(cpu))
		return netburst_start(a, cpu, plan, run, core);
	if (cpu->pmu_version == 0)
		return plan->count ? ST_UNSUPPORTED : ST_OK;
	const uint32_t wanted = fixed_wanted(cpu, plan);
	enum status s = all_off(a, cpu, core);
	if (s == ST_OK)
		s = quirk_writes(a, cpu, core);
	if (s == ST_OK)
		s = selects_off(a, cpu, core);
	if (s == ST_OK)
		s = clear_overflow(a, cpu, core);
	if (s == ST_OK)
		s = leave_smm_out(a, cpu, core);
	if (s == ST_OK)
		s = zero_fixed(a, core, wanted);
	for (unsigned i = 0; i < plan->count && s == ST_OK; i++) {
		const struct plan_slot *slot = &plan->slots[i];
		if (slot->fixed || slot->run != run || enable >> slot->counter & 1)
			continue;
		s = set_event(a, cpu, core, slot);
		enable |= 1ull << slot->counter;
		latency |= slot->event->pebs == EVENT_LATENCY ? 1u << slot->counter : 0;
	}
	if (s == ST_OK && latency)
		s = pebs_latency_enable(a, cpu, core, latency, &sampling);
	if (s == ST_OK && latency)
		s = wr(a, core, IA32_PEBS_ENABLE, sampling);
	if (s != ST_OK || cpu->pmu_version < 2)
		return s;
	for (unsigned f = 0; f < 16; f++)
		if (wanted >> f & 1) {
			fixed_control |= FIXED_OS << 4 * f;
			enable |= 1ull << (32 + f);
		}
	if (wanted >> TOPDOWN_FIXED & 1 && topdown_bytes(cpu))
		enable |= 1ull << TOPDOWN_GLOBAL;
	if (fixed_control)
		s = wr(a, core, IA32_FIXED_CTR_CTRL, fixed_control);
	return s == ST_OK ? counters_global(a, cpu, core, enable) : s;
}

enum status counters_stop(const struct access *a, const struct cpu *cpu, const struct plan *plan, unsigned run, unsigned core)
{
	if (run >= plan->runs)
		return ST_RANGE;
	if (is_netburst(cpu))
		return netburst_stop(a, cpu, core);
	if (cpu->pmu_version == 0)
		return plan->count ? ST_UNSUPPORTED : ST_OK;
	enum status s = all_off(a, cpu, core);
	return s == ST_OK ? selects_off(a, cpu, core) : s;
}

enum status counters_hold(const struct access *a, const struct cpu *cpu, unsigned core, uint64_t *gate)
{
	if (cpu->pmu_version < 2 || cpu->pmu_kind != PMU_INTEL) /* k_measure_gated knows Intel's register */
		return ST_UNSUPPORTED;
	enum status s = a->ops->rdmsr(a->self, core, IA32_PERF_GLOBAL_CTRL, gate);
	return s == ST_OK ? counters_global(a, cpu, core, 0) : s;
}

static bool answers(const struct access *a, unsigned core, uint32_t msr)
{
	uint64_t value;
	return a->ops->rdmsr(a->self, core, msr, &value) != ST_FAULT;
}

static void use_none(struct cpu *cpu, const char *why)
{
	cpu->pmu_version = 0;
	cpu->pmu_absent = why;
}

void counters_answer(const struct access *a, struct cpu *cpu, unsigned core)
{
	if (cpu->pmu_version == 0 || is_netburst(cpu))
		return;
	if (cpu->pebs)
		cpu->pebs = answers(a, core, IA32_PEBS_ENABLE);
	if ((cpu->perf_capabilities & CAPABILITY_FREEZE_WHILE_SMM) && !answers(a, core, IA32_DEBUGCTL))
		cpu->perf_capabilities &= ~CAPABILITY_FREEZE_WHILE_SMM;
	for (unsigned c = 0; c < 32; c++) {
		if ((cpu->general_mask >> c & 1) && !(answers(a, core, select_msr(cpu, c)) && answers(a, core, count_msr(cpu, c))))
			cpu->general_mask &= ~(1u << c);
		if ((cpu->fixed_mask & 0xFFFF & 1u << c) && !answers(a, core, IA32_FIXED_CTR0 + c))
			cpu->fixed_mask &= ~(1u << c);
	}
	if (cpu->fixed_mask && !answers(a, core, IA32_FIXED_CTR_CTRL))
		cpu->fixed_mask = 0;
	if (!cpu->general_mask)
		use_none(cpu, "no general counter answers");
	if (cpu->pmu_version < 2)
		return;
	if (cpu->pmu_kind != PMU_INTEL) {
		if (!answers(a, core, AMD_GLOBAL_CTL) || !answers(a, core, AMD_GLOBAL_STATUS))
			use_none(cpu, "PerfCntrGlobalCtl (0xC0000301) or its status does not answer");
		return;
	}
	if (!answers(a, core, IA32_PERF_GLOBAL_CTRL))
		use_none(cpu, "IA32_PERF_GLOBAL_CTRL (0x38F) does not answer");
	else if (!answers(a, core, IA32_PERF_GLOBAL_STATUS))
		use_none(cpu, "IA32_PERF_GLOBAL_STATUS (0x38E) does not answer");
	else if (wr(a, core, IA32_PERF_GLOBAL_OVF_CTRL, 0) == ST_FAULT) /* not every processor allows reading it */
		use_none(cpu, "IA32_PERF_GLOBAL_OVF_CTRL (0x390) does not answer");
}

/* Two patterns that a legacy write can make and that differ in every low bit. */
static const uint64_t patterns[2] = { 0x2AAAAAAA, 0x15555555 };

/* Extra registers of the processor's events that fault when they are read. */
static enum status find_absent_extras(const struct access *a, struct cpu *cpu, unsigned core)
{
	uint32_t seen[CPU_EXTRAS_MAX] = { 0 };
	unsigned asked = 0, absent = 0;
	for (unsigned i = 0; i < cpu->processor->event_count; i++) {
		const uint32_t msr = cpu->processor->events[i].extra_msr;
		unsigned known = 0;
		uint64_t value;
		while (known < asked && seen[known] != msr)
			known++;
		if (!msr || known < asked)
			continue;
		if (asked == COUNT_OF(seen))
			return ST_FULL;
		seen[asked++] = msr;
		const enum status s = a->ops->rdmsr(a->self, core, msr, &value);
		if (s == ST_FAULT)
			cpu->extras_absent[absent++] = msr;
		else if (s != ST_OK)
			return s;
	}
	return ST_OK;
}

enum status counters_verify(const struct access *a, struct cpu *cpu, unsigned core)
{
	bool netburst = is_netburst(cpu);
	for (unsigned c = 0; c < 32; c++)
		for (unsigned i = 0; i < COUNT_OF(patterns) && cpu->general_mask >> c & 1; i++) {
			uint64_t value;
			enum status s = counter_write(a, cpu, core, c, patterns[i]);
			if (s == ST_OK)
				s = a->ops->rdmsr(a->self, core, netburst ? netburst_counter_msr(c) : count_msr(cpu, c), &value);
			if (s != ST_OK)
				return s;
			if (value != patterns[i])
				cpu->general_mask &= ~(1u << c);
		}
	if ((cpu->pmu_version || netburst) && !cpu->general_mask)
		use_none(cpu, "counters do not keep what is written to them: an emulated PMU");
	return cpu->pmu_version ? find_absent_extras(a, cpu, core) : ST_OK;
}

/* What enables a counter: the event select with its enable bit, or the nibble of the fixed control. */
static enum status control_of(const struct access *a, const struct cpu *cpu, unsigned core, bool fixed, unsigned counter, uint64_t *control)
{
	if (is_netburst(cpu))
		return netburst_control(a, core, counter, control);
	enum status s = a->ops->rdmsr(a->self, core, fixed ? IA32_FIXED_CTR_CTRL : select_msr(cpu, counter), control);
	if (s != ST_OK)
		return s;
	if (fixed)
		*control = *control >> 4 * counter & 3; /* the privilege levels that count; 0 is off */
	else if (!(*control & EVTSEL_EN))
		*control = 0;
	return ST_OK;
}

enum status counters_firmware_check(const struct access *a, const struct cpu *cpu, unsigned core,
                                    struct firmware_counter *list, unsigned *count)
{
	*count = 0;
	if (!counters_exist(cpu))
		return ST_OK;
	for (unsigned i = 0; i < 64; i++) {
		bool fixed = i >= 32;
		unsigned n = i & 31;
		uint64_t control;
		if (!((fixed ? cpu->fixed_mask & 0xFFFF : cpu->general_mask) >> n & 1))
			continue;
		enum status s = control_of(a, cpu, core, fixed, n, &control);
		if (s != ST_OK)
			return s;
		if (control && *count < FIRMWARE_COUNTERS_MAX)
			list[(*count)++] = (struct firmware_counter){ .fixed = fixed, .counter = (uint8_t)n, .control = control };
	}
	if (is_netburst(cpu))
		return netburst_stop(a, cpu, core);
	enum status s = all_off(a, cpu, core);
	return s == ST_OK ? selects_off(a, cpu, core) : s;
}

enum status counters_firmware_recheck(const struct access *a, struct cpu *cpu, unsigned core,
                                      struct firmware_counter *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		uint64_t control;
		enum status s = control_of(a, cpu, core, list[i].fixed, list[i].counter, &control);
		if (s != ST_OK)
			return s;
		list[i].returned = control != 0;
		if (!list[i].returned)
			continue;
		if (list[i].fixed)
			cpu->fixed_mask &= ~(1u << list[i].counter);
		else
			cpu->general_mask &= ~(1u << list[i].counter);
	}
	return ST_OK;
}
