/* runner/commands/collect.c: `stallmeter collect`: copies the runs of many sticks into one folder. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmu/text.h"
#include "runner/commands/fetch.h"
#include "runner/options/command.h"
#include "runner/data/file.h"
#include "runner/data/reader.h"
#include "runner/data/rundir.h"

#define FILE_BYTES_MOST (256u << 20)
#define LEVELS          3u /* of folders below FROM: stallmeter/results/RUN */

struct tally { unsigned runs, copied, there, unreadable; bool failed; };

static unsigned collect_options(struct option *list, unsigned most)
{
	(void)list, (void)most;
	return 0;
}

/* Finds the folder's entry of that name in any case, since FAT is case-insensitive. */
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
	struct stat of_a, of_b;
	if (stat(a, &of_a) || stat(b, &of_b) || of_a.st_size != of_b.st_size)
		return false;
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
	if (reader_read(&r, run, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s; taken all the same", problem);
		t->unreadable++;
	} else {
		if (r.note[0])
			complain(c, "%s: %s", r.path, r.note);
		reader_free(&r);
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

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *at)
{
	(void)about, (void)type, (void)at;
	return remove(path);
}

static bool is_run(const char *folder)
{
	char file[2048];
	return entry(folder, "journal.jsonl", file, sizeof(file)) || entry(folder, "results.json", file, sizeof(file));
}

static bool is_folder(const char *path)
{
	struct stat about;
	return !stat(path, &about) && S_ISDIR(about.st_mode);
}

/* Takes the runs of a folder and its subfolders: a stick has them in stallmeter/results, an upload server below each machine's folder. */
static void take_folder(const struct command *c, const char *folder, unsigned levels, const char *dest, struct tally *t)
{
	struct dirent **list = NULL;
	if (is_run(folder)) {
		take_run(c, folder, dest, t);
		return;
	}
	int n = levels ? scandir(folder, &list, NULL, alphasort) : 0;
	for (int i = 0; i < n; i++) {
		char below[1400];
		if (list[i]->d_name[0] != '.' && snprintf(below, sizeof(below), "%.1100s/%.255s", folder, list[i]->d_name) < (int)sizeof(below) && is_folder(below))
			take_folder(c, below, levels - 1, dest, t);
		free(list[i]);
	}
	free(list);
}

/* Takes the runs of a log of the serial line: rebuilds them in a temporary folder below DEST, then takes that folder. */
static void take_log(const struct command *c, const char *log, const char *dest, struct tally *t)
{
	char made[1100];
	if (snprintf(made, sizeof(made), "%.1000s/.serial-XXXXXX", dest) >= (int)sizeof(made) || (mkdir(dest, 0777) && errno != EEXIST) || !mkdtemp(made)) {
		complain(c, "%s: %s", dest, strerror(errno));
		t->failed = true;
		return;
	}
	int s = fetch_log(c, log, made);
	if (s == EXIT_BAD_INPUT || s == EXIT_BROKEN)
		t->failed = true;
	else if (s == EXIT_ROWS)
		t->unreadable++;
	take_folder(c, made, LEVELS, dest, t);
	if (nftw(made, remove_entry, 8, FTW_DEPTH | FTW_PHYS))
		complain(c, "%s: %s", made, strerror(errno));
}

static int collect_command(const struct command *c, int operands, char **operand)
{
	struct tally t = {0};
	if (operands < 2) {
		complain(c, "sticks, folders or logs are expected, followed by a folder for the runs");
		return EXIT_BAD_INPUT;
	}
	const char *dest = operand[operands - 1];
	for (int i = 0; i + 1 < operands; i++) {
		struct stat about;
		if (stat(operand[i], &about)) {
			complain(c, "%s: %s", operand[i], strerror(errno));
			return EXIT_BAD_INPUT;
		}
	}
	for (int i = 0; i + 1 < operands; i++) {
		const unsigned before = t.runs;
		char path[1000];
		snprintf(path, sizeof(path), "%.999s", operand[i]);
		for (size_t n = strlen(path); n > 1 && path[n - 1] == '/'; n--)
			path[n - 1] = 0;
		if (is_folder(path))
			take_folder(c, path, LEVELS, dest, &t);
		else
			take_log(c, path, dest, &t);
		if (t.runs == before && !t.failed) {
			complain(c, "%s: no run in it", operand[i]);
			t.failed = true;
		}
	}
	printf("%u run%s: %u taken, %u were there, %u cannot be read\n", t.runs, t.runs == 1 ? "" : "s", t.copied, t.there, t.unreadable);
	return t.failed ? EXIT_BROKEN : t.unreadable ? EXIT_ROWS : EXIT_GOOD;
}

const struct command command_collect = {
	"collect", "FROM... DEST", "Copies runs from sticks, uploads and logs into one folder.",
	"FROM is the mount point of a stick, a folder of runs (of uploads, or of `stallmeter run --out`), one run's folder, or\n"
	"a log of the serial line (see `stallmeter fetch`). Runs that DEST already has are skipped; nothing is overwritten,\n"
	"and nothing in FROM is changed. Exit status: 1 a damaged run was copied as it is; 3 a FROM has no run.\n",
	collect_options, collect_command,
};
