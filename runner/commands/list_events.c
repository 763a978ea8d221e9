/* runner/commands/list_events.c: see list_events.h. */
#include <string.h>

#include "bench/counting/stat.h"
#include "pmu/netburst/netburst.h"
#include "runner/commands/list_events.h"
#include "runner/host/backend.h"

#define SELECT_ON 0x430000u /* IA32_PERFEVTSEL: USR, OS and EN (SDM vol. 3, figure 18-6) */

/* The simulated machine that may model the events, and the numbers of events asked for and modelled. */
struct listing {
	const struct processor *processor;
	const char *name; /* of the machine; NULL: no machine has this processor */
	struct cpu cpu;
	struct bench bench;
	struct mapping lock;
	struct request_list request;
	unsigned asked, modelled;
};

/* Whether the machine models an event, which is requested with a value for each filter that it needs. Any value will do, since the answer does not
 * depend on it; only an opcode must be one that the machine distinguishes. */
static const char *modelled(struct listing *l, const char *name, const struct uncore_box *b, uint8_t filters)
{
	static const char opcode[] = "opc";
	char full[2 * REQUEST_NAME_BYTES], ignored[256];
	struct text t, problem;
	bool yes = false;

	if (!l->name)
		return "-";
	text_init(&t, full, sizeof(full));
	text_init(&problem, ignored, sizeof(ignored));
	text_fmt(&t, "%s%s%s", b ? b->name : "", b ? "." : "", name);
	for (unsigned f = 0; b && f < b->filter_count; f++)
		if (filters >> f & 1)
			text_fmt(&t, ":%s=%s", b->filters[f].name, str_equal(b->filters[f].name, opcode) ? "0x182" : "1");
	request_init(&l->request, l->processor);
	if (request_events(&l->request, full, &problem) != ST_OK)
		return "?";
	l->asked++;
	if (stat_modelled(&l->bench, &l->request.list[0], 0, l->lock.va, &yes) != ST_OK)
		return "?";
	l->modelled += yes;
	return yes ? "yes" : "no";
}

static const char *precise(const struct event *e)
{
	static const char *const words[] = { "-", "yes", "only", "latency" };

	return words[e->pebs < COUNT_OF(words) ? e->pebs : 0];
}

#define SELECT_WIDTH 10
#define EXTRA_WIDTH 24
static void print_head(const char *what, const char *select, const char *extra)
{
	printf("%-58s %-*s  %-*s %-8s %-7s %-8s %s\n", what, SELECT_WIDTH, select, EXTRA_WIDTH, extra, "counters", "precise", "modelled", "what");
}

/* Prints the event-select value without the enable bits, the extra register, and the counters that can count the event. */
static void print_event(const char *name, uint64_t code, uint32_t msr, uint64_t value, unsigned fixed, uint32_t counters, const char *is_precise,
                        const char *is_modelled, const char *what)
{
	char extra[40] = "", where[24], select[24];
	const int beyond = snprintf(select, sizeof(select), "0x%08llX", (unsigned long long)code) - SELECT_WIDTH; /* a second unit mask, AMD's upper bits */

	if (msr)
		snprintf(extra, sizeof(extra), "0x%X=0x%llX", msr, (unsigned long long)value);
	if (fixed)
		snprintf(where, sizeof(where), "fixed %u", fixed - 1);
	else
		snprintf(where, sizeof(where), counters == UINT32_MAX ? "all" : "0x%X", counters);
	printf("%-58s %-*s  %-*s %-8s %-7s %-8s %s\n", name, SELECT_WIDTH, select, EXTRA_WIDTH - (beyond > 0 ? beyond : 0), extra, where, is_precise, is_modelled, what);
}

/* Prints the filters that must be set in addition to the event select. An event's own extra register is printed in the column for it. */
static void print_needed(const struct uncore_box *b, const struct uncore_event *e)
{
	if (!e->filters)
		return;
	printf("%-58s ", "");
	for (unsigned f = 0; f < b->filter_count; f++)
		if (e->filters >> f & 1)
			printf(" needs %s: 0x%X[%u:%u]%s", b->filters[f].name, b->filters[f].reg, b->filters[f].high, b->filters[f].low,
			       b->filters[f].function == UNCORE_OWN ? "" : " of another function");
	putchar('\n');
}

