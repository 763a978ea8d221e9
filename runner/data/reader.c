/* runner/data/reader.c: see reader.h. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/catalogue/row.h"
#include "pmu/text.h"
#include "runner/data/file.h"
#include "runner/data/reader.h"

#define DEPTH_MOST 64
#define LINES_MOST 1000000

/* --- from libjansson's tree to a document ------------------------------------------------------ */

static enum status count_tree(json_t *j, unsigned depth, uint32_t *nodes, size_t *bytes)
{
	const char *key;
	json_t *child;
	size_t i;
	enum status st = ST_OK;
	if (depth > DEPTH_MOST)
		return ST_RANGE;
	++*nodes;
	*bytes += json_is_string(j) ? json_string_length(j) + 1 : 40;
	if (json_is_object(j))
		json_object_foreach(j, key, child) {
			*bytes += strlen(key) + 1;
			if ((st = count_tree(child, depth + 1, nodes, bytes)) != ST_OK)
				return st;
		}
	else if (json_is_array(j))
		json_array_foreach(j, i, child)
			if ((st = count_tree(child, depth + 1, nodes, bytes)) != ST_OK)
				return st;
	return st;
}

static int64_t milli_of_real(double v)
{
	if (v >= 9.2e15)
		return INT64_MAX;
	if (v <= -9.2e15)
		return INT64_MIN;
	return (int64_t)(v * 1000 + (v < 0 ? -0.5 : 0.5));
}

static enum status fill_number(struct document *d, struct doc_node *n, const json_t *j)
{
	char text[40];
	n->type = DOC_NUMBER;
	if (json_is_integer(j)) {
		json_int_t v = json_integer_value(j);
		if (__builtin_mul_overflow((int64_t)v, (int64_t)1000, &n->milli))
			n->milli = v < 0 ? INT64_MIN : INT64_MAX;
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, v);
	} else {
		n->milli = milli_of_real(json_real_value(j));
		snprintf(text, sizeof(text), "%.3f", json_real_value(j) > 1e20 ? 1e20 : json_real_value(j) < -1e20 ? -1e20 : json_real_value(j));
	}
	n->string = document_keep(d, text, strlen(text));
	return n->string ? ST_OK : ST_FULL;
}

static enum status fill(struct document *d, uint32_t parent, uint32_t *last, const char *key, json_t *j)
{
	uint32_t self = 0, child_last = 0;
	json_t *child;
	size_t i;
	enum status st = document_add(d, parent, last, DOC_NULL, key, strlen(key), &self);
	struct doc_node *n = &d->nodes[self];
	if (st != ST_OK)
		return st;
	switch (json_typeof(j)) {
	case JSON_STRING:
		n->type = DOC_STRING;
		n->string = document_keep(d, json_string_value(j), json_string_length(j));
		return n->string ? ST_OK : ST_FULL;
	case JSON_INTEGER:
	case JSON_REAL:
		return fill_number(d, n, j);
	case JSON_TRUE:
	case JSON_FALSE:
		n->type = DOC_BOOL;
		n->truth = json_is_true(j);
		return ST_OK;
	case JSON_NULL:
		return ST_OK;
	case JSON_OBJECT:
		n->type = DOC_OBJECT;
		json_object_foreach(j, key, child)
			if ((st = fill(d, self, &child_last, key, child)) != ST_OK)
				return st;
		return ST_OK;
	case JSON_ARRAY:
		n->type = DOC_LIST;
		json_array_foreach(j, i, child)
			if ((st = fill(d, self, &child_last, "", child)) != ST_OK)
				return st;
		return ST_OK;
	}
	return ST_BROKEN;
}

static enum status document_of(struct results *r, json_t *root)
{
	uint32_t nodes = 2, last = 0;
	size_t bytes = 16;
	enum status st = count_tree(root, 0, &nodes, &bytes);
	if (st != ST_OK)
		return st;
	r->nodes = calloc(nodes, sizeof(struct doc_node));
	r->strings = malloc(bytes);
	if (!r->nodes || !r->strings)
		return ST_FULL;
	document_init(&r->d, r->nodes, nodes, r->strings, bytes);
	return fill(&r->d, 0, &last, "", root);
}

/* --- texts ------------------------------------------------------------------------------------- */

static bool of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

