/* bench/measure/cores.c: see cores.h. */
#include "bench/measure/cores.h"

#define LEAF_TOPOLOGY 0xBu  /* SDM vol. 2, CPUID: x2APIC id in EDX, EAX[4:0] bits to shift right for the next level */
#define LEAF_TOPOLOGY_V2 0x1Fu
#define LEAF_TOPOLOGY_AMD 0x80000026u
#define LEVEL_THREAD 1u
#define TYPE_DIE 5u     /* of leaf 0x1F */
#define TYPE_DIE_AMD 3u
#define LEVELS_MAX 8u

/* Bits that hold the numbers 0 .. n-1. */
static unsigned bits_for(unsigned n)
{
	unsigned bits = 0;

	while (1u << bits < n)
		bits++;
	return bits;
}

/* The APIC id of a core; the numbers of its low bits that select a thread within a core, and a thread within a package. */
static uint32_t apic_id(const struct access *a, const struct cpu *cpu, unsigned core, unsigned *thread_bits, unsigned *package_bits)
{
	struct cpuid_regs r, leaf4;
	uint32_t highest = 0, id = core;
	unsigned logical = 1;

	*thread_bits = 0;
	*package_bits = 31; /* nothing known: one package */
	if (a->ops->cpuid(a->self, core, 0, 0, &r) == ST_OK)
		highest = r.eax;
	if (highest >= LEAF_TOPOLOGY && a->ops->cpuid(a->self, core, LEAF_TOPOLOGY, 0, &r) == ST_OK && (r.ebx & 0xFFFF)) {
		for (unsigned level = 0; level < LEVELS_MAX; level++) {
			if (a->ops->cpuid(a->self, core, LEAF_TOPOLOGY, level, &r) != ST_OK || !(r.ecx >> 8 & 0xFF))
				break;
			id = r.edx;
			*package_bits = r.eax & 31;
			if ((r.ecx >> 8 & 0xFF) == LEVEL_THREAD)
				*thread_bits = r.eax & 31;
		}
		return id;
	}
	if (highest < 1 || a->ops->cpuid(a->self, core, 1, 0, &r) != ST_OK)
		return id;
	id = r.ebx >> 24;
	if (r.edx >> 28 & 1) /* EBX[23:16]: logical processors of the package */
		logical = r.ebx >> 16 & 0xFF ? r.ebx >> 16 & 0xFF : 1;
	*package_bits = bits_for(logical);
	if (highest >= 4 && a->ops->cpuid(a->self, core, 4, 0, &leaf4) == ST_OK && (leaf4.eax & 31)) {
		unsigned core_bits = bits_for((leaf4.eax >> 26) + 1);

		*thread_bits = *package_bits > core_bits ? *package_bits - core_bits : 0;
	} else { /* threads of a core share its L1; if even that is unknown, a package is assumed to have one core */
		const struct cpu_cache *l1 = cpu_cache(cpu, 1);

		*thread_bits = l1 && bits_for(l1->shared_by) < *package_bits ? bits_for(l1->shared_by) : *package_bits;
	}
	return id;
}

/* The number of low bits of an APIC id that select a thread within a die; package_bits if no leaf reports dies. */
static unsigned die_bits(const struct access *a, unsigned core, unsigned package_bits)
{
	static const struct { uint32_t highest, leaf, type; } leaves[] = { { 0, LEAF_TOPOLOGY_V2, TYPE_DIE }, { 0x80000000u, LEAF_TOPOLOGY_AMD, TYPE_DIE_AMD } };
	struct cpuid_regs r;

	for (unsigned i = 0; i < COUNT_OF(leaves); i++) {
		if (a->ops->cpuid(a->self, core, leaves[i].highest, 0, &r) != ST_OK || r.eax < leaves[i].leaf || r.eax > leaves[i].leaf + 0xFFFF)
			continue;
		for (unsigned level = 0; level < LEVELS_MAX; level++) {
			if (a->ops->cpuid(a->self, core, leaves[i].leaf, level, &r) != ST_OK || !(r.ecx >> 8 & 0xFF) || !(r.ebx & 0xFFFF))
				break;
			if ((r.ecx >> 8 & 0xFF) == leaves[i].type)
				return (r.eax & 31) < package_bits ? r.eax & 31 : package_bits;
		}
	}
	return package_bits;
}

