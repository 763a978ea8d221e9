/* runner/data/fleet.c: reads many runs. See fleet.h. */
#include <dirent.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runner/data/fleet.h"
#include "runner/data/reader.h"
#include "runner/data/surroundings.h"

#define DEPTH_MOST 3u

struct row_key { const char *name; unsigned index; };

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int by_row_name(const void *a, const void *b)
{
	return strcmp(((const struct row_key *)a)->name, ((const struct row_key *)b)->name);
}

/* Makes room for one more element of `size` bytes by doubling the list. */
static bool room_for(void **list, unsigned count, unsigned *room, size_t size)
{
	if (count < *room)
		return true;
	unsigned more = *room ? *room * 2 : 64;
	void *at = realloc(*list, more * size);
	if (!at)
		return false;
	*list = at;
	*room = more;
	return true;
}

/* The one copy of a string; NULL: no memory. */
static const char *intern(struct fleet *f, const char *s)
{
	char **found = tfind(s, &f->strings, by_text);
	if (found)
		return *found;
	char *copy = strdup(s);
	if (copy && !tsearch(copy, &f->strings, by_text)) {
		free(copy);
		copy = NULL;
	}
	return copy;
}

static enum status row_index(struct fleet *f, const struct document *d, const struct doc_node *row, unsigned *index)
{
	const char *name = doc_string(d, row, "name");
	struct row_key wanted = {name, 0}, **found = tfind(&wanted, &f->row_names, by_row_name);
	if (found) {
		*index = (*found)->index;
		return ST_OK;
	}
	struct row_key *key = malloc(sizeof(*key));
	if (!key)
		return ST_FULL;
	*key = (struct row_key){intern(f, name), f->row_count};
	if (!key->name || !room_for((void **)&f->rows, f->row_count, &f->row_room, sizeof(*f->rows)) || !tsearch(key, &f->row_names, by_row_name)) {
		free(key);
		return ST_FULL;
	}
	struct fleet_row *r = &f->rows[f->row_count];
	*r = (struct fleet_row){key->name, intern(f, doc_string(d, row, "kind")), intern(f, doc_string(d, row, "unit"))};
	*index = f->row_count++;
	return r->kind && r->unit ? ST_OK : ST_FULL;
}

static double number_or_nan(const struct document *d, const struct doc_node *row, const char *key)
{
	const struct doc_node *n = doc_get(d, row, key);
	return n->type == DOC_NUMBER ? strtod(n->string, NULL) : NAN;
}

static int by_row(const void *a, const void *b)
{
	const struct fleet_value *x = a, *y = b;
	return x->row < y->row ? -1 : x->row > y->row;
}

static enum status take_values(struct fleet *f, struct fleet_run *r, const struct document *d)
{
	const struct doc_node *rows = doc_get(d, doc_root(d), "rows");
	r->values = calloc(rows->count ? rows->count : 1, sizeof(*r->values));
	if (!r->values)
		return ST_FULL;
	for (const struct doc_node *row = doc_begin(d, rows); row; row = doc_next(d, row)) {
		struct fleet_value *v = &r->values[r->value_count];
		enum status st = row_index(f, d, row, &v->row);
		if (st != ST_OK)
			return st;
		v->status = intern(f, doc_string(d, row, "status"));
		if (!v->status)
			return ST_FULL;
		v->value = number_or_nan(d, row, "value");
		v->spread = number_or_nan(d, row, "spread");
		v->cycles = number_or_nan(d, row, "cycles");
		v->ns = number_or_nan(d, row, "ns");
		v->samples = doc_whole(d, row, "samples");
		v->rejected = doc_whole(d, row, "rejected");
		v->revision = doc_whole(d, row, "revision");
		v->measured = (!strcmp(v->status, "ok") || !strcmp(v->status, "noisy")) && !isnan(v->value);
		r->value_count++;
	}
	qsort(r->values, r->value_count, sizeof(*r->values), by_row);
	return ST_OK;
}

