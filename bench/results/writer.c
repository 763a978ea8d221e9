/* bench/results/writer.c: the journal is written line by line, each flushed; the whole files are made of the same lines, so
 * that a run that went on after a crash, and one read back from a serial log, give the same bytes. */
#include "bench/results/writer.h"
#include "bench/suite/suite_sections.h"
#include "bench/report/html.h"
#include "bench/results/inventory.h"
#include "bench/multicore/matrix.h"

#define TEXT_BYTES (1u << 20)   /* the results file: some 1 KiB a row and the registers of all cores */
#define LINE_BYTES 10752u       /* a row with all sixteen data sources of its records, taken apart by boxes */
#define CELL_BYTES 80u          /* of a matrix, as text */
#define TRUST_BYTES (16u << 10)
#define ACCOUNTING_BYTES (96u << 10) /* of all workloads, and that */
#define PROFILE_LINE_BYTES (32u << 10) /* a row's kernel under 64 events */

static void file_failed(struct writer *w, enum status st)
{
	if (st != ST_OK && w->out->files == ST_OK)
		w->out->files = st;
}

static void journal(struct writer *w, const struct text *line)
{
	if (line->full)
		file_failed(w, ST_FULL);
	else if (w->host->append)
		file_failed(w, w->host->append(w->host->self, "journal.jsonl", line->at, line->length));
}

enum status writer_open(struct writer *w, const struct access *a, const struct suite_host *host, struct suite_summary *out,
                        size_t profile_bytes)
{
	char *json, *csv, *accounting, *profile = NULL;

	memset(w, 0, sizeof(*w));
	w->a = a;
	w->host = host;
	w->out = out;
	out->boots = 1;
	str_copy(w->backend, sizeof(w->backend), a->name);
	/* two matrices, of clean and of modified lines, have a cell for each pair of cores */
	w->profile_bytes = profile_bytes + host->journal_bytes;
	w->json_bytes = TEXT_BYTES + ACCOUNTING_BYTES + w->profile_bytes + 2 * (size_t)a->cores * a->cores * CELL_BYTES;
	json = host->get(host->self, w->json_bytes);
	csv = host->get(host->self, TEXT_BYTES);
	w->earlier = host->get(host->self, rows_count);
	w->penalty_milli = host->get(host->self, rows_count * sizeof(*w->penalty_milli));
	accounting = host->get(host->self, ACCOUNTING_BYTES);
	if (w->profile_bytes)
		profile = host->get(host->self, w->profile_bytes);
	if (!json || !csv || !accounting || !w->penalty_milli || !w->earlier || (w->profile_bytes && !profile)) {
		if (profile)
			host->put(host->self, profile, w->profile_bytes);
		if (json)
			host->put(host->self, json, w->json_bytes);
		if (csv)
			host->put(host->self, csv, TEXT_BYTES);
		if (w->earlier)
			host->put(host->self, w->earlier, rows_count);
		if (w->penalty_milli)
			host->put(host->self, w->penalty_milli, rows_count * sizeof(*w->penalty_milli));
		if (accounting)
			host->put(host->self, accounting, ACCOUNTING_BYTES);
		return ST_FULL;
	}
	text_init(&w->json, json, w->json_bytes);
	text_init(&w->accounting, accounting, ACCOUNTING_BYTES - TRUST_BYTES);
	text_init(&w->trust, accounting + ACCOUNTING_BYTES - TRUST_BYTES, TRUST_BYTES);
	for (unsigned i = 0; i < rows_count; i++)
		w->penalty_milli[i] = -1;
	text_init(&w->csv, csv, TEXT_BYTES);
	if (profile)
		text_init(&w->profile, profile, w->profile_bytes);
	return ST_OK;
}

