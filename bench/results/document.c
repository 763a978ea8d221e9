/* bench/results/document.c: the tree of values, and the reader of the program's own JSON. */
#include "bench/results/document.h"
#include "pmu/text.h"

#define DEPTH_MOST 32

void document_init(struct document *d, struct doc_node *nodes, uint32_t most, char *strings, size_t capacity)
{
	*d = (struct document){ .nodes = nodes, .most = most, .strings = strings, .capacity = capacity };
	if (most) {
		nodes[0] = (struct doc_node){ .key = "", .string = "" };
		d->count = 1;
	}
}

uint32_t document_nodes_most(const char *json, size_t bytes)
{
	uint32_t n = 2; /* the null and the root; every further value has a comma or an opening bracket before it */

	for (size_t i = 0; i < bytes; i++)
		n += json[i] == ',' || json[i] == '[' || json[i] == '{';
	return n;
}

size_t document_strings_most(const char *json, size_t bytes)
{
	/* each string loses two quotes and gains a zero; each number gains a zero */
	return bytes + document_nodes_most(json, bytes);
}

const char *document_keep(struct document *d, const char *s, size_t n)
{
	char *at = d->strings + d->used;

	if (n >= d->capacity - d->used)
		return NULL;
	memcpy(at, s, n);
	at[n] = 0;
	d->used += n + 1;
	return at;
}

enum status document_add(struct document *d, uint32_t parent, uint32_t *last, enum doc_type type, const char *key,
                         size_t key_length, uint32_t *out)
{
	const char *kept = key_length ? document_keep(d, key, key_length) : "";
	uint32_t at = d->count;

	if (at >= d->most || !kept)
		return ST_FULL;
	d->nodes[at] = (struct doc_node){ .type = type, .key = kept, .string = "" };
	d->count++;
	if (parent) {
		if (*last)
			d->nodes[*last].next = at;
		else
			d->nodes[parent].first = at;
		d->nodes[parent].count++;
		*last = at;
	}
	*out = at;
	return ST_OK;
}

/* --- the program's own JSON -------------------------------------------------------------------- */

struct parser {
	struct document *d;
	const char *at, *end;
	unsigned depth;
};

