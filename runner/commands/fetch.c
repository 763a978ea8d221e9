/* runner/commands/fetch.c: `stallmeter fetch --serial LOG`: rebuilds runs from a log of the serial line
 * (efi/firmware/serial.h describes the lines). Only intact lines are used; a run is rebuilt byte for byte, or the missing lines
 * are reported. */
#include <stdlib.h>
#include <string.h>

#include "bench/results/journal.h"
#include "bench/suite/suite.h"
#include "runner/commands/fetch.h"
#include "runner/host/backend.h"
#include "runner/options/command.h"
#include "runner/data/file.h"
#include "runner/data/rundir.h"

#define LOG_BYTES   (1u << 30)
#define LINES_MOST  1000000u
#define PARTS_MOST  100000u
#define NAMED_MOST  40u /* gaps that are reported individually */

static const char *log_file, *out = "out/run";

static unsigned fetch_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--serial", OPTION_TEXT, &log_file, "LOG", NULL, 0, 0, "a log of the serial line, recorded by a terminal or a remote console"},
		{"--out", OPTION_TEXT, &out, "DIR", NULL, 0, 0, "where the runs' directories are made (default: out/run)"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

/* A received part of a line. */
struct part { uint32_t tag; char file; unsigned line, part, parts, order; const char *text; size_t bytes; };
struct parts { struct part *list; size_t count, room; unsigned damaged; };

static bool number_at(const char **at, const char *end, int base, unsigned most, uint32_t *value)
{
	uint64_t v = 0;
	const char *p = *at;
	unsigned digits = 0;
	for (; p < end && digits < 9; p++, digits++) {
		int d = *p >= '0' && *p <= '9' ? *p - '0' : base == 16 && *p >= 'a' && *p <= 'f' ? *p - 'a' + 10 : 16;
		if (d >= base)
			break;
		v = v * (unsigned)base + (unsigned)d;
	}
	if (!digits || (base == 16 && digits != 8) || v > most || p == end || *p != ' ')
		return false;
	*at = p + 1;
	*value = (uint32_t)v;
	return true;
}

/* Parses the text between the prefix and the line's end. */
static bool part_read(const char *at, const char *end, struct part *p)
{
	const char *head = at, *head_end;
	uint32_t sum, line, part, parts;
	if (!number_at(&at, end, 16, UINT32_MAX, &p->tag) || end - at < 2 || at[1] != ' ')
		return false;
	p->file = at[0];
	at += 2;
	if (!number_at(&at, end, 10, LINES_MOST, &line) || !number_at(&at, end, 10, PARTS_MOST, &part) ||
	    !number_at(&at, end, 10, PARTS_MOST, &parts))
		return false;
	head_end = at; /* includes the blank */
	if (!number_at(&at, end, 16, UINT32_MAX, &sum) || !line || !part || part > parts)
		return false;
	uint64_t h = fnv1a64(fnv1a64(FNV1A64_START, head, (size_t)(head_end - head)), at, (size_t)(end - at));
	p->line = line, p->part = part, p->parts = parts, p->text = at, p->bytes = (size_t)(end - at);
	return (uint32_t)(h ^ h >> 32) == sum && (p->file == 'n' || p->file == 'j' || p->file == 'm');
}

/* Removes bytes that terminals and remote consoles insert into lines and a journal never contains: escape sequences (ECMA-48:
 * ESC [ parameters, a final byte from @ to ~; ESC and one byte), carriage returns, zeros. */
static size_t plain(char *text, size_t bytes)
{
	size_t n = 0;
	for (size_t i = 0; i < bytes; i++) {
		if (text[i] == 0x1B) {
			if (++i < bytes && text[i] == '[')
				while (++i < bytes && (text[i] < '@' || text[i] > '~') && text[i] != '\n') { }
			if (i < bytes && text[i] == '\n')
				i--;
		} else if (text[i] != '\r' && text[i])
			text[n++] = text[i];
	}
	return n;
}

static enum status log_read(const char *text, size_t bytes, struct parts *all)
{
	static const char prefix[] = "@sm ";
	const char *end = text + bytes;
	for (const char *at = text; at < end;) {
		const char *feed = memchr(at, '\n', (size_t)(end - at)), *next = feed ? feed + 1 : end, *last = feed ? feed : end;
		const char *found = memmem(at, (size_t)(last - at), prefix, sizeof(prefix) - 1);
		at = next;
		if (!found)
			continue;
		struct part p;
		if (!part_read(found + sizeof(prefix) - 1, last, &p)) {
			all->damaged++;
			continue;
		}
		if (all->count == all->room) {
			size_t room = all->room ? 2 * all->room : 1024;
			struct part *more = realloc(all->list, room * sizeof(*more));
			if (!more)
				return ST_FULL;
			all->list = more;
			all->room = room;
		}
		p.order = (unsigned)all->count;
		all->list[all->count++] = p;
	}
	return ST_OK;
}

/* If a part was sent twice, the later one sorts last. */
static int part_order(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	if (x->tag != y->tag)
		return x->tag < y->tag ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* A file assembled from its sorted parts; incomplete lines are left out and counted. */
struct rebuilt_file { char *text; size_t bytes; unsigned lines, gaps; };

static void gap(const struct command *c, struct rebuilt_file *w, const char *run, const char *file, unsigned from, unsigned to)
{
	w->gaps += to - from + 1;
	if (w->gaps > NAMED_MOST + to - from)
		return;
	if (from == to)
		complain(c, "%s: %s: line %u is missing or damaged", run, file, from);
	else
		complain(c, "%s: %s: lines %u to %u are missing or damaged", run, file, from, to);
}

static enum status put_together(const struct command *c, const struct part *p, size_t n, const char *run, const char *file, struct rebuilt_file *w)
{
	size_t room = 1;
	for (size_t i = 0; i < n; i++)
		room += p[i].bytes + 1;
	*w = (struct rebuilt_file){ .text = malloc(room) };
	if (!w->text)
		return ST_FULL;
	unsigned expected = 1;
	for (size_t i = 0, next; i < n; i = next) {
		size_t from = w->bytes;
		unsigned want = 1, parts = p[i].parts;
		for (next = i; next < n && p[next].line == p[i].line; next++)
			parts = p[next].parts;
		for (size_t k = i; k < next; k++) {
			bool last = k + 1 == next || p[k + 1].part != p[k].part;
			if (!last || p[k].part != want || p[k].parts != parts)
				continue;
			memcpy(w->text + w->bytes, p[k].text, p[k].bytes);
			w->bytes += p[k].bytes;
			want++;
		}
		if (p[i].line > expected)
			gap(c, w, run, file, expected, p[i].line - 1);
		expected = p[i].line + 1;
		if (want != parts + 1) {
			w->bytes = from;
			gap(c, w, run, file, p[i].line, p[i].line);
			continue;
		}
		w->text[w->bytes++] = '\n';
		w->lines++;
	}
	w->text[w->bytes] = 0;
	return ST_OK;
}

static size_t span_of(const struct part *p, size_t n, char file, size_t *count)
{
	size_t from = 0;
	while (from < n && p[from].file < file)
		from++;
	for (*count = 0; from + *count < n && p[from + *count].file == file; (*count)++)
		;
	return from;
}

static enum status write_file(void *self, const char *name, const void *bytes, size_t n)
{
	return rundir_write(self, name, bytes, n);
}

static bool has_end(const struct rebuilt_file *w)
{
	struct journal j;
	struct journal_line line;
	bool end = false;
	journal_open(&j, w->text, w->bytes);
	while (journal_next(&j, &line))
		end = line.event == JOURNAL_END;
	return end;
}

/* Rebuilds and writes a run from all its parts. */
static int run_write(const struct command *c, const char *to, const struct part *p, size_t n)
{
	struct rebuilt_file name = { 0 }, journal = { 0 }, machine = { 0 };
	struct rundir d = { .fd = -1 };
	char problem[1200], run[128];
	size_t count, at = span_of(p, n, 'n', &count);
	int status = EXIT_BROKEN;

	snprintf(run, sizeof(run), "unnamed-%08x-0000", p->tag);
	if (count && p[at].bytes < sizeof(run))
		snprintf(run, sizeof(run), "%.*s", (int)p[at].bytes, p[at].text);
	at = span_of(p, n, 'j', &count);
	enum status s = put_together(c, p + at, count, run, "journal.jsonl", &journal);
	at = span_of(p, n, 'm', &count);
	if (s == ST_OK)
		s = put_together(c, p + at, count, run, "machine.txt", &machine);
	/* NAME-NNNN: rundir_make assigns a new number */
	size_t stem = strlen(run);
	if (stem > 5 && run[stem - 5] == '-' && strspn(run + stem - 4, "0123456789") == 4)
		stem -= 5;
	char plain[128];
	snprintf(plain, sizeof(plain), "%.*s", (int)stem, run);
	if (s == ST_OK)
		s = rundir_make(&d, to, plain, problem, sizeof(problem));
	else
		snprintf(problem, sizeof(problem), "%s", status_name(s));
	if (s != ST_OK) {
		complain(c, "%s", problem);
		goto done;
	}
	bool ended = has_end(&journal), whole = !journal.gaps && !machine.gaps && ended;
	s = rundir_write(&d, "journal.jsonl", journal.text, journal.bytes);
	if (s == ST_OK && machine.bytes)
		s = rundir_write(&d, "machine.txt", machine.text, machine.bytes);
	if (s == ST_OK && whole) {
		const struct suite_host host = { .self = &d, .write = write_file, .get = backend_pages_get, .put = backend_pages_put };
		s = suite_rebuild(journal.text, journal.bytes, &host);
		if (s == ST_SYNTAX || s == ST_MISSING)
			whole = false;
	}
	if (!ended)
		complain(c, "%s: the log ends before the run does", run);
	if (journal.gaps + machine.gaps > NAMED_MOST)
		complain(c, "%s: %u lines are missing or damaged in all", run, journal.gaps + machine.gaps);
	if (s != ST_OK && whole)
		complain(c, "%s: %s", d.path, status_name(s));
	else
		status = whole ? EXIT_GOOD : EXIT_ROWS;
	printf("%s: %s\n", whole ? "fetched" : "in part", d.path);
done:
	rundir_close(&d);
	free(name.text), free(journal.text), free(machine.text);
	return status;
}

int fetch_log(const struct command *c, const char *log, const char *folder)
{
	struct parts all = { 0 };
	char *text, problem[512];
	size_t bytes;
	int status = EXIT_GOOD;
	if (file_read(log, LOG_BYTES, &text, &bytes, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	if (log_read(text, plain(text, bytes), &all) != ST_OK) {
		complain(c, "%s: no memory", log);
		status = EXIT_BROKEN;
	} else if (!all.count) {
		complain(c, "%s: no line of a run is in it", log);
		status = EXIT_BAD_INPUT;
	} else {
		qsort(all.list, all.count, sizeof(*all.list), part_order);
		for (size_t from = 0, to; from < all.count; from = to) {
			for (to = from; to < all.count && all.list[to].tag == all.list[from].tag; to++)
				;
			int one = run_write(c, folder, all.list + from, to - from);
			status = one > status ? one : status;
		}
		if (all.damaged)
			complain(c, "%s: %u lines do not fit their checksum", log, all.damaged);
	}
	free(all.list);
	free(text);
	return status;
}

static int fetch_command(const struct command *c, int operands, char **operand)
{
	(void)operands, (void)operand;
	if (!log_file) {
		complain(c, "--serial LOG is required");
		return EXIT_BAD_INPUT;
	}
	return fetch_log(c, log_file, out);
}

const struct command command_fetch = {
	"fetch", "", "Rebuilds runs from a log of the serial line.",
	"The application sends each line of a run's files over the serial line too, with a prefix and a checksum.\n"
	"A log of that line suffices to rebuild a run's directory byte for byte. Logs of several boots may be concatenated.\n"
	"If lines are missing or damaged, they are named, only intact lines of the journal are kept, and the exit status is 1.\n",
	fetch_options, fetch_command,
};
