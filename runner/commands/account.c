/* runner/commands/account.c: `stallmeter account` and `stallmeter events`: cycle accounting of the user's own program. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "runner/commands/account_svg.h"
#include "runner/commands/command.h"
#include "runner/data/counts.h"
#include "runner/data/file.h"
#include "runner/data/reader.h"
#include "runner/data/samples.h"
#include "tables/processor.h"

#define COUNTS_BYTES_MOST (1u << 20)

static const char *format = "table";

static unsigned account_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--format", OPTION_CHOICE, &format, "table|json|svg", "table|json|svg", 0, 0, "what is printed (default: table)"},
	};
	for (unsigned i = 0; i < COUNT_OF(all) && i < most; i++)
		list[i] = all[i];
	return COUNT_OF(all);
}

static const char *why_open(const struct account_term *t)
{
	return t->state == ACCOUNT_NO_EVENT ? "event not counted: left open" : t->state == ACCOUNT_MULTIPLEXED ? "event multiplexed: left open" :
	       t->state == ACCOUNT_NO_PENALTY ? "no proved penalty in these results: left open" :
	       t->needs_clock ? "uncore part not rescaled: reference cycles or the uncore's residence are missing" : "";
}

static double percent(int64_t part, int64_t total)
{
	return total > 0 ? 100.0 * (double)part / (double)total : 0;
}

static void print_share(const char *name, int64_t cycles, int64_t total)
{
	printf("%-50s %16" PRId64 " %7.2f %%\n", name, cycles, percent(cycles, total));
}

static void print_table(const struct account *a)
{
	const int64_t all = a->has_stalls ? a->stalls : a->total;
	if (a->has_total)
		print_share("cycles", a->total, a->total);
	else
		puts("cycles: not counted");
	if (a->has_total && a->has_stalls)
		print_share(a->has_waste ? "  retiring work" : "  not stalled (wasted work not counted apart)", a->retired, a->total);
	if (a->has_waste)
		print_share("  wasted work (uops that never retired)", a->wasted, a->total);
	if (a->has_stalls)
		print_share("  stalled at execution", a->stalls, a->total);
	else
		puts("  stalled at execution: not counted");
	printf("\n%-50s %14s %19s %23s %s\n", "source of stalls", "count", "cycles each", "cycles", a->has_stalls ? "of all stalls" : "of all cycles");
	for (unsigned i = 0; i < account_sources_count; i++) {
		const struct account_term *t = &a->terms[i];
		const struct account_source *s = &account_sources[i];
		if (t->state != ACCOUNT_GOOD) {
			printf("%-50s %14s %s\n", s->title, "-", why_open(t));
			continue;
		}
		printf("%-50s %14" PRId64 " %8.2f to %7.2f %10" PRId64 " to %9" PRId64 "  %.1f to %.1f %%%s%s\n", s->title, t->count,
		       (double)t->low_milli / 1000, (double)t->high_milli / 1000, t->low, t->high, percent(t->low, all), percent(t->high, all),
		       why_open(t)[0] ? "; " : "", why_open(t));
	}
	printf("%-50s %14s %19s %10" PRId64 " to %9" PRId64 "  %.1f to %.1f %%\n", "sum", "", "overlapped, exposed", a->low, a->high,
	       percent(a->low, all), percent(a->high, all));
	if (a->has_stalls)
		printf("%-50s %14s %19s %10" PRId64 " to %9" PRId64 "%s\n", "unaccounted rest", "", "", a->stalls - a->high, a->stalls - a->low,
		       a->stalls < a->high ? "  (negative: exposed costs overlapped each other)" : "");
	if (a->open)
		printf("%u terms are open: the rest holds whatever they cost\n", a->open);
	if (a->clock_milli)
		printf("core clock of the program: %.3f of that of the results\n", (double)a->clock_milli / 1000);
}

static json_t *term_json(const struct account_source *s, const struct account_term *t)
{
	static const char *const states[] = {"ok", "not counted", "multiplexed", "no penalty"};
	json_t *j = json_pack("{s:s, s:s, s:s}", "source", s->key, "title", s->title, "state", states[t->state]);
	if (t->event_length)
		json_object_set_new(j, "event", json_stringn(t->event, t->event_length));
	if (t->state == ACCOUNT_GOOD) {
		json_object_set_new(j, "count", json_integer(t->count));
		json_object_set_new(j, "overlapped_each", json_real((double)t->low_milli / 1000));
		json_object_set_new(j, "exposed_each", json_real((double)t->high_milli / 1000));
		json_object_set_new(j, "overlapped_cycles", json_integer(t->low));
		json_object_set_new(j, "exposed_cycles", json_integer(t->high));
		json_object_set_new(j, "overlap_measured", json_boolean(t->overlap_known));
		json_object_set_new(j, "rescaled", json_boolean(t->rescaled));
	}
	return j;
}

static json_t *whole_or_null(bool there, int64_t v)
{
	return there ? json_integer(v) : json_null();
}

static void print_json(const struct account *a)
{
	json_t *list = json_array(), *j = json_object();
	for (unsigned i = 0; i < account_sources_count; i++)
		json_array_append_new(list, term_json(&account_sources[i], &a->terms[i]));
	json_object_set_new(j, "schema", json_string("stallmeter-account"));
	json_object_set_new(j, "version", json_integer(1));
	json_object_set_new(j, "cycles", whole_or_null(a->has_total, a->total));
	json_object_set_new(j, "retired", whole_or_null(a->has_waste, a->retired));
	json_object_set_new(j, "wasted", whole_or_null(a->has_waste, a->wasted));
	json_object_set_new(j, "stalled", whole_or_null(a->has_stalls, a->stalls));
	json_object_set_new(j, "terms", list);
	json_object_set_new(j, "sum_overlapped", json_integer(a->low));
	json_object_set_new(j, "sum_exposed", json_integer(a->high));
	json_object_set_new(j, "rest_least", whole_or_null(a->has_stalls, a->stalls - a->high));
	json_object_set_new(j, "rest_most", whole_or_null(a->has_stalls, a->stalls - a->low));
	json_object_set_new(j, "open_terms", json_integer(a->open));
	json_object_set_new(j, "clock_of_the_results", a->clock_milli ? json_real((double)a->clock_milli / 1000) : json_null());
	json_dumpf(j, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(j);
}

static int account_run(const struct command *c, int operands, char **operand)
{
	static struct results r;
	static struct counts counts;
	static struct account a;
	char problem[1600], *text = NULL;
	size_t bytes;
	if (operands != 2) {
		complain(c, "two files are expected: a run's results, and what perf stat -x, or perf stat -j wrote");
		return EXIT_BAD_INPUT;
	}
	if (!results_open(c, &r, operand[0]))
		return EXIT_BAD_INPUT;
	int status = EXIT_BAD_INPUT;
	struct account_counts get = counts_of(&counts);
	if (file_read(operand[1], COUNTS_BYTES_MOST, &text, &bytes, problem, sizeof(problem)) != ST_OK ||
	    counts_parse(&counts, text, bytes, operand[1], problem, sizeof(problem)) != ST_OK)
		complain(c, "%s", problem);
	else if (account_of(&r.d, &get, &a) != ST_OK)
		complain(c, "%s: neither cycles nor execution stalls were counted; stallmeter events lists what to count", operand[1]);
	else {
		status = EXIT_GOOD;
		if (!strcmp(format, "json"))
			print_json(&a);
		else if (!strcmp(format, "svg"))
			account_svg(stdout, &a);
		else
			print_table(&a);
	}
	free(text);
	results_free(&r);
	return status;
}

const struct command command_account = {
	"account", "RESULTS COUNTS", "Says where the cycles of your program went, with the penalties of a run.",
	"COUNTS is what `perf stat -x, -o FILE -e LIST` or `perf stat -j -o FILE -e LIST` wrote; `stallmeter events RESULTS`\n"
	"prints the LIST. Each source of stalls is a range, from what it costs when such events overlap to what one costs\n"
	"alone. Events that were not counted, or for a part of the time only, leave their term open.\n",
	account_options, account_run,
};

/* --- events ------------------------------------------------------------------------------------ */

