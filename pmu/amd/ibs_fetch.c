/* pmu/amd/ibs_fetch.c: see ibs_fetch.h. */
#include "pmu/amd/ibs_fetch.h"
#include "pmu/amd/ibs.h"

#define MSR_CTL      0xC0011030u
#define MSR_LINEAR   0xC0011031u
#define MSR_PHYSICAL 0xC0011032u
#define MSR_EXTENDED 0xC001103Cu

/* IBS_FETCH_CTL: the maximum in bits 15:0, the count in 31:16, the latency in 47:32, and: */
enum { ENABLE = 48, VALID, COMPLETE, MISS, HAS_PHYSICAL, SIZE, L1_TLB_MISS = 55, L2_TLB_MISS, RANDOM, L2_MISS, L3_MISS_ONLY, OP_CACHE_MISS, L3_MISS };

#define BIT(n) (1ull << (n))
#define QUIET_PER_SECOND 1000000u /* the tagged fetch is over when the job serialises; its register is written within 1 us */

#define ERRATUM_MISS "ibs-fetch-miss"
#define ERRATUM_SIZE "ibs-fetch-size"

enum status ibs_fetch_open(struct ibs_fetcher *s, const struct access *a, const struct cpu *cpu, unsigned core, const char **why)
{
	*s = (struct ibs_fetcher){ .a = a, .cpu = cpu, .core = core };
	*why = cpu->ibs & IBS_FETCH ? NULL : "no instruction-based sampling of fetches (IBS)";
	if (*why)
		return ST_UNSUPPORTED;
	s->errata = (struct ibs_fetch_errata){ .no_miss = ibs_has_erratum(cpu, ERRATUM_MISS), .more_sizes = ibs_has_erratum(cpu, ERRATUM_SIZE) };
	return ST_OK;
}

enum status ibs_fetch_filter(struct ibs_fetcher *s, const char **why)
{
	*why = s->cpu->ibs & IBS_SOURCES_5 ? NULL : "IBS without a filter for misses of the L3";
	if (*why)
		return ST_UNSUPPORTED;
	s->filter = BIT(L3_MISS_ONLY);
	return ST_OK;
}

enum status ibs_fetch_start(struct ibs_fetcher *s, unsigned fetches)
{
	const uint64_t on = BIT(ENABLE) | BIT(RANDOM) | s->filter | fetches / IBS_FETCH_STEP;

	if (!fetches || fetches % IBS_FETCH_STEP || fetches > IBS_FETCH_MOST)
		return ST_RANGE;
	s->gate = (struct sampling_gate){ .settle_tsc = s->a->tsc_hz / QUIET_PER_SECOND };
	sampling_gate_add(&s->gate, MSR_CTL, on, on); /* sampling is still enabled: there is no sample */
	/* Families 16h to 18h reset the count at a step of the enable bit from 0 to 1 alone (Linux 6.12 events/amd/ibs.c, facts only). */
	return s->a->ops->wrmsr(s->a->self, s->core, MSR_CTL, 0);
}

static enum status read_registers(const struct ibs_fetcher *s, struct ibs_fetch_registers *out)
{
	static const uint32_t msr[] = { MSR_CTL, MSR_LINEAR, MSR_PHYSICAL, MSR_EXTENDED };
	uint64_t value[COUNT_OF(msr)] = { 0 };

	for (unsigned i = 0; i < COUNT_OF(msr); i++) {
		const bool there = msr[i] != MSR_EXTENDED || s->cpu->ibs & IBS_REFILL;
		const enum status st = there ? s->a->ops->rdmsr(s->a->self, s->core, msr[i], &value[i]) : ST_OK;

		if (st != ST_OK)
			return st;
	}
	*out = (struct ibs_fetch_registers){ value[0], value[1], value[2], value[3] };
	return ST_OK;
}

enum status ibs_fetch_stop(struct ibs_fetcher *s, bool *taken, struct ibs_fetch *out)
{
	struct ibs_fetch_registers r;
	const enum status st = read_registers(s, &r), off = s->a->ops->wrmsr(s->a->self, s->core, MSR_CTL, 0);

	*taken = false;
	if (st != ST_OK || off != ST_OK)
		return st != ST_OK ? st : off;
	*taken = r.control & BIT(VALID) && r.linear; /* address 0: erratum 1197 */
	if (*taken)
		ibs_fetch_decode(&r, s->cpu->ibs, s->errata, out);
	return ST_OK;
}

static bool bit(uint64_t value, unsigned n) { return value >> n & 1; }

static uint32_t page_bytes(unsigned code, bool more)
{
	static const uint32_t sizes[] = { 1u << 12, 1u << 21, 1u << 30, 0 }, with_16k[] = { 1u << 12, 1u << 14, 1u << 21, 1u << 30 };
	return more ? with_16k[code] : sizes[code];
}

void ibs_fetch_decode(const struct ibs_fetch_registers *r, uint32_t capabilities, struct ibs_fetch_errata errata, struct ibs_fetch *out)
{
	const uint64_t c = r->control;
	const bool wide = capabilities & IBS_SOURCES_5, complete = bit(c, COMPLETE);
	struct ibs_fetch *f = out;

	*f = (struct ibs_fetch){
		.linear = r->linear, .latency_cycles = (uint16_t)(c >> 32), .complete = complete, .has_physical = bit(c, HAS_PHYSICAL),
		.has_missed = complete && !errata.no_miss, .has_missed_l3 = complete && wide,
	};
	f->physical = f->has_physical ? r->physical : 0;
	f->page_bytes = f->has_physical ? page_bytes(c >> SIZE & 3, errata.more_sizes) : 0;
	f->missed_tlb = bit(c, L1_TLB_MISS);
	f->missed_second_tlb = f->missed_tlb && bit(c, L2_TLB_MISS);
	f->refill_cycles = f->missed_tlb && capabilities & IBS_REFILL ? (uint16_t)r->extended : 0;
	if (!complete)
		return; /* what caches answered is not known */
	f->missed_l2 = bit(c, L2_MISS) && (errata.no_miss || bit(c, MISS));
	f->missed = f->has_missed ? bit(c, MISS) : f->missed_l2;
	f->missed_op_cache = wide && bit(c, OP_CACHE_MISS);
	f->missed_l3 = wide && f->missed_l2 && bit(c, L3_MISS);
}
