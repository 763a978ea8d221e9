/* runner/options/command.h: the host command's subcommands, their options and messages. */
#ifndef RUNNER_COMMAND_H
#define RUNNER_COMMAND_H

#include <stdio.h>

#include "pmu/base.h"

/* Exit statuses of the host command, of runner/run.sh and of `make run`; README lists them. */
enum exit_status {
	EXIT_GOOD = 0,
	EXIT_ROWS = 1,      /* a row, comparison or finding is not as expected */
	EXIT_BAD_INPUT = 2, /* refused before anything ran, with one line */
	EXIT_BROKEN = 3,    /* nothing could be run, or results could not be kept */
	EXIT_STOPPED = 4,   /* the user stopped it; what was written is valid */
};

/* One option of a subcommand. `kind` determines the type of *target, which keeps its value if the option is not given. */
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
	const char *more;     /* paragraphs of --help after the options, "" if none */
	/* Fills in the option list, at most `most` options, and returns their number. */
	unsigned (*options)(struct option *list, unsigned most);
	/* Runs it after the options' targets were set; returns the exit status. */
	int (*run)(const struct command *c, int operands, char **operand);
};

/* Text before and after the list of commands in --help and on the manual page. */
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
/* Prints bash completion for the subcommands and their options. */
void manual_completion(FILE *to);

/* Parses argv after the subcommand's name. Options are --name VALUE or --name=VALUE, "--" ends them. ST_OK; ST_SYNTAX after
 * one line on stderr with the problem and the allowed values; ST_STOPPED after --help was printed. Moves the *operands
 * operands to the front of argv. */
MUST_CHECK enum status options_parse(const struct command *c, const struct option *list, unsigned n, int argc,
                                     char **argv, int *operands);
/* Whether the paragraph has columns: two consecutive blanks. */
bool options_is_aligned(const char *at, const char *end);
/* Prints paragraphs, filled for a terminal of 80 columns; those with columns keep their lines. */
void options_paragraphs(FILE *to, const char *text);
/* Prints a line of a list: the name, padded to that many columns, and its description. */
void options_line(FILE *to, const char *name, unsigned columns, const char *help);
/* Implements a command's `options`: copies at most `most` of n options to *list; returns n. */
unsigned options_copy(struct option *list, unsigned most, const struct option *all, unsigned n);
void options_help(FILE *to, const struct command *c, const struct option *list, unsigned n);

/* Prints one line on stderr, "stallmeter run: ...". */
void complain(const struct command *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct results;
/* reader_read; prints failures and notes, such as incomplete results, on standard error. False: nothing to free. */
MUST_CHECK bool operand_open(const struct command *c, struct results *r, const char *path);
/* The same for a command that takes exactly one run; reports any other number of operands. */
MUST_CHECK bool operand_open_one(const struct command *c, struct results *r, int operands, char **operand);

#endif
