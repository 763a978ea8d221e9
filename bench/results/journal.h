/* bench/results/journal.h: reads journal.jsonl back: on the next boot after a crash, and on the host from a serial log.
 *
 * Nothing is trusted before it parses: a line that is not a complete JSON object is counted as damaged and skipped. */
#ifndef BENCH_JOURNAL_H
#define BENCH_JOURNAL_H

#include "pmu/base.h"
#include "pmu/text.h"

/* A value within a JSON text. */
struct json { const char *at; size_t bytes; };

/* True if the text is exactly one JSON value, nested at most 32 deep. */
bool json_valid(struct json text);
/* The value of a key of an object that json_valid accepted; the first if there are several. False: no such key. */
bool json_get(struct json object, const char *key, struct json *value);
/* Iterates over the members of an object; start with *at = 0. False after the last. `member` is `"key": value`. */
bool json_member(struct json object, size_t *at, struct json *member);
/* Whether it is a string of exactly these bytes; none of them may need an escape. */
bool json_is(struct json value, const char *s);
/* A number with up to three decimal places, in thousandths. False: not such a number. */
bool json_milli(struct json value, int64_t *milli);
/* The contents of a string, with the escapes that text_json writes decoded; other escapes stay as they are. */
void json_string_of(struct text *t, struct json value);

enum journal_event { JOURNAL_RUN, JOURNAL_ENVIRONMENT, JOURNAL_BOOT, JOURNAL_START, JOURNAL_ROW, JOURNAL_VERDICT, JOURNAL_PROFILE, JOURNAL_KNOWN_PROGRAM, JOURNAL_ACCOUNTING, JOURNAL_TRUST, JOURNAL_END,
	JOURNAL_EVENTS };

struct journal_line {
	enum journal_event event;
	struct json object;   /* the whole line */
	unsigned line;        /* from 1 */
};

struct journal {
	const char *start, *at, *end;
	unsigned line, damaged, first_damaged; /* lines so far; damaged lines; the first of them */
	unsigned answered;    /* damaged lines that a later boot had found when it resumed the run: what was lost in them was measured again */
	unsigned lost;        /* damaged lines other than the half line of a crash: more than the line in progress was in them */
	size_t damaged_at, damaged_bytes, damaged_zeros; /* offset of the first damaged line; bytes of all, and how many are zeros, as a power cut leaves them */
	size_t whole_bytes;   /* up to and including the last line feed so far; what follows is half a line */
};

void journal_open(struct journal *j, const char *text, size_t bytes);
/* The next line that is complete and of a known event. False at the end. */
bool journal_next(struct journal *j, struct journal_line *out);
/* The damaged lines so far that no later boot knew of. */
unsigned journal_unanswered(const struct journal *j);

#endif
