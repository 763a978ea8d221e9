/* runner/export/export_hmat.c: matrices of nodes in the form of ACPI's tables, and their deviation from the firmware's.
 *
 * Latencies and bandwidths are entries of HMAT's system locality latency and bandwidth structures (ACPI 6.5, 5.2.29.4: ps
 * and MB/s), distances are SLIT's (5.2.17: 10 is local). There is one local and one remote latency row, so all remote nodes have
 * the same figure; bandwidths are those of each pair that read.node_local and read.node_remote measured. The firmware's matrices are
 * in the environment of results that were measured on a machine: "slit_0", "hmat_read_latency_0" and so on, each a row of a
 * matrix. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "runner/options/command.h"
#include "runner/export/export.h"

#define NODES_MOST 64

struct matrix { unsigned nodes; double at[NODES_MOST][NODES_MOST]; bool there[NODES_MOST][NODES_MOST]; };

static const struct doc_node *value_of(const struct document *d, const char *name)
{
	const struct doc_node *row = doc_row(d, name);
	return row->type == DOC_OBJECT && export_measured(&(struct export){.d = d}, row) ? row : NULL;
}

static void put(struct matrix *m, unsigned from, unsigned to, double value)
{
	if (from < m->nodes && to < m->nodes && value > 0) {
		m->at[from][to] = value;
		m->there[from][to] = true;
	}
}

static void bandwidths(const struct export *e, const char *name, struct matrix *m)
{
	const struct doc_node *row = value_of(e->d, name), *points = row ? doc_get(e->d, doc_get(e->d, row, "series"), "points") : NULL;
	for (const struct doc_node *p = points ? doc_begin(e->d, points) : NULL; p; p = doc_next(e->d, p)) {
		const struct doc_node *from = doc_begin(e->d, p), *to = from ? doc_next(e->d, from) : NULL, *v = to ? doc_next(e->d, to) : NULL;
		if (v && from->milli >= 0 && to->milli >= 0 && from->milli < NODES_MOST * 1000 && to->milli < NODES_MOST * 1000)
			put(m, (unsigned)(from->milli / 1000), (unsigned)(to->milli / 1000), export_number(v) / 1e6);
	}
}

/* Reads a matrix of the firmware from the environment; false: there is none. */
static bool firmware(const struct export *e, const char *name, struct matrix *m)
{
	const struct doc_node *environment = doc_get(e->d, doc_root(e->d), "environment");
	bool any = false;
	for (unsigned from = 0; from < m->nodes; from++) {
		char key[64], *end;
		snprintf(key, sizeof(key), "%s_%u", name, from);
		const char *at = doc_string(e->d, environment, key);
		for (unsigned to = 0; *at && to < m->nodes; to++) {
			double v = strtod(at, &end);
			if (end != at) {
				put(m, from, to, v);
				any = true;
			} else {
				end = strchr(at, ' ') ? strchr(at, ' ') : strchr(at, 0);
			}
			at = end + strspn(end, " ");
		}
	}
	return any;
}

static json_t *entries(const struct matrix *m)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < m->nodes; i++) {
		json_t *line = json_array();
		for (unsigned k = 0; k < m->nodes; k++)
			json_array_append_new(line, m->there[i][k] ? json_integer((json_int_t)(m->at[i][k] + 0.5)) : json_null());
		json_array_append_new(list, line);
	}
	return list;
}

/* Per cent of the measured value: +100 if the firmware's is twice as large. */
static json_t *difference(const struct matrix *measured, const struct matrix *told)
{
	json_t *list = json_array();
	for (unsigned i = 0; i < measured->nodes; i++) {
		json_t *line = json_array();
		for (unsigned k = 0; k < measured->nodes; k++)
			json_array_append_new(line, measured->there[i][k] && told->there[i][k] ?
			                      json_real((double)(long)((told->at[i][k] / measured->at[i][k] - 1) * 1000 + (told->at[i][k] < measured->at[i][k] ? -0.5 : 0.5)) / 10) : json_null());
		json_array_append_new(list, line);
	}
	return list;
}

/* Adds the firmware's matrix under the first of the names that it has, and the differences. */
static bool compared(const struct export *e, json_t *into, const struct matrix *measured, const char *const *names)
{
	for (; *names; names++) {
		static struct matrix told;
		memset(&told, 0, sizeof(told));
		told.nodes = measured->nodes;
		if (!firmware(e, *names, &told))
			continue;
		json_object_set_new(into, "firmware_from", json_string(*names));
		json_object_set_new(into, "firmware", entries(&told));
		json_object_set_new(into, "firmware_difference_percent", difference(measured, &told));
		return true;
	}
	return false;
}

enum status export_hmat(const struct export *e)
{
	static const char *const latency_names[] = {"hmat_read_latency", "hmat_access_latency", NULL};
	static const char *const bandwidth_names[] = {"hmat_read_bandwidth", "hmat_access_bandwidth", NULL};
	static const char *const slit_names[] = {"slit", NULL};
	static struct matrix ps, mbs, distance;
	const struct doc_node *local = value_of(e->d, "load.dram_local.latency"), *remote = value_of(e->d, "load.dram_remote.latency");
	int64_t nodes = doc_whole(e->d, doc_get(e->d, doc_root(e->d), "machine"), "nodes");
	if (!local || doc_get(e->d, local, "ns")->type != DOC_NUMBER || doc_milli(e->d, local, "ns") <= 0 || nodes < 1 || nodes > NODES_MOST || (nodes > 1 && !remote)) {
		complain(e->c, "these results have no proved latency of %s memory", local ? "another node's" : "local");
		return ST_MISSING;
	}
	double at_home = export_number(doc_get(e->d, local, "ns")), away = remote ? export_number(doc_get(e->d, remote, "ns")) : at_home;
	memset(&ps, 0, sizeof(ps));
	memset(&mbs, 0, sizeof(mbs));
	memset(&distance, 0, sizeof(distance));
	ps.nodes = mbs.nodes = distance.nodes = (unsigned)nodes;
	for (unsigned i = 0; i < ps.nodes; i++)
		for (unsigned k = 0; k < ps.nodes; k++) {
			put(&ps, i, k, (i == k ? at_home : away) * 1000);
			put(&distance, i, k, i == k ? 10 : 10 * away / at_home);
		}
	bandwidths(e, "read.node_local.bandwidth", &mbs);
	bandwidths(e, "read.node_remote.bandwidth", &mbs);
	json_t *latency = json_pack("{s:s, s:i, s:o}", "data_type", "access latency", "base_unit_ps", 1, "entries", entries(&ps));
	json_t *bandwidth = json_pack("{s:s, s:i, s:o}", "data_type", "read bandwidth", "base_unit_mb_per_s", 1, "entries", entries(&mbs));
	json_t *slit = json_object(), *j = json_object();
	bool any = compared(e, latency, &ps, latency_names);
	any |= compared(e, bandwidth, &mbs, bandwidth_names);
	bool slit_there = compared(e, slit, &distance, slit_names);
	json_object_set_new(j, "hmat_latency", latency);
	json_object_set_new(j, "hmat_bandwidth", bandwidth);
	json_object_set_new(j, "slit", entries(&distance));
	if (slit_there)
		json_object_set_new(j, "slit_difference", slit);
	else
		json_decref(slit);
	json_dumpf(j, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(j);
	if (nodes > 2)
		complain(e->c, "one remote node was measured: all remote latencies are its figure");
	if (!any && !slit_there)
		complain(e->c, "the firmware's own tables are not in these results: no difference can be given");
	return ST_OK;
}
