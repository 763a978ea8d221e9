/* pmu/netburst/netburst_sample.c: see netburst_sample.h. */
#include "pmu/netburst/netburst_sample.h"

#define PEBS_ENABLE 0x3F1u
#define MATRIX_VERT 0x3F2u
#define DS_AREA     0x600u
#define PEBS_MY_THREAD (1u << 25) /* IA32_PEBS_ENABLE: records of the thread that wrote it */
#define PERIOD_MOST 0x7FFFFFFFull
#define LEAF_1_ECX_DTES64 (1u << 2)

/* The DS area in its 64-bit form (SDM figure 18-8): the PEBS half. */
#define DS_PEBS_BASE      0x20
#define DS_PEBS_INDEX     0x28
#define DS_PEBS_MAXIMUM   0x30
#define DS_PEBS_THRESHOLD 0x38
#define DS_PEBS_RESET     0x40
#define DS_BUFFER         PAGE_4K /* ours starts after the first page */
#define RECORD_BYTES      144u
#define QUIET_PER_SECOND 1000000u /* a record may still be written for 1 us, as on later processors */
#define CAPACITY          ((unsigned)((DS_BYTES - DS_BUFFER) / RECORD_BYTES))

static enum status wr(const struct netburst_sample *s, uint32_t msr, uint64_t value)
{
	return s->a->ops->wrmsr(s->a->self, s->core, msr, value);
}

static void ds_put(const struct netburst_sample *s, unsigned offset, uint64_t value)
{
	*(volatile uint64_t *)(s->ds + offset) = value;
}

static uint64_t start_of(uint64_t period)
{
	return (0 - period) & ((1ull << NETBURST_COUNTER_BITS) - 1);
}

/* An empty buffer whose threshold is never reached, since no interrupt is wanted. The maximum is the last byte's address plus 1 (SDM). */
static void fill_area(const struct netburst_sample *s, uint64_t period)
{
	uint64_t base = SPACE_DS + s->core * DS_BYTES + DS_BUFFER, end = base + CAPACITY * RECORD_BYTES;
	memset(s->ds, 0, DS_BUFFER + CAPACITY * RECORD_BYTES);
	ds_put(s, DS_PEBS_BASE, base);
	ds_put(s, DS_PEBS_INDEX, base);
	ds_put(s, DS_PEBS_MAXIMUM, end + 1);
	ds_put(s, DS_PEBS_THRESHOLD, end + RECORD_BYTES);
	ds_put(s, DS_PEBS_RESET, start_of(period));
}

/* Why sampling is impossible for any event. */
static enum status possible(struct netburst_sample *s, const char **why)
{
	struct cpuid_regs one;
	if (!s->precise) {
		*why = s->a->interrupts ? NULL : "this backend takes no counter interrupts";
		return *why ? ST_UNSUPPORTED : ST_OK;
	}
	enum status st = s->a->ops->cpuid(s->a->self, s->core, 1, 0, &one);
	if (st != ST_OK)
		return st;
	if (!s->cpu->pebs)
		*why = "no precise event based sampling (PEBS)";
	else if (!(one.ecx & LEAF_1_ECX_DTES64))
		*why = "a debug store of 32 bits: its addresses end below this program's";
	else if (!s->a->ops->ds || !(s->ds = s->a->ops->ds(s->a->self, s->core)))
		*why = "no debug-store area on this backend";
	return *why ? ST_UNSUPPORTED : ST_OK;
}

