/* bench/sampling/priority.c: see priority.h. */
#include "bench/sampling/priority.h"

#include "pmu/core/concept.h"
#include "pmu/counters/pebs.h"

#define COUNTERS    4u   /* that sample, on each processor with such records (SDM, IA32_PEBS_ENABLE) */
#define SAMPLER     2u   /* the counter that samples in ORDER_PRIORITY_OVERFLOWS: others have lower and higher numbers */
#define PERIOD      5u   /* events from one overflow to the next */
#define LATER_MOST  4u   /* events between the overflow and the record, at most, where the time until PEBS is armed hides loads */
#define BURSTS      4u   /* of each distance */
#define RECORDS     32u  /* wanted loads with records, in ORDER_PRIORITY_RECORDS */
#define CHASED      0u   /* RAX: the value that k_chase has loaded, another one at each load */
#define STATUS_THRESHOLD (1ull << 62) /* IA32_PERF_GLOBAL_STATUS: OvfBuf */

#define ALL    ((1u << COUNTERS) - 1) /* masks of counters */
#define OTHERS (ALL & ~(1u << SAMPLER))
#define LOWER  ((1u << SAMPLER) - 1)

struct priority {
	struct bench *b;
	struct row chase;         /* the row, in the order in which the loop lays out its chase */
	struct row_result *out;
	struct loop loop;
	struct pebs pebs;
	const struct event *event;
	/* ORDER_PRIORITY_OVERFLOWS, by distance: counters shown by the first record of each burst, and by any */
	uint32_t always[LATER_MOST + 1], ever[LATER_MOST + 1];
	bool astray;              /* a second record does not show all overflows, or the threshold is not reported directly after the first */
	uint32_t loads, records;
	bool in_order[COUNTERS];
	char order[40];           /* the counters that the records of the first deviating load name */
};

static void unproven(struct row_result *out, const char *why)
{
	out->status = ROW_UNPROVEN;
	str_copy(out->reason, sizeof(out->reason), why);
}

/* A burst of that many loads. */
static enum status burst(struct priority *k, struct pebs_request *requests, unsigned n, uint64_t loads, const char **why)
{
	struct working_set *w = &k->loop.sets[0];
	struct window ignored;
	enum status st = window_prepare(k->b, &k->chase, w, WINDOW_TEST, loads, &k->loop.job), stopped;

	if (st == ST_OK)
		st = pebs_start(&k->pebs, requests, n, why);
	if (st != ST_OK)
		return st;
	k->b->gate = &k->pebs.gate;
	st = window_units(k->b, w, loads, NULL, 0, &ignored, &k->loop.job);
	k->b->gate = NULL;
	stopped = pebs_stop(&k->pebs);
	return st == ST_OK ? stopped : st;
}

/* --- all counters sample ----------------------------------------------------------------------- */

/* Checks the records from `from` up to `to`, which are of one load: the i-th must name counter i, and none above it. */
static enum status one_load(struct priority *k, unsigned from, unsigned to)
{
	char order[sizeof(k->order)];
	struct text t;
	bool good = to - from == COUNTERS;
	enum status st = ST_OK;

	text_init(&t, order, sizeof(order));
	for (unsigned i = 0; i < COUNTERS && st == ST_OK; i++) {
		struct pebs_record r = { .status = 0 };

		st = from + i < to ? pebs_read(&k->pebs, from + i, &r) : ST_OK;
		const uint32_t named = (uint32_t)r.status & ALL;

		k->in_order[i] = k->in_order[i] && named >> i == 1;
		good = good && named >> i == 1;
		text_fmt(&t, "%s%x", i ? " " : "", named);
	}
	if (!good && !k->order[0])
		str_copy(k->order, sizeof(k->order), order);
	k->loads++;
	return st;
}

static enum status sample_all(struct priority *k, const char **why)
{
	struct pebs_request requests[COUNTERS];
	enum status st = ST_OK;

