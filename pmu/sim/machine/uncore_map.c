/* pmu/sim/machine/uncore_map.c: reads the uncore map of a machine: comma-separated text whose first line names the columns.
 *
 * Not modelled: thresholds as part of a row other than `cycles` and `idle`. */
#include "pmu/sim/machine/uncore_map.h"
#include "pmu/sim/machine/map_text.h"
#include "pmu/text.h"

#define HEADER "box,code,umask,counters,flags,name,signals,why"
enum { CELLS = 8, SHOWN = 48 };
#define UMASK_MOST 0x7FFFFFFFFFull /* eight bits, and bits 62:32 of the select */
#define UMASK_BITS 0xFFu          /* those that can be combined */

static const struct map_name boxes[] = {
#define X(name) { #name, UNCORE_BOX_##name },
	UNCORE_BOXES(X)
#undef X
};
static const struct map_name signals[] = {
#define UNCORE_SIGNAL(name, kind, unit, what) { #name, UNC_##name },
#include "pmu/sim/signals/uncore_signals.def"
#undef UNCORE_SIGNAL
};
static const struct map_name tags[] = {
#define UNCORE_TAG(name, what) { #name, UTAG_##name },
#include "pmu/sim/signals/uncore_tags.def"
#undef UNCORE_TAG
};
static const struct map_name hows[] = {
	{ "occupancy", UNCORE_OCCUPANCY }, { "cycles", UNCORE_CYCLES }, { "beyond", UNCORE_BEYOND }, { "idle", UNCORE_IDLE }, { "clock", UNCORE_CLOCK },
	{ "counter_0", UNCORE_COUNTER_0 }, { "never", UNCORE_NEVER }, { "unmodelled", UNCORE_UNMODELLED },
};
static const struct map_name flags[] = {
	{ "opcode", UNCORE_OPCODE }, { "node", UNCORE_NODE }, { "state", UNCORE_STATE }, { "match", UNCORE_MATCH },
	{ "address", UNCORE_ADDRESS }, { "message", UNCORE_MESSAGE }, { "open_page", UNCORE_OPEN_PAGE }, { "closed_page", UNCORE_CLOSED_PAGE },
	{ "snoop", UNCORE_SNOOP }, { "forwards", UNCORE_FORWARDS }, { "band", UNCORE_BAND }, { "bank", UNCORE_BANK },
	{ "rank", UNCORE_RANK }, { "lanes", UNCORE_LANES }, { "edge", UNCORE_EDGE },
	{ "region", UNCORE_REGION }, { "indirect", UNCORE_INDIRECT }, { "clocked", UNCORE_CLOCKED }, { "fast_exit", UNCORE_FAST_EXIT }, { "slow_exit", UNCORE_SLOW_EXIT },
	{ "drd", UNCORE_DATA_READ }, { "crd", UNCORE_CODE_READ }, { "rfo", UNCORE_OWNERSHIP },
};
static const struct map_name queues[] = { { "read", UNCORE_OF_READ }, { "write", UNCORE_OF_WRITE }, { "peer", UNCORE_OF_PEER } };

struct reading { const char *file; struct map_text text; struct text problem; struct uncore_term terms[UNCORE_TERMS]; /* of the current row */ };

static enum status wrong(struct reading *r, const char *column, struct map_cell c, const char *allowed)
{
	text_fmt(&r->problem, "%s:%u: %s: '%.*s' is not %s", r->file, r->text.line, column, (int)(c.length < SHOWN ? c.length : SHOWN), c.at, allowed);
	str_one_line(r->problem.at);
	return ST_SYNTAX;
}

static enum status syntax_error(struct reading *r, const char *what)
{
	text_fmt(&r->problem, "%s:%u: %s", r->file, r->text.line, what);
	return ST_SYNTAX;
}

/* One word of a term after its signal: a tag, unitN or ownN. */
static enum status read_tag(struct reading *r, struct map_cell c, struct uncore_term *t)
{
	uint64_t v;
	const struct map_name *tag = map_find_name(tags, COUNT_OF(tags), c.at, c.length, true);
	if (tag) {
		t->tags |= 1ull << tag->value;
		return ST_OK;
	}
	if (c.length > 4 && map_same(c.at, 4, "unit", false) && parse_u64(c.at + 4, c.length - 4, &v) == ST_OK && v < 32) {
		t->unit = (uint8_t)v;
		return ST_OK;
	}
	if (c.length == 4 && map_same(c.at, 3, "own", false) && c.at[3] >= '0' && c.at[3] <= '9') {
		t->unit = (uint8_t)(UNCORE_OWN_FIRST + c.at[3] - '0');
		return ST_OK;
	}
	return wrong(r, "signals", c, "a tag of the list in tables/machines/FORMAT.md, unit0 to unit31, or own0 to own9");
}

