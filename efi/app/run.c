/* efi/app/run.c: runs suites, counts and plans in the UEFI application: files, progress, resumption, series. */
#include "efi/app/run.h"
#include "efi/app/count.h"
#include "bench/suite/listing.h"
#include "efi/firmware/console.h"
#include "efi/app/crash.h"
#include "efi/app/send.h"
#include "efi/firmware/screen.h"
#include "efi/firmware/serial.h"
#include "bench/suite/suite_kinds.h"
#include "pmu/text.h"

#define EXPECT_BYTES_MAX 0x40000u
#define LINE_BYTES       4096u
#define STATUS_COLUMNS   79
#define SHOWN_MS         1000 /* progress within a row */
#define PLAN_BYTES_MAX   0x800000u

/* A refusal of the firmware in the user's terms. */
static const char *reason(enum status s)
{
	switch (s) {
	case ST_FULL: return "the volume is full";
	case ST_REFUSED: return "the volume is write-protected";
	case ST_MISSING: return "there is no volume or folder to write to";
	case ST_IO: return "the volume does not answer any more, or is damaged";
	default: return status_name(s);
	}
}

enum status run_settings(struct config *c, struct files *files, struct suite_settings *s)
{
	char problem[400], *text;
	size_t bytes, pages_bytes;
	*s = (struct suite_settings){ .suite = c->suite, .repetitions = c->repetitions, .vector_bits = c->vector_bits, .kernels = c->kernels, .ibs_misses = c->ibs_misses, .seed = c->seed, .label = c->label,
		.cores = c->cores, .nodes = c->nodes, .counting = c->count[0] != 0 || c->metrics[0] != 0, .profile = c->profile[0] != 0 ? c->profile : NULL };
	if (s->profile != NULL && c->suite_from.line == 0) /* not given: a profile has rows of its own */
		s->suite = "";
	enum status result = suite_check(s, problem, sizeof(problem));
	if (result != ST_OK) {
		config_problem(c, config_origin(c, problem, &c->suite_from), "%s", problem);
		return result;
	}
	if (c->expect[0] == 0)
		return ST_OK;
	result = files_read(files, c->expect, EXPECT_BYTES_MAX, &text, &bytes, &pages_bytes);
	if (result != ST_OK) {
		config_problem(c, &c->expect_from, "expect: file \"%s\" cannot be read (%s); expected a text of at most %u bytes",
		               c->expect, status_name(result), EXPECT_BYTES_MAX);
		return result;
	}
	s->expect = text; /* files_read terminates the text with a zero */
	result = suite_check(s, problem, sizeof(problem));
	if (result != ST_OK && c->problem[0] == 0) {
		struct text t;
		text_init(&t, c->problem, sizeof(c->problem));
		text_fmt(&t, "%s: %s", c->expect, problem);
		str_one_line(c->problem);
	}
	return result;
}

/* --- what suite_run calls -------------------------------------------------------------------------- */
struct run_context {
	struct files *files;
	struct resume_state *state;
	struct watchdog *watchdog;
	struct serial serial;
	struct saved_results *saved;
	struct run *run;          /* for the upload */
	bool settling;            /* the files are written again, but not sent again: they were sent, or are kept for sending */
	bool unsaved;             /* there is no run directory: only the serial line has everything */
	enum status unwritten;    /* why the last lines of the journal are not on the medium, ST_OK if they are */
	unsigned tries, wait;     /* consecutive failed attempts; lines until the next attempt */
	bool file_lost;           /* a complete file could not be written */
	const struct clock *clock;
	uint64_t started, row_started, shown; /* TSC */
	struct progress progress; /* as last shown */
	struct table table;
	enum status printed;         /* the last reason that was printed */
	uint64_t last_file;       /* TSC when the last complete file was written */
	bool status_line;         /* a transient line is on the screen */
};

static void clear_status(struct run_context *p)
{
	if (p->status_line)
		print_screen("\r%*s\r", STATUS_COLUMNS, "");
	p->status_line = false;
}

static enum status told(struct run_context *p, const char *name, enum status s)
{
	if (s != ST_OK && s != p->printed) {
		clear_status(p);
		print("%s: cannot be written: %s; the run continues\n", name, reason(s));
		p->printed = s;
	}
	return s;
}

enum attempt { ATTEMPT_WHEN_DUE, ATTEMPT_NOW };

