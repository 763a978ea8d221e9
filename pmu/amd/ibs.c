/* pmu/amd/ibs.c: see ibs.h. */
#include "pmu/amd/ibs.h"
#include "pmu/text.h"

#define MSR_OP_CTL  0xC0011033u
#define MSR_OP_RIP  0xC0011034u /* and after it the data registers, in the order of struct ibs_registers */
#define REGISTERS   6u
#define CTL_EN      (1ull << 17)
#define CTL_OPS     (1ull << 19)
#define CTL_L3_MISS (1ull << 16)
#define CTL_LATENCY (1ull << 63)  /* and, among loads that miss the L3, only those that took (field + 1) * 128 cycles; L3_MISS must be set too */
#define THRESHOLD   59
/* Ops, in steps of 16. At least 0x90 (min_period of Linux events/amd/ibs.c, later than 6.12; facts only). The processor starts from a random count
 * up to 127, and the WRMSR that enables sampling and the call of the kernel have many ops. */
#define MAXIMUM     0x140u
#define QUIET_PER_SECOND 1000000u /* the tagged op has retired when the job serialises; its registers are written within 1 us */

#define ERRATUM_SOURCE "ibs-data-source"

bool ibs_has_erratum(const struct cpu *cpu, const char *quirk)
{
	for (unsigned i = 0; i < cpu->processor->quirk_count; i++)
		if (str_equal(cpu->processor->quirks[i].name, quirk))
			return true;
	return false;
}

enum status ibs_open(struct ibs *s, const struct access *a, const struct cpu *cpu, unsigned core, const char **why)
{
	*s = (struct ibs){ .a = a, .cpu = cpu, .core = core, .ops = MAXIMUM };
	*why = NULL;
	if (!(cpu->ibs & IBS_OP))
		*why = "no instruction-based sampling (IBS)";
	else if (!(cpu->ibs & IBS_COUNT_OPS))
		*why = "IBS that counts no ops";
	if (*why)
		return ST_UNSUPPORTED;
	s->broken_source = ibs_has_erratum(cpu, ERRATUM_SOURCE);
	return ST_OK;
}

enum status ibs_filter(struct ibs *s, unsigned misses, const char **why)
{
	*why = NULL;
	if (misses > 1 && (misses % IBS_THRESHOLD_STEP || misses > IBS_THRESHOLD_MOST))
		return ST_RANGE;
	if (misses && !(s->cpu->ibs & IBS_SOURCES_5))
		*why = "IBS without a filter for misses of the L3";
	else if (misses > 1 && !(s->cpu->ibs & IBS_LATENCY))
		*why = "IBS without a threshold of latency";
	if (*why)
		return ST_UNSUPPORTED;
	s->filter = (misses ? CTL_L3_MISS : 0) | (misses > 1 ? CTL_LATENCY | (uint64_t)(misses / IBS_THRESHOLD_STEP - 1) << THRESHOLD : 0);
	return ST_OK;
}

static enum status read_registers(const struct ibs *s, struct ibs_registers *out)
{
	uint64_t value[REGISTERS];
	for (unsigned i = 0; i < REGISTERS; i++) {
		const enum status st = s->a->ops->rdmsr(s->a->self, s->core, MSR_OP_RIP + i, &value[i]);
		if (st != ST_OK)
			return st;
	}
	*out = (struct ibs_registers){ value[0], value[1], value[2], value[3], value[4], value[5] };
	return ST_OK;
}

enum status ibs_start(struct ibs *s)
{
	const uint64_t on = CTL_EN | CTL_OPS | s->filter | MAXIMUM >> 4;
	const enum status st = s->a->ops->wrmsr(s->a->self, s->core, MSR_OP_CTL, 0);
	s->gate = (struct sampling_gate){ .settle_tsc = s->a->tsc_hz / QUIET_PER_SECOND };
	sampling_gate_add(&s->gate, MSR_OP_CTL, on, 0);
	return st == ST_OK ? read_registers(s, &s->before) : st;
}

enum status ibs_stop(struct ibs *s, bool *taken, struct ibs_op *out)
{
	const enum status off = s->a->ops->wrmsr(s->a->self, s->core, MSR_OP_CTL, 0);
	struct ibs_registers r;
	enum status st = read_registers(s, &r);
	*taken = false;
	if (off != ST_OK || st != ST_OK)
		return off != ST_OK ? off : st;
	/* The write that ended sampling also cleared the bit that reports a sample. A job that left all registers unchanged took none. */
	*taken = r.ip != s->before.ip || r.data != s->before.data || r.data3 != s->before.data3 || r.linear != s->before.linear;
	return *taken ? ibs_decode(&r, s->cpu->ibs, s->broken_source, out) : ST_OK;
}

