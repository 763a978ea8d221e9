/* pmu/sim/machine/replay.c: reads recorded accesses, line by line.
 * Not modelled: times of the recorded accesses; their order alone counts. */
#include "pmu/sim/machine/replay.h"
#include "pmu/text.h"

struct words { const char *at, *end; };

/* The next word, separated by blanks; 0 at the end. */
static size_t next_word(struct words *w, const char **start)
{
	while (w->at < w->end && (*w->at == ' ' || *w->at == '\t' || *w->at == '\r'))
		w->at++;
	*start = w->at;
	while (w->at < w->end && *w->at != ' ' && *w->at != '\t' && *w->at != '\r')
		w->at++;
	return (size_t)(w->at - *start);
}

static bool same(const char *s, size_t n, const char *name)
{
	return n == str_length(name) && !memcmp(s, name, n);
}

static bool number(struct words *w, uint64_t most, uint64_t *value)
{
	const char *s;
	size_t n = next_word(w, &s);
	return parse_u64(s, n, value) == ST_OK && *value <= most;
}

/* Hexadecimal digits without 0x, at least one, up to 16. */
static bool hexadecimal(const char **at, const char *end, uint64_t *value)
{
	*value = 0;
	unsigned n = 0;
	for (; *at < end; (*at)++, n++) {
		char c = **at;
		unsigned d = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) :
			c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10) : 16;
		if (d == 16)
			break;
		if (n == 16)
			return false;
		*value = *value << 4 | d;
	}
	return n > 0;
}

static bool literal(const char **at, const char *end, const char *what)
{
	size_t n = str_length(what);
	if ((size_t)(end - *at) < n || memcmp(*at, what, n))
		return false;
	*at += n;
	return true;
}

/* SSSS:BB:DD.F+REG, all hexadecimal; REG may have 0x before it. */
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

/* What may follow an access of the own format: nothing, or one word, the status it ended with; then a comment. */
static bool line_ends(struct words *w)
{
	const char *s;
	size_t n = next_word(w, &s);
	if (!n || same(s, n, "#"))
		return true;
	bool known = false;
	for (unsigned i = 0; i < ST_COUNT; i++)
		known |= same(s, n, status_name((enum status)i));
	n = next_word(w, &s);
	return known && (!n || same(s, n, "#"));
}

static enum status parse_own(const char *verb, size_t n, struct words *w, struct replay_access *a, const char **problem)
{
	uint64_t core = 0, width = 0;
	bool good;
	if (same(verb, n, "cpuid") || same(verb, n, "rdtsc") || same(verb, n, "run"))
		return ST_MISSING;
	if (same(verb, n, "rdmsr") || same(verb, n, "wrmsr") || same(verb, n, "rdpmc")) {
		a->op = verb[0] == 'w' ? REPLAY_WRMSR : verb[2] == 'm' ? REPLAY_RDMSR : REPLAY_RDPMC;
		*problem = a->op == REPLAY_RDPMC ? "reads: rdpmc CORE INDEX VALUE [STATUS]" :
			a->op == REPLAY_RDMSR ? "reads: rdmsr CORE MSR VALUE [STATUS]" : "reads: wrmsr CORE MSR VALUE [STATUS]";
		good = number(w, 0xFFFF, &core) && number(w, 0xFFFFFFFF, &a->address) && number(w, UINT64_MAX, &a->value);
	} else if (same(verb, n, "pci_read32") || same(verb, n, "pci_write32")) {
		a->op = verb[4] == 'w' ? REPLAY_PCI_WRITE32 : REPLAY_PCI_READ32;
		*problem = "reads: pci_read32 or pci_write32 SSSS:BB:DD.F+REG VALUE [STATUS]";
		good = pci_at(w, &a->pci) && number(w, 0xFFFFFFFF, &a->value);
	} else if (same(verb, n, "mmio_read") || same(verb, n, "mmio_write")) {
		a->op = verb[5] == 'w' ? REPLAY_MMIO_WRITE : REPLAY_MMIO_READ;
		*problem = "reads: mmio_read or mmio_write ADDRESS WIDTH VALUE [STATUS], WIDTH 1, 2, 4 or 8";
		good = number(w, UINT64_MAX, &a->address) && number(w, 8, &width) && number(w, UINT64_MAX, &a->value) &&
			(width == 1 || width == 2 || width == 4 || width == 8);
	} else {
		*problem = "no access: known are rdmsr, wrmsr, rdpmc, pci_read32, pci_write32, mmio_read, mmio_write and the "
			"tracepoints read_msr, write_msr, rdpmc";
		return ST_SYNTAX;
	}
	a->core = (unsigned)core;
	a->width_bytes = (unsigned)width;
	return good && line_ends(w) ? ST_OK : ST_SYNTAX;
}

