/* pmu/counters/pebs.c: see pebs.h. Register addresses and bits: SDM volume 3B chapter 18 and volume 4; adaptive records and the auxiliary
 * event: Linux 6.12 events/intel/ds.c and core.c (facts only). */
#include "pmu/counters/pebs.h"

#define IA32_PMC0                 0xC1
#define IA32_PERFEVTSEL0          0x186
#define IA32_PERF_GLOBAL_STATUS   0x38E
#define IA32_PERF_GLOBAL_CTRL     0x38F
#define IA32_PERF_GLOBAL_OVF_CTRL 0x390
#define IA32_PEBS_ENABLE          0x3F1
#define MSR_PEBS_DATA_CFG         0x3F2
#define IA32_DS_AREA              0x600
#define STATUS_OVF_BUFFER         (1ull << 62)
#define EVTSEL_ADAPTIVE           (1ull << 34) /* the counter's records have all groups that MSR_PEBS_DATA_CFG asks for */
#define CAPABILITY_BASELINE       (1ull << 14) /* IA32_PERF_CAPABILITIES: records are adaptive */
#define CAPABILITY_TIMED          (1ull << 17) /* ... and hold retire latencies */
#define LL_EN                     32 /* IA32_PEBS_ENABLE: load latency on counter 0; SDM figure 18-27 */

/* The debug-store management area in its 64-bit form, SDM figure 17-8. */
#define DS_PEBS_BASE      0x20
#define DS_PEBS_INDEX     0x28
#define DS_PEBS_MAXIMUM   0x30
#define DS_PEBS_THRESHOLD 0x38
#define DS_PEBS_RESET     0x40
#define DS_BUFFER         PAGE_4K /* our buffer starts after the first page */

#define EVENT_LATENCY 3           /* struct event.pebs: the load-latency event */
#define QUIET_PER_SECOND 1000000u /* a record may still land for a while: 1 us (SDM: "quiescent period") */

/* Groups of an adaptive record beside the basic one: address, source and latency; flags, instruction pointer and general registers. */
#define GROUP_MEMORY    1u
#define GROUP_REGISTERS 2u

#define OLD_RECORD     .ip = 0x08, .gpr = 0x10, .latency_mask = ~0ull
#define MEMORY_RECORD  OLD_RECORD, .status = 0x90, .address = 0x98, .source = 0xA0, .latency = 0xA8, .counters = 0xF, \
	.buffer_bytes = DS_BYTES - DS_BUFFER
#define ADAPTIVE_RECORD .bytes = 0xD0, .eventing_ip = 0x08, .status = 0x10, .tsc = 0x18, .address = 0x20, .source = 0x28, .latency = 0x30, \
	.flags = 0x40, .ip = 0x48, .gpr = 0x50, .counters = 0xFF, .buffer_bytes = DS_BYTES - DS_BUFFER, .groups = GROUP_MEMORY | GROUP_REGISTERS

/* Formats 0 (Core 2; SDM figure 18-18), 1 (Nehalem; table 18-23), 2 (Haswell; table 18-46), 3 (Skylake; table 18-58), 4 (Ice Lake), 5
 * (Golden Cove, whose latency field has the time of the cache beside that of the instruction) and 6 (Lion Cove). On Core 2 a buffer beyond
 * one page hangs the processor (quirk core2-pebs-page). */
static const struct pebs_layout layouts[] = {
	{ .bytes = 0x90, OLD_RECORD, .counters = 0x1, .buffer_bytes = PAGE_4K },
	{ .bytes = 0xB0, MEMORY_RECORD, .global_status = true },
	{ .bytes = 0xC0, MEMORY_RECORD, .eventing_ip = 0xB0, .global_status = true },
	{ .bytes = 0xC8, MEMORY_RECORD, .eventing_ip = 0xB0, .tsc = 0xC0 },
	{ ADAPTIVE_RECORD, .latency_mask = ~0ull },
	{ ADAPTIVE_RECORD, .latency_mask = 0xFFFF },
	{ ADAPTIVE_RECORD, .latency_mask = 0xFFFF },
};

