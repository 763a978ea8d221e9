/* runner/commands/steady.c: `stallmeter steady`: repeats rows of private caches on this machine, and reports how much the
 * runs' values differ and how much other work ran meanwhile. */
#include "runner/commands/steady.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/suite/execute.h"
#include "bench/suite/suite.h"
#include "runner/host/backend.h"
#include "runner/options/command.h"
#include "runner/host/sibling_load.h"

#define PATIENCE 10 /* a run takes up to 3 s if the core is shared nearly all the time */
#define BREAKDOWN_PART 100 /* one in 100 of the value: undisturbed rounds of an L1 or L2 differ by 0.1 to 1 %, those with a
                              shared level by 3 to 10 %. The median absolute deviation does not separate them: it is 0.1 to
                              9 % for undisturbed runs */
#define AGAIN 3        /* repeats at most this many times the requested runs */
#define WARM_UP_NS 3000000000ull /* until a virtual machine's host has noticed that none of its processors sleeps any more */

static uint64_t runs = 10;
static const char *rows_wanted = "load.l1.latency,load.l2.latency";

static unsigned steady_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--runs", OPTION_NUMBER, &runs, "N", NULL, 2, STEADY_RUNS_MAX, "runs of each row (default: 10)"},
		{"--suite", OPTION_TEXT, &rows_wanted, "NAMES", NULL, 0, 0, "names or patterns (default: load.l1.latency,load.l2.latency)"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

void steady_judge(const int64_t *values_milli, unsigned n, unsigned without, int64_t others_milli, struct steady *out)
{
	double sum = 0, squares = 0;

	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < n; i++)
		sum += (double)values_milli[i];
	for (unsigned i = 0; i < n; i++)
		squares += ((double)values_milli[i] - sum / n) * ((double)values_milli[i] - sum / n);
	double cv = n > 1 && sum > 0 ? sqrt(squares / (n - 1)) / (sum / n) : 1;
	out->cv_ppm = (uint32_t)(cv * 1e6 + 0.5);
	if (others_milli > STEADY_OTHERS_MILLI)
		snprintf(out->reason, sizeof(out->reason), "other work took %lld %% of a processor", (long long)(others_milli / 10));
	else if (without)
		snprintf(out->reason, sizeof(out->reason), "%u runs had no undisturbed window, or the core or the level was shared", without);
	else if (out->cv_ppm > STEADY_CV_PPM)
		snprintf(out->reason, sizeof(out->reason), "runs differ by more than %.1f %%", STEADY_CV_PPM / 1e4);
	out->noisy = out->reason[0] != 0;
}

