/* tests/unit/rigs/stall_rig.c: see stall_rig.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/suite/suite.h"
#include "tests/unit/rigs/stall_rig.h"

#define UNITS_MILLI 1000 /* a profile's thousandths per unit, times this: the count of a million units */

static void add_event(const struct cpu *cpu, const struct event **events, unsigned *n, const struct event *e)
{
	for (unsigned i = 0; i < *n; i++)
		if (events[i] == e)
			return;
	if (!e || plan_extra_absent(cpu, e))
		return;
	assert_true(*n < STALL_RIG_EVENTS);
	events[(*n)++] = e;
}

void stall_rig_open(struct stall_rig *g, const char *machine, const char *suite)
{
	char names[2048] = "load.l1.latency";

	memset(g, 0, sizeof(*g));
	loop_open(&g->run, machine);
	for (unsigned t = 0; t < stall_term_count && !suite; t++) {
		const char *const feeds[] = { stall_terms[t].penalty, stall_terms[t].latency };
		for (unsigned i = 0; i < 2; i++)
			if (feeds[i][0] && !strstr(names, feeds[i])) {
				strcat(names, ",");
				strcat(names, feeds[i]);
			}
	}
	loop_suite(&g->run, suite ? suite : names);
	const char *json = memory_host_file(&g->run.host, "results.json");
	const size_t bytes = strlen(json);
	const uint32_t nodes = document_nodes_most(json, bytes);
	g->room[0] = calloc(nodes, sizeof(struct doc_node));
	g->room[1] = malloc(document_strings_most(json, bytes));
	document_init(&g->results, g->room[0], nodes, g->room[1], document_strings_most(json, bytes));
	assert_int_equal(document_parse(&g->results, json, bytes), ST_OK);
	bench_init(&g->bench, &g->run.guard.access, &g->run.cpu, &g->run.host.host, 0, 1);
}

void stall_rig_close(struct stall_rig *g)
{
	free(g->room[0]);
	free(g->room[1]);
	loop_close(&g->run);
}

/* Counts no more events than the planner takes at once. */
static bool count_batch(struct stall_rig *g, const struct row *row, const struct event *const *events, unsigned n, struct stall_counts *out)
{
	static struct profile_result r;
	struct profile_plan p = { .name = "events", .title = "" };
	const char *problem = "";

	if (plan_events(&g->run.cpu, events, n, &p.plan, &problem) != ST_OK)
		fail_msg("%s: %s", row->name, problem);
	profile_row(&g->bench, &p, row, &r);
	if (r.row.status != ROW_OK)
		return false;
	for (unsigned i = 0; i < r.count; i++) {
		if (r.events[i].uncounted)
			continue;
		out->events[out->n] = r.events[i].slot->event;
		out->count[out->n++] = r.events[i].unit_milli > 0 ? r.events[i].unit_milli * UNITS_MILLI : 0;
	}
	return true;
}

bool stall_rig_count(struct stall_rig *g, const char *row, struct stall_counts *out)
{
	const struct processor *p = g->run.cpu.processor;
	const struct event *events[STALL_RIG_EVENTS];
	unsigned n = 0;

	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < STALL_IDENTITIES; i++)
		add_event(&g->run.cpu, events, &n, stall_identity_event(p, i));
	for (unsigned t = 0; t < stall_term_count; t++)
		for (unsigned i = 0; i < stall_count(p, t)->term_count; i++)
			add_event(&g->run.cpu, events, &n, stall_count(p, t)->terms[i].event);
	for (unsigned from = 0; from < n; from += PLAN_EVENTS_MAX / 2) {
		const unsigned most = n - from < PLAN_EVENTS_MAX / 2 ? n - from : PLAN_EVENTS_MAX / 2;
		if (!count_batch(g, row_find(row), events + from, most, out))
			return false;
	}
	return true;
}

void stall_rig_add(struct stall_counts *to, const struct stall_counts *from, int64_t times)
{
	for (unsigned i = 0; i < from->n; i++) {
		unsigned k = 0;
		while (k < to->n && to->events[k] != from->events[i])
			k++;
		if (k == to->n)
			to->events[to->n++] = from->events[i];
		to->count[k] += times * from->count[i];
	}
}

static enum workload_account_count get(const void *self, const struct processor *p, const struct event *e, int64_t *count, int64_t *cycles)
{
	const struct stall_counts *c = self;
	(void)p;
	for (unsigned i = 0; i < c->n; i++)
		if (c->events[i] == e) {
			*count = c->count[i];
			*cycles = 0;
			return COUNT_GOOD;
		}
	return COUNT_MISSING;
}

void stall_rig_account(struct stall_rig *g, const struct stall_counts *counts, struct account *out)
{
	const struct account_counts how = { counts, get };
	assert_int_equal(user_account_of(&g->results, &how, out), ST_OK);
}

int64_t stall_rig_explained(const struct account *a)
{
	return a->total - a->bounds.stalls + a->charged;
}