/* Brings the journal on the medium up to date. An attempt may take a minute: a failure is tried again with the next line, then the second, fourth, ... after it, and at the end (ATTEMPT_NOW). */
static enum status journal_write(struct run_context *p, enum attempt attempt)
{
	const struct saved_results_text *j = &p->saved->journal;
	if (p->unsaved || j->lost)
		return ST_OK;
	if (p->unwritten != ST_OK && attempt == ATTEMPT_WHEN_DUE && p->wait > 0) {
		p->wait--;
		return p->unwritten;
	}
	enum status s = p->files->state == ST_OK ? ST_OK : files_again(p->files, j->at, j->bytes);
	if (s == ST_OK)
		s = files_append(p->files, j->at + p->files->journal_bytes, j->bytes - p->files->journal_bytes);
	if (s == ST_OK && p->unwritten != ST_OK) {
		clear_status(p);
		print("journal.jsonl: written again, nothing is missing\n");
		p->printed = ST_OK;
	}
	p->tries = s == ST_OK ? 0 : p->tries + 1;
	p->wait = s == ST_OK ? 0 : (1u << (p->tries < 10 ? p->tries : 10)) / 2 - 1;
	return p->unwritten = s;
}

static enum status host_append(void *self, const char *name, const void *bytes, size_t n)
{
	struct run_context *p = self;
	watchdog_feed(p->watchdog);
	saved_results_append(&p->saved->journal, bytes, n);
	enum status s = p->saved->journal.lost && !p->unsaved ? files_append(p->files, bytes, n) : journal_write(p, ATTEMPT_WHEN_DUE);
	(void)told(p, name, s);
	serial_journal(&p->serial, bytes, n); /* after the file, so that a line on the serial port is also on the medium */
	send_journal(p->run, &p->saved->journal);
	return p->saved->journal.lost ? s : ST_OK; /* the rest is in memory and will be tried again; settle() reports the outcome */
}

static enum status host_write(void *self, const char *name, const void *bytes, size_t n)
{
	struct run_context *p = self;
	watchdog_feed(p->watchdog);
	if (str_equal(name, "machine.txt")) {
		serial_file(&p->serial, 'm', bytes, n);
		saved_results_write(&p->saved->machine, bytes, n);
	}
	if (str_equal(name, "results.json"))
		saved_results_write(&p->saved->results, bytes, n);
	if (!p->settling)
		send_file(p->run, name, bytes, n);
	if (p->unsaved)
		return ST_OK;
	/* drawing the report begins when the previous file is written */
	const bool drawn = str_equal(name, "report.html") && p->last_file != 0;
	uint64_t began = drawn ? p->last_file : read_tsc();
	enum status s = files_write(p->files, name, bytes, n);
	p->file_lost = p->file_lost || s != ST_OK;
	if (told(p, name, s) == ST_OK) {
		clear_status(p);
		print("%swritten: %s, %zu bytes in %lu ms\n", drawn ? "drawn and " : "", name, n, (unsigned long)clock_ms(p->clock, read_tsc() - began));
	}
	p->last_file = read_tsc();
	return ST_OK; /* settle() reports failures */
}

/* Tries once more at the end to write what is not on the medium. Returns the status of the results as a whole. */
static enum status settle(struct run_context *p, const struct suite_host *host)
{
	if (p->unsaved || (p->unwritten == ST_OK && !p->file_lost))
		return ST_OK;
	watchdog_feed(p->watchdog);
	p->settling = true;
	enum status s = journal_write(p, ATTEMPT_NOW);
	if (s == ST_OK && p->file_lost && !p->saved->journal.lost) {
		p->file_lost = false;
		p->printed = ST_OK;
		s = p->files->state == ST_OK ? ST_OK : files_again(p->files, p->saved->journal.at, p->saved->journal.bytes);
		if (s == ST_OK && p->saved->machine.bytes != 0 && !p->saved->machine.lost)
			s = host_write(p, "machine.txt", p->saved->machine.at, p->saved->machine.bytes);
		if (s == ST_OK)
			s = suite_rebuild(p->saved->journal.at, p->saved->journal.bytes, host);
		if (s == ST_OK && p->file_lost)
			s = ST_IO;
	}
	return told(p, "the run", s);
}

