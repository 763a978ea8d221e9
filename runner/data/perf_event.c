/* runner/data/perf_event.c: see perf_event.h. */
#include "runner/data/perf_event.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "bench/workloads/stall_model.h"

/* The values of these registers are separate terms of an event in perf: perf-intel-pt(1), perf-mem(1), arch/x86/events/intel/core.c. */
static const struct { uint32_t msr; const char *term; } terms[] = {
	{0x1A6, "offcore_rsp"}, {0x1A7, "offcore_rsp"}, {0x3F6, "ldlat"}, {0x3F7, "frontend"},
};

/* perf-list(1); their events on Intel's processors: arch/x86/events/intel/core.c, intel_perfmon_event_map. */
static const struct { const char *name, *concept; bool printed; } generic[] = {
	{"cycles", "cycles", true}, {"cpu-cycles", "cycles", false}, {"instructions", "instructions", true}, {"ref-cycles", "cycles.reference", true},
	{"branches", "branch.retired", false}, {"branch-instructions", "branch.retired", false}, {"branch-misses", "branch.misp.any", false},
};

const char *perf_event_generic(const char *name)
{
	for (size_t i = 0; i < COUNT_OF(generic); i++)
		if (!strcasecmp(generic[i].name, name))
			return generic[i].concept;
	return NULL;
}

/* The next letter of a name in a spelling common to both sides: upper case, ':' as '.', without '='. */
static int next_letter(const char **at)
{
	while (**at == '=')
		++*at;
	int ch = toupper((unsigned char)**at);
	*at += ch != 0;
	return ch == ':' ? '.' : ch;
}

static bool same_name(const char *a, const char *b)
{
	for (;;) {
		int x = next_letter(&a), y = next_letter(&b);
		if (x != y)
			return false;
		if (!x)
			return true;
	}
}

bool perf_event_is(const struct processor *p, const struct event *e, const char *name)
{
	for (size_t i = 0; i < COUNT_OF(generic); i++)
		if (!strcasecmp(generic[i].name, name) || !strcasecmp(generic[i].concept, name))
			return stall_event(p, generic[i].concept) == e;
	return same_name(name, e->name);
}

/* Assigns a counter to event i, reassigning earlier events (augmenting paths); taken[counter] is the counter's event, plus one. */
static bool assign(const struct event *const *events, unsigned i, unsigned counters, unsigned *taken, uint32_t *seen)
{
	for (unsigned k = 0; k < counters && k < 32; k++) {
		if (!(events[i]->counter_mask >> k & 1) || *seen >> k & 1)
			continue;
		*seen |= 1u << k;
		if (!taken[k] || assign(events, taken[k] - 1, counters, taken, seen)) {
			taken[k] = i + 1;
			return true;
		}
	}
	return false;
}

bool perf_events_fit(const struct event *const *events, unsigned n, unsigned counters)
{
	unsigned taken[32] = {0};
	for (unsigned i = 0; i < n; i++) {
		uint32_t seen = 0;
		if (!events[i]->fixed && !assign(events, i, counters, taken, &seen))
			return false;
		for (unsigned k = 0; k < i && events[i]->extra_msr; k++)
			if (events[k]->extra_msr == events[i]->extra_msr && events[k]->extra_value != events[i]->extra_value)
				return false;
	}
	return true;
}

static const char *generic_of(const struct processor *p, const struct event *e)
{
	for (size_t i = 0; i < COUNT_OF(generic); i++)
		if (generic[i].printed && stall_event(p, generic[i].concept) == e)
			return generic[i].name;
	return NULL;
}

static enum status extra_term(const struct event *e, char *to, size_t capacity, const char **why)
{
	to[0] = 0;
	if (!e->extra_msr)
		return ST_OK;
	for (size_t i = 0; i < COUNT_OF(terms); i++)
		if (terms[i].msr == e->extra_msr) {
			snprintf(to, capacity, ",%s=0x%" PRIx64, terms[i].term, e->extra_value);
			return ST_OK;
		}
	*why = "perf has no term for the register that it needs";
	return ST_UNSUPPORTED;
}

/* perf's parser accepts letters, digits, '_' and '.' in a name: modifiers are spelt ".cmask1". */
static void spell(const char *name, char *to, size_t capacity)
{
	size_t n = 0;
	for (int ch; n + 1 < capacity && *name; to[n++] = (char)ch) {
		ch = *name++;
		if (ch == '=' && *name)
			ch = *name++;
		ch = ch == ':' ? '.' : ch;
	}
	to[n] = 0;
}

enum status perf_event_text(const struct processor *p, const struct event *e, int64_t period, char *to, size_t capacity, const char **why)
{
	const char *plain = generic_of(p, e);
	char after[40] = "", extra[40], name[96];
	int n;
	if (e->netburst && !plain) {
		*why = "perf has its own encoding of NetBurst's events";
		return ST_UNSUPPORTED;
	}
	enum status st = extra_term(e, extra, sizeof(extra), why);
	if (st != ST_OK)
		return st;
	if (period)
		snprintf(after, sizeof(after), "period=%" PRId64, period);
	spell(e->name, name, sizeof(name));
	if (plain)
		n = period ? snprintf(to, capacity, "%s/%s/", plain, after) : snprintf(to, capacity, "%s", plain);
	else {
		char modifiers[64] = "";
		if (e->cmask)
			snprintf(modifiers, sizeof(modifiers), ",cmask=%u%s%s%s", e->cmask, e->inv ? ",inv=1" : "", e->edge ? ",edge=1" : "", e->any ? ",any=1" : "");
		else if (e->any)
			snprintf(modifiers, sizeof(modifiers), ",any=1");
		n = snprintf(to, capacity, "cpu/event=0x%x,umask=0x%x%s%s%s%s,name=%s/%s", e->select, e->umask, modifiers, extra, period ? "," : "", after, name,
		             period && e->pebs ? "p" : "");
	}
	return n >= 0 && (size_t)n < capacity ? ST_OK : ST_FULL;
}
