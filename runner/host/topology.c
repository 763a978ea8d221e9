/* runner/host/topology.c: cores and nodes from /sys. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner/host/topology.h"

/* One line of a file under /sys/devices/system; false if it cannot be read. */
static bool read_line(char *line, size_t capacity, const char *format, int number)
{
	char path[160];
	int n = snprintf(path, sizeof(path), "/sys/devices/system/");
	snprintf(path + n, sizeof(path) - (size_t)n, format, number);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	bool ok = fgets(line, (int)capacity, f) != NULL;
	fclose(f);
	return ok;
}

/* Calls `call` for each number of a list like "0-3,8" until it returns false. False: the text is no such list. */
static bool each_number(const char *list, bool (*call)(void *self, int number), void *self)
{
	while (*list && *list != '\n') {
		char *end;
		long first = strtol(list, &end, 10), last = first;
		if (end == list || first < 0)
			return false;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long i = first; i <= last; i++)
			if (!call(self, (int)i))
				return true;
		list = *end == ',' ? end + 1 : end;
		if (*end && *end != ',' && *end != '\n')
			return false;
	}
	return true;
}

static bool add_node(void *self, int number)
{
	struct topology *t = self;
	t->node_id[t->nodes++] = number;
	return t->nodes < TOPOLOGY_NODES_MAX;
}

static void read_nodes(struct topology *t)
{
	char line[4096];
	t->nodes = 0;
	if (!read_line(line, sizeof(line), "node/has_memory", 0) || !each_number(line, add_node, t) || !t->nodes) {
		t->nodes = 1;
		t->node_id[0] = 0;
	}
	for (unsigned i = 0; i < t->nodes; i++) {
		/* A row has a figure for each online node, with or without memory, in ascending order; online ids are assumed to have no gaps,
		 * and a missing figure keeps the default. */
		uint8_t *row = t->distance + (size_t)i * t->nodes;
		for (unsigned j = 0; j < t->nodes; j++)
			row[j] = i == j ? 10 : 20;
		if (!read_line(line, sizeof(line), "node/node%d/distance", t->node_id[i]))
			continue;
		char *at = line;
		for (int id = 0; *at; id++) {
			char *end;
			unsigned long figure = strtoul(at, &end, 10);
			if (end == at)
				break;
			for (unsigned j = 0; j < t->nodes; j++)
				if (t->node_id[j] == id && figure >= 10 && figure < 255)
					row[j] = (uint8_t)figure;
			at = end;
		}
	}
}

struct sibling_search { const struct topology *t; bool taken; };

static bool is_taken(void *self, int number)
{
	struct sibling_search *s = self;
	for (unsigned i = 0; i < s->t->cores; i++)
		if (s->t->cpu[i] == number)
			s->taken = true;
	return !s->taken;
}

struct node_search { int cpu; bool found; };

static bool is_cpu(void *self, int number)
{
	struct node_search *s = self;
	s->found = s->found || number == s->cpu;
	return !s->found;
}

static uint8_t node_of_cpu(const struct topology *t, int cpu)
{
	char line[4096];
	for (unsigned i = 0; i < t->nodes; i++) {
		struct node_search s = {.cpu = cpu};
		if (read_line(line, sizeof(line), "node/node%d/cpulist", t->node_id[i]) && each_number(line, is_cpu, &s) &&
		    s.found)
			return (uint8_t)i;
	}
	return 0;
}

enum status topology_read(struct topology *t)
{
	cpu_set_t allowed;
	memset(t, 0, sizeof(*t));
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		return ST_MISSING;
	read_nodes(t);
	for (int cpu = 0; cpu < CPU_SETSIZE && t->cores < TOPOLOGY_CORES_MAX; cpu++) {
		char line[4096];
		struct sibling_search s = {.t = t};
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		if (read_line(line, sizeof(line), "cpu/cpu%d/topology/thread_siblings_list", cpu) &&
		    each_number(line, is_taken, &s) && s.taken)
			continue;
		t->cpu[t->cores] = cpu;
		t->core_node[t->cores] = node_of_cpu(t, cpu);
		t->cores++;
	}
	return t->cores ? ST_OK : ST_MISSING;
}
