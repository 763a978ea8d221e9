/* runner/commands/account.c: `stallmeter account` and `stallmeter events`: cycle accounting of the user's own program. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "runner/export/account_svg.h"
#include "pmu/text.h"
#include "runner/options/command.h"
#include "runner/data/counts.h"
#include "runner/data/file.h"
#include "runner/data/perf_event.h"
#include "runner/data/reader.h"
#include "runner/commands/samples.h"
#include "tables/processor.h"

#define COUNTS_BYTES_MOST (1u << 20)

static const char *format = "table";

static unsigned account_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--format", OPTION_CHOICE, &format, "table|json|svg", "table|json|svg", 0, 0, "output format (default: table)"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

static const char *why_open(const struct account_term *t)
{
	static char none[160];
	switch (t->state) {
	case ACCOUNT_NO_EVENT: return "event not counted: left open";
	case ACCOUNT_MULTIPLEXED: return "event multiplexed: left open";
	case ACCOUNT_NO_PENALTY: return "no proved penalty in these results: left open";
	case ACCOUNT_NO_CONCEPT:
		snprintf(none, sizeof(none), "this processor counts none: %s", t->count_of ? t->count_of->why : "its events are not known");
		return none;
	default: return t->needs_clock ? "uncore part not rescaled: reference cycles or the uncore's residence are missing" : "";
	}
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
	const bool stalls = a->has_stalls || a->at_retirement;
	const int64_t all = stalls ? a->bounds.stalls : a->total;
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
	if (a->at_retirement)
		print_share("stalled at retirement, which the sources explain", a->bounds.stalls, a->total);
	printf("\n%-50s %14s %19s %23s %10s %s\n", "source of stalls", "count", "cycles each", "cycles", "charged", stalls ? "of all stalls" : "of all cycles");
	for (unsigned i = 0; i < stall_term_count; i++) {
		const struct account_term *t = &a->terms[i];
		const char *title = stall_terms[i].title;
		if (t->state != ACCOUNT_GOOD) {
			printf("%-50s %14s %s\n", title, "-", why_open(t));
			continue;
		}
		printf("%-50s %14" PRId64 " %8.2f to %7.2f %10" PRId64 " to %9" PRId64 " %10" PRId64 "  %.1f %%%s%s\n", title, t->count, (double)t->low_milli / 1000,
		       (double)t->high_milli / 1000, t->low, t->high, t->charged, percent(t->charged, all), why_open(t)[0] ? "; " : "", why_open(t));
	}
	printf("%-50s %14s %19s %10" PRId64 " to %9" PRId64 " %10" PRId64 "  %.1f %%\n", "sum", "", "overlapped, exposed", a->low, a->high, a->charged,
	       percent(a->charged, all));
	if (a->high > a->charged)
		printf("%-50s %14s %19s %23s %10" PRId64 "  costs that overlapped: not charged\n", "overlap", "", "", "", a->high - a->charged);
	if (stalls)
		printf("%-50s %14s %19s %23s %10" PRId64 "  %.1f %%\n", "unaccounted rest", "", "", "", all - a->charged, percent(all - a->charged, all));
	if (a->bounds.misses >= 0)
		printf("loads that miss are charged at most the %" PRId64 " cycles with a miss in flight\n", a->bounds.misses);
	if (a->bounds.front_end >= 0)
		printf("the front end is charged at most the %" PRId64 " cycles that it delivered nothing or work that was wasted\n", a->bounds.front_end);
	if (a->open)
		printf("%u terms are open: the rest holds whatever they cost\n", a->open);
	if (a->clock_milli)
		printf("core clock of the program: %.3f of that of the results\n", (double)a->clock_milli / 1000);
}

static json_t *term_json(const struct stall_term *s, const struct account_term *t)
{
	static const char *const states[] = {"ok", "not counted", "multiplexed", "no penalty", "no event"};
	json_t *j = json_pack("{s:s, s:s, s:s}", "source", s->key, "title", s->title, "state", states[t->state]);
	if (t->state == ACCOUNT_NO_CONCEPT)
		json_object_set_new(j, "why", json_string(why_open(t)));
	else
		json_object_set_new(j, "event", json_string(t->count_of->text));
	if (t->state == ACCOUNT_GOOD) {
		json_object_set_new(j, "count", json_integer(t->count));
		json_object_set_new(j, "overlapped_each", json_real((double)t->low_milli / 1000));
		json_object_set_new(j, "exposed_each", json_real((double)t->high_milli / 1000));
		json_object_set_new(j, "overlapped_cycles", json_integer(t->low));
		json_object_set_new(j, "exposed_cycles", json_integer(t->high));
		json_object_set_new(j, "charged_cycles", json_integer(t->charged));
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
	for (unsigned i = 0; i < stall_term_count; i++)
		json_array_append_new(list, term_json(&stall_terms[i], &a->terms[i]));
	json_object_set_new(j, "schema", json_string("stallmeter-account"));
	json_object_set_new(j, "version", json_integer(1));
	json_object_set_new(j, "cycles", whole_or_null(a->has_total, a->total));
	json_object_set_new(j, "retired", whole_or_null(a->has_waste, a->retired));
	json_object_set_new(j, "wasted", whole_or_null(a->has_waste, a->wasted));
	json_object_set_new(j, "stalled", whole_or_null(a->has_stalls, a->stalls));
	json_object_set_new(j, "terms", list);
	json_object_set_new(j, "sum_overlapped", json_integer(a->low));
	json_object_set_new(j, "sum_exposed", json_integer(a->high));
	json_object_set_new(j, "sum_charged", json_integer(a->charged));
	json_object_set_new(j, "overlap", json_integer(a->high - a->charged));
	json_object_set_new(j, "rest", whole_or_null(a->has_stalls || a->at_retirement, a->bounds.stalls - a->charged));
	json_object_set_new(j, "rest_of", json_string(a->at_retirement ? "retirement" : "execution"));
	json_object_set_new(j, "stalls_explained", whole_or_null(a->has_stalls || a->at_retirement, a->bounds.stalls));
	json_object_set_new(j, "cycles_with_misses", whole_or_null(a->bounds.misses >= 0, a->bounds.misses));
	json_object_set_new(j, "front_end_cycles", whole_or_null(a->bounds.front_end >= 0, a->bounds.front_end));
	json_object_set_new(j, "open_terms", json_integer(a->open));
	json_object_set_new(j, "clock_of_the_results", a->clock_milli ? json_real((double)a->clock_milli / 1000) : json_null());
	json_dumpf(j, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(12));
	putchar('\n');
	json_decref(j);
}

static enum status read_counts(const struct command *c, struct counts *counts, const char *file)
{
	char problem[1600], *text = NULL;
	size_t bytes;
	enum status st = file_read(file, COUNTS_BYTES_MOST, &text, &bytes, problem, sizeof(problem));
	if (st == ST_OK)
		st = counts_parse(counts, text, bytes, file, problem, sizeof(problem));
	if (st != ST_OK)
		complain(c, "%s", problem);
	free(text);
	return st;
}

/* Reports why there is no accounting: a count that it needs was multiplexed or is missing. */
static void complain_uncounted(const struct command *c, const struct counts *counts, const char *file)
{
	char names[256];
	struct text t;
	text_init(&t, names, sizeof(names));
	for (unsigned i = 0; i < counts->n && t.length < 160; i++)
		if (counts->list[i].state == COUNT_MULTIPLEXED)
			text_fmt(&t, "%s%s", t.length ? ", " : "", counts->list[i].event);
	if (t.length)
		complain(c, "%s: perf multiplexed %s, and counted for a part of the time only: count fewer events a run; stallmeter events --groups N prints such lines", file, names);
	else
		complain(c, "%s: neither cycles nor execution stalls were counted; stallmeter events lists what to count", file);
}