/* The registers RAX RBX RCX RDX RSI RDI RBP RSP R8 .. R15 of records that are not adaptive, as instructions number them. */
static const uint8_t register_order[16] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };

static enum status wr(const struct pebs *p, uint32_t msr, uint64_t value)
{
	return p->a->ops->wrmsr(p->a->self, p->core, msr, value);
}

static enum status rd(const struct pebs *p, uint32_t msr, uint64_t *value)
{
	return p->a->ops->rdmsr(p->a->self, p->core, msr, value);
}

static uint64_t width_mask(const struct pebs *p)
{
	return p->cpu->general_width >= 64 ? ~0ull : (1ull << p->cpu->general_width) - 1;
}

static uint64_t ds_get(const struct pebs *p, unsigned offset)
{
	return *(const volatile uint64_t *)(p->ds + offset);
}

static void ds_put(struct pebs *p, unsigned offset, uint64_t value)
{
	*(volatile uint64_t *)(p->ds + offset) = value;
}

const struct pebs_layout *pebs_layout(unsigned format)
{
	return format < COUNT_OF(layouts) ? &layouts[format] : NULL;
}

enum status pebs_open(struct pebs *p, const struct access *a, const struct cpu *cpu, unsigned core, const char **why)
{
	/* IA32_PERF_CAPABILITIES[11:8] if present: bit 6 is set wherever PEBS is (SDM 18.6.1.1). */
	unsigned format = cpu->perf_capabilities ? (unsigned)(cpu->perf_capabilities >> 8 & 15) : cpu->processor->pebs_format;
	*why = NULL;
	*p = (struct pebs){ .a = a, .cpu = cpu, .core = core, .va = ds_va(a, core) };
	if (cpu->pmu_version < 2)
		*why = cpu->pmu_absent ? cpu->pmu_absent : "no counters that sample";
	else if (!cpu->pebs)
		*why = "no precise event based sampling (PEBS)";
	else if (!(p->layout = pebs_layout(format)) || (p->layout->groups && !(cpu->perf_capabilities & CAPABILITY_BASELINE)))
		*why = "PEBS records of a format that is not described";
	else if (!a->ops->ds || !(p->ds = a->ops->ds(a->self, core)))
		*why = "no debug-store area on this backend";
	if (*why)
		return ST_UNSUPPORTED;
	p->capacity = p->layout->buffer_bytes / p->layout->bytes;
	p->timed = p->layout->groups && cpu->perf_capabilities & CAPABILITY_TIMED;
	return ST_OK;
}

/* --- start ------------------------------------------------------------------------------------- */

/* The lowest counter of a mask that is not in `taken`. */
static bool take_counter(uint32_t mask, uint32_t *taken, uint8_t *counter)
{
	for (unsigned c = 0; c < 32; c++)
		if (mask & ~*taken & 1u << c) {
			*taken |= 1u << c;
			*counter = (uint8_t)c;
			return true;
		}
	return false;
}

static enum status check_requests(const struct pebs *p, const struct pebs_request *requests, unsigned n, const char **why)
{
	for (unsigned i = 0; i < n; i++) {
		const struct event *e = requests[i].event;
		if (!e->pebs || e->any || (requests[i].period == 0 || requests[i].period > 0x7FFFFFFF))
			*why = !e->pebs || e->any ? "the event is not precise" : "a sampling period beyond what a counter takes";
		else if (e->pebs == EVENT_LATENCY && (n > 1 || !p->layout->latency))
			*why = n > 1 ? "the load-latency event samples alone" : "PEBS records without latency";
		if (!*why)
			*why = counter_select_lacks(p->cpu, e);
		for (unsigned k = 0; k < i; k++)
			if (e->extra_msr && e->extra_msr == requests[k].event->extra_msr && e->extra_value != requests[k].event->extra_value)
				*why = "two values of one extra register";
		if (*why)
			return ST_UNSUPPORTED;
	}
	return ST_OK;
}