static const struct event *event_find(const struct processor *p, const char *name, size_t length)
{
	for (unsigned i = 0; i < p->event_count; i++)
		if (strlen(p->events[i].name) == length && !strncmp(p->events[i].name, name, length))
			return &p->events[i];
	return NULL;
}

/* perf's own syntax for an event of the tables, perf-list(1): "cpu/event=0xcb,umask=0x2,name=MEM_LOAD_RETIRED.L2_HIT/". */
static void print_event(const struct event *e, unsigned *printed)
{
	if ((*printed)++)
		putchar(',');
	if (!strcmp(e->name, "CPU_CLK_UNHALTED.THREAD") || !strcmp(e->name, "CPU_CLK_UNHALTED.CORE"))
		fputs("cycles", stdout);
	else if (!strcmp(e->name, "CPU_CLK_UNHALTED.REF") || !strcmp(e->name, "CPU_CLK_UNHALTED.REF_TSC"))
		fputs("ref-cycles", stdout);
	else {
		printf("cpu/event=0x%x,umask=0x%x", e->select, e->umask);
		if (e->cmask)
			printf(",cmask=%u", e->cmask);
		if (e->inv)
			fputs(",inv=1", stdout);
		if (e->edge)
			fputs(",edge=1", stdout);
		if (e->any)
			fputs(",any=1", stdout);
		printf(",name=%s/", e->name);
	}
}

