/* runner/commands/list.c: `stallmeter list`: lists machines, rows, events, profiles, metrics and concepts. */
#include "bench/results/inventory.h"
#include "bench/catalogue/provable.h"
#include "bench/suite/cross_check.h"
#include "pmu/counters/counters.h"
#include "pmu/netburst/netburst.h"
#include "pmu/uncore/uncore_metric.h"
#include "pmu/sim/machine/machine.h"
#include "runner/commands/list_events.h"
#include "runner/options/command.h"
#include "runner/data/file.h"
#include "runner/data/reader.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pmu/core/concept.h"
#include "tables/processor.h"

static bool machines, row_names, relations;
static const char *events_of, *profiles_of, *metrics_of, *confirmed, *concepts_of, *identify, *asked_machine;

static unsigned list_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--machines", OPTION_SWITCH, &machines, NULL, NULL, 0, 0, "the simulated machines that are built in"},
		{"--rows", OPTION_SWITCH, &row_names, NULL, NULL, 0, 0, "the rows of the benchmark table and their suites"},
		{"--events", OPTION_TEXT, &events_of, "PROCESSOR", NULL, 0, 0, "the events of a processor of the tables: encodings, counters, which are precise, what filters they need, and whether the simulated machine of that processor models them"},
		{"--machine", OPTION_TEXT, &asked_machine, "NAME|FILE", NULL, 0, 0, "with --events: the simulated machine (default: the built-in one of that name)"},
		{"--profiles", OPTION_TEXT, &profiles_of, "PROCESSOR", NULL, 0, 0, "the profiles of a processor of the tables, with their events"},
		{"--metrics", OPTION_TEXT, &metrics_of, "PROCESSOR", NULL, 0, 0, "the derived metrics of its cores and its uncore, and how many runs each takes"},
		{"--concepts", OPTION_TEXT, &concepts_of, "PROCESSOR", NULL, 0, 0, "each concept that rows use, and the processor's events that count it, or the reason why none does"},
		{"--relations", OPTION_SWITCH, &relations, NULL, NULL, 0, 0, "the relations between rows of one run; rows that violate one become unproven"},
		{"--confirmed", OPTION_TEXT, &confirmed, "FOLDER", NULL, 0, 0, "README's table: how many rows the events of each descriptor can prove, and the published results in FOLDER that confirm it"},
		{"--identify", OPTION_TEXT, &identify, "FILE", NULL, 0, 0, "the processor that a machine.txt, found beside the results of a run, describes"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

/* Prints the parts of a descriptor that CPUID reports; the others come from the vendor's documents. */
static int list_identify(const struct command *c)
{
	static struct inventory_read m;
	struct cpu cpu;
	char *text, problem[512];
	size_t bytes;
	if (file_read(identify, MACHINE_TEXT_BYTES, &text, &bytes, problem, sizeof(problem)) != ST_OK) {
		complain(c, "--identify %s", problem);
		return EXIT_BAD_INPUT;
	}
	enum status s = inventory_text_read(&m, text, bytes, problem, sizeof(problem));
	free(text);
	if (s == ST_OK) {
		s = cpu_identify(&m.access, &cpu);
		snprintf(problem, sizeof(problem), "%s", status_name(s));
	}
	if (s != ST_OK) {
		complain(c, "--identify %s: %s", identify, problem);
		return EXIT_BAD_INPUT;
	}
	printf("%s\nvendor %s, family %u, model 0x%X, stepping %u, %u logical processors%s\n", cpu.brand[0] ? cpu.brand : cpu.vendor, cpu.vendor,
	       cpu.family, cpu.model, cpu.stepping, m.cores, m.hybrid_types >> 16 ? ", of several types (hybrid)" : "");
	if (m.pci_functions)
		printf("%u PCI functions\n", m.pci_functions);
	printf("descriptor %s (%s), confirmed: %s\n", cpu.processor->name, cpu.processor->title, cpu.processor->confirmed);
	if (cpu.processor->family == FAMILY_ANY)
		puts("no descriptor of its own: generic rows, and what CPUID enumerates; tables/FORMAT.md describes how to add one");
	printf("performance monitoring version %u: %u general counters of %u bits, %u fixed of %u%s%s\n", cpu.pmu_version, cpu.general_counters,
	       cpu.general_width, cpu.fixed_counters, cpu.fixed_width, cpu.pmu_absent ? "; not used: " : "", cpu.pmu_absent ? cpu.pmu_absent : "");
	for (unsigned i = 0; i < cpu.cache_count; i++)
		printf("L%u%c %llu bytes, %u ways, lines of %u, shared by %u\n", cpu.caches[i].level, cpu.caches[i].type,
		       (unsigned long long)cpu.caches[i].bytes, cpu.caches[i].ways, cpu.caches[i].line_bytes, cpu.caches[i].shared_by);
	return EXIT_GOOD;
}

static const struct processor *processor_named(const struct command *c, const char *option, const char *name)
{
	char known[1024] = "";
	for (unsigned i = 0; i < processor_count; i++) {
		if (!strcmp(processors[i].name, name))
			return &processors[i];
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", i ? ", " : "", processors[i].name);
	}
	complain(c, "%s: no processor \"%s\"; known: %s", option, name, known);
	return NULL;
}

static int list_profiles(const struct command *c)
{
	const struct processor *p = processor_named(c, "--profiles", profiles_of);
	if (!p)
		return EXIT_BAD_INPUT;
	if (!p->profile_count)
		printf("%s has no profiles; --profile takes names of events too\n", p->name);
	for (unsigned i = 0; i < p->profile_count; i++) {
		const struct profile *l = &p->profiles[i];
		printf("%s%s: %s (%s)\n", i ? "\n" : "", l->name, l->title, l->source);
		for (unsigned e = 0; e < l->event_count; e++)
			printf("  %s\n", l->events[e]);
		if (l->lbr_select)
			printf("  last-branch records with filter 0x%X\n", l->lbr_select);
	}
	return EXIT_GOOD;
}

/* Number of runs that a metric of the cores needs, with its events on the counters that can count the first. 0: not such a metric, since an event
 * is not a core's. */
static unsigned runs_of_cores(const struct processor *p, const struct uncore_metric_events *e)
{
	unsigned counters = 0;
	for (unsigned n = 0; n < e->count; n++) {
		char name[METRIC_NAME_BYTES];
		const struct event *event = NULL;
		str_copy(name, sizeof(name), e->name[n]);
		name[strcspn(name, ":")] = 0;
		for (unsigned i = 0; i < p->event_count && !event; i++)
			event = str_equal(p->events[i].name, name) ? &p->events[i] : NULL;
		if (!event)
			return 0;
		counters = counters ? counters : (unsigned)__builtin_popcount(event->counter_mask);
	}
	return counters ? (e->count + counters - 1) / counters : 0;
}

/* Number of runs that the events of a metric need in each box, as the planner packs them; 0: impossible. */
static unsigned runs_of(const struct processor *p, const struct uncore_metric *m)
{
	static const struct metric_terms terms = {0};
	const struct cpu cpu = {.processor = p};
	const struct uncore u = {.cpu = &cpu};
	struct uncore_metric_events e;
	struct uncore_plan plan;
	const char *problem;
	if (uncore_metric_events(m, &terms, &e) != ST_OK)
		return 0;
	if (runs_of_cores(p, &e))
		return runs_of_cores(p, &e);
	if (uncore_plan(&u, e.list, e.count, &plan, &problem) != ST_OK)
		return 0;
	return plan.runs;
}

static int list_metrics(const struct command *c)
{
	const struct processor *p = processor_named(c, "--metrics", metrics_of);
	unsigned there = 0;
	if (!p)
		return EXIT_BAD_INPUT;
	if (!p->derived_count) {
		complain(c, "--metrics %s: the tables have no metric of it", metrics_of);
		return EXIT_ROWS;
	}
	printf("%-44s %-8s %-6s %s\n", "metric", "unit", "runs", "what");
	for (unsigned i = 0; i < p->derived_count; i++) {
		const struct uncore_metric *m = &p->derived[i];
		const unsigned runs = runs_of(p, m);
		char text[16] = "-";
		if (runs)
			snprintf(text, sizeof(text), "%u", runs);
		printf("%-44s %-8s %-6s %s\n%-44s = %s\n", m->name, m->unit, text, m->what, "", m->lacks[0] ? m->lacks : m->expression);
		there += runs > 0;
	}
	printf("\n%u metrics, %u of them can be had\n", p->derived_count, there);
	return EXIT_GOOD;
}

static int list_relations(void)
{
	char text[8192];
	struct text t;
	text_init(&t, text, sizeof(text));
	cross_check_list(&t);
	fputs(text, stdout);
	return EXIT_GOOD;
}

static int list_concepts(const struct command *c)
{
	const struct processor *p = processor_named(c, "--concepts", concepts_of);
	unsigned counted = 0;
	if (!p)
		return EXIT_BAD_INPUT;
	printf("%-34s %-13s %-9s %s\n", "concept", "unit", "counted", "what");
	for (unsigned i = 0; i < concept_count; i++) {
		const struct expression *x = concept_find(p, concepts[i].name);
		printf("%-34s %-13s %-9s %s\n", concepts[i].name, concepts[i].unit, x ? exactness_name(x->exactness) : "none", concepts[i].what);
		if (x && x->term_count)
			printf("%-34s = %s\n", "", x->text);
		if (!x || x->why[0])
			printf("%-34s   %s\n", "", x ? x->why : "no events of this processor are known");
		counted += x && x->term_count;
	}
	printf("\n%u concepts, %u of them counted by %s\n", concept_count, counted, p->name);
	return EXIT_GOOD;
}

/* Whether a run confirms the descriptor: measured with it on hardware, not in a virtual machine, with at least one row ok. */
static bool confirms(const struct results *r, const char *descriptor)
{
	const struct doc_node *root = doc_root(&r->d), *machine = doc_get(&r->d, root, "machine");
	return !strcmp(doc_string(&r->d, machine, "descriptor"), descriptor) && !strcmp(doc_string(&r->d, root, "backend"), "hw") &&
	       !doc_true(&r->d, root, "simulated") && !doc_true(&r->d, machine, "virtual") && doc_whole(&r->d, doc_get(&r->d, root, "summary"), "ok") > 0;
}

#define CONFIRMING_MOST 1000

static int list_confirmed(const struct command *c)
{
	static struct results r;
	static struct { const struct processor *of; char name[64]; } runs[CONFIRMING_MOST];
	struct dirent **list = NULL;
	unsigned n = 0;
	int entries = scandir(confirmed, &list, NULL, alphasort);
	if (entries < 0) {
		complain(c, "--confirmed %s: no such folder", confirmed);
		return EXIT_BAD_INPUT;
	}
	for (int i = 0; i < entries; i++) {
		char path[1400], problem[1600];
		struct stat about;
		snprintf(path, sizeof(path), "%.1000s/%.255s/results.json", confirmed, list[i]->d_name);
		if (list[i]->d_name[0] != '.' && n < CONFIRMING_MOST && !stat(path, &about)) {
			if (reader_read(&r, path, problem, sizeof(problem)) != ST_OK)
				complain(c, "%s; left out", problem);
			else {
				for (unsigned p = 0; p < processor_count; p++)
					if (confirms(&r, processors[p].name)) {
						runs[n].of = &processors[p];
						snprintf(runs[n++].name, sizeof(runs[0].name), "%.63s", list[i]->d_name);
						break;
					}
				reader_free(&r);
			}
		}
		free(list[i]);
	}
	free(list);
	puts("| descriptor | processors | rows proved | confirmed by |\n|---|---|---|---|");
	for (unsigned p = 0; p < processor_count; p++) {
		const struct provable_share share = provable_share(&processors[p]);
		unsigned shown = 0;
		printf("| `%s` | %s | %u of %u, %u %% | ", processors[p].name, processors[p].title, share.proved, share.rows, share.rows ? share.proved * 100 / share.rows : 0);
		for (unsigned i = 0; i < n; i++)
			if (runs[i].of == &processors[p])
				printf("%s%s", shown++ ? ", " : "", runs[i].name);
		puts(shown ? " |" : "none |");
	}
	return EXIT_GOOD;
}

static int list_run(const struct command *c, int operands, char **operand)
{
	(void)operands, (void)operand;
	bool all = !machines && !row_names;
	if (identify)
		return list_identify(c);
	if (relations)
		return list_relations();
	if (confirmed)
		return list_confirmed(c);
	if (asked_machine && !events_of) {
		complain(c, "--machine is for --events");
		return EXIT_BAD_INPUT;
	}
	if (!!events_of + !!profiles_of + !!metrics_of + !!concepts_of > 1) {
		complain(c, "--events, --profiles, --metrics and --concepts: one of them");
		return EXIT_BAD_INPUT;
	}
	if (metrics_of)
		return list_metrics(c);
	if (concepts_of)
		return list_concepts(c);
	if (events_of) {
		const struct processor *p = processor_named(c, "--events", events_of);
		return p ? list_events(c, p, asked_machine) : EXIT_BAD_INPUT;
	}
	if (profiles_of)
		return list_profiles(c);
	if (all)
		puts("Simulated machines:");
	for (unsigned i = 0; (all || machines) && i < machine_files_count; i++)
		printf("%s%s%s\n", all ? "  " : "", machine_files[i].name, all && !strcmp(machine_files[i].name, machine_default) ? " (default)" : "");
	if (all)
		puts("Rows (q: in the quick suite too):");
	for (unsigned i = 0; (all || row_names) && i < rows_count; i++)
		printf("%s%-30s %s  %s\n", all ? "  " : "", rows[i].name, rows[i].suites & SUITE_QUICK ? "q" : " ", rows[i].asks);
	return EXIT_GOOD;
}

const struct command command_list = {
	"list", "", "Lists machines and rows.", "Without an option it lists machines and rows.\n", list_options, list_run,
};
