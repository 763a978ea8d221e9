/* bench/workloads/profile_records.c: records of the precise events of a profile: which instructions, which lines and pages, which sources.
 *
 * Levinthal's guide, "Precise Memory Access Events", and the Core 2 paper on MEM_LOAD_RETIRED and INST_RETIRED.ANY_P. A record names the
 * instruction after the one that caused it. A record of the load-latency event holds the linear address. For other events the address is computed
 * from the registers and the code (bench/sampling/pebs_address.h); where the load overwrote its address register, as in a chase, it is that of the
 * node which holds the loaded value. */
#include "bench/sampling/pebs_address.h"
#include "bench/workloads/profile.h"
#include "pmu/counters/pebs.h"
#include "pmu/netburst/netburst_sample.h"

#define BURSTS 4u
#define LINE 64u
#define LATENCY_EVENT 3 /* struct event.pebs */

/* A burst of either kind of sampling. */
struct record_run {
	struct loop *l;
	const struct profile_plan *plan;
	struct profile_records *out;
	struct pebs pebs;
	struct netburst_sample netburst;
	uint8_t *seen;         /* a bit for each line of the working set */
};

static enum status start(struct record_run *t, struct pebs_request *q, const char **why)
{
	struct bench *b = t->l->b;

	if (t->out->event->netburst) {
		t->netburst = (struct netburst_sample){ .a = b->a, .cpu = b->cpu, .core = b->core, .precise = true };
		return netburst_sample_start(&t->netburst, t->out->event, t->plan->period, why);
	}
	*q = (struct pebs_request){ .event = t->out->event, .period = t->plan->period, .companion = true };
	const enum status st = pebs_open(&t->pebs, b->a, b->cpu, b->core, why);

	return st == ST_OK ? pebs_start(&t->pebs, q, 1, why) : st;
}

static enum status stop(struct record_run *t, const struct pebs_request *q, unsigned *records)
{
	const bool netburst = t->out->event->netburst;
	const enum status st = netburst ? netburst_sample_stop(&t->netburst) : pebs_stop(&t->pebs);

	*records = st != ST_OK ? 0 : netburst ? t->netburst.records : t->pebs.records;
	t->out->full |= netburst ? t->netburst.full : t->pebs.full;
	if (st == ST_OK && !netburst && q->has_companion)
		t->out->events += q->events;
	return st;
}

static enum status read(const struct record_run *t, unsigned i, struct pebs_record *out)
{
	struct netburst_record r;
	enum status st;

	if (!t->out->event->netburst)
		return pebs_read(&t->pebs, i, out);
	memset(out, 0, sizeof(*out));
	st = netburst_sample_read(&t->netburst, i, &r);
	out->ip = r.ip;
	memcpy(out->gpr, r.gpr, sizeof(out->gpr));
	return st;
}

static void note_site(struct profile_records *out, uint32_t offset)
{
	unsigned i = 0;

	while (i < out->site_count && out->sites[i].offset != offset)
		i++;
	if (i == PROFILE_SITES)
		return;
	if (i == out->site_count)
		out->sites[out->site_count++] = (struct profile_site){ .offset = offset };
	out->sites[i].count++;
	for (; i > 0 && out->sites[i - 1].count < out->sites[i].count; i--) {
		const struct profile_site more = out->sites[i];

		out->sites[i] = out->sites[i - 1];
		out->sites[i - 1] = more;
	}
}

static void note_address(struct record_run *t, uint64_t address)
{
	const struct working_set *w = &t->l->sets[0];
	const uint64_t offset = address - w->map.va;

	t->out->addresses += offset < w->map.bytes;
	t->out->outside += offset >= w->map.bytes;
	if (offset < w->map.bytes)
		t->seen[offset / LINE / 8] |= (uint8_t)(1u << offset / LINE % 8);
}

/* The node of a ring that holds `value`: what a load that overwrote its own address has loaded. */
static bool node_of(const struct working_set *w, uint64_t value, uint64_t *address)
{
	for (uint64_t i = 0; w->shape.order != ORDER_STREAMS && i + sizeof(value) <= w->map.bytes; i += w->shape.line_bytes) {
		uint64_t held;

		memcpy(&held, mapping_at(&w->map, i), sizeof(held));
		if (held && held == value) {
			*address = w->map.va + i;
			return true;
		}
	}
	return false;
}

