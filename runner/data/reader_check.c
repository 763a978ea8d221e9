/* runner/data/reader_check.c: rejects impossible results. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bench/results/report.h"
#include "pmu/text.h"
#include "runner/data/reader.h"

struct check {
	const struct document *d;
	char *problem;
	size_t capacity;
	char path[256];
	enum status status;
};

static void __attribute__((format(printf, 3, 4))) wrong(struct check *c, enum status st, const char *format, ...)
{
	char reason[256];
	va_list arguments;
	if (c->status != ST_OK)
		return;
	va_start(arguments, format);
	vsnprintf(reason, sizeof(reason), format, arguments);
	va_end(arguments);
	snprintf(c->problem, c->capacity, "%s%s%s", c->path, c->path[0] ? ": " : "", reason);
	str_one_line(c->problem); /* it contains strings of the file */
	c->status = st;
}

static const struct doc_node *need(struct check *c, const struct doc_node *n, const char *key, enum doc_type type)
{
	static const char *const names[] = {"null", "true or false", "a number", "a string", "a list", "an object"};
	const struct doc_node *found = doc_get(c->d, n, key);
	if (found == &c->d->nodes[0])
		wrong(c, ST_MISSING, "\"%s\" is missing", key);
	else if (found->type != type)
		wrong(c, ST_RANGE, "\"%s\" must be %s", key, names[type]);
	return found;
}

static bool one_of(const char *value, const char *list)
{
	size_t n = strlen(value);
	for (const char *at = list; at; at = strchr(at, ' ') ? strchr(at, ' ') + 1 : NULL)
		if (strcspn(at, " ") == n && !strncmp(at, value, n))
			return true;
	return false;
}

static void word(struct check *c, const struct doc_node *n, const char *key, const char *list)
{
	const struct doc_node *found = need(c, n, key, DOC_STRING);
	if (c->status == ST_OK && !one_of(found->string, list))
		wrong(c, ST_RANGE, "\"%s\" is \"%.40s\", must be one of: %s", key, found->string, list);
}

static void whole(struct check *c, const struct doc_node *n, const char *key, int64_t least)
{
	const struct doc_node *found = need(c, n, key, DOC_NUMBER);
	if (c->status == ST_OK && (found->milli % 1000 || found->milli < least * 1000))
		wrong(c, ST_RANGE, "\"%s\" is %.40s, must be a whole number of at least %" PRId64, key, found->string, least);
}