static char peek(struct parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
		p->at++;
	return p->at < p->end ? *p->at : 0;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Understands the escapes that text_json writes: \" \\ \b \f \n \r \t and \u00XX for control bytes. */
static enum status parse_string(struct parser *p, const char **out)
{
	struct document *d = p->d;
	char *at = d->strings + d->used, *end = d->strings + d->capacity;

	if (peek(p) != '"')
		return ST_SYNTAX;
	*out = at;
	for (p->at++; p->at < p->end && *p->at != '"'; p->at++) {
		char c = *p->at;

		if (at + 1 >= end)
			return ST_FULL;
		if (c != '\\') {
			*at++ = c;
			continue;
		}
		if (++p->at >= p->end)
			return ST_SYNTAX;
		c = *p->at;
		if (c == 'u') {
			int high, low;

			if (p->end - p->at < 5)
				return ST_SYNTAX;
			high = hex_digit(p->at[3]);
			low = hex_digit(p->at[4]);
			if (p->at[1] != '0' || p->at[2] != '0' || high < 0 || high > 7 || low < 0)
				return ST_SYNTAX;
			p->at += 4;
			c = (char)(high * 16 + low);
			*at++ = c ? c : ' ';
			continue;
		}
		*at++ = c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'b' ? '\b' : c == 'f' ? '\f' : c;
	}
	if (p->at >= p->end || at >= end)
		return p->at >= p->end ? ST_SYNTAX : ST_FULL;
	p->at++;
	*at++ = 0;
	d->used = (size_t)(at - d->strings);
	return ST_OK;
}

/* Keeps three digits after the decimal point and drops the rest. */
static int64_t milli_of(const char *s, size_t n)
{
	bool negative = n && *s == '-', point = false;
	unsigned decimals = 0;
	int64_t v = 0;

	for (size_t i = negative; i < n; i++) {
		if (s[i] == '.') {
			point = true;
			continue;
		}
		if (point && decimals == 3)
			break;
		decimals += point;
		if (v > (INT64_MAX - 9) / 10)
			return negative ? INT64_MIN : INT64_MAX;
		v = v * 10 + (s[i] - '0');
	}
	for (; decimals < 3; decimals++) {
		if (v > INT64_MAX / 10)
			return negative ? INT64_MIN : INT64_MAX;
		v *= 10;
	}
	return negative ? -v : v;
}

static enum status parse_number(struct parser *p, struct doc_node *n)
{
	const char *from = p->at;

	if (p->at < p->end && *p->at == '-')
		p->at++;
	if (p->at >= p->end || *p->at < '0' || *p->at > '9')
		return ST_SYNTAX;
	while (p->at < p->end && ((*p->at >= '0' && *p->at <= '9') || *p->at == '.'))
		p->at++;
	n->type = DOC_NUMBER;
	n->milli = milli_of(from, (size_t)(p->at - from));
	n->string = document_keep(p->d, from, (size_t)(p->at - from));
	return n->string ? ST_OK : ST_FULL;
}

static bool take_word(struct parser *p, const char *word)
{
	size_t n = str_length(word);

	if ((size_t)(p->end - p->at) < n || memcmp(p->at, word, n))
		return false;
	p->at += n;
	return true;
}

static enum status parse_value(struct parser *p, uint32_t parent, uint32_t *last, const char *key);

static enum status parse_members(struct parser *p, uint32_t self, bool object)
{
	char close = object ? '}' : ']';
	uint32_t last = 0;
	enum status st;

	p->at++;
	if (peek(p) == close) {
		p->at++;
		return ST_OK;
	}
	for (;;) {
		const char *key = "";

		if (object) {
			st = parse_string(p, &key);
			if (st != ST_OK)
				return st;
			if (peek(p) != ':')
				return ST_SYNTAX;
			p->at++;
		}
		st = parse_value(p, self, &last, key);
		if (st != ST_OK)
			return st;
		if (peek(p) == close) {
			p->at++;
			return ST_OK;
		}
		if (peek(p) != ',')
			return ST_SYNTAX;
		p->at++;
	}
}

static enum status parse_value(struct parser *p, uint32_t parent, uint32_t *last, const char *key)
{
	uint32_t self;
	char c = peek(p);
	enum status st = document_add(p->d, parent, last, DOC_NULL, "", 0, &self);
	struct doc_node *n = &p->d->nodes[self];

	if (st != ST_OK)
		return st;
	n->key = key;
	if (c == '{' || c == '[') {
		if (p->depth == DEPTH_MOST)
			return ST_RANGE;
		p->depth++;
		n->type = c == '{' ? DOC_OBJECT : DOC_LIST;
		st = parse_members(p, self, c == '{');
		p->depth--;
		return st;
	}
	if (c == '"') {
		n->type = DOC_STRING;
		return parse_string(p, &n->string);
	}
	if (take_word(p, "null"))
		return ST_OK;
	if (take_word(p, "true") || take_word(p, "false")) {
		n->type = DOC_BOOL;
		n->truth = c == 't';
		return ST_OK;
	}
	return parse_number(p, n);
}

enum status document_parse(struct document *d, const char *json, size_t bytes)
{
	struct parser p = { .d = d, .at = json, .end = json + bytes };
	uint32_t last = 0;
	enum status st = parse_value(&p, 0, &last, "");

	return st != ST_OK ? st : peek(&p) || p.at != p.end ? ST_SYNTAX : ST_OK;
}

/* --- queries ----------------------------------------------------------------------------------- */

const struct doc_node *doc_root(const struct document *d)
{
	return &d->nodes[d->count > 1 ? 1 : 0];
}

const struct doc_node *doc_begin(const struct document *d, const struct doc_node *n)
{
	return n->first ? &d->nodes[n->first] : NULL;
}

const struct doc_node *doc_next(const struct document *d, const struct doc_node *n)
{
	return n->next ? &d->nodes[n->next] : NULL;
}

const struct doc_node *doc_first(const struct document *d, const struct doc_node *n)
{
	return &d->nodes[n->first];
}

const struct doc_node *doc_get(const struct document *d, const struct doc_node *n, const char *key)
{
	for (const struct doc_node *c = n->type == DOC_OBJECT ? doc_begin(d, n) : NULL; c; c = doc_next(d, c))
		if (str_equal(c->key, key))
			return c;
	return &d->nodes[0];
}

const char *doc_string(const struct document *d, const struct doc_node *n, const char *key)
{
	const struct doc_node *c = doc_get(d, n, key);

	return c->type == DOC_STRING ? c->string : "";
}

int64_t doc_milli(const struct document *d, const struct doc_node *n, const char *key)
{
	return doc_get(d, n, key)->milli;
}

int64_t doc_whole(const struct document *d, const struct doc_node *n, const char *key)
{
	return doc_milli(d, n, key) / 1000;
}

bool doc_true(const struct document *d, const struct doc_node *n, const char *key)
{
	return doc_get(d, n, key)->truth;
}

const struct doc_node *doc_row(const struct document *d, const char *name)
{
	const struct doc_node *list = doc_get(d, doc_root(d), "rows");

	for (const struct doc_node *r = doc_begin(d, list); r; r = doc_next(d, r))
		if (str_equal(doc_string(d, r, "name"), name))
			return r;
	for (const struct doc_node *r = doc_begin(d, list); r; r = doc_next(d, r)) {
		const char *full = doc_string(d, r, "name");

		if (str_starts(full, name) && full[str_length(name)] == '@')
			return r;
	}
	return &d->nodes[0];
}
