/* bench/results/writer.c: writes the journal line by line, each flushed. The whole files are built from the same lines, so a run resumed after a
 * crash and a run read back from a serial log give the same bytes. */
#include "bench/results/writer.h"
#include "bench/results/inventory.h"
#include "bench/catalogue/series.h"

#define TEXT_BYTES (1u << 20)   /* the results file: some 1 KiB a row and the registers of all cores */
#define LINE_BYTES 10752u       /* a row with all sixteen data sources of its records and the latency breakdown by box */
#define CELL_BYTES 80u          /* of a matrix, as text */
#define TRUST_BYTES (48u << 10)
#define ACCOUNTING_BYTES (128u << 10) /* accountings of all workloads, and the trust table */
#define PROFILE_LINE_BYTES (32u << 10) /* a row's kernel under 64 events */

const char *writer_section_name(unsigned section)
{
	static const char *const names[SUITE_SECTIONS] = { "account.latency_bound", "account.bandwidth_bound", "account.branchy", "account.mixed", "trust" };

	return names[section];
}

void writer_failed(struct writer *w, enum status st)
{
	if (st != ST_OK && w->out->files == ST_OK)
		w->out->files = st;
}

void writer_journal(struct writer *w, const struct text *line)
{
	if (line->full)
		writer_failed(w, ST_FULL);
	else if (w->host->append)
		writer_failed(w, w->host->append(w->host->self, "journal.jsonl", line->at, line->length));
}

#define STUDY_BYTES LINE_BYTES
#define SECTIONS_BYTES (ACCOUNTING_BYTES + STUDY_BYTES)

/* Rows of all kinds of cores, whether the machine has them or not. */
static size_t noted(void) { return (size_t)rows_count * CORE_KIND_NAMES; }

enum status writer_open(struct writer *w, const struct access *a, const struct suite_host *host, struct suite_summary *out,
                        size_t profile_bytes, unsigned kinds)
{
	char *json, *csv, *sections, *profile = NULL;

	memset(w, 0, sizeof(*w));
	w->kinds = kinds;
	w->host = host;
	w->out = out;
	out->boots = 1;
	str_copy(w->backend, sizeof(w->backend), a->name);
	/* two matrices, of clean and of modified lines, have a cell for each pair of cores */
	w->profile_bytes = profile_bytes + host->journal_bytes;
	w->json_bytes = kinds * (TEXT_BYTES + SECTIONS_BYTES + 2 * (size_t)a->cores * a->cores * CELL_BYTES) + w->profile_bytes;
	json = host->get(host->self, w->json_bytes);
	csv = host->get(host->self, kinds * TEXT_BYTES);
	w->all_earlier = host->get(host->self, noted());
	w->all_penalties = host->get(host->self, noted() * sizeof(*w->all_penalties));
	w->all_notes = host->get(host->self, noted() * sizeof(*w->all_notes));
	sections = host->get(host->self, kinds * SECTIONS_BYTES);
	if (w->profile_bytes)
		profile = host->get(host->self, w->profile_bytes);
	if (!json || !csv || !sections || !w->all_penalties || !w->all_notes || !w->all_earlier || (w->profile_bytes && !profile)) {
		if (profile)
			host->put(host->self, profile, w->profile_bytes);
		if (json)
			host->put(host->self, json, w->json_bytes);
		if (csv)
			host->put(host->self, csv, kinds * TEXT_BYTES);
		if (w->all_earlier)
			host->put(host->self, w->all_earlier, noted());
		if (w->all_penalties)
			host->put(host->self, w->all_penalties, noted() * sizeof(*w->all_penalties));
		if (w->all_notes)
			host->put(host->self, w->all_notes, noted() * sizeof(*w->all_notes));
		if (sections)
			host->put(host->self, sections, kinds * SECTIONS_BYTES);
		return ST_FULL;
	}
	text_init(&w->json, json, w->json_bytes);
	text_init(&w->accounting, sections, kinds * (ACCOUNTING_BYTES - TRUST_BYTES));
	text_init(&w->trust, sections + kinds * (ACCOUNTING_BYTES - TRUST_BYTES), kinds * TRUST_BYTES);
	text_init(&w->study, sections + kinds * ACCOUNTING_BYTES, kinds * STUDY_BYTES);
	memset(w->all_notes, 0, noted() * sizeof(*w->all_notes));
	for (size_t i = 0; i < noted(); i++)
		w->all_penalties[i] = -1;
	writer_kind(w, a);
	text_init(&w->csv, csv, kinds * TEXT_BYTES);
	if (profile)
		text_init(&w->profile, profile, w->profile_bytes);
	return ST_OK;
}

