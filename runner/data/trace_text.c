/* runner/data/trace_text.c: see trace_text.h.
 * Times of the accesses are ignored; only their order matters. */
#include <string.h>

#include "pmu/text.h"
#include "runner/data/trace_text.h"

struct words { const char *at, *end; };

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool digit(char c) { return c >= '0' && c <= '9'; }

/* The next word, separated by blanks; 0 at the end. */
static size_t next_word(struct words *w, const char **start)
{
	while (w->at < w->end && blank(*w->at))
		w->at++;
	*start = w->at;
	while (w->at < w->end && !blank(*w->at))
		w->at++;
	return (size_t)(w->at - *start);
}

static bool same(const char *s, size_t n, const char *name)
{
	return n == strlen(name) && !memcmp(s, name, n);
}

static bool starts(const char *s, const char *end, const char *what)
{
	return (size_t)(end - s) >= strlen(what) && !memcmp(s, what, strlen(what));
}

static bool number(struct words *w, uint64_t most, uint64_t *value)
{
	const char *s;
	size_t n = next_word(w, &s);
	return parse_u64(s, n, value) == ST_OK && *value <= most;
}

static unsigned hex_digit(char c)
{
	return digit(c) ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 16;
}

/* Parses 1 to 16 hexadecimal digits without 0x. */
static bool hexadecimal(const char **at, const char *end, uint64_t *value)
{
	unsigned n = 0;
	*value = 0;
	for (; *at < end && hex_digit(**at) < 16; (*at)++, n++) {
		if (n == 16)
			return false;
		*value = *value << 4 | hex_digit(**at);
	}
	return n > 0;
}

static bool literal(const char **at, const char *end, const char *what)
{
	if (!starts(*at, end, what))
		return false;
	*at += strlen(what);
	return true;
}

/* ---- this program's form --------------------------------------------------------------------- */

/* Parses SSSS:BB:DD.F+REG, all hexadecimal; REG may begin with 0x. */
static bool pci_at(struct words *w, struct pci_address *out)
{
	const char *s;
	size_t n = next_word(w, &s);
	const char *end = s + n;
	uint64_t segment, bus, device, function, reg;
	if (!hexadecimal(&s, end, &segment) || !literal(&s, end, ":") || !hexadecimal(&s, end, &bus) ||
	    !literal(&s, end, ":") || !hexadecimal(&s, end, &device) || !literal(&s, end, ".") ||
	    !hexadecimal(&s, end, &function) || !literal(&s, end, "+"))
		return false;
	(void)literal(&s, end, "0x");
	if (!hexadecimal(&s, end, &reg) || s != end)
		return false;
	if (segment > 0xFFFF || bus > 0xFF || device > 31 || function > 7 || reg > 0xFFC || reg % 4)
		return false;
	*out = (struct pci_address){ (uint16_t)segment, (uint8_t)bus, (uint8_t)device, (uint8_t)function, (uint16_t)reg };
	return true;
}

/* An access may be followed by one word, its status, and by a comment. */
static bool line_ends(struct words *w, bool *failed)
{
	const char *s;
	size_t n = next_word(w, &s);
	if (!n || same(s, n, "#"))
		return true;
	bool known = false;
	for (unsigned i = 0; i < ST_COUNT; i++)
		known |= same(s, n, status_name((enum status)i));
	*failed = known && !same(s, n, status_name(ST_OK));
	n = next_word(w, &s);
	return known && (!n || same(s, n, "#"));
}

static enum status read_own(const char *verb, size_t n, struct words *w, struct traced *a, const char **problem)
{
	uint64_t core = 0, width = 0;
	bool good;
	if (same(verb, n, "cpuid") || same(verb, n, "rdtsc"))
		return ST_MISSING;
	if (same(verb, n, "run")) {
		a->op = TRACED_RUN;
		*problem = "reads: run CORE ...";
		good = number(w, TRACE_CPU_MOST, &core);
		a->core = (unsigned)core;
		return good ? ST_OK : ST_SYNTAX;
	}
	if (same(verb, n, "cpus")) {
		a->op = TRACED_CPUS;
		a->text = w->at;
		a->text_bytes = (size_t)(w->end - w->at);
		return ST_OK;
	}
	if (same(verb, n, "rdmsr") || same(verb, n, "wrmsr") || same(verb, n, "rdpmc")) {
		a->op = verb[0] == 'w' ? TRACED_WRMSR : verb[2] == 'm' ? TRACED_RDMSR : TRACED_RDPMC;
		*problem = a->op == TRACED_RDPMC ? "reads: rdpmc CORE INDEX VALUE [STATUS]" :
			a->op == TRACED_RDMSR ? "reads: rdmsr CORE MSR VALUE [STATUS]" : "reads: wrmsr CORE MSR VALUE [STATUS]";
		good = number(w, TRACE_CPU_MOST - 1, &core) && number(w, 0xFFFFFFFF, &a->address) && number(w, UINT64_MAX, &a->value);
	} else if (same(verb, n, "pci_read32") || same(verb, n, "pci_write32")) {
		a->op = verb[4] == 'w' ? TRACED_PCI_WRITE32 : TRACED_PCI_READ32;
		*problem = "reads: pci_read32 or pci_write32 SSSS:BB:DD.F+REG VALUE [STATUS]";
		good = pci_at(w, &a->pci) && number(w, 0xFFFFFFFF, &a->value);
	} else if (same(verb, n, "mmio_read") || same(verb, n, "mmio_write")) {
		a->op = verb[5] == 'w' ? TRACED_MMIO_WRITE : TRACED_MMIO_READ;
		*problem = "reads: mmio_read or mmio_write ADDRESS WIDTH VALUE [STATUS], WIDTH 1, 2, 4 or 8";
		good = number(w, UINT64_MAX, &a->address) && number(w, 8, &width) && number(w, UINT64_MAX, &a->value) &&
			(width == 1 || width == 2 || width == 4 || width == 8);
	} else {
		*problem = "no access: known are rdmsr, wrmsr, rdpmc, pci_read32, pci_write32, mmio_read, mmio_write, cpus, the "
			"tracepoints read_msr, write_msr, rdpmc and the lines of mmiotrace";
		return ST_SYNTAX;
	}
	a->core = (unsigned)core;
	a->width_bytes = (unsigned)width;
	return good && line_ends(w, &a->failed) ? ST_OK : ST_SYNTAX;
}