/* Parses a JSON value. An integer that does not fit json_int_t (a seed may have 64 bits) becomes a string of its digits. */
static json_t *load(const char *text, size_t bytes, json_error_t *error)
{
	json_t *j = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, error);
	char *copy = NULL;
	for (unsigned tries = 0; !j && tries < 8 && json_error_code(error) == json_error_numeric_overflow; tries++) {
		size_t end = (size_t)error->position < bytes ? (size_t)error->position : bytes, start;
		char *more = malloc(bytes + 2);
		const char *from = copy ? copy : text;
		if (!more)
			break;
		while (end && !of_number(from[end - 1])) /* the position is after the number or one character further */
			end--;
		for (start = end; start && of_number(from[start - 1]); start--)
			;
		memcpy(more, from, start);
		more[start] = '"';
		memcpy(more + start + 1, from + start, end - start);
		more[end + 1] = '"';
		memcpy(more + end + 2, from + end, bytes - end);
		free(copy);
		copy = more;
		bytes += 2;
		j = json_loadb(copy, bytes, JSON_REJECT_DUPLICATES, error);
	}
	free(copy);
	return j;
}

/* Formats libjansson's message as one printable line. */
static void syntax_problem(char *problem, size_t capacity, const char *name, int line, const json_error_t *error)
{
	snprintf(problem, capacity, "%s:%d:%d: %s", name, line, error->column, error->text);
	str_one_line(problem);
}

/* Whether `full` is that name, alone or followed by '@' and a kind of cores. */
static bool is_named(const char *full, const char *name)
{
	const size_t n = strlen(name);
	return !strncmp(full, name, n) && (!full[n] || full[n] == '@');
}

/* The result of a row that has a start in the journal and no end. */
static json_t *crashed_row(const char *name, bool simulated)
{
	const struct row *row = NULL;
	for (unsigned i = 0; i < rows_count && !row; i++)
		if (is_named(name, rows[i].name))
			row = &rows[i];
	const char *kind = !row || row->kind == KIND_LATENCY ? "latency" : row->kind == KIND_PENALTY ? "penalty" :
	                   row->kind == KIND_INTERVAL ? "interval" : row->kind == KIND_SIZE ? "size" :
	                   row->kind == KIND_SAMPLED ? "sampled" : "throughput";
	return json_pack("{s:s, s:s, s:s, s:n, s:n, s:n, s:n, s:s, s:s, s:s, s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:i, s:b}",
	                 "name", name, "kind", kind, "unit", row && row->unit == UNIT_BYTES_PER_SECOND ? "bytes/s" : row && row->unit == UNIT_ENTRIES ? "entries" :
	                 row && row->unit == UNIT_INSTRUCTIONS ? "instructions" : row && row->unit == UNIT_LINES ? "lines" : row && row->unit == UNIT_COUNTERS ? "counters" : "cycles",
	                 "value", "spread", "cycles", "ns", "status", "crashed", "reason",
	                 "the journal has its start and nothing after it", "proof", "", "noise", "none", "samples", 0, "rejected", 0,
	                 "asks", row ? row->asks : "", "source", row ? row_source_name(row->source) : "", "confirmed_by",
	                 row && row->confirmed_by ? row->confirmed_by : "", "kernel", "", "revision", row ? (int)row->revision : 1, "simulated", simulated);
}

/* Applies a later verdict to the last row of that name. */
static enum status take_verdict(json_t *rows_so_far, json_t *line)
{
	json_t *name = json_object_get(line, "name"), *status = json_object_get(line, "status"), *reason = json_object_get(line, "reason");
	if (!json_is_string(name) || !json_is_string(status) || !json_is_string(reason))
		return ST_MISSING;
	for (size_t i = json_array_size(rows_so_far); i-- > 0;) {
		json_t *row = json_array_get(rows_so_far, i);
		if (json_equal(json_object_get(row, "name"), name))
			return json_object_set(row, "status", status) || json_object_set(row, "reason", reason) ? ST_FULL : ST_OK;
	}
	return ST_MISSING;
}

struct journal {
	json_t *root, *rows;
	char started[128];  /* the row or section in progress, "": none */
	bool ended;
	int torn;           /* number of a line truncated by a crash before the next boot continued, 0: none */
	int zeroed;         /* number of the first line with zeros in it, which a file system leaves after a power cut, 0: none */
	unsigned zeroed_lines;
	size_t zeroed_at, zeroed_bytes, zeros; /* where it begins; bytes of all of them, and the zeros among these */
};

