/* tests/unit/rigs/netburst_rig.c: see netburst_rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rigs/netburst_rig.h"
#include "tests/unit/support/table_find.h"

const struct processor *netburst_rig_processor(void) { return processor_named("pentium4"); }

/* --- "EVENT.UNIT+UNIT", or "replay_event.UNIT:METRIC", of thread 0 -------------------------------------- */

static bool part_equal(const char *name, const char *part, size_t n)
{
	return str_length(name) == n && memcmp(name, part, n) == 0;
}

static size_t part_length(const char *s, const char *ends)
{
	size_t n = 0;
	for (; s[n]; n++)
		for (const char *e = ends; *e; e++)
			if (s[n] == *e)
				return n;
	return n;
}

static enum status parse_units(struct netburst_want *want, const char **at, const char **problem)
{
	do {
		size_t n = part_length(++*at, "+:");
		unsigned u = 0;
		while (u < want->event->unit_count && !part_equal(want->event->units[u].name, *at, n))
			u++;
		*problem = *at;
		if (u == want->event->unit_count)
			return ST_MISSING;
		want->mask |= (uint16_t)(1u << want->event->units[u].bit);
		*at += n;
	} while (**at == '+');
	return ST_OK;
}

enum status netburst_rig_parse(const struct processor *p, const char *name, struct netburst_want *want, const char **problem)
{
	size_t n = part_length(name, ".");
	memset(want, 0, sizeof(*want));
	want->threads = NETBURST_T0_OS;
	want->active = NETBURST_ANY;
	want->after = -1;
	*problem = name;
	for (unsigned i = 0; i < p->detector_count; i++)
		if (part_equal(p->detectors[i].name, name, n))
			want->event = &p->detectors[i];
	if (!want->event)
		return ST_MISSING;
	const char *at = name + n;
	if (*at != '.')
		return ST_SYNTAX;
	enum status s = parse_units(want, &at, problem);
	if (s || !*at)
		return s;
	*problem = ++at;
	for (unsigned i = 0; i < p->metric_count; i++)
		if (str_equal(p->metrics[i].name, at))
			want->metric = &p->metrics[i];
	return want->metric ? ST_OK : ST_MISSING;
}

struct netburst_want netburst_rig_want(const char *name)
{
	struct netburst_want w;
	const char *problem;
	if (netburst_rig_parse(netburst_rig_processor(), name, &w, &problem))
		fail_msg("%s: %s", name, problem);
	return w;
}

enum status netburst_rig_assign(const struct netburst_want *wants, unsigned n, struct netburst_assignment *assigned, char why[512])
{
	struct text t;
	text_init(&t, why, 512);
	return netburst_assign(cpu_netburst_counters(netburst_rig_processor()), wants, n, assigned, &t);
}