/* ---- Linux's tracepoints --------------------------------------------------------------------- */

/* The last decimal [NNN] before `at`; a task's name to the left may contain others. */
static bool core_before(const char *line, const char *at, unsigned *core)
{
	for (const char *close = at; close > line; close--) {
		if (close[-1] != ']')
			continue;
		const char *from = close - 1;
		while (from > line && digit(from[-1]))
			from--;
		uint64_t v;
		if (from > line && from[-1] == '[' && parse_u64(from, (size_t)(close - 1 - from), &v) == ST_OK && v < TRACE_CPU_MOST) {
			*core = (unsigned)v;
			return true;
		}
	}
	return false;
}

/* The start of "SECONDS.FRACTION:" that ends before `at` and blanks; or, after a processor's number, of "TICKS:" of another clock. NULL: neither. */
static const char *time_before(const char *line, const char *at)
{
	while (at > line && blank(at[-1]))
		at--;
	if (at == line || at[-1] != ':')
		return NULL;
	const char *s = at - 1, *point = NULL;
	while (s > line && (digit(s[-1]) || (s[-1] == '.' && !point))) {
		s--;
		if (*s == '.')
			point = s;
	}
	unsigned core;
	const bool time = point ? point > s && point + 1 < at - 1 : s < at - 1 && core_before(line, s, &core);
	return time && (s == line || blank(s[-1])) ? s : NULL;
}

static enum status read_point(const char *line, const char *name, const char *at, const char *end, struct traced *a, const char **problem)
{
	*problem = "a tracepoint reads ... [CPU] ... SECONDS: write_msr: MSR, value VALUE [#GP], in hexadecimal";
	while (end > at && blank(end[-1]))
		end--;
	while (at < end && blank(*at)) /* trace-cmd pads with blanks */
		at++;
	const char *time = time_before(line, name);
	a->numbered_by_linux = true;
	if (!core_before(line, time ? time : name, &a->core) || !hexadecimal(&at, end, &a->address) || a->address > 0xFFFFFFFF ||
	    !literal(&at, end, ", value ") || !hexadecimal(&at, end, &a->value))
		return ST_SYNTAX;
	if (at != end && (!literal(&at, end, " #GP") || at != end))
		return ST_SYNTAX;
	a->failed = end > line + 4 && starts(end - 4, end, " #GP");
	return ST_OK;
}

/* The last "NAME:" of one of the three tracepoints, after a time or after "msr:"; NULL: none. */
static const char *point_in(const char *line, const char *end, enum trace_form_op *op, const char **behind)
{
	static const struct { const char *name; enum trace_form_op op; } points[] = {
		{ "read_msr:", TRACED_RDMSR }, { "write_msr:", TRACED_WRMSR }, { "rdpmc:", TRACED_RDPMC }
	};
	for (const char *s = end; s-- > line + 1;)
		for (unsigned i = 0; i < COUNT_OF(points); i++) {
			const size_t n = strlen(points[i].name);
			if (!starts(s, end, points[i].name) || s + n >= end || !blank(s[n]))
				continue;
			const bool prefixed = s - line >= 5 && starts(s - 4, end, "msr:");
			const char *name = prefixed ? s - 4 : s;
			if (name == line || !blank(name[-1]) || (!prefixed && !time_before(line, name)))
				continue;
			*op = points[i].op;
			*behind = s + n;
			return name;
		}
	return NULL;
}

/* ---- other lines of a trace ------------------------------------------------------------------ */

