/* runner/export/export.c: `stallmeter export`: results in formats that other tools read. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "bench/report/user_account.h"
#include "pmu/text.h"
#include "runner/options/command.h"
#include "runner/export/export.h"
#include "runner/data/markup.h"
#include "runner/data/reader.h"

static bool unproven;

static unsigned export_options(struct option *list, unsigned most)
{
	if (most)
		list[0] = (struct option){"--unproven", OPTION_SWITCH, &unproven, NULL, NULL, 0, 0, "include values that no counter confirmed, such as native ones"};
	return 1;
}

double export_number(const struct doc_node *n)
{
	return (double)n->milli / 1000;
}

bool export_measured(const struct export *e, const struct doc_node *row)
{
	const char *status = doc_string(e->d, row, "status");
	return (!strcmp(status, "ok") || !strcmp(status, "noisy") || (e->unproven && !strcmp(status, "unproven"))) && doc_get(e->d, row, "value")->type == DOC_NUMBER;
}

const struct doc_node *export_rows(const struct document *d)
{
	return doc_begin(d, doc_get(d, doc_root(d), "rows"));
}

/* Quotes by RFC 4180. */
void export_csv_text(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"')
			putchar('"');
		putchar(*s);
	}
	putchar('"');
}

static void csv_number(const struct doc_node *n)
{
	putchar(',');
	if (n->type == DOC_NUMBER)
		fputs(n->string, stdout);
}

/* --- csv --------------------------------------------------------------------------------------- */

static enum status export_csv(const struct export *e)
{
	static const char *const numbers[] = {"value", "spread", "cycles", "ns", "samples", "rejected", "revision"};
	fputs("name,kind,unit,status,value,spread,cycles,ns,samples,rejected,revision,backend,simulated,reason,proof\r\n", stdout);
	for (const struct doc_node *row = export_rows(e->d); row; row = doc_next(e->d, row)) {
		printf("%s,%s,%s,%s", doc_string(e->d, row, "name"), doc_string(e->d, row, "kind"), doc_string(e->d, row, "unit"), doc_string(e->d, row, "status"));
		for (size_t i = 0; i < COUNT_OF(numbers); i++)
			csv_number(doc_get(e->d, row, numbers[i]));
		putchar(',');
		export_csv_text(doc_string(e->d, doc_root(e->d), "backend"));
		printf(",%s,", doc_true(e->d, row, "simulated") ? "true" : "false");
		export_csv_text(doc_string(e->d, row, "reason"));
		putchar(',');
		export_csv_text(doc_string(e->d, row, "proof"));
		fputs("\r\n", stdout);
	}
	complain(e->c, "not held by this format: histograms, the other methods, matrices, the machine");
	return ST_OK;
}

/* --- core to core ------------------------------------------------------------------------------ */

static enum status export_core_to_core(const struct export *e)
{
	unsigned printed = 0;
	for (const struct doc_node *row = export_rows(e->d); row; row = doc_next(e->d, row)) {
		const char *name = doc_string(e->d, row, "name");
		const struct doc_node *cells = doc_get(e->d, doc_get(e->d, row, "matrix"), "cells");
		if (strncmp(name, "core_to_core.", 13) || !export_measured(e, row))
			continue;
		if (!printed && cells->count)
			fputs("state,owner,reader,median_cycles,p10_cycles,p90_cycles,low_cycles,high_cycles\r\n", stdout);
		for (const struct doc_node *cell = doc_begin(e->d, cells); cell; cell = doc_next(e->d, cell), printed++) {
			printf("%.*s", (int)strcspn(name + 13, "_"), name + 13);
			for (const struct doc_node *v = doc_begin(e->d, cell); v; v = doc_next(e->d, v))
				csv_number(v);
			fputs("\r\n", stdout);
		}
	}
	if (!printed)
		complain(e->c, "these results have no measured pair of cores");
	return printed ? ST_OK : ST_MISSING;
}

/* --- curves ------------------------------------------------------------------------------------ */

