/* runner/options/options.c: parses a subcommand's options strictly. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pmu/text.h"
#include "runner/options/command.h"

void complain(const struct command *c, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "stallmeter %s: ", c->name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

#define HELP_COLUMNS   79
#define OPTION_COLUMNS 28

static void print_folded(FILE *to, const char *lines, unsigned hang)
{
	char line[1024];
	struct text t;
	for (text_init(&t, line, sizeof(line)); text_fold(&t, &lines, HELP_COLUMNS, hang); text_init(&t, line, sizeof(line)))
		fputs(line, to);
}

bool options_is_aligned(const char *at, const char *end)
{
	for (; at + 1 < end; at++)
		if (at[0] == ' ' && at[1] == ' ')
			return true;
	return false;
}

void options_line(FILE *to, const char *name, unsigned columns, const char *help)
{
	char line[512];
	struct text t;
	text_init(&t, line, sizeof(line));
	text_fmt(&t, "  %-*s %s\n", (int)columns, name, help);
	print_folded(to, line, columns + 1);
}

/* The offset of the second column in the first line of an aligned paragraph. */
static unsigned hang_of(const char *at)
{
	const char *gap = strstr(at, "  ");
	return gap ? (unsigned)(gap - at + strspn(gap, " ")) : 0;
}

void options_paragraphs(FILE *to, const char *text)
{
	char paragraph[2048];
	for (; *text == '\n'; text++)
		fputc('\n', to);
	while (*text) {
		const char *end = strstr(text, "\n\n");
		if (!end)
			end = text + strlen(text);
		bool aligned = options_is_aligned(text, end);
		unsigned hang = aligned ? hang_of(text) : 0;
		struct text t;
		text_init(&t, paragraph, sizeof(paragraph));
		for (; text < end; text++)
			text_char(&t, *text == '\n' && !aligned && text + 1 < end ? ' ' : *text);
		print_folded(to, paragraph, hang);
		for (; *text == '\n'; text++)
			fputc('\n', to);
	}
}

unsigned options_copy(struct option *list, unsigned most, const struct option *all, unsigned n)
{
	for (unsigned i = 0; i < n && i < most; i++)
		list[i] = all[i];
	return n;
}

void options_help(FILE *to, const struct command *c, const struct option *list, unsigned n)
{
	fprintf(to, "usage: stallmeter %s%s%s%s\n\n", c->name, n ? " [OPTION]..." : "", c->operands[0] ? " " : "", c->operands);
	print_folded(to, c->summary, 0);
	fputc('\n', to);
	fputs("\nOptions:\n", to);
	for (unsigned i = 0; i < n; i++) {
		char left[64], help[400];
		snprintf(left, sizeof(left), "%s %s", list[i].name, list[i].value ? list[i].value : "");
		if (list[i].kind == OPTION_NUMBER && list[i].most != UINT64_MAX)
			snprintf(help, sizeof(help), "%s (%" PRIu64 " to %" PRIu64 ")", list[i].help, list[i].least, list[i].most);
		else
			snprintf(help, sizeof(help), "%s", list[i].help);
		options_line(to, left, OPTION_COLUMNS, help);
	}
	options_line(to, "--help", OPTION_COLUMNS, "this text");
	if (c->more[0]) {
		fputc('\n', to);
		options_paragraphs(to, c->more);
	}
}

static bool is_choice(const char *choices, const char *value)
{
	size_t length = strlen(value);
	for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
		if (strcspn(at, "|") == length && !strncmp(at, value, length))
			return true;
	return false;
}

static enum status option_set(const struct command *c, const struct option *o, const char *value)
{
	if (!value[0]) {
		complain(c, "%s: empty value, %s expected", o->name, o->value);
		return ST_SYNTAX;
	}
	switch (o->kind) {
	case OPTION_TEXT:
		*(const char **)o->target = value;
		return ST_OK;
	case OPTION_CHOICE:
		if (!is_choice(o->choices, value)) {
			complain(c, "%s \"%s\": unknown; allowed: %s", o->name, value, o->choices);
			return ST_SYNTAX;
		}
		*(const char **)o->target = value;
		return ST_OK;
	case OPTION_NUMBER: {
		uint64_t number = 0;
		enum status s = parse_u64(value, strlen(value), &number);
		if (s != ST_OK || number < o->least || number > o->most) {
			complain(c, "%s \"%s\": not a number from %" PRIu64 " to %" PRIu64, o->name, value, o->least, o->most);
			return ST_SYNTAX;
		}
		*(uint64_t *)o->target = number;
		return ST_OK;
	}
	case OPTION_SWITCH:
	case OPTION_MARK:
		break;
	}
	return ST_BROKEN;
}

static const struct option *option_find(const struct option *list, unsigned n, const char *name, size_t length)
{
	for (unsigned i = 0; i < n; i++)
		if (strlen(list[i].name) == length && !strncmp(list[i].name, name, length))
			return &list[i];
	return NULL;
}

static void complain_unknown(const struct command *c, const struct option *list, unsigned n, const char *argument)
{
	char names[1024] = "";
	for (unsigned i = 0; i < n; i++) {
		strncat(names, list[i].name, sizeof(names) - strlen(names) - 1);
		strncat(names, " ", sizeof(names) - strlen(names) - 1);
	}
	complain(c, "%s: no such option; allowed: %s--help", argument, names);
}

enum status options_parse(const struct command *c, const struct option *list, unsigned n, int argc, char **argv,
                          int *operands)
{
	bool given[64] = {false};
	int kept = 0;
	for (int i = 0; i < argc; i++) {
		char *argument = argv[i];
		if (!strcmp(argument, "--")) {
			while (++i < argc)
				argv[kept++] = argv[i];
			break;
		}
		if (!strcmp(argument, "--help") || !strcmp(argument, "-h")) {
			options_help(stdout, c, list, n);
			return ST_STOPPED;
		}
		if (argument[0] != '-' || !argument[1]) {
			argv[kept++] = argument;
			continue;
		}
		size_t length = strcspn(argument, "=");
		const struct option *o = option_find(list, n, argument, length);
		if (!o) {
			complain_unknown(c, list, n, argument);
			return ST_SYNTAX;
		}
		if ((size_t)(o - list) < COUNT_OF(given)) {
			if (given[o - list]) {
				complain(c, "%s: given twice", o->name);
				return ST_SYNTAX;
			}
			given[o - list] = true;
		}
		if (o->kind == OPTION_SWITCH || o->kind == OPTION_MARK) {
			if (argument[length]) {
				complain(c, "%s: takes no value", o->name);
				return ST_SYNTAX;
			}
			if (o->kind == OPTION_MARK)
				*(int *)o->target = kept;
			else
				*(bool *)o->target = true;
			continue;
		}
		if (!argument[length] && i + 1 >= argc) {
			complain(c, "%s: %s expected after it", o->name, o->value);
			return ST_SYNTAX;
		}
		const char *value = argument[length] ? argument + length + 1 : argv[++i];
		enum status s = option_set(c, o, value);
		if (s != ST_OK)
			return s;
	}
	*operands = kept;
	if (kept && !c->operands[0]) {
		complain(c, "\"%s\": no operand is allowed here; see stallmeter %s --help", argv[0], c->name);
		return ST_SYNTAX;
	}
	return ST_OK;
}
