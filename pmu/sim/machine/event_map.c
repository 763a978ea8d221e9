/* pmu/sim/machine/event_map.c: reads the event map of a machine: comma-separated text whose first line names the columns.
 *
 * Not modelled: cmask, inv and edge as part of a row; the counter's own fields are applied to the sum of its signals. */
#include "pmu/sim/machine/event_map.h"
#include "pmu/sim/machine/map_text.h"
#include "pmu/text.h"

#define SHOWN 48 /* bytes of a bad value in a message */
#define WIDE_ROWS 256 /* most rows with a select or a umask above 0xFF */

enum column { COL_UNIT, COL_SELECT, COL_UMASK, COL_MASK, COL_COUNTERS, COL_FLAGS, COL_CONDITION, COL_NAME, COL_SIGNALS, COL_WHY, COL_COUNT };
static const char *const columns[COL_COUNT] = { "unit", "select", "umask", "mask", "counters", "flags", "condition", "name", "signals", "why" };

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
static const struct { const char *name; uint32_t value; } flags[] = {
	{ "cycles", EVENT_CYCLES }, { "bus_clock", EVENT_BUS_CLOCK }, { "tsc_clock", EVENT_TSC_CLOCK }, { "offcore_0", EVENT_OFFCORE_0 }, { "offcore_1", EVENT_OFFCORE_1 },
	{ "unmodelled", EVENT_UNMODELLED }, { "exact", EVENT_EXACT }, { "tagged", EVENT_TAGGED }, { "retirement", EVENT_RETIREMENT },
	{ "exactly_64", EVENT_EXACTLY_64 }, { "requests", EVENT_REQUESTS }, { "precise", EVENT_PRECISE }, { "frontend", EVENT_FRONTEND },
	{ "independent", EVENT_INDEPENDENT }, { "front_end", EVENT_FRONT_END }, { "execution", EVENT_EXECUTION },
	{ "tags_front_end", EVENT_TAGS_FRONT_END }, { "tags_execution", EVENT_TAGS_EXECUTION }, { "unless", EVENT_UNLESS },
	{ "shared", EVENT_SHARED }, { "escr0", EVENT_ESCR0 }, { "escr1", EVENT_ESCR1 }, { "metric", EVENT_METRIC }, { "beside", EVENT_BESIDE },
};
#define NETBURST_FLAGS (~0u << 12 & ~(uint32_t)EVENT_FRONTEND)

struct reading {
	const char *file;
	struct map_text text;
	struct text problem;
	uint8_t column[COL_COUNT]; /* enum column of a line's n-th cell */
	unsigned columns;
	unsigned given;            /* mask of columns that the map has */
	uint64_t seen[0x10000 / 64]; /* 16-bit codes of earlier rows: select and umask */
	uint32_t wide[WIDE_ROWS];    /* and wider ones */
	unsigned wides;
};

static enum status wrong(struct reading *r, enum column c, const struct map_cell *cell, const char *allowed)
{
	text_fmt(&r->problem, "%s:%u: %s: '%.*s' is not %s", r->file, r->text.line, columns[c],
	         (int)(cell->length < SHOWN ? cell->length : SHOWN), cell->at, allowed);
	str_one_line(r->problem.at);
	return ST_SYNTAX;
}

static enum status syntax_error(struct reading *r, const char *what)
{
	text_fmt(&r->problem, "%s:%u: %s", r->file, r->text.line, what);
	return ST_SYNTAX;
}