void writer_close(struct writer *w)
{
	if (w->profile.at)
		w->host->put(w->host->self, w->profile.at, w->profile_bytes);
	w->host->put(w->host->self, w->all_earlier, noted());
	w->host->put(w->host->self, w->all_penalties, noted() * sizeof(*w->all_penalties));
	w->host->put(w->host->self, w->all_notes, noted() * sizeof(*w->all_notes));
	w->host->put(w->host->self, w->accounting.at, w->kinds * SECTIONS_BYTES);
	w->host->put(w->host->self, w->csv.at, w->kinds * TEXT_BYTES);
	w->host->put(w->host->self, w->json.at, w->json_bytes);
}

void writer_view(struct writer *w, unsigned kind)
{
	w->kind = kind;
	w->earlier = w->all_earlier + (size_t)kind * rows_count;
	w->penalty_milli = w->all_penalties + (size_t)kind * rows_count;
	w->notes = w->all_notes + (size_t)kind * rows_count;
	w->part_earlier = w->all_parts[kind];
	w->study_earlier = &w->all_studies[kind];
}

void writer_kind(struct writer *w, const struct access *a)
{
	unsigned kind = 0;

	for (unsigned i = 1; i < CORE_KIND_NAMES && a->core_kind; i++)
		if (str_equal(core_kind_names[i], a->core_kind))
			kind = i;
	w->a = a;
	writer_view(w, kind);
}

unsigned writer_kind_named(struct json name, struct json *base)
{
	*base = name;
	if (name.bytes < 2 || name.at[0] != '"')
		return 0;
	for (size_t at = 1; at + 1 < name.bytes; at++) {
		const struct json kind = { name.at + at + 1, name.bytes - at - 2 };

		if (name.at[at] != '@')
			continue;
		base->bytes = at;
		for (unsigned i = 1; i < CORE_KIND_NAMES; i++)
			if (kind.bytes == str_length(core_kind_names[i]) && !memcmp(kind.at, core_kind_names[i], kind.bytes))
				return i;
		return CORE_KIND_NAMES;
	}
	base->bytes = name.bytes - 1;
	return 0;
}

bool writer_is(struct json base, const char *name)
{
	return base.bytes == str_length(name) + 1 && !memcmp(base.at + 1, name, base.bytes - 1);
}

void writer_name(const struct writer *w, struct text *t, const char *name)
{
	text_fmt(t, "%s%s%s", name, w->kind ? "@" : "", core_kind_names[w->kind]);
}

/* The journal's first line holds the description of the run from results.json. */
void writer_head(struct writer *w, const struct suite_kind *kinds, unsigned n, const struct suite_settings *s, uint64_t seed, uint64_t key)
{
	struct text line;
	const size_t bytes = w->kinds * TEXT_BYTES;
	char *at = w->host->get(w->host->self, bytes);

	text_fmt(&w->json, "{\n");
	report_head(&w->json, kinds[0].a, kinds[0].cpu, s, seed);
	if (kinds[0].a->core_kind) {
		text_fmt(&w->json, ",\n\"core_kinds\": [");
		for (unsigned i = 0; i < n; i++) {
			text_fmt(&w->json, "%s", i ? ", " : "");
			report_kind(&w->json, kinds[i].a, kinds[i].cpu);
		}
		text_char(&w->json, ']');
	}
	if (!at) {
		writer_failed(w, ST_FULL);
	} else {
		text_init(&line, at, bytes);
		text_fmt(&line, "{\"event\": \"run\", \"key\": \"%016llx\", ", (unsigned long long)key);
		for (size_t i = 2; i < w->json.length; i++) /* after "{\n" */
			text_char(&line, w->json.at[i] == '\n' ? ' ' : w->json.at[i]);
		text_fmt(&line, "}\n");
		writer_journal(w, &line);
		text_init(&line, at, bytes);
		text_fmt(&line, "{\"event\": \"environment\", \"environment\": ");
		report_environment(&line, w->host);
		text_fmt(&line, "}\n");
		writer_journal(w, &line);
		text_init(&line, at, MACHINE_TEXT_BYTES);
		inventory_text(&line, kinds[0].a, kinds[0].cpu);
		writer_failed(w, line.full ? ST_FULL : w->host->write ? w->host->write(w->host->self, "machine.txt", line.at, line.length) : ST_OK);
		w->host->put(w->host->self, at, bytes);
	}
	text_fmt(&w->json, ",\n\"rows\": [");
}

void writer_start(struct writer *w, const char *name)
{
	char at[160];
	struct text line;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"start\", \"name\": \"");
	writer_name(w, &line, name);
	text_fmt(&line, "\"}\n");
	writer_journal(w, &line);
}