/* "[LOST 12 EVENTS]", "[12 EVENTS DROPPED]", PERF_RECORD_LOST, mmiotrace's mark. */
static bool lost_events(const char *line, const char *end, struct traced *a)
{
	const char *s = line;
	while (s < end && blank(*s))
		s++;
	a->op = TRACED_LOST;
	a->core = TRACE_CPU_MOST;
	if (starts(s, end, "CPU:")) {
		uint64_t core = 0;
		for (s += 4; s < end && digit(*s) && core < TRACE_CPU_MOST; s++)
			core = core * 10 + (uint64_t)(*s - '0');
		while (s < end && blank(*s))
			s++;
		if (s < end && *s == '[' && (starts(s, end, "[LOST ") || (end - s >= 16 && memmem(s, (size_t)(end - s), "EVENTS DROPPED]", 15)))) {
			a->core = core < TRACE_CPU_MOST ? (unsigned)core : TRACE_CPU_MOST;
			return true;
		}
		return false;
	}
	if (starts(s, end, "MARK ")) { /* MARK 0.000000 Lost 12 events. */
		const char *lost = memmem(s, (size_t)(end - s), " Lost ", 6);
		return lost && memmem(lost, (size_t)(end - lost), " events.", 8);
	}
	const char *record = memmem(line, (size_t)(end - line), "PERF_RECORD_LOST", 16);
	const bool perf = record && (record == line || blank(record[-1]));
	if (perf && !core_before(line, record, &a->core))
		a->core = TRACE_CPU_MOST;
	return perf;
}

/* Whether the line is another event: it contains a time that is followed by a word, such as a name and a colon, or PERF_RECORD_. */
static bool other_event(const char *line, const char *end)
{
	for (const char *s = line + 1; s < end; s++) {
		if (s[-1] != ':' || !blank(*s) || !time_before(line, s))
			continue;
		while (s < end && blank(*s))
			s++;
		const char *from = s;
		while (s < end && !blank(*s) && *s != '(')
			s++;
		return s > from;
	}
	return false;
}

/* Ignored lines: headers of trace-cmd, stack traces of ftrace, call chains of perf script, notes of mmiotrace. */
static bool passed_over(const char *verb, size_t n, struct words w)
{
	static const char *const first[] = { "=>", "<stack", "<user", "version", "CPU", "MARK", "MAP", "UNMAP", "VERSION", "PCIDEV", "LSPCI",
		"UNKNOWN" };
	const char *s = verb, *end = verb + n;
	uint64_t address;
	for (unsigned i = 0; i < COUNT_OF(first); i++)
		if (same(verb, n, first[i]))
			return true;
	if (starts(verb, end, "cpus=") || starts(verb, end, "CPU:"))
		return true;
	if (n >= 4 && hexadecimal(&s, end, &address) && s == end) { /* ADDRESS SYMBOL (MODULE) */
		const char *symbol;
		size_t m = next_word(&w, &symbol);
		const char *last = w.end;
		while (last > symbol && blank(last[-1]))
			last--;
		return m && last > symbol && (last[-1] == ')' || memmem(symbol, (size_t)(last - symbol), "+0x", 3));
	}
	return false;
}

/* R WIDTH SECONDS.FRACTION MAP 0xADDRESS 0xVALUE 0xPC PID */
static enum status read_mmiotrace(const char *verb, struct words *w, struct traced *a, const char **problem)
{
	const char *s;
	uint64_t width, map;
	*problem = "a line of mmiotrace reads: R or W WIDTH SECONDS MAP ADDRESS VALUE PC PID, WIDTH 1, 2, 4 or 8";
	a->op = *verb == 'W' ? TRACED_MMIO_WRITE : TRACED_MMIO_READ;
	if (!number(w, 8, &width) || !(width == 1 || width == 2 || width == 4 || width == 8) || !next_word(w, &s) || !number(w, UINT64_MAX, &map) ||
	    !number(w, UINT64_MAX, &a->address) || !number(w, UINT64_MAX, &a->value))
		return ST_SYNTAX;
	a->width_bytes = (unsigned)width;
	return ST_OK;
}

enum status trace_text_read(const char *line, size_t bytes, struct traced *out, const char **problem)
{
	struct words w = { line, line + bytes };
	const char *verb, *end = line + bytes, *behind, *name;
	*out = (struct traced){ 0 };
	*problem = "";
	size_t n = next_word(&w, &verb);
	if (!n || *verb == '#')
		return ST_MISSING;
	name = bytes <= TRACE_LINE_MOST ? point_in(line, end, &out->op, &behind) : NULL;
	if (name)
		return read_point(line, name, behind, end, out, problem);
	if (bytes <= TRACE_LINE_MOST && lost_events(line, end, out))
		return ST_OK;
	*out = (struct traced){ 0 };
	if (same(verb, n, "R") || same(verb, n, "W"))
		return read_mmiotrace(verb, &w, out, problem);
	enum status st = read_own(verb, n, &w, out, problem);
	if (st == ST_SYNTAX && (other_event(line, end) || passed_over(verb, n, w)))
		return ST_MISSING;
	if (bytes > TRACE_LINE_MOST && st != ST_MISSING) {
		*problem = "longer than 4096 bytes";
		return ST_SYNTAX;
	}
	return st;
}