/* The address of a record's load; `next`: offset in the code of the instruction after the load. False: unknown. */
static bool address_of(const struct record_run *t, const struct pebs_record *r, const uint8_t *code, uint32_t bytes, uint32_t next, uint64_t *address)
{
	struct operand o;
	enum status st;

	if (t->out->event->pebs == LATENCY_EVENT) {
		*address = r->address;
		return true;
	}
	st = pebs_address_before(code, bytes, next, r->gpr, &o);
	*address = o.address;
	return st == ST_OK || (st == ST_REFUSED && node_of(&t->l->sets[0], r->gpr[o.destination], address));
}

static void note(struct record_run *t, const struct pebs_record *r)
{
	const struct working_set *w = &t->l->sets[0];
	struct profile_records *out = t->out;
	const uint64_t in_kernel = r->ip - (SPACE_CODE + w->kernel->offset), in_code = r->ip - w->code_map.va;
	const bool own = in_kernel && in_kernel < w->kernel->bytes, generated = w->code_mapped && in_code < w->code_map.bytes;
	uint64_t address;

	if (!own && !generated) {
		out->others++;
		return;
	}
	out->records++;
	note_site(out, (uint32_t)(own ? in_kernel : in_code));
	if (own ? address_of(t, r, kernel_code + w->kernel->offset, w->kernel->bytes, (uint32_t)in_kernel, &address) :
	    address_of(t, r, w->code_map.host, (uint32_t)w->code_map.bytes, (uint32_t)in_code, &address))
		note_address(t, address);
	if (out->event->pebs == LATENCY_EVENT) {
		out->sources[r->source % PROFILE_SOURCES]++;
		out->latency_sum += r->latency;
	}
}

static enum status burst(struct record_run *t, unsigned number, const char **why)
{
	struct loop *l = t->l;
	struct bench *b = l->b;
	struct working_set *w = &l->sets[0];
	const uint64_t units = (uint64_t)w->window * (1 + number % 2);
	struct pebs_request q = { .event = NULL };
	struct window ignored;
	unsigned records = 0;
	enum status st = window_prepare(b, l->row, w, WINDOW_TEST, units, &l->job), stopped;

	if (st == ST_OK)
		st = start(t, &q, why);
	if (st != ST_OK)
		return st;
	b->gate = t->out->event->netburst ? &t->netburst.gate : &t->pebs.gate;
	st = window_units_reloaded(b, l->row, w, WINDOW_TEST, units, NULL, 0, &ignored, &l->job);
	b->gate = NULL;
	stopped = stop(t, &q, &records);
	st = st == ST_OK ? stopped : st;
	for (unsigned i = 0; i < records && st == ST_OK; i++) {
		struct pebs_record r;

		st = read(t, i, &r);
		if (st == ST_OK)
			note(t, &r);
	}
	return st;
}

static void count_lines(struct record_run *t, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++) {
		t->out->lines += bit_count(t->seen[i]);
		if (i % 8 == 0) { /* 4 KiB are 64 lines: eight bytes of bits */
			bool any = false;

			for (size_t k = i; k < i + 8 && k < bytes; k++)
				any |= t->seen[k] != 0;
			t->out->pages += any;
		}
	}
}

/* Takes the records of an event. False: it is no event that leaves records. */
static bool take_event(struct loop *l, const struct profile_plan *p, const struct event *e, struct profile_records *out)
{
	struct record_run t = { .l = l, .plan = p, .out = out };
	const size_t bytes = (size_t)(l->sets[0].map.bytes / LINE / 8) + 8;
	const char *why = NULL;
	enum status st = ST_OK;

	memset(out, 0, sizeof(*out));
	out->event = e;
	out->computed = e->pebs != LATENCY_EVENT;
	t.seen = l->b->host->get(l->b->host->self, bytes);
	if (!t.seen)
		st = ST_FULL;
	else
		memset(t.seen, 0, bytes);
	for (unsigned i = 0; i < BURSTS && st == ST_OK; i++)
		st = burst(&t, i, &why);
	if (st == ST_OK)
		count_lines(&t, bytes);
	if (t.seen)
		l->b->host->put(l->b->host->self, t.seen, bytes);
	out->status = st;
	if (st != ST_OK)
		str_copy(out->reason, sizeof(out->reason), why ? why : status_name(st));
	return !(e->netburst && st == ST_UNSUPPORTED && l->b->cpu->pebs);
}

