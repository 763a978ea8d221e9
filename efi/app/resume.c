/* efi/app/resume.c: see resume.h. */
#include "efi/app/resume.h"
#include "bench/suite/boot_variance.h"
#include "bench/results/journal.h"
#include "efi/firmware/console.h"
#include "pmu/text.h"

#define STATE_FILE    "state.txt"
#define JOURNAL_BYTES (256u << 20) /* a row of all pairs of a thousand processors has a line of 20 MB */

/* --- the state --------------------------------------------------------------------------------- */

static bool is(const struct ini *r, const char *key)
{
	return r->key_length == str_length(key) && memcmp(r->key, key, r->key_length) == 0;
}

static enum status take(struct resume_state *s, const struct ini *r)
{
	uint64_t v;
	enum status st = ST_OK;
	if (is(r, "series")) {
		for (size_t at = 0, from = 0; at <= r->value_length && st == ST_OK; at++) {
			if (at < r->value_length && r->value[at] != ',')
				continue;
			st = s->done == BOOT_VARIANCE_MAX ? ST_RANGE : parse_u64(r->value + from, at - from, &v);
			if (st == ST_OK)
				s->series[s->done++] = (unsigned)v;
			from = at + 1;
		}
		return st;
	}
	if (!is(r, "starts") && !is(r, "key") && !is(r, "processors") && !is(r, "starting"))
		return ST_SYNTAX;
	st = parse_u64(r->value, r->value_length, &v);
	if (st == ST_OK && is(r, "starts"))
		s->starts = v > STARTS_MAX ? STARTS_MAX : (unsigned)v;
	else if (st == ST_OK && is(r, "processors"))
		s->processors = v > START_ONE ? START_ONE : (enum start)v;
	else if (st == ST_OK && is(r, "starting"))
		s->starting = v != 0;
	else if (st == ST_OK)
		s->key = v;
	return st;
}

static void state_read(struct resume_state *s, struct files *files)
{
	char *text;
	size_t bytes, pages_bytes;
	struct ini r;
	memset(s, 0, sizeof(*s));
	enum status st = files_read(files, STATE_FILE, FILES_SAVED_BYTES, &text, &bytes, &pages_bytes);
	if (st == ST_MISSING)
		return;
	if (st == ST_OK) {
		ini_init(&r, text, bytes);
		while ((st = ini_next(&r)) == ST_OK && (st = take(s, &r)) == ST_OK)
			;
		pages_put(text, pages_bytes);
	}
	if (st != ST_MISSING) {
		print("%s\\%s is damaged and left out (%s)\n", FILES_FOLDER, STATE_FILE, status_name(st));
		memset(s, 0, sizeof(*s));
	}
}

static void state_keep(struct resume_state *s, struct files *files)
{
	char at[FILES_SAVED_BYTES];
	struct text t;
	text_init(&t, at, sizeof(at));
	text_fmt(&t, "# Stallmeter's own; it may be deleted.\nstarts = %u\n", s->starts);
	if (s->processors != START_AUTO || s->starting)
		text_fmt(&t, "processors = %u\nstarting = %u\n", (unsigned)s->processors, s->starting);
	if (s->done != 0) {
		text_fmt(&t, "key = 0x%llx\nseries = ", (unsigned long long)s->key);
		for (unsigned i = 0; i < s->done; i++)
			text_fmt(&t, "%s%u", i == 0 ? "" : ",", s->series[i]);
		text_char(&t, '\n');
	}
	s->saved = !t.full && files_save(files, STATE_FILE, at, t.length) == ST_OK;
}

bool resume_begin(struct resume_state *s, struct files *files)
{
	state_read(s, files);
	bool again = s->starts < STARTS_MAX;
	s->starts = again ? s->starts + 1 : 0;
	state_keep(s, files);
	if (!again)
		print("the last %u boots completed no row, so this one runs none; the next boot tries again\n", STARTS_MAX);
	return again;
}

void resume_progress(struct resume_state *s, struct files *files)
{
	if (s->starts == 0 && (s->saved || files->state != ST_OK)) /* a state that could not be written is written again after the next row */
		return;
	s->starts = 0;
	state_keep(s, files);
}

