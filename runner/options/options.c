/* runner/options/options.c: strict reading of a subcommand's options. */
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

void options_help(FILE *to, const struct command *c, const struct option *list, unsigned n)
{
	fprintf(to, "usage: stallmeter %s%s%s%s\n\n%s\n", c->name, n ? " [OPTION]..." : "", c->operands[0] ? " " : "",
	        c->operands, c->summary);
	if (n)
		fputs("\nOptions:\n", to);
	for (unsigned i = 0; i < n; i++) {
		char left[64];
		snprintf(left, sizeof(left), "%s %s", list[i].name, list[i].value ? list[i].value : "");
		fprintf(to, "  %-28s %s", left, list[i].help);
		if (list[i].kind == OPTION_NUMBER && list[i].most != UINT64_MAX)
			fprintf(to, " (%" PRIu64 " to %" PRIu64 ")", list[i].least, list[i].most);
		fputc('\n', to);
	}
	fprintf(to, "  %-28s %s\n", "--help", "this text");
	if (c->more[0])
		fprintf(to, "\n%s", c->more);
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
