/* runner/export/export_table.c: many runs as tables: NDJSON and SQL. docs/fleet.md has the schema. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runner/export/export.h"
#include "runner/data/fleet.h"

#define INSERT_MOST 400u /* lines of one INSERT, all of which SQLite parses at once */

static void unread(void *self, const char *line)
{
	complain(self, "%s; left out", line);
}

/* --- NDJSON ------------------------------------------------------------------------------------ */

static json_t *real_or_null(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

static void set_text(json_t *j, const char *key, const char *s)
{
	json_t *text = json_string(s);
	json_object_set_new(j, key, text ? text : json_null()); /* null: not UTF-8 */
}

static bool print_ndjson(const struct fleet *f)
{
	for (unsigned i = 0; i < f->run_count; i++) {
		const struct fleet_run *r = &f->runs[i];
		for (unsigned k = 0; k < r->value_count; k++) {
			const struct fleet_value *v = &r->values[k];
			const struct fleet_row *row = &f->rows[v->row];
			json_t *j = json_object();
			set_text(j, "run", r->path);
			set_text(j, "machine", r->machine);
			set_text(j, "product", r->product);
			set_text(j, "bios", r->bios);
			set_text(j, "microcode", r->microcode);
			set_text(j, "started", r->started);
			set_text(j, "build", r->build);
			set_text(j, "backend", r->backend);
			json_object_set_new(j, "simulated", json_boolean(r->simulated));
			set_text(j, "name", row->name);
			set_text(j, "kind", row->kind);
			set_text(j, "unit", row->unit);
			set_text(j, "status", v->status);
			json_object_set_new(j, "value", real_or_null(v->value));
			json_object_set_new(j, "spread", real_or_null(v->spread));
			json_object_set_new(j, "cycles", real_or_null(v->cycles));
			json_object_set_new(j, "ns", real_or_null(v->ns));
			json_object_set_new(j, "samples", json_integer(v->samples));
			json_object_set_new(j, "rejected", json_integer(v->rejected));
			json_object_set_new(j, "revision", json_integer(v->revision));
			int wrong = json_dumpf(j, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
			json_decref(j);
			if (wrong)
				return false;
			putchar('\n');
		}
	}
	return true;
}

/* --- SQL --------------------------------------------------------------------------------------- */

/* A table in progress: lines of VALUES, or of COPY ... FROM stdin. */
struct table { bool copy; unsigned lines, fields; const char *name; };

static void line_begin(struct table *t)
{
	if (!t->copy)
		fputs(t->lines % INSERT_MOST ? ",\n(" : t->lines ? ";\nINSERT INTO " : "INSERT INTO ", stdout);
	if (!t->copy && t->lines % INSERT_MOST == 0)
		printf("%s VALUES\n(", t->name);
	t->lines++;
	t->fields = 0;
}

static void line_end(const struct table *t)
{
	fputs(t->copy ? "\n" : ")", stdout);
}

static void table_begin(struct table *t, const char *name)
{
	*t = (struct table){.copy = t->copy, .name = name};
	if (t->copy)
		printf("COPY %s FROM stdin;\n", name);
}

static void table_end(const struct table *t)
{
	fputs(t->copy ? "\\.\n" : t->lines ? ";\n" : "", stdout);
}

static void separate(struct table *t)
{
	if (t->fields++)
		fputs(t->copy ? "\t" : ", ", stdout);
}

static void field_text(struct table *t, const char *s)
{
	separate(t);
	if (!t->copy)
		putchar('\'');
	for (; *s; s++)
		if (!t->copy && *s == '\'')
			fputs("''", stdout);
		else if (t->copy && (*s == '\\' || *s == '\t' || *s == '\n' || *s == '\r'))
			printf("\\%c", *s == '\\' ? '\\' : *s == '\t' ? 't' : *s == '\n' ? 'n' : 'r');
		else
			putchar(*s);
	if (!t->copy)
		putchar('\'');
}

static void field_real(struct table *t, double v)
{
	separate(t);
	if (isnan(v))
		fputs(t->copy ? "\\N" : "NULL", stdout);
	else
		printf("%.15g", v);
}

static void field_whole(struct table *t, int64_t v)
{
	separate(t);
	printf("%" PRId64, v);
}

static void print_runs(struct table *t, const struct fleet *f)
{
	table_begin(t, "runs");
	for (unsigned i = 0; i < f->run_count; i++) {
		const struct fleet_run *r = &f->runs[i];
		const char *const texts[] = {r->path, r->machine, r->product, r->bios, r->microcode, r->started, r->build, r->backend};
		line_begin(t);
		for (unsigned k = 0; k < COUNT_OF(texts); k++)
			field_text(t, texts[k]);
		separate(t);
		fputs(r->simulated ? "TRUE" : "FALSE", stdout);
		line_end(t);
	}
	table_end(t);
}

static void print_results(struct table *t, const struct fleet *f)
{
	table_begin(t, "results");
	for (unsigned i = 0; i < f->run_count; i++)
		for (unsigned k = 0; k < f->runs[i].value_count; k++) {
			const struct fleet_value *v = &f->runs[i].values[k];
			const char *const texts[] = {f->runs[i].path, f->rows[v->row].name, f->rows[v->row].kind, f->rows[v->row].unit, v->status};
			line_begin(t);
			for (unsigned n = 0; n < COUNT_OF(texts); n++)
				field_text(t, texts[n]);
			field_real(t, v->value);
			field_real(t, v->spread);
			field_real(t, v->cycles);
			field_real(t, v->ns);
			field_whole(t, v->samples);
			field_whole(t, v->rejected);
			field_whole(t, v->revision);
			line_end(t);
		}
	table_end(t);
}

static void print_facts(struct table *t, const struct fleet *f)
{
	table_begin(t, "facts");
	for (unsigned i = 0; i < f->run_count; i++)
		for (unsigned k = 0; k < f->runs[i].fact_count; k++) {
			line_begin(t);
			field_text(t, f->runs[i].path);
			field_text(t, f->runs[i].facts[k].key);
			field_text(t, f->runs[i].facts[k].value);
			line_end(t);
		}
	table_end(t);
}

static bool print_sql(const struct fleet *f, bool copy)
{
	struct table t = {.copy = copy};
	fputs("BEGIN;\n"
	      "CREATE TABLE IF NOT EXISTS runs (run TEXT PRIMARY KEY, machine TEXT NOT NULL, product TEXT NOT NULL, bios TEXT NOT NULL, microcode TEXT NOT NULL,\n"
	      "  started TEXT NOT NULL, build TEXT NOT NULL, backend TEXT NOT NULL, simulated BOOLEAN NOT NULL);\n"
	      "CREATE TABLE IF NOT EXISTS results (run TEXT NOT NULL REFERENCES runs, name TEXT NOT NULL, kind TEXT NOT NULL, unit TEXT NOT NULL, status TEXT NOT NULL,\n"
	      "  value DOUBLE PRECISION, spread DOUBLE PRECISION, cycles DOUBLE PRECISION, ns DOUBLE PRECISION, samples BIGINT NOT NULL, rejected BIGINT NOT NULL,\n"
	      "  revision BIGINT NOT NULL, PRIMARY KEY (run, name));\n"
	      "CREATE TABLE IF NOT EXISTS facts (run TEXT NOT NULL REFERENCES runs, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, key));\n", stdout);
	print_runs(&t, f);
	print_results(&t, f);
	print_facts(&t, f);
	fputs("COMMIT;\n", stdout);
	return !ferror(stdout);
}

int export_table(const struct command *c, const char *format, int operands, char **operand)
{
	struct fleet f = {0};
	char problem[1600];
	enum status st = ST_OK;
	for (int i = 0; i < operands && st == ST_OK; i++)
		st = fleet_add(&f, operand[i], unread, (void *)(uintptr_t)c, problem, sizeof(problem));
	if (st == ST_OK)
		st = fleet_group_by(&f, FLEET_BY_PRODUCT);
	int status = EXIT_GOOD;
	if (st == ST_OK && !f.run_count) {
		complain(c, "%s: no run in it that can be read", operand[0]);
		status = EXIT_BAD_INPUT;
	} else if (st == ST_MISSING) {
		complain(c, "%s", problem);
		status = EXIT_BAD_INPUT;
	} else if (st != ST_OK || !(strcmp(format, "ndjson") ? print_sql(&f, !strcmp(format, "sql-copy")) : print_ndjson(&f))) {
		complain(c, "%s", st != ST_OK ? "no memory for so many runs" : "standard output could not be written");
		status = EXIT_BROKEN;
	}
	fleet_free(&f);
	return status;
}