static void print_first(const struct processor *p, const char *events, unsigned *printed, unsigned *missing)
{
	for (const char *at = events; *at;) {
		size_t n = strcspn(at, "|");
		const struct event *e = event_find(p, at, n);
		if (e) {
			print_event(e, printed);
			return;
		}
		at += n + (at[n] == '|');
	}
	++*missing;
}

static const char *events_profile;

static unsigned events_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--profile", OPTION_TEXT, &events_profile, "NAME", NULL, 0, 0, "the events of a profile to sample, with sample-after values"},
	};
	for (unsigned i = 0; i < COUNT_OF(all) && i < most; i++)
		list[i] = all[i];
	return COUNT_OF(all);
}

static int events_run(const struct command *c, int operands, char **operand)
{
	static struct results r;
	if (operands != 1) {
		complain(c, "one run is expected: its directory, results.json or journal.jsonl");
		return EXIT_BAD_INPUT;
	}
	if (!results_open(c, &r, operand[0]))
		return EXIT_BAD_INPUT;
	static const char *const identities[] = {ACCOUNT_CYCLES_EVENT, ACCOUNT_REF_EVENT, ACCOUNT_STALL_EVENT, ACCOUNT_ISSUED_EVENT, ACCOUNT_FUSED_EVENT,
		ACCOUNT_RETIRED_EVENT};
	const char *name = doc_string(&r.d, doc_get(&r.d, doc_root(&r.d), "machine"), "descriptor");
	const struct processor *p = NULL;
	for (unsigned i = 0; i < processor_count; i++)
		if (!strcmp(processors[i].name, name))
			p = &processors[i];
	int status = EXIT_BAD_INPUT;
	unsigned printed = 0, missing = 0;
	if (!p)
		complain(c, "%s: no table of the events of \"%.40s\"", r.path, name);
	else if (events_profile)
		status = samples_print(c, &r.d, p, events_profile);
	else {
		for (size_t i = 0; i < COUNT_OF(identities); i++)
			print_first(p, identities[i], &printed, &missing);
		for (unsigned i = 0; i < account_sources_count; i++) {
			print_first(p, account_sources[i].events, &printed, &missing);
			/* its second event, unless another line counts it anyway */
			bool counted = !account_sources[i].minus[0];
			for (unsigned k = 0; k < account_sources_count && !counted; k++)
				counted = !strncmp(account_sources[k].events, account_sources[i].minus, strlen(account_sources[i].minus));
			if (!counted)
				print_first(p, account_sources[i].minus, &printed, &missing);
		}
		putchar('\n');
		if (missing)
			complain(c, "%u events of the accounting do not exist on %s: their terms stay open", missing, p->title);
		complain(c, "more events than counters: count them in several runs of a few events each, so that none is multiplexed");
		status = EXIT_GOOD;
	}
	results_free(&r);
	return status;
}

const struct command command_events = {
	"events", "RESULTS", "Prints the list of events for `perf stat -e` that `stallmeter account` needs.",
	"The list is for the processor of RESULTS, in perf's own syntax, so that perf needs no tables. With --profile it is for\n"
	"`perf record -e`: each event with the sample-after value that makes its samples as many cycles each as those of cycles,\n"
	"two million by the penalty that these RESULTS measured.\n",
	events_options, events_run,
};
