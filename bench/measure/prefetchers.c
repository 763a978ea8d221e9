/* bench/measure/prefetchers.c: a core's prefetchers off, all or all but one, and back as they were found.
 *
 * Which bits switch them, and in which register, the processor's row says (processor.txt). */
#include "bench/measure/loop.h"

static bool prefetch_bits(const struct bench *b, uint64_t *value)
{
	return b->a->ops->rdmsr(b->a->self, b->core, b->cpu->processor->prefetch_msr, value) == ST_OK;
}

/* Sets or clears the bits that switch the prefetchers off. False when they do not stay as written. */
static bool prefetchers(struct bench *b, uint64_t want)
{
	const struct processor *p = b->cpu->processor;
	uint64_t value, after;

	if (!prefetch_bits(b, &value))
		return false;
	want |= value & ~p->prefetch_off;
	if (value == want)
		return true;
	if (b->a->ops->wrmsr(b->a->self, b->core, p->prefetch_msr, want) == ST_OK && prefetch_bits(b, &after) && after == want)
		return true;
	/* Bits that did change go back: rows behind this one are to find the prefetchers as they were. Where even that write faults the answer is the
	 * same: the row is unproven, and the guard puts the register back when the run ends. */
	(void)(b->a->ops->wrmsr(b->a->self, b->core, p->prefetch_msr, value) == ST_OK);
	return false;
}

bool bench_has_prefetch(const struct bench *b)
{
	return b->cpu->processor->prefetch_msr && b->a->kind != ACCESS_NATIVE;
}

bool bench_prefetchers_off(struct bench *b, uint64_t *found)
{
	return bench_has_prefetch(b) && prefetch_bits(b, found) && prefetchers(b, b->cpu->processor->prefetch_off);
}

bool bench_prefetchers_pair(struct bench *b, uint64_t *found)
{
	const struct processor *p = b->cpu->processor;

	return bench_has_prefetch(b) && p->prefetch_pair && prefetch_bits(b, found) && prefetchers(b, p->prefetch_off & ~p->prefetch_pair);
}

bool bench_prefetchers_back(struct bench *b, uint64_t found)
{
	return prefetchers(b, found & b->cpu->processor->prefetch_off);
}
