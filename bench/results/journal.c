/* bench/results/journal.c: a small JSON reader (RFC 8259) over a text in memory, and the journal's lines above it. */
#include "bench/results/journal.h"

#define DEPTH_MAX 32u

static const char *blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

static unsigned hex_digit(char c);

/* The last character of the escape that begins with the backslash before p; NULL if there is no such escape. */
static const char *escape_end(const char *p, const char *end)
{
	static const char letters[] = "\"\\/bfnrt";

	if (p == end)
		return NULL;
	for (unsigned i = 0; i < sizeof(letters) - 1; i++)
		if (*p == letters[i])
			return p;
	if (*p != 'u' || end - p < 5)
		return NULL;
	for (unsigned i = 1; i < 5; i++)
		if (hex_digit(p[i] >= 'A' && p[i] <= 'F' ? (char)(p[i] - 'A' + 'a') : p[i]) == 16)
			return NULL;
	return p + 4;
}

/* Each of these functions returns the position after its element, or NULL if the text is not such an element. */
static const char *string_end(const char *p, const char *end)
{
	if (p == end || *p++ != '"')
		return NULL;
	for (; p < end && *p != '"'; p++) {
		if ((uint8_t)*p < 0x20)
			return NULL;
		if (*p == '\\') {
			p = escape_end(p + 1, end);
			if (!p)
				return NULL;
		}
	}
	return p < end ? p + 1 : NULL;
}

static const char *digits_end(const char *p, const char *end)
{
	const char *from = p;

	while (p < end && *p >= '0' && *p <= '9')
		p++;
	return p > from ? p : NULL;
}

static const char *number_end(const char *p, const char *end)
{
	if (p < end && *p == '-')
		p++;
	/* no leading zero */
	p = p < end && *p == '0' ? p + 1 : digits_end(p, end);
	if (p && p < end && *p == '.')
		p = digits_end(p + 1, end);
	if (p && p < end && (*p == 'e' || *p == 'E')) {
		p++;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		p = digits_end(p, end);
	}
	return p;
}

static const char *word_end(const char *p, const char *end, const char *word)
{
	size_t n = str_length(word);

	return (size_t)(end - p) >= n && !memcmp(p, word, n) ? p + n : NULL;
}

static const char *value_end(const char *p, const char *end, unsigned depth);

/* Starts after the opening bracket. */
static const char *list_end(const char *p, const char *end, char close, unsigned depth)
{
	p = blanks(p, end);
	if (p < end && *p == close)
		return p + 1;
	for (;;) {
		if (close == '}') {
			p = string_end(blanks(p, end), end);
			if (!p)
				return NULL;
			p = blanks(p, end);
			if (p == end || *p++ != ':')
				return NULL;
		}
		p = value_end(blanks(p, end), end, depth);
		if (!p)
			return NULL;
		p = blanks(p, end);
		if (p == end)
			return NULL;
		if (*p == close)
			return p + 1;
		if (*p++ != ',')
			return NULL;
	}
}

static const char *value_end(const char *p, const char *end, unsigned depth)
{
	if (p == end || depth == DEPTH_MAX)
		return NULL;
	switch (*p) {
	case '{': return list_end(p + 1, end, '}', depth + 1);
	case '[': return list_end(p + 1, end, ']', depth + 1);
	case '"': return string_end(p, end);
	case 't': return word_end(p, end, "true");
	case 'f': return word_end(p, end, "false");
	case 'n': return word_end(p, end, "null");
	default: return number_end(p, end);
	}
}

bool json_valid(struct json text)
{
	const char *end = text.at + text.bytes, *p = value_end(blanks(text.at, end), end, 0);

	return p && blanks(p, end) == end;
}

bool json_member(struct json object, size_t *at, struct json *member)
{
	const char *end = object.at + object.bytes, *p;

	if (!*at) {
		p = blanks(object.at, end);
		if (p == end || *p != '{')
			return false;
		p++;
	} else {
		p = blanks(object.at + *at, end);
		if (p == end || *p != ',')
			return false;
		p++;
	}
	p = blanks(p, end);
	member->at = p;
	p = string_end(p, end);
	if (!p)
		return false;
	p = blanks(p, end);
	if (p == end || *p != ':')
		return false;
	p = value_end(blanks(p + 1, end), end, 1);
	if (!p)
		return false;
	member->bytes = (size_t)(p - member->at);
	*at = (size_t)(p - object.at);
	return true;
}

bool json_get(struct json object, const char *key, struct json *value)
{
	size_t at = 0, n = str_length(key);
	struct json member;

	while (json_member(object, &at, &member)) {
		const char *end = member.at + member.bytes, *p;

		if (member.bytes < n + 2 || memcmp(member.at + 1, key, n) || member.at[n + 1] != '"')
			continue;
		p = blanks(member.at + n + 2, end);
		value->at = blanks(p + 1, end); /* after the colon */
		value->bytes = (size_t)(end - value->at);
		return true;
	}
	return false;
}