/* Events that only a few counters can count choose first. */
static enum status choose_counters(struct pebs *p, struct pebs_request *requests, unsigned n, const char **why)
{
	uint32_t taken = 0, can = p->layout->counters & p->cpu->general_mask;
	if (n == 0 || n > PEBS_COUNTERS_MAX)
		return ST_RANGE;
	for (unsigned i = 0; i < p->plain_count; i++)
		taken |= 1u << p->plain[i].counter;
	enum status s = check_requests(p, requests, n, why);
	if (s != ST_OK)
		return s;
	for (unsigned width = 1; width <= 32; width++)
		for (unsigned i = 0; i < n; i++) {
			uint32_t mask = requests[i].event->counter_mask & can & (requests[i].wanted ? 1u << (requests[i].wanted - 1) : UINT32_MAX);
			if (bit_count(mask) == width && !take_counter(mask, &taken, &requests[i].counter))
				*why = "no counter is left that can sample the event";
			else if (bit_count(mask) == 0)
				*why = "no counter can sample the event";
			if (*why)
				return ST_UNSUPPORTED;
		}
	p->auxiliary = requests[0].event->pebs == EVENT_LATENCY ? p->cpu->processor->latency_auxiliary : NULL;
	if (p->auxiliary && !take_counter(p->auxiliary->counter_mask & p->cpu->general_mask, &taken, &p->auxiliary_counter)) {
		*why = "no counter is left for the auxiliary event of the load-latency event";
		return ST_UNSUPPORTED;
	}
	/* The latency event is bound to its counter by tools, on most not by hardware, which counts it on all (Linux 6.12 ds.c,
	 * INTEL_PLD_CONSTRAINT 0x100b of Nehalem: mask 0xF): there its companion may use any. */
	for (unsigned i = 0; i < n; i++) {
		uint32_t mask = requests[i].event->pebs == EVENT_LATENCY && !p->cpu->processor->latency_bound ? p->layout->counters & p->cpu->general_mask :
			requests[i].event->counter_mask & p->cpu->general_mask;
		requests[i].has_companion = requests[i].companion && take_counter(mask, &taken, &requests[i].companion_counter);
		requests[i].has_beside = requests[i].beside && !requests[i].beside->extra_msr && !counter_select_lacks(p->cpu, requests[i].beside) &&
			take_counter(requests[i].beside->counter_mask & p->cpu->general_mask, &taken, &requests[i].beside_counter);
	}
	return ST_OK;
}

static enum status set_counter(struct pebs *p, const struct event *e, unsigned counter, uint64_t value, uint64_t more)
{
	enum status s = e->extra_msr ? wr(p, e->extra_msr, e->extra_value) : ST_OK;
	if (s == ST_OK)
		s = counter_write(p->a, p->cpu, p->core, counter, value);
	return s == ST_OK ? wr(p, IA32_PERFEVTSEL0 + counter, counter_select(e) | more) : s;
}

/* An empty buffer. Its threshold is never reached unless the caller asked for one, since no interrupt is wanted. */
static void fill_area(struct pebs *p)
{
	uint64_t base = p->va + DS_BUFFER, maximum = base + (uint64_t)p->capacity * p->layout->bytes;
	memset(p->ds, 0, DS_BUFFER + (size_t)p->capacity * p->layout->bytes);
	ds_put(p, DS_PEBS_BASE, base);
	ds_put(p, DS_PEBS_INDEX, base);
	ds_put(p, DS_PEBS_MAXIMUM, maximum);
	ds_put(p, DS_PEBS_THRESHOLD, p->threshold_records ? base + (uint64_t)p->threshold_records * p->layout->bytes : maximum + p->layout->bytes);
	for (unsigned i = 0; i < p->count; i++)
		ds_put(p, DS_PEBS_RESET + 8u * p->requests[i].counter, (0 - p->requests[i].period) & width_mask(p));
}

enum status pebs_latency_enable(const struct access *a, const struct cpu *cpu, unsigned core, uint32_t counters, uint64_t *enable)
{
	struct pebs p;
	const char *why;
	enum status s = pebs_open(&p, a, cpu, core, &why);