/* Notes a row's values for later checks. Rows unknown to this build get no note. */
static void note_row(struct writer *w, struct json row)
{
	struct json name, status, value;

	if (!json_get(row, "name", &name) || !json_get(row, "status", &status))
		return;
	const unsigned kind = writer_kind_named(name, &name);
	for (unsigned i = 0; kind < CORE_KIND_NAMES && i < rows_count; i++) {
		struct writer_note *n = &w->all_notes[kind * rows_count + i];

		if (!writer_is(name, rows[i].name))
			continue;
		n->at = w->json.length;
		n->bytes = row.bytes;
		for (unsigned s = 0; s < ROW_STATUS_COUNT; s++)
			if (json_is(status, row_status_name((enum row_status)s)))
				n->status = (enum row_status)s;
		n->has_value = json_get(row, "value", &value) && json_milli(value, &n->value_milli);
		if (!json_get(row, "spread", &value) || !json_milli(value, &n->spread_milli))
			n->spread_milli = 0;
		for (unsigned level = 0; level < CURVE_PLATEAUS; level++)
			if (!json_get(row, "curve", &value) || !json_get(value, "plateaus", &value) || !curve_plateau_name(level) ||
			    !json_get(value, curve_plateau_name(level), &value) || !json_milli(value, &n->plateau_milli[level]))
				n->plateau_milli[level] = 0;
	}
}

void writer_add_row(struct writer *w, struct json row)
{
	text_fmt(&w->json, "%s\n", w->comma ? "," : "");
	note_row(w, row);
	text_bytes(&w->json, row.at, row.bytes);
	w->comma = true;
}

/* Disturbances in all windows of the run so far, so that the next boot continues the count. */
static void windows_so_far(struct text *t, const struct disturbances *d)
{
	text_fmt(t, ", \"windows\": [%u, %u, %u, %u", d->windows, d->clock, d->thermal, d->modulated);
	for (unsigned i = 0; i < SMI_BINS; i++)
		text_fmt(t, ", %u", d->smi[i]);
	text_char(t, ']');
}

void writer_row(struct writer *w, const struct row_result *r, bool odd)
{
	char at[LINE_BYTES], *large = NULL;
	size_t bytes = r->matrix ? LINE_BYTES + r->matrix->cells * CELL_BYTES : LINE_BYTES;
	struct text line;

	if (r->matrix)
		large = w->host->get(w->host->self, bytes);
	text_init(&line, large ? large : at, large ? bytes : LINE_BYTES);
	text_fmt(&line, "{\"event\": \"row\", \"unexpected\": %u", odd ? 1 : 0);
	windows_so_far(&line, &w->out->disturbances);
	text_fmt(&line, ", \"row\": ");
	size_t from = line.length;
	report_row(&line, w->a, r);
	struct json row = { line.at + from, line.length - from };
	text_fmt(&line, "}\n");
	writer_journal(w, &line);
	if (line.full) {
		writer_failed(w, ST_FULL);
	} else {
		writer_add_row(w, row);
		w->notes[r->row - rows].odd = odd;
	}
	if (large)
		w->host->put(w->host->self, large, bytes);
}

void writer_add_profile(struct writer *w, struct json workload)
{
	text_fmt(&w->profile, "%s\n", w->profile.length ? "," : "");
	text_bytes(&w->profile, workload.at, workload.bytes);
}

void writer_profile(struct writer *w, const struct profile_plan *plan, const struct profile_result *r, bool odd)
{
	char *at = w->host->get(w->host->self, PROFILE_LINE_BYTES);
	struct text line;

	if (!at) {
		writer_failed(w, ST_FULL);
		return;
	}
	text_init(&line, at, PROFILE_LINE_BYTES);
	text_fmt(&line, "{\"event\": \"profile\", \"unexpected\": %u", odd ? 1 : 0);
	windows_so_far(&line, &w->out->disturbances);
	text_fmt(&line, ", \"profile\": ");
	size_t from = line.length;
	profile_json(&line, plan, r);
	struct json workload = { line.at + from, line.length - from };
	text_fmt(&line, "}\n");
	writer_journal(w, &line);
	if (!line.full)
		writer_add_profile(w, workload);
	text_init(&line, at, PROFILE_LINE_BYTES);
	profile_lines(&line, plan, r);
	if (w->host->print)
		w->host->print(w->host->self, line.at);
	w->host->put(w->host->self, at, PROFILE_LINE_BYTES);
}

/* The key of a section of one kind of cores: plain for the first that has it. */
static void section_key(const struct writer *w, struct text *t, const char *name)
{
	text_fmt(t, ",\n\"%s%s%s\": ", name, t->length ? "@" : "", t->length ? core_kind_names[w->kind] : "");
}

