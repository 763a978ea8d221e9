/* runner/commands/stat.c: `stallmeter stat`: counts named events while a workload runs. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bench/counting/session.h"
#include "pmu/backend/msr_guard.h"
#include "runner/host/backend.h"
#include "runner/options/command.h"

static const char *machine_name, *events, *metrics, *workload, *cores, *format = "text", *per = "sum", *interval, *duration;
static uint64_t windows, seed;

static unsigned stat_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"-e", OPTION_TEXT, &events, "LIST", NULL, 0, 0, "events, separated by commas: any name that `stallmeter list --events` shows, with :MODIFIERS"},
		{"-M", OPTION_TEXT, &metrics, "LIST", NULL, 0, 0, "metrics of `stallmeter list --metrics`; BOX or GROUP selects all that begin with it; also topdown, or all"},
		{"-w", OPTION_TEXT, &workload, "LIST", NULL, 0, 0, "workloads, run one after the other: a row, account.NAME or idle"},
		{"--machine", OPTION_TEXT, &machine_name, "NAME|FILE", NULL, 0, 0, "the simulated machine (default: as `stallmeter list` marks it)"},
		{"--cores", OPTION_TEXT, &cores, "LIST", NULL, 0, 0, "the cores that run the workload at once, such as 2, 0-3,8 or 0-14:2 (default: core 0, or all for rows of several cores)"},
		{"-C", OPTION_TEXT, &cores, "LIST", NULL, 0, 0, "the same, as in perf stat"},
		{"-I", OPTION_TEXT, &interval, "MS", NULL, 0, 0, "print a line every MS milliseconds of the machine's time, such as 100 or 0.05"},
		{"--for", OPTION_TEXT, &duration, "MS", NULL, 0, 0, "duration of each run (default with -I: ten intervals)"},
		{"--windows", OPTION_NUMBER, &windows, "N", NULL, 0, 1000000, "instead of --for: windows of each run (default: 4)"},
		{"--per", OPTION_CHOICE, &per, "sum|socket|box|channel|core", "sum|socket|box|channel|core", 0, 0, "one figure per event (sum), per socket, or per box and core (box, channel and core are synonyms)"},
		{"--format", OPTION_CHOICE, &format, "text|csv|json", "text|csv|json", 0, 0, "output format (default: text)"},
		{"--seed", OPTION_NUMBER, &seed, "N", NULL, 0, UINT64_MAX, "seed of random orders; 0: a fixed one"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

static volatile sig_atomic_t stop_asked;

static void on_interrupt(int number)
{
	stop_asked = 1;
	signal(number, SIG_DFL);
}

static bool stopped(void *self)
{
	(void)self;
	return stop_asked;
}

static void print_lines(void *self, const char *lines)
{
	(void)self;
	fputs(lines, stdout);
	fflush(stdout);
}

/* Parses milliseconds with a fraction into microseconds. */
static bool microseconds(const struct command *c, const char *option, const char *text, uint64_t *us)
{
	char *end;
	double ms;

	*us = 0;
	if (!text)
		return true;
	ms = strtod(text, &end);
	if (*end || end == text || !(ms >= 0.001 && ms <= 86400000.0)) {
		complain(c, "%s \"%s\": expected milliseconds, 0.001 to 86400000", option, text);
		return false;
	}
	*us = (uint64_t)(ms * 1000.0 + 0.5);
	return true;
}

static int stat_on(const struct command *c, struct backend *b, const struct session_settings *s)
{
	static struct msr_guard guard;
	const struct suite_host host = {.print = print_lines, .stop = stopped, .get = backend_pages_get, .put = backend_pages_put};
	struct session_summary sum;
	struct cpu cpu;
	char problem[512];
	enum status st = cpu_identify(b->access, &cpu);

	if (st != ST_OK) {
		complain(c, "the processor could not be identified: %s", status_name(st));
		return EXIT_BROKEN;
	}
	const unsigned capacity = msr_guard_capacity(b->access);
	struct msr_guard_saved *saved = calloc(capacity, sizeof(*saved));
	if (!saved) {
		complain(c, "no memory for the registers' former values");
		return EXIT_BROKEN;
	}
	msr_guard_init(&guard, b->access, cpu.processor, saved, capacity);
	st = session_run(&guard.access, &cpu, s, &host, &sum, problem, sizeof(problem));
	const enum status restored = msr_guard_restore(&guard);
	free(saved);
	if (st != ST_OK)
		complain(c, "%s", problem);
	if (restored != ST_OK)
		complain(c, "a register could not be restored: %s", status_name(restored));
	if (st == ST_MISSING || st == ST_SYNTAX || st == ST_RANGE || st == ST_UNSUPPORTED || st == ST_FULL)
		return EXIT_BAD_INPUT;
	if (st != ST_OK || restored != ST_OK)
		return EXIT_BROKEN;
	return sum.stopped ? EXIT_STOPPED : EXIT_GOOD;
}