/* Prints one line per number, since rows have different columns. */
static unsigned curve_of(const struct export *e, const struct doc_node *row, const char *key)
{
	const struct doc_node *series = doc_get(e->d, row, key), *columns = doc_get(e->d, series, "columns"), *points = doc_get(e->d, series, "points");
	unsigned index = 0;
	for (const struct doc_node *p = columns->type == DOC_LIST ? doc_begin(e->d, points) : NULL; p; p = doc_next(e->d, p), index++) {
		const struct doc_node *name = doc_begin(e->d, columns);
		for (const struct doc_node *v = doc_begin(e->d, p); v && name; v = doc_next(e->d, v), name = doc_next(e->d, name)) {
			printf("%s,%u,%s", doc_string(e->d, row, "name"), index, name->string);
			csv_number(v);
			fputs("\r\n", stdout);
		}
	}
	return index;
}

static enum status export_curve(const struct export *e)
{
	unsigned points = 0;
	for (const struct doc_node *row = export_rows(e->d); row; row = doc_next(e->d, row)) {
		if (!export_measured(e, row) || (doc_get(e->d, row, "series")->type != DOC_OBJECT && doc_get(e->d, row, "curve")->type != DOC_OBJECT))
			continue;
		if (!points)
			fputs("row,point,column,value\r\n", stdout);
		points += curve_of(e, row, "series") + curve_of(e, row, "curve");
	}
	if (!points)
		complain(e->c, "these results have no proved row with a curve");
	return points ? ST_OK : ST_MISSING;
}

/* --- JUnit ------------------------------------------------------------------------------------- */

/* Milliseconds that the row took, from the environment's list of names and numbers; -1: not listed. */
static long long row_ms(const struct export *e, const char *name)
{
	const char *list = doc_string(e->d, doc_get(e->d, doc_root(e->d), "environment"), "row_ms");
	size_t n = strlen(name);
	for (const char *at = list; (at = strstr(at, name)); at += n)
		if ((at == list || at[-1] == ' ') && at[n] == ' ')
			return strtoll(at + n, NULL, 10);
	return -1;
}

/* Whether the run's verdict on the row is a failure: an unexpected status. In results without such verdicts a row fails that is neither ok nor
 * unsupported. */
static bool row_failed(const struct export *e, const struct doc_node *row)
{
	const char *status = doc_string(e->d, row, "status"), *name = doc_string(e->d, row, "name");
	const struct doc_node *list = doc_get(e->d, doc_get(e->d, doc_root(e->d), "summary"), "unexpected_rows");
	if (list->type != DOC_LIST)
		return strcmp(status, "ok") && strcmp(status, "unsupported");
	for (const struct doc_node *n = doc_begin(e->d, list); n; n = doc_next(e->d, n))
		if (!strcmp(n->string, name))
			return true;
	return false;
}

static void junit_case(const struct export *e, const struct doc_node *row)
{
	const char *status = doc_string(e->d, row, "status"), *name = doc_string(e->d, row, "name");
	const bool failed = row_failed(e, row), skipped = !failed && strcmp(status, "ok");
	const long long ms = row_ms(e, name);
	printf("<testcase classname=\"stallmeter.");
	markup_text(stdout, doc_string(e->d, row, "kind"));
	printf("\" name=\"");
	markup_text(stdout, name);
	if (ms >= 0)
		printf("\" time=\"%lld.%03lld", ms / 1000, ms % 1000);
	printf("\">");
	if (failed || skipped) {
		printf("<%s message=\"", failed ? "failure" : "skipped");
		markup_text(stdout, status);
		fputs(": ", stdout);
		markup_text(stdout, doc_string(e->d, row, "reason"));
		printf("\"/>");
	}
	printf("<system-out>");
	if (doc_get(e->d, row, "value")->type == DOC_NUMBER)
		printf("%s %s, spread %s; ", doc_get(e->d, row, "value")->string, doc_string(e->d, row, "unit"), doc_get(e->d, row, "spread")->string);
	markup_text(stdout, doc_string(e->d, row, "proof"));
	fputs("</system-out></testcase>\n", stdout);
}

