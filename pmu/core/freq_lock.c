/* pmu/core/freq_lock.c: locks one field after the other, on one logical processor after the other. */
#include "pmu/core/freq_lock.h"
#include "pmu/text.h"

#define MSR_PLATFORM_INFO  0xCEu  /* SDM 35: [15:8] ratio without turbo */
#define IA32_MISC_ENABLE   0x1A0u /* SDM 35: [38] turbo off, after which CPUID 6 shows none */
#define MISC_TURBO_OFF     38u
#define IA32_PM_ENABLE     0x770u /* SDM 14.4.2: [0] HWP on, until the next reset */
#define IA32_HWP_CAPABILITIES 0x771u /* SDM 14.4.3: [7:0] highest level, [15:8] guaranteed, [31:24] lowest */
#define CPUID_POWER        6u     /* SDM 14.4.1 and CPUID: EAX[1] turbo, EAX[7] HWP */
#define CPUID_AMD_POWER    0x80000007u /* APM volume 3, appendix E: EDX[9] core performance boost */

static uint64_t field_mask(const struct freq_lock *p)
{
	unsigned bits = p->high - p->low + 1u;

	return bits > 63 ? ~0ull : (1ull << bits) - 1;
}

static bool read_msr(const struct access *a, unsigned core, uint32_t msr, uint64_t *value)
{
	return a->ops->rdmsr(a->self, core, msr, value) == ST_OK;
}

static bool guaranteed_level(const struct access *a, unsigned core, uint64_t *value)
{
	uint64_t levels;

	if (!read_msr(a, core, IA32_HWP_CAPABILITIES, &levels))
		return false;
	*value = levels >> 8 & 0xFF;
	return *value != 0 && *value <= (levels & 0xFF) && *value >= (levels >> 24 & 0xFF);
}

/* The value that the field should have when the register is `now`. */
static bool wanted(const struct access *a, unsigned core, const struct freq_lock *p, uint64_t now, uint64_t *value)
{
	switch (p->to) {
	case FREQ_LOCK_FIELD:
		*value = now >> p->value & field_mask(p);
		return true;
	case FREQ_LOCK_BASE_RATIO:
		if (!read_msr(a, core, MSR_PLATFORM_INFO, value))
			return false;
		*value = *value >> 8 & 0xFF;
		return *value != 0;
	case FREQ_LOCK_GUARANTEED:
		return guaranteed_level(a, core, value);
	}
	*value = p->value;
	return true;
}

static void lock_one(const struct access *a, unsigned core, struct freq_lock_state *r)
{
	const struct freq_lock *p = r->lock;
	uint64_t mask = field_mask(p), now, want, after;

	if (!read_msr(a, core, p->msr, &now) || !wanted(a, core, p, now, &want)) {
		r->refused++;
		return;
	}
	if (r->already + r->set + r->refused == 0) {
		r->found = now >> p->low & mask;
		r->wanted = want;
	}
	if ((now >> p->low & mask) == want) {
		r->already++;
		return;
	}
	if (a->ops->wrmsr(a->self, core, p->msr, (now & ~(mask << p->low)) | want << p->low) == ST_OK &&
	    read_msr(a, core, p->msr, &after) && (after >> p->low & mask) == want)
		r->set++;
	else
		r->refused++;
}

static const char *why_absent(const struct freq_lock *p, bool turbo, bool hwp)
{
	if (str_equal(p->name, "turbo") && !turbo)
		return "the processor has no turbo mode";
	if (str_equal(p->name, "core_ratio") && hwp)
		return "firmware has switched HWP on, which disregards it";
	if (str_equal(p->name, "hwp") && !hwp)
		return "HWP is off";
	return NULL;
}

void freq_lock_clocks(const struct access *a, const struct cpu *cpu, struct freq_locks *out)
{
	const struct processor *p = cpu->processor;
	struct cpuid_regs power = { 0 }, top;
	uint64_t value;
	bool turbo;

	memset(out, 0, sizeof(*out));
	if (p->freq_lock_count == 0 || a->kind == ACCESS_NATIVE)
		return;
	if (a->ops->cpuid(a->self, 0, 0, 0, &top) == ST_OK && top.eax >= CPUID_POWER &&
	    a->ops->cpuid(a->self, 0, CPUID_POWER, 0, &power) != ST_OK)
		power.eax = 0;
	/* Turbo exists if CPUID reports it or if it is already disabled. */
	turbo = (power.eax >> 1 & 1) != 0 || (read_msr(a, 0, IA32_MISC_ENABLE, &value) && (value >> MISC_TURBO_OFF & 1) != 0);
	if (cpu->pmu_kind != PMU_INTEL && a->ops->cpuid(a->self, 0, CPUID_AMD_POWER, 0, &top) == ST_OK)
		turbo = (top.edx >> 9 & 1) != 0;
	out->hwp = (power.eax >> 7 & 1) != 0 && read_msr(a, 0, IA32_PM_ENABLE, &value) && (value & 1) != 0;
	for (unsigned i = 0; i < p->freq_lock_count && out->count < FREQ_LOCKS_MAX; i++) {
		struct freq_lock_state *r = &out->list[out->count++];

		r->lock = &p->freq_locks[i];
		r->absent = why_absent(r->lock, turbo, out->hwp);
		if (r->absent && r->lock->to == FREQ_LOCK_BASE_RATIO && !wanted(a, 0, r->lock, 0, &r->wanted))
			r->wanted = 0;
		for (unsigned core = 0; core < a->cores && !r->absent; core++)
			lock_one(a, core, r);
	}
}