void writer_close(struct writer *w)
{
	if (w->profile.at)
		w->host->put(w->host->self, w->profile.at, w->profile_bytes);
	w->host->put(w->host->self, w->earlier, rows_count);
	w->host->put(w->host->self, w->penalty_milli, rows_count * sizeof(*w->penalty_milli));
	w->host->put(w->host->self, w->accounting.at, ACCOUNTING_BYTES);
	w->host->put(w->host->self, w->csv.at, TEXT_BYTES);
	w->host->put(w->host->self, w->json.at, w->json_bytes);
}

/* The journal begins with the run as results.json describes it, on one line. */
void write_head(struct writer *w, const struct cpu *cpu, const struct suite_settings *s, uint64_t seed, uint64_t key)
{
	struct text line;
	char *at = w->host->get(w->host->self, TEXT_BYTES);

	text_fmt(&w->json, "{\n");
	report_head(&w->json, w->a, cpu, s, seed);
	report_csv_head(&w->csv);
	if (!at) {
		file_failed(w, ST_FULL);
	} else {
		text_init(&line, at, TEXT_BYTES);
		text_fmt(&line, "{\"event\": \"run\", \"key\": \"%016llx\", ", (unsigned long long)key);
		for (size_t i = 2; i < w->json.length; i++) /* behind "{\n" */
			text_char(&line, w->json.at[i] == '\n' ? ' ' : w->json.at[i]);
		text_fmt(&line, "}\n");
		journal(w, &line);
		text_init(&line, at, TEXT_BYTES);
		text_fmt(&line, "{\"event\": \"environment\", \"environment\": ");
		report_environment(&line, w->host);
		text_fmt(&line, "}\n");
		journal(w, &line);
		text_init(&line, at, MACHINE_TEXT_BYTES);
		inventory_text(&line, w->a, cpu);
		file_failed(w, line.full ? ST_FULL : w->host->write ? w->host->write(w->host->self, "machine.txt", line.at, line.length) : ST_OK);
		w->host->put(w->host->self, at, TEXT_BYTES);
	}
	text_fmt(&w->json, ",\n\"rows\": [");
}

void write_start(struct writer *w, const char *name)
{
	char at[160];
	struct text line;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"start\", \"name\": \"%s\"}\n", name);
	journal(w, &line);
}

/* A row into the whole files. */
static void add_row(struct writer *w, struct json row)
{
	text_fmt(&w->json, "%s\n", w->comma ? "," : "");
	text_bytes(&w->json, row.at, row.bytes);
	w->comma = true;
	report_csv_row(&w->csv, w->backend, row);
}

/* What happened in all windows of the run so far, so that the next boot goes on counting. */
static void windows_so_far(struct text *t, const struct disturbances *d)
{
	text_fmt(t, ", \"windows\": [%u, %u, %u, %u", d->windows, d->clock, d->thermal, d->modulated);
	for (unsigned i = 0; i < SMI_BINS; i++)
		text_fmt(t, ", %u", d->smi[i]);
	text_char(t, ']');
}

/* Of a line of an earlier boot; a list that is not whole numbers, or not so many, says nothing. */
static void take_windows(struct writer *w, struct json line)
{
	struct disturbances d;
	uint32_t *const to[] = { &d.windows, &d.clock, &d.thermal, &d.modulated };
	struct json list;
	unsigned n = 0;

	if (!json_get(line, "windows", &list) || list.bytes < 2 || list.at[0] != '[')
		return;
	for (size_t at = 1, from = 1; at < list.bytes; at++) {
		uint64_t v;

		if (list.at[at] != ',' && list.at[at] != ']')
			continue;
		while (from < at && list.at[from] == ' ')
			from++;
		if (n == COUNT_OF(to) + SMI_BINS || parse_u64(list.at + from, at - from, &v) != ST_OK || v > UINT32_MAX)
			return;
		*(n < COUNT_OF(to) ? to[n] : &d.smi[n - COUNT_OF(to)]) = (uint32_t)v;
		n++;
		from = at + 1;
	}
	if (n == COUNT_OF(to) + SMI_BINS)
		w->out->disturbances = d;
}

void write_row(struct writer *w, const struct row_result *r, bool odd)
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
	journal(w, &line);
	if (line.full)
		file_failed(w, ST_FULL);
	else
		add_row(w, row);
	if (large)
		w->host->put(w->host->self, large, bytes);
}

