/* bench/suite/suite_sections.c: see suite_sections.h. */
#include "bench/suite/suite_sections.h"
#include "bench/workloads/trust.h"

#define LINE_BYTES (64u << 10) /* an accounting or the trust table as JSON, and as lines */

bool suite_section_wants_row(const struct suite_settings *s, const struct row *r)
{
	if (!workload_account_feeds(r))
		return false;
	for (unsigned part = 0; part < WORK_KINDS; part++)
		if (suite_selects_name(s, writer_section_name(part), 0))
			return true;
	return false;
}

/* Writes a journal line, the same JSON for results.json, and lines for the screen. */
static void write_account(struct writer *w, const struct account_result *r, bool odd)
{
	char *at = w->host->get(w->host->self, LINE_BYTES);
	struct text line;

	if (!at) {
		writer_failed(w, ST_FULL);
		return;
	}
	text_init(&line, at, LINE_BYTES);
	text_fmt(&line, "{\"event\": \"accounting\", \"unexpected\": %u", odd ? 1 : 0);
	writer_kind_member(w, &line);
	text_fmt(&line, ", \"accounting\": ");
	size_t from = line.length;
	workload_account_json(&line, r);
	struct json json = { line.at + from, line.length - from };
	text_fmt(&line, "}\n");
	writer_journal(w, &line);
	if (!line.full)
		writer_part(w, r->kind, json);
	text_init(&line, at, LINE_BYTES);
	workload_account_lines(&line, r);
	if (w->host->print)
		w->host->print(w->host->self, line.at);
	w->host->put(w->host->self, at, LINE_BYTES);
}

static void run_account(struct writer *w, struct bench *b, enum work_kind kind)
{
	const struct account_penalties p = { w->penalty_milli };
	struct account_result *r = w->host->get(w->host->self, sizeof(*r));
	bool odd;

	if (!r) {
		writer_failed(w, ST_FULL);
		return;
	}
	if (w->part_earlier[kind] == RESUMED_BEGUN) {
		memset(r, 0, sizeof(*r));
		r->kind = kind;
		r->status = ROW_CRASHED;
		str_copy(r->reason, sizeof(r->reason), "the machine stopped in it; it was not tried again");
	} else {
		writer_start(w, writer_section_name(kind));
		workload_account_run(b, kind, &p, r);
	}
	r->core_kind = w->a->core_kind;
	odd = w->a->kind == ACCESS_SIM && r->status != ROW_OK && r->status != ROW_UNSUPPORTED;
	w->out->unexpected += odd;
	write_account(w, r, odd);
	w->host->put(w->host->self, r, sizeof(*r));
}

/* On a simulated machine an event that counts wrong is a fault of that machine, and unexpected. */
static void run_trust(struct writer *w, struct bench *b)
{
	char *at = w->host->get(w->host->self, LINE_BYTES);
	struct trust_result *r = w->host->get(w->host->self, sizeof(*r));
	bool crashed = w->part_earlier[PART_TRUST] == RESUMED_BEGUN;
	unsigned odd = 0;
	struct text line;

	if (!at || !r) {
		writer_failed(w, ST_FULL);
	} else {
		writer_start(w, writer_section_name(PART_TRUST));
		if (!crashed)
			trust_run(b, r);
		for (unsigned i = 0; i < TRUST_ENTRIES && !crashed; i++)
			odd += w->a->kind == ACCESS_SIM && (r->entries[i].verdict == TRUST_OVER || r->entries[i].verdict == TRUST_UNDER);
		w->out->unexpected += odd;
		text_init(&line, at, LINE_BYTES);
		text_fmt(&line, "{\"event\": \"trust\", \"unexpected\": %u", odd);
		writer_kind_member(w, &line);
		text_fmt(&line, ", \"trust\": ");
		size_t from = line.length;
		if (crashed)
			text_fmt(&line, "[]");
		else
			trust_json(&line, r);
		struct json json = { line.at + from, line.length - from };
		text_fmt(&line, "}\n");
		writer_journal(w, &line);
		if (!line.full)
			writer_part(w, PART_TRUST, json);
		text_init(&line, at, LINE_BYTES);
		if (crashed)
			text_fmt(&line, "trust: the machine stopped in it; it was not tried again\n");
		else
			trust_lines(&line, r);
		if (w->host->print)
			w->host->print(w->host->self, line.at);
	}
	if (r)
		w->host->put(w->host->self, r, sizeof(*r));
	if (at)
		w->host->put(w->host->self, at, LINE_BYTES);
}

void suite_sections_run(struct writer *w, struct bench *b, const struct suite_settings *s)
{
	for (unsigned part = 0; part < SUITE_SECTIONS && !w->out->stopped; part++) {
		struct progress p = { .part = writer_section_name(part) };

		if (!suite_selects_name(s, writer_section_name(part), SUITE_FULL) || w->part_earlier[part] == RESUMED_DONE)
			continue;
		if (w->host->stop && w->host->stop(w->host->self)) {
			w->out->stopped = true;
			return;
		}
		p.done = p.total = w->out->rows;
		if (w->host->progress)
			w->host->progress(w->host->self, &p);
		if (part == PART_TRUST)
			run_trust(w, b);
		else
			run_account(w, b, (enum work_kind)part);
	}
}
