/* runner/data/counts.c: see counts.h. */
#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "pmu/text.h"
#include "runner/data/counts.h"
#include "runner/data/perf_event.h"

#define WHOLE_RUNS "%s:%u: counts of a part of the run or of the machine: perf stat without -A, -I, --per-* and --summary is expected"

struct fields { const char *value, *event, *percent; };

/* The length of the PMU's name at the beginning of an event in perf's syntax, "cpu/event=1,umask=2/u"; 0: the event is not in that syntax. */
static size_t pmu_length(const char *event)
{
	size_t n = strspn(event, "abcdefghijklmnopqrstuvwxyz0123456789_");
	return n && event[n] == '/' && strchr(event + n + 1, '/') ? n : 0;
}

/* Converts "mem_load_retired.l2_hit:u" or "cpu/event=0xcb,umask=0x2,name=X/u" to the manual's spelling. Events of other PMUs, or with
 * further terms, keep their whole text: they are not the manual's event of that name. */
static bool event_name(const char *from, char *to, size_t capacity)
{
	const char *name = strstr(from, "name=");
	size_t pmu = pmu_length(from), n;
	char plain[96];
	if (name) {
		from = name + 5;
		n = strcspn(from, ":,/");
	} else if (pmu) {
		bool core = !strncmp(from, "cpu/", 4) || !strncmp(from, "cpu_core/", 9);
		n = (size_t)(strchr(from + pmu + 1, '/') - from);
		from += core ? pmu + 1 : 0;
		n -= core ? pmu + 1 : 0;
	} else {
		n = strcspn(from, ",/");
		/* keeps modifiers of the event and drops perf's letters for the privilege levels */
		const char *colon = memchr(from, ':', n);
		if (colon && strncasecmp(colon, ":cmask", 6) && strncasecmp(colon, ":inv", 4) && strncasecmp(colon, ":edge", 5) && strncasecmp(colon, ":any", 4))
			n = (size_t)(colon - from);
	}
	if (!n || n >= sizeof(plain))
		return false;
	memcpy(plain, from, n);
	plain[n] = 0;
	const char *generic = perf_event_generic(plain);
	for (n = 0; plain[n]; n++) {
		char ch = (char)toupper((unsigned char)plain[n]);
		if (!isalnum((unsigned char)ch) && !strchr("._-/=,:", ch))
			return false;
		if (n + 1 >= capacity)
			return false;
		to[n] = ch;
	}
	to[n] = 0;
	if (generic && strlen(generic) < capacity) /* both names stand for the same count */
		strcpy(to, generic);
	return true;
}

/* Parses a count: digits, possibly with ".000000" as perf -j prints it. */
static bool whole(const char *s, int64_t *value)
{
	char *end;
	if (!isdigit((unsigned char)*s))
		return false;
	unsigned long long v = strtoull(s, &end, 10);
	if (*end == '.')
		end += 1 + strspn(end + 1, "0");
	if (*end || v > INT64_MAX / 1000)
		return false;
	*value = (int64_t)v;
	return true;
}

static enum status add(struct counts *c, const struct fields *f, const char *name, unsigned line, char *problem, size_t capacity)
{
	struct count one = {.state = COUNT_GOOD, .file = c->files};
	double percent = f->percent && f->percent[0] ? strtod(f->percent, NULL) : 100;
	if (!event_name(f->event, one.event, sizeof(one.event))) {
		snprintf(problem, capacity, "%s:%u: no event's name in the third field", name, line);
		return ST_SYNTAX;
	}
	if (f->value[0] == '<') /* <not counted>, <not supported> */
		one.state = COUNT_MISSING;
	else if (!whole(f->value, &one.value)) {
		snprintf(problem, capacity, "%s:%u: %s: not a count from 0 to %lld", name, line, one.event, (long long)(INT64_MAX / 1000));
		return ST_RANGE;
	} else if (!(percent >= 0 && percent <= 100.5)) {
		snprintf(problem, capacity, "%s:%u: %s: impossible share of the counted time", name, line, one.event);
		return ST_RANGE;
	} else if (percent < 99.99)
		one.state = COUNT_MULTIPLEXED;
	for (unsigned i = 0; i < c->n; i++)
		if (c->list[i].file == one.file && !strcmp(c->list[i].event, one.event)) {
			snprintf(problem, capacity, "%s:%u: %s stands there twice", name, line, one.event);
			return ST_RANGE;
		}
	if (c->n == COUNTS_MOST) {
		snprintf(problem, capacity, "%s:%u: more than %d events", name, line, COUNTS_MOST);
		return ST_FULL;
	}
	c->list[c->n++] = one;
	return ST_OK;
}

/* perf-stat(1), CSV FORMAT: value, unit, event, with -r a variance in %, run time, percentage, metric, ... Lines with only
 * a metric have neither value nor event. EVENT,COUNT is accepted too. */
