/* runner/options/command.h: the host command's subcommands and what they share. */
#ifndef RUNNER_COMMAND_H
#define RUNNER_COMMAND_H

#include <stdio.h>

#include "pmu/base.h"

/* Exit statuses of the host command, of runner/run.sh and of `make run`; README lists them. */
enum exit_status {
	EXIT_GOOD = 0,
	EXIT_ROWS = 1,      /* a row, comparison or finding is not as expected */
	EXIT_BAD_INPUT = 2, /* refused before anything ran; one line said why */
	EXIT_BROKEN = 3,    /* nothing could be run, or results could not be kept */
	EXIT_STOPPED = 4,   /* the user stopped it; what was written is valid */
};

/* One option of a subcommand. `target` is of the type that `kind` says; it keeps its value if the option is not given. */
enum option_kind {
	OPTION_SWITCH, /* bool: no value, true when given */
	OPTION_TEXT,   /* const char *: any text, not empty */
	OPTION_NUMBER, /* uint64_t: least .. most */
	OPTION_MARK,   /* int: no value, number of operands before it */
	OPTION_CHOICE, /* const char *: one of `choices`, separated by '|' */
};
struct option {
	const char *name;    /* "--seed" */
	enum option_kind kind;
	void *target;
	const char *value;   /* placeholder of the value in the help, "N" */
	const char *choices;
	uint64_t least, most;
	const char *help;
};

struct command {
	const char *name;
	const char *operands; /* as shown in the usage line, "" if there are none */
	const char *summary;  /* one line */
	const char *more;     /* paragraphs of --help below the options, "" if none */
	/* Fills the option list, at most `most` of them. */
	unsigned (*options)(struct option *list, unsigned most);
	/* Runs it with the options' targets filled; returns the exit status. */
	int (*run)(const struct command *c, int operands, char **operand);
};

/* What stands above the list of commands in --help and on the manual page, and below it. */
#define PRODUCT_SUMMARY "Measures what every kind of processor stall costs."
#define PRODUCT_ABOUT \
	"Measures what every kind of processor stall costs. This is the host command; the\n" \
	"application that boots a machine by itself is made by `make image`.\n"
#define PRODUCT_STATUSES \
	"Exit status: 0 success; 1 a row or finding is not as expected; 2 bad input, reported in one line\n" \
	"before anything ran; 3 nothing could be run or results could not be kept; 4 stopped by\n" \
	"Ctrl-C, what was written is valid.\n"

/* runner/commands/version.c: version, build and the versions of the formats. */
void version_print(FILE *to);
/* runner/commands/manual.c: the manual page of a subcommand in man(7) form, from the texts of its --help; of the whole command with c NULL. */
void manual_page(FILE *to, const struct command *c);
/* Completion for bash, of the subcommands and their options. */
void manual_completion(FILE *to);

/* Parses argv after the subcommand's name. Options are --name VALUE or --name=VALUE, "--" ends them. ST_OK; ST_SYNTAX after
 * one line on stderr that says what is wrong and what is allowed; ST_STOPPED after --help was printed. Operands are moved
 * to the front of argv, *operands of them. */
MUST_CHECK enum status options_parse(const struct command *c, const struct option *list, unsigned n, int argc,
                                     char **argv, int *operands);
/* Whether lines of the paragraph have columns: two blanks in a row. */
bool options_is_aligned(const char *at, const char *end);
/* Paragraphs, filled for a terminal of 80 columns; those with columns keep their lines. */
void options_paragraphs(FILE *to, const char *text);
/* A line of a list: the name, padded to that many columns, and its description. */
void options_line(FILE *to, const char *name, unsigned columns, const char *help);
/* What a command's `options` does: copies at most `most` of n options to *list; returns n. */
unsigned options_copy(struct option *list, unsigned most, const struct option *all, unsigned n);
void options_help(FILE *to, const struct command *c, const struct option *list, unsigned n);

/* Prints one line on stderr, "stallmeter run: ...". */
void complain(const struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct results;
/* reader_read; on failure, or for incomplete results, prints why on standard error. False: nothing to free. */
MUST_CHECK bool operand_open(const struct command *c, struct results *r, const char *path);
/* The same for a command that takes exactly one run; reports any other number of operands. */
MUST_CHECK bool operand_open_one(const struct command *c, struct results *r, int operands, char **operand);

#endif
