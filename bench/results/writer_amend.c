/* bench/results/writer_amend.c: changes the verdict of a written row. Its journal line stays; a line `verdict` follows. */
#include "bench/results/writer.h"

#define VERDICT_BYTES 512u

/* Replaces some bytes of w->json; later rows move. False: no room. */
static bool replace(struct writer *w, size_t at, size_t bytes, const char *by, size_t by_bytes)
{
	struct text *t = &w->json;
	const size_t behind = t->length - at - bytes;

	if (t->full || at + by_bytes + behind >= t->capacity) {
		t->full = true;
		return false;
	}
	memmove(t->at + at + by_bytes, t->at + at + bytes, behind);
	memcpy(t->at + at, by, by_bytes);
	t->length = at + by_bytes + behind;
	t->at[t->length] = 0;
	for (size_t i = 0; i < (size_t)rows_count * CORE_KIND_NAMES; i++)
		if (w->all_notes[i].bytes && w->all_notes[i].at > at)
			w->all_notes[i].at = w->all_notes[i].at + by_bytes - bytes;
	return true;
}

/* Sets a member of the row to `by`, JSON text (a string with its quotes). */
static bool replace_member(struct writer *w, struct writer_note *n, const char *key, const char *by, size_t by_bytes)
{
	struct json value;

	if (!json_get((struct json){ w->json.at + n->at, n->bytes }, key, &value) ||
	    !replace(w, (size_t)(value.at - w->json.at), value.bytes, by, by_bytes))
		return false;
	n->bytes = n->bytes + by_bytes - value.bytes;
	return true;
}

bool writer_take_amendment(struct writer *w, unsigned row, enum row_status status, struct json reason, bool odd)
{
	struct writer_note *n = &w->notes[row];
	char word[32];
	struct text t;

	if (!n->bytes || n->amended)
		return false;
	text_init(&t, word, sizeof(word));
	text_fmt(&t, "\"%s\"", row_status_name(status));
	if (!replace_member(w, n, "status", t.at, t.length) || !replace_member(w, n, "reason", reason.at, reason.bytes)) {
		writer_failed(w, ST_FULL);
		return false;
	}
	w->out->by_status[n->status]--;
	w->out->by_status[status]++;
	w->out->unexpected = w->out->unexpected + odd - n->odd;
	w->penalty_milli[row] = -1;
	n->status = status;
	n->odd = odd;
	n->amended = true;
	return true;
}

void writer_amend(struct writer *w, unsigned row, enum row_status status, const char *reason, bool odd)
{
	char at[VERDICT_BYTES], shown[VERDICT_BYTES];
	struct text line;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"verdict\", \"name\": \"");
	writer_name(w, &line, rows[row].name);
	text_fmt(&line, "\", \"status\": \"%s\", \"unexpected\": %u, \"reason\": ", row_status_name(status), odd ? 1 : 0);
	size_t from = line.length;
	text_char(&line, '"');
	text_json(&line, reason);
	text_char(&line, '"');
	const struct json quoted = { line.at + from, line.length - from };
	text_fmt(&line, "}\n");
	if (!writer_take_amendment(w, row, status, quoted, odd))
		return;
	writer_journal(w, &line);
	text_init(&line, shown, sizeof(shown));
	writer_name(w, &line, rows[row].name);
	text_fmt(&line, " is %s: %s\n", row_status_name(status), reason);
	if (w->host->print)
		w->host->print(w->host->self, line.at);
}
