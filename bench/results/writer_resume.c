/* bench/results/writer_resume.c: reads a journal back into the files of its run: the part of earlier boots, or all of it. */
#include "bench/results/writer.h"

/* Takes the window counts of an earlier boot's line. A list of the wrong length, or with other than whole numbers, is ignored. */
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

static bool begins_with(struct json text, const char *prefix)
{
	size_t n = str_length(prefix);

	return text.bytes >= n && memcmp(text.at, prefix, n) == 0;
}

/* The head of results.json: each member of the journal's run line on a line of its own, except those that belong to the journal. */
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

/* Selects the kind of cores that a name ends with; *base: the name before it. */
static bool view_named(struct writer *w, struct json name, struct json *base)
{
	const unsigned kind = writer_kind_named(name, base);

	if (kind < CORE_KIND_NAMES)
		writer_view(w, kind);
	return kind < CORE_KIND_NAMES;
}

/* The same for a line with a member of its own for the kind. */
static bool view_of(struct writer *w, struct json line)
{
	struct json kind;

	writer_view(w, 0);
	if (!json_get(line, "core_kind", &kind))
		return true;
	for (unsigned i = 1; i < CORE_KIND_NAMES; i++)
		if (json_is(kind, core_kind_names[i])) {
			writer_view(w, i);
			return true;
		}
	return false;
}

static void take_start(struct writer *w, struct json line)
{
	struct json name;

	if (!json_get(line, "name", &name) || !view_named(w, name, &name))
		return;
	if (*w->study_earlier == RESUMED_NOTHING && writer_is(name, KNOWN_PROGRAM_NAME))
		*w->study_earlier = RESUMED_BEGUN;
	for (unsigned i = 0; i < rows_count; i++)
		if (w->earlier[i] == RESUMED_NOTHING && writer_is(name, rows[i].name))
			w->earlier[i] = RESUMED_BEGUN;
	for (unsigned i = 0; i < SUITE_SECTIONS; i++)
		if (w->part_earlier[i] == RESUMED_NOTHING && writer_is(name, writer_section_name(i)))
			w->part_earlier[i] = RESUMED_BEGUN;
}

/* Takes the accounting of a workload. */
static void take_accounting(struct writer *w, struct json line)
{
	struct json accounting, name;

	if (!view_of(w, line) || !json_get(line, "accounting", &accounting) || !json_get(accounting, "workload", &name))
		return;
	if (writer_kind_named(name, &name) == CORE_KIND_NAMES)
		return;
	for (unsigned i = 0; i < WORK_KINDS; i++)
		if (w->part_earlier[i] != RESUMED_DONE && writer_is(name, work_name((enum work_kind)i))) {
			w->out->unexpected += count_of(line, "unexpected");
			writer_part(w, i, accounting);
		}
}

static void take_trust(struct writer *w, struct json line)
{
	struct json trust;

	if (!view_of(w, line) || w->part_earlier[PART_TRUST] == RESUMED_DONE || !json_get(line, "trust", &trust))
		return;
	w->out->unexpected += count_of(line, "unexpected");
	writer_part(w, PART_TRUST, trust);
}

static void take_study(struct writer *w, struct json line)
{
	struct json study;

	if (!view_of(w, line) || *w->study_earlier == RESUMED_DONE || !json_get(line, "study", &study))
		return;
	w->out->unexpected += count_of(line, "unexpected");
	writer_study(w, study);
}

/* Takes a penalty that an earlier boot measured, since the accounting needs it. */
static void take_penalty(struct writer *w, unsigned i, struct json row, enum row_status status)
{
	struct json value;
	int64_t milli;

	if (rows[i].kind == KIND_PENALTY && (status == ROW_OK || status == ROW_NOISY) && json_get(row, "value", &value) && json_milli(value, &milli))
		w->penalty_milli[i] = milli;
}

/* Takes a row; skips rows that are unknown to this build or already taken. JOURNAL_PROFILE: the line is a row's kernel under a profile. */
static void take_row(struct writer *w, struct json line, enum journal_event event)
{
	const bool profile = event == JOURNAL_PROFILE;
	struct json row, name, status;

	take_windows(w, line);
	if (!json_get(line, profile ? "profile" : "row", &row) || !json_get(row, profile ? "row" : "name", &name) ||
	    !json_get(row, "status", &status) || !view_named(w, name, &name))
		return;
	for (unsigned i = 0; i < rows_count; i++) {
		if (w->earlier[i] == RESUMED_DONE || !writer_is(name, rows[i].name))
			continue;
		for (unsigned s = 0; s < ROW_STATUS_COUNT; s++)
			if (json_is(status, row_status_name((enum row_status)s))) {
				w->earlier[i] = RESUMED_DONE;
				w->out->by_status[s]++;
				w->out->rows++;
				w->out->unexpected += count_of(line, "unexpected");
				if (profile) {
					writer_add_profile(w, row);
				} else {
					writer_add_row(w, row);
					w->notes[i].odd = count_of(line, "unexpected") != 0;
					take_penalty(w, i, row, (enum row_status)s);
				}
			}
	}
}