static int stat_run_command(const struct command *c, int operands, char **operand)
{
	static struct machine machine;
	struct session_settings s = {
		.events = events, .metrics = metrics, .workload = workload, .cores = cores, .windows = windows, .seed = seed,
		.format = !strcmp(format, "json") ? STAT_JSON : !strcmp(format, "csv") ? STAT_CSV : STAT_TEXT,
		.detail = !strcmp(per, "box") || !strcmp(per, "channel") || !strcmp(per, "core") ? STAT_BY_BOX : !strcmp(per, "socket") ? STAT_BY_SOCKET : STAT_SUM,
	};
	char problem[512];
	struct backend b;
	(void)operands, (void)operand;

	if (!workload) {
		complain(c, "no workload: -w idle, account.NAME or a row, see `stallmeter list`");
		return EXIT_BAD_INPUT;
	}
	if (windows && duration) {
		complain(c, "--windows and --for: each says how long a run is; give one");
		return EXIT_BAD_INPUT;
	}
	if (!microseconds(c, "-I", interval, &s.interval_us) || !microseconds(c, "--for", duration, &s.duration_us))
		return EXIT_BAD_INPUT;
	if (backend_machine(machine_name, &machine, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	if (backend_open(&b, &machine, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		return EXIT_BROKEN;
	}
	struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
	sigaction(SIGINT, &action, NULL);
	int status = stat_on(c, &b, &s);
	backend_close(&b);
	return status;
}

const struct command command_stat = {
	"stat", "", "Counts named events, of cores and of the uncore, while a workload runs.",
	"Names: as `stallmeter list --events` shows them, in any case; BOX.EVENT and BOX[N].EVENT for the uncore; rHHHH for\n"
	"a raw PERFEVTSEL code; cpu/event=0xcb,umask=0x2,name=TEXT/ as perf and `stallmeter events` write it. Also perf's\n"
	"generic names (cycles, instructions, branch-misses, LLC-load-misses), concepts\n"
	"of `stallmeter list --concepts` that one event counts, and spellings of other documents. Modifiers of core events: u, k, cmask=N, inv, edge, any, ldlat=N; of uncore events: the\n"
	"box's filters (opc=0x182), thresh=N, edge, invert. For an unknown name the three nearest are suggested. Workloads run\n"
	"in ring 0, so an event with u only counts 0, and the output says so. perf's other modifiers (p, G, H, S, ...) are refused.\n"
	"\n"
	"NetBurst: DETECTOR.UNIT+UNIT, with thresh=N (or cmask=N), complement, edge; any or other: events of both threads or of the other one;\n"
	"active_none, active_single, active_both: cycles by the number of threads awake; escr=N: the first (0) or the second\n"
	"ESCR. A detector of tagged uops names the tagging metric or event, DETECTOR.UNIT:METRIC or DETECTOR.UNIT:OTHER.UNIT, and\n"
	"tag=N selects other tag bits (docs/netburst.md). Cascade: A,B:after=N counts B from the N-th A after the start of the\n"
	"counters; A:force_ovf,B:cascade from the first A.\n"
	"\n"
	"-M topdown, on Intel's large cores since Ice Lake: shares of the allocation slots, by PERF_METRICS\n"
	"and fixed counter 3: retiring, bad_speculation, frontend_bound, backend_bound; since Golden Cove each in two parts.\n"
	"\n"
	"Events of cores are summed over the working cores, those of the uncore over all boxes of all sockets; --per\n"
	"prints them separately. Events that do not fit into the counters at once are counted in several runs of the same\n"
	"workload, shown in the column `run`; nothing is multiplexed. On a booted machine: count, metrics, workload\n"
	"and interval_ms in stallmeter.ini.\n"
	"\n"
	"Exit status: 0 counted, 2 bad input, 3 nothing could be run, 4 stopped.\n",
	stat_options, stat_run_command,
};
