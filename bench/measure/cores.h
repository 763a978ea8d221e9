/* bench/measure/cores.h: other cores: where they are, and what they do for a row on the measuring core.
 *
 * A helper prepares lines by a kernel, as one job of its own; it has ended, and is parked, before the measuring
 * core's job begins. A helper that does not answer in time fails its row, not the run. */
#ifndef BENCH_CORES_H
#define BENCH_CORES_H

#include "bench/measure/loop.h"

/* How two logical processors stand to each other. */
enum relation {
	RELATION_SELF,
	RELATION_SAME_CORE,    /* two threads of a core */
	RELATION_SAME_CLUSTER, /* two cores with one L2 */
	RELATION_SAME_SOCKET,  /* two cores with one L3, or of one package without an L3 */
	RELATION_SAME_PACKAGE, /* one package, several L3 */
	RELATION_OTHER_SOCKET,
	RELATION_COUNT
};

/* Finds the groups from CPUID leaf 0xB, else leaves 1 and 4 (SDM vol. 3, 8.9), and how many share a cache. */
void cores_find(const struct access *a, const struct cpu *cpu, struct core_groups *out);
enum relation cores_relation(const struct core_groups *g, unsigned one, unsigned other);
/* The n-th core (from 0) that stands so to `to`; ST_MISSING if there is none. Of another socket's, those
 * with their own memory node come first. */
MUST_CHECK enum status cores_choose(const struct bench *b, unsigned to, enum relation relation, unsigned n, unsigned *core);
/* Memory node of a row: 0 that of the measuring core, 1 another. */
unsigned cores_node(const struct bench *b, unsigned which);

/* Whether a row asks for helpers, and whether the machine has them: ST_UNSUPPORTED with the reason. */
bool cores_wanted(const struct row *r);
MUST_CHECK enum status cores_there(const struct bench *b, const struct row *r, char *reason, size_t capacity);
/* Brings the nodes that the next window of `units` visits into the row's state: out of all caches first, then
 * read or written by the helpers. *job is the last one, also of a helper. */
MUST_CHECK enum status cores_prepare(struct bench *b, const struct row *r, struct working_set *w, uint64_t units,
                                     struct job *job);
/* Behind such a row, or one of pairs of cores: no cache has its lines any more. Those that another core kept it would have for as long as nothing pushes
 * them out there, and whatever a later row puts in the same memory would find it: a stream's line is snooped there, or forwarded, each time. */
MUST_CHECK enum status cores_leave(struct bench *b, const struct working_set *w, struct job *job);

#endif
