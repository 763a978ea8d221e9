/* runner/export/export_tools.c: penalties in the formats of perfmon, pmu-tools, perf and likwid. */
#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "bench/report/user_account.h"
#include "pmu/core/concept.h"
#include "runner/export/export.h"
#include "tables/processor.h"

static const struct doc_node *proved(const struct export *e, const char *name)
{
	const struct doc_node *row = doc_row(e->d, name);
	return name[0] && row->type == DOC_OBJECT && export_measured(e, row) ? row : NULL;
}

/* The events that this processor counts for a term whose penalty is proved; NULL: it has none, or the penalty is not proved. */
static const struct expression *counted(const struct export *e, const struct processor *p, unsigned term)
{
	const struct expression *x = p ? stall_count(p, term) : NULL;
	return x && x->term_count && (!stall_terms[term].penalty[0] || proved(e, stall_terms[term].penalty)) ? x : NULL;
}

/* --- retire latency ---------------------------------------------------------------------------- */

static void add_retirement(const struct export *e, const struct doc_node *n, json_t *data)
{
	if (n->type != DOC_OBJECT || doc_whole(e->d, n, "count") < 1 || !doc_string(e->d, n, "event")[0] || json_object_get(data, doc_string(e->d, n, "event")))
		return;
	json_object_set_new(data, doc_string(e->d, n, "event"), json_pack("{s:I, s:f, s:I}", "MIN", (json_int_t)doc_whole(e->d, n, "min"), "MEAN",
	                                                              export_number(doc_get(e->d, n, "mean")), "MAX", (json_int_t)doc_whole(e->d, n, "max")));
}

/* Sources: the section "retire_latency", a list of event, count, min, mean and max, in core cycles between the retirement of an instruction
 * and of the previous one, from timed PEBS records; and rows whose loads were sampled with it, the first row of each event. A load-to-use
 * latency is no substitute. */
enum status export_retire_latency(const struct export *e)
{
	const struct doc_node *list = doc_get(e->d, doc_root(e->d), "retire_latency"), *rows = doc_get(e->d, doc_root(e->d), "rows");
	json_t *data = json_object();
	for (const struct doc_node *n = doc_begin(e->d, list); n; n = doc_next(e->d, n))
		add_retirement(e, n, data);
	for (const struct doc_node *n = doc_begin(e->d, rows); n; n = doc_next(e->d, n))
		add_retirement(e, doc_get(e->d, doc_get(e->d, n, "latency_event"), "retire_latency"), data);
	if (!json_object_size(data)) {
		json_decref(data);
		complain(e->c, "refused: no retirement latencies in these results, which only timed PEBS gives; load-to-use latency is not retirement latency");
		return ST_MISSING;
	}
	json_t *j = json_pack("{s:s, s:o}", "Platform", doc_string(e->d, doc_get(e->d, doc_root(e->d), "machine"), "descriptor"), "Data", data);
	json_dumpf(j, stdout, JSON_INDENT(4) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(j);
	complain(e->c, "not held by this format: spread, n of each event, data sources");
	return ST_OK;
}

/* --- pmu-tools --------------------------------------------------------------------------------- */

enum status export_pmu_tools(const struct export *e)
{
	static const struct { const char *name, *row; } constants[] = {
		{"Mem_STLB_Hit_Cost", "tlb.dtlb_4k.penalty"}, {"BAClear_Cost", "frontend.baclear.penalty"}, {"MS_Switches_Cost", "exec.microcode_switch.penalty"},
	};
	unsigned printed = 0;
	for (size_t i = 0; i < COUNT_OF(constants); i++)
		printed += proved(e, constants[i].row) != NULL;
	if (!printed) {
		complain(e->c, "these results have no proved row for any constant");
		return ST_MISSING;
	}
	for (size_t i = 0; i < COUNT_OF(constants); i++) {
		const struct doc_node *row = proved(e, constants[i].row);
		if (row)
			printf("%s = %s # %s, spread %s, n %s\n", constants[i].name, doc_get(e->d, row, "value")->string, constants[i].row,
			       doc_get(e->d, row, "spread")->string, doc_get(e->d, row, "samples")->string);
		else
			printf("# %s: %s is not proved in these results\n", constants[i].name, constants[i].row);
	}
	fputs("# Mem_L2_Store_Cost: no row measures it\n# Mem_L3_Weight: a weight and no cost\n# Avg_Assist_Cost: counted in issue slots, not in cycles\n", stdout);
	complain(e->c, "not held by this format: spread, verdict, proof (they stand in comments); constants in slots or weights are left out");
	return ST_OK;
}

/* --- perf -------------------------------------------------------------------------------------- */

static json_t *metric(const char *name, const char *expression, const char *brief, const char *title)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s}", "MetricName", name, "MetricExpr", expression, "MetricGroup", "Stallmeter", "ScaleUnit", "100%",
	                 "BriefDescription", title, "PublicDescription", brief);
}

/* An event in a metric's expression: perf-list(1) and pmu-events/README: "EVENT", "cpu@EVENT\\,cmask\\=1@". */
static void metric_event(const char *name, char *to, size_t capacity)
{
	size_t n = 0;
	bool modified = strchr(name, ':') != NULL;
	n += (size_t)snprintf(to, capacity, "%s", modified ? "cpu@" : "");
	for (; *name && n + 4 < capacity; name++) {
		if (*name == ':' || *name == '=')
			to[n++] = '\\';
		to[n++] = *name == ':' ? ',' : *name;
	}
	to[n] = 0;
	if (modified)
		strcat(to, "@");
}

