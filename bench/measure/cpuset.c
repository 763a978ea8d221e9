/* bench/measure/cpuset.c: the cores and memory nodes that multicore rows may use. */
#include "bench/measure/cores.h"

/* Marks the numbers of a list such as "0-3,8", or "0-14:2" for every second one, in set[limit]. False: *problem says what is wrong with the list. */
static bool parse(const char *list, unsigned limit, const char *what, bool *set, struct text *problem)
{
	const char *at = list;

	memset(set, 0, limit * sizeof(*set));
	while (*at) {
		uint64_t number[3] = { 0, 0, 1 }; /* first, last, step */
		unsigned n = 0;

		for (;;) {
			const char *from = at;

			while (*at >= '0' && *at <= '9')
				at++;
			if (n == 3 || parse_u64(from, (size_t)(at - from), &number[n]) != ST_OK) {
				text_fmt(problem, "%ss: expected all, or numbers and ranges such as 0-3,8; found \"%s\"", what, list);
				return false;
			}
			n++;
			if (*at != (n == 1 ? '-' : ':'))
				break;
			at++;
		}
		if (n == 1)
			number[1] = number[0];
		if ((*at && *at != ',') || (*at == ',' && !at[1]) || number[0] > number[1] || !number[2]) {
			text_fmt(problem, "%ss: expected all, or numbers and ranges such as 0-3,8; found \"%s\"", what, list);
			return false;
		}
		if (number[1] >= limit) {
			text_fmt(problem, "%ss: no %s %llu in \"%s\"; there are 0 to %u", what, what,
			         (unsigned long long)(number[0] < limit ? limit : number[0]), list, limit - 1);
			return false;
		}
		for (uint64_t i = number[0]; i <= number[1]; i += number[2] < limit ? number[2] : limit)
			set[i] = true;
		at += *at == ',';
	}
	return true;
}

static bool all(const char *list)
{
	return !list || !list[0] || str_equal(list, "all");
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

enum status cpuset_choose(const struct access *a, const char *core_list, const char *node_list, struct cpuset *p, char *problem, size_t capacity)
{
	const unsigned cores = least(a->cores, CORES_MAX), nodes = least(a->nodes ? a->nodes : 1, NODES_MAX);
	const unsigned own = a->core_node ? a->core_node[0] : 0;
	struct text t;

	text_init(&t, problem, capacity);
	memset(p->core, true, sizeof(p->core));
	memset(p->node, true, sizeof(p->node));
	if (!all(core_list) && !parse(core_list, cores, "core", p->core, &t))
		return ST_RANGE;
	if (!all(node_list) && !parse(node_list, nodes, "node", p->node, &t))
		return ST_RANGE;
	if (!p->core[0]) {
		text_fmt(&t, "cores: \"%s\" lacks core 0, which measures", core_list);
		return ST_RANGE;
	}
	if (own < nodes && !p->node[own]) {
		text_fmt(&t, "nodes: \"%s\" lacks node %u, which is that of core 0", node_list, own);
		return ST_RANGE;
	}
	return ST_OK;
}

enum status cpuset_cores(const struct access *a, const char *core_list, struct cpuset *p, char *problem, size_t capacity)
{
	struct text t;

	text_init(&t, problem, capacity);
	memset(p, true, sizeof(*p));
	return all(core_list) || parse(core_list, least(a->cores, CORES_MAX), "core", p->core, &t) ? ST_OK : ST_RANGE;
}