static void show_progress(struct run_context *p, uint64_t now)
{
	const uint64_t ms = clock_ms(p->clock, now - p->started), row_ms = clock_ms(p->clock, now - p->row_started);
	char line[200];
	struct text t;
	text_init(&t, line, sizeof(line));
	unsigned permille = table_progress(&t, &p->progress, ms - row_ms, row_ms);
	clear_status(p);
	print_screen("%s", line);
	p->status_line = true;
	p->shown = now;
	if (console.drawn != NULL)
		screen_progress(console.drawn, line, permille);
}

static void host_progress(void *self, const struct progress *p)
{
	struct run_context *here = self;
	here->progress = *p;
	here->row_started = read_tsc();
	show_progress(here, here->row_started);
	if (p->row != NULL)
		crash_here(p->row->name);
}

static void working(void *self)
{
	struct run_context *p = self;
	watchdog_feed_seldom(p->watchdog, read_tsc(), p->clock->tsc_hz);
}

static void host_working(void *self)
{
	struct run_context *p = self;
	uint64_t now = read_tsc();
	working(p);
	if (clock_ms(p->clock, now - p->shown) >= SHOWN_MS)
		show_progress(p, now);
}

static void host_row_done(void *self, const struct row_result *r)
{
	char line[LINE_BYTES];
	struct text t;
	struct run_context *p = self;
	clear_status(p);
	text_init(&t, line, sizeof(line));
	table_line(&t, &p->table, r);
	print_text(line);
	if (!p->unsaved)
		resume_progress(p->state, p->files);
}

static void host_print(void *self, const char *lines)
{
	char line[LINE_BYTES];
	struct text t;
	clear_status(self);
	for (text_init(&t, line, sizeof(line)); text_fold(&t, &lines, TABLE_COLUMNS, TABLE_HANG); text_init(&t, line, sizeof(line)))
		print_text(line);
}

static bool host_stop(void *self)
{
	(void)self;
	return console_stop_pressed();
}

static void *host_get(void *self, size_t bytes)
{
	(void)self;
	return pages_get(bytes);
}

static void host_put(void *self, void *at, size_t bytes)
{
	(void)self;
	pages_put(at, bytes);
}

static enum exit_status end_of(enum status run, enum status restored, enum status files, const struct suite_summary *s)
{
	if (run != ST_OK || restored != ST_OK || files != ST_OK || s->files != ST_OK)
		return EXIT_BROKEN;
	if (s->stopped)
		return EXIT_STOPPED;
	return s->unexpected != 0 ? EXIT_ROWS : EXIT_GOOD;
}

/* Opens the run's directory: the interrupted run's, or a new one. */
static enum status begin(struct run *r, struct run_context *here, enum resume *resume, const struct earlier_run *e)
{
	enum status s = *resume == RESUME_NEW ? ST_MISSING : files_continue_run(r->files, e->name, e->bytes);
	if (s == ST_OK) {
		print("%s: broken off, goes on\n", r->files->run_path);
		serial_begin(&here->serial, e->name, e->journal, e->bytes);
		return s;
	}
	*resume = RESUME_NEW;
	s = files_begin_run(r->files, r->directory);
	if (s == ST_IO) { /* once more: a single failure must not cost the whole run */
		files_close(r->files);
		s = files_open(r->files);
		if (s == ST_OK)
			s = files_begin_run(r->files, r->directory);
	}
	here->unsaved = s != ST_OK;
	const char *name = r->directory;
	for (const char *c = r->files->run_path; s == ST_OK && *c != 0; c++)
		if (*c == '\\')
			name = c + 1;
	serial_begin(&here->serial, name, NULL, 0);
	return s;
}

static void end_series(struct run *r, uint64_t key)
{
	r->again = resume_series(r->state, r->files, key, r->config->boots);
	if (r->again)
		print("boots: %u of %u done\n", r->state->done, r->config->boots);
	if (r->config->boots < 2 || r->again || r->state->done < r->config->boots)
		return;
	enum status s = resume_series_write(r->state, r->files, r->directory, r->upload_on ? &r->upload : NULL);
	print("boots: %u of %u done%s%s\n", r->state->done, r->config->boots, s == ST_OK ? "; boots.json has their spread" :
	      "; their spread cannot be written: ", s == ST_OK ? "" : reason(s));
	resume_end(r->state, r->files);
}

