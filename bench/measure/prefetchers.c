/* bench/measure/prefetchers.c: switches a core's prefetchers off, all or all but one, and restores them.
 *
 * The processor's row (processor.txt) gives the register and its bits. */
#include "bench/measure/loop.h"

static bool prefetch_bits(const struct bench *b, uint64_t *value)
{
	return b->a->ops->rdmsr(b->a->self, b->core, b->cpu->processor->prefetch_msr, value) == ST_OK;
}

/* Writes the prefetcher-disable bits. False when they do not read back as written. */
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
	/* Restores the bits that did change, so that later rows find the prefetchers as they were. If this write faults too, the row is unproven all
	 * the same, and the guard restores the register at the end of the run. */
	(void)(b->a->ops->wrmsr(b->a->self, b->core, p->prefetch_msr, value) == ST_OK);
	return false;
}

bool prefetchers_known(const struct bench *b)
{
	return b->cpu->processor->prefetch_msr && b->a->kind != ACCESS_NATIVE;
}

bool prefetchers_off(struct bench *b, uint64_t *found)
{
	return prefetchers_known(b) && prefetch_bits(b, found) && prefetchers(b, b->cpu->processor->prefetch_off);
}

bool prefetchers_pair(struct bench *b, uint64_t *found)
{
	const struct processor *p = b->cpu->processor;

	return prefetchers_known(b) && p->prefetch_pair && prefetch_bits(b, found) && prefetchers(b, p->prefetch_off & ~p->prefetch_pair);
}

bool prefetchers_back(struct bench *b, uint64_t found)
{
	return prefetchers(b, found & b->cpu->processor->prefetch_off);
}