static void add_profile(struct writer *w, struct json workload)
{
	text_fmt(&w->profile, "%s\n", w->profile.length ? "," : "");
	text_bytes(&w->profile, workload.at, workload.bytes);
}

void write_profile(struct writer *w, const struct profile_plan *plan, const struct profile_result *r, bool odd)
{
	char *at = w->host->get(w->host->self, PROFILE_LINE_BYTES);
	struct text line;

	if (!at) {
		file_failed(w, ST_FULL);
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
	journal(w, &line);
	if (!line.full)
		add_profile(w, workload);
	text_init(&line, at, PROFILE_LINE_BYTES);
	profile_lines(&line, plan, r);
	if (w->host->say)
		w->host->say(w->host->self, line.at);
	w->host->put(w->host->self, at, PROFILE_LINE_BYTES);
}

void writer_failed(struct writer *w, enum status st) { file_failed(w, st); }
void writer_journal(struct writer *w, const struct text *line) { journal(w, line); }

void writer_part(struct writer *w, unsigned part, struct json json)
{
	w->part_earlier[part] = EARLIER_DONE;
	if (part == PART_TRUST) {
		text_bytes(&w->trust, json.at, json.bytes);
		return;
	}
	text_fmt(&w->accounting, "%s\n", w->accounting.length ? "," : "");
	text_bytes(&w->accounting, json.at, json.bytes);
}

void write_known_program(struct writer *w, unsigned odd)
{
	char at[LINE_BYTES];
	struct text line;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"study\", \"unexpected\": %u, \"study\": ", odd);
	known_program_json(&line, &w->out->study);
	text_fmt(&line, "}\n");
	journal(w, &line);
}

/* report.html, drawn from the results as they were written. Results without a report are results: what fails here is
 * told, and loses nothing else. */
static enum status write_report(struct writer *w)
{
	uint32_t most = document_nodes_most(w->json.at, w->json.length);
	size_t bytes = 0, node_bytes = most * sizeof(struct doc_node), string_bytes = document_strings_most(w->json.at, w->json.length);
	struct doc_node *nodes = w->host->get(w->host->self, node_bytes);
	char *strings = w->host->get(w->host->self, string_bytes), *html = w->host->get(w->host->self, HTML_BYTES_MOST);
	struct document d;
	enum status st = ST_FULL;

	if (nodes && strings && html) {
		document_init(&d, nodes, most, strings, string_bytes);
		st = document_parse(&d, w->json.at, w->json.length);
		if (st == ST_OK)
			st = html_report(&d, "", html, HTML_BYTES_MOST, &bytes);
		if (st == ST_OK)
			st = w->host->write(w->host->self, "report.html", html, bytes);
	}
	if (html)
		w->host->put(w->host->self, html, HTML_BYTES_MOST);
	if (strings)
		w->host->put(w->host->self, strings, string_bytes);
	if (nodes)
		w->host->put(w->host->self, nodes, node_bytes);
	return st;
}

/* The whole files, behind the last row. `summary` and what else is given is put in as it is. */
static void write_whole(struct writer *w, struct json summary)
{
	text_fmt(&w->json, "\n],\n\"summary\": ");
	text_bytes(&w->json, summary.at, summary.bytes);
	text_fmt(&w->json, ",\n\"study\": ");
	if (w->study.bytes)
		text_bytes(&w->json, w->study.at, w->study.bytes);
	else
		known_program_json(&w->json, &w->out->study);
	if (w->accounting.length)
		text_fmt(&w->json, ",\n\"accounting\": [%s\n]", w->accounting.at);
	if (w->trust.length)
		text_fmt(&w->json, ",\n\"trust\": %s", w->trust.at);
	if (w->profile.length)
		text_fmt(&w->json, ",\n\"profile\": [%s\n]", w->profile.at);
	text_fmt(&w->json, ",\n\"environment\": ");
	if (w->environment.bytes)
		text_bytes(&w->json, w->environment.at, w->environment.bytes);
	else
		report_environment(&w->json, w->host);
	text_fmt(&w->json, "\n}\n");
	if (w->json.full || w->csv.full || w->accounting.full || w->trust.full || w->profile.full)
		file_failed(w, ST_FULL);
	if (!w->host->write)
		return;
	if (!w->json.full)
		file_failed(w, w->host->write(w->host->self, "results.json", w->json.at, w->json.length));
	if (!w->csv.full)
		file_failed(w, w->host->write(w->host->self, "penalties.csv", w->csv.at, w->csv.length));
	if (!w->json.full)
		file_failed(w, write_report(w));
}