enum status netburst_sample_start(struct netburst_sample *s, const struct event *event, uint64_t period, const char **why)
{
	struct netburst_want wants[2];
	struct netburst_assignment assigned[2];
	char reason[256];
	struct text collision;
	*why = NULL;
	s->records = 0;
	s->full = false;
	if (!event->netburst || !s->cpu->processor->detector_count) {
		*why = "no event of NetBurst's detectors";
		return ST_UNSUPPORTED;
	}
	if (!period || period > PERIOD_MOST)
		return ST_RANGE;
	enum status st = possible(s, why);
	if (st != ST_OK)
		return st;
	unsigned thread;
	st = netburst_thread(s->a, s->cpu, s->core, &thread);
	if (st != ST_OK)
		return st;
	unsigned n = netburst_wants_of(s->cpu, event, thread, wants);
	struct netburst_want *own = &wants[n - 1];
	own->pebs = s->precise;
	own->pmi0 = !s->precise && !thread;
	own->pmi1 = !s->precise && thread;
	text_init(&collision, reason, sizeof(reason));
	if (netburst_assign(s->cpu->general_mask, wants, n, assigned, &collision) != ST_OK) {
		*why = s->precise ? "the event leaves no record on IQ_COUNTER4, of thread 1 IQ_COUNTER5" : "no counter for the event";
		return ST_UNSUPPORTED;
	}
	const struct netburst_assignment *last = &assigned[n - 1];
	uint64_t enable = (own->metric ? own->metric->pebs_enable | NETBURST_UOP_TAG : 0) | (s->precise ? PEBS_MY_THREAD : 0);
	st = netburst_stop(s->a, s->cpu, s->core);
	for (unsigned i = 0; i < n && st == ST_OK; i++)
		st = wr(s, assigned[i].escr, assigned[i].escr_value);
	if (st == ST_OK && s->precise) {
		fill_area(s, period);
		st = wr(s, DS_AREA, SPACE_DS + s->core * DS_BYTES);
	}
	if (st == ST_OK && own->metric)
		st = wr(s, MATRIX_VERT, own->metric->matrix_vert);
	s->gate = (struct sampling_gate){ .settle_tsc = s->precise ? s->a->tsc_hz / QUIET_PER_SECOND : 0 };
	if (enable)
		sampling_gate_add(&s->gate, PEBS_ENABLE, enable, 0);
	sampling_gate_add(&s->gate, netburst_cccr_msr(last->counter), last->cccr_value, NETBURST_CCCR_OFF);
	if (st == ST_OK)
		st = netburst_write(s->a, s->cpu, s->core, last->counter, start_of(period));
	if (st == ST_OK && !s->precise) {
		/* clears the overflow flag and restarts the counter, which is written twice (erratum N15) */
		uint32_t counter = netburst_counter_msr(last->counter);
		s->taken.writes = 0;
		s->taken.again[s->taken.writes].msr = netburst_cccr_msr(last->counter);
		s->taken.again[s->taken.writes++].value = last->cccr_value;
		for (unsigned i = 0; i < 2; i++) {
			s->taken.again[s->taken.writes].msr = counter;
			s->taken.again[s->taken.writes++].value = start_of(period);
		}
		st = s->a->interrupts(s->a->counts_self, s->core, &s->taken);
	}
	if (st == ST_OK)
		return ST_OK;
	*why = "a register could not be written";
	enum status off = netburst_sample_stop(s);
	s->records = 0;
	return off == ST_FAULT ? off : st;
}

enum status netburst_sample_stop(struct netburst_sample *s)
{
	enum status st = netburst_stop(s->a, s->cpu, s->core), masked = ST_OK;
	if (!s->precise)
		masked = s->a->interrupts(s->a->counts_self, s->core, NULL);
	if (st == ST_OK)
		st = masked;
	if (st != ST_OK)
		return st;
	if (!s->precise) {
		s->records = s->taken.count;
		s->full = s->taken.dropped != 0;
		return ST_OK;
	}
	uint64_t bytes = *(volatile uint64_t *)(s->ds + DS_PEBS_INDEX) - (SPACE_DS + s->core * DS_BYTES + DS_BUFFER);
	if (bytes % RECORD_BYTES || bytes / RECORD_BYTES > CAPACITY)
		return ST_BROKEN;
	s->records = (unsigned)(bytes / RECORD_BYTES);
	s->full = s->records == CAPACITY;
	return ST_OK;
}

void netburst_record_read(const uint8_t *at, enum netburst_record_word word, struct netburst_record *out)
{
	/* AX BX CX DX SI DI BP SP, then R8 to R15 */
	static const uint8_t order[16] = { 0, 3, 1, 2, 6, 7, 5, 4, 8, 9, 10, 11, 12, 13, 14, 15 };
	*out = (struct netburst_record){ 0 };
	memcpy(&out->flags, at, word);
	memcpy(&out->ip, at + word, word);
	for (unsigned i = 0; i < (word == NETBURST_RECORD_WIDE ? 16u : 8u); i++)
		memcpy(&out->gpr[order[i]], at + (2 + i) * word, word);
}

enum status netburst_sample_read(const struct netburst_sample *s, unsigned i, struct netburst_record *out)
{
	if (i >= s->records)
		return ST_RANGE;
	if (s->precise) {
		netburst_record_read(s->ds + DS_BUFFER + i * RECORD_BYTES, NETBURST_RECORD_WIDE, out);
		return ST_OK;
	}
	*out = (struct netburst_record){ .ip = s->taken.records[i].ip };
	memcpy(out->gpr, s->taken.records[i].gpr, sizeof(out->gpr));
	return ST_OK;
}
