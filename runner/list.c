/* runner/list.c: what there is to choose from. */
#include "bench/row.h"
#include "pmu/sim/machine.h"
#include "runner/command.h"

static bool machines, row_names;

static unsigned list_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--machines", OPTION_SWITCH, &machines, NULL, NULL, 0, 0, "the simulated machines that are built in"},
		{"--rows", OPTION_SWITCH, &row_names, NULL, NULL, 0, 0, "the rows of the benchmark table and their suites"},
	};
	for (unsigned i = 0; i < COUNT_OF(all) && i < most; i++)
		list[i] = all[i];
	return COUNT_OF(all);
}

static int list_run(const struct command *c, int operands, char **operand)
{
	(void)c, (void)operands, (void)operand;
	bool all = !machines && !row_names;
	if (all)
		puts("Simulated machines:");
	for (unsigned i = 0; (all || machines) && i < machine_files_count; i++)
		printf("%s%s\n", all ? "  " : "", machine_files[i].name);
	if (all)
		puts("Rows (q: in the quick suite too):");
	for (unsigned i = 0; (all || row_names) && i < rows_count; i++)
		printf("%s%-30s %s  %s\n", all ? "  " : "", rows[i].name, rows[i].suites & SUITE_QUICK ? "q" : " ", rows[i].asks);
	return EXIT_GOOD;
}

const struct command command_list = {
	"list", "", "Lists machines and rows.", "Without an option: everything.\n", list_options, list_run,
};