	if (s != ST_OK)
		return s;
	if (!p.layout->latency || counters & ~p.layout->counters)
		return ST_UNSUPPORTED;
	fill_area(&p);
	*enable = counters | (p.layout->groups ? 0 : (uint64_t)counters << LL_EN);
	return wr(&p, IA32_DS_AREA, p.va);
}

static enum status start(struct pebs *p)
{
	static const struct plan nothing = { .runs = 1 };
	uint64_t counters = 0, sampling = 0, held = 0, status;
	/* Everything off, quirks, state from earlier use cleared; then only ours off again, since they are not set yet. */
	enum status s = counters_start(p->a, p->cpu, &nothing, 0, p->core);
	if (s == ST_OK)
		s = counters_global(p->a, p->cpu, p->core, 0);
	if (s == ST_OK && p->layout->groups)
		s = wr(p, MSR_PEBS_DATA_CFG, p->layout->groups);
	if (s == ST_OK && p->auxiliary) { /* ahead of the event that needs it */
		s = set_counter(p, p->auxiliary, p->auxiliary_counter, 0, 0);
		counters |= 1ull << p->auxiliary_counter;
	}
	for (unsigned i = 0; i < p->plain_count && s == ST_OK; i++) {
		s = set_counter(p, p->plain[i].event, p->plain[i].counter, (0 - p->plain[i].until) & width_mask(p), 0);
		counters |= 1ull << p->plain[i].counter;
	}
	for (unsigned i = 0; i < p->count && s == ST_OK; i++) {
		struct pebs_request *r = &p->requests[i];
		s = set_counter(p, r->event, r->counter, (0 - r->period) & width_mask(p), p->layout->groups ? EVTSEL_ADAPTIVE : 0);
		counters |= 1ull << r->counter;
		/* adaptive records: bits from 32 on belong to the fixed counters, and the latency event needs none */
		const bool own_enable = r->event->pebs == EVENT_LATENCY && !p->layout->groups;
		sampling |= 1ull << r->counter | (own_enable ? 1ull << (LL_EN + r->counter) : 0);
		if (s == ST_OK && r->has_companion) {
			s = set_counter(p, r->event, r->companion_counter, 0, 0);
			counters |= 1ull << r->companion_counter;
			/* the latency event counts only where it is enabled for records (SDM, load-latency facility); from 0 on it writes none */
			if (r->event->pebs == EVENT_LATENCY)
				sampling |= 1ull << r->companion_counter | (own_enable ? 1ull << (LL_EN + r->companion_counter) : 0);
		}
		if (s == ST_OK && r->has_beside) {
			s = set_counter(p, r->beside, r->beside_counter, 0, 0);
			counters |= 1ull << r->beside_counter;
		}
	}
	if (s == ST_OK)
		s = wr(p, IA32_DS_AREA, p->va);
	if (s == ST_OK)
		s = rd(p, IA32_PERF_GLOBAL_STATUS, &status);
	if (s == ST_OK)
		s = wr(p, IA32_PERF_GLOBAL_OVF_CTRL, status & (counters | STATUS_OVF_BUFFER));
	if (s == ST_OK && p->cpu->unlisted) /* counters that are not ours stay as they are */
		s = rd(p, IA32_PERF_GLOBAL_CTRL, &held);
	held &= p->cpu->unlisted;
	p->gate = (struct sampling_gate){ .settle_tsc = p->a->tsc_hz / QUIET_PER_SECOND };
	sampling_gate_add(&p->gate, IA32_PEBS_ENABLE, sampling, 0);
	sampling_gate_add(&p->gate, IA32_PERF_GLOBAL_CTRL, counters | held, held);
	return s == ST_OK ? wr(p, IA32_PEBS_ENABLE, 0) : s;
}

