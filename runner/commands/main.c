/* runner/commands/main.c: entry of the host command; finds the subcommand. */
#include <string.h>

#include "runner/commands/commands.h"

static void help(FILE *to)
{
	options_paragraphs(to, "usage: stallmeter COMMAND [OPTION]...\n\n" PRODUCT_ABOUT "\nCommands:\n");
	for (unsigned i = 0; i < commands_count; i++)
		options_line(to, commands[i]->name, 10, commands[i]->summary);
	options_paragraphs(to, "\nstallmeter COMMAND --help describes a command; stallmeter --version prints version and commit, stallmeter --man [COMMAND]\n"
	      "a manual page, stallmeter --completion the completion for bash.\n\n" PRODUCT_STATUSES);
}

static const struct command *command_named(const char *name)
{
	for (unsigned i = 0; i < commands_count; i++)
		if (!strcmp(name, commands[i]->name))
			return commands[i];
	fprintf(stderr, "stallmeter: \"%s\": no such command; allowed:", name);
	for (unsigned i = 0; i < commands_count; i++)
		fprintf(stderr, " %s", commands[i]->name);
	fputc('\n', stderr);
	return NULL;
}

/* Handles options without a subcommand. False: argv[1] is not one of these. */
static bool about(int argc, char **argv, int *status)
{
	const char *word = argv[1];
	*status = EXIT_GOOD;
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		help(stdout);
	else if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		version_print(stdout);
	else if (!strcmp(word, "--completion"))
		manual_completion(stdout);
	else if (!strcmp(word, "--man")) {
		const struct command *c = argc > 2 ? command_named(argv[2]) : NULL;
		if (argc > 2 && !c)
			*status = EXIT_BAD_INPUT;
		else
			manual_page(stdout, c);
	} else
		return false;
	if (fflush(stdout) || ferror(stdout))
		*status = EXIT_BROKEN;
	return true;
}

int main(int argc, char **argv)
{
	int status;
	if (argc < 2) {
		fputs("stallmeter: a command is expected; stallmeter --help lists them\n", stderr);
		return EXIT_BAD_INPUT;
	}
	if (about(argc, argv, &status))
		return status;
	const struct command *c = command_named(argv[1]);
	if (!c)
		return EXIT_BAD_INPUT;
	struct option list[32];
	unsigned n = c->options(list, COUNT_OF(list));
	int operands = 0;
	enum status s = options_parse(c, list, n, argc - 2, argv + 2, &operands);
	if (s == ST_STOPPED)
		return EXIT_GOOD;
	if (s != ST_OK)
		return EXIT_BAD_INPUT;
	status = c->run(c, operands, argv + 2);
	if (fflush(stdout) || ferror(stdout)) {
		complain(c, "standard output could not be written");
		return status == EXIT_GOOD ? EXIT_BROKEN : status;
	}
	return status;
}