static enum status read_header(struct reading *r)
{
	struct map_cell line;
	if (!map_next_line(&r->text, &line)) {
		r->text.line = r->text.line ? r->text.line : 1;
		return syntax_error(r, "no line names the columns");
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
	const unsigned always = 1u << COL_SELECT | 1u << COL_NAME | 1u << COL_SIGNALS | 1u << COL_FLAGS | 1u << COL_CONDITION;
	const unsigned general = 1u << COL_UMASK | 1u << COL_COUNTERS, netburst = 1u << COL_UNIT | 1u << COL_MASK | 1u << COL_WHY;
	if (r->given != (always | general) && r->given != (always | netburst))
		return syntax_error(r, "the columns are select, umask, counters, flags, condition, name, signals; or unit, select, mask, flags, condition, name, signals, why");
	return ST_OK;
}

static enum status read_number(struct reading *r, enum column c, const struct map_cell *cell, uint64_t most, const char *allowed, uint64_t *v)
{
	return parse_u64(cell->at, cell->length, v) == ST_OK && *v <= most ? ST_OK : wrong(r, c, cell, allowed);
}

/* A name of a list. */
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
			return syntax_error(r, "signals: more than 16");
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

/* A flag's value after '=', its parts separated by '/': ENABLE/VERT of a metric, UNIT/ESCR/SELECT/MASK of the event that it counts beside. */
static enum status read_flag_value(struct reading *r, uint32_t flag, const struct map_cell *word, struct map_cell value, struct sim_event *e)
{
	const bool metric = flag == EVENT_METRIC;
	const char *const allowed = metric ? "metric=ENABLE/VERT" : "beside=UNIT/ESCR/SELECT/MASK: ESCR 0, 1 or any, MASK or same";
	uint64_t v[3] = { 0 };
	if (flag == EVENT_BESIDE) {
		const struct map_cell unit = map_cut(&value, '/');
		enum status st = read_name(r, COL_FLAGS, &unit, units, COUNT_OF(units), false, &e->beside.unit);
		if (st)
			return st;
	}
	for (unsigned i = 0; i < (metric ? 2u : 3u); i++) {
		const struct map_cell part = map_cut(&value, '/');
		if (!metric && i == 0 && map_same(part.at, part.length, "any", false))
			v[i] = BESIDE_EITHER;
		else if ((metric || i != 2 || !map_same(part.at, part.length, "same", false)) && parse_u64(part.at, part.length, &v[i]))
			return wrong(r, COL_FLAGS, word, allowed);
	}
	if (value.length || (metric ? v[0] > 0x1FFFF || v[1] > 0x1F || !v[0] : v[0] > BESIDE_EITHER || v[1] > 0x3F || v[2] > 0xFFFF))
		return wrong(r, COL_FLAGS, word, allowed);
	if (metric) {
		e->enable = (uint32_t)v[0];
		e->vert = (uint32_t)v[1];
	} else {
		e->beside.escr = (uint8_t)v[0];
		e->beside.select = (uint8_t)v[1];
		e->beside.mask = (uint16_t)v[2];
	}
	return ST_OK;
}

static enum status read_flag(struct reading *r, struct map_cell word, struct sim_event *e)
{
	struct map_cell value = word;
	const struct map_cell name = map_cut(&value, '=');
	unsigned i = 0;
	while (i < COUNT_OF(flags) && !map_same(name.at, name.length, flags[i].name, false))
		i++;
	if (i == COUNT_OF(flags) || (flags[i].value & NETBURST_FLAGS && !(r->given >> COL_UNIT & 1)))
		return wrong(r, COL_FLAGS, &word, "a name of the list in tables/machines/FORMAT.md");
	e->flags |= flags[i].value;
	if (flags[i].value & (EVENT_METRIC | EVENT_BESIDE))
		return read_flag_value(r, flags[i].value, &word, value, e);
	return name.length == word.length ? ST_OK : wrong(r, COL_FLAGS, &word, "a flag that has a value");
}

/* A mask's bit, VALUE/BITS, or nothing: any mask. */
static enum status read_mask(struct reading *r, struct map_cell cell, struct sim_event *e)
{
	const struct map_cell whole = cell, first = map_cut(&cell, '/');
	const char *const allowed = "the number of a mask's bit, 0 to 15, nor VALUE/BITS";
	uint64_t v = 0, bits = 0;
	if (whole.length && parse_u64(first.at, first.length, &v))
		return wrong(r, COL_MASK, &whole, allowed);
	if (whole.length && first.length == whole.length) {
		if (v > 15)
			return wrong(r, COL_MASK, &whole, allowed);
		e->value = e->bits = (uint16_t)(1u << v);
		return ST_OK;
	}
	if (whole.length && (parse_u64(cell.at, cell.length, &bits) || bits > 0xFFFF || !bits || v & ~bits))
		return wrong(r, COL_MASK, &whole, allowed);
	e->flags |= EVENT_FILTER;
	e->value = (uint16_t)v;
	e->bits = (uint16_t)bits;
	return ST_OK;
}

/* Words that are kept: a name, a reason. */
static enum status read_words(struct reading *r, enum column c, struct map_cell cell, struct map_cell *words)
{
	for (size_t i = 0; i < cell.length; i++)
		if (cell.at[i] < ' ' || cell.at[i] > '~')
			return wrong(r, c, &cell, "printable ASCII");
	*words = cell;
	return ST_OK;
}

/* One cell of a row, other than signals, which are read once the flags are known. */
static enum status read_cell(struct reading *r, enum column c, struct map_cell cell, struct sim_event *e, struct map_cell words[2])
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
		st = read_number(r, c, &cell, 0xFFFF, "a number from 0 to 0xFFFF", &v);
		e->umask = (uint16_t)v;
		return st;
	case COL_MASK:
		return read_mask(r, cell, e);
	case COL_COUNTERS:
		st = read_number(r, c, &cell, 0xFF, "a mask of counters, 0 to 0xFF", &v);
		e->counters = (uint8_t)v;
		return st;
	case COL_FLAGS:
		while (cell.length && !st)
			st = read_flag(r, map_cut(&cell, ' '), e);
		return st;
	case COL_CONDITION:
		if (cell.length)
			st = read_name(r, c, &cell, conditions, COUNT_OF(conditions), true, &value);
		e->precise = (uint8_t)value;
		return st;
	case COL_NAME:
		st = read_words(r, c, cell, &words[0]);
		return st || cell.length ? st : syntax_error(r, "name: missing");
	case COL_WHY:
		return read_words(r, c, cell, &words[1]);
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
			return syntax_error(r, "more than 256 rows with a select or a umask above 0xFF");
		r->wide[r->wides++] = code;
	}
	return seen ? syntax_error(r, "an earlier line has the same code") : ST_OK;
}

