/* runner/commands/collect.c: `stallmeter collect`: the runs of many sticks in one folder. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "pmu/text.h"
#include "runner/options/command.h"
#include "runner/data/file.h"
#include "runner/data/reader.h"
#include "runner/data/rundir.h"

#define FILE_BYTES_MOST (256u << 20)

struct tally { unsigned runs, copied, there, unreadable; bool failed; };

static unsigned collect_options(struct option *list, unsigned most)
{
	(void)list, (void)most;
	return 0;
}

/* FAT is case-insensitive: the folder's entry of that name in any case. */
static bool entry(const char *folder, const char *name, char *to, size_t capacity)
{
	DIR *d = opendir(folder);
	bool found = false;
	for (struct dirent *e; d && !found && (e = readdir(d));)
		if (!strcasecmp(e->d_name, name)) {
			int n = snprintf(to, capacity, "%s/%s", folder, e->d_name);
			found = n > 0 && (size_t)n < capacity;
		}
	if (d)
		closedir(d);
	return found;
}

static bool same_file(const char *a, const char *b)
{
	char *x = NULL, *y = NULL, problem[2200];
	size_t n = 0, m = 0;
	bool same = file_read(a, FILE_BYTES_MOST, &x, &n, problem, sizeof(problem)) == ST_OK &&
	            file_read(b, FILE_BYTES_MOST, &y, &m, problem, sizeof(problem)) == ST_OK && n == m && !memcmp(x, y, n);
	free(x);
	free(y);
	return same;
}

/* Whether DEST already has a run with the same journal, under any number. */
static bool is_there(const char *run, const char *dest)
{
	char journal[2048], other[2048];
	bool found = false;
	DIR *d = opendir(dest);
	if (!entry(run, "journal.jsonl", journal, sizeof(journal)) && !entry(run, "results.json", journal, sizeof(journal))) {
		if (d)
			closedir(d);
		return false;
	}
	for (struct dirent *e; d && !found && (e = readdir(d));) {
		char folder[1400];
		if (e->d_name[0] == '.' || snprintf(folder, sizeof(folder), "%.1000s/%.255s", dest, e->d_name) >= (int)sizeof(folder))
			continue;
		found = entry(folder, strrchr(journal, '/') + 1, other, sizeof(other)) && same_file(journal, other);
	}
	if (d)
		closedir(d);
	return found;
}

static enum status copy_files(const char *run, struct rundir *to)
{
	enum status st = ST_OK;
	DIR *d = opendir(run);
	if (!d)
		return ST_IO;
	for (struct dirent *e; st == ST_OK && (e = readdir(d));) {
		char path[2048], problem[2200], *text = NULL;
		struct stat about;
		size_t bytes = 0;
		if (snprintf(path, sizeof(path), "%.1500s/%.255s", run, e->d_name) >= (int)sizeof(path) || stat(path, &about) || !S_ISREG(about.st_mode))
			continue;
		st = file_read(path, FILE_BYTES_MOST, &text, &bytes, problem, sizeof(problem));
		if (st == ST_OK)
			st = rundir_write(to, e->d_name, text, bytes);
		free(text);
	}
	closedir(d);
	return st;
}

static void take_run(const struct command *c, const char *run, const char *dest, struct tally *t)
{
	static struct results r;
	struct rundir to;
	char problem[1600], name[256];
	t->runs++;
	if (is_there(run, dest)) {
		t->there++;
		return;
	}
	if (results_read(&r, run, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s; taken all the same", problem);
		t->unreadable++;
	} else {
		if (r.note[0])
			complain(c, "%s: %s", r.path, r.note);
		results_free(&r);
	}
	/* rundir_make assigns the number at the end */
	snprintf(name, sizeof(name), "%.200s", strrchr(run, '/') + 1);
	char *dash = strrchr(name, '-');
	if (dash && dash[1] && strspn(dash + 1, "0123456789") == strlen(dash + 1))
		*dash = 0;
	if (rundir_make(&to, dest, name, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		t->failed = true;
		return;
	}
	enum status st = copy_files(run, &to);
	if (st != ST_OK) {
		complain(c, "%s: %s", run, status_name(st));
		t->failed = true;
	} else {
		printf("%s -> %s\n", run, to.path);
		t->copied++;
	}
	rundir_close(&to);
}

static int collect_command(const struct command *c, int operands, char **operand)
{
	char product[1024], folder[1100];
	struct tally t = {0};
	struct dirent **list = NULL;
	if (operands != 2) {
		complain(c, "where a stick is mounted and a folder for the runs are expected");
		return EXIT_BAD_INPUT;
	}
	if (!entry(operand[0], "stallmeter", product, sizeof(product)) || !entry(product, "results", folder, sizeof(folder))) {
		complain(c, "%s: no folder stallmeter/results in it", operand[0]);
		return EXIT_BAD_INPUT;
	}
	int n = scandir(folder, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char run[1400], file[1800];
		struct stat about;
		snprintf(run, sizeof(run), "%s/%.255s", folder, list[i]->d_name);
		if (list[i]->d_name[0] != '.' && !stat(run, &about) && S_ISDIR(about.st_mode) &&
		    (entry(run, "journal.jsonl", file, sizeof(file)) || entry(run, "results.json", file, sizeof(file))))
			take_run(c, run, operand[1], &t);
		free(list[i]);
	}
	free(list);
	printf("%u runs: %u taken, %u were there, %u cannot be read\n", t.runs, t.copied, t.there, t.unreadable);
	return t.failed ? EXIT_BROKEN : t.unreadable ? EXIT_ROWS : EXIT_GOOD;
}

const struct command command_collect = {
	"collect", "MOUNT DEST", "Copies the runs of a stick into a folder of many.",
	"MOUNT is where the stick is mounted. Runs that DEST has already are left out; nothing is overwritten, nothing on\n"
	"the stick is changed. Exit status 1: a run is damaged; it was taken all the same.\n",
	collect_options, collect_command,
};