#define EVENTS_MOST 128u

struct event_list { const struct event *events[EVENTS_MOST]; unsigned n; };

static void add_event(struct event_list *l, const struct event *e)
{
	for (unsigned i = 0; i < l->n; i++)
		if (l->events[i] == e)
			return;
	if (e && l->n < EVENTS_MOST)
		l->events[l->n++] = e;
}

/* Lists the events that the accounting needs on this processor, those of the identities first. Returns the number of terms without events. */
static unsigned account_events(const struct processor *p, struct event_list *l)
{
	unsigned missing = 0;
	for (unsigned i = 0; i < STALL_IDENTITIES; i++)
		add_event(l, stall_identity_event(p, i));
	for (unsigned t = 0; t < stall_term_count; t++) {
		const struct expression *x = stall_count(p, t);
		missing += !x || !x->term_count;
		for (unsigned i = 0; x && i < x->term_count; i++)
			add_event(l, x->terms[i].event);
	}
	return missing;
}

/* Appends a count's name to a list with commas, unless the list is already long. */
static void add_name(struct text *t, const char *name)
{
	if (t->length < 160)
		text_fmt(t, "%s%s", t->length ? ", " : "", name);
}

/* Reports counts that the accounting could not use: multiplexed ones, and those of events that no term uses. */
static void say_unused(const struct command *c, const struct counts *counts, const struct account *a)
{
	static struct event_list known;
	char part[256], none[256];
	struct text multiplexed, unknown;

	text_init(&multiplexed, part, sizeof(part));
	text_init(&unknown, none, sizeof(none));
	known.n = 0;
	account_events(a->processor, &known);
	for (unsigned i = 0; i < counts->n; i++) {
		bool used = false;
		for (unsigned e = 0; e < known.n && !used; e++)
			used = perf_event_is(a->processor, known.events[e], counts->list[i].event);
		if (!used)
			add_name(&unknown, counts->list[i].event);
		else if (counts->list[i].state == COUNT_MULTIPLEXED)
			add_name(&multiplexed, counts->list[i].event);
	}
	if (multiplexed.length)
		complain(c, "multiplexed, counted for a part of the time only, and left open: %s; stallmeter events --groups N prints lists that fit", part);
	if (unknown.length)
		complain(c, "no term is of these counts, which are left out: %s", none);
	if (a->has_total && (a->at_retirement ? a->bounds.stalls : a->has_stalls ? a->stalls : 0) > a->total)
		complain(c, "more stalls than cycles were counted: the counts are not of one run");
}

