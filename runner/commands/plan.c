/* runner/commands/plan.c: `stallmeter plan`: a dry run that lists the register writes of a run. */
#include <stdlib.h>
#include <string.h>

#include "bench/suite/listing.h"
#include "bench/measure/reduce.h"
#include "runner/host/backend.h"
#include "runner/options/command.h"

static const char *machine_name, *suite, *profile, *trace_file;
static uint64_t repetitions, seed;

static unsigned plan_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--machine", OPTION_TEXT, &machine_name, "NAME|FILE", NULL, 0, 0, "the simulated machine whose registers are read (default: as `stallmeter list` marks it)"},
		{"--suite", OPTION_TEXT, &suite, "NAMES", NULL, 0, 0,
		 "quick, full, or row names and patterns separated by commas (default: quick)"},
		{"--profile", OPTION_TEXT, &profile, "NAME|EVENTS", NULL, 0, 0, "as for `stallmeter run`"},
		{"--repetitions", OPTION_NUMBER, &repetitions, "N", NULL, 0, SAMPLES_MAX, "samples of each row, 0: the row's own"},
		{"--seed", OPTION_NUMBER, &seed, "N", NULL, 0, UINT64_MAX, "seed of the order of windows; 0: a fixed one"},
		{"--trace", OPTION_TEXT, &trace_file, "FILE", NULL, 0, 0, "write every access, reads included, in the form that `stallmeter replay` reads"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

static void print_lines(void *self, const char *lines)
{
	(void)self;
	fputs(lines, stdout);
}

static void write_trace(void *self, const char *line)
{
	fputs(line, self);
}

static int plan_on(const struct command *c, struct backend *b, const struct suite_settings *s, FILE *trace)
{
	const struct suite_host host = {.print = print_lines, .get = backend_pages_get, .put = backend_pages_put};
	struct suite_plan_summary sum;
	char problem[512];
	enum status st = suite_plan(b->access, s, &host, trace ? write_trace : NULL, trace, &sum, problem, sizeof(problem));
	if (st != ST_OK && problem[0]) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	if (st != ST_OK) {
		complain(c, "nothing could be planned: %s", status_name(st));
		return EXIT_BROKEN;
	}
	printf("%u writes in %u sections; %u registers of cores are restored at the end; nothing was written\n", sum.writes,
	       sum.sections, sum.restored);
	if (sum.refused)
		complain(c, "%u writes are of registers that this processor's description does not list", sum.refused);
	return sum.refused ? EXIT_ROWS : EXIT_GOOD;
}

static int plan_run(const struct command *c, int operands, char **operand)
{
	static struct machine machine;
	char problem[512];
	struct backend b;
	FILE *trace = NULL;
	(void)operands, (void)operand;
	const struct suite_settings s = {
		.suite = suite ? suite : profile ? "" : "quick", .profile = profile, .repetitions = (unsigned)repetitions, .seed = seed, .label = "",
	};
	if (backend_machine(machine_name, &machine, problem, sizeof(problem)) != ST_OK ||
	    suite_check(&s, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	if (backend_open(&b, &machine, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		return EXIT_BROKEN;
	}
	if (trace_file && !(trace = fopen(trace_file, "we"))) {
		complain(c, "--trace %s: cannot be written", trace_file);
		backend_close(&b);
		return EXIT_BAD_INPUT;
	}
	int status = plan_on(c, &b, &s, trace);
	if (trace && (fflush(trace) || ferror(trace) || fclose(trace))) {
		complain(c, "--trace %s: could not be written to its end", trace_file);
		status = status == EXIT_GOOD ? EXIT_BROKEN : status;
	}
	backend_close(&b);
	return status;
}

const struct command command_plan = {
	"plan", "", "Lists every register write that a run would make, and writes nothing.",
	"For each row: core, register, value, the register's purpose, the selected event, and in brackets the document that\n"
	"defines it. At the end: the value to which each register is restored, or a note that it changes by itself and is not restored.\n"
	"Register writes do not depend on measured values, so `stallmeter run` makes exactly these writes on the same machine.\n"
	"In the guest: mode=plan.\n",
	plan_options, plan_run,
};