void writer_part(struct writer *w, unsigned part, struct json json)
{
	w->part_earlier[part] = RESUMED_DONE;
	if (part == PART_TRUST) {
		section_key(w, &w->trust, "trust");
		text_bytes(&w->trust, json.at, json.bytes);
		return;
	}
	text_fmt(&w->accounting, "%s\n", w->accounting.length ? "," : "");
	text_bytes(&w->accounting, json.at, json.bytes);
}

void writer_known_program(struct writer *w, unsigned odd)
{
	char at[LINE_BYTES];
	struct text line;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"study\", \"unexpected\": %u", odd);
	writer_kind_member(w, &line);
	text_fmt(&line, ", \"study\": ");
	size_t from = line.length;
	known_program_json(&line, &w->out->study);
	struct json study = { line.at + from, line.length - from };
	text_fmt(&line, "}\n");
	writer_journal(w, &line);
	if (!line.full)
		writer_study(w, study);
}

void writer_study(struct writer *w, struct json study)
{
	if (*w->study_earlier == RESUMED_DONE)
		return;
	*w->study_earlier = RESUMED_DONE;
	section_key(w, &w->study, "study");
	text_bytes(&w->study, study.at, study.bytes);
}

void writer_kind_member(const struct writer *w, struct text *line)
{
	if (w->kind)
		text_fmt(line, ", \"core_kind\": \"%s\"", core_kind_names[w->kind]);
}

/* penalties.csv: a line for each row, in the order of results.json. */
static void write_csv(struct writer *w)
{
	report_csv_head(&w->csv);
	for (size_t behind = 0;;) {
		const struct writer_note *next = NULL;

		for (size_t i = 0; i < noted(); i++)
			if (w->all_notes[i].bytes && w->all_notes[i].at >= behind && (!next || w->all_notes[i].at < next->at))
				next = &w->all_notes[i];
		if (!next)
			return;
		report_csv_row(&w->csv, w->backend, (struct json){ w->json.at + next->at, next->bytes });
		behind = next->at + next->bytes;
	}
}

void writer_whole(struct writer *w, struct json summary)
{
	write_csv(w);
	text_fmt(&w->json, "\n],\n\"summary\": ");
	text_bytes(&w->json, summary.at, summary.bytes);
	if (w->study.length) {
		text_bytes(&w->json, w->study.at, w->study.length);
	} else {
		section_key(w, &w->study, "study");
		text_bytes(&w->json, w->study.at, w->study.length);
		known_program_json(&w->json, &w->out->study);
	}
	if (w->accounting.length)
		text_fmt(&w->json, ",\n\"accounting\": [%s\n]", w->accounting.at);
	text_bytes(&w->json, w->trust.at, w->trust.length);
	if (w->profile.length)
		text_fmt(&w->json, ",\n\"profile\": [%s\n]", w->profile.at);
	text_fmt(&w->json, ",\n\"environment\": ");
	if (w->environment.bytes)
		text_bytes(&w->json, w->environment.at, w->environment.bytes);
	else
		report_environment(&w->json, w->host);
	text_fmt(&w->json, "\n}\n");
	if (w->json.full || w->csv.full || w->accounting.full || w->trust.full || w->study.full || w->profile.full)
		writer_failed(w, ST_FULL);
	if (!w->host->write)
		return;
	if (!w->json.full)
		writer_failed(w, w->host->write(w->host->self, "results.json", w->json.at, w->json.length));
	if (!w->csv.full)
		writer_failed(w, w->host->write(w->host->self, "penalties.csv", w->csv.at, w->csv.length));
}

void writer_end(struct writer *w)
{
	char at[32768]; /* sixteen box types, each with the reason why it cannot count; the names of all rows, of each kind of cores */
	struct text line;
	bool comma = false;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"end\", \"summary\": ");
	size_t from = line.length;
	report_summary(&line, w->out);
	line.length--; /* its closing brace */
	text_fmt(&line, ", \"unexpected_rows\": [");
	for (unsigned kind = 0; kind < CORE_KIND_NAMES; kind++)
		for (unsigned i = 0; i < rows_count; i++) {
			if (!w->all_notes[kind * rows_count + i].odd)
				continue;
			writer_view(w, kind);
			text_fmt(&line, "%s\"", comma ? ", " : "");
			writer_name(w, &line, rows[i].name);
			text_char(&line, '"');
			comma = true;
		}
	text_fmt(&line, "]}");
	struct json summary = { line.at + from, line.length - from };
	text_fmt(&line, "}\n");
	writer_journal(w, &line);
	writer_whole(w, summary);
}