void write_end(struct writer *w)
{
	char at[4096]; /* sixteen types of boxes, each with why it cannot count */
	struct text line;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"end\", \"summary\": ");
	size_t from = line.length;
	report_summary(&line, w->out);
	struct json summary = { line.at + from, line.length - from };
	text_fmt(&line, "}\n");
	journal(w, &line);
	write_whole(w, summary);
}

/* --- a journal read back ----------------------------------------------------------------------- */

static bool begins_with(struct json text, const char *prefix)
{
	size_t n = str_length(prefix);

	return text.bytes >= n && memcmp(text.at, prefix, n) == 0;
}

/* The head of results.json has one member of the run's line on each of its lines, but what is the journal's own. */
static void take_run(struct writer *w, struct json run)
{
	struct json member, value;
	size_t at = 0;
	struct text name;

	text_fmt(&w->json, "{\n");
	while (json_member(run, &at, &member))
		if (!begins_with(member, "\"event\"") && !begins_with(member, "\"key\"")) {
			text_bytes(&w->json, member.at, member.bytes);
			text_fmt(&w->json, ",\n");
		}
	text_fmt(&w->json, "\"rows\": [");
	report_csv_head(&w->csv);
	text_init(&name, w->backend, sizeof(w->backend));
	if (json_get(run, "backend", &value))
		json_string_of(&name, value);
}

static unsigned count_of(struct json object, const char *key)
{
	struct json value;
	int64_t milli;

	return json_get(object, key, &value) && json_milli(value, &milli) && milli >= 0 ? (unsigned)(milli / 1000) : 0;
}

static void take_start(struct writer *w, struct json line)
{
	struct json name;

	if (!json_get(line, "name", &name))
		return;
	w->known_program_begun = w->known_program_begun || json_is(name, KNOWN_PROGRAM_NAME);
	for (unsigned i = 0; i < rows_count; i++)
		if (w->earlier[i] == EARLIER_NOTHING && json_is(name, rows[i].name))
			w->earlier[i] = EARLIER_BEGUN;
	for (unsigned i = 0; i < SUITE_SECTIONS; i++)
		if (w->part_earlier[i] == EARLIER_NOTHING && json_is(name, suite_section_name(i)))
			w->part_earlier[i] = EARLIER_BEGUN;
}

/* The accounting of a workload. */
static void take_accounting(struct writer *w, struct json line)
{
	struct json accounting, name;

	if (!json_get(line, "accounting", &accounting) || !json_get(accounting, "workload", &name))
		return;
	for (unsigned i = 0; i < WORK_KINDS; i++)
		if (w->part_earlier[i] != EARLIER_DONE && json_is(name, work_name((enum work_kind)i))) {
			w->out->unexpected += count_of(line, "unexpected");
			writer_part(w, i, accounting);
		}
}

static void take_trust(struct writer *w, struct json line)
{
	struct json trust;

	if (w->part_earlier[PART_TRUST] == EARLIER_DONE || !json_get(line, "trust", &trust))
		return;
	w->out->unexpected += count_of(line, "unexpected");
	writer_part(w, PART_TRUST, trust);
}