/* Sends the rest to the server. The results are kept if the stick or the server has all of them. */
static enum status saved_at_last(struct run *r, struct run_context *here, enum status begun, enum status written)
{
	const struct saved_results_text *j = &here->saved->journal;
	char to[UPLOAD_DIR];
	if (!j->lost && j->bytes != 0)
		send_file(r, "journal.jsonl", j->at, j->bytes);
	const enum status sent = send_end(r, to, sizeof(to));
	if (sent == ST_OK && to[0] != 0)
		return ST_OK;
	if (begun != ST_OK)
		print("no results were kept: %s\n", reason(begun));
	return begun != ST_OK ? begun : written;
}

static enum exit_status run_guarded(struct suite_kinds *k, const struct access *a, struct run *r)
{
	const struct access *first = k->run[0].a;
	const struct cpu *cpu = k->run[0].cpu;
	char line[LINE_BYTES];
	struct text t;
	struct suite_summary summary;
	struct earlier_run earlier = { .journal = NULL };
	struct run_context here = { .files = r->files, .clock = r->clock, .started = read_tsc(), .state = r->state, .watchdog = r->watchdog,
		.saved = r->saved, .run = r, .serial = { .working = working, .self = &here } };
	struct suite_host host = {
		.self = &here, .append = host_append, .write = host_write, .progress = host_progress, .working = host_working,
		.row_done = host_row_done, .print = host_print, .stop = host_stop, .get = host_get, .put = host_put,
		.environment = r->environment->lines, .environment_lines = r->environment->count,
	};
	memset(&summary, 0, sizeof(summary));
	text_init(&t, line, sizeof(line));
	if (suite_kinds_text(k, a, &t))
		print("%s\n", line);
	else if (first->cores < a->cores)
		print("%s: logical processors from %u on are of another kind, or lie behind one; they are left alone\n", cpu->processor->title,
		      first->cores);
	uint64_t key = suite_key(k->run, k->count, r->settings);
	enum resume resume = r->config->resume ? resume_find(r->files, r->directory, key, &earlier) : RESUME_NEW;
	enum status files = begin(r, &here, &resume, &earlier);
	if (files != ST_OK && r->config->upload[0] == 0)
		print("no results will be kept: %s\n", reason(files));
	send_begin(r);
	if (resume != RESUME_NEW)
		saved_results_append(&r->saved->journal, earlier.journal, earlier.bytes);
	if (resume == RESUME_FILES) {
		enum status s = suite_rebuild(earlier.journal, earlier.bytes, &host);
		resume_put(&earlier);
		print("%s: its files %s\n", r->files->run_path, s == ST_OK ? "are made from its journal" : reason(s));
		end_series(r, key);
		return saved_at_last(r, &here, ST_OK, s) == ST_OK ? EXIT_GOOD : EXIT_BROKEN;
	}
	if (resume == RESUME_ROWS) {
		host.journal = earlier.journal;
		host.journal_bytes = earlier.all_bytes;
	}
	text_init(&t, line, sizeof(line));
	table_title(&t, first, cpu);
	if (r->settings->profile == NULL)
		table_head(&t);
	print_text(line);
	enum status s = suite_run_kinds(k->run, k->count, r->settings, &host, &summary);
	enum status settled = settle(&here, &host);
	if (summary.files == ST_OK)
		summary.files = settled;
	resume_put(&earlier);
	clear_status(&here);
	enum status restored = suite_kinds_restore(k);
	if (s == ST_OK) {
		text_init(&t, line, sizeof(line));
		table_summary(&t, first, &summary);
		print_text(line);
	} else {
		print("nothing could be run: %s\n", status_name(s));
	}
	if (files == ST_OK && summary.files == ST_OK)
		print("results: %s\n", r->files->run_path);
	if (s == ST_OK && files == ST_OK && !summary.stopped)
		end_series(r, key);
	files = summary.files = saved_at_last(r, &here, files, summary.files);
	if (restored != ST_OK)
		print("a register could not be restored: %s\n", status_name(restored));
	for (unsigned i = 0; i < k->count; i++)
		if (k->at[i].guard.refused != 0)
			print("%u register writes were refused: not listed for this processor\n", k->at[i].guard.refused);
	return end_of(s, restored, files, &summary);
}

static void planned_print(void *self, const char *lines)
{
	struct text *file = self;
	print_text(lines);
	if (file->at != NULL)
		text_bytes(file, lines, str_length(lines));
}

static bool planned_stop(void *self)
{
	(void)self;
	return console_stop_pressed();
}