static enum status journal_line(struct journal *g, json_t *line, const char **why)
{
	json_t *event = json_object_get(line, "event"), *name;
	const char *what = json_string_value(event);
	*why = "no \"event\"";
	if (!what)
		return ST_MISSING;
	if (!strcmp(what, "run")) {
		*why = "a second run";
		if (g->root)
			return ST_RANGE;
		g->root = json_incref(line);
		json_object_del(g->root, "event");
		json_object_del(g->root, "key");
		g->rows = json_array();
		return json_object_set_new(g->root, "rows", g->rows) ? ST_FULL : ST_OK;
	}
	*why = g->zeroed == 1 ? "the first line, \"run\", is lost: it has zeros, as a power cut leaves them" : "the first line is not \"run\"";
	if (!g->root)
		return ST_MISSING;
	if (!strcmp(what, "start")) {
		*why = "no \"name\"";
		if (!json_is_string(name = json_object_get(line, "name")) || json_string_length(name) >= sizeof(g->started))
			return ST_MISSING;
		strcpy(g->started, json_string_value(name));
		return ST_OK;
	}
	*why = "not what its event says";
	if (!strcmp(what, "row")) {
		g->started[0] = 0;
		return json_array_append(g->rows, json_object_get(line, "row")) ? ST_MISSING : ST_OK;
	}
	if (!strcmp(what, "verdict"))
		return take_verdict(g->rows, line);
	if (!strcmp(what, "end")) {
		g->ended = true;
		return json_object_set(g->root, "summary", json_object_get(line, "summary")) ? ST_MISSING : ST_OK;
	}
	if (!strcmp(what, "study") && is_named(g->started, "study"))
		g->started[0] = 0;
	/* environment, study and sections of later versions are stored under their names */
	if (!strcmp(what, "profile") || !strcmp(what, "accounting")) { /* one line per kernel of a row, or per workload */
		g->started[0] = 0;
		json_t *list = json_object_get(g->root, what);
		if (!list && json_object_set_new(g->root, what, list = json_array()))
			return ST_FULL;
		return json_array_append(list, json_object_get(line, what)) ? ST_MISSING : ST_OK;
	}
	if (json_object_get(line, what) && json_object_get(g->root, what) && json_is_string(json_object_get(line, "core_kind"))) {
		char key[64]; /* the same section of a second kind of cores */
		snprintf(key, sizeof(key), "%.40s@%.20s", what, json_string_value(json_object_get(line, "core_kind")));
		return json_object_set(g->root, key, json_object_get(line, what)) ? ST_FULL : ST_OK;
	}
	if (json_object_get(line, what))
		return json_object_set(g->root, what, json_object_get(line, what)) ? ST_FULL : ST_OK;
	return ST_OK;
}

/* Whether the line at `at` records another boot: the line before it may then be incomplete. */
static bool boot_follows(const char *at, const char *end)
{
	static const char begins[] = "{\"event\": \"boot\"";
	return (size_t)(end - at) >= sizeof(begins) - 1 && !memcmp(at, begins, sizeof(begins) - 1);
}

/* Skips a line with zeros in it, or the end of the text. What was in progress before it had ended: its result was in there. */
static void skip_zeroed(struct journal *g, int number, size_t at, const char *line, size_t bytes)
{
	if (!g->zeroed_lines++) {
		g->zeroed = number;
		g->zeroed_at = at;
	}
	g->zeroed_bytes += bytes;
	for (size_t i = 0; i < bytes; i++)
		g->zeros += !line[i];
	g->started[0] = 0;
}

static void zeroed_note(char *note, size_t capacity, const struct journal *g)
{
	size_t n = strlen(note);
	if (g->zeroed_lines)
		snprintf(note + n, capacity - n, "%s%u line%s with zeros left out, the first is line %d at byte %zu: %zu bytes are lost, %zu of them zeros", n ? "; " : "",
		         g->zeroed_lines, g->zeroed_lines == 1 ? "" : "s", g->zeroed, g->zeroed_at, g->zeroed_bytes, g->zeros);
}