static enum status export_junit(const struct export *e)
{
	unsigned tests = 0, skipped = 0, failed = 0;
	long long ms = 0;
	char started[32];
	for (const struct doc_node *row = export_rows(e->d); row; row = doc_next(e->d, row)) {
		const bool fails = row_failed(e, row);
		const long long took = row_ms(e, doc_string(e->d, row, "name"));
		tests++;
		failed += fails;
		skipped += !fails && strcmp(doc_string(e->d, row, "status"), "ok");
		ms += took > 0 ? took : 0;
	}
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"stallmeter ", stdout);
	markup_text(stdout, doc_string(e->d, doc_root(e->d), "backend"));
	printf("\" tests=\"%u\" failures=\"%u\" errors=\"0\" skipped=\"%u\" time=\"%lld.%03lld\"", tests, failed, skipped, ms / 1000, ms % 1000);
	/* times in JUnit's schema have no time zone; ours are in UTC */
	snprintf(started, sizeof(started), "%.19s", doc_string(e->d, doc_get(e->d, doc_root(e->d), "environment"), "started"));
	if (started[0]) {
		printf(" timestamp=\"");
		markup_text(stdout, started);
		putchar('"');
	}
	fputs(">\n", stdout);
	for (const struct doc_node *row = export_rows(e->d); row; row = doc_next(e->d, row))
		junit_case(e, row);
	fputs("</testsuite>\n", stdout);
	complain(e->c, "JUnit holds verdicts; values stand in each case's output");
	return ST_OK;
}

/* --- the command ------------------------------------------------------------------------------- */

/* write NULL: export_table writes this format, from runs and folders of runs. */
static const struct { const char *name; enum status (*write)(const struct export *e); } formats[] = {
#define FORMAT(name, what, writer) {name, writer},
#define TABLE(name, what) {name, NULL},
#include "runner/export/formats.def"
#undef FORMAT
#undef TABLE
};

static size_t name_length(size_t format)
{
	return strcspn(formats[format].name, " ");
}

static int unknown_format(const struct command *c, const char *name)
{
	char names[256] = "";
	for (size_t i = 0; i < COUNT_OF(formats); i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%.*s", i ? ", " : "", (int)name_length(i), formats[i].name);
	complain(c, "\"%.40s\": no such format; allowed: %s", name, names);
	return EXIT_BAD_INPUT;
}

static int export_command(const struct command *c, int operands, char **operand)
{
	static struct results r;
	size_t format = 0;
	if (operands < 2) {
		complain(c, "a format and a run are expected; stallmeter export --help lists the formats");
		return EXIT_BAD_INPUT;
	}
	while (format < COUNT_OF(formats) && (strlen(operand[0]) != name_length(format) || strncmp(formats[format].name, operand[0], name_length(format))))
		format++;
	if (format == COUNT_OF(formats))
		return unknown_format(c, operand[0]);
	if (!formats[format].write)
		return export_table(c, operand[0], operands - 1, operand + 1);
	if (operands != 2) {
		complain(c, "%s is of one run", operand[0]);
		return EXIT_BAD_INPUT;
	}
	if (!operand_open(c, &r, operand[1]))
		return EXIT_BAD_INPUT;
	if (doc_true(&r.d, doc_root(&r.d), "simulated"))
		complain(c, "SIMULATED machine: these numbers say nothing about real hardware");
	enum status st = formats[format].write(&(struct export){c, &r.d, unproven});
	if (unproven && st == ST_OK)
		complain(c, "--unproven: values that nothing confirmed may be among these");
	reader_free(&r);
	return st == ST_OK ? EXIT_GOOD : EXIT_ROWS;
}

const struct command command_export = {
	"export", "FORMAT RUN...", "Writes a run's results in another tool's format, to standard output.",
#define FORMAT(name, what, writer) name what "\n"
#define TABLE(name, what) name what "\n"
#include "runner/export/formats.def"
#undef FORMAT
#undef TABLE
	"\nData that a format cannot hold are listed on standard error. Exit status 1: the results have no data for the format, for the printed reason.\n",
	export_options, export_command,
};
