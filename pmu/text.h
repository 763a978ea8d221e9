/* pmu/text.h: bounded text out, strict numbers in. No locale, no floating point. */
#ifndef PMU_TEXT_H
#define PMU_TEXT_H

#include <stdarg.h>

#include "pmu/base.h"

/* A text being built. `at` always holds a terminated string of `length` bytes;
 * what does not fit is dropped and `full` is set. */
struct text {
	char *at;
	size_t capacity; /* bytes, the terminating zero included */
	size_t length;
	bool full;
};

void text_init(struct text *t, char *at, size_t capacity);
void text_char(struct text *t, char c);
void text_bytes(struct text *t, const char *s, size_t n);
/* printf's subset: %s %.*s %c %% and %d %u %x %X with none, l, ll or z; flags '-' and '0';
 * a width, also '*'. */
void text_fmt(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_vfmt(struct text *t, const char *format, va_list args) __attribute__((format(printf, 2, 0)));
/* A fixed-point number: value / 10^decimals, e.g. text_fixed(t, 39967, 3) -> 39.967. */
void text_fixed(struct text *t, int64_t value, unsigned decimals);
/* The same, or JSON's null if the value is not known. */
void text_fixed_or_null(struct text *t, int64_t value, unsigned decimals, bool known);
/* The inside of a JSON string: quotes, backslashes and control bytes escaped,
 * bytes that are not valid UTF-8 replaced by U+FFFD. */
void text_json(struct text *t, const char *s);

/* Words separated by single blanks: Intel pads the names of its processors. */
void text_words(struct text *t, const char *s);
/* Appends the next line of *lines, with its end, to t and moves *lines past it. A line of more than `columns` characters is broken at blanks and
 * continues `hang` columns to the right of its beginning; a word without blanks stays whole. False: there was no line. */
bool text_fold(struct text *t, const char **lines, unsigned columns, unsigned hang);

size_t str_length(const char *s);
bool str_equal(const char *a, const char *b);
bool str_starts(const char *s, const char *prefix);
/* Shell-like match of a whole string: '*' any run, '?' any one character. */
bool str_glob(const char *pattern, const char *s);
void str_copy(char *to, size_t capacity, const char *from);
/* Makes text of a file fit for a message: control characters, which would break the line or control a terminal, become '?'. */
void str_one_line(char *s);
/* `from` as part of a file's name on FAT and Linux: letters, digits, '.', runs of anything else as one '-',
 * at most 40 characters, never empty ("unknown"). */
void str_file_name(char *to, size_t capacity, const char *from);

/* 64-bit FNV-1a, for telling machines and texts apart (not against forgery). Start with FNV1A64_START. */
#define FNV1A64_START 0xCBF29CE484222325ull
uint64_t fnv1a64(uint64_t hash, const void *bytes, size_t n);

/* The whole of s[0..n) is one number: decimal or 0x-hexadecimal. ST_SYNTAX, ST_RANGE. */
MUST_CHECK enum status parse_u64(const char *s, size_t n, uint64_t *value);

/* Reads "key = value" text line by line: '#' and ';' start a comment line, [section]
 * lines are sections, blanks are trimmed, CR LF is accepted. */
struct ini {
	const char *at, *end;
	unsigned line;           /* number of the line last returned, from 1 */
	const char *section;     /* not terminated; section_length bytes */
	size_t section_length;
	const char *key;
	size_t key_length;
	const char *value;
	size_t value_length;
	const char *problem;     /* after ST_SYNTAX: what is wrong with the line */
};
void ini_init(struct ini *r, const char *text, size_t bytes);
/* The next key of the text. ST_MISSING at the end, ST_SYNTAX for a bad line. */
MUST_CHECK enum status ini_next(struct ini *r);

#endif