enum start resume_start(struct resume_state *s, struct files *files, enum start wish)
{
	static const char *const ways[] = { "by MP services", "by INIT and start-up messages", "not at all" };
	if (s->starting && s->processors < START_ONE)
		s->processors++;
	const enum start how = wish > s->processors ? wish : s->processors;
	if (how != wish)
		print("processors: their start hung in an earlier boot; they are started %s (without %s\\%s all is tried again)\n", ways[how], FILES_FOLDER, STATE_FILE);
	s->processors = how == wish ? s->processors : how;
	s->starting = how != START_ONE;
	if (s->starting) {
		const enum start known = s->processors;
		s->processors = how;
		state_keep(s, files);
		s->processors = known;
	}
	return how;
}

void resume_started(struct resume_state *s, struct files *files)
{
	if (!s->starting)
		return;
	s->starting = false;
	state_keep(s, files);
}

/* The number after the last dash. */
static unsigned run_number(const char *path)
{
	uint64_t v = 0;
	size_t n = str_length(path), from = n;
	while (from > 0 && path[from - 1] != '-')
		from--;
	return parse_u64(path + from, n - from, &v) == ST_OK ? (unsigned)v : 0;
}

bool resume_series(struct resume_state *s, struct files *files, uint64_t key, unsigned boots)
{
	if (boots < 2 || files->state != ST_OK)
		return false;
	if (s->key != key || s->done >= boots)
		s->done = 0;
	s->key = key;
	s->series[s->done++] = run_number(files->run_path);
	bool more = s->done < boots;
	state_keep(s, files);
	if (more && !s->saved) {
		print("boots: the count cannot be written; this was the last\n");
		more = false;
	}
	return more;
}

void resume_end(struct resume_state *s, struct files *files)
{
	s->done = 0;
	s->key = 0;
	state_keep(s, files);
}

/* --- an interrupted run -------------------------------------------------------------------------- */

static bool there(struct files *files, const char *run, const char *name)
{
	char path[RUN_PATH_MAX], *text;
	size_t bytes, pages_bytes;
	struct text t;
	text_init(&t, path, sizeof(path));
	text_fmt(&t, "results\\%s\\%s", run, name);
	enum status st = files_read(files, path, 0, &text, &bytes, &pages_bytes);
	if (st == ST_OK)
		pages_put(text, pages_bytes);
	return st == ST_FULL; /* the file is not empty */
}

static enum status journal_read(struct files *files, const char *run, struct earlier_run *out)
{
	char path[RUN_PATH_MAX];
	struct text t;
	text_init(&t, path, sizeof(path));
	text_fmt(&t, "results\\%s\\journal.jsonl", run);
	return files_read(files, path, JOURNAL_BYTES, &out->journal, &out->bytes, &out->pages_bytes);
}

static bool of_key(struct json run, uint64_t key)
{
	char at[24];
	struct text t;
	struct json v;
	text_init(&t, at, sizeof(at));
	text_fmt(&t, "%016llx", (unsigned long long)key);
	return json_get(run, "key", &v) && json_is(v, at);
}

/* A journal whose first line is lost: nothing tells what run the others are of. */
static void tell_headless(struct journal *j, const struct earlier_run *e)
{
	struct journal_line line;
	unsigned results = 0;
	const bool damaged = j->damaged != 0;
	const size_t bytes = j->damaged_bytes, zeros = j->damaged_zeros;
	while (journal_next(j, &line))
		results += line.event == JOURNAL_ROW || line.event == JOURNAL_PROFILE;
	print("%s\\results\\%s: its journal is left alone and a new run begins: ", FILES_FOLDER, e->name);
	if (damaged && results != 0)
		print("the first line, %zu bytes, is damaged (%zu zeros), and %u row%s after it cannot be used\n", bytes, zeros, results, results == 1 ? "" : "s");
	else if (damaged)
		print("the first line, %zu bytes, is damaged (%zu zeros); there is no row after it\n", bytes, zeros);
	else
		print("it does not begin with a run\n");
}

