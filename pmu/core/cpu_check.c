/* pmu/core/cpu_check.c: see cpu.h. IA32_PERF_CAPABILITIES: SDM volume 3, "Processor Event Based Sampling" (bits 11:8). */
#include "pmu/core/cpu.h"

#include "pmu/text.h"

/* General counters that the descriptor's events can be counted on. */
static uint32_t counters_of(const struct processor *p)
{
	uint32_t mask = 0;
	for (unsigned i = 0; i < p->event_count; i++)
		mask |= p->events[i].counter_mask;
	return mask;
}

bool cpu_contradictions(const struct cpu *cpu, struct text *t)
{
	const struct processor *p = cpu->processor;
	const unsigned told = (unsigned)(cpu->perf_capabilities >> 8 & 15);
	unsigned n = 0;
	if (cpu->pmu_version < 2 || !p->event_count)
		return false;
	if (cpu->perf_capabilities && cpu->pebs && p->pebs_format != 255 && told != p->pebs_format)
		text_fmt(t, "%sprecise records are of format %u, not %u", n++ ? "; " : "", told, (unsigned)p->pebs_format);
	/* counters 0 to 3 only: some event lists name counters 4 to 7, which a core has while its other thread is off */
	const uint32_t lacks = counters_of(p) & 0xF & ~cpu->general_mask;
	if (lacks)
		text_fmt(t, "%s%u general counters, events name others", n++ ? "; " : "", (unsigned)cpu->general_counters);
	return n != 0;
}