	for (unsigned i = 0; i < COUNTERS; i++)
		k->in_order[i] = true;
	for (unsigned tries = 0; st == ST_OK && k->loads < RECORDS && tries < RECORDS; tries++) {
		struct pebs_record r;
		uint64_t last = 0;
		unsigned from = 0;

		for (unsigned i = 0; i < COUNTERS; i++)
			requests[i] = (struct pebs_request){ .event = k->event, .period = PERIOD, .wanted = (uint8_t)(1 + i) };
		st = burst(k, requests, COUNTERS, k->loop.sets[0].window, why);
		for (unsigned i = 0; i < k->pebs.records && st == ST_OK; i++) {
			st = pebs_read(&k->pebs, i, &r);
			if (st == ST_OK && i && r.gpr[CHASED] != last) {
				st = one_load(k, from, i);
				from = i;
			}
			last = r.gpr[CHASED];
		}
		if (st == ST_OK && k->pebs.records)
			st = one_load(k, from, k->pebs.records);
		k->records += k->pebs.records;
	}
	return st;
}

static void judge_records(struct priority *k)
{
	struct row_result *out = k->out;
	struct text t;
	unsigned in_order = 0;

	for (unsigned i = 0; i < COUNTERS; i++)
		in_order += k->in_order[i];
	out->value_milli = in_order * 1000;
	text_init(&t, out->proof, sizeof(out->proof));
	text_fmt(&t, "%u records of %u loads, %u counters due at each", k->records, k->loads, COUNTERS);
	if (in_order == COUNTERS)
		return;
	unproven(out, "");
	text_init(&t, out->reason, sizeof(out->reason));
	text_fmt(&t, "the records of a load name counters (a mask each) in another order: %s", k->order);
}

/* --- one counter samples ----------------------------------------------------------------------- */

static enum status sample_one(struct priority *k, const char **why)
{
	struct pebs_plain others[COUNTERS - 1];
	enum status st = ST_OK;

	k->pebs.plain = others;
	k->pebs.plain_count = COUNT_OF(others);
	k->pebs.threshold_records = 1;
	for (unsigned d = 0; d <= LATER_MOST && st == ST_OK; d++) {
		k->always[d] = OTHERS;
		for (unsigned i = 0; i < BURSTS && st == ST_OK; i++) {
			struct pebs_request q = { .event = k->event, .period = PERIOD, .wanted = 1 + SAMPLER };
			struct pebs_record first, second;

			for (unsigned n = 0; n < COUNT_OF(others); n++)
				others[n] = (struct pebs_plain){ .event = k->event, .until = PERIOD + d, .counter = (uint8_t)(n + (n >= SAMPLER)) };
			st = burst(k, &q, 1, k->loop.sets[0].window, why);
			if (st != ST_OK || k->pebs.records < 2)
				continue; /* too few records are reported below */
			st = pebs_read(&k->pebs, 0, &first);
			if (st == ST_OK)
				st = pebs_read(&k->pebs, 1, &second);
			if (st != ST_OK)
				continue;
			k->always[d] &= (uint32_t)first.status;
			k->ever[d] |= (uint32_t)first.status & OTHERS;
			k->astray = k->astray || (~(uint32_t)second.status & OTHERS) || (first.status & STATUS_THRESHOLD) || !(second.status & STATUS_THRESHOLD);
			k->loads++;
			k->records += k->pebs.records;
		}
	}
	return st;
}