/* --- registers --------------------------------------------------------------------------------- */

static uint64_t field(uint64_t value, unsigned high, unsigned low)
{
	return value >> low & ((1ull << (high - low + 1)) - 1);
}

#define RIP_INVALID 38 /* of IBS_OP_DATA */

/* IBS_OP_DATA3 */
enum { LOAD, STORE, L1_TLB_MISS, L2_TLB_MISS, DC_MISS = 7, MISALIGNED, WRITE_COMBINING = 13, UNCACHED, LOCKED, NO_BUFFER, HAS_LINEAR, HAS_PHYSICAL,
	L2_MISS = 20, PREFETCH };

/* The data source as recorded: three bits, or five, the upper ones of which are separate. */
static unsigned recorded(uint64_t data2, uint32_t capabilities)
{
	return (unsigned)(field(data2, 2, 0) | (capabilities & IBS_SOURCES_5 ? field(data2, 7, 6) << 3 : 0));
}

static void find_source(const struct ibs_registers *r, uint32_t capabilities, bool broken_source, struct ibs_op *o)
{
	const unsigned code = recorded(r->data2, capabilities), dram = 3, extension = 8, peer = 12;
	const bool no_buffer = field(r->data3, NO_BUFFER, NO_BUFFER), remote = field(r->data2, 4, 4);

	o->has_source = true;
	if (field(r->data3, UNCACHED, UNCACHED) || field(r->data3, WRITE_COMBINING, WRITE_COMBINING))
		o->source = IBS_UNCACHED;
	else if (!o->missed)
		o->source = IBS_L1;
	else if (no_buffer) /* the line was already in flight for another miss */
		o->source = IBS_IN_FLIGHT;
	else if (!o->missed_l2)
		o->source = IBS_L2;
	else if (broken_source && o->prefetch)
		o->source = IBS_UNKNOWN;
	else if (remote && code == dram)
		o->source = IBS_DRAM_REMOTE;
	else if (remote && code == extension)
		o->source = IBS_EXTENSION_REMOTE;
	else if (code <= extension || code == peer)
		o->source = (uint8_t)code;
	o->has_source = o->source != IBS_UNKNOWN;
}

enum status ibs_decode(const struct ibs_registers *r, uint32_t capabilities, bool broken_source, struct ibs_op *out)
{
	const uint64_t d3 = r->data3;
	const unsigned width = (unsigned)field(d3, 25, 22);
	struct ibs_op *o = out;

	*o = (struct ibs_op){
		.ip = r->ip, .has_ip = !field(r->data, RIP_INVALID, RIP_INVALID),
		.completed_cycles = (uint16_t)field(r->data, 15, 0), .tagged_cycles = (uint16_t)field(r->data, 31, 16),
		.load = field(d3, LOAD, LOAD), .store = field(d3, STORE, STORE), .prefetch = field(d3, PREFETCH, PREFETCH),
	};
	if (!o->load && !o->store)
		return ST_OK; /* the fields of memory are not valid */
	o->has_linear = field(d3, HAS_LINEAR, HAS_LINEAR);
	o->has_physical = field(d3, HAS_PHYSICAL, HAS_PHYSICAL);
	o->linear = o->has_linear ? r->linear : 0;
	o->physical = o->has_physical ? r->physical : 0;
	o->locked = field(d3, LOCKED, LOCKED);
	o->misaligned = field(d3, MISALIGNED, MISALIGNED);
	o->missed_tlb = field(d3, L1_TLB_MISS, L1_TLB_MISS);
	o->missed_second_tlb = o->missed_tlb && field(d3, L2_TLB_MISS, L2_TLB_MISS);
	o->refill_cycles = o->missed_tlb ? (uint16_t)field(d3, 63, 48) : 0;
	o->bytes = width && width <= 7 ? (uint8_t)(1u << (width - 1)) : 0;
	if (!o->load)
		return ST_OK; /* what follows is of loads */
	o->missed = field(d3, DC_MISS, DC_MISS);
	o->missed_l2 = field(d3, L2_MISS, L2_MISS);
	if (o->missed_l2 && !o->missed)
		return ST_BROKEN;
	o->miss_cycles = o->missed ? (uint16_t)field(d3, 47, 32) : 0;
	o->misses_open = (uint8_t)field(d3, 31, 26);
	find_source(r, capabilities, broken_source, o);
	return ST_OK;
}
