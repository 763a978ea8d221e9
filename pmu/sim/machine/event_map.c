/* pmu/sim/machine/event_map.c: reads the event map of a machine: comma-separated text whose first line names the columns.
 *
 * Not modelled: cmask, inv and edge as part of a row; the counter's own fields are applied to the sum of its signals. */
#include "pmu/sim/machine/event_map.h"
#include "pmu/sim/machine/map_text.h"
#include "pmu/text.h"

#define SHOWN 48 /* bytes of a bad value in a message */
#define WIDE_ROWS 256 /* at most, of a select above 0xFF */

enum column { COL_UNIT, COL_SELECT, COL_UMASK, COL_BIT, COL_COUNTERS, COL_FLAGS, COL_CONDITION, COL_NAME, COL_SIGNALS, COL_COUNT };
static const char *const columns[COL_COUNT] = { "unit", "select", "umask", "bit", "counters", "flags", "condition", "name", "signals" };

static const struct map_name signals[] = {
#define SIGNAL(name, kind, what) { #name, SIG_##name },
#include "pmu/sim/signals/signals.def"
#undef SIGNAL
};
static const struct map_name units[] = {
#define NETBURST_UNIT(name, msr) { #name, msr },
#include "pmu/sim/machine/netburst_units.def"
#undef NETBURST_UNIT
};
static const struct map_name conditions[] = {
#define X(name) { #name, PRECISE_##name },
	PRECISE_CONDITIONS(X)
#undef X
};
static const struct map_name flags[] = {
	{ "cycles", EVENT_CYCLES }, { "bus_clock", EVENT_BUS_CLOCK }, { "tsc_clock", EVENT_TSC_CLOCK }, { "offcore_0", EVENT_OFFCORE_0 }, { "offcore_1", EVENT_OFFCORE_1 },
	{ "unmodelled", EVENT_UNMODELLED }, { "exact", EVENT_EXACT }, { "tagged", EVENT_TAGGED }, { "retirement", EVENT_RETIREMENT },
	{ "exactly_64", EVENT_EXACTLY_64 }, { "requests", EVENT_REQUESTS }, { "precise", EVENT_PRECISE },
};

struct reading {
	const char *file;
	struct map_text text;
	struct text problem;
	uint8_t column[COL_COUNT]; /* what the n-th column of a line is */
	unsigned columns;
	unsigned given;            /* mask of columns that the map has */
	uint64_t seen[0x10000 / 64]; /* codes of earlier rows, of 16 bits */
	uint32_t wide[WIDE_ROWS];    /* and those of more */
	unsigned wides;
};

static enum status wrong(struct reading *r, enum column c, const struct map_cell *cell, const char *allowed)
{
	text_fmt(&r->problem, "%s:%u: %s: '%.*s' is not %s", r->file, r->text.line, columns[c],
	         (int)(cell->length < SHOWN ? cell->length : SHOWN), cell->at, allowed);
	str_one_line(r->problem.at);
	return ST_SYNTAX;
}

static enum status says(struct reading *r, const char *what)
{
	text_fmt(&r->problem, "%s:%u: %s", r->file, r->text.line, what);
	return ST_SYNTAX;
}

static enum status read_header(struct reading *r)
{
	struct map_cell line;
	if (!map_next_line(&r->text, &line)) {
		r->text.line = r->text.line ? r->text.line : 1;
		return says(r, "no line names the columns");
	}
	while (line.length) {
		const struct map_cell c = map_cut(&line, ',');
		unsigned i = 0;
		while (i < COL_COUNT && !map_same(c.at, c.length, columns[i], false))
			i++;
		if (i == COL_COUNT || r->given >> i & 1) {
			text_fmt(&r->problem, "%s:%u: '%.*s': %s; columns are", r->file, r->text.line, (int)(c.length < SHOWN ? c.length : SHOWN), c.at,
			         i == COL_COUNT ? "no such column" : "this column is there twice");
			for (unsigned k = 0; k < COL_COUNT; k++)
				text_fmt(&r->problem, " %s", columns[k]);
			str_one_line(r->problem.at);
			return ST_SYNTAX;
		}
		r->column[r->columns++] = (uint8_t)i;
		r->given |= 1u << i;
	}
	const unsigned always = 1u << COL_SELECT | 1u << COL_NAME | 1u << COL_SIGNALS | 1u << COL_FLAGS;
	const unsigned general = 1u << COL_UMASK | 1u << COL_COUNTERS | 1u << COL_CONDITION, netburst = 1u << COL_UNIT | 1u << COL_BIT;
	if (r->given != (always | general) && r->given != (always | netburst))
		return says(r, "the columns are select, umask, counters, flags, condition, name, signals; or unit, select, bit, flags, name, signals");
	return ST_OK;
}