static int account_run(const struct command *c, int operands, char **operand)
{
	static struct results r;
	static struct counts counts;
	static struct account a;
	enum status st = ST_OK;
	if (operands < 2) {
		complain(c, "files are expected: a run's results, and the output of perf stat -x, or perf stat -j, one file per run of your program");
		return EXIT_BAD_INPUT;
	}
	if (!operand_open(c, &r, operand[0]))
		return EXIT_BAD_INPUT;
	int status = EXIT_BAD_INPUT;
	struct account_counts get = counts_of(&counts);
	for (int i = 1; i < operands && st == ST_OK; i++)
		st = read_counts(c, &counts, operand[i]);
	if (st != ST_OK)
		;
	else if (!user_account_processor(&r.d))
		complain(c, "%s: no table of the events of \"%.40s\"", r.path, doc_string(&r.d, doc_get(&r.d, doc_root(&r.d), "machine"), "descriptor"));
	else if (user_account_of(&r.d, &get, &a) != ST_OK)
		complain_uncounted(c, &counts, operand[1]);
	else {
		status = EXIT_GOOD;
		if (!strcmp(format, "json"))
			print_json(&a);
		else if (!strcmp(format, "svg"))
			account_svg(stdout, &a);
		else
			print_table(&a);
		fflush(stdout);
		say_unused(c, &counts, &a);
	}
	reader_free(&r);
	return status;
}

const struct command command_account = {
	"account", "RESULTS COUNTS...", "Shows where the cycles of your program went, with the penalties of a run.",
	"COUNTS is the output of `perf stat -x, -o FILE -e LIST` or `perf stat -j -o FILE -e LIST`; `stallmeter events RESULTS`\n"
	"prints the LIST. Several files hold several runs of the program; their counts are scaled to the cycles of the first.\n"
	"Each source of stalls is a range: the lower end assumes that its events overlap, the upper end that they do not. `charged` is\n"
	"limited by the stalls, the cycles with a miss in flight and the starved cycles of the front end. A term stays\n"
	"open if its events were not counted, or only for part of the time.\n",
	account_options, account_run,
};

