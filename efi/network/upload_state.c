/* efi/network/upload_state.c: see upload_state.h; resumes uploads of earlier boots of the stick. */
#include "efi/network/upload_state.h"
#include "efi/firmware/console.h"
#include "pmu/text.h"

#define FILE_BYTES_MAX 0x2000000u

struct note { char to[UPLOAD_DIR]; uint64_t journal; bool done; };

static bool is(const struct ini *r, const char *key)
{
	return r->key_length == str_length(key) && memcmp(r->key, key, r->key_length) == 0;
}

static void path_of(char *to, size_t capacity, const char *run, const char *name)
{
	struct text t;
	text_init(&t, to, capacity);
	text_fmt(&t, "results\\%s\\%s", run, name);
}

/* ST_MISSING: there is none, or it is damaged. */
static enum status note_read(struct note *n, struct files *files, const char *run)
{
	char path[RUN_PATH_MAX], *text;
	size_t bytes, pages_bytes;
	struct ini r;
	memset(n, 0, sizeof(*n));
	path_of(path, sizeof(path), run, UPLOAD_STATE);
	enum status s = files_read(files, path, FILES_SAVED_BYTES, &text, &bytes, &pages_bytes);
	if (s != ST_OK)
		return ST_MISSING;
	ini_init(&r, text, bytes);
	while (s == ST_OK && (s = ini_next(&r)) == ST_OK) {
		if (is(&r, "to") && r.value_length < sizeof(n->to))
			memcpy(n->to, r.value, r.value_length);
		else if (is(&r, "journal"))
			s = parse_u64(r.value, r.value_length, &n->journal);
		else if (is(&r, "done"))
			n->done = r.value_length == 3;
	}
	pages_put(text, pages_bytes);
	return s == ST_MISSING ? ST_OK : ST_MISSING;
}

static enum status note_text(char *at, size_t capacity, const char *to, uint64_t journal, bool done, size_t *bytes)
{
	struct text t;
	text_init(&t, at, capacity);
	text_fmt(&t, "# Stallmeter's own: what the server has of this run.\njournal = %llu\ndone = %s\n", (unsigned long long)journal, done ? "yes" : "no");
	if (to[0] != 0)
		text_fmt(&t, "to = %s\n", to);
	*bytes = t.length;
	return t.full ? ST_FULL : ST_OK;
}

void upload_state_save(const struct upload *u, enum upload_progress progress)
{
	char at[FILES_SAVED_BYTES];
	size_t n;
	if (u->files->run == NULL || u->files->state != ST_OK)
		return;
	enum status s = note_text(at, sizeof(at), u->dir, u->sent, progress == UPLOAD_DONE, &n);
	if (s == ST_OK)
		s = files_save_of_run(u->files, NULL, UPLOAD_STATE, at, n);
	if (s != ST_OK)
		print("upload: " UPLOAD_STATE " cannot be written (%s)\n", status_name(s));
}

/* Name of the open run. */
static const char *run_name(const struct upload *u)
{
	const char *name = u->files->run_path;
	for (const char *c = name; *c != 0; c++)
		if (*c == '\\')
			name = c + 1;
	return name;
}

void upload_resume(struct upload *u)
{
	char path[RUN_PATH_MAX], *text;
	size_t bytes, pages_bytes;
	struct note n;
	const char *name = run_name(u);
	if (u->files->run == NULL)
		return;
	if (note_read(&n, u->files, name) == ST_OK && n.to[0] != 0 && str_starts(n.to, u->to)) {
		str_copy(u->dir, sizeof(u->dir), n.to);
		u->sent = n.journal;
	}
	/* A resumed run does not write this file again. */
	path_of(path, sizeof(path), name, "machine.txt");
	if (files_read(u->files, path, FILE_BYTES_MAX, &text, &bytes, &pages_bytes) == ST_OK) {
		u->resumed = true;
		upload_file(u, "machine.txt", text, bytes);
		pages_put(text, pages_bytes);
	}
	upload_state_save(u, UPLOAD_BEGUN); /* records from now on that this run is to be sent */
}

/* --- earlier runs ---------------------------------------------------------------------------------- */

struct earlier { struct upload *u; void (*feed)(const void *self); const void *self; bool stop; };

/* Sends all files of a run again; the server reports those that it already has. */
static void send_run(void *self, const char *run)
{
	static const char *const names[] = { "journal.jsonl", "machine.txt", "results.json", "penalties.csv", "report.html", "plan.txt",
		"counts.txt", "boots.json", "boots.csv" };
	struct earlier *e = self;
	struct upload one = *e->u;
	struct note n;
	char path[RUN_PATH_MAX], at[FILES_SAVED_BYTES], *text;
	size_t bytes, pages_bytes;
	enum status s = ST_OK;
	if (e->stop || str_equal(run, run_name(e->u)) || note_read(&n, e->u->files, run) != ST_OK || n.done)
		return;
	size_t stem = str_length(run);
	while (stem > 0 && run[stem - 1] != '-')
		stem--;
	const size_t mac = str_length(one.run) - 2 * ORIGIN_MAC_BYTES - 1; /* -MAC after the name of this machine's runs */
	struct text t;
	char tail[2 * ORIGIN_MAC_BYTES + 2];
	str_copy(tail, sizeof(tail), one.run + mac);
	text_init(&t, one.run, sizeof(one.run));
	text_bytes(&t, run, stem > 0 ? stem - 1 : 0);
	text_fmt(&t, "%s", tail);
	one.count = 0;
	str_copy(one.dir, sizeof(one.dir), n.to[0] != 0 && str_starts(n.to, one.to) ? n.to : "");
	one.number = 1;
	const bool had = one.dir[0] != 0;
	print("upload: %s of an earlier boot\n", run);
	for (unsigned i = 0; i < COUNT_OF(names) && s == ST_OK; i++) {
		path_of(path, sizeof(path), run, names[i]);
		enum status there = files_read(one.files, path, FILE_BYTES_MAX, &text, &bytes, &pages_bytes);
		if (there == ST_MISSING)
			continue;
		if (there == ST_OK && bytes > 0) {
			e->feed(e->self);
			s = upload_put(&one, names[i], text, bytes, had) ? ST_OK : ST_IO;
		} else {
			s = there;
		}
		if (there == ST_OK)
			pages_put(text, pages_bytes);
	}
	e->stop = s != ST_OK;
	str_copy(e->u->printed, sizeof(e->u->printed), one.printed);
	if (note_text(at, sizeof(at), one.dir, n.journal, s == ST_OK, &bytes) != ST_OK || files_save_of_run(one.files, run, UPLOAD_STATE, at, bytes) != ST_OK)
		print("upload: %s\\" UPLOAD_STATE " cannot be written\n", run);
	if (s == ST_OK)
		print("uploaded: %s\n", one.dir);
}

void upload_earlier(struct upload *u, void (*feed)(const void *self), const void *self)
{
	struct earlier e = { u, feed, self, false };
	if (files_each_run(u->files, send_run, &e) != ST_OK)
		print("upload: the results on the stick cannot be listed\n");
}
