/* pmu/sim/counters/counter_access.c: RDMSR, WRMSR and RDPMC of the counters' registers.
 *
 * Register layouts: SDM volume 3, chapters "Performance Monitoring" and "MSRs" (2016). counter.c states what is not modelled. */
#include "pmu/sim/counters/counter_state.h"

#define MSR_PMC0            0x0C1
#define MSR_PERFEVTSEL0     0x186
#define MSR_FIXED_CTR0      0x309
#define MSR_PERF_METRICS    0x329
#define MSR_FIXED_CTR_CTRL  0x38D
#define MSR_GLOBAL_STATUS   0x38E
#define MSR_GLOBAL_CTRL     0x38F
#define MSR_GLOBAL_OVF_CTRL 0x390
#define MSR_GLOBAL_SET      0x391 /* architectural version 4 and later; Nehalem has uncore registers there */
#define MSR_GLOBAL_INUSE    0x392
#define MSR_A_PMC0          0x4C1
#define SEL_IN_TX   (1ull << 32)
#define SEL_IN_TXCP (1ull << 33)
#define SEL_ADAPTIVE (1ull << 34)
#define SEL_MASK2    (0xFFull << 40)
#define SEL_ANY  (1u << 21)
#define SEL_EN   (1u << 22)
#define STATUS_OVFBUF  (1ull << 62)
#define STATUS_CHANGED (1ull << 63)

static bool in(uint32_t msr, uint32_t first, uint64_t n)
{
	return msr >= first && msr - first < n;
}

static enum status fault(struct counters *p, struct sim_finding *f, enum finding_kind kind, uint32_t msr,
                         uint64_t value, const char *why)
{
	find(p, f, kind, msr, value, why);
	return ST_FAULT;
}

static uint64_t inuse(const struct counters *p)
{
	uint64_t v = 0;
	for (unsigned n = 0; n < p->m->pmu_general; n++)
		v |= (uint64_t)((p->evtsel[n] & 0xFF) != 0) << n;
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		v |= (uint64_t)((p->fixed_ctrl >> 4 * i & 3) != 0) << (32 + i);
	return v;
}

static enum status read_pmu(struct counters *p, uint32_t msr, uint64_t *value)
{
	const struct machine *m = p->m;
	if (netburst_sim(p))
		return netburst_sim_read(p, msr, value);
	if (m->pmu_amd)
		return counter_amd_read(p, msr, value);
	if (!m->pmu_version)
		return ST_MISSING;
	if (in(msr, MSR_PMC0, m->pmu_general))
		*value = counter_general_value(p, msr - MSR_PMC0);
	else if (m->pmu_full_width && in(msr, MSR_A_PMC0, m->pmu_general))
		*value = counter_general_value(p, msr - MSR_A_PMC0);
	else if (in(msr, MSR_PERFEVTSEL0, m->pmu_general))
		*value = p->evtsel[msr - MSR_PERFEVTSEL0];
	else if (m->pmu_version < 2)
		return ST_MISSING;
	else if (in(msr, MSR_FIXED_CTR0, m->pmu_fixed))
		*value = counter_fixed_value(p, msr - MSR_FIXED_CTR0);
	else if (msr == MSR_PERF_METRICS && m->pmu_metrics)
		*value = counter_metrics_value(p);
	else if (msr == MSR_FIXED_CTR_CTRL)
		*value = p->fixed_ctrl;
	else if (msr == MSR_GLOBAL_STATUS)
		*value = p->global_status;
	else if (msr == MSR_GLOBAL_CTRL)
		*value = p->global_ctrl;
	else if (msr == MSR_GLOBAL_OVF_CTRL)
		*value = 0;
	else if (m->pmu_version >= 4 && msr == MSR_GLOBAL_SET)
		*value = 0;
	else if (m->pmu_version >= 4 && msr == MSR_GLOBAL_INUSE)
		*value = inuse(p);
	else
		return ST_MISSING;
	return ST_OK;
}

static enum status write_selector(struct counters *p, unsigned n, uint64_t value, struct sim_finding *f)
{
	uint64_t reserved = 0xFFFFFFFF00000000ull;
	if (p->m->pmu_tsx)
		reserved &= ~(SEL_IN_TX | (n == 2 ? SEL_IN_TXCP : 0)); /* SDM 18.11.5: IN_TXCP on counter 2 alone */
	if (p->m->pmu_version < 3 || p->m->pmu_version >= 5)
		reserved |= SEL_ANY;
	if (counter_adaptive(p))
		reserved &= ~SEL_ADAPTIVE;
	if (p->m->pmu_second_mask)
		reserved &= ~SEL_MASK2;
	if (value & reserved) {
		const struct sim_finding one = { .kind = FIND_RESERVED, .thread = p->thread, .address = MSR_PERFEVTSEL0 + n, .value = value & reserved,
			.why = "PERFEVTSEL: reserved bits raise #GP", .event = counter_event_name(p, value) };
		sim_finding_add(f, &one);
		return ST_FAULT;
	}
	counter_lint_select(p, n, value);
	p->evtsel[n] = value;
	counters_program(p, f, MSR_PERFEVTSEL0 + n);
	return ST_OK;
}