/* Whether the key's quantity is never negative, in any section: counts, sizes, frequencies, latencies. */
static bool never_negative(const char *key)
{
	static const char *const keys[] = {"spread", "samples", "rejected", "count", "records", "outside", "lost", "revision",
		"threshold", "executions", "turns", "median", "p10", "p90", "p99", "low", "high", "inserts", "histogram", "points"};
	static const char *const ends[] = {"_hz", "_bytes"};
	size_t n = strlen(key);
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	for (size_t i = 0; i < COUNT_OF(ends); i++)
		if (n > strlen(ends[i]) && !strcmp(key + n - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* Checks every number of the document, also in unknown sections. */
static void walk(struct check *c, const struct doc_node *n, const char *key)
{
	if (c->status != ST_OK)
		return;
	if (n->type == DOC_NUMBER) {
		if (n->milli == INT64_MAX || n->milli == INT64_MIN) {
			/* a seed has 64 bits and is not a quantity */
			if (strcmp(key, "seed"))
				wrong(c, ST_RANGE, "%.40s is implausibly large", n->string);
		} else if (n->milli < 0 && never_negative(key))
			wrong(c, ST_RANGE, "%.40s is below zero", n->string);
		return;
	}
	size_t length = strlen(c->path);
	unsigned index = 0;
	for (const struct doc_node *child = doc_begin(c->d, n); child && c->status == ST_OK; child = doc_next(c->d, child), index++) {
		if (n->type == DOC_OBJECT)
			snprintf(c->path + length, sizeof(c->path) - length, "%s%.60s", length ? "." : "", child->key);
		else
			snprintf(c->path + length, sizeof(c->path) - length, "[%u]", index);
		walk(c, child, n->type == DOC_OBJECT ? child->key : key);
		if (c->status == ST_OK)
			c->path[length] = 0;
	}
}

static void check_value(struct check *c, const struct doc_node *row)
{
	const char *kind = doc_string(c->d, row, "kind"), *status = doc_string(c->d, row, "status");
	const struct doc_node *value = doc_get(c->d, row, "value"), *spread = doc_get(c->d, row, "spread");
	if (value->type == DOC_NULL) {
		if (!strcmp(status, "ok")) /* a noisy row has no value if every window was disturbed */
			wrong(c, ST_RANGE, "is \"%s\" and has no value", status);
		return;
	}
	if (value->type != DOC_NUMBER)
		wrong(c, ST_RANGE, "\"value\" must be a number or null");
	else if (spread->type != DOC_NUMBER)
		wrong(c, ST_RANGE, "has a value and no spread");
	else if (doc_whole(c->d, row, "samples") < 1)
		wrong(c, ST_RANGE, "has a value of no sample");
	else if (strcmp(kind, "penalty") && value->milli < 0)
		wrong(c, ST_RANGE, "a %s of %s cannot be", kind, value->string);
	else if (strcmp(kind, "penalty") && !value->milli && one_of(status, "ok"))
		wrong(c, ST_RANGE, "a %s of 0 cannot be \"ok\"", kind);
}

static void check_sources(struct check *c, const struct doc_node *row)
{
	const struct doc_node *sources = doc_get(c->d, doc_get(c->d, row, "latency_event"), "sources");
	for (const struct doc_node *s = doc_begin(c->d, sources); s && c->status == ST_OK; s = doc_next(c->d, s)) {
		const struct doc_node *histogram = doc_get(c->d, s, "histogram");
		int64_t sum = 0, count = doc_milli(c->d, s, "count");
		if (s->type != DOC_OBJECT)
			continue;
		if (count < 1000)
			wrong(c, ST_RANGE, "source \"%.40s\" of no record", s->key);
		for (const struct doc_node *b = doc_begin(c->d, histogram); b; b = doc_next(c->d, b))
			if (__builtin_add_overflow(sum, b->milli, &sum))
				break;
		if (histogram->type == DOC_LIST && sum != count)
			wrong(c, ST_RANGE, "source \"%.40s\": the histogram does not add up to its count", s->key);
		if (doc_milli(c->d, s, "p10") > doc_milli(c->d, s, "median") || doc_milli(c->d, s, "median") > doc_milli(c->d, s, "p90") ||
		    doc_milli(c->d, s, "p90") > doc_milli(c->d, s, "p99"))
			wrong(c, ST_RANGE, "source \"%.40s\": percentiles out of order", s->key);
	}
}

static void check_cells(struct check *c, const struct doc_node *row)
{
	const struct doc_node *cells = doc_get(c->d, doc_get(c->d, row, "matrix"), "cells");
	unsigned index = 0;
	for (const struct doc_node *cell = doc_begin(c->d, cells); cell && c->status == ST_OK; cell = doc_next(c->d, cell), index++) {
		int64_t v[5] = {0};
		unsigned n = 0;
		for (const struct doc_node *x = doc_begin(c->d, cell); x && n < 5; x = doc_next(c->d, x), n++)
			v[n] = x->type == DOC_NUMBER ? x->milli : -1;
		if (cell->type != DOC_LIST || n < 5)
			wrong(c, ST_RANGE, "matrix cell %u is not a list of at least 5 numbers", index);
		else if (v[0] < 0 || v[0] > 65535000 || v[1] < 0 || v[1] > 65535000 || v[0] % 1000 || v[1] % 1000)
			wrong(c, ST_RANGE, "matrix cell %u names no core", index);
		else if (v[2] <= 0)
			wrong(c, ST_RANGE, "matrix cell %u: a latency of %" PRId64 ".%03d cannot be", index, v[2] / 1000,
			      (int)(v[2] < 0 ? -(v[2] % 1000) : v[2] % 1000));
	}
}

static void check_row(struct check *c, const struct doc_node *row, bool simulated)
{
	if (row->type != DOC_OBJECT) {
		wrong(c, ST_RANGE, "is no row");
		return;
	}
	const struct doc_node *name = need(c, row, "name", DOC_STRING);
	if (c->status == ST_OK && (!name->string[0] || strlen(name->string) > 80))
		wrong(c, ST_RANGE, "a name of %zu characters", strlen(name->string));
	word(c, row, "kind", "latency penalty throughput interval size sampled");
	word(c, row, "unit", "cycles ns bytes/s entries instructions lines counters");
	word(c, row, "status", "ok noisy unproven unsupported fault timeout failed crashed");
	(void)need(c, row, "reason", DOC_STRING);
	(void)need(c, row, "proof", DOC_STRING);
	whole(c, row, "samples", 0);
	whole(c, row, "rejected", 0);
	whole(c, row, "revision", 1);
	if (need(c, row, "simulated", DOC_BOOL)->truth != simulated && c->status == ST_OK)
		wrong(c, ST_RANGE, "\"simulated\" is not what the head says");
	if (c->status == ST_OK)
		check_value(c, row);
	if (c->status == ST_OK)
		check_sources(c, row);
	if (c->status == ST_OK)
		check_cells(c, row);
}

static void check_rows(struct check *c, const struct doc_node *root)
{
	const struct doc_node *list = need(c, root, "rows", DOC_LIST);
	bool simulated = doc_true(c->d, root, "simulated");
	unsigned index = 0;
	for (const struct doc_node *row = doc_begin(c->d, list); row && c->status == ST_OK; row = doc_next(c->d, row), index++) {
		const char *name = doc_string(c->d, row, "name");
		snprintf(c->path, sizeof(c->path), "rows[%u]%s%.60s%s", index, name[0] ? " (" : "", name, name[0] ? ")" : "");
		check_row(c, row, simulated);
		for (const struct doc_node *other = doc_begin(c->d, list); other != row && c->status == ST_OK; other = doc_next(c->d, other))
			if (!strcmp(doc_string(c->d, other, "name"), doc_string(c->d, row, "name")))
				wrong(c, ST_RANGE, "stands there twice");
	}
}

enum status reader_check(const struct document *d, char *problem, size_t capacity)
{
	struct check c = {.d = d, .problem = problem, .capacity = capacity};
	const struct doc_node *root = doc_root(d);
	strcpy(c.path, "head");
	if (root->type != DOC_OBJECT || strcmp(doc_string(d, root, "schema"), "stallmeter-results")) {
		wrong(&c, ST_MISSING, "\"schema\" is not \"stallmeter-results\": no file of this program");
		return c.status;
	}
	whole(&c, root, "version", 1);
	if (c.status == ST_OK && doc_whole(d, root, "version") > RESULTS_VERSION)
		wrong(&c, ST_RANGE, "version %s is newer than this program, which reads 1 to %u", doc_get(d, root, "version")->string,
		      RESULTS_VERSION);
	(void)need(&c, root, "simulated", DOC_BOOL);
	(void)need(&c, root, "backend", DOC_STRING);
	(void)need(&c, root, "build", DOC_STRING);
	(void)need(&c, root, "settings", DOC_OBJECT);
	const struct doc_node *machine = need(&c, root, "machine", DOC_OBJECT);
	strcpy(c.path, "machine");
	(void)need(&c, machine, "brand", DOC_STRING);
	(void)need(&c, machine, "signature", DOC_STRING);
	whole(&c, machine, "tsc_hz", 0);
	whole(&c, machine, "cores", 1);
	whole(&c, machine, "nodes", 1);
	c.path[0] = c.status == ST_OK ? 0 : c.path[0];
	walk(&c, root, "");
	check_rows(&c, root);
	return c.status;
}
