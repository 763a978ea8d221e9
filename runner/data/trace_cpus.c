/* runner/data/trace_cpus.c: see trace_cpus.h. */
#include <string.h>

#include "pmu/text.h"
#include "runner/data/trace_cpus.h"

void trace_cpus_init(struct trace_cpus *c)
{
	memset(c, 0, sizeof(*c));
	memset(c->map, 0xFF, sizeof(c->map));
}

static bool number(const char **at, const char *end, unsigned *value)
{
	const char *from = *at;
	*value = 0;
	while (*at < end && **at >= '0' && **at <= '9' && *value < TRACE_CPUS_MOST)
		*value = *value * 10 + (unsigned)(*(*at)++ - '0');
	return *at > from && *value < TRACE_CPUS_MOST;
}

static bool range(const char **at, const char *end, unsigned *first, unsigned *last)
{
	if (!number(at, end, first))
		return false;
	*last = *first;
	if (*at == end || **at != '-')
		return true;
	(*at)++;
	return number(at, end, last) && *last >= *first;
}

static bool is(const char *text, size_t bytes, const char *word) { return bytes == strlen(word) && !memcmp(text, word, bytes); }

enum status trace_cpus_map(struct trace_cpus *c, const char *text, size_t bytes)
{
	while (bytes && strchr(" \t\r\n", text[0]))
		text++, bytes--;
	while (bytes && strchr(" \t\r\n", text[bytes - 1]))
		bytes--;
	const char *at = text, *end = text + bytes;
	c->given = true;
	c->how = is(text, bytes, "linux") ? CPUS_LINUX : is(text, bytes, "machine") ? CPUS_MACHINE : CPUS_LIST;
	if (c->how != CPUS_LIST)
		return ST_OK;
	memset(c->map, 0xFF, sizeof(c->map));
	while (at < end) {
		unsigned first, last, to, to_last;
		if (!range(&at, end, &first, &last) || at == end || *at++ != '=' || !range(&at, end, &to, &to_last) || last - first != to_last - to)
			return ST_SYNTAX;
		for (unsigned i = first; i <= last; i++)
			c->map[i] = (uint16_t)(to + i - first);
		if (at < end && *at != ',' && *at != ' ')
			return ST_SYNTAX;
		while (at < end && (*at == ',' || *at == ' '))
			at++;
	}
	return bytes ? ST_OK : ST_SYNTAX;
}

enum status trace_cpus_see(struct trace_cpus *c, unsigned cpu, bool by_linux)
{
	c->linux_form |= by_linux;
	if (cpu >= TRACE_CPUS_MOST)
		return ST_RANGE;
	for (unsigned i = 0; i < c->seen; i++)
		if (c->order[i] == cpu)
			return ST_OK;
	c->order[c->seen++] = (uint16_t)cpu;
	if (cpu > c->highest)
		c->highest = cpu;
	return ST_OK;
}

enum status trace_cpus_settle(struct trace_cpus *c, struct machine *m)
{
	const unsigned cores = (unsigned)(m->topology_sockets * m->topology_cores);
	unsigned highest = c->highest;
	if (c->how == CPUS_LIST) {
		highest = 0;
		for (unsigned i = 0; i < c->seen; i++) {
			if (c->map[c->order[i]] == TRACE_CPU_NONE)
				return ST_RANGE;
			if (c->map[c->order[i]] > highest)
				highest = c->map[c->order[i]];
		}
	} else if (!c->given) {
		c->how = c->linux_form ? CPUS_LINUX : CPUS_MACHINE;
	}
	if (highest >= cores * m->topology_threads && m->topology_threads == 1 && highest < 2 * cores) {
		m->topology_threads = 2;
		c->paired = true;
	}
	const unsigned threads = (unsigned)m->topology_threads;
	if (highest >= cores * threads) {
		if (c->given || c->seen > cores * threads)
			return ST_RANGE;
		c->how = CPUS_ORDER;
	}
	for (unsigned i = 0; i < c->seen && c->how != CPUS_LIST; i++) {
		const unsigned cpu = c->order[i];
		c->map[cpu] = (uint16_t)(c->how == CPUS_ORDER ? i : c->how == CPUS_LINUX ? cpu % cores * threads + cpu / cores : cpu);
	}
	return ST_OK;
}
