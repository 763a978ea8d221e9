/* pmu/sim/machine/machine.c: reads a machine file, has it checked (machine_check.c), derives the clocks.
 *
 * An unpublished figure is given as `unknown`, and the field's preset applies. Fields without a
 * preset must be given. */
#include "pmu/sim/machine/machine_reading.h"

#define LINE_BYTES 64

struct field {
	const char *section, *name;
	uint64_t least, most, preset;
	size_t offset;       /* in struct machine */
	const char *text;    /* preset of a text; NULL for a number */
};

#define NUMBER(s, n, low, high, pre, what) { #s, #n, low, high, pre, offsetof(struct machine, s##_##n), NULL },
#define TEXT(s, n, pre, what) { #s, #n, 0, 0, 0, offsetof(struct machine, s##_##n), pre },
static const struct field fields[] = {
#include "pmu/sim/machine/machine.def"
};
#undef NUMBER
#undef TEXT

static const struct { const char *name; struct exec_cost preset; } classes[UC_COUNT] = {
#define CLASS(id, name, latency, ports, busy) [UC_##id] = { #name, { latency, ports, busy } },
#include "pmu/sim/machine/machine_class.def"
#undef CLASS
};

const char *machine_class_name(unsigned class) { return classes[class].name; }

static uint64_t *number_at(struct machine *m, const struct field *f)
{
	return (uint64_t *)(void *)((char *)m + f->offset);
}

static bool same(const char *s, size_t n, const char *name)
{
	return str_length(name) == n && !memcmp(s, name, n);
}

struct text *machine_problem(struct machine_reading *r, unsigned line)
{
	text_fmt(&r->problem, "%s:%u: ", r->file, line);
	return &r->problem;
}

/* ---- single lines --------------------------------------------------------------------------- */

static enum status read_field(struct machine_reading *r, const struct ini *ini, const struct field *f)
{
	if (f->text && same(ini->value, ini->value_length, "unknown"))
		return ST_OK; /* the preset applies */
	if (f->text) {
		char *to = (char *)r->m + f->offset;
		if (ini->value_length >= MACHINE_TEXT) {
			text_fmt(machine_problem(r, ini->line), "%s.%s: too long, at most %d bytes", f->section, f->name, MACHINE_TEXT - 1);
			return ST_RANGE;
		}
		for (size_t i = 0; i < ini->value_length; i++)
			if (ini->value[i] < ' ' || ini->value[i] > '~') {
				text_fmt(machine_problem(r, ini->line), "%s.%s: byte %u is not printable ASCII", f->section, f->name, (unsigned)i + 1);
				return ST_SYNTAX;
			}
		memset(to, 0, MACHINE_TEXT);
		memcpy(to, ini->value, ini->value_length);
		return ST_OK;
	}
	if (same(ini->value, ini->value_length, "unknown")) {
		if (f->preset == REQUIRED) {
			text_fmt(machine_problem(r, ini->line), "%s.%s: must be known, a number from %llu to %llu", f->section, f->name,
			         (unsigned long long)f->least, (unsigned long long)f->most);
			return ST_RANGE;
		}
		return ST_OK; /* the preset applies */
	}
	uint64_t v;
	enum status st = parse_u64(ini->value, ini->value_length, &v);
	if (st == ST_OK && (v < f->least || v > f->most))
		st = ST_RANGE;
	for (size_t i = 0; st && i < ini->value_length; i++)
		if (!ini->value[i]) {
			text_fmt(machine_problem(r, ini->line), "%s.%s: byte %u is NUL: a text file expected", f->section, f->name, (unsigned)i + 1);
			return st;
		}
	if (st) {
		text_fmt(machine_problem(r, ini->line), "%s.%s: '%.*s' is not a number from %llu to %llu%s", f->section, f->name,
		         (int)(ini->value_length < LINE_BYTES ? ini->value_length : LINE_BYTES), ini->value,
		         (unsigned long long)f->least, (unsigned long long)f->most,
		         f->preset == REQUIRED ? "" : " nor 'unknown'");
		return st;
	}
	*number_at(r->m, f) = v;
	return ST_OK;
}

/* The next blank-separated word of a value. */
static size_t word(const char **at, const char *end, const char **start)
{
	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	*start = *at;
	while (*at < end && **at != ' ' && **at != '\t')
		(*at)++;
	return (size_t)(*at - *start);
}

/* Port list: hexadecimal digits, one per port, ascending; '-' is none. */
static bool read_ports(const char *s, size_t n, uint16_t *mask)
{
	*mask = 0;
	if (n == 1 && *s == '-')
		return true;
	for (size_t i = 0; i < n; i++) {
		uint64_t port;
		char digit[3] = { '0', 'x', s[i] };
		if (parse_u64(digit, 3, &port) || *mask >> port)
			return false;
		*mask |= (uint16_t)(1u << port);
	}
	return n > 0;
}