static void take_verdict(struct writer *w, struct json line)
{
	struct json name, status, reason;

	if (!json_get(line, "name", &name) || !json_get(line, "status", &status) || !json_get(line, "reason", &reason) || reason.at[0] != '"' ||
	    !view_named(w, name, &name))
		return;
	for (unsigned i = 0; i < rows_count; i++)
		for (unsigned s = 0; writer_is(name, rows[i].name) && s < ROW_STATUS_COUNT; s++)
			if (json_is(status, row_status_name((enum row_status)s)))
				(void)writer_take_amendment(w, i, (enum row_status)s, reason, count_of(line, "unexpected") != 0);
}

/* Lines were lost: what was in progress before them had ended, since they came after it, and its result was in them. It is measured again. */
static void forget_begun(struct writer *w)
{
	for (unsigned i = 0; i < CORE_KIND_NAMES * rows_count; i++)
		if (w->all_earlier[i] == RESUMED_BEGUN)
			w->all_earlier[i] = RESUMED_NOTHING;
	for (unsigned kind = 0; kind < CORE_KIND_NAMES; kind++) {
		for (unsigned i = 0; i < SUITE_SECTIONS; i++)
			if (w->all_parts[kind][i] == RESUMED_BEGUN)
				w->all_parts[kind][i] = RESUMED_NOTHING;
		if (w->all_studies[kind] == RESUMED_BEGUN)
			w->all_studies[kind] = RESUMED_NOTHING;
	}
}

/* Takes all lines. *summary is that of the end line, bytes = 0 without one. False: the journal does not begin with a run line. */
static bool take_journal(struct writer *w, struct journal *j, const char *text, size_t bytes, struct json *summary)
{
	struct journal_line line;
	unsigned lost = 0;

	*summary = (struct json){ "", 0 };
	journal_open(j, text, bytes);
	if (!journal_next(j, &line) || line.event != JOURNAL_RUN)
		return false;
	take_run(w, line.object);
	while (journal_next(j, &line)) {
		if (j->lost != lost)
			forget_begun(w);
		lost = j->lost;
		switch (line.event) {
		case JOURNAL_START: take_start(w, line.object); break;
		case JOURNAL_ROW: take_row(w, line.object, JOURNAL_ROW); break;
		case JOURNAL_VERDICT: take_verdict(w, line.object); break;
		case JOURNAL_PROFILE: take_row(w, line.object, JOURNAL_PROFILE); break;
		case JOURNAL_ACCOUNTING: take_accounting(w, line.object); break;
		case JOURNAL_TRUST: take_trust(w, line.object); break;
		case JOURNAL_BOOT: w->out->boots++; break;
		case JOURNAL_KNOWN_PROGRAM:
			take_study(w, line.object);
			break;
		case JOURNAL_ENVIRONMENT:
			if (!w->environment.bytes)
				(void)json_get(line.object, "environment", &w->environment);
			break;
		case JOURNAL_END: (void)json_get(line.object, "summary", summary); break;
		default: break;
		}
	}
	if (j->lost != lost)
		forget_begun(w);
	return true;
}

bool writer_earlier(struct writer *w)
{
	struct json summary;
	struct journal j;
	char at[96];
	struct text line;

	if (!take_journal(w, &j, w->host->journal, w->host->journal_bytes, &summary))
		return false;
	w->out->boots++;
	const unsigned damaged = j.damaged - (j.whole_bytes < w->host->journal_bytes); /* an incomplete last line is overwritten by this one */
	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"boot\", \"boot\": %u, \"damaged_lines\": %u}\n", w->out->boots, damaged);
	writer_journal(w, &line);
	return true;
}

enum status writer_rebuild(struct writer *w, const char *text, size_t bytes)
{
	struct json summary;
	struct journal j;

	if (!take_journal(w, &j, text, bytes, &summary) || !summary.bytes)
		return ST_MISSING;
	if (journal_unanswered(&j) != 0)
		return ST_SYNTAX;
	writer_whole(w, summary);
	return ST_OK;
}