/* Where "NAME: " stands in a line as a tracepoint's name (after a blank or "msr:"); NULL if it does not. */
static const char *tracepoint(const char *line, const char *end, const char *name)
{
	size_t n = str_length(name);
	for (const char *s = line + 1; s + n + 2 <= end; s++)
		if ((s[-1] == ' ' || s[-1] == ':') && !memcmp(s, name, n) && s[n] == ':' && s[n + 1] == ' ')
			return s + n + 2;
	return NULL;
}

/* The first [NNN] of the line, decimal. */
static bool core_in_brackets(const char *line, const char *end, unsigned *core)
{
	for (const char *s = line; s < end; s++) {
		if (*s != '[')
			continue;
		const char *from = s + 1, *to = from;
		while (to < end && *to >= '0' && *to <= '9')
			to++;
		uint64_t v;
		if (to < end && *to == ']' && parse_u64(from, (size_t)(to - from), &v) == ST_OK && v <= 0xFFFF) {
			*core = (unsigned)v;
			return true;
		}
	}
	return false;
}

static enum status parse_tracepoint(const char *line, const char *at, const char *end, struct replay_access *a, const char **problem)
{
	*problem = "a tracepoint reads ... [CORE] ... write_msr: MSR, value VALUE [#GP], in hexadecimal";
	while (end > at && (end[-1] == ' ' || end[-1] == '\r'))
		end--;
	if (!core_in_brackets(line, at, &a->core) || !hexadecimal(&at, end, &a->address) || a->address > 0xFFFFFFFF ||
	    !literal(&at, end, ", value ") || !hexadecimal(&at, end, &a->value))
		return ST_SYNTAX;
	if (at != end && (!literal(&at, end, " #GP") || at != end))
		return ST_SYNTAX;
	return ST_OK;
}

enum status replay_parse(const char *line, size_t bytes, struct replay_access *out, const char **problem)
{
	static const struct { const char *name; enum replay_op op; } points[] = {
		{ "read_msr", REPLAY_RDMSR }, { "write_msr", REPLAY_WRMSR }, { "rdpmc", REPLAY_RDPMC }
	};
	struct words w = { line, line + bytes };
	const char *verb;
	*out = (struct replay_access){ 0 };
	*problem = "";
	if (bytes > REPLAY_LINE_MOST) {
		*problem = "longer than 4096 bytes";
		return ST_SYNTAX;
	}
	size_t n = next_word(&w, &verb);
	if (!n || *verb == '#')
		return ST_MISSING;
	for (unsigned i = 0; i < COUNT_OF(points); i++) {
		const char *at = tracepoint(line, line + bytes, points[i].name);
		if (at) {
			out->op = points[i].op;
			return parse_tracepoint(line, at, line + bytes, out, problem);
		}
	}
	return parse_own(verb, n, &w, out, problem);
}

const char *replay_verdict_name(enum replay_verdict v)
{
	static const char *const names[REPLAY_VERDICTS] = {
		"accepted", "faults", "reserved bit", "wrong counter", "ignored", "unmodelled", "missing latch"
	};
	return v < REPLAY_VERDICTS ? names[v] : "?";
}