/* Saves a run of one file on the stick and sends it to the server. ST_OK: at least one of them has it. */
static enum status keep_alone(void *self, const char *name, const void *bytes, size_t n)
{
	struct run *r = self;
	enum status s = files_begin_run(r->files, r->directory);
	if (s == ST_OK)
		s = files_write(r->files, name, bytes, n);
	if (s == ST_OK)
		print("results: %s\\%s\n", r->files->run_path, name);
	return send_alone(r, name, bytes, n) == ST_OK ? ST_OK : s;
}

/* Prints the plan on the console and saves it as plan.txt. */
static enum exit_status run_plan(const struct access *a, struct run *r)
{
	struct text file = { NULL, 0, 0, false };
	struct suite_host host = { .self = &file, .print = planned_print, .stop = planned_stop, .get = host_get, .put = host_put };
	struct suite_plan_summary sum;
	char problem[400], *at = pages_get(PLAN_BYTES_MAX);
	if (at != NULL)
		text_init(&file, at, PLAN_BYTES_MAX);
	enum status s = suite_plan(a, r->settings, &host, NULL, NULL, &sum, problem, sizeof(problem));
	if (s != ST_OK) {
		print("nothing could be planned: %s\n", problem[0] != 0 ? problem : status_name(s));
		pages_put(at, PLAN_BYTES_MAX);
		return problem[0] != 0 ? EXIT_BAD_INPUT : EXIT_BROKEN;
	}
	print("%u writes in %u sections; %u registers of cores are restored at the end; nothing was written\n", sum.writes,
	      sum.sections, sum.restored);
	enum status files = at == NULL || file.full ? ST_FULL : keep_alone(r, "plan.txt", file.at, file.length);
	if (files != ST_OK)
		print("the plan was not kept: %s\n", reason(files));
	pages_put(at, PLAN_BYTES_MAX);
	return files != ST_OK ? EXIT_BROKEN : sum.refused != 0 ? EXIT_ROWS : EXIT_GOOD;
}

/* Reports a problem of the settings at the line that sets them. */
static enum exit_status bad_settings(const struct config *c, enum status s, const char *problem)
{
	const struct origin *from = config_origin(c, problem, s == ST_MISSING ? &c->kind_from : &c->profile_from);
	print("%s:%u: %s\n", from->file, from->line, problem);
	return EXIT_BAD_INPUT;
}

/* Whether the processor lacks the counters that the settings need; reports it in one line, for count and metrics the same with every backend. */
static bool lacks_counters(const struct config *c, const struct cpu *cpu)
{
	const bool counting = c->count[0] != 0 || c->metrics[0] != 0;
	if (cpu->general_counters != 0 || (!counting && c->backend != BACKEND_HW))
		return false;
	if (counting)
		print("nothing was run: count and metrics need performance counters, and this processor has none%s%s\n", cpu->pmu_absent != NULL ? ": " : "",
		      cpu->pmu_absent != NULL ? cpu->pmu_absent : "");
	else
		print("nothing was run: backend = hw, and this processor has no performance counters; auto runs without them\n");
	return true;
}

enum exit_status run_suite(const struct access *a, struct run *r)
{
	const struct suite_host memory = { .get = host_get, .put = host_put };
	struct suite_kinds *k = pages_get(sizeof(*k));
	enum exit_status result = EXIT_BROKEN;
	char problem[400] = "kind: this machine has no such cores";
	enum status s = k != NULL ? suite_kinds_open(k, a, r->config->kind, r->settings, &memory) : ST_FULL;
	const bool opened = s == ST_OK;
	if (opened)
		s = suite_kinds_check(k, r->settings, problem, sizeof(problem));
	if (s != ST_OK && (opened || s == ST_MISSING))
		result = bad_settings(r->config, s == ST_MISSING && opened ? ST_RANGE : s, problem);
	else if (s != ST_OK)
		print("the processor could not be identified: %s\n", status_name(s));
	else if (lacks_counters(r->config, k->run[0].cpu))
		result = EXIT_BROKEN;
	else if (r->config->count[0] != 0 || r->config->metrics[0] != 0) {
		const struct count_keeper keeper = { r, keep_alone };
		result = run_count(&k->at[0].guard, k->run[0].cpu, r->config, r->watchdog, &keeper);
	} else
		result = r->config->plan ? run_plan(k->count == 1 && k->at[0].layer.under ? &k->at[0].layer.access : a, r) : run_guarded(k, a, r);
	suite_kinds_close(k);
	pages_put(k, sizeof(*k));
	return result;
}
