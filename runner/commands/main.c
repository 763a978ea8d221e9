/* runner/commands/main.c: the host command: finds the subcommand. */
#include <string.h>

#include "runner/commands/command.h"

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "runner/commands/commands.def"
#undef COMMAND
};

static void help(FILE *to)
{
	fputs("usage: stallmeter COMMAND [OPTION]...\n\n"
	      "Measures what every kind of processor stall costs. This is the host command; the\n"
	      "application that boots a machine by itself is made by `make image`.\n\nCommands:\n", to);
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\nstallmeter COMMAND --help tells more of each.\n\n"
	      "Exit status: 0 well; 1 a row or finding is not as expected; 2 bad input, said in one line\n"
	      "before anything ran; 3 nothing could be run or results could not be kept; 4 stopped by\n"
	      "Ctrl-C, what was written is valid.\n", to);
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("stallmeter: a command is expected; stallmeter --help lists them\n", stderr);
		return EXIT_BAD_INPUT;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		help(stdout);
		return EXIT_GOOD;
	}
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		const struct command *c = commands[i];
		if (strcmp(argv[1], c->name))
			continue;
		struct option list[32];
		unsigned n = c->options(list, COUNT_OF(list));
		int operands = 0;
		enum status s = options_parse(c, list, n, argc - 2, argv + 2, &operands);
		if (s == ST_STOPPED)
			return EXIT_GOOD;
		if (s != ST_OK)
			return EXIT_BAD_INPUT;
		int status = c->run(c, operands, argv + 2);
		if (fflush(stdout) || ferror(stdout)) {
			complain(c, "standard output could not be written");
			return status == EXIT_GOOD ? EXIT_BROKEN : status;
		}
		return status;
	}
	fprintf(stderr, "stallmeter: \"%s\": no such command; allowed:", argv[1]);
	for (size_t i = 0; i < COUNT_OF(commands); i++)
		fprintf(stderr, " %s", commands[i]->name);
	fputc('\n', stderr);
	return EXIT_BAD_INPUT;
}
