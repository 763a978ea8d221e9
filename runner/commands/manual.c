/* runner/commands/manual.c: manual pages and completion, from the texts that --help prints. */
#include <string.h>

#include "runner/version.h"
#include "runner/commands/commands.h"

#define OPTIONS_MOST 32

/* Escapes text by man(7): a literal hyphen is \-, a backslash is \e, and no line of text begins with a control character. Backquotes become bold. */
static void roff_bytes(FILE *to, const char *s, size_t n)
{
	bool bold = false;
	if (n && (*s == '.' || *s == '\''))
		fputs("\\&", to);
	for (; n; n--, s++)
		if (*s == '-')
			fputs("\\-", to);
		else if (*s == '\\')
			fputs("\\e", to);
		else if (*s == '`') {
			bold = !bold;
			fputs(bold ? "\\fB" : "\\fP", to);
		} else
			putc(*s, to);
}

static void roff(FILE *to, const char *s)
{
	roff_bytes(to, s, strlen(s));
}

/* Paragraphs are separated by empty lines; those with columns keep their lines. */
static void roff_paragraphs(FILE *to, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		if (!end)
			end = text + strlen(text);
		bool aligned = options_is_aligned(text, end);
		fputs(aligned ? ".PP\n.nf\n" : ".PP\n", to);
		while (text < end) {
			size_t n = strcspn(text, "\n");
			roff_bytes(to, text, n);
			putc('\n', to);
			text += n + (text[n] == '\n');
		}
		if (aligned)
			fputs(".fi\n", to);
		text += strspn(text, "\n");
	}
}

static unsigned options_of(const struct command *c, struct option *list)
{
	unsigned n = c->options(list, OPTIONS_MOST);
	return n < OPTIONS_MOST ? n : OPTIONS_MOST;
}

static void page_head(FILE *to, const char *name, const char *after, const char *summary)
{
	size_t n = strlen(summary);
	fprintf(to, ".TH STALLMETER%s%s 1 \"\" \"stallmeter %s\" \"User Commands\"\n.SH NAME\nstallmeter%s%s \\- ", *after ? "-" : "", after,
	        STALLMETER_VERSION, *after ? "-" : "", name);
	roff_bytes(to, summary, n && summary[n - 1] == '.' ? n - 1 : n);
	fputs("\n.SH SYNOPSIS\n.B stallmeter", to);
}

static void command_page(FILE *to, const struct command *c)
{
	struct option list[OPTIONS_MOST];
	unsigned n = options_of(c, list);
	char capitals[32];
	size_t i = 0;
	for (; c->name[i] && i + 1 < sizeof(capitals); i++)
		capitals[i] = (char)(c->name[i] >= 'a' && c->name[i] <= 'z' ? c->name[i] - 'a' + 'A' : c->name[i]);
	capitals[i] = 0;
	page_head(to, c->name, capitals, c->summary);
	fprintf(to, " %s\n%s", c->name, n ? "[\\fIOPTION\\fR]... " : "");
	roff(to, c->operands);
	fputs("\n.SH DESCRIPTION\n", to);
	roff(to, c->summary);
	putc('\n', to);
	roff_paragraphs(to, c->more);
	fputs(".SH OPTIONS\n", to);
	for (i = 0; i < n; i++) {
		fputs(".TP\n\\fB", to);
		roff(to, list[i].name);
		fputs("\\fR", to);
		if (list[i].value) {
			fputs(" \\fI", to);
			roff(to, list[i].value);
			fputs("\\fR", to);
		}
		putc('\n', to);
		roff(to, list[i].help);
		putc('\n', to);
	}
	fputs(".TP\n\\fB\\-\\-help\\fR\nthis text\n.SH SEE ALSO\n.BR stallmeter (1)\n", to);
}

void manual_page(FILE *to, const struct command *c)
{
	if (c) {
		command_page(to, c);
		return;
	}
	page_head(to, "", "", PRODUCT_SUMMARY);
	fputs(" \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.br\n.B stallmeter \\-\\-version\n.SH DESCRIPTION\n", to);
	roff_paragraphs(to, PRODUCT_ABOUT);
	fputs(".SH COMMANDS\n", to);
	for (unsigned i = 0; i < commands_count; i++) {
		fprintf(to, ".TP\n.BR stallmeter\\-%s (1)\n", commands[i]->name);
		roff(to, commands[i]->summary);
		putc('\n', to);
	}
	fputs(".SH EXIT STATUS\n", to);
	roff_paragraphs(to, PRODUCT_STATUSES);
}

/* --- completion -------------------------------------------------------------------------------- */

static void complete_value(FILE *to, const struct option *o)
{
	if (o->kind == OPTION_SWITCH || o->kind == OPTION_MARK)
		return;
	fprintf(to, "\t\t%s) ", o->name);
	if (o->choices) {
		fputs("COMPREPLY=($(compgen -W '", to);
		for (const char *at = o->choices; *at; at++)
			putc(*at == '|' ? ' ' : *at, to);
		fputs("' -- \"$cur\"));;\n", to);
	} else if (!strcmp(o->name, "--machine"))
		fputs("COMPREPLY=($(compgen -W \"$(\"$1\" list --machines 2>/dev/null)\" -f -- \"$cur\"));;\n", to);
	else if (o->value && (strstr(o->value, "FILE") || strstr(o->value, "DIR")))
		fputs("COMPREPLY=($(compgen -f -- \"$cur\"));;\n", to);
	else
		fputs("COMPREPLY=();;\n", to);
}

void manual_completion(FILE *to)
{
	struct option list[OPTIONS_MOST];
	fputs("# bash completion of stallmeter; printed by stallmeter --completion\n_stallmeter() {\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '", to);
	for (unsigned i = 0; i < commands_count; i++)
		fprintf(to, "%s ", commands[i]->name);
	fputs("--help --version' -- \"$cur\"))\n\t\treturn\n\tfi\n\tcase ${COMP_WORDS[1]} in\n", to);
	for (unsigned i = 0; i < commands_count; i++) {
		unsigned n = options_of(commands[i], list);
		fprintf(to, "\t%s)\n\t\tcase $before in\n", commands[i]->name);
		for (unsigned k = 0; k < n; k++)
			complete_value(to, &list[k]);
		fputs("\t\t*) case $cur in\n\t\t\t-*) COMPREPLY=($(compgen -W '", to);
		for (unsigned k = 0; k < n; k++)
			fprintf(to, "%s ", list[k].name);
		fputs("--help' -- \"$cur\"));;\n\t\t\t*) COMPREPLY=($(compgen -f -- \"$cur\"));;\n\t\t\tesac;;\n\t\tesac;;\n", to);
	}
	fputs("\tesac\n}\ncomplete -o filenames -F _stallmeter stallmeter\n", to);
}