/* Memory nodes of the processors that share the first one's last level. */
static unsigned nodes_of_last(const struct access *a, const struct core_groups *g)
{
	bool seen[NODES_MAX] = { false };
	unsigned nodes = 0;

	for (unsigned i = 0; i < a->cores && i < CORES_MAX; i++) {
		if (g->last[i] != g->last[0] || seen[a->core_node[i]])
			continue;
		seen[a->core_node[i]] = true;
		nodes++;
	}
	return nodes;
}

/* Makes the processors of each node a group, and the last level's size that of a node's part. */
static void split_last(const struct access *a, unsigned nodes, struct cpu *cpu, struct core_groups *g)
{
	const unsigned level = cpu_last_level(cpu);

	for (unsigned i = 0; i < a->cores && i < CORES_MAX; i++)
		g->last[i] = g->last[i] * NODES_MAX + a->core_node[i];
	for (unsigned i = 0; i < cpu->cache_count; i++)
		if (cpu->caches[i].level == level) {
			cpu->caches[i].bytes /= nodes;
			cpu->caches[i].shared_by = (uint16_t)((cpu->caches[i].shared_by + nodes - 1) / nodes);
		}
}

unsigned cores_find(const struct access *a, struct cpu *cpu, struct core_groups *out)
{
	const struct cpu_cache *l2 = cpu_cache(cpu, 2), *last = cpu_last_level(cpu) > 2 ? cpu_cache(cpu, cpu_last_level(cpu)) : NULL;
	unsigned nodes = 1;

	for (unsigned i = 0; i < a->cores && i < CORES_MAX; i++) {
		unsigned thread_bits, package_bits, l2_bits, last_bits;
		uint32_t id = apic_id(a, cpu, i, &thread_bits, &package_bits);

		l2_bits = l2 ? bits_for(l2->shared_by) : 0;
		l2_bits = l2_bits < thread_bits ? thread_bits : l2_bits > package_bits ? package_bits : l2_bits;
		/* CPUID may round the number of sharers up, but never beyond the package. */
		last_bits = last ? bits_for(last->shared_by) : package_bits;
		last_bits = last_bits < l2_bits ? l2_bits : last_bits > package_bits ? package_bits : last_bits;
		out->core[i] = id >> thread_bits;
		out->l2[i] = id >> l2_bits;
		out->last[i] = id >> last_bits;
		const unsigned die = die_bits(a, i, package_bits);

		out->die[i] = id >> (die < last_bits ? last_bits : die);
		out->package[i] = id >> package_bits;
	}
	if (last && a->core_node && a->nodes > 1 && (nodes = nodes_of_last(a, out)) > 1)
		split_last(a, nodes, cpu, out);
	return nodes;
}

enum relation cores_relation(const struct core_groups *g, unsigned one, unsigned other)
{
	if (one == other)
		return RELATION_SELF;
	if (g->core[one] == g->core[other])
		return RELATION_SAME_CORE;
	if (g->l2[one] == g->l2[other])
		return RELATION_SAME_CLUSTER;
	if (g->last[one] == g->last[other])
		return RELATION_SAME_SOCKET;
	if (g->package[one] != g->package[other])
		return RELATION_OTHER_SOCKET;
	return g->die[one] == g->die[other] ? RELATION_SAME_PACKAGE : RELATION_OTHER_DIE;
}

static bool other_node(const struct access *a, unsigned one, unsigned other)
{
	return a->core_node && a->core_node[one] != a->core_node[other];
}

enum status cores_choose(const struct bench *b, unsigned to, enum relation relation, unsigned n, unsigned *core)
{
	unsigned count = b->a->cores < CORES_MAX ? b->a->cores : CORES_MAX, beyond = relation == RELATION_OTHER_SOCKET;

	for (unsigned pass = 0; pass <= beyond; pass++)
		for (unsigned i = 0; i < count; i++) {
			if (!b->cpuset.core[i] || cores_relation(&b->groups, to, i) != relation || (beyond && other_node(b->a, to, i) == (pass == 1)))
				continue;
			if (n-- == 0) {
				*core = i;
				return ST_OK;
			}
		}
	return ST_MISSING;
}

/* Whether the node's processors are of the measuring core's package. */
static bool same_package(const struct bench *b, unsigned node)
{
	for (unsigned i = 0; b->a->core_node && i < b->a->cores && i < CORES_MAX; i++)
		if (b->a->core_node[i] == node)
			return b->groups.package[i] == b->groups.package[b->core];
	return false;
}

