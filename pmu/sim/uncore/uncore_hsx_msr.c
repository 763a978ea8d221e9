/* pmu/sim/uncore/uncore_hsx_msr.c: model-specific registers of the simulated Haswell-EP uncore: the socket's global
 * control, status and configuration, and the registers of UBox, CBo, SBo and PCU (manual 331051-002, tables 2-1 to 2-6).
 *
 * Not modelled: interrupts, and waking cores for them: the cores named in the control are stored and receive nothing. */
#include "pmu/sim/uncore/uncore_hsx_state.h"

#define GLOBAL_CTL    0x700
#define GLOBAL_STATUS 0x701
#define GLOBAL_CONFIG 0x702
#define GLOBAL_FREEZE   (1u << 31)
#define GLOBAL_WAKE     (1u << 30)
#define GLOBAL_UNFREEZE (1u << 29)
#define GLOBAL_CORES    0x3FFFFu
#define GLOBAL_STATUS_BITS 0xC3FE00007ull

/* The box that an MSR belongs to, and which of its registers that is. */
static struct box *msr_box(struct hsx_socket *k, uint32_t msr, enum reg *reg, unsigned *n)
{
	*reg = REG_NONE;
	*n = 0;
	if (msr - 0xE00 < 24 * 0x10) { /* CBo: control, 4 selects, 2 filters, status, 4 counters */
		const unsigned at = msr & 0xF;
		*reg = at == 0 ? REG_CONTROL : at <= 4 ? REG_SELECT : at <= 6 ? REG_FILTER : at == 7 ? REG_STATUS : at <= 0xB ? REG_COUNTER : REG_NONE;
		*n = at <= 4 ? at - 1 : at <= 6 ? at - 5 : at - 8;
		return hsx_find_box(k, HSX_CBO, (msr - 0xE00) >> 4);
	}
	if (msr - 0x720 < 4 * 10) { /* SBo: control, 4 selects, status, 4 counters */
		const unsigned at = (msr - 0x720) % 10;
		*reg = at == 0 ? REG_CONTROL : at <= 4 ? REG_SELECT : at == 5 ? REG_STATUS : REG_COUNTER;
		*n = at <= 4 ? at - 1 : at - 6;
		return hsx_find_box(k, HSX_SBO, (msr - 0x720) / 10);
	}
	if (msr - 0x710 < 11) { /* PCU: control, 4 selects, filter, status, 4 counters */
		const unsigned at = msr - 0x710;
		*reg = at == 0 ? REG_CONTROL : at <= 4 ? REG_SELECT : at == 5 ? REG_FILTER : at == 6 ? REG_STATUS : REG_COUNTER;
		*n = at <= 4 ? at - 1 : at == 5 ? 0 : at - 7;
		return hsx_find_box(k, HSX_PCU, 0);
	}
	if (msr - 0x703 < 8) { /* UBox: fixed select and counter, 2 selects, filter, status, 2 counters */
		static const struct { uint8_t reg, n; } at[8] = { { REG_SELECT, HSX_FIXED }, { REG_COUNTER, HSX_FIXED }, { REG_SELECT, 0 },
			{ REG_SELECT, 1 }, { REG_FILTER, 0 }, { REG_STATUS, 0 }, { REG_COUNTER, 0 }, { REG_COUNTER, 1 } };
		*reg = (enum reg)at[msr - 0x703].reg;
		*n = at[msr - 0x703].n;
		return hsx_find_box(k, HSX_UBOX, 0);
	}
	return NULL;
}

static unsigned socket_of(const struct hsx *u, unsigned thread)
{
	return thread / (unsigned)(u->m->topology_threads * u->m->topology_cores);
}

enum status hsx_rdmsr(void *box, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	struct hsx *u = box;
	const unsigned s = socket_of(u, thread);
	struct hsx_socket *k = &u->socket[s];
	enum reg reg;
	unsigned n;
	if (msr - GLOBAL_CTL < 3) {
		sim_finding_none(f);
		hsx_sync(u, s);
		*value = msr == GLOBAL_CTL ? k->global : msr == GLOBAL_STATUS ? k->status : k->config;
	} else {
		struct box *b = msr_box(k, msr, &reg, &n);
		if (!b || reg == REG_NONE)
			return ST_MISSING;
		sim_finding_none(f);
		const enum status st = hsx_read_box(u, s, b, reg, n, true, value, &(const struct access_to){ f, msr });
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

enum status hsx_wrmsr(void *box, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	struct hsx *u = box;
	const unsigned s = socket_of(u, thread);
	struct hsx_socket *k = &u->socket[s];
	const struct access_to a = { f, msr };
	enum reg reg;
	unsigned n;
	struct box *b = msr - GLOBAL_CTL < 3 ? NULL : msr_box(k, msr, &reg, &n);
	if (msr - GLOBAL_CTL >= 3 && (!b || reg == REG_NONE))
		return ST_MISSING;
	sim_finding_none(f);
	if (b)
		return hsx_write_box(u, s, b, reg, n, true, value, &a);
	if (msr == GLOBAL_STATUS) {
		if (value & ~GLOBAL_STATUS_BITS)
			hsx_finding(&a, FIND_RESERVED_IGNORED, value & ~GLOBAL_STATUS_BITS, "reserved bits of the global status");
		hsx_sync(u, s);
		k->status &= ~value;
		return ST_OK;
	}
	if (msr == GLOBAL_CONFIG) {
		k->config = value & 0x1F;
		return ST_OK;
	}
	if (value & ~(uint64_t)(GLOBAL_FREEZE | GLOBAL_WAKE | GLOBAL_UNFREEZE | GLOBAL_CORES)) {
		hsx_finding(&a, FIND_RESERVED, value, "reserved bits of the global control");
		return ST_FAULT;
	}
	if (value & (GLOBAL_WAKE | GLOBAL_CORES))
		hsx_finding(&a, FIND_SIMULATOR, value, "interrupts of the uncore");
	hsx_sync(u, s);
	k->global = value & (GLOBAL_WAKE | GLOBAL_CORES);
	if (value & GLOBAL_FREEZE)
		k->frozen = true;
	else if (value & GLOBAL_UNFREEZE)
		k->frozen = false;
	hsx_program(u, s, &a);
	return ST_OK;
}