enum resume resume_find(struct files *files, const char *prefix, uint64_t key, struct earlier_run *out)
{
	struct journal j;
	struct journal_line line;
	bool ended = false;
	memset(out, 0, sizeof(*out));
	enum status s = files_last_run(files, prefix, out->name, sizeof(out->name));
	if (s != ST_OK)
		return RESUME_NEW;
	s = journal_read(files, out->name, out);
	if (s == ST_FULL || s == ST_IO)
		print("%s\\results\\%s: its journal cannot be read (%s): a new run begins\n", FILES_FOLDER, out->name, s == ST_FULL ? "it is too long, or there is no memory" : status_name(s));
	if (s != ST_OK)
		return RESUME_NEW;
	journal_open(&j, out->journal, out->bytes);
	if (!journal_next(&j, &line) || line.event != JOURNAL_RUN) {
		tell_headless(&j, out);
		return RESUME_NEW;
	}
	if (!of_key(line.object, key))
		return RESUME_NEW;
	while (journal_next(&j, &line))
		ended = ended || line.event == JOURNAL_END;
	out->all_bytes = out->bytes;
	out->bytes = j.whole_bytes;
	if (journal_unanswered(&j) != 0)
		print("%s\\results\\%s: %u line%s of its journal %s damaged and left out, the first is line %u at byte %zu: %zu bytes are lost, %zu of them zeros\n",
		      FILES_FOLDER, out->name, j.damaged, j.damaged == 1 ? "" : "s", j.damaged == 1 ? "is" : "are", j.first_damaged, j.damaged_at,
		      j.damaged_bytes, j.damaged_zeros);
	if (!ended)
		return RESUME_ROWS;
	const bool whole = there(files, out->name, "results.json") && there(files, out->name, "penalties.csv") &&
	                   there(files, out->name, "report.html");
	/* what a damaged journal has lost is measured again: files without it would be those of another run */
	return whole ? RESUME_NEW : journal_unanswered(&j) != 0 ? RESUME_ROWS : RESUME_FILES;
}

void resume_put(struct earlier_run *e)
{
	pages_put(e->journal, e->pages_bytes);
	e->journal = NULL;
}

/* --- the spread between boots ---------------------------------------------------------------------- */

enum status resume_series_write(const struct resume_state *s, struct files *files, const char *prefix, struct upload *u)
{
	struct boot_variance *b = pages_get(sizeof(*b));
	char *json = pages_get(BOOT_VARIANCE_TEXT), *csv = pages_get(BOOT_VARIANCE_TEXT), name[FILE_NAME_MAX];
	struct text jt, ct, t;
	enum status st = b != NULL && json != NULL && csv != NULL ? ST_OK : ST_FULL;
	for (unsigned i = 0; i < s->done && st == ST_OK; i++) {
		struct earlier_run run = { .journal = NULL };
		text_init(&t, name, sizeof(name));
		text_fmt(&t, "%s-%04u", prefix, s->series[i]);
		if (journal_read(files, name, &run) != ST_OK)
			print("boots: %s cannot be read and is left out\n", name);
		else
			boot_variance_add(b, name, run.journal, run.bytes);
		resume_put(&run);
	}
	if (st == ST_OK) {
		text_init(&jt, json, BOOT_VARIANCE_TEXT);
		text_init(&ct, csv, BOOT_VARIANCE_TEXT);
		boot_variance_json(&jt, b);
		boot_variance_csv(&ct, b);
		st = jt.full || ct.full ? ST_FULL : files_write(files, "boots.json", json, jt.length);
		if (u != NULL && !jt.full && !ct.full) {
			upload_file(u, "boots.json", json, jt.length);
			upload_file(u, "boots.csv", csv, ct.length);
		}
	}
	if (st == ST_OK)
		st = files_write(files, "boots.csv", csv, ct.length);
	pages_put(csv, BOOT_VARIANCE_TEXT);
	pages_put(json, BOOT_VARIANCE_TEXT);
	pages_put(b, sizeof(*b));
	return st;
}
