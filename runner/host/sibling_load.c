/* runner/host/sibling_load.c: see sibling_load.h.
 *
 * While a virtual processor sleeps, the host gives its physical processor to other guests, which share caches with the processor that
 * measures. On an idle virtual machine with two processors ten runs of L2 latency spread by 5 to 12 %; with this load on the other
 * processor 40 runs spread by 0.05 %. The load is a chain of square roots: a chain of multiplications slowed dependent additions from
 * 1.0 to 1.2 cycles when the host had scheduled both virtual processors on one core. */
#include "runner/host/sibling_load.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "runner/host/topology.h"

struct sibling_load {
	atomic_bool over;
	struct topology topology;
	unsigned count;
	pthread_t thread[TOPOLOGY_CORES_MAX];
};

/* A chain of square roots uses hardly any of a core's issue slots, no memory, and neither PAUSE nor HLT, which a hypervisor
 * takes for idleness. */
static void *keep_awake(void *self)
{
	const struct sibling_load *c = self;
	const struct sched_param none = {.sched_priority = 0};
	double x = 3;

	if (sched_setscheduler(0, SCHED_IDLE, &none)) /* of this thread */
		return NULL; /* at any other priority it would take time from processes that need it */
	while (!atomic_load_explicit(&c->over, memory_order_relaxed))
		__asm__ volatile(".rept 64\n\tsqrtsd %0, %0\n\t.endr" : "+x"(x));
	return NULL;
}

static enum status keep_awake_on(struct sibling_load *c, int cpu)
{
	pthread_attr_t attributes;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (pthread_attr_init(&attributes))
		return ST_FULL;
	bool good = !pthread_attr_setaffinity_np(&attributes, sizeof(set), &set) &&
		!pthread_create(&c->thread[c->count], &attributes, keep_awake, c);
	pthread_attr_destroy(&attributes);
	c->count += good;
	return good ? ST_OK : ST_FULL;
}

enum status sibling_load_begin(struct sibling_load **out)
{
	struct sibling_load *c = calloc(1, sizeof(*c));
	enum status st = c ? topology_read(&c->topology) : ST_FULL;

	for (unsigned i = 1; st == ST_OK && i < c->topology.cores; i++)
		st = keep_awake_on(c, c->topology.cpu[i]);
	if (st != ST_OK)
		sibling_load_end(c);
	*out = st == ST_OK ? c : NULL;
	return st;
}

void sibling_load_end(struct sibling_load *c)
{
	if (!c)
		return;
	atomic_store(&c->over, true);
	for (unsigned i = 0; i < c->count; i++)
		pthread_join(c->thread[i], NULL);
	free(c);
}