static void print_boxes(struct listing *l)
{
	const struct processor *p = l->processor;
	unsigned codes = 0, events = 0;

	for (unsigned n = 0; n < p->box_count; n++) {
		const struct uncore_box *b = &p->boxes[n];

		printf("\nevent of box %s; filters:", b->name);
		for (unsigned f = 0; f < b->filter_count; f++)
			printf("%s %s", f ? "," : "", b->filters[f].name);
		puts(b->filter_count ? "" : " none");
		for (unsigned i = 0; i < b->event_count; i++) {
			const struct uncore_event *e = &b->events[i];

			print_event(e->name, e->high | e->select | (uint32_t)e->umask << 8 | (uint32_t)e->extended << 21 | (uint32_t)e->cmask << 24, e->extra_msr,
			            e->extra_value, e->fixed, e->counter_mask, "-", modelled(l, e->name, b, e->filters), e->what);
			print_needed(b, e);
		}
		codes += b->code_count;
		events += b->event_count;
	}
	if (p->box_count)
		printf("\n%u events of the uncore, %u with their unit masks, in %u types of boxes\n", codes, events, p->box_count);
}

/* Prints what may follow the colon of an event that counts tagged uops: the tagging event or metric. */
static void print_tags(const struct processor *p, const struct netburst_event *e)
{
	const char *before = "";

	if (e->tags < 2)
		return;
	printf("%-44s counts uops tagged by ", "");
	for (unsigned i = 0; e->tags == 3 && i < p->metric_count; i++, before = ", ")
		printf("%s:%s", before, p->metrics[i].name);
	for (unsigned d = 0; e->tags == 2 && d < p->detector_count; d++)
		if (p->detectors[d].tags == 1) {
			printf("%s:%s.%s", before, p->detectors[d].name, p->detectors[d].units[0].name);
			before = ", ";
		}
	putchar('\n');
}

/* Prints both registers of a metric, and the ESCR of the tagging event. */
static void print_metric(const struct processor *p, const struct netburst_metric *m)
{
	printf("%-44s 0x%08X 0x%08X %s", m->name, m->pebs_enable | NETBURST_UOP_TAG, m->matrix_vert, m->what);
	if (m->also >= 0) {
		const struct netburst_event *e = &p->detectors[m->also];

		printf("; with %s", e->name);
		for (unsigned u = 0, listed = 0; u < e->unit_count; u++)
			if (m->also_mask >> e->units[u].bit & 1)
				printf("%c%s", listed++ ? '+' : '.', e->units[u].name);
		if (m->also_escr)
			printf(" by ESCR 0x%X", e->escr[m->also_escr - 1]);
	}
	putchar('\n');
}

/* Prints a line per unit: the values of ESCR and CCCR for counting thread 0 at CPL 0. */
static void print_detector(struct listing *l, const struct netburst_event *e)
{
	const struct processor *p = l->processor;
	char where[64] = "", name[REQUEST_NAME_BYTES];
	struct text t;

	for (unsigned side = 0; side < 2; side++) {
		if (!e->escr[side])
			continue;
		snprintf(where + strlen(where), sizeof(where) - strlen(where), "%s0x%X:", *where ? " " : "", e->escr[side]);
		for (unsigned n = 0, more = 0; n < NETBURST_COUNTERS; n++)
			if (e->counters[side] >> n & 1)
				snprintf(where + strlen(where), sizeof(where) - strlen(where), "%s%u", more++ ? "," : "", n);
	}
	for (unsigned u = 0; u < e->unit_count; u++) {
		struct netburst_want w = { .event = e, .mask = (uint16_t)(1u << e->units[u].bit), .threads = NETBURST_T0_OS,
		                           .active = NETBURST_ANY, .after = -1 };

		text_init(&t, name, sizeof(name));
		text_fmt(&t, "%s.%s", e->name, e->units[u].name);
		if (e->tags == 3)
			text_fmt(&t, ":%s", p->metrics[0].name);
		for (unsigned d = 0; e->tags == 2 && d < p->detector_count; d++)
			if (p->detectors[d].tags == 1) {
				text_fmt(&t, ":%s.%s", p->detectors[d].name, p->detectors[d].units[0].name);
				break;
			}
		printf("%s.%-*s 0x%08X 0x%08X %-30s %-7s %-8s %s\n", e->name, (int)(43 - strlen(e->name)), e->units[u].name, netburst_escr_value(&w),
		       netburst_cccr_value(&w), where, e->tags > 1 ? "yes" : "-", modelled(l, name, NULL, 0), e->what);
	}
	print_tags(p, e);
}

static void print_detectors(struct listing *l)
{
	const struct processor *p = l->processor;
	unsigned units = 0;

	if (!p->detector_count)
		return;
	printf("\n%-44s %-10s %-10s %-30s %-7s %-8s %s\n", "event of a detector", "ESCR", "CCCR", "ESCRs and their counters", "precise", "modelled", "what");
	for (unsigned i = 0; i < p->detector_count; i++) {
		units += p->detectors[i].unit_count;
		print_detector(l, &p->detectors[i]);
	}
	if (p->metric_count)
		printf("\n%-44s %-10s %-10s %s\n", "metric of replayed uops", "0x3F1", "0x3F2", "what");
	for (unsigned i = 0; i < p->metric_count; i++)
		print_metric(p, &p->metrics[i]);
	printf("\n%u events, %u with their units, and %u metrics of replays\n", p->detector_count, units, p->metric_count);
}