uint64_t steady_busy_ticks(const char *stat)
{
	unsigned long long user, nice_time, system_time, idle, waiting, interrupts, soft;

	/* proc(5): user nice system idle iowait irq softirq steal, of all processors */
	if (sscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu", &user, &nice_time, &system_time, &idle, &waiting, &interrupts, &soft) != 7)
		return 0;
	return user + nice_time + system_time + interrupts + soft;
}

static uint64_t busy_ns(void)
{
	char text[256] = "";
	FILE *f = fopen("/proc/stat", "re");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
	long hz = sysconf(_SC_CLK_TCK);

	if (f)
		fclose(f);
	text[n] = 0;
	return hz > 0 ? steady_busy_ticks(text) * (1000000000ull / (uint64_t)hz) : 0;
}

static uint64_t clock_ns(clockid_t which)
{
	struct timespec t;

	return clock_gettime(which, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

/* Runs a row repeatedly and prints the verdict; true if it is steady. */
static bool one_row(struct bench *b, const struct row *r)
{
	static struct row_result result;
	int64_t values[STEADY_RUNS_MAX], others = -1;
	unsigned valued = 0, again = 0;
	struct steady verdict;
	const uint64_t busy = busy_ns(), own = clock_ns(CLOCK_PROCESS_CPUTIME_ID), from = clock_ns(CLOCK_MONOTONIC);

	execute_row(b, r, &result); /* determines the speed of an unshared core: bench/measure/smt_probe.h */
	for (unsigned i = 0; i < runs; i++) {
		execute_row(b, r, &result);
		if (result.status == ROW_UNSUPPORTED || row_was_ended(result.status)) {
			printf("%-27s %s: %s\n", r->name, row_status_name(result.status), result.reason);
			return false;
		}
		if (result.value_milli > 0 && result.range_milli > result.value_milli / BREAKDOWN_PART) { /* the level was shared meanwhile */
			if (again++ < AGAIN * runs)
				i--;
			continue;
		}
		values[valued] = result.value_milli;
		valued += result.value_milli > 0;
	}
	const uint64_t elapsed = clock_ns(CLOCK_MONOTONIC) - from, used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - own, all = busy_ns() - busy;

	if (busy && elapsed)
		others = all > used ? (int64_t)((all - used) * 1000 / elapsed) : 0;
	steady_judge(values, valued, (unsigned)runs - valued, others, &verdict);
	reduce_sort(values, valued);
	printf("%-27s %llu runs", r->name, (unsigned long long)runs);
	if (valued)
		printf(": median %.3f, least %.3f, most %.3f, coefficient of variation %.3f %%", (double)values[valued / 2] / 1e3,
		       (double)values[0] / 1e3, (double)values[valued - 1] / 1e3, verdict.cv_ppm / 1e4);
	if (again)
		printf("; %u runs shared the level and do not count", again);
	if (others >= 0)
		printf("; other work %.1f %% of a processor", (double)others / 10);
	printf(": %s%s%s\n", verdict.noisy ? "noisy" : "steady", verdict.noisy ? ", " : "", verdict.reason);
	fflush(stdout);
	return !verdict.noisy;
}

static void warm_up(struct bench *b)
{
	static struct row_result result;
	const uint64_t from = clock_ns(CLOCK_MONOTONIC);

	for (unsigned i = 0; i < STEADY_RUNS_MAX && clock_ns(CLOCK_MONOTONIC) - from < WARM_UP_NS; i++)
		execute_row(b, &rows[0], &result);
}

static int steady_run(const struct command *c, int operands, char **operand)
{
	static struct bench bench;
	const struct suite_settings settings = { .suite = rows_wanted };
	const struct suite_host host = { .get = backend_pages_get, .put = backend_pages_put };
	struct sibling_load *company = NULL;
	struct backend b;
	struct cpu cpu;
	char problem[512];
	bool steady = true;

	(void)operands, (void)operand;
	if (suite_check(&settings, problem, sizeof(problem)) != ST_OK) {
		complain(c, "--suite: %s", problem);
		return EXIT_BAD_INPUT;
	}
	if (backend_open(&b, NULL, problem, sizeof(problem)) != ST_OK || cpu_identify(b.access, &cpu) != ST_OK) {
		complain(c, "nothing can be run here: %s", problem);
		return EXIT_BROKEN;
	}
	bench_init(&bench, b.access, &cpu, &host, 0, 20090330);
	bench.patience = PATIENCE;
	if (cpu.hypervisor && sibling_load_begin(&company) != ST_OK)
		printf("the other processors could not be kept awake: the host of this virtual machine may lend them to others\n");
	if (company)
		warm_up(&bench);
	for (unsigned i = 0; i < rows_count; i++)
		if (suite_selects(&settings, &rows[i]))
			steady = one_row(&bench, &rows[i]) && steady;
	sibling_load_end(company);
	backend_close(&b);
	return steady ? EXIT_GOOD : EXIT_ROWS;
}

const struct command command_steady = {
	.name = "steady", .operands = "", .summary = "Runs rows repeatedly on this machine and measures their repeatability.",
	.more = "Prints the coefficient of variation over the runs of each row. A row is noisy if that exceeds 0.1 %, or if other\n"
	        "processes took more than 10 % of one processor's time meanwhile. In a virtual machine busy loops of the lowest priority keep\n"
	        "the other processors awake, so that the host does not lend them to others. A run whose windows differ by more than 1 % is\n"
	        "repeated, up to three times the requested number of runs; after that it counts as disturbed. Exit status 1: a row is noisy.\n",
	.options = steady_options, .run = steady_run,
};