enum status export_perf_metrics(const struct export *e)
{
	const struct processor *p = user_account_processor(e->d);
	const struct event *cycles = p ? stall_event(p, "cycles") : NULL;
	json_t *list = json_array();
	for (unsigned i = 0; cycles && i < stall_term_count; i++) {
		const struct stall_term *s = &stall_terms[i];
		const struct expression *x = counted(e, p, i);
		const struct doc_node *row = proved(e, s->penalty);
		char name[64], expression[500], brief[300], one[96], sum[400] = "";
		if (!x)
			continue;
		for (unsigned k = 0; k < x->term_count; k++) {
			metric_event(x->terms[k].event->name, one, sizeof(one) - 2);
			size_t n = strlen(sum);
			snprintf(sum + n, sizeof(sum) - n, "%s%s", k ? (x->terms[k].sign < 0 ? " - " : " + ") : "", one);
		}
		const char *price = row ? doc_get(e->d, row, "value")->string : "1";
		snprintf(name, sizeof(name), "stallmeter_%s", s->key);
		snprintf(expression, sizeof(expression), x->term_count > 1 ? "%s * (%s) / %s" : "%s * %s / %s", price, sum, cycles->name);
		snprintf(brief, sizeof(brief), "Share of cycles that this costs when nothing hides it: %s cycles each%s%s.", price, row ? ", measured by " : "", row ? s->penalty : "");
		json_array_append_new(list, metric(name, expression, brief, s->title));
	}
	bool any = json_array_size(list) > 0;
	if (any) {
		json_dumpf(list, stdout, JSON_INDENT(4));
		putchar('\n');
		complain(e->c, "not held by this format: the overlapped end of each range, the program's clock, spread and proof");
	} else
		complain(e->c, "no event of the accounting is in the tables of this processor, or no penalty is proved");
	json_decref(list);
	return any ? ST_OK : ST_MISSING;
}

/* --- likwid ------------------------------------------------------------------------------------ */

/* likwid's name: the manual's with '_', unless the processor's table has another. NULL: likwid lacks the event. */
static const char *likwid_event(const struct processor *p, const char *event, char *to, size_t capacity)
{
	for (unsigned i = 0; i < p->likwid_count; i++)
		if (!strcmp(event, p->likwid[i].event))
			return p->likwid[i].name[0] ? p->likwid[i].name : NULL;
	snprintf(to, capacity, "%s", event);
	for (char *at = to; *at; at++)
		if (*at == '.')
			*at = '_';
	return to;
}

/* likwid's groups are limited by the counters: the first sources that fit, in the order of the accounting. */
enum status export_likwid(const struct export *e)
{
	const struct processor *p = user_account_processor(e->d);
	int64_t counters = doc_whole(e->d, doc_get(e->d, doc_get(e->d, doc_root(e->d), "machine"), "pmu"), "general");
	/* without fixed counters, instructions and cycles use the first general ones */
	static const char *const general[] = { "instructions", "cycles" };
	const bool fixed = doc_whole(e->d, doc_get(e->d, doc_get(e->d, doc_root(e->d), "machine"), "pmu"), "fixed") > 0;
	const unsigned first = fixed ? 0 : COUNT_OF(general);
	const char *const cycles = fixed ? "FIXC1" : "PMC1";
	unsigned used[16], n = 0, left = 0;
	char name[96];
	for (unsigned i = 0; i < stall_term_count; i++) {
		const struct expression *x = counted(e, p, i);
		/* each counter of a group counts one event, and each metric has one penalty */
		if (!x || x->term_count > 1 || strchr(x->text, ':') || !stall_terms[i].penalty[0] || !likwid_event(p, x->text, name, sizeof(name)))
			continue;
		if (n < COUNT_OF(used) && (int64_t)(n + first) < counters)
			used[n++] = i;
		else
			left++;
	}
	if (!n || (!fixed && (!concept_event(p, general[0]) || !concept_event(p, general[1])))) {
		complain(e->c, "no counters, no event of the accounting in the tables of this processor, or no penalty is proved");
		return ST_MISSING;
	}
	fputs("SHORT Stall cycles by source\n\nEVENTSET\n", stdout);
	if (fixed)
		fputs("FIXC0 INSTR_RETIRED_ANY\nFIXC1 CPU_CLK_UNHALTED_CORE\nFIXC2 CPU_CLK_UNHALTED_REF\n", stdout);
	else
		for (unsigned i = 0; i < first; i++)
			printf("PMC%u %s\n", i, likwid_event(p, concept_event(p, general[i])->name, name, sizeof(name)));
	for (unsigned i = 0; i < n; i++)
		printf("PMC%u %s\n", first + i, likwid_event(p, counted(e, p, used[i])->text, name, sizeof(name)));
	printf("\nMETRICS\nRuntime (RDTSC) [s] time\nCPI %s/%s\n", cycles, fixed ? "FIXC0" : "PMC0");
	for (unsigned i = 0; i < n; i++)
		printf("Share of cycles, %s PMC%u*%s/%s\n", stall_terms[used[i]].title, first + i, doc_get(e->d, proved(e, stall_terms[used[i]].penalty), "value")->string, cycles);
	fputs("\nLONG\nEach share is the count times the penalty that was measured on this machine, of all core cycles:\n"
	      "what it costs when nothing hides it.\n", stdout);
	complain(e->c, "%u sources left out: no more counters. Not held by this format: ranges, spread, proof. Events are spelt as in likwid 5", left);
	return ST_OK;
}