unsigned cores_node(const struct bench *b, enum row_node which)
{
	unsigned own = b->a->core_node ? b->a->core_node[b->core] : 0;

	for (unsigned node = 0; which != NODE_OWN && node < b->a->nodes && node < NODES_MAX; node++)
		if (node != own && b->cpuset.node[node] && same_package(b, node) == (which == NODE_DISTANT))
			return node;
	return own;
}

/* --- rows with helpers ------------------------------------------------------------------------- */

bool cores_wanted(const struct row *r)
{
	return r->order != ORDER_MATRIX && (r->target == TARGET_OTHER_CORE || r->target == TARGET_OTHER_COMPLEX || r->target == TARGET_OTHER_SOCKET);
}

/* The n-th core that may help; those of the same die, or of another memory node, come first. */
static enum status any_helper(const struct bench *b, const struct row *r, unsigned n, unsigned *core)
{
	static const enum relation complexes[] = { RELATION_SAME_PACKAGE, RELATION_OTHER_DIE };

	if (r->target != TARGET_OTHER_COMPLEX)
		return cores_choose(b, b->core, r->target == TARGET_OTHER_CORE ? RELATION_SAME_SOCKET : RELATION_OTHER_SOCKET, n, core);
	for (unsigned i = 0; i < COUNT_OF(complexes); i++)
		for (unsigned at = 0; cores_choose(b, b->core, complexes[i], at, core) == ST_OK; at++)
			if (n-- == 0)
				return ST_OK;
	return ST_MISSING;
}

/* The n-th helper. Helpers have different L2s, so that two helpers make two copies of a line. */
static enum status choose_helper(const struct bench *b, const struct row *r, unsigned n, unsigned *core)
{
	unsigned earlier;

	for (unsigned i = 0; any_helper(b, r, i, core) == ST_OK; i++) {
		bool first = true;

		for (unsigned j = 0; j < i && first; j++)
			first = any_helper(b, r, j, &earlier) != ST_OK || b->groups.l2[earlier] != b->groups.l2[*core];
		if (first && n-- == 0)
			return ST_OK;
	}
	return ST_MISSING;
}

enum status cores_there(const struct bench *b, const struct row *r, char *reason, size_t capacity)
{
	unsigned helper, helpers = r->prepare == PREPARE_SHARED ? 2 : 1;

	if (choose_helper(b, r, helpers - 1, &helper) == ST_OK)
		return ST_OK;
	str_copy(reason, capacity, b->a->cores < 2 ? "one core" : r->target == TARGET_OTHER_SOCKET ? "one socket" : r->target == TARGET_OTHER_COMPLEX ? "one L3 a socket" :
	         helpers > 1 ? "fewer than three cores share the L3" : "no other core shares the L3");
	return ST_UNSUPPORTED;
}

static enum status run_kernel(struct bench *b, unsigned core, const char *kernel, uint64_t start, uint64_t nodes, struct job *job)
{
	const struct kernel *k = kernel_find(kernel);
	uint64_t arguments[6] = { start, nodes };
	struct window ignored;

	return k ? window_run_on(b, core, k, arguments, NULL, 0, &ignored, job) : ST_BROKEN;
}

enum status cores_prepare(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, struct job *job)
{
	unsigned helpers = r->prepare == PREPARE_SHARED ? 2 : 1;
	enum status st = run_kernel(b, b->core, "k_flush_chain", w->at, units, job);

	for (unsigned n = 0; n < helpers && st == ST_OK; n++) {
		unsigned helper;

		st = choose_helper(b, r, n, &helper);
		if (st == ST_OK)
			st = run_kernel(b, helper, r->prepare == PREPARE_MODIFIED ? "k_dirty_chain" : "k_touch_chain", w->at, units, job);
	}
	return st;
}

enum status cores_leave(struct bench *b, const struct working_set *w, struct job *job)
{
	const struct kernel *flush = kernel_find("k_flush");
	const uint64_t arguments[6] = { w->map.va + w->shape.start_bytes, w->shape.bytes / w->shape.line_bytes, w->shape.line_bytes };
	struct window ignored;

	return flush ? window_run(b, flush, arguments, NULL, 0, &ignored, job) : ST_BROKEN;
}
