/* pmu/text.c: see text.h. */
#include "pmu/text.h"

#include <stdarg.h>

const char *status_name(enum status s)
{
	static const char *const names[ST_COUNT] = {
		"ok", "fault", "time-out", "unsupported", "refused", "out of range", "syntax", "full",
		"i/o error", "missing", "broken", "stopped",
	};
	return (unsigned)s < ST_COUNT ? names[s] : "unknown";
}

/* ---- out ------------------------------------------------------------------------------------ */

void text_init(struct text *t, char *at, size_t capacity)
{
	t->at = at;
	t->capacity = capacity;
	t->length = 0;
	t->full = capacity == 0;
	if (capacity)
		at[0] = 0;
}

void text_bytes(struct text *t, const char *s, size_t n)
{
	size_t room = t->capacity ? t->capacity - 1 - t->length : 0;
	if (n > room) {
		n = room;
		t->full = true;
	}
	if (!t->capacity)
		return;
	memcpy(t->at + t->length, s, n);
	t->length += n;
	t->at[t->length] = 0;
}

void text_char(struct text *t, char c)
{
	text_bytes(t, &c, 1);
}

static void pad(struct text *t, char c, size_t n)
{
	while (n--)
		text_char(t, c);
}

#define LOWER_CASE "0123456789abcdef"
#define UPPER_CASE "0123456789ABCDEF"

/* Digits of v out of `set`, last first, into end[-1], end[-2], ...; returns how many. */
static size_t digits(char *end, uint64_t v, unsigned base, const char *set)
{
	size_t n = 0;
	do {
		end[-1 - (ptrdiff_t)n++] = set[v % base];
		v /= base;
	} while (v);
	return n;
}

struct spec { bool left, zero; size_t width; int precision; };

/* `sign`: "-" or "". */
static void put_field(struct text *t, const struct spec *f, const char *sign, const char *s, size_t n)
{
	const bool minus = *sign != 0;
	size_t all = n + minus, fill = f->width > all ? f->width - all : 0;
	if (!f->left && !f->zero)
		pad(t, ' ', fill);
	if (minus)
		text_char(t, '-');
	if (!f->left && f->zero)
		pad(t, '0', fill);
	text_bytes(t, s, n);
	if (f->left)
		pad(t, ' ', fill);
}

void text_vfmt(struct text *t, const char *format, va_list args)
{
	va_list list;
	va_copy(list, args);
	for (const char *p = format; *p; p++) {
		if (*p != '%') {
			text_char(t, *p);
			continue;
		}
		struct spec f = { .precision = -1 };
		for (p++; *p == '-' || *p == '0'; p++)
			*(*p == '-' ? &f.left : &f.zero) = true;
		if (*p == '*') {
			int width = va_arg(list, int);
			f.width = width < 0 ? 0 : (size_t)width;
			p++;
		}
		for (; *p >= '0' && *p <= '9'; p++)
			f.width = f.width * 10 + (size_t)(*p - '0');
		if (p[0] == '.' && p[1] == '*') {
			f.precision = va_arg(list, int);
			p += 2;
		}
		unsigned longs = 0;
		for (; *p == 'l' || *p == 'z'; p++)
			longs++;
		char buffer[24], *end = buffer + sizeof(buffer);
		switch (*p) {
		case 'd': {
			int64_t v = longs ? va_arg(list, long) : va_arg(list, int);
			size_t n = digits(end, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, 10, LOWER_CASE);
			put_field(t, &f, v < 0 ? "-" : "", end - n, n);
			break;
		}
		case 'u': case 'x': case 'X': {
			uint64_t v = longs ? va_arg(list, unsigned long) : va_arg(list, unsigned);
			size_t n = digits(end, v, *p == 'u' ? 10 : 16, *p == 'X' ? UPPER_CASE : LOWER_CASE);
			put_field(t, &f, "", end - n, n);
			break;
		}
		case 's': {
			const char *s = va_arg(list, const char *);
			if (!s)
				s = "(null)";
			size_t n = 0;
			while ((f.precision < 0 || n < (size_t)f.precision) && s[n])
				n++;
			f.zero = false;
			put_field(t, &f, "", s, n);
			break;
		}
		case 'c': {
			char c = (char)va_arg(list, int);
			put_field(t, &f, "", &c, 1);
			break;
		}
		case '%':
			text_char(t, '%');
			break;
		default: /* not in the subset: printed as it stands, to be noticed */
			text_char(t, '%');
			if (!*p)
				p--;
			else
				text_char(t, *p);
		}
	}
	va_end(list);
}

