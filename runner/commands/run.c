/* runner/commands/run.c: `stallmeter run`: runs the suite on this machine or on a simulated one. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "bench/suite/listing.h"
#include "bench/measure/reduce.h"
#include "bench/suite/suite_kinds.h"
#include "runner/host/backend.h"
#include "runner/host/tasks.h"
#include "runner/options/command.h"
#include "runner/data/file.h"
#include "runner/data/rundir.h"

#define EXPECT_MOST      (1u << 20)
#define LABEL_MOST       255u /* as in stallmeter.ini */
#define ENVIRONMENT_MOST 16
#define PROCESSES_MOST   64
#define SHOWN_MS         1000 /* progress within a row */

static const char *backend_name = "native", *machine_name, *suite, *kernels, *label = "", *expect_file, *profile, *trace_file, *cores, *nodes, *kind,
                  *out = "out/run";
static uint64_t repetitions, vector_bits, ibs_misses, seed, processes;
static bool proofs;
static struct suite_kinds kinds;
static char kinds_text[160];

static unsigned run_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--backend", OPTION_CHOICE, &backend_name, "sim|native", "sim|native", 0, 0,
		 "a simulated machine, or this machine without its counters (default: native)"},
		{"--machine", OPTION_TEXT, &machine_name, "NAME|FILE", NULL, 0, 0,
		 "the simulated machine: a built-in name (see `stallmeter list`) or a machine file"},
		{"--suite", OPTION_TEXT, &suite, "NAMES", NULL, 0, 0,
		 "quick, full, or row names and patterns separated by commas (default: quick)"},
		{"--profile", OPTION_TEXT, &profile, "NAME|EVENTS", NULL, 0, 0,
		 "count a profile's events (see `stallmeter list --profiles`) or EVENT,EVENT,... over the rows' kernels; append ,lbr=KIND+KIND for last-branch records of JCC, NEAR_RET, NEAR_REL_CALL, ... or all; append ,records=N for a record after every N of each precise event: instruction, lines, pages, data source"},
		{"--kind", OPTION_CHOICE, &kind, "p|e|lpe|all", "p|e|lpe|all", 0, 0,
		 "on a hybrid, the kind of cores that rows run on: large (p), small (e) or small of a second kind (lpe), numbered from 0; all: one kind after the other, with @KIND appended to the names of rows, then rows of several cores on all of them (default: all; for a profile the kind of the first core)"},
		{"--cores", OPTION_TEXT, &cores, "LIST", NULL, 0, 0, "the cores that rows of several cores may use, such as 0-3,8 (default: all)"},
		{"--nodes", OPTION_TEXT, &nodes, "LIST", NULL, 0, 0, "the memory nodes that rows may use (default: all)"},
		{"--repetitions", OPTION_NUMBER, &repetitions, "N", NULL, 0, SAMPLES_MAX,
		 "samples of each row, 0: the row's own"},
		{"--vector-bits", OPTION_NUMBER, &vector_bits, "N", NULL, 0, 512,
		 "exclude kernels with wider vectors than 128, 256 or 512 bits; 0: exclude none"},
		{"--kernels", OPTION_TEXT, &kernels, "LIST", NULL, 0, 0,
		 "kernels of streams, such as k_triad_sse2,k_copy_avx: a row that has some of them runs these alone (default: any)"},
		{"--ibs-misses", OPTION_NUMBER, &ibs_misses, "N", NULL, 0, 2048,
		 "AMD: filter of IBS samples. 0: none; 1: loads and fetches that miss the L3; 128 to 2048 in steps of 128: loads that took at least that many cycles (Zen 5)"},
		{"--seed", OPTION_NUMBER, &seed, "N", NULL, 0, UINT64_MAX, "seed of the order of windows; 0: a fixed one"},
		{"--processes", OPTION_NUMBER, &processes, "N", NULL, 0, PROCESSES_MOST,
		 "run rows of several cores of a simulated machine in N processes, beside the other rows. Each begins on a copy of the machine as it was before the first row, so values differ by what earlier rows leave in caches (default 0: one row after the other on one machine)"},
		{"--label", OPTION_TEXT, &label, "TEXT", NULL, 0, 0, "a text of your own, stored in the results"},
		{"--expect", OPTION_TEXT, &expect_file, "FILE", NULL, 0, 0,
		 "expected statuses, in lines `ROW = STATUS|STATUS...`"},
		{"--trace", OPTION_TEXT, &trace_file, "FILE", NULL, 0, 0,
		 "write every register access in the form that `stallmeter replay` reads (not natively)"},
		{"--proofs", OPTION_SWITCH, &proofs, NULL, NULL, 0, 0, "print the proof's counts below each row that is ok"},
		{"--out", OPTION_TEXT, &out, "DIR", NULL, 0, 0, "where the run's directory is made (default: out/run)"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

static volatile sig_atomic_t stop_asked;

static void on_interrupt(int number)
{
	stop_asked = 1;
	signal(number, SIG_DFL); /* a second signal ends the program at once */
}

/* State of the suite's callbacks: the run's directory, the table, progress, the trace. */
struct surroundings {
	struct rundir directory;
	bool terminal; /* progress is shown */
	bool reader_left; /* the reader of standard output has exited */
	uint64_t started, row_started, shown; /* milliseconds */
	struct progress progress; /* as last shown */
	struct table table;
	FILE *trace;   /* --trace; NULL: none */
	struct trace layer;
	struct listing listing;
	struct suite_host *host;
	struct tasks tasks; /* --processes */
	struct text row_ms; /* value of the environment's row_ms: each row's name and duration */
};

static void trace_text(struct surroundings *p, const char *line)
{
	fputs(line, p->trace);
}

static void trace_access(void *self, const struct trace_entry *e)
{
	struct surroundings *p = self;
	char line[512];
	struct text t;
	text_init(&t, line, sizeof(line));
	if (listing_trace_line(&p->listing, &t, e))
		trace_text(p, line);
}

static enum status host_append(void *self, const char *name, const void *bytes, size_t n)
{
	struct surroundings *p = self;
	return rundir_append(&p->directory, name, bytes, n);
}

static enum status host_write(void *self, const char *name, const void *bytes, size_t n)
{
	struct surroundings *p = self;
	return rundir_write(&p->directory, name, bytes, n);
}

static uint64_t now_ms(void)
{
	struct timespec t = {0};
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void clear_progress(const struct surroundings *p)
{
	if (p->terminal)
		fputs("\r\033[K", stderr);
}

static void show_progress(struct surroundings *p, uint64_t now)
{
	char line[200];
	struct text t;
	text_init(&t, line, sizeof(line));
	(void)table_progress(&t, &p->progress, p->row_started - p->started, now - p->row_started);
	clear_progress(p);
	fputs(line, stderr);
	p->shown = now;
}

static void host_progress(void *self, const struct progress *p)
{
	struct surroundings *here = self;
	here->progress = *p;
	here->row_started = now_ms();
	if (here->terminal)
		show_progress(here, here->row_started);
	if (here->trace)
		fprintf(here->trace, "# %s\n", progress_name(p));
}

static void host_working(void *self)
{
	struct surroundings *p = self;
	uint64_t now = now_ms();
	if (now - p->shown >= SHOWN_MS)
		show_progress(p, now);
}

/* Flushes standard output. If the reader of a pipe has exited, the run continues without it. */
static void flush_output(struct surroundings *p)
{
	if (fflush(stdout) && errno == EPIPE) {
		p->reader_left = true;
		if (!freopen("/dev/null", "we", stdout))
			clearerr(stdout);
	}
}

static void print_lines(struct surroundings *p, const char *lines)
{
	char line[4096];
	struct text t;
	clear_progress(p);
	for (text_init(&t, line, sizeof(line)); text_fold(&t, &lines, TABLE_COLUMNS, TABLE_HANG); text_init(&t, line, sizeof(line)))
		fputs(line, stdout);
	flush_output(p);
}

static void print_text(struct surroundings *p, void (*write)(struct text *t, const void *self), const void *self)
{
	char lines[4096];
	struct text t;
	text_init(&t, lines, sizeof(lines));
	write(&t, self);
	print_lines(p, lines);
}

static void host_row_done(void *self, const struct row_result *r)
{
	struct surroundings *here = self;
	char lines[4096];
	struct text t;
	text_init(&t, lines, sizeof(lines));
	table_line(&t, &here->table, r);
	print_lines(here, lines);
	if (!here->row_ms.length)
		here->host->environment_lines++; /* the line row_ms, which is absent while the journal's head is written */
	text_fmt(&here->row_ms, "%s%s%s%s %llu", here->row_ms.length ? ", " : "", r->name, r->core_kind ? "@" : "", r->core_kind ? r->core_kind : "", (unsigned long long)(now_ms() - here->row_started));
}

static void host_print(void *self, const char *lines)
{
	print_lines(self, lines);
}

static bool host_stop(void *self)
{
	(void)self;
	return stop_asked;
}

/* The environment block: facts about the host apart from the measured machine itself. */
struct environment {
	struct environment_line lines[ENVIRONMENT_MOST + 1]; /* and row_ms */
	char values[ENVIRONMENT_MOST][160];
	unsigned count;
};

static void environment_add(struct environment *e, const char *key, const char *value)
{
	if (e->count == ENVIRONMENT_MOST)
		return;
	str_copy(e->values[e->count], sizeof(e->values[0]), value);
	e->lines[e->count] = (struct environment_line){key, e->values[e->count]};
	e->count++;
}

/* Adds the kinds of cores of the machine, and those on which rows run, unless all cores are alike. */
static void environment_kinds(struct environment *e, const struct access *a)
{
	struct text t;
	text_init(&t, kinds_text, sizeof(kinds_text));
	if (suite_kinds_text(&kinds, a, &t))
		environment_add(e, "core_kinds", kinds_text);
}

static void environment_fill(struct environment *e, const struct backend *b)
{
	static const char *const dmi[][2] = {
		{"sys_vendor", "system_vendor"}, {"product_name", "product"}, {"board_name", "board"},
		{"bios_vendor", "firmware_vendor"}, {"bios_version", "firmware_version"}, {"bios_date", "firmware_date"},
	};
	struct utsname u;
	char text[160];
	environment_add(e, "place", "linux");
	if (!uname(&u)) {
		snprintf(text, sizeof(text), "%.60s %.90s", u.sysname, u.release);
		environment_add(e, "system", text);
	}
	time_t now = time(NULL);
	struct tm utc;
	if (gmtime_r(&now, &utc) && strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc))
		environment_add(e, "started", text);
	if (processes) {
		snprintf(text, sizeof(text), "%llu", (unsigned long long)processes);
		environment_add(e, "processes", text);
	}
	for (unsigned i = 0; b->native && i < COUNT_OF(dmi); i++)
		if (backend_dmi(dmi[i][0], text, sizeof(text)))
			environment_add(e, dmi[i][1], text);
	environment_kinds(e, b->access);
}

/* Reports and records the properties in which the processor differs from its descriptor. */
static void print_differences(const struct command *c, struct environment *e, const struct cpu *cpu)
{
	char differs[160];
	struct text t;
	text_init(&t, differs, sizeof(differs));
	if (!cpu_contradictions(cpu, &t))
		return;
	environment_add(e, "not_as_described", differs);
	complain(c, "%s: CPUID contradicts the description: %s; the values of CPUID are used", cpu->processor->name, differs);
}

struct run_report { const struct access *a; const struct cpu *cpu; const struct suite_summary *summary; const char *kinds; };

static void write_head(struct text *t, const void *self)
{
	const struct run_report *s = self;
	table_title(t, s->a, s->cpu);
	if (s->kinds[0])
		text_fmt(t, "%s\n", s->kinds);
	if (!profile)
		table_head(t);
}

static void write_summary(struct text *t, const void *self)
{
	const struct run_report *s = self;
	table_summary(t, s->a, s->summary);
}

static int exit_status(const struct command *c, const struct suite_summary *summary, enum status files, enum status restored)
{
	if (restored != ST_OK)
		complain(c, "a register could not be restored: %s", status_name(restored));
	if (files != ST_OK || summary->files != ST_OK || restored != ST_OK)
		return EXIT_BROKEN;
	if (summary->stopped)
		return EXIT_STOPPED;
	return summary->unexpected ? EXIT_ROWS : EXIT_GOOD;
}

static bool trace_open(const struct command *c, struct surroundings *p, const struct backend *b, const struct cpu *cpu)
{
	listing_init(&p->listing, cpu->processor, b->access);
	trace_init(&p->layer, b->access, NULL, 0);
	p->layer.sink = trace_access;
	p->layer.sink_self = p;
	p->trace = fopen(trace_file, "we");
	if (p->trace)
		trace_text(p, "# before the first row\n");
	else
		complain(c, "--trace %s: cannot be written", trace_file);
	return p->trace != NULL;
}

/* Opens the kinds of cores that --kind requests. */
static int open_kinds(const struct command *c, const struct access *a, const struct suite_settings *settings, const struct suite_host *host)
{
	char problem[512];
	const enum status s = suite_kinds_open(&kinds, a, kind, settings, host);
	if (s == ST_MISSING && kind)
		complain(c, "--kind %s: this machine has no cores of that kind", kind);
	else if (s != ST_OK)
		complain(c, "the processor could not be identified: %s", status_name(s));
	if (s != ST_OK)
		return s == ST_MISSING && kind ? EXIT_BAD_INPUT : EXIT_BROKEN;
	if (suite_kinds_check(&kinds, settings, problem, sizeof(problem)) == ST_OK)
		return EXIT_GOOD;
	complain(c, "%s%s", str_starts(problem, "cores") || str_starts(problem, "nodes") ? "--" : "", problem);
	return EXIT_BAD_INPUT;
}

static int run_on(const struct command *c, struct backend *b, const struct suite_settings *settings)
{
	static struct environment environment;
	struct surroundings here = {.directory = {.fd = -1}, .terminal = isatty(STDERR_FILENO), .table = {.proofs = proofs}, .started = now_ms()};
	struct suite_host host = {.self = &here, .append = host_append, .write = host_write, .progress = host_progress, .row_done = host_row_done,
		.print = host_print, .stop = host_stop, .get = backend_pages_get, .put = backend_pages_put, .working = here.terminal ? host_working : NULL,
		.environment = environment.lines};
	struct suite_summary summary;
	char problem[512];

	if (processes) {
		here.tasks.at_once = (unsigned)processes;
		host.tasks = &here.tasks;
		host.tasks_start = tasks_start;
		host.tasks_wait = tasks_wait;
		host.tasks_end = tasks_end;
	}
	int bad = open_kinds(c, b->access, settings, &host);
	if (bad == EXIT_GOOD && trace_file) {
		if (!trace_open(c, &here, b, kinds.run[0].cpu))
			return EXIT_BAD_INPUT;
		suite_kinds_close(&kinds);
		bad = open_kinds(c, &here.layer.access, settings, &host); /* opened again on top of the trace layer, which records all cores by their numbers */
	}
	if (bad != EXIT_GOOD)
		return bad;
	environment_fill(&environment, b);
	for (unsigned i = 0; i < kinds.count; i++)
		print_differences(c, &environment, kinds.run[i].cpu);
	static char row_ms[32768];
	text_init(&here.row_ms, row_ms, sizeof(row_ms));
	environment.lines[environment.count++] = (struct environment_line){"row_ms", row_ms};
	host.environment_lines = environment.count;
	host.environment_lines--;
	here.host = &host;
	enum status files = rundir_make(&here.directory, out, b->stem, problem, sizeof(problem));
	if (files != ST_OK) {
		complain(c, "no results will be kept: %s", problem);
		host.append = NULL;
		host.write = NULL;
	}
	struct run_report sheet = {kinds.run[0].a, kinds.run[0].cpu, &summary, kinds_text};
	print_text(&here, write_head, &sheet);
	enum status s = suite_run_kinds(kinds.run, kinds.count, settings, &host, &summary);
	if (here.trace)
		trace_text(&here, "# at the end\n");
	here.listing.restoring = true;
	enum status restored = suite_kinds_restore(&kinds);
	rundir_close(&here.directory);
	if (here.trace && (fflush(here.trace) || ferror(here.trace) || fclose(here.trace))) {
		complain(c, "--trace %s: could not be written to its end", trace_file);
		files = ST_IO;
	}
	if (s != ST_OK) {
		complain(c, "nothing could be run: %s", status_name(s));
		return EXIT_BROKEN;
	}
	print_text(&here, write_summary, &sheet);
	suite_kinds_close(&kinds);
	if (files == ST_OK)
		fprintf(here.reader_left ? stderr : stdout, "results: %s\n", here.directory.path);
	return exit_status(c, &summary, files, restored);
}

static bool has_controls(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7F)
			return true;
	return false;
}