/* Penalties feed the accounting also when an earlier boot measured them. */
static void take_penalty(struct writer *w, unsigned i, struct json row, enum row_status status)
{
	struct json value;
	int64_t milli;

	if (rows[i].kind == KIND_PENALTY && (status == ROW_OK || status == ROW_NOISY) && json_get(row, "value", &value) && json_milli(value, &milli))
		w->penalty_milli[i] = milli;
}

/* Rows that this build does not know, or that stand there twice, are left out. `profile`: a row's kernel under one. */
static void take_row(struct writer *w, struct json line, bool profile)
{
	struct json row, name, status;

	take_windows(w, line);
	if (!json_get(line, profile ? "profile" : "row", &row) || !json_get(row, profile ? "row" : "name", &name) ||
	    !json_get(row, "status", &status))
		return;
	for (unsigned i = 0; i < rows_count; i++) {
		if (w->earlier[i] == EARLIER_DONE || !json_is(name, rows[i].name))
			continue;
		for (unsigned s = 0; s < ROW_STATUS_COUNT; s++)
			if (json_is(status, row_status_name((enum row_status)s))) {
				w->earlier[i] = EARLIER_DONE;
				w->out->by_status[s]++;
				w->out->rows++;
				w->out->unexpected += count_of(line, "unexpected");
				if (profile)
					add_profile(w, row);
				else
					add_row(w, row);
				if (!profile)
					take_penalty(w, i, row, (enum row_status)s);
			}
	}
}

/* Takes all lines. `summary` of the end line, bytes = 0 without one. False: it does not begin with its run. */
static bool take_journal(struct writer *w, const char *text, size_t bytes, struct json *summary, unsigned *damaged)
{
	struct journal j;
	struct journal_line line;

	*summary = (struct json){ "", 0 };
	journal_open(&j, text, bytes);
	if (!journal_next(&j, &line) || line.event != JOURNAL_RUN)
		return false;
	take_run(w, line.object);
	while (journal_next(&j, &line))
		switch (line.event) {
		case JOURNAL_START: take_start(w, line.object); break;
		case JOURNAL_ROW: take_row(w, line.object, false); break;
		case JOURNAL_PROFILE: take_row(w, line.object, true); break;
		case JOURNAL_ACCOUNTING: take_accounting(w, line.object); break;
		case JOURNAL_TRUST: take_trust(w, line.object); break;
		case JOURNAL_BOOT: w->out->boots++; break;
		case JOURNAL_KNOWN_PROGRAM:
			if (!w->study.bytes)
				w->out->unexpected += count_of(line.object, "unexpected");
			(void)json_get(line.object, "study", &w->study);
			break;
		case JOURNAL_ENVIRONMENT:
			if (!w->environment.bytes)
				(void)json_get(line.object, "environment", &w->environment);
			break;
		case JOURNAL_END: (void)json_get(line.object, "summary", summary); break;
		default: break;
		}
	*damaged = j.damaged;
	return true;
}

bool write_earlier(struct writer *w)
{
	struct json summary;
	unsigned damaged = 0;
	char at[96];
	struct text line;

	if (!take_journal(w, w->host->journal, w->host->journal_bytes, &summary, &damaged))
		return false;
	w->out->boots++;
	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"boot\", \"boot\": %u, \"damaged_lines\": %u}\n", w->out->boots, damaged);
	journal(w, &line);
	return true;
}

enum status suite_rebuild(const char *text, size_t bytes, const struct suite_host *host)
{
	static const struct access none = { .name = "" };
	struct suite_summary out;
	struct writer w;
	struct json summary;
	unsigned damaged = 0;
	struct suite_host sized = *host;

	memset(&out, 0, sizeof(out));
	sized.journal_bytes = bytes;
	enum status st = writer_open(&w, &none, &sized, &out, 0);
	if (st != ST_OK)
		return st;
	if (!take_journal(&w, text, bytes, &summary, &damaged) || !summary.bytes)
		st = ST_MISSING;
	else if (damaged)
		st = ST_SYNTAX;
	else
		write_whole(&w, summary);
	writer_close(&w);
	return st != ST_OK ? st : out.files;
}