static enum status csv_line(struct counts *c, char *line, char separator, const char *name, unsigned number, char *problem, size_t capacity)
{
	char *field[8] = {NULL};
	unsigned n = 0, percent = 4;
	for (char *at = line; at && n < COUNT_OF(field); n++) {
		field[n] = at;
		/* an event in perf's syntax, cpu/event=1,umask=2/, contains commas */
		size_t pmu = n == 0 || n == 2 ? pmu_length(at) : 0;
		at = strchr(pmu ? strchr(at + pmu + 1, '/') : at, separator);
		if (at)
			*at++ = 0;
	}
	if (n == 2)
		return add(c, &(struct fields){field[1], field[0], NULL}, name, number, problem, capacity);
	if (n < 3) {
		snprintf(problem, capacity, "%s:%u: neither a line of perf stat -x, nor EVENT,COUNT", name, number);
		return ST_SYNTAX;
	}
	if (isdigit((unsigned char)field[1][0]) || field[1][0] == '<') { /* a count in the second field: a time or a processor precedes it */
		snprintf(problem, capacity, WHOLE_RUNS, name, number);
		return ST_SYNTAX;
	}
	if (field[1][0] || (!field[0][0] && !field[2][0])) /* a unit such as msec or Joules: not a count of events; or a metric */
		return ST_OK;
	if (n > 3 && strchr(field[3], '%'))
		percent++;
	return add(c, &(struct fields){field[0], field[2], n > percent ? field[percent] : NULL}, name, number, problem, capacity);
}

static const char *text_of(json_t *j, char *room, size_t capacity)
{
	if (json_is_string(j))
		return json_string_value(j);
	if (json_is_integer(j))
		snprintf(room, capacity, "%" JSON_INTEGER_FORMAT, json_integer_value(j));
	else if (json_is_real(j))
		snprintf(room, capacity, "%f", json_real_value(j));
	else
		return NULL;
	return room;
}

static enum status json_line(struct counts *c, const char *line, const char *name, unsigned number, char *problem, size_t capacity)
{
	json_error_t error;
	char value[400], percent[400];
	json_t *j = json_loads(line, JSON_REJECT_DUPLICATES, &error);
	if (!j) {
		snprintf(problem, capacity, "%s:%u:%d: %.120s", name, number, error.column, error.text);
		return ST_SYNTAX;
	}
	static const char *const parts[] = {"interval", "cpu", "core", "die", "cache", "cluster", "socket", "node", "thread", "cgroup"};
	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (json_object_get(j, parts[i])) {
			snprintf(problem, capacity, WHOLE_RUNS, name, number);
			json_decref(j);
			return ST_SYNTAX;
		}
	struct fields f = {text_of(json_object_get(j, "counter-value"), value, sizeof(value)), json_string_value(json_object_get(j, "event")),
		text_of(json_object_get(j, "pcnt-running"), percent, sizeof(percent))};
	const char *unit = json_string_value(json_object_get(j, "unit"));
	enum status st = ST_OK;
	if (f.value && f.event && unit && unit[0]) /* msec or Joules: not a count of events */
		;
	else if (f.value && f.event)
		st = add(c, &f, name, number, problem, capacity);
	else if (!json_object_get(j, "metric-value")) { /* a line of a metric alone has no event */
		snprintf(problem, capacity, "%s:%u: no \"counter-value\" and \"event\" as perf stat -j writes them", name, number);
		st = ST_SYNTAX;
	}
	json_decref(j);
	return st;
}

enum status counts_parse(struct counts *c, const char *text, size_t bytes, const char *name, char *problem, size_t capacity)
{
	unsigned number = 0;
	char separator = ',';
	enum status st = ST_OK;
	const unsigned before = c->n;
	c->files++;
	for (const char *at = text, *end = text + bytes; at < end && st == ST_OK;) {
		char line[2048];
		size_t n = 0;
		const char *feed = memchr(at, '\n', (size_t)(end - at));
		n = (size_t)((feed ? feed : end) - at);
		number++;
		if (n >= sizeof(line) || memchr(at, 0, n)) {
			snprintf(problem, capacity, "%s:%u: no line of text, or too long", name, number);
			return ST_SYNTAX;
		}
		memcpy(line, at, n);
		at += n + 1;
		while (n && isspace((unsigned char)line[n - 1]))
			n--;
		line[n] = 0;
		char *start = line + strspn(line, " \t");
		if (!*start || *start == '#')
			continue;
		/* neither an event's name nor a number contains these, even in locales with a decimal comma */
		const char *other = *start == '{' ? NULL : strpbrk(start, ";\t|");
		separator = other ? *other : ',';
		st = *start == '{' ? json_line(c, start, name, number, problem, capacity) : csv_line(c, start, separator, name, number, problem, capacity);
	}
	if (st == ST_OK && c->n == before) {
		snprintf(problem, capacity, "%s: no event; expected what perf stat -x, or perf stat -j writes", name);
		return ST_SYNTAX;
	}
	if (st != ST_OK)
		str_one_line(problem);
	return st;
}

static const struct count *find(const struct counts *c, const struct processor *p, const struct event *e, unsigned file)
{
	const struct count *best = NULL;
	for (unsigned i = 0; e && i < c->n; i++)
		if ((!file || c->list[i].file == file) && perf_event_is(p, e, c->list[i].event) && (!best || c->list[i].state > best->state))
			best = &c->list[i];
	return best;
}

static enum workload_account_count get(const void *self, const struct processor *p, const struct event *e, int64_t *count, int64_t *cycles)
{
	const struct counts *c = self;
	const struct count *one = find(c, p, e, 0);
	if (!one)
		return COUNT_MISSING;
	const struct count *own = find(c, p, stall_identity_event(p, STALL_CYCLES), one->file);
	*count = one->value;
	*cycles = own && own->state == COUNT_GOOD ? own->value : 0;
	return one->state;
}

struct account_counts counts_of(const struct counts *c)
{
	return (struct account_counts){c, get};
}