void text_fmt(struct text *t, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	text_vfmt(t, format, args);
	va_end(args);
}

void text_fixed(struct text *t, int64_t value, unsigned decimals)
{
	char buffer[32], *end = buffer + sizeof(buffer);
	uint64_t v = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	uint64_t scale = 1;
	for (unsigned i = 0; i < decimals; i++)
		scale *= 10;
	if (value < 0)
		text_char(t, '-');
	size_t n = digits(end, v / scale, 10, LOWER_CASE);
	text_bytes(t, end - n, n);
	if (!decimals)
		return;
	text_char(t, '.');
	n = digits(end, v % scale, 10, LOWER_CASE);
	pad(t, '0', decimals - n);
	text_bytes(t, end - n, n);
}

void text_fixed_or_null(struct text *t, int64_t value, unsigned decimals, bool known)
{
	if (known)
		text_fixed(t, value, decimals);
	else
		text_fmt(t, "null");
}

void text_words(struct text *t, const char *s)
{
	for (bool begun = false; *s; s++) {
		if (*s != ' ' && begun && s[-1] == ' ')
			text_char(t, ' ');
		if (*s != ' ') {
			text_char(t, *s);
			begun = true;
		}
	}
}

bool text_fold(struct text *t, const char **lines, unsigned columns, unsigned hang)
{
	const char *at = *lines, *end = at;
	unsigned indent = 0, first = 0;

	if (!*at)
		return false;
	while (*end && *end != '\n')
		end++;
	*lines = *end ? end + 1 : end;
	while (at + indent < end && at[indent] == ' ')
		indent++;
	for (bool more = false; at < end; more = true) {
		size_t room = columns - (more ? first : 0), n = (size_t)(end - at);

		if (n > room) {
			/* break at the last blank that fits, else at the first one */
			for (n = room; n > (more ? 0 : indent) && at[n] != ' '; n--) { }
			if (n <= (more ? 0 : indent))
				for (n = room; at + n < end && at[n] != ' '; n++) { }
		}
		text_fmt(t, "%*s", more ? (int)first : 0, "");
		size_t shown = n;
		while (at + n < end && shown && at[shown - 1] == ' ')
			shown--;
		text_bytes(t, at, shown);
		at += n;
		while (at < end && *at == ' ')
			at++;
		if (at < end)
			text_char(t, '\n');
		first = indent + hang;
	}
	if (*end)
		text_char(t, '\n');
	return true;
}

