/* runner/list.c: what there is to choose from. */
#include "pmu/sim/machine.h"
#include "runner/command.h"

static bool machines;

static unsigned list_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--machines", OPTION_SWITCH, &machines, NULL, NULL, 0, 0, "the simulated machines that are built in"},
	};
	for (unsigned i = 0; i < COUNT_OF(all) && i < most; i++)
		list[i] = all[i];
	return COUNT_OF(all);
}

static int list_run(const struct command *c, int operands, char **operand)
{
	(void)c, (void)operands, (void)operand;
	for (unsigned i = 0; i < machine_files_count; i++)
		printf("%s\n", machine_files[i].name);
	return EXIT_GOOD;
}

const struct command command_list = {
	"list", "", "Lists machines and rows.", "Without an option: everything.\n", list_options, list_run,
};