enum status pebs_start(struct pebs *p, struct pebs_request *requests, unsigned n, const char **why)
{
	*why = NULL;
	p->records = 0;
	p->full = false;
	p->count = 0;
	enum status s = choose_counters(p, requests, n, why);
	if (s != ST_OK)
		return s;
	p->requests = requests;
	p->count = n;
	fill_area(p);
	s = start(p);
	if (s == ST_OK)
		return s;
	*why = "a register could not be written";
	/* Disables what was enabled; the first failure is reported. */
	struct register_failure *last = p->a->failure, first = last ? *last : (struct register_failure){ 0 };
	enum status off = pebs_stop(p);
	p->count = 0;
	if (last && s == ST_FAULT)
		*last = first;
	return off == ST_FAULT ? off : s;
}

/* --- stop and read ----------------------------------------------------------------------------- */

static enum status count_events(struct pebs *p)
{
	enum status s = ST_OK;
	for (unsigned i = 0; i < p->count && s == ST_OK; i++) {
		struct pebs_request *r = &p->requests[i];
		uint64_t value;
		r->events = r->beside_events = 0;
		s = rd(p, IA32_PMC0 + r->counter, &value);
		if (s == ST_OK)
			r->since = (value + r->period) & width_mask(p);
		if (s == ST_OK && r->has_companion)
			s = rd(p, IA32_PMC0 + r->companion_counter, &r->events);
		if (s == ST_OK && r->has_beside)
			s = rd(p, IA32_PMC0 + r->beside_counter, &r->beside_events);
	}
	return s;
}

enum status pebs_stop(struct pebs *p)
{
	uint64_t status = 0, base = p->va + DS_BUFFER;
	/* Each step is tried even if the one before failed: sampling must end. */
	enum status steps[6] = {
		counters_global(p->a, p->cpu, p->core, 0), wr(p, IA32_PEBS_ENABLE, 0), rd(p, IA32_PERF_GLOBAL_STATUS, &status),
		ST_OK, count_events(p), ST_OK,
	};
	uint64_t ours = STATUS_OVF_BUFFER;
	for (unsigned i = 0; i < p->plain_count; i++)
		ours |= 1ull << p->plain[i].counter;
	if (steps[2] == ST_OK && status & ours)
		steps[3] = wr(p, IA32_PERF_GLOBAL_OVF_CTRL, status & ours);
	for (unsigned i = 0; i < p->plain_count && steps[3] == ST_OK; i++)
		steps[3] = wr(p, IA32_PERFEVTSEL0 + p->plain[i].counter, 0);
	if (p->auxiliary && p->count)
		steps[5] = wr(p, IA32_PERFEVTSEL0 + p->auxiliary_counter, 0);
	for (unsigned i = 0; i < p->count; i++) {
		const struct pebs_request *r = &p->requests[i];
		enum status s = wr(p, IA32_PERFEVTSEL0 + r->counter, 0);
		if (s == ST_OK && r->has_companion)
			s = wr(p, IA32_PERFEVTSEL0 + r->companion_counter, 0);
		if (s == ST_OK && r->has_beside)
			s = wr(p, IA32_PERFEVTSEL0 + r->beside_counter, 0);
		if (s != ST_OK)
			steps[5] = s;
	}
	p->records = 0;
	for (unsigned i = 0; i < COUNT_OF(steps); i++)
		if (steps[i] != ST_OK)
			return steps[i];
	uint64_t bytes = ds_get(p, DS_PEBS_INDEX) - base;
	if (bytes > (uint64_t)p->capacity * p->layout->bytes || bytes % p->layout->bytes)
		return ST_BROKEN;
	p->records = (unsigned)(bytes / p->layout->bytes);
	p->full = (status & STATUS_OVF_BUFFER) != 0;
	return ST_OK;
}

static uint64_t field(const uint8_t *record, unsigned offset)
{
	uint64_t v = 0;
	if (offset)
		memcpy(&v, record + offset, sizeof(v));
	return v;
}