static enum status read_number(struct reading *r, enum column c, const struct map_cell *cell, uint64_t most, const char *allowed, uint64_t *v)
{
	return parse_u64(cell->at, cell->length, v) == ST_OK && *v <= most ? ST_OK : wrong(r, c, cell, allowed);
}

/* One of a list's names. */
static enum status read_name(struct reading *r, enum column c, const struct map_cell *cell, const struct map_name *list, unsigned n,
                             bool any_case, uint16_t *value)
{
	const struct map_name *found = map_find_name(list, n, cell->at, cell->length, any_case);
	if (!found)
		return wrong(r, c, cell, "a name of the list in tables/machines/FORMAT.md");
	*value = found->value;
	return ST_OK;
}

static enum status read_signals(struct reading *r, struct map_cell cell, struct sim_event *e)
{
	while (cell.length) {
		const struct map_cell one = map_cut(&cell, ' ');
		if (e->signal_count == EVENT_SIGNALS)
			return says(r, "signals: more than 16");
		if (e->flags & EVENT_REQUESTS) {
			uint64_t mask;
			enum status st = read_number(r, COL_SIGNALS, &one, 0xFF, "a mask of request types, 1 to 0xFF", &mask);
			if (st)
				return st;
			e->signals[e->signal_count++] = (uint16_t)mask;
			continue;
		}
		enum status st = read_name(r, COL_SIGNALS, &one, signals, COUNT_OF(signals), false, &e->signals[e->signal_count++]);
		if (st)
			return st;
	}
	return ST_OK;
}

/* One cell of a row; signals wait until the flags are known. */
static enum status read_cell(struct reading *r, enum column c, struct map_cell cell, struct sim_event *e, struct map_cell *name)
{
	uint64_t v = 0;
	uint16_t value = 0;
	enum status st = ST_OK;
	switch (c) {
	case COL_UNIT:
		return read_name(r, c, &cell, units, COUNT_OF(units), false, &e->unit);
	case COL_SELECT:
		st = read_number(r, c, &cell, 0xFFF, "a number from 0 to 0xFFF", &v);
		e->select = (uint16_t)v;
		return st;
	case COL_UMASK:
		st = read_number(r, c, &cell, 0xFF, "a number from 0 to 0xFF", &v);
		e->umask = (uint8_t)v;
		return st;
	case COL_BIT:
		st = read_number(r, c, &cell, 15, "the number of a mask's bit, 0 to 15", &v);
		e->umask = (uint8_t)v;
		return st;
	case COL_COUNTERS:
		st = read_number(r, c, &cell, 0xF, "a mask of counters, 0 to 0xF", &v);
		e->counters = (uint8_t)v;
		return st;
	case COL_FLAGS:
		while (cell.length && !st) {
			const struct map_cell one = map_cut(&cell, ' ');
			st = read_name(r, c, &one, flags, COUNT_OF(flags), false, &value);
			e->flags |= value;
		}
		return st;
	case COL_CONDITION:
		if (cell.length)
			st = read_name(r, c, &cell, conditions, COUNT_OF(conditions), true, &value);
		e->precise = (uint8_t)value;
		return st;
	case COL_NAME:
		for (size_t i = 0; i < cell.length; i++)
			if (cell.at[i] < ' ' || cell.at[i] > '~')
				return wrong(r, c, &cell, "printable ASCII");
		*name = cell;
		return cell.length ? ST_OK : says(r, "name: missing");
	default:
		return ST_BROKEN;
	}
}