static int by_key(const void *a, const void *b)
{
	const char *x = ((const struct fleet_fact *)a)->key, *y = ((const struct fleet_fact *)b)->key;
	return x < y ? -1 : x > y;
}

static enum status take_facts(struct fleet *f, struct fleet_run *r, const struct document *d)
{
	unsigned room = 0;
	for (unsigned s = 0; s < surroundings_sections_count; s++) {
		const char *section = surroundings_sections[s];
		for (const struct doc_node *n = doc_begin(d, surroundings_section(d, section)); n; n = doc_next(d, n)) {
			char key[200], value[512];
			struct text t;
			if (surroundings_of_the_day(n->key) || (!section[0] && (n->type == DOC_LIST || n->type == DOC_OBJECT)))
				continue;
			snprintf(key, sizeof(key), "%.60s%s%.120s", section, section[0] ? "." : "", n->key);
			text_init(&t, value, sizeof(value));
			surroundings_value(&t, d, n);
			str_one_line(value);
			if (!room_for((void **)&r->facts, r->fact_count, &room, sizeof(*r->facts)))
				return ST_FULL;
			struct fleet_fact *fact = &r->facts[r->fact_count++];
			*fact = (struct fleet_fact){intern(f, key), intern(f, value)};
			if (!fact->key || !fact->value)
				return ST_FULL;
		}
	}
	if (r->fact_count)
		qsort(r->facts, r->fact_count, sizeof(*r->facts), by_key);
	return ST_OK;
}

static enum status take_run(struct fleet *f, const char *path, const struct document *d)
{
	const struct doc_node *root = doc_root(d), *machine = doc_get(d, root, "machine"), *environment = doc_get(d, root, "environment");
	char name[256], product[400];
	const char *slash = strrchr(path, '/'), *made = doc_string(d, environment, "product");
	if (!room_for((void **)&f->runs, f->run_count, &f->run_room, sizeof(*f->runs)))
		return ST_FULL;
	struct fleet_run *r = &f->runs[f->run_count++];
	memset(r, 0, sizeof(*r));
	snprintf(name, sizeof(name), "%.255s", slash && slash[1] ? slash + 1 : path);
	char *dash = strrchr(name, '-');
	if (dash && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1))
		*dash = 0;
	r->simulated = doc_true(d, root, "simulated");
	snprintf(product, sizeof(product), "%.150s%s%.150s", r->simulated || !made[0] ? doc_string(d, root, "backend") : made, ", ", doc_string(d, machine, "brand"));
	str_one_line(product);
	r->path = intern(f, path);
	r->machine = intern(f, name);
	r->product = intern(f, product);
	r->bios = intern(f, doc_string(d, environment, "firmware_version"));
	r->microcode = intern(f, doc_string(d, machine, "microcode"));
	r->started = intern(f, doc_string(d, environment, "started"));
	r->build = intern(f, doc_string(d, root, "build"));
	r->backend = intern(f, doc_string(d, root, "backend"));
	if (!r->path || !r->machine || !r->product || !r->bios || !r->microcode || !r->started || !r->build || !r->backend)
		return ST_FULL;
	enum status st = take_values(f, r, d);
	return st == ST_OK ? take_facts(f, r, d) : st;
}

static bool is_run(const char *folder)
{
	static const char *const files[] = {"results.json", "journal.jsonl"};
	char path[2100];
	struct stat about;
	for (unsigned i = 0; i < COUNT_OF(files); i++) {
		snprintf(path, sizeof(path), "%.2000s/%s", folder, files[i]);
		if (!stat(path, &about) && S_ISREG(about.st_mode))
			return true;
	}
	return false;
}

struct reading { struct fleet *f; void (*unread)(void *self, const char *line); void *self; };

static enum status add_run(const struct reading *w, const char *path)
{
	static struct results r;
	char problem[1600];
	if (reader_read(&r, path, problem, sizeof(problem)) != ST_OK) {
		w->unread(w->self, problem);
		w->f->unreadable++;
		return ST_OK;
	}
	enum status st = take_run(w->f, path, &r.d);
	reader_free(&r);
	return st;
}