enum status pebs_decode(const struct pebs_layout *l, bool timed, const uint8_t *record, struct pebs_record *out)
{
	*out = (struct pebs_record){ .ip = field(record, l->ip), .status = field(record, l->status),
		.address = field(record, l->address), .source = field(record, l->source), .latency = field(record, l->latency) & l->latency_mask,
		.eventing_ip = field(record, l->eventing_ip), .tsc = field(record, l->tsc) };
	memcpy(&out->flags, record + l->flags, sizeof(out->flags));
	for (unsigned k = 0; k < 16; k++)
		out->gpr[l->groups ? k : register_order[k]] = field(record, l->gpr + 8 * k);
	if (!l->groups)
		return ST_OK;
	uint64_t format; /* groups 31:0, retire latency 47:32, bytes 63:48 */
	memcpy(&format, record, sizeof(format));
	out->retire_latency = timed ? (uint16_t)(format >> 32) : 0;
	return (uint32_t)format == l->groups && format >> 48 == l->bytes ? ST_OK : ST_BROKEN;
}

enum status pebs_read(const struct pebs *p, unsigned i, struct pebs_record *out)
{
	if (i >= p->records)
		return ST_RANGE;
	return pebs_decode(p->layout, p->timed, p->ds + DS_BUFFER + (size_t)i * p->layout->bytes, out);
}

/* --- what is missing --------------------------------------------------------------------------- */

/* round(a * 1000 / b) for counts of a burst, which stay far below 2^50; b > 0. */
static int64_t milli(int64_t a, int64_t b)
{
	return (a * 1000 + (a < 0 ? -b / 2 : b / 2)) / b;
}

/* Records due in a burst whose overflows take period + 1 + shadow events each, rounded to nearest. */
static uint64_t due(const struct pebs_burst *b, int64_t shadow_milli)
{
	int64_t each = (int64_t)(b->period + 1) * 1000 + shadow_milli, used = (int64_t)(b->events - b->since) * 1000;
	return (uint64_t)((used + each / 2) / each);
}

/* Events of a burst beyond what its records account for. */
static int64_t excess(const struct pebs_burst *b)
{
	return (int64_t)(b->events - b->since) - (int64_t)(b->records * (b->period + 1));
}

/* Whether the estimate is the only explanation; replaces it by exact figures. */
static void make_exact(const struct pebs_burst *const bursts[2], struct pebs_balance *out)
{
	int64_t beyond = 0, lost = 0, records = 0;
	bool none = true, whole = true, possible = true;

	for (unsigned i = 0; i < 2; i++) {
		const int64_t e = excess(bursts[i]), each = (int64_t)bursts[i]->period + 1;

		possible = possible && e >= 0;
		none = none && e < each;
		whole = whole && e % each == 0;
		lost += e / each;
		beyond += e;
		records += (int64_t)bursts[i]->records;
	}
	out->lost_most = possible ? (uint32_t)lost : 0;
	if (!possible || (!none && !whole))
		return;
	if (!none && (lost > (int64_t)out->lost * 5 / 4 + 2 || lost < (int64_t)out->lost * 3 / 4 - 2))
		return;
	out->exact = true;
	out->lost = none ? 0 : (uint32_t)lost;
	out->shadow_milli = none ? milli(beyond, records) : 0;
}

void pebs_balance(const struct pebs_burst *a, const struct pebs_burst *b, struct pebs_balance *out)
{
	*out = (struct pebs_balance){ .known = false };
	if (!a->records || !b->records || a->period == b->period || a->events < a->since || b->events < b->since ||
	    a->events == a->since || b->events == b->since)
		return;
	int64_t per_a = milli((int64_t)(a->events - a->since), (int64_t)a->records);
	int64_t per_b = milli((int64_t)(b->events - b->since), (int64_t)b->records);
	/* 1 / (1 - f), and the line's value at period -1, in thousandths. */
	int64_t slope = milli(per_b - per_a, ((int64_t)b->period - (int64_t)a->period) * 1000);
	if (slope < 1000)
		slope = 1000; /* noise: a loss cannot be negative */
	int64_t shadow = milli(per_a, slope) - (int64_t)(a->period + 1) * 1000;
	out->shadow_milli = shadow > 0 ? shadow : 0;
	uint64_t all = due(a, out->shadow_milli) + due(b, out->shadow_milli), came = a->records + b->records;
	out->lost = all > came ? (uint32_t)(all - came) : 0;
	out->known = true;
	make_exact((const struct pebs_burst *const[2]){ a, b }, out);
}