static enum status journal_tree(struct results *r, const char *text, size_t bytes, const char *name, json_t **root,
                                char *problem, size_t capacity)
{
	struct journal g = {0};
	json_error_t error;
	size_t at = 0;
	int number = 0;
	enum status st = ST_OK;
	while (at < bytes && st == ST_OK) {
		const char *end = memchr(text + at, '\n', bytes - at), *why = "";
		if (!end)
			break; /* an incomplete line after a power cut */
		number++;
		if (memchr(text + at, 0, (size_t)(end - text) - at)) {
			skip_zeroed(&g, number, at, text + at, (size_t)(end - text) + 1 - at);
			at = (size_t)(end - text) + 1;
			continue;
		}
		json_t *line = load(text + at, (size_t)(end - text) - at, &error);
		if (!line && boot_follows(end + 1, text + bytes)) {
			g.torn = number;
		} else if (!line) {
			syntax_problem(problem, capacity, name, number, &error);
			st = ST_SYNTAX;
		} else if ((st = journal_line(&g, line, &why)) != ST_OK)
			snprintf(problem, capacity, "%s:%d: %s", name, number, why);
		json_decref(line);
		at = (size_t)(end - text) + 1;
	}
	if (st == ST_OK && at < bytes && g.root && memchr(text + at, 0, bytes - at))
		skip_zeroed(&g, number + 1, at, text + at, bytes - at);
	if (st == ST_OK && !g.root) {
		snprintf(problem, capacity, "%s: no whole line of a journal", name);
		st = ST_MISSING;
	}
	/* sections after the rows have start lines too, but are no rows */
	if (st == ST_OK && g.started[0] && !is_named(g.started, "study") && strncmp(g.started, "account.", 8) && !is_named(g.started, "trust") &&
	    json_array_append_new(g.rows, crashed_row(g.started, json_is_true(json_object_get(g.root, "simulated")))))
		st = ST_FULL;
	if (st != ST_OK) {
		json_decref(g.root);
		return st;
	}
	if (!g.ended || at < bytes) {
		r->cut = true;
		snprintf(r->note, sizeof(r->note), "cut short: read up to line %d, byte %zu of %zu, its last whole line%s%.60s", number, at,
		         bytes, g.started[0] ? "; the machine stopped in " : "", g.started);
	}
	str_one_line(r->note); /* it may contain a row's name */
	if (!r->cut && g.torn)
		snprintf(r->note, sizeof(r->note), "line %d was cut by a crash, after which the run went on", g.torn);
	zeroed_note(r->note, sizeof(r->note), &g);
	*root = g.root;
	return ST_OK;
}

enum status reader_parse(struct results *r, const char *text, size_t bytes, enum reader_form form, const char *name,
                          char *problem, size_t capacity)
{
	json_error_t error;
	json_t *root = NULL;
	char reason[512];
	memset(r, 0, sizeof(*r));
	r->journal = form == READER_JOURNAL;
	snprintf(r->path, sizeof(r->path), "%s", name);
	if (r->journal) {
		enum status st = journal_tree(r, text, bytes, name, &root, problem, capacity);
		if (st != ST_OK)
			return st;
	} else if (!(root = load(text, bytes, &error))) {
		syntax_problem(problem, capacity, name, error.line, &error);
		return ST_SYNTAX;
	}
	enum status st = document_of(r, root);
	json_decref(root);
	if (st != ST_OK)
		snprintf(problem, capacity, "%s: %s", name, st == ST_RANGE ? "nested too deeply" : "no memory");
	else if ((st = reader_check(&r->d, reason, sizeof(reason))) != ST_OK)
		snprintf(problem, capacity, "%s: %s", name, reason);
	if (st != ST_OK)
		reader_free(r);
	return st;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n >= m && !strcmp(s + n - m, end);
}

enum status reader_read(struct results *r, const char *path, char *problem, size_t capacity)
{
	struct stat about;
	char file[1024];
	char *text = NULL;
	size_t bytes = 0;
	memset(r, 0, sizeof(*r));
	snprintf(file, sizeof(file), "%s", path);
	if (!stat(path, &about) && S_ISDIR(about.st_mode)) {
		snprintf(file, sizeof(file), "%.1000s/results.json", path);
		if (stat(file, &about))
			snprintf(file, sizeof(file), "%.1000s/journal.jsonl", path);
		if (stat(file, &about)) {
			snprintf(problem, capacity, "%s: no run's directory: neither results.json nor journal.jsonl is in it", path);
			return ST_MISSING;
		}
	}
	enum status st = file_read(file, RESULTS_BYTES_MOST, &text, &bytes, problem, capacity);
	if (st != ST_OK)
		return st;
	st = reader_parse(r, text, bytes, ends_with(file, ".jsonl") ? READER_JOURNAL : READER_DOCUMENT, file, problem, capacity);
	free(text);
	return st;
}

void reader_free(struct results *r)
{
	free(r->nodes);
	free(r->strings);
	r->nodes = r->strings = NULL;
	document_init(&r->d, NULL, 0, NULL, 0);
}