static enum status write_global(struct counters *p, uint64_t value, struct sim_finding *f)
{
	const struct machine *m = p->m;
	if (value & ~counter_enable_mask(p))
		return fault(p, f, FIND_RESERVED, MSR_GLOBAL_CTRL, value & ~counter_enable_mask(p),
		             "GLOBAL_CTRL: a bit of a counter that does not exist raises #GP");
	if (counter_pebs_hangs(p, value))
		return fault(p, f, FIND_FAULT, MSR_GLOBAL_CTRL, value, "with a PEBS buffer beyond one page this write hangs: here it faults");
	if (!p->started) {
		bool selectors = true;
		const uint64_t four = counter_general_mask(p) & 0xF; /* the sequence involves these alone */
		for (unsigned n = 0; n < 4 && n < m->pmu_general; n++)
			selectors = selectors && counter_is_start_selector(p, n);
		if ((value & four) == four && !(value & ~counter_general_mask(p)) && selectors && !p->pebs_enable)
			p->starting = true;
		else if (!(value & four) && p->starting)
			p->started = true;
		else
			p->starting = false;
		unsigned n = 0;
		while (n < m->pmu_general && !((value >> n & 1) && (p->evtsel[n] & SEL_EN)))
			n++;
		if (n < m->pmu_general && !p->starting) {
			struct sim_finding one = { .kind = FIND_NO_LATCH, .thread = p->thread, .address = MSR_GLOBAL_CTRL, .value = value,
				.why = "general counters may not count before the start-up sequence of erratum AAK100: here they do not",
				.event = counter_event_name(p, p->evtsel[n]), .clash = MSR_PERFEVTSEL0 + n, .cite = "specification update of the X5500 series, AAK100" };
			sim_finding_where(&one, "counter", n);
			sim_finding_add(f, &one);
		}
	}
	p->global_ctrl = value;
	counters_program(p, f, MSR_GLOBAL_CTRL);
	return ST_OK;
}

static enum status write_fixed_ctrl(struct counters *p, uint64_t value, struct sim_finding *f)
{
	uint64_t nibble = p->m->pmu_version >= 3 && p->m->pmu_version < 5 ? 0xF : 0xB, legal = 0;
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		legal |= nibble << 4 * i | (counter_adaptive(p) ? 1ull << (32 + 4 * i) : 0);
	if (value & ~legal)
		return fault(p, f, FIND_RESERVED, MSR_FIXED_CTR_CTRL, value & ~legal, "FIXED_CTR_CTRL: reserved bits raise #GP");
	for (unsigned i = 0; i < p->m->pmu_fixed; i++)
		if (!p->user && (value >> 4 * i & 3) == 2)
			find(p, f, FIND_SIMULATOR, MSR_FIXED_CTR_CTRL, value,
			     "all code of the simulated machine runs at CPL 0: without the OS bit nothing is counted here");
	p->fixed_ctrl = value;
	counters_program(p, f, MSR_FIXED_CTR_CTRL);
	return ST_OK;
}

/* Bits of the status register that software can clear. */
static uint64_t status_mask(const struct counters *p)
{
	uint64_t v = counter_enable_mask(p) | STATUS_OVFBUF | STATUS_CHANGED;
	if (p->m->pmu_version >= 3)
		v |= 1ull << 61; /* Ovf_Uncore */
	if (p->m->pmu_version >= 4)
		v |= 1ull << 55 | 7ull << 58; /* ToPA, LBR_Frz, CTR_Frz, ASCI */
	return v;
}