void profile_records_take(struct loop *l, const struct profile_plan *p, struct profile_result *out)
{
	for (unsigned i = 0; i < p->plan.count && out->record_count < PROFILE_RECORDS; i++) {
		const struct event *e = p->plan.slots[i].event;

		if (e && (e->pebs || e->netburst) && take_event(l, p, e, &out->records[out->record_count]))
			out->record_count++;
	}
}

/* --- output ------------------------------------------------------------------------------------ */

static const char *source_name(const struct profile_records *r, unsigned code, const struct latency_source *sources)
{
	for (unsigned i = 0; r->event->pebs == LATENCY_EVENT && sources && i < PROFILE_SOURCES; i++)
		if (sources[i].code == code)
			return sources[i].name;
	return "?";
}

void profile_records_json(struct text *t, const struct profile_plan *p, const struct profile_result *r)
{
	if (!p->period || r->row.status != ROW_OK) {
		text_fmt(t, "null");
		return;
	}
	text_fmt(t, "[");
	for (unsigned i = 0; i < r->record_count; i++) {
		const struct profile_records *e = &r->records[i];
		bool first = true;

		text_fmt(t, "%s{\"event\": \"%s\", \"status\": \"%s\", \"reason\": \"", i ? ", " : "", e->event->name, status_name(e->status));
		text_json(t, e->reason);
		text_fmt(t, "\", \"period\": %u, \"records\": %u, \"others\": %u, \"events\": ", p->period, e->records, e->others);
		text_fmt(t, e->events ? "%llu" : "null", (unsigned long long)e->events);
		text_fmt(t, ", \"full\": %s, \"places\": [", e->full ? "true" : "false");
		for (unsigned k = 0; k < e->site_count; k++)
			text_fmt(t, "%s{\"offset\": %u, \"records\": %u}", k ? ", " : "", e->sites[k].offset, e->sites[k].count);
		text_fmt(t, "], \"addresses\": %u, \"outside\": %u, \"lines\": %u, \"pages\": %u, \"sources\": {", e->addresses, e->outside, e->lines, e->pages);
		for (unsigned c = 0; c < PROFILE_SOURCES; c++)
			if (e->sources[c]) {
				text_fmt(t, "%s\"%s\": %u", first ? "" : ", ", source_name(e, c, r->sources), e->sources[c]);
				first = false;
			}
		text_fmt(t, "}, \"mean_latency\": ");
		if (e->event->pebs == LATENCY_EVENT && e->records)
			text_fixed(t, mul_div((int64_t)e->latency_sum, 1000, e->records), 3);
		else
			text_fmt(t, "null");
		text_fmt(t, "}");
	}
	text_fmt(t, "]");
}

static void record_lines(struct text *t, const struct profile_result *r, const struct profile_records *e)
{
	text_fmt(t, "    %s: ", e->event->name);
	if (e->status != ST_OK) {
		text_fmt(t, "%s\n", e->reason);
		return;
	}
	text_fmt(t, "%u record%s", e->records, e->records == 1 ? "" : "s");
	if (e->events)
		text_fmt(t, " of %llu events", (unsigned long long)e->events);
	text_fmt(t, "%s\n", e->full ? ", the buffer filled: a longer period misses none" : "");
	if (!e->records)
		return;
	text_fmt(t, "      behind the instruction before");
	for (unsigned k = 0; k < e->site_count; k++)
		text_fmt(t, "%s +%u: %u", k ? "," : "", e->sites[k].offset, e->sites[k].count);
	text_char(t, '\n');
	if (e->addresses + e->outside)
		text_fmt(t, "      %u addresses%s: %u lines in %u pages of 4 KiB, %u elsewhere\n", e->addresses + e->outside, e->computed ? " from registers" : "", e->lines,
		         e->pages, e->outside);
	if (e->event->pebs != LATENCY_EVENT)
		return;
	text_fmt(t, "      ");
	text_fixed(t, mul_div((int64_t)e->latency_sum, 1000, e->records), 3);
	text_fmt(t, " cycles in the mean; from");
	for (unsigned c = 0; c < PROFILE_SOURCES; c++)
		if (e->sources[c])
			text_fmt(t, " %s %u", source_name(e, c, r->sources), e->sources[c]);
	text_char(t, '\n');
}

void profile_records_lines(struct text *t, const struct profile_plan *p, const struct profile_result *r)
{
	if (!p->period)
		return;
	text_fmt(t, "  records, one after %u events each\n", p->period);
	for (unsigned i = 0; i < r->record_count; i++)
		record_lines(t, r, &r->records[i]);
	if (!r->record_count)
		text_fmt(t, "    no event of the profile is precise\n");
}