static enum status read_terms(struct reading *r, struct map_cell cell, struct uncore_row *e)
{
	while (cell.length) {
		struct map_cell one = map_cut(&cell, ' '), factor = map_cut(&one, '*'), word = map_cut(&factor, ':');
		const struct map_name *s = map_find_name(signals, COUNT_OF(signals), word.at, word.length, false);
		uint64_t times = 1;
		if (e->term_count == UNCORE_TERMS)
			return syntax_error(r, "signals: more than 8");
		if (!s)
			return wrong(r, "signals", word, "an uncore signal of the list in tables/machines/FORMAT.md");
		if (one.length && (parse_u64(one.at, one.length, &times) != ST_OK || !times || times > 255))
			return wrong(r, "signals", one, "a factor from 1 to 255");
		struct uncore_term *t = &r->terms[e->term_count++];
		*t = (struct uncore_term){ .signal = s->value, .times = (uint8_t)times, .unit = UNCORE_OWN_UNITS };
		while (factor.length) {
			enum status st = read_tag(r, map_cut(&factor, ':'), t);
			if (st)
				return st;
		}
	}
	return ST_OK;
}

/* flags: at most one way of counting, and conditions; each may have "=N", the row's `least`. */
static enum status read_flags(struct reading *r, struct map_cell cell, struct uncore_row *e)
{
	unsigned how = 0;
	e->least = 1;
	while (cell.length) {
		struct map_cell number = map_cut(&cell, ' ');
		const struct map_cell whole = number, word = map_cut(&number, '=');
		const struct map_name *h = map_find_name(hows, COUNT_OF(hows), word.at, word.length, false);
		const struct map_name *f = map_find_name(flags, COUNT_OF(flags), word.at, word.length, false);
		const struct map_name *queue = map_find_name(queues, COUNT_OF(queues), number.at, number.length, false);
		uint64_t v = 1;
		if (!h && !f)
			return wrong(r, "flags", whole, "a flag of the list in tables/machines/FORMAT.md");
		how += h != NULL;
		if (h)
			e->how = (uint8_t)h->value;
		else
			e->flags |= f->value;
		if (queue)
			e->least = (uint8_t)queue->value;
		else if (number.length && (parse_u64(number.at, number.length, &v) != ST_OK || v >= UNCORE_OF_READ))
			return wrong(r, "flags", number, "a number to 252, read, write or peer");
		else if (number.length)
			e->least = (uint8_t)v;
	}
	return how > 1 ? syntax_error(r, "flags: more than one way of counting") : ST_OK;
}

static enum status read_row(struct reading *r, struct map_cell line, struct uncore_row *e, struct map_cell *name, struct map_cell *why)
{
	struct map_cell c[CELLS];
	unsigned commas = 0;
	uint64_t v = 0;
	*e = (struct uncore_row){ .umask = UNCORE_UMASK_ANY };
	for (size_t i = 0; i < line.length; i++)
		commas += line.at[i] == ',';
	if (commas != CELLS - 1)
		return syntax_error(r, commas < CELLS - 1 ? "fewer cells than columns" : "more cells than columns");
	for (unsigned i = 0; i < CELLS; i++)
		c[i] = map_cut(&line, ',');
	const struct map_name *box = map_find_name(boxes, COUNT_OF(boxes), c[0].at, c[0].length, false);
	if (!box)
		return wrong(r, "box", c[0], "a box of the list in tables/machines/FORMAT.md");
	e->box = (uint8_t)box->value;
	if (parse_u64(c[1].at, c[1].length, &v) != ST_OK || v > 0x3FFF)
		return wrong(r, "code", c[1], "a number from 0 to 0x3FFF");
	e->code = (uint16_t)v;
	if (!map_same(c[2].at, c[2].length, "any", false)) {
		if (parse_u64(c[2].at, c[2].length, &v) != ST_OK || v > UMASK_MOST)
			return wrong(r, "umask", c[2], "a number from 0 to 0x7FFFFFFFFF, or any");
		e->umask = (int64_t)v;
	}
	if (parse_u64(c[3].at, c[3].length, &v) != ST_OK || v > 0xFF || !v)
		return wrong(r, "counters", c[3], "a mask of counters, 1 to 0xFF");
	e->counters = (uint8_t)v;
	enum status st = read_flags(r, c[4], e);
	if (st == ST_OK)
		st = read_terms(r, c[6], e);
	if (st)
		return st;
	*name = c[5];
	*why = c[7];
	const bool silent = e->how == UNCORE_NEVER || e->how == UNCORE_UNMODELLED;
	if (!name->length)
		return syntax_error(r, "name: missing");
	if (silent != (why->length != 0))
		return syntax_error(r, silent ? "why: missing, though it counts nothing" : "why: given, though it counts");
	if ((silent || e->how == UNCORE_CLOCK || e->how == UNCORE_COUNTER_0) != !e->term_count)
		return syntax_error(r, "signals: missing where something is added up, or given where nothing is");
	return ST_OK;
}

/* What rows need besides themselves: terms, and bytes of names and reasons; equal consecutive reasons are kept once. */
struct map_sizes { size_t rows, terms, words; };