static enum status write_pmu(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	const struct machine *m = p->m;
	if (netburst_sim(p))
		return netburst_sim_write(p, msr, value, f);
	if (!m->pmu_version)
		return ST_MISSING;
	counters_sync(p);
	if (m->pmu_amd)
		return counter_amd_write(p, msr, value, f);
	if (in(msr, MSR_PMC0, m->pmu_general)) {
		/* The legacy address takes 32 bits and sign-extends bit 31. */
		uint64_t extended = (uint64_t)(int64_t)(int32_t)(uint32_t)value & mask_of(m->pmu_width);
		if (value >> 32 && extended != (value & mask_of(m->pmu_width)))
			find(p, f, FIND_IGNORED, msr, value, "bits 63:32 are ignored: bit 31 is extended");
		p->general[msr - MSR_PMC0].base = extended;
		p->general[msr - MSR_PMC0].tapped = false;
		p->general[msr - MSR_PMC0].armed = false;
		counters_program(p, f, msr);
		return ST_OK;
	}
	if (m->pmu_full_width && in(msr, MSR_A_PMC0, m->pmu_general)) {
		if (value & ~mask_of(m->pmu_width))
			return fault(p, f, FIND_RESERVED, msr, value & ~mask_of(m->pmu_width), "bits beyond the counter's width raise #GP");
		p->general[msr - MSR_A_PMC0].base = value;
		p->general[msr - MSR_A_PMC0].tapped = false;
		p->general[msr - MSR_A_PMC0].armed = false;
		counters_program(p, f, msr);
		return ST_OK;
	}
	if (in(msr, MSR_PERFEVTSEL0, m->pmu_general))
		return write_selector(p, msr - MSR_PERFEVTSEL0, value, f);
	if (m->pmu_version < 2)
		return ST_MISSING;
	if (in(msr, MSR_FIXED_CTR0, m->pmu_fixed)) {
		if (value & ~mask_of(m->pmu_fixed_width))
			return fault(p, f, FIND_RESERVED, msr, value & ~mask_of(m->pmu_fixed_width), "bits beyond the counter's width raise #GP");
		p->fixed[msr - MSR_FIXED_CTR0].base = value;
		p->fixed[msr - MSR_FIXED_CTR0].tapped = false;
		counters_program(p, f, msr);
		return ST_OK;
	}
	switch (msr) {
	case MSR_PERF_METRICS:
		return counter_metrics_write(p, msr, value, f);
	case MSR_FIXED_CTR_CTRL:
		return write_fixed_ctrl(p, value, f);
	case MSR_GLOBAL_CTRL:
		return write_global(p, value, f);
	case MSR_GLOBAL_STATUS:
		return fault(p, f, FIND_FAULT, msr, value, "GLOBAL_STATUS is read-only");
	case MSR_GLOBAL_OVF_CTRL:
		if (value & ~status_mask(p))
			return fault(p, f, FIND_RESERVED, msr, value & ~status_mask(p), "OVF_CTRL: reserved bits raise #GP");
		p->global_status &= ~value;
		counters_program(p, f, msr); /* which may end a freeze */
		return ST_OK;
	case MSR_GLOBAL_SET:
		if (m->pmu_version < 4)
			return ST_MISSING;
		if (value & ~(status_mask(p) & ~STATUS_CHANGED))
			return fault(p, f, FIND_RESERVED, msr, value & ~status_mask(p), "STATUS_SET: reserved bits raise #GP");
		p->global_status |= value;
		counters_program(p, f, msr);
		return ST_OK;
	case MSR_GLOBAL_INUSE:
		return m->pmu_version < 4 ? ST_MISSING : fault(p, f, FIND_FAULT, msr, value, "GLOBAL_INUSE is read-only");
	}
	return ST_MISSING;
}

/* A finding made while code ran is reported with the next access. */
static void tell_late(struct counters *p, struct sim_finding *f)
{
	if (f && p->late.why) {
		sim_finding_add(f, &p->late);
		p->late.why = NULL;
	}
}

enum status counters_rdmsr(struct counters *p, uint32_t msr, uint64_t *value, struct sim_finding *finding)
{
	sim_finding_none(finding);
	if (p->m->fault_msr_missing && msr == p->m->fault_msr_missing)
		return fault(p, finding, FIND_FAULT, msr, 0, "missing on this machine (a fault it was given)");
	counters_sync(p);
	enum status st = read_pmu(p, msr, value);
	if (st == ST_OK && netburst_sim(p))
		netburst_sim_lint_read(p, msr, finding);
	if (st == ST_MISSING)
		st = counter_pebs_read(p, msr, value);
	if (st == ST_MISSING)
		st = counter_hwp_read(p, msr, value, finding);
	if (st == ST_MISSING)
		st = counter_msr_read(p, msr, value, finding);
	tell_late(p, finding);
	return st;
}

enum status counters_wrmsr(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *finding)
{
	sim_finding_none(finding);
	if (p->m->fault_msr_missing && msr == p->m->fault_msr_missing)
		return fault(p, finding, FIND_FAULT, msr, value, "missing on this machine (a fault it was given)");
	enum status st = write_pmu(p, msr, value, finding);
	if (st == ST_MISSING)
		st = counter_pebs_write(p, msr, value, finding);
	if (st == ST_MISSING)
		st = counter_hwp_write(p, msr, value, finding);
	if (st == ST_MISSING)
		st = counter_msr_write(p, msr, value, finding);
	if (st == ST_OK && netburst_sim(p))
		netburst_sim_lint(p, finding, msr, value);
	else if (st == ST_OK)
		counter_lint(p, finding, msr, value);
	tell_late(p, finding);
	return st;
}

enum status counters_rdpmc(struct counters *p, uint32_t index, uint64_t *value)
{
	if (netburst_sim(p))
		return netburst_sim_rdpmc(p, index, value);
	if (!p->m->pmu_version)
		return ST_FAULT;
	counters_sync(p);
	if (index < p->m->pmu_general)
		*value = counter_general_value(p, index);
	else if (p->m->pmu_version >= 2 && in(index, 0x40000000, p->m->pmu_fixed))
		*value = counter_fixed_value(p, index - 0x40000000);
	else if (index == 0x20000000 && p->m->pmu_metrics)
		*value = counter_metrics_value(p);
	else
		return ST_FAULT;
	return ST_OK;
}