static void judge_overflows(struct priority *k)
{
	struct row_result *out = k->out;
	struct text t;
	unsigned d = 0;

	while (d <= LATER_MOST && k->always[d] == OTHERS)
		d++;
	text_init(&t, out->proof, sizeof(out->proof));
	text_fmt(&t, "%u records of counter %u; of the others the status shows, as a mask, by loads from its overflow to theirs:", k->loads, SAMPLER);
	for (unsigned i = 0; i <= LATER_MOST; i++)
		text_fmt(&t, " %x", k->always[i]);
	if (k->loads < BURSTS * (LATER_MOST + 1))
		unproven(out, "bursts without two records");
	else if (!d || d >= LATER_MOST || !k->ever[d] || k->ever[d + 1])
		unproven(out, "no one load comes between overflows that all records show and those that none does");
	else if (k->always[d] != k->ever[d])
		unproven(out, "a record now shows an overflow at its own load, now does not");
	else if (k->astray)
		unproven(out, "the second record does not show all overflows, or the buffer's threshold is not reported after the record that meets it");
	if (out->status != ROW_OK)
		return;
	out->value_milli = bit_count(k->always[d]) * 1000;
	if (k->always[d] == LOWER)
		return;
	unproven(out, "");
	text_init(&t, out->reason, sizeof(out->reason));
	text_fmt(&t, "a record shows overflows at its own load of counters %x (a mask), not of those with lower numbers, %x", k->always[d], LOWER);
}

/* ------------------------------------------------------------------------------------------------- */

/* The event of loads that miss the last cache, if it samples. */
static const struct event *precise_event(const struct processor *p)
{
	const struct expression *x = concept_find(p, "load.miss.llc");
	const struct event *e = x && x->exactness != EXACTNESS_NONE && x->term_count ? x->terms[0].event : NULL;

	return e && e->pebs == 1 ? e : NULL;
}

static enum status prepare(struct priority *k, const char **why)
{
	enum status st = pebs_open(&k->pebs, k->b->a, k->b->cpu, k->b->core, why);

	k->event = precise_event(k->b->cpu->processor);
	if (st == ST_OK && !k->pebs.layout->global_status)
		*why = "records of this processor do not hold the state of the other counters";
	else if (st == ST_OK && !k->event)
		*why = "loads from memory are not counted by an event that samples";
	else if (st == ST_OK && (k->event->counter_mask & k->pebs.layout->counters & k->b->cpu->general_mask & ALL) != ALL)
		*why = "fewer than four counters can sample";
	return st == ST_OK && *why ? ST_UNSUPPORTED : st;
}

static enum status sample(struct priority *k, const char **why)
{
	const bool all = k->out->row->order == ORDER_PRIORITY_RECORDS;
	enum status st = all ? sample_all(k, why) : sample_one(k, why);

	if (st != ST_OK)
		return st;
	k->out->status = ROW_OK;
	k->out->samples = k->records;
	if (!k->records)
		unproven(k->out, "no records");
	else if (all)
		judge_records(k);
	else
		judge_overflows(k);
	return ST_OK;
}

void priority_row(struct bench *b, const struct row *r, struct row_result *out)
{
	struct priority *k = b->host->get(b->host->self, sizeof(*k));
	const char *why = NULL;
	uint64_t found = 0;
	enum status st;

	if (!k) {
		row_failed(out, ST_FULL, NULL, "memory for the records");
		return;
	}
	memset(k, 0, sizeof(*k));
	k->b = b;
	k->out = out;
	k->chase = *r;
	k->chase.order = ORDER_SPARSE;
	st = prepare(k, &why);
	if (st == ST_OK && loop_begin(&k->loop, b, &k->chase, LOOP_TEST_ALONE, out)) {
		const bool wanted = prefetchers_known(b), switched = wanted && prefetchers_off(b, &found);

		st = window_warm_up(b, &k->chase, &k->loop.sets[0], WINDOW_TEST, &k->loop.job);
		if (st == ST_OK)
			st = sample(k, &why);
		if (switched && !prefetchers_back(b, found) && st == ST_OK)
			st = ST_IO;
		if (st != ST_OK)
			row_failed(out, st, &k->loop.job, why ? why : "sampling a chase through memory");
		else if (wanted && !switched && out->status == ROW_OK)
			unproven(out, "the prefetchers could not be switched off");
		loop_end(&k->loop, out);
	} else if (st == ST_UNSUPPORTED) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		str_copy(out->reason, sizeof(out->reason), why);
	} else if (st != ST_OK) {
		row_failed(out, st, NULL, why ? why : "sampling");
	}
	b->host->put(b->host->self, k, sizeof(*k));
}