static enum status read_exec(struct machine_reading *r, const struct ini *ini)
{
	unsigned c = 0;
	while (c < UC_COUNT && !same(ini->key, ini->key_length, classes[c].name))
		c++;
	if (c == UC_COUNT) {
		text_fmt(machine_problem(r, ini->line), "exec.%.*s: no such class; known are",
		         (int)(ini->key_length < LINE_BYTES ? ini->key_length : LINE_BYTES), ini->key);
		for (unsigned i = 0; i < UC_COUNT; i++)
			text_fmt(&r->problem, " %s", classes[i].name);
		return ST_MISSING;
	}
	if (r->exec_line[c]) {
		text_fmt(machine_problem(r, ini->line), "exec.%s: given twice, first in line %u", classes[c].name, r->exec_line[c]);
		return ST_SYNTAX;
	}
	r->exec_line[c] = ini->line;
	if (same(ini->value, ini->value_length, "unknown"))
		return ST_OK;
	const char *at = ini->value, *end = at + ini->value_length, *w;
	uint64_t latency = 0, busy = 0;
	uint16_t mask = 0;
	size_t n = word(&at, end, &w);
	bool good = parse_u64(w, n, &latency) == ST_OK && latency <= 1000;
	n = word(&at, end, &w);
	good = good && read_ports(w, n, &mask);
	n = word(&at, end, &w);
	good = good && parse_u64(w, n, &busy) == ST_OK && busy <= 1000;
	n = word(&at, end, &w);
	if (!good || n) {
		text_fmt(machine_problem(r, ini->line), "exec.%s: '%.*s' is not 'LATENCY PORTS BUSY': cycles 0 to 1000, "
		         "ports as ascending hexadecimal digits or '-', cycles 0 to 1000", classes[c].name,
		         (int)(ini->value_length < LINE_BYTES ? ini->value_length : LINE_BYTES), ini->value);
		return ST_SYNTAX;
	}
	r->m->exec[c] = (struct exec_cost){ (uint16_t)latency, mask, (uint16_t)busy };
	return ST_OK;
}

static enum status read_line(struct machine_reading *r, const struct ini *ini)
{
	if (same(ini->section, ini->section_length, "exec"))
		return read_exec(r, ini);
	bool section = false;
	for (unsigned i = 0; i < COUNT_OF(fields); i++) {
		if (!same(ini->section, ini->section_length, fields[i].section))
			continue;
		section = true;
		if (!same(ini->key, ini->key_length, fields[i].name))
			continue;
		if (r->field_line[i]) {
			text_fmt(machine_problem(r, ini->line), "%s.%s: given twice, first in line %u", fields[i].section,
			         fields[i].name, r->field_line[i]);
			return ST_SYNTAX;
		}
		r->field_line[i] = ini->line;
		return read_field(r, ini, &fields[i]);
	}
	int n = (int)(ini->section_length < LINE_BYTES ? ini->section_length : LINE_BYTES);
	struct text *t = machine_problem(r, ini->line);
	if (!ini->section_length) {
		text_fmt(t, "'%.*s' stands before any section", (int)(ini->key_length < LINE_BYTES ? ini->key_length : LINE_BYTES), ini->key);
		return ST_MISSING;
	}
	if (!section) {
		text_fmt(t, "[%.*s]: no such section; known are exec", n, ini->section);
		for (unsigned i = 0; i < COUNT_OF(fields); i++)
			if (!i || !str_equal(fields[i].section, fields[i - 1].section))
				text_fmt(t, " %s", fields[i].section);
	} else {
		text_fmt(t, "%.*s.%.*s: no such key; known are", n, ini->section,
		         (int)(ini->key_length < LINE_BYTES ? ini->key_length : LINE_BYTES), ini->key);
		for (unsigned i = 0; i < COUNT_OF(fields); i++)
			if (same(ini->section, ini->section_length, fields[i].section))
				text_fmt(t, " %s", fields[i].name);
	}
	return ST_MISSING;
}

/* ---- the whole file ------------------------------------------------------------------------- */

/* The line of a field, else that of the last field of its section, else the file's last line. */
static uint32_t line_of(const struct machine_reading *r, unsigned field)
{
	uint32_t line = 0;
	if (r->field_line[field])
		return r->field_line[field];
	for (unsigned i = 0; i < COUNT_OF(fields); i++)
		if (str_equal(fields[i].section, fields[field].section) && r->field_line[i] > line)
			line = r->field_line[i];
	return line ? line : r->last_line ? r->last_line : 1;
}

enum status machine_wrong(struct machine_reading *r, const uint64_t *at, const char *what)
{
	for (unsigned i = 0; i < COUNT_OF(fields); i++)
		if (number_at(r->m, &fields[i]) == at || (const char *)r->m + fields[i].offset == (const char *)at) {
			text_fmt(machine_problem(r, line_of(r, i)), "%s.%s: %s",
			         fields[i].section, fields[i].name, what);
			return ST_RANGE;
		}
	return ST_BROKEN;
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t t = a % b;
		a = b;
		b = t;
	}
	return a;
}

#define L2_PREFETCHERS 3u /* of prefetch.present: NetBurst has no others, and no register of it switches any */