/* Length of the valid UTF-8 sequence at s, 0 if there is none (RFC 3629, section 4). */
static size_t utf8_length(const uint8_t *s)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xC2 || s[0] > 0xF4)
		return 0;
	size_t n = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
	uint8_t low = 0x80, high = 0xBF;
	if (s[0] == 0xE0) low = 0xA0;
	if (s[0] == 0xED) high = 0x9F;
	if (s[0] == 0xF0) low = 0x90;
	if (s[0] == 0xF4) high = 0x8F;
	if (s[1] < low || s[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((s[i] & 0xC0) != 0x80)
			return 0;
	return n;
}

void text_json(struct text *t, const char *s)
{
	for (const uint8_t *p = (const uint8_t *)s; *p;) {
		if (*p == '"' || *p == '\\') {
			text_char(t, '\\');
			text_char(t, (char)*p++);
		} else if (*p < 0x20 || *p == 0x7F) {
			text_fmt(t, "\\u%04x", (unsigned)*p++);
		} else {
			size_t n = utf8_length(p);
			if (n)
				text_bytes(t, (const char *)p, n);
			else
				text_bytes(t, "\xEF\xBF\xBD", 3);
			p += n ? n : 1;
		}
	}
}

/* ---- strings -------------------------------------------------------------------------------- */

size_t str_length(const char *s)
{
	size_t n = 0;
	while (s[n])
		n++;
	return n;
}

bool str_equal(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return *a == *b;
}

bool str_starts(const char *s, const char *prefix)
{
	while (*prefix)
		if (*s++ != *prefix++)
			return false;
	return true;
}

bool str_glob(const char *pattern, const char *s)
{
	const char *star = NULL, *mark = NULL;
	while (*s) {
		if (*pattern == '*') {
			star = pattern++;
			mark = s;
		} else if (*pattern == '?' || *pattern == *s) {
			pattern++;
			s++;
		} else if (star) {
			pattern = star + 1;
			s = ++mark;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

void str_copy(char *to, size_t capacity, const char *from)
{
	struct text t;
	text_init(&t, to, capacity);
	text_bytes(&t, from, str_length(from));
}

void str_one_line(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 127)
			*s = '?';
}

void str_file_name(char *to, size_t capacity, const char *from)
{
	size_t n = 0;
	for (const char *p = from; *p && n < 40 && n + 1 < capacity; p++) {
		bool good = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '.';
		if (good)
			to[n++] = *p;
		else if (n && to[n - 1] != '-')
			to[n++] = '-';
	}
	/* FAT drops trailing dots. */
	while (n && (to[n - 1] == '-' || to[n - 1] == '.'))
		n--;
	to[n] = 0;
	if (!n)
		str_copy(to, capacity, "unknown");
}

uint64_t fnv1a64(uint64_t hash, const void *bytes, size_t n)
{
	for (const uint8_t *p = bytes; n--; p++)
		hash = (hash ^ *p) * 0x100000001B3ull;
	return hash;
}

/* ---- numbers in ----------------------------------------------------------------------------- */

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

enum status parse_u64(const char *s, size_t n, uint64_t *value)
{
	unsigned base = 10;
	if (n > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
		base = 16;
		s += 2;
		n -= 2;
	}
	if (!n)
		return ST_SYNTAX;
	uint64_t v = 0;
	bool large = false;
	for (size_t i = 0; i < n; i++) {
		unsigned d = (unsigned)digit_value(s[i]);
		if (d >= base)
			return ST_SYNTAX;
		large |= __builtin_mul_overflow(v, base, &v);
		large |= __builtin_add_overflow(v, d, &v);
	}
	if (large)
		return ST_RANGE;
	*value = v;
	return ST_OK;
}

/* ---- key = value ---------------------------------------------------------------------------- */

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void trim(const char **s, size_t *n)
{
	while (*n && blank(**s))
		(*s)++, (*n)--;
	while (*n && blank((*s)[*n - 1]))
		(*n)--;
}

void ini_init(struct ini *r, const char *text, size_t bytes)
{
	/* A byte-order mark, which editors put before UTF-8, is no part of the first line. */
	const bool marked = bytes >= 3 && (uint8_t)text[0] == 0xEF && (uint8_t)text[1] == 0xBB && (uint8_t)text[2] == 0xBF;

	*r = (struct ini){ .at = text + (marked ? 3 : 0), .end = text + bytes, .section = text };
}

enum status ini_next(struct ini *r)
{
	while (r->at < r->end) {
		const char *s = r->at;
		while (r->at < r->end && *r->at != '\n')
			r->at++;
		size_t n = (size_t)(r->at - s);
		if (r->at < r->end)
			r->at++;
		r->line++;
		trim(&s, &n);
		if (!n || *s == '#' || *s == ';')
			continue;
		if (*s == '[') {
			if (s[n - 1] != ']' || n < 3) {
				r->problem = "a section reads [name]";
				return ST_SYNTAX;
			}
			r->section = s + 1;
			r->section_length = n - 2;
			trim(&r->section, &r->section_length);
			continue;
		}
		size_t eq = 0;
		while (eq < n && s[eq] != '=')
			eq++;
		if (eq == n || !eq) {
			r->problem = "a line reads key = value";
			return ST_SYNTAX;
		}
		r->key = s;
		r->key_length = eq;
		trim(&r->key, &r->key_length);
		r->value = s + eq + 1;
		r->value_length = n - eq - 1;
		trim(&r->value, &r->value_length);
		if (!r->key_length) {
			r->problem = "a line reads key = value";
			return ST_SYNTAX;
		}
		return ST_OK;
	}
	return ST_MISSING;
}
