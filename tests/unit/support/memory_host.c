/* tests/unit/support/memory_host.c: a struct suite_host that keeps files in memory; a strict JSON check. */
#include "tests/unit/support/memory_host.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static struct memory_file *file(struct memory_host *h, const char *name)
{
	for (unsigned i = 0; i < h->file_count; i++)
		if (!strcmp(h->files[i].name, name))
			return &h->files[i];
	if (h->file_count == COUNT_OF(h->files))
		abort();
	struct memory_file *f = &h->files[h->file_count++];
	strncpy(f->name, name, sizeof(f->name) - 1);
	return f;
}

static enum status append(void *self, const char *name, const void *bytes, size_t n)
{
	struct memory_host *h = self;
	struct memory_file *f = file(h, name);

	if (h->append_status != ST_OK)
		return h->append_status;
	f->bytes = realloc(f->bytes, f->n + n + 1);
	memcpy(f->bytes + f->n, bytes, n);
	f->n += n;
	f->bytes[f->n] = 0;
	return ST_OK;
}

static enum status write_file(void *self, const char *name, const void *bytes, size_t n)
{
	struct memory_host *h = self;

	if (h->write_status != ST_OK)
		return h->write_status;
	file(h, name)->n = 0;
	enum status kept = h->append_status;
	h->append_status = ST_OK;
	enum status st = append(self, name, bytes, n);
	h->append_status = kept;
	return st;
}

static void row_done(void *self, const struct row_result *r)
{
	struct memory_host *h = self;

	if (h->result_count == MEMORY_RESULTS_MAX)
		abort();
	h->results[h->result_count++] = *r;
}

static bool stop(void *self)
{
	struct memory_host *h = self;

	return h->stop_after && h->result_count >= h->stop_after;
}

static void *get(void *self, size_t bytes)
{
	struct memory_host *h = self;

	h->taken += bytes;
	return calloc(1, bytes);
}

static void put(void *self, void *at, size_t bytes)
{
	struct memory_host *h = self;

	h->taken -= bytes;
	free(at);
}

void memory_host_init(struct memory_host *h)
{
	static const struct environment_line lines[] = { { "place", "a \"test\"" } };

	memset(h, 0, sizeof(*h));
	h->host = (struct suite_host){ .self = h, .append = append, .write = write_file, .row_done = row_done,
		.stop = stop, .get = get, .put = put, .environment = lines, .environment_lines = COUNT_OF(lines) };
}

void memory_host_free(struct memory_host *h)
{
	for (unsigned i = 0; i < h->file_count; i++)
		free(h->files[i].bytes);
	h->file_count = 0;
}

const char *memory_host_file(const struct memory_host *h, const char *name)
{
	for (unsigned i = 0; i < h->file_count; i++)
		if (!strcmp(h->files[i].name, name))
			return h->files[i].bytes;
	return NULL;
}

const struct row_result *memory_host_result(const struct memory_host *h, const char *name)
{
	for (unsigned i = 0; i < h->result_count; i++)
		if (!strcmp(h->results[i].name, name))
			return &h->results[i];
	return NULL;
}

static const char *blanks(const char *s)
{
	return s + strspn(s, " \t\r\n");
}

/* Each returns the end of the value, or NULL with *bad at the error. */
static const char *json_value(const char *s, const char **bad);

static const char *json_text(const char *s, const char **bad)
{
	if (*s++ != '"')
		return *bad = s - 1, NULL;
	for (; *s != '"'; s++) {
		if ((unsigned char)*s < ' ')
			return *bad = s, NULL;
		if (*s != '\\')
			continue;
		s++;
		if (*s == 'u') {
			for (int i = 0; i < 4; i++)
				if (!isxdigit((unsigned char)*++s))
					return *bad = s, NULL;
		} else if (!*s || !strchr("\"\\/bfnrt", *s)) {
			return *bad = s, NULL;
		}
	}
	return s + 1;
}

static const char *json_number(const char *s, const char **bad)
{
	s += *s == '-';
	if (!isdigit((unsigned char)*s))
		return *bad = s, NULL;
	s += *s == '0' ? 1 : strspn(s, "0123456789");
	if (*s == '.') {
		size_t n = strspn(s + 1, "0123456789");
		if (!n)
			return *bad = s, NULL;
		s += 1 + n;
	}
	if (*s == 'e' || *s == 'E') {
		s += s[1] == '+' || s[1] == '-' ? 2 : 1;
		if (!isdigit((unsigned char)*s))
			return *bad = s, NULL;
		s += strspn(s, "0123456789");
	}
	return s;
}

static const char *json_value(const char *s, const char **bad)
{
	char close = *s == '{' ? '}' : ']';

	if (*s == '"')
		return json_text(s, bad);
	if (!strncmp(s, "true", 4) || !strncmp(s, "null", 4))
		return s + 4;
	if (!strncmp(s, "false", 5))
		return s + 5;
	if (*s != '{' && *s != '[')
		return json_number(s, bad);
	s = blanks(s + 1);
	if (*s == close)
		return s + 1;
	for (;;) {
		if (close == '}') {
			s = json_text(s, bad);
			if (!s)
				return NULL;
			s = blanks(s);
			if (*s != ':')
				return *bad = s, NULL;
			s = blanks(s + 1);
		}
		s = json_value(s, bad);
		if (!s)
			return NULL;
		s = blanks(s);
		if (*s == close)
			return s + 1;
		if (*s != ',')
			return *bad = s, NULL;
		s = blanks(s + 1);
	}
}

const char *json_problem(const char *text)
{
	const char *bad = NULL, *end = json_value(blanks(text), &bad);

	if (!end)
		return bad;
	end = blanks(end);
	return *end ? end : NULL;
}