bool json_is(struct json value, const char *s)
{
	size_t n = str_length(s);

	return value.bytes == n + 2 && value.at[0] == '"' && !memcmp(value.at + 1, s, n) && value.at[n + 1] == '"';
}

bool json_milli(struct json value, int64_t *milli)
{
	const char *p = value.at, *end = p + value.bytes;
	bool negative = p < end && *p == '-';
	int64_t v = 0;
	unsigned digits = 0, behind = 0;

	for (p += negative; p < end && *p >= '0' && *p <= '9' && digits < 15; p++, digits++)
		v = v * 10 + (*p - '0');
	if (!digits)
		return false;
	if (p < end && *p == '.')
		for (p++; p < end && *p >= '0' && *p <= '9' && behind < 3; p++, behind++)
			v = v * 10 + (*p - '0');
	for (; behind < 3; behind++)
		v *= 10;
	*milli = negative ? -v : v;
	return p == end;
}

static unsigned hex_digit(char c)
{
	return c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
}

void json_string_of(struct text *t, struct json value)
{
	const char *p = value.at + 1, *end = value.at + value.bytes - 1;

	if (value.bytes < 2 || value.at[0] != '"')
		return;
	while (p < end) {
		if (end - p >= 2 && *p == '\\' && (p[1] == '"' || p[1] == '\\')) {
			text_char(t, p[1]);
			p += 2;
		} else if (end - p >= 6 && !memcmp(p, "\\u00", 4) && hex_digit(p[4]) < 16 && hex_digit(p[5]) < 16) {
			text_char(t, (char)(hex_digit(p[4]) << 4 | hex_digit(p[5])));
			p += 6;
		} else {
			text_char(t, *p++);
		}
	}
}

/* --- the journal ------------------------------------------------------------------------------- */

void journal_open(struct journal *j, const char *text, size_t bytes)
{
	*j = (struct journal){ .start = text, .at = text, .end = text + bytes };
}

static bool known_event(struct json object, enum journal_event *event)
{
	static const char *const names[] = { [JOURNAL_RUN] = "run", [JOURNAL_ENVIRONMENT] = "environment", [JOURNAL_BOOT] = "boot",
		[JOURNAL_START] = "start", [JOURNAL_ROW] = "row", [JOURNAL_VERDICT] = "verdict", [JOURNAL_PROFILE] = "profile", [JOURNAL_KNOWN_PROGRAM] = "study", [JOURNAL_ACCOUNTING] = "accounting", [JOURNAL_TRUST] = "trust",
		[JOURNAL_END] = "end" };
	/* the key that identifies each event */
	static const char *const keys[] = { [JOURNAL_RUN] = "schema", [JOURNAL_ENVIRONMENT] = "environment", [JOURNAL_BOOT] = "boot",
		[JOURNAL_START] = "name", [JOURNAL_ROW] = "row", [JOURNAL_VERDICT] = "reason", [JOURNAL_PROFILE] = "profile", [JOURNAL_KNOWN_PROGRAM] = "study", [JOURNAL_ACCOUNTING] = "accounting", [JOURNAL_TRUST] = "trust",
		[JOURNAL_END] = "summary" };
	struct json value;

	if (!json_get(object, "event", &value))
		return false;
	for (unsigned i = 0; i < JOURNAL_EVENTS; i++)
		if (json_is(value, names[i])) {
			*event = (enum journal_event)i;
			return json_get(object, keys[i], &value);
		}
	return false;
}

/* The damaged lines that an earlier boot found, as far as they are still before its line. */
static void take_answer(struct journal *j, struct json boot)
{
	struct json lines;
	int64_t milli;

	if (json_get(boot, "damaged_lines", &lines) && json_milli(lines, &milli) && milli >= 0)
		j->answered = milli / 1000 < j->damaged ? (unsigned)(milli / 1000) : j->damaged;
}

static void take_damage(struct journal *j, const char *line)
{
	const bool complete = j->at[-1] == '\n';
	size_t zeros = 0;

	for (const char *p = line; p < j->at; p++)
		zeros += *p == 0;
	if (!j->damaged++) {
		j->first_damaged = j->line;
		j->damaged_at = (size_t)(line - j->start);
	}
	j->damaged_bytes += (size_t)(j->at - line);
	j->damaged_zeros += zeros;
	j->lost += complete || zeros;
}

unsigned journal_unanswered(const struct journal *j) { return j->damaged - j->answered; }

bool journal_next(struct journal *j, struct journal_line *out)
{
	while (j->at < j->end) {
		const char *line = j->at, *feed = line;

		while (feed < j->end && *feed != '\n')
			feed++;
		j->line++;
		out->object = (struct json){ line, (size_t)(feed - line) };
		out->line = j->line;
		j->at = feed < j->end ? feed + 1 : feed;
		if (feed < j->end)
			j->whole_bytes = (size_t)(j->at - j->start);
		/* A crash may leave half a line at the end. */
		if (feed < j->end && json_valid(out->object) && known_event(out->object, &out->event)) {
			if (out->event == JOURNAL_BOOT)
				take_answer(j, out->object);
			return true;
		}
		take_damage(j, line);
	}
	return false;
}