static int run_run(const struct command *c, int operands, char **operand)
{
	static struct machine machine;
	bool simulated = !strcmp(backend_name, "sim");
	char problem[512], *expect = NULL;
	size_t bytes;
	(void)operands, (void)operand;

	struct suite_settings settings = {
		.suite = suite ? suite : profile ? "" : "quick", .profile = profile, .cores = cores, .nodes = nodes, .repetitions = (unsigned)repetitions, .vector_bits = (unsigned)vector_bits, .kernels = kernels, .ibs_misses = (unsigned)ibs_misses, .seed = seed, .label = label,
	};
	if (strlen(label) > LABEL_MOST || has_controls(label)) {
		complain(c, "--label: at most %u bytes without control characters", LABEL_MOST);
		return EXIT_BAD_INPUT;
	}
	if (!simulated && trace_file) {
		complain(c, "--trace: only with --backend sim");
		return EXIT_BAD_INPUT;
	}
	if (processes && (!simulated || trace_file || profile)) {
		complain(c, "--processes: only with --backend sim, and neither with --trace nor with --profile");
		return EXIT_BAD_INPUT;
	}
	if (!simulated && machine_name) {
		complain(c, "--machine \"%s\": only with --backend sim", machine_name);
		return EXIT_BAD_INPUT;
	}
	if (simulated && backend_machine(machine_name, &machine, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	if (suite_check(&settings, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	if (expect_file) {
		if (file_read(expect_file, EXPECT_MOST, &expect, &bytes, problem, sizeof(problem)) != ST_OK) {
			complain(c, "--expect %s", problem);
			return EXIT_BAD_INPUT;
		}
		settings.expect = expect;
		if (strlen(expect) != bytes) {
			complain(c, "--expect %s: no text: byte %zu is 0; expected lines `ROW = STATUS|STATUS...`", expect_file, strlen(expect));
			free(expect);
			return EXIT_BAD_INPUT;
		}
	}
	if (expect && suite_check(&settings, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s: %s", expect_file, problem);
		free(expect);
		return EXIT_BAD_INPUT;
	}

	struct backend backend;
	if (backend_open(&backend, simulated ? &machine : NULL, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		free(expect);
		return EXIT_BROKEN;
	}
	struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN); /* flush_output */
	int status = run_on(c, &backend, &settings);
	backend_close(&backend);
	free(expect);
	return status;
}

const struct command command_run = {
	"run", "", "Runs benchmarks and writes their results.",
	"Each run has a directory of its own below --out, named PRODUCT-ID-NUMBER, with journal.jsonl (a line\n"
	"as each row ends), results.json and penalties.csv; results/SCHEMA.md describes them. Nothing is ever\n"
	"overwritten. Ctrl-C ends after the current row with valid files.\n"
	"\n"
	"On a simulated machine every row must be ok, unless the machine lacks the feature (unsupported) or the event\n"
	"(unproven); otherwise the exit status is 1. Natively the rows' statuses do not affect the exit status, unless\n"
	"--expect is given.\n"
	"\n"
	"Exit status: 0 as expected, 1 a row is not, 2 bad input, 3 nothing could be run or kept, 4 stopped.\n",
	run_options, run_run,
};