/* The common tick is bus * lcm(ratios): each clock's period is a whole number of ticks. */
static void derive(struct machine *m)
{
	uint64_t l = m->clock_core_ratio;
	l = l / gcd(l, m->clock_uncore_ratio) * m->clock_uncore_ratio;
	l = l / gcd(l, m->clock_tsc_ratio) * m->clock_tsc_ratio;
	m->tick_per_core_cycle = l / m->clock_core_ratio;
	m->tick_per_uncore_cycle = l / m->clock_uncore_ratio;
	m->tick_per_tsc = l / m->clock_tsc_ratio;
	m->core_hz = m->clock_bus_hz_times_3 * m->clock_core_ratio / 3;
	m->uncore_hz = m->clock_bus_hz_times_3 * m->clock_uncore_ratio / 3;
	m->tsc_hz = m->clock_bus_hz_times_3 * m->clock_tsc_ratio / 3;
	if (m->pmu_netburst)
		m->prefetch_present &= L2_PREFETCHERS;
}

/* The machine's name is its file's, without folder and extension. */
static void name_of(const char *file, char *to, size_t capacity)
{
	const char *start = file;
	for (const char *s = file; *s; s++)
		if (*s == '/' || *s == '\\')
			start = s + 1;
	size_t n = 0;
	while (start[n] && start[n] != '.' && n + 1 < capacity)
		n++;
	memset(to, 0, capacity);
	memcpy(to, start, n);
}

enum status machine_read(const char *file_name, const char *text, size_t bytes, struct machine *out,
                         char *problem, size_t capacity)
{
	return machine_read_beside(file_name, text, bytes, NULL, out, problem, capacity);
}

enum status machine_read_beside(const char *file_name, const char *text, size_t bytes, const struct machine_beside *beside,
                                struct machine *out, char *problem, size_t capacity)
{
	struct machine_reading r = { .file = file_name, .m = out };
	text_init(&r.problem, problem, capacity);
	memset(out, 0, sizeof(*out));
	name_of(file_name, out->name, sizeof(out->name));
	out->text_hash = fnv1a64(FNV1A64_START, text, bytes);
	for (unsigned i = 0; i < COUNT_OF(fields); i++) {
		if (fields[i].text)
			str_copy((char *)out + fields[i].offset, MACHINE_TEXT, fields[i].text);
		else
			*number_at(out, &fields[i]) = fields[i].preset;
	}
	for (unsigned c = 0; c < UC_COUNT; c++)
		out->exec[c] = classes[c].preset;
	struct ini ini;
	ini_init(&ini, text, bytes);
	enum status st;
	while ((st = ini_next(&ini)) == ST_OK) {
		st = read_line(&r, &ini);
		if (st)
			return st;
	}
	if (st == ST_SYNTAX) {
		text_fmt(machine_problem(&r, ini.line), "%s", ini.problem);
		return st;
	}
	r.last_line = ini.line;
	for (unsigned i = 0; i < COUNT_OF(fields); i++)
		if (!r.field_line[i] && !fields[i].text && fields[i].preset == REQUIRED) {
			text_fmt(machine_problem(&r, line_of(&r, i)), "%s.%s: must be given, a number from %llu to %llu", fields[i].section,
			         fields[i].name, (unsigned long long)fields[i].least, (unsigned long long)fields[i].most);
			return ST_MISSING;
		}
	st = machine_check(&r, beside);
	if (!st)
		derive(out);
	return st;
}

/* Whether a section describes a kind of core. */
static bool of_kind(const char *section)
{
	static const char *const kinds[] = { "core", "front", "uops", "predictor", "store", "load", "l1d", "l1i", "lfb", "l2", "sq", "dtlb", "itlb", "stlb", "walk",
		"prefetch", "pmu" };
	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		if (str_equal(section, kinds[i]))
			return true;
	return false;
}

enum status machine_small(const struct machine *m, struct machine *out)
{
	char problem[160];
	const struct machine_file *f = machine_builtin(m->topology_small);
	if (!f || machine_read(f->name, f->text, f->bytes, out, problem, sizeof(problem)) != ST_OK)
		return ST_BROKEN;
	for (unsigned i = 0; i < COUNT_OF(fields); i++) {
		const bool own = of_kind(fields[i].section) || (str_equal(fields[i].section, "cpuid") && (str_equal(fields[i].name, "isa") || str_equal(fields[i].name, "core_kind"))) ||
			(str_equal(fields[i].section, "control") && str_equal(fields[i].name, "prefetch_bits"));
		if (!own)
			memcpy((char *)out + fields[i].offset, (const char *)m + fields[i].offset, fields[i].text ? MACHINE_TEXT : sizeof(uint64_t));
	}
	memcpy(out->name, m->name, sizeof(out->name));
	derive(out);
	return ST_OK;
}

const struct machine_file *machine_builtin(const char *name)
{
	for (unsigned i = 0; i < machine_files_count; i++)
		if (str_equal(machine_files[i].name, name))
			return &machine_files[i];
	return NULL;
}