/* Refuses a code that an earlier row has. */
static enum status see_code(struct reading *r, unsigned code)
{
	bool seen = false;
	if (code < 0x10000) {
		seen = r->seen[code / 64] >> code % 64 & 1;
		r->seen[code / 64] |= 1ull << code % 64;
	} else {
		for (unsigned i = 0; i < r->wides && !seen; i++)
			seen = r->wide[i] == code;
		if (r->wides == WIDE_ROWS)
			return says(r, "select: more than 256 rows above 0xFF");
		r->wide[r->wides++] = code;
	}
	return seen ? says(r, "an earlier line has the same code") : ST_OK;
}

static enum status read_row(struct reading *r, struct map_cell line, struct sim_event *e, struct map_cell *name)
{
	struct map_cell of_signals = { line.at, 0 };
	*e = (struct sim_event){ .counters = 0xF };
	unsigned cells = 1;
	for (size_t i = 0; i < line.length; i++)
		cells += line.at[i] == ',';
	if (cells != r->columns)
		return says(r, cells < r->columns ? "fewer cells than columns" : "more cells than columns");
	for (unsigned i = 0; i < r->columns; i++) {
		const struct map_cell c = map_cut(&line, ',');
		enum status st = ST_OK;
		if (r->column[i] == COL_SIGNALS)
			of_signals = c;
		else
			st = read_cell(r, r->column[i], c, e, name);
		if (st)
			return st;
	}
	enum status st = read_signals(r, of_signals, e);
	if (st)
		return st;
	const unsigned elsewhere = EVENT_OFFCORE_0 | EVENT_OFFCORE_1 | EVENT_TAGGED | EVENT_RETIREMENT | EVENT_UNMODELLED;
	if (!(e->flags & elsewhere) && !e->signal_count)
		return says(r, "signals: none, and no flag says what it counts instead");
	if ((e->flags & (EVENT_TAGGED | EVENT_RETIREMENT)) && !e->precise)
		return says(r, "condition: missing, though it is counted at retirement");
	if (e->unit && e->select > 0x3F)
		return says(r, "select: more than 0x3F, which an ESCR cannot hold");
	const unsigned code = e->unit ? (unsigned)(e->unit - units[0].value) / 2 << 10 | (unsigned)e->select << 4 | e->umask :
		(unsigned)e->select << 8 | e->umask;
	return see_code(r, code);
}

size_t event_map_bytes(const char *text, size_t bytes)
{
	size_t lines = 1;
	for (size_t i = 0; i < bytes; i++)
		lines += text[i] == '\n';
	return lines * (sizeof(struct sim_event) + 1) + bytes;
}

enum status event_map_read(const char *file_name, const char *text, size_t bytes, void *at, struct event_map *out,
                           char *problem, size_t capacity)
{
	struct reading r = { .file = file_name, .text = { text, text + bytes, 0 } };
	text_init(&r.problem, problem, capacity);
	struct sim_event *rows = at, one;
	char *names = at ? (char *)at + (event_map_bytes(text, bytes) - bytes) : NULL;
	struct map_cell line, name = { text, 0 };
	unsigned count = 0;
	enum status st = read_header(&r);
	while (!st && map_next_line(&r.text, &line)) {
		struct sim_event *e = rows ? &rows[count] : &one;
		st = read_row(&r, line, e, &name);
		if (!st && names) {
			e->name = names;
			memcpy(names, name.at, name.length);
			names[name.length] = 0;
			names += name.length + 1;
		}
		count++;
	}
	if (!st && out)
		*out = (struct event_map){ .count = count, .units = r.given >> COL_UNIT & 1, .rows = rows };
	return st;
}

size_t event_map_place_bytes(const struct machine *m)
{
	return sizeof(struct event_map) + event_map_bytes(m->map.text, m->map.bytes);
}

enum status event_map_place(struct machine *m, void *at)
{
	struct event_map *map = at;
	char problem[160];
	m->events = map;
	return event_map_read(m->map.name, m->map.text, m->map.bytes, map + 1, map, problem, sizeof(problem));
}