/* Checks the cells of a row against each other. */
static enum status check_row(struct reading *r, const struct sim_event *e, bool why)
{
	const unsigned elsewhere = EVENT_OFFCORE_0 | EVENT_OFFCORE_1 | EVENT_TAGGED | EVENT_RETIREMENT | EVENT_UNMODELLED | EVENT_FRONT_END | EVENT_EXECUTION | EVENT_FRONTEND |
		EVENT_ESCR0 | EVENT_ESCR1 | EVENT_BESIDE;
	const unsigned reasoned = EVENT_ESCR0 | EVENT_ESCR1 | EVENT_BESIDE;
	if (!(e->flags & elsewhere) && !e->signal_count)
		return syntax_error(r, "signals: none, and no flag says what it counts instead");
	if (e->flags & (EVENT_TAGGED | EVENT_RETIREMENT | EVENT_TAGS_FRONT_END | EVENT_TAGS_EXECUTION) && !e->precise)
		return syntax_error(r, "condition: missing, though it is counted at retirement");
	if ((e->flags & reasoned || (e->flags & EVENT_FILTER && e->flags & EVENT_UNMODELLED)) && !why)
		return syntax_error(r, "why: missing");
	if (e->unit && e->select > 0x3F)
		return syntax_error(r, "select: more than 0x3F, which an ESCR cannot hold");
	if (e->flags & (EVENT_FILTER | EVENT_METRIC))
		return ST_OK; /* several rows may have one code */
	return see_code(r, e->unit ? (unsigned)(e->unit - units[0].value) / 2 << 10 | (unsigned)e->select << 4 | (unsigned)__builtin_ctz(e->bits) :
		(unsigned)(e->umask >> 8) << 20 | (unsigned)e->select << 8 | (e->umask & 0xFFu));
}

static enum status read_row(struct reading *r, struct map_cell line, struct sim_event *e, struct map_cell words[2])
{
	struct map_cell of_signals = { line.at, 0 };
	*e = (struct sim_event){ .counters = 0xF };
	unsigned cells = 1;
	for (size_t i = 0; i < line.length; i++)
		cells += line.at[i] == ',';
	if (cells != r->columns)
		return syntax_error(r, cells < r->columns ? "fewer cells than columns" : "more cells than columns");
	for (unsigned i = 0; i < r->columns; i++) {
		const struct map_cell c = map_cut(&line, ',');
		enum status st = ST_OK;
		if (r->column[i] == COL_SIGNALS)
			of_signals = c;
		else
			st = read_cell(r, r->column[i], c, e, words);
		if (st)
			return st;
	}
	enum status st = read_signals(r, of_signals, e);
	return st ? st : check_row(r, e, words[1].length > 0);
}

size_t event_map_bytes(const char *text, size_t bytes)
{
	return map_lines(text, bytes) * (sizeof(struct sim_event) + 1) + bytes;
}

enum status event_map_read(const char *file_name, const char *text, size_t bytes, void *at, struct event_map *out,
                           char *problem, size_t capacity)
{
	struct reading r = { .file = file_name, .text = { text, text + bytes, 0 } };
	text_init(&r.problem, problem, capacity);
	struct sim_event *rows = at, one;
	char *names = at ? (char *)at + (event_map_bytes(text, bytes) - bytes) : NULL;
	struct map_cell line;
	unsigned count = 0;
	enum status st = read_header(&r);
	while (!st && map_next_line(&r.text, &line)) {
		struct sim_event *e = rows ? &rows[count] : &one;
		struct map_cell words[2] = { { text, 0 }, { text, 0 } };
		st = read_row(&r, line, e, words);
		if (!st && names) {
			e->name = map_keep(&names, &words[0]);
			e->why = words[1].length ? map_keep(&names, &words[1]) : NULL;
		}
		count++;
	}
	if (!st && out)
		*out = (struct event_map){ .count = count, .units = r.given >> COL_UNIT & 1, .rows = rows };
	return st;
}

size_t event_map_load_bytes(const struct machine *m)
{
	return sizeof(struct event_map) + event_map_bytes(m->map.text, m->map.bytes);
}

enum status event_map_load(struct machine *m, void *at)
{
	struct event_map *map = at;
	char problem[160];
	m->events = map;
	return event_map_read(m->map.name, m->map.text, m->map.bytes, map + 1, map, problem, sizeof(problem));
}
