/* runner/commands/fleet.c: `stallmeter fleet`: finds machines that deviate from others of their product, and machines that drift. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/options/command.h"
#include "runner/commands/fleet.h"

#define ROWS_SHOWN 10u

static const char *by = "product", *html_file;
static bool all;

static unsigned fleet_options(struct option *list, unsigned most)
{
	const struct option options[] = {
		{"--by", OPTION_CHOICE, &by, "product|bios|microcode", "product|bios|microcode", 0, 0,
		 "how runs are grouped: by product, by BIOS or by microcode (default: product)"},
		{"--html", OPTION_TEXT, &html_file, "FILE", NULL, 0, 0, "also draw the result, as one self-contained file"},
		{"--all", OPTION_SWITCH, &all, NULL, NULL, 0, 0, "print every outlying row of a run, not only the first ten"},
	};
	for (unsigned i = 0; i < COUNT_OF(options) && i < most; i++)
		list[i] = options[i];
	return COUNT_OF(options);
}

static void unread(void *self, const char *line)
{
	complain(self, "%s; left out", line);
}

static unsigned machines_of(const struct fleet *f)
{
	unsigned n = 0;
	for (unsigned i = 0; i < f->run_count; i++)
		n += !i || f->runs[i].machine != f->runs[i - 1].machine || f->runs[i].product != f->runs[i - 1].product;
	return n;
}

static void print_finding(const struct fleet *f, const struct fleet_finding *x)
{
	const struct fleet_row *row = &f->rows[x->row];
	bool rate = !strcmp(row->unit, "bytes/s");
	double scale = rate ? 1e9 : 1;
	if (x->status) {
		printf("  %-40s %s, most are %s\n", row->name, x->status, x->usual);
		return;
	}
	printf("  %-40s %.3f %s, %s %.3f", row->name, x->value / scale, rate ? "GB/s" : row->unit, x->drift ? "at first" : "median", x->median / scale);
	if (x->median != 0)
		printf(" (%+.1f %%)", 100 * (x->value - x->median) / fabs(x->median));
	putchar('\n');
}

/* Prints the settings and circumstances in which this run differs from most of its group. */
static void print_differences(const struct fleet *f, const struct fleet_run *r)
{
	for (unsigned i = 0; i < r->fact_count; i++) {
		unsigned have, of;
		const char *usual = fleet_usual(f, r->group, r->facts[i].key, &have, &of);
		if (usual != r->facts[i].value && 2 * have > of)
			printf("  differs: %s: %.100s; %u of %u have %.100s\n", r->facts[i].key, r->facts[i].value, have, of, usual);
	}
}

enum listed { LIST_OUTLIERS, LIST_DRIFTS };

/* Prints the findings of one kind, run by run; returns the number of runs with findings. */
static unsigned print_findings(const struct fleet *f, enum listed listed)
{
	const bool drift = listed == LIST_DRIFTS;
	unsigned runs = 0, last = UINT32_MAX, rows = 0;
	for (unsigned i = 0; i < f->finding_count; i++) {
		const struct fleet_finding *x = &f->findings[i];
		const struct fleet_run *r = &f->runs[x->run];
		if (x->drift != drift)
			continue;
		if (x->run != last) {
			printf("%s\n", drift ? r->machine : r->path);
			if (!drift)
				print_differences(f, r);
			last = x->run;
			rows = 0;
			runs++;
		}
		if (all || rows < ROWS_SHOWN)
			print_finding(f, x);
		bool ends = i + 1 == f->finding_count || f->findings[i + 1].run != x->run || f->findings[i + 1].drift != drift;
		rows++;
		if (ends && !all && rows > ROWS_SHOWN)
			printf("  and %u more rows; --all shows them\n", rows - ROWS_SHOWN);
	}
	return runs;
}

static int print_fleet(const struct fleet *f)
{
	unsigned machines = machines_of(f);
	printf("%u run%s of %u machine%s in %u group%s, %u rows\n", f->run_count, f->run_count == 1 ? "" : "s", machines, machines == 1 ? "" : "s",
	       f->group_count, f->group_count == 1 ? "" : "s", f->row_count);
	for (unsigned g = 0; g < f->group_count; g++)
		printf("  %5u %s%s\n", f->groups[g].runs, f->groups[g].name, f->groups[g].runs < FLEET_RUNS_LEAST ? " (too few: none is called outlying)" : "");
	puts("\nOutlying runs, against the median of their group:");
	unsigned outlying = print_findings(f, LIST_OUTLIERS);
	if (!outlying)
		puts("none");
	puts("\nMachines that drifted, from the first third of their runs to the last:");
	unsigned drifted = print_findings(f, LIST_DRIFTS);
	if (!drifted)
		puts("none");
	printf("\n%u outlying run%s, %u machine%s drifted\n", outlying, outlying == 1 ? "" : "s", drifted, drifted == 1 ? "" : "s");
	return outlying || drifted ? EXIT_ROWS : EXIT_GOOD;
}

static int fleet_command(const struct command *c, int operands, char **operand)
{
	struct fleet f = {0};
	char problem[1600];
	int status = EXIT_GOOD;
	if (!operands) {
		complain(c, "a folder of runs is expected; stallmeter collect fills one");
		return EXIT_BAD_INPUT;
	}
	for (int i = 0; i < operands && status == EXIT_GOOD; i++) {
		enum status st = fleet_add(&f, operand[i], unread, (void *)(uintptr_t)c, problem, sizeof(problem));
		if (st != ST_OK) {
			complain(c, "%s", st == ST_FULL ? "no memory for so many runs" : problem);
			status = st == ST_FULL ? EXIT_BROKEN : EXIT_BAD_INPUT;
		}
	}
	if (status == EXIT_GOOD && !f.run_count) {
		complain(c, "%s: no run in it that can be read", operand[0]);
		status = EXIT_BAD_INPUT;
	}
	enum fleet_by how = !strcmp(by, "bios") ? FLEET_BY_BIOS : !strcmp(by, "microcode") ? FLEET_BY_MICROCODE : FLEET_BY_PRODUCT;
	if (status == EXIT_GOOD && (fleet_group_by(&f, how) != ST_OK || fleet_judge(&f) != ST_OK)) {
		complain(c, "no memory for so many runs");
		status = EXIT_BROKEN;
	}
	if (status == EXIT_GOOD) {
		status = print_fleet(&f);
		FILE *to = html_file ? fopen(html_file, "we") : NULL;
		if (to)
			fleet_html(to, &f);
		if (html_file && (!to || ferror(to) || fclose(to))) {
			complain(c, "--html %s: cannot be written", html_file);
			status = EXIT_BROKEN;
		} else if (html_file)
			printf("drawn: %s\n", html_file);
	}
	fleet_free(&f);
	return status;
}

const struct command command_fleet = {
	"fleet", "DIR...", "Finds machines that deviate from others of the same product, and machines that drift.",
	"DIR is a folder of runs, such as `stallmeter collect` fills. A run is an outlier if a row lies more than 6 robust\n"
	"deviations (1.4826 times the median absolute deviation, of the group or within a run, whichever is larger) and more than\n"
	"2 % from the median of its group, or has no value where nine of ten runs have one. Groups of fewer than four runs have no\n"
	"outliers. For each outlier the differences of its firmware, machine and settings from most of the group are listed.\n"
	"A machine with five or more runs has drifted if the medians of its first and its last third differ by as much,\n"
	"in deviations from one run to the next.\n"
	"\n"
	"Exit status: 0 nothing found, 1 a run is outlying or a machine drifted, 2 no such folder or no run in it.\n",
	fleet_options, fleet_command,
};
