/* runner/commands/compare.c: `stallmeter compare`: compares two sides of runs, or the runs of a fleet. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pmu/text.h"
#include "runner/options/command.h"
#include "runner/data/reader.h"
#include "runner/data/statistics.h"
#include "runner/data/surroundings.h"

#define RUNS_MOST 512

static int versus = -1;       /* number of operands before --vs */
static uint64_t fail_over = UINT64_MAX;
static bool all_rows;

static unsigned compare_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--vs", OPTION_MARK, &versus, "B...", NULL, 0, 0, "the runs that follow are the other side"},
		{"--fail-over", OPTION_NUMBER, &fail_over, "PERCENT", NULL, 0, 1000, "exit status 1 when a row changed by more, or is no longer ok"},
		{"--all", OPTION_SWITCH, &all_rows, NULL, NULL, 0, 0, "print rows that did not change as well"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

struct side { struct results **runs; unsigned n; };

/* --- differences of the circumstances ---------------------------------------------------------- */

/* All distinct values that a side's runs have for a key, in the order of the runs. Control bytes become '?'. */
static void side_values(const struct side *s, const char *section, const char *key, char *to, size_t capacity)
{
	struct text t;
	text_init(&t, to, capacity);
	for (unsigned i = 0; i < s->n; i++) {
		char one[512], seen = 0;
		struct text u;
		text_init(&u, one, sizeof(one));
		surroundings_value(&u, &s->runs[i]->d, doc_get(&s->runs[i]->d, surroundings_section(&s->runs[i]->d, section), key));
		str_one_line(one);
		for (unsigned k = 0; k < i && !seen; k++) {
			char other[512];
			text_init(&u, other, sizeof(other));
			surroundings_value(&u, &s->runs[k]->d, doc_get(&s->runs[k]->d, surroundings_section(&s->runs[k]->d, section), key));
			seen = !strcmp(one, other);
		}
		if (!seen)
			text_fmt(&t, "%s%s", t.length ? " | " : "", one);
	}
}

static unsigned differing_keys(const struct side *a, const struct side *b, const char *section, const struct side *from, const struct side *skip)
{
	unsigned found = 0;
	const struct document *d = &from->runs[0]->d;
	for (const struct doc_node *n = doc_begin(d, surroundings_section(d, section)); n; n = doc_next(d, n)) {
		char x[1024], y[1024];
		if (surroundings_of_the_day(n->key) || (!section[0] && (n->type == DOC_LIST || n->type == DOC_OBJECT)))
			continue;
		if (skip && doc_get(&skip->runs[0]->d, surroundings_section(&skip->runs[0]->d, section), n->key) != &skip->runs[0]->d.nodes[0])
			continue; /* compared from the other side's keys */
		side_values(a, section, n->key, x, sizeof(x));
		side_values(b, section, n->key, y, sizeof(y));
		if (!strcmp(x, y))
			continue;
		printf("  %s%s%s: %s  ->  %s\n", section, section[0] ? "." : "", n->key, x, y);
		found++;
	}
	return found;
}

static void print_surroundings(const struct side *a, const struct side *b)
{
	unsigned found = 0;
	puts("What differs around the measurements:");
	for (unsigned i = 0; i < surroundings_sections_count; i++) {
		found += differing_keys(a, b, surroundings_sections[i], a, NULL);
		found += differing_keys(a, b, surroundings_sections[i], b, a);
	}
	if (!found)
		puts("  nothing");
}

/* --- rows -------------------------------------------------------------------------------------- */

struct line {
	const char *name, *unit;
	struct difference d;
	char why[96];
};

static bool measured(const struct document *d, const struct doc_node *row)
{
	const char *status = doc_string(d, row, "status");
	return (!strcmp(status, "ok") || !strcmp(status, "noisy")) && doc_get(d, row, "value")->type == DOC_NUMBER;
}

struct gathered { double value[RUNS_MOST], spread[RUNS_MOST]; unsigned samples[RUNS_MOST], n, there; int64_t revision; bool mixed; const char *status; };

static void gather(const struct side *s, const char *name, struct gathered *g)
{
	g->n = g->there = 0;
	g->revision = -1;
	g->mixed = false;
	g->status = "";
	for (unsigned i = 0; i < s->n; i++) {
		const struct document *d = &s->runs[i]->d;
		const struct doc_node *row = doc_row(d, name);
		if (row->type != DOC_OBJECT)
			continue;
		g->there++;
		int64_t revision = doc_whole(d, row, "revision");
		g->mixed = g->mixed || (g->revision >= 0 && g->revision != revision);
		g->revision = revision;
		if (!measured(d, row)) {
			g->status = doc_string(d, row, "status");
			continue;
		}
		g->value[g->n] = (double)doc_milli(d, row, "value") / 1000;
		g->spread[g->n] = (double)doc_milli(d, row, "spread") / 1000;
		g->samples[g->n++] = (unsigned)doc_whole(d, row, "samples");
	}
}

static void compare_row(const struct side *a, const struct side *b, struct line *l)
{
	static struct gathered x, y;
	gather(a, l->name, &x);
	gather(b, l->name, &y);
	l->d = (struct difference){.p = 1};
	if (!x.there || !y.there) {
		l->d.change = CHANGE_MISSING;
		snprintf(l->why, sizeof(l->why), "only on side %s", x.there ? "A" : "B");
	} else if (x.mixed || y.mixed || x.revision != y.revision) {
		l->d.change = CHANGE_NOT_COMPARABLE;
		snprintf(l->why, sizeof(l->why), "not comparable: method revision %lld, %lld", (long long)x.revision, (long long)y.revision);
	} else if (!x.n || !y.n) {
		l->d.change = CHANGE_STATUS;
		snprintf(l->why, sizeof(l->why), "%s -> %s", x.n ? "ok" : x.status, y.n ? "ok" : y.status);
		if (!x.n && !y.n)
			l->why[0] = 0;
	} else {
		struct boot_variance p = {x.n, x.value, x.spread, x.samples}, q = {y.n, y.value, y.spread, y.samples};
		statistics_difference(&p, &q, &l->d);
	}
}

static int by_size(const void *x, const void *y)
{
	const struct line *a = x, *b = y;
	double p = fabs(a->d.relative), q = fabs(b->d.relative);
	return p > q ? -1 : p < q;
}

static bool has_name(const struct line *lines, unsigned n, const char *name)
{
	for (unsigned i = 0; i < n; i++)
		if (!strcmp(lines[i].name, name))
			return true;
	return false;
}

static unsigned add_names(const struct side *s, struct line *lines, unsigned n, unsigned most)
{
	for (unsigned i = 0; i < s->n; i++) {
		const struct document *d = &s->runs[i]->d;
		for (const struct doc_node *row = doc_begin(d, doc_get(d, doc_root(d), "rows")); row && n < most; row = doc_next(d, row))
			if (!has_name(lines, n, doc_string(d, row, "name")))
				lines[n++] = (struct line){.name = doc_string(d, row, "name"), .unit = doc_string(d, row, "unit")};
	}
	return n;
}

static void print_line(const struct line *l)
{
	bool bandwidth = !strcmp(l->unit, "bytes/s");
	double by = bandwidth ? 1e9 : 1;
	static const char *const verdicts[] = {"no change", "changed", "changed (one boot)", "", "", ""};
	printf("%-40s %12.3f %12.3f %-6s %+8.2f %% %+7.2f %%  %s\n", l->name, l->d.a / by, l->d.b / by, bandwidth ? "GB/s" : l->unit, 100 * l->d.relative,
	       l->d.a > 0 ? 100 * l->d.error / l->d.a : 0, verdicts[l->d.change]);
}

/* Prints the changed rows; returns the number of rows beyond --fail-over. */
static unsigned print_rows(struct line *lines, unsigned n, bool one_boot)
{
	unsigned beyond = 0, changed = 0, compared = 0;
	qsort(lines, n, sizeof(*lines), by_size);
	printf("\n%-40s %12s %12s %-6s %10s %9s  %s\n", "row", "A", "B", "", "change", "error", "verdict");
	for (unsigned i = 0; i < n; i++) {
		bool real = lines[i].d.change == CHANGE_REAL || lines[i].d.change == CHANGE_ONE_BOOT;
		compared += real || lines[i].d.change == CHANGE_NONE;
		changed += real;
		beyond += real && fail_over != UINT64_MAX && 100 * fabs(lines[i].d.relative) > (double)fail_over;
		if (real || (all_rows && lines[i].d.change == CHANGE_NONE))
			print_line(&lines[i]);
	}
	for (unsigned i = 0; i < n; i++)
		if (lines[i].why[0]) {
			printf("%-40s %s\n", lines[i].name, lines[i].why);
			beyond += fail_over != UINT64_MAX && lines[i].d.change == CHANGE_STATUS && !strncmp(lines[i].why, "ok ->", 5);
		}
	printf("%u of %u rows changed by more than the spread %s", changed, compared, one_boot ? "within a boot" : "between boots");
	if (one_boot)
		fputs(" (one boot a side: how much boots differ is not known)", stdout);
	if (fail_over != UINT64_MAX)
		printf("; %u beyond %llu %%", beyond, (unsigned long long)fail_over);
	putchar('\n');
	return beyond;
}

static int compare_sides(const struct side *a, const struct side *b)
{
	enum { LINES_MOST = 4096 };
	struct line *lines = calloc(LINES_MOST, sizeof(*lines));
	struct difference **all = calloc(LINES_MOST, sizeof(*all));
	if (!lines || !all) {
		free(lines);
		free(all);
		return EXIT_BROKEN;
	}
	bool one_boot = a->n == 1 && b->n == 1;
	printf("A: %u boot%s; B: %u boot%s\n", a->n, a->n > 1 ? "s" : "", b->n, b->n > 1 ? "s" : "");
	print_surroundings(a, b);
	unsigned n = add_names(b, lines, add_names(a, lines, 0, LINES_MOST), LINES_MOST);
	for (unsigned i = 0; i < n; i++) {
		compare_row(a, b, &lines[i]);
		all[i] = &lines[i].d;
	}
	statistics_decide(all, n, one_boot);
	unsigned beyond = print_rows(lines, n, one_boot);
	free(all);
	free(lines);
	return beyond ? EXIT_ROWS : EXIT_GOOD;
}

/* --- a fleet ----------------------------------------------------------------------------------- */

/* Prints a row's median and its outliers: values more than 2 % and five standard deviations from the median, by the fleet's deviation or
 * that within a run, whichever is larger. */
static unsigned fleet_row(const struct side *s, const struct line *l)
{
	double values[RUNS_MOST], sorted[RUNS_MOST], work[RUNS_MOST], spread = 0;
	unsigned run[RUNS_MOST], n = 0, outlying = 0;
	int64_t revision = -1;
	bool mixed = false;
	for (unsigned i = 0; i < s->n; i++) {
		const struct document *d = &s->runs[i]->d;
		const struct doc_node *row = doc_row(d, l->name);
		if (row->type != DOC_OBJECT || !measured(d, row))
			continue;
		mixed = mixed || (revision >= 0 && revision != doc_whole(d, row, "revision"));
		revision = doc_whole(d, row, "revision");
		run[n] = i;
		spread = fmax(spread, (double)doc_milli(d, row, "spread") / 1000);
		sorted[n] = values[n] = (double)doc_milli(d, row, "value") / 1000;
		n++;
	}
	if (!n)
		return 0;
	double by = strcmp(l->unit, "bytes/s") ? 1 : 1e9, median = statistics_median(sorted, n), mad = statistics_deviation(values, n, median, work);
	if (mixed) {
		printf("%-40s not comparable: several method revisions\n", l->name);
		return 0;
	}
	printf("%-40s %12.3f %10.3f %5u ", l->name, median / by, mad / by, n);
	for (unsigned i = 0; n >= 4 && i < n; i++)
		if (fabs(values[i] - median) > fmax(5 * 1.4826 * fmax(mad, spread), 0.02 * fabs(median))) {
			printf(" %s %.3f (%+.1f %%)", s->runs[run[i]]->path, values[i] / by, median > 0 ? 100 * (values[i] - median) / median : 0);
			outlying++;
		}
	putchar('\n');
	return outlying;
}

static int fleet(const struct side *s)
{
	enum { LINES_MOST = 4096 };
	struct line *lines = calloc(LINES_MOST, sizeof(*lines));
	unsigned outlying = 0;
	if (!lines)
		return EXIT_BROKEN;
	printf("%u runs\n%-40s %12s %10s %5s  %s\n", s->n, "row", "median", "deviation", "runs", s->n < 4 ? "(fewer than 4: none is called outlying)" : "outlying");
	unsigned n = add_names(s, lines, 0, LINES_MOST);
	for (unsigned i = 0; i < n; i++)
		outlying += fleet_row(s, &lines[i]);
	printf("%u outlying value%s\n", outlying, outlying == 1 ? "" : "s");
	free(lines);
	return outlying && fail_over != UINT64_MAX ? EXIT_ROWS : EXIT_GOOD;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static int compare_read(const struct command *c, int operands, char **operand, struct results **runs)
{
	for (int i = 0; i < operands; i++) {
		runs[i] = calloc(1, sizeof(**runs));
		if (!runs[i])
			return EXIT_BROKEN;
		if (!operand_open(c, runs[i], operand[i]))
			return EXIT_BAD_INPUT;
		for (int k = 0; k < i; k++)
			if ((k < versus) == (i < versus) && same_file(runs[k]->path, runs[i]->path)) {
				complain(c, "%s: given twice on one side", operand[i]);
				return EXIT_BAD_INPUT;
			}
	}
	return EXIT_GOOD;
}

static int compare_command(const struct command *c, int operands, char **operand)
{
	static struct results *runs[RUNS_MOST];
	if (operands < (versus < 0 ? 1 : 2) || versus == 0 || versus == operands) {
		complain(c, "runs are expected: A... --vs B..., or a fleet of runs without --vs");
		return EXIT_BAD_INPUT;
	}
	if (operands > RUNS_MOST) {
		complain(c, "%d runs; at most %d", operands, RUNS_MOST);
		return EXIT_BAD_INPUT;
	}
	int status = compare_read(c, operands, operand, runs);
	if (status == EXIT_GOOD && versus < 0)
		status = fleet(&(struct side){runs, (unsigned)operands});
	else if (status == EXIT_GOOD)
		status = compare_sides(&(struct side){runs, (unsigned)versus}, &(struct side){runs + versus, (unsigned)(operands - versus)});
	for (int i = 0; i < operands && runs[i]; i++) {
		reader_free(runs[i]);
		free(runs[i]);
	}
	return status;
}

const struct command command_compare = {
	"compare", "RUN...", "Compares the circumstances of runs, and lists rows that differ by more than boots do.",
	"`compare A1 A2 --vs B1 B2` compares two sides; give several boots of each, since a change is judged by the spread\n"
	"between boots. 99.5 % of all comparisons of two equal tables report no changed row\n"
	"(Student's t with the spread between boots, Holm over the rows). `error` is the standard error of\n"
	"the change. Without --vs the runs are a fleet: median, deviation and outlying machines of each row.\n",
	compare_options, compare_command,
};