/* For NetBurst: prints the values of the event's ESCR and CCCR for thread 0, and the event that another ESCR must detect to tag its uops. */
static void print_use(struct listing *l, const struct event *e)
{
	const struct cpu cpu = { .processor = l->processor };
	struct netburst_want w[2];
	const unsigned n = netburst_wants_of(&cpu, e, 0, w);
	const struct netburst_want *own = &w[n - 1];
	char cccr[40], description[400];

	snprintf(cccr, sizeof(cccr), "0x%08X%s", netburst_cccr_value(own), n > 1 ? " with another" : "");
	snprintf(description, sizeof(description), "%s%s%s%s", e->what, n > 1 ? "; what tags its uops is detected with it: " : "", n > 1 ? w[0].event->name : "",
	         e->netburst->threads != 1 || e->netburst->active != NETBURST_ANY ? " (needs two threads a core)" : "");
	printf("%-58s 0x%08X  %-24s 0x%-6X %-7s %-8s %s\n", e->name, netburst_escr_value(own), cccr, own->event->counters[0] | own->event->counters[1],
	       own->event->tags > 1 ? "yes" : "-", modelled(l, e->name, NULL, 0), description);
}

static void print_cores(struct listing *l)
{
	const struct processor *p = l->processor;

	if (p->event_count)
		print_head("event of a core", p->detector_count ? "ESCR" : "select", p->detector_count ? "CCCR" : "register");
	for (unsigned i = 0; i < p->event_count; i++) {
		const struct event *e = &p->events[i];
		const struct quirk *q = event_overcounts(p, e->name);
		char description[400];

		if (e->netburst) {
			print_use(l, e);
			continue;
		}
		snprintf(description, sizeof(description), "%s%s%s%s", e->what, q ? "; counts too much (" : "", q ? q->erratum : "", q ? ")" : "");
		print_event(e->name, counter_select(e) & ~(uint64_t)SELECT_ON, e->extra_msr, e->extra_value, e->counter_mask ? 0 : e->fixed, e->counter_mask, precise(e),
		            modelled(l, e->name, NULL, 0), description);
	}
}

/* Opens a machine of l's processor, if there is one. ST_MISSING: the named machine has another processor. */
static enum status listing_open(const struct command *c, struct listing *l, const char *machine, struct machine *m, struct backend *b)
{
	static const struct suite_host host = { .get = backend_pages_get, .put = backend_pages_put };
	char problem[512];
	enum status st;

	if (!machine && !machine_builtin(l->processor->name))
		return ST_OK;
	st = backend_machine(machine ? machine : l->processor->name, m, problem, sizeof(problem));
	if (st == ST_OK)
		st = backend_open(b, m, problem, sizeof(problem));
	if (st != ST_OK) {
		complain(c, "%s", problem);
		return st;
	}
	l->name = machine ? machine : l->processor->name;
	st = cpu_identify(b->access, &l->cpu);
	if (st == ST_OK && l->cpu.processor != l->processor) {
		complain(c, "--machine %s is %s, not %s", machine, l->cpu.processor->name, l->processor->name);
		return ST_MISSING;
	}
	if (st == ST_OK) {
		bench_init(&l->bench, b->access, &l->cpu, &host, 0, 0);
		l->lock = (struct mapping){ .va = SPACE_LOCK, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
		st = b->access->ops->map(b->access->self, &l->lock);
	}
	if (st != ST_OK)
		complain(c, "--machine %s: %s", l->name, status_name(st));
	return st;
}

int list_events(const struct command *c, const struct processor *p, const char *machine)
{
	static struct machine m;
	static struct listing l;
	struct backend b = { 0 };
	enum status st;

	l.processor = p;
	st = listing_open(c, &l, machine, &m, &b);
	if (st == ST_OK) {
		print_cores(&l);
		print_detectors(&l);
		print_boxes(&l);
		if (!p->event_count)
			printf("%s: no events are known\n", p->name);
		else if (l.name)
			printf("\nmodelled: the simulated machine %s counts %u of these %u events; stat says of the others \"not modelled\"\n", l.name, l.modelled,
			       l.asked);
		else
			printf("\nmodelled: no built-in machine is of this processor; --machine FILE names one\n");
	}
	backend_close(&b);
	return st == ST_OK ? EXIT_GOOD : EXIT_BAD_INPUT;
}
