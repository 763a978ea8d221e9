/* pmu/sim/counters/counter_hwp.c: hardware-controlled performance states of one hardware thread.
 *
 * Addresses, bits and faults: SDM volume 3, 14.4.1 to 14.4.5.
 *
 * Not modelled: notifications; the sharing of IA32_HWP_REQUEST_PKG in a package (each thread has its own). Levels select no
 * frequency; with fault.ratio_hwp the clock is steady if they leave the processor no choice. */
#include "pmu/sim/counters/counter_state.h"

#define HWP_CAPABILITIES 0x771
#define HWP_REQUEST_PKG  0x772
#define HWP_INTERRUPT    0x773
#define HWP_REQUEST      0x774
#define HWP_STATUS       0x777

#define FROM_PACKAGE   (1ull << 42)
#define LEVELS         0xFFFFFFull /* least, greatest, desired */
#define LEAST(r)       ((r) & 0xFF)
#define GREATEST(r)    ((r) >> 8 & 0xFF)
#define DESIRED(r)     ((r) >> 16 & 0xFF)
#define DEFAULT_HINT   (0x80ull << 24) /* energy or performance: the middle */

static uint64_t guaranteed(const struct machine *m)
{
	return m->control_hwp_guaranteed ? m->control_hwp_guaranteed : m->clock_core_ratio;
}

static uint64_t highest(const struct machine *m)
{
	const uint64_t turbo = m->control_turbo_ratio ? m->control_turbo_ratio : m->clock_core_ratio;
	const uint64_t level = guaranteed(m) * turbo / m->clock_core_ratio;
	return level > 0xFF ? 0xFF : level;
}

void counter_hwp_reset(struct counters *p)
{
	const struct machine *m = p->m;
	p->hwp_enable = m->control_hwp == 2;
	p->hwp_package = p->hwp_request = m->control_least_ratio | highest(m) << 8 | DEFAULT_HINT;
	p->hwp_interrupt = 0;
}

bool counter_hwp_holds(const struct counters *p)
{
	const uint64_t r = p->hwp_request & FROM_PACKAGE ? p->hwp_package : p->hwp_request;
	return p->hwp_enable && DESIRED(r) && LEAST(r) == DESIRED(r) && GREATEST(r) == DESIRED(r);
}

/* Whether the register can be accessed: all but two need HWP to be on. */
static enum status reach(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	if (p->hwp_enable || msr == COUNTER_HWP_ENABLE || msr == HWP_INTERRUPT)
		return ST_OK;
	find(p, f, FIND_FAULT, msr, value, "HWP is off: its registers raise #GP");
	return ST_FAULT;
}

enum status counter_hwp_read(struct counters *p, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	const struct machine *m = p->m;
	switch (m->control_hwp ? msr : 0) {
	case COUNTER_HWP_ENABLE: *value = p->hwp_enable; break;
	case HWP_CAPABILITIES: *value = highest(m) | guaranteed(m) << 8 | m->control_least_ratio << 16 | m->control_least_ratio << 24; break;
	case HWP_REQUEST_PKG: *value = p->hwp_package; break;
	case HWP_INTERRUPT: *value = p->hwp_interrupt; break;
	case HWP_REQUEST: *value = p->hwp_request; break;
	case HWP_STATUS: *value = 0; break;
	default: return ST_MISSING;
	}
	return reach(p, msr, 0, f);
}

static enum status write_request(struct counters *p, uint64_t *at, uint64_t value, struct sim_finding *f)
{
	if (at == &p->hwp_request && p->m->fault_hwp_locked && ((value ^ *at) & LEVELS)) {
		find(p, f, FIND_IGNORED, HWP_REQUEST, (value ^ *at) & LEVELS, "locked bits keep their value");
		value = (value & ~LEVELS) | (*at & LEVELS);
	}
	*at = value;
	if (counter_hwp_holds(p) && DESIRED(value) != guaranteed(p->m))
		find(p, f, FIND_SIMULATOR, at == &p->hwp_request ? HWP_REQUEST : HWP_REQUEST_PKG, value, "the core stays at the machine's ratio");
	counters_clock_set(p);
	return ST_OK;
}

enum status counter_hwp_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	uint64_t legal = 0;
	switch (p->m->control_hwp ? msr : 0) {
	case COUNTER_HWP_ENABLE: legal = 1; break;
	case HWP_CAPABILITIES:
		find(p, f, FIND_FAULT, msr, value, "read-only");
		return ST_FAULT;
	case HWP_REQUEST_PKG: legal = FROM_PACKAGE - 1; break;
	case HWP_INTERRUPT: legal = 3; break;
	case HWP_REQUEST: legal = FROM_PACKAGE | (FROM_PACKAGE - 1); break;
	case HWP_STATUS: legal = 5; break;
	default: return ST_MISSING;
	}
	const enum status st = reach(p, msr, value, f);
	if (st != ST_OK)
		return st;
	if (value & ~legal) {
		find(p, f, FIND_RESERVED, msr, value & ~legal, "reserved bits raise #GP");
		return ST_FAULT;
	}
	if (msr == HWP_REQUEST || msr == HWP_REQUEST_PKG)
		return write_request(p, msr == HWP_REQUEST ? &p->hwp_request : &p->hwp_package, value, f);
	if (msr == HWP_INTERRUPT)
		p->hwp_interrupt = value;
	if (msr != COUNTER_HWP_ENABLE)
		return ST_OK;
	if (p->hwp_enable && !value)
		find(p, f, FIND_IGNORED, msr, value, "HWP stays on until the next reset");
	p->hwp_enable |= value != 0;
	counters_clock_set(p);
	return ST_OK;
}