/* --- events ------------------------------------------------------------------------------------ */

/* Removes the events that perf cannot program, and reports them. */
static void drop_unprogrammable(const struct command *c, const struct processor *p, struct event_list *l)
{
	unsigned n = 0;
	for (unsigned i = 0; i < l->n; i++) {
		char text[256];
		const char *why = "it is too long";
		if (perf_event_text(p, l->events[i], 0, text, sizeof(text), &why) == ST_OK)
			l->events[n++] = l->events[i];
		else
			complain(c, "%s is left out: %s", l->events[i]->name, why);
	}
	l->n = n;
}

static void print_list(const struct processor *p, const struct event *const *events, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char text[256];
		const char *why;
		if (perf_event_text(p, events[i], 0, text, sizeof(text), &why) == ST_OK)
			printf("%s%s", i ? "," : "", text);
	}
}

/* Prints `perf stat` commands, each with cycles and as many other events as fit the counters. */
static void print_groups(const struct processor *p, struct event_list *l, unsigned counters)
{
	const struct event *cycles = stall_identity_event(p, STALL_CYCLES);
	bool printed[EVENTS_MOST] = {false};
	for (unsigned n = 1, left = 1; left; n++) {
		const struct event *group[EVENTS_MOST] = {cycles};
		unsigned size = 1;
		left = 0;
		for (unsigned i = 0; i < l->n; i++) {
			if (printed[i] || l->events[i] == cycles)
				continue;
			group[size] = l->events[i];
			if (perf_events_fit(group, size + 1, counters)) {
				printed[i] = true;
				size++;
			} else
				left++;
		}
		if (size == 1)
			break; /* the remaining events need more counters than there are */
		printf("perf stat -x, -o counts.%u.csv -e ", n);
		print_list(p, group, size);
		puts(" -- PROGRAM");
	}
}

static uint64_t events_groups;

static int print_events(const struct command *c, const struct processor *p)
{
	struct event_list l = {.n = 0};
	const unsigned missing = account_events(p, &l);
	drop_unprogrammable(c, p, &l);
	if (!l.n) {
		complain(c, "perf can program no event of the accounting on %s", p->title);
		return EXIT_ROWS;
	}
	if (missing)
		complain(c, "%u terms of the accounting stay open: %s has no event for them", missing, p->title);
	if (events_groups) {
		print_groups(p, &l, (unsigned)events_groups);
		return EXIT_GOOD;
	}
	print_list(p, l.events, l.n);
	putchar('\n');
	complain(c, "more events than counters: --groups N prints them in groups for N counters, so that none is multiplexed");
	return EXIT_GOOD;
}

static const char *events_profile;

static unsigned events_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--profile", OPTION_TEXT, &events_profile, "NAME", NULL, 0, 0, "the events of a profile to sample, with sample-after values"},
		{"--groups", OPTION_NUMBER, &events_groups, "N", NULL, 1, 16, "lines of perf stat for N general counters, each a run of the program"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

static int events_run(const struct command *c, int operands, char **operand)
{
	static struct results r;
	if (!operand_open_one(c, &r, operands, operand))
		return EXIT_BAD_INPUT;
	const struct processor *p = user_account_processor(&r.d);
	int status = EXIT_BAD_INPUT;
	if (!p)
		complain(c, "%s: no table of the events of \"%.40s\"", r.path, doc_string(&r.d, doc_get(&r.d, doc_root(&r.d), "machine"), "descriptor"));
	else
		status = events_profile ? samples_print(c, &r.d, p, events_profile) : print_events(c, p);
	reader_free(&r);
	return status;
}

const struct command command_events = {
	"events", "RESULTS", "Prints the list of events for `perf stat -e` that `stallmeter account` needs.",
	"The list is for the processor of RESULTS, in raw perf syntax, so perf needs no tables. With --profile it is for\n"
	"`perf record -e`: by the penalties in RESULTS, the sample-after value of each event makes one sample stand for two\n"
	"million cycles.\n",
	events_options, events_run,
};