static struct map_sizes needed_by(const char *text, size_t bytes)
{
	struct map_text t = { text, text + bytes, 0 };
	struct map_cell line, before = { 0 };
	struct map_sizes n = { 0 };
	while (map_next_line(&t, &line)) {
		struct map_cell c[CELLS] = { 0 };
		for (unsigned i = 0; i < CELLS; i++)
			c[i] = map_cut(&line, ',');
		while (c[6].length) {
			(void)map_cut(&c[6], ' ');
			n.terms++;
		}
		const bool same = c[7].length == before.length && (!before.length || !memcmp(c[7].at, before.at, before.length));
		n.words += c[5].length + 1 + (same ? 0 : c[7].length + 1);
		before = c[7];
		n.rows++;
	}
	return n;
}

size_t uncore_map_bytes(const char *text, size_t bytes)
{
	const struct map_sizes n = needed_by(text, bytes);
	return n.rows * sizeof(struct uncore_row) + n.terms * sizeof(struct uncore_term) + n.words + 1;
}

enum status uncore_map_read(const char *file_name, const char *text, size_t bytes, void *at, struct uncore_map *out,
                            char *problem, size_t capacity)
{
	struct reading r = { .file = file_name, .text = { text, text + bytes, 0 } };
	const struct map_sizes n = needed_by(text, bytes);
	struct uncore_row *rows = at, one;
	struct uncore_term *terms = at ? (struct uncore_term *)(rows + n.rows) : NULL;
	char *words = at ? (char *)(terms + n.terms) : NULL;
	const char *reason = words;
	struct map_cell line, name, why;
	unsigned count = 0;
	enum status st = ST_OK;
	text_init(&r.problem, problem, capacity);
	if (!map_next_line(&r.text, &line) || !map_same(line.at, line.length, HEADER, false)) {
		r.text.line = r.text.line ? r.text.line : 1;
		return syntax_error(&r, "the first line is not " HEADER);
	}
	if (at)
		*words++ = 0; /* no reason */
	while (!st && map_next_line(&r.text, &line)) {
		struct uncore_row *e = rows ? &rows[count] : &one;
		st = read_row(&r, line, e, &name, &why);
		if (!st && rows) {
			memcpy(terms, r.terms, e->term_count * sizeof(*terms));
			e->terms = terms;
			terms += e->term_count;
			e->name = map_keep(&words, &name);
			if (!map_same(why.at, why.length, reason, false))
				reason = map_keep(&words, &why);
			e->why = reason;
		}
		count++;
	}
	if (!st && out)
		*out = (struct uncore_map){ .count = count, .rows = rows };
	return st;
}

size_t uncore_map_load_bytes(const struct machine *m)
{
	return m->uncore_map.text ? sizeof(struct uncore_map) + uncore_map_bytes(m->uncore_map.text, m->uncore_map.bytes) : 0;
}

enum status uncore_map_load(struct machine *m, void *at)
{
	struct uncore_map *map = at;
	char problem[160];
	m->uncore = NULL;
	if (!m->uncore_map.text)
		return ST_OK;
	m->uncore = map;
	return uncore_map_read(m->uncore_map.name, m->uncore_map.text, m->uncore_map.bytes, map + 1, map, problem, sizeof(problem));
}

static const struct uncore_row *row_of(const struct uncore_map *map, enum uncore_box box, unsigned code, int64_t umask)
{
	for (unsigned i = 0; i < map->count; i++)
		if (map->rows[i].box == box && map->rows[i].code == code && map->rows[i].umask == umask)
			return &map->rows[i];
	return NULL;
}

const struct uncore_row *uncore_map_code(const struct uncore_map *map, enum uncore_box box, unsigned code)
{
	for (unsigned i = 0; i < map->count; i++)
		if (map->rows[i].box == box && map->rows[i].code == code)
			return &map->rows[i];
	return NULL;
}

/* Rows whose umask bits may be combined: the box adds them. */
static bool combines(const struct uncore_row *e)
{
	return e->how == UNCORE_ADD || e->how == UNCORE_OCCUPANCY || e->how == UNCORE_NEVER || e->how == UNCORE_UNMODELLED ||
	       (e->how == UNCORE_CYCLES && e->box != UNCORE_BOX_SOCKET);
}

unsigned uncore_map_find(const struct uncore_map *map, enum uncore_box box, unsigned code, uint64_t umask, const struct uncore_row *rows[8])
{
	const struct uncore_row *any = NULL;
	unsigned n = 0;
	for (const struct uncore_row *e = map->rows, *const end = e + map->count; e < end; e++) {
		if (e->code != code || e->box != box)
			continue;
		if (e->umask == (int64_t)umask) {
			rows[0] = e;
			return 1;
		}
		any = !any && e->umask == UNCORE_UMASK_ANY ? e : any;
	}
	rows[0] = any;
	if (any)
		return 1;
	for (unsigned bit = 0; bit < 8 && !(umask & ~(uint64_t)UMASK_BITS); bit++) {
		if (!(umask >> bit & 1))
			continue;
		const struct uncore_row *e = row_of(map, box, code, 1 << bit);
		if (!e || !combines(e))
			return 0;
		rows[n++] = e;
	}
	return n;
}