static enum status add_below(const struct reading *w, const char *folder, unsigned depth)
{
	struct dirent **list = NULL;
	enum status st = ST_OK;
	if (is_run(folder))
		return add_run(w, folder);
	int n = depth ? scandir(folder, &list, NULL, alphasort) : 0;
	for (int i = 0; i < n; i++) {
		char path[2048];
		struct stat about;
		if (st == ST_OK && list[i]->d_name[0] != '.' && snprintf(path, sizeof(path), "%.1700s/%.255s", folder, list[i]->d_name) > 0 &&
		    !stat(path, &about) && S_ISDIR(about.st_mode))
			st = add_below(w, path, depth - 1);
		free(list[i]);
	}
	free(list);
	return st;
}

enum status fleet_add(struct fleet *f, const char *path, void (*unread)(void *self, const char *line), void *self, char *problem, size_t capacity)
{
	struct stat about;
	char plain[2048];
	snprintf(plain, sizeof(plain), "%.2000s", path);
	for (size_t n = strlen(plain); n > 1 && plain[n - 1] == '/'; n--)
		plain[n - 1] = 0;
	if (stat(plain, &about)) {
		snprintf(problem, capacity, "%.1000s: no such folder", plain);
		return ST_MISSING;
	}
	struct reading w = {f, unread, self};
	return S_ISDIR(about.st_mode) ? add_below(&w, plain, DEPTH_MOST) : add_run(&w, plain);
}

const char *fleet_fact(const struct fleet_run *r, const char *key)
{
	struct fleet_fact wanted = {key, NULL};
	const struct fleet_fact *found = r->fact_count ? bsearch(&wanted, r->facts, r->fact_count, sizeof(wanted), by_key) : NULL;
	return found ? found->value : NULL;
}

const struct fleet_value *fleet_value(const struct fleet_run *r, unsigned row)
{
	struct fleet_value wanted = {.row = row};
	return r->value_count ? bsearch(&wanted, r->values, r->value_count, sizeof(wanted), by_row) : NULL;
}

static int by_machine_and_time(const void *a, const void *b)
{
	const struct fleet_run *x = a, *y = b;
	int c = strcmp(x->product, y->product);
	c = c ? c : strcmp(x->machine, y->machine);
	c = c ? c : strncmp(x->started, y->started, 19); /* YYYY-MM-DDTHH:MM:SS, with or without Z */
	return c ? c : strcmp(x->path, y->path);
}

enum status fleet_group_by(struct fleet *f, enum fleet_by by)
{
	if (f->run_count)
		qsort(f->runs, f->run_count, sizeof(*f->runs), by_machine_and_time);
	f->group_count = 0;
	for (unsigned i = 0; i < f->run_count; i++) {
		struct fleet_run *r = &f->runs[i];
		char name[700];
		snprintf(name, sizeof(name), "%.400s%s%.100s", r->product, by == FLEET_BY_BIOS ? ", BIOS " : by == FLEET_BY_MICROCODE ? ", microcode " : "",
		         by == FLEET_BY_BIOS ? r->bios : by == FLEET_BY_MICROCODE ? r->microcode : "");
		const char *interned = intern(f, name);
		if (!interned)
			return ST_FULL;
		for (r->group = 0; r->group < f->group_count && f->groups[r->group].name != interned; r->group++)
			;
		if (r->group == f->group_count) {
			if (!room_for((void **)&f->groups, f->group_count, &f->group_room, sizeof(*f->groups)))
				return ST_FULL;
			f->groups[f->group_count++] = (struct fleet_group){interned, 0};
		}
		f->groups[r->group].runs++;
	}
	return ST_OK;
}

void fleet_free(struct fleet *f)
{
	for (unsigned i = 0; i < f->run_count; i++) {
		free(f->runs[i].values);
		free(f->runs[i].facts);
	}
	free(f->runs);
	free(f->rows);
	free(f->groups);
	free(f->findings);
	tdestroy(f->row_names, free);
	tdestroy(f->strings, free);
	memset(f, 0, sizeof(*f));
}
