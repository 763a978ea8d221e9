/* bench/measure/cores.h: other cores: their topology, and their work as helpers of a row on the measuring core.
 *
 * A helper prepares lines with a kernel, in a job of its own. That job has ended and the helper is parked before the measuring core's job
 * begins. A helper that times out fails its row, not the run. */
#ifndef BENCH_CORES_H
#define BENCH_CORES_H

#include "bench/measure/loop.h"

/* The topological relation of two logical processors. */
enum relation {
	RELATION_SELF,
	RELATION_SAME_CORE,    /* two threads of a core */
	RELATION_SAME_CLUSTER, /* two cores with one L2 */
	RELATION_SAME_SOCKET,  /* two cores with one L3, and of one memory node; or of one package without an L3 */
	RELATION_SAME_PACKAGE, /* one package, several L3 or memory nodes; one die, if CPUID reports dies */
	RELATION_OTHER_DIE,    /* one package, several dies */
	RELATION_OTHER_SOCKET,
	RELATION_COUNT
};

/* Finds the groups from CPUID leaf 0xB, else leaves 1 and 4 (SDM vol. 3, 8.9), and from the number of sharers of each cache; dies from leaf
 * 0x1F, or AMD's 0x80000026 (AMD64 manual volume 3, appendix E), else a package is one die. Where processors of several memory nodes share a last level
 * (sub-NUMA clustering, cluster on die), lines of a node are in its part of that level alone: the processors of each node are a group, and *cpu gets the size
 * of a part. Returns the nodes that share the first processor's last level. */
unsigned cores_find(const struct access *a, struct cpu *cpu, struct core_groups *out);
enum relation cores_relation(const struct core_groups *g, unsigned one, unsigned other);
/* The n-th core (from 0) in this relation to `to`; ST_MISSING if there is none. Among cores of other sockets, those with a memory node of
 * their own come first. */
MUST_CHECK enum status cores_choose(const struct bench *b, unsigned to, enum relation relation, unsigned n, unsigned *core);
/* The first such memory node, seen from the measuring core; its own where there is none. */
unsigned cores_node(const struct bench *b, enum row_node which);

/* cores_wanted: whether a row needs helpers. cores_there: ST_UNSUPPORTED with the reason when the machine lacks them. */
bool cores_wanted(const struct row *r);
MUST_CHECK enum status cores_there(const struct bench *b, const struct row *r, char *reason, size_t capacity);
/* Brings the nodes of the next window of `units` into the row's cache state: flushes them from all caches, then has the helpers read or write
 * them. *job is the last job that ran, which may be a helper's. */
MUST_CHECK enum status cores_prepare(struct bench *b, const struct row *r, struct working_set *w, uint64_t units,
                                     struct job *job);
/* Flushes the row's lines from all caches after a row with helpers or core pairs. A line left in another core's cache stays there until it is
 * evicted. A later row that uses the same memory would then be answered by a snoop or a forward. */
MUST_CHECK enum status cores_leave(struct bench *b, const struct working_set *w, struct job *job);

#endif
