/* runner/commands/replay.c: the PMU lint: a recorded access sequence on a simulated machine. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "pmu/sim/machine/replay.h"
#include "runner/host/backend.h"
#include "runner/commands/command.h"
#include "runner/data/file.h"

#define TRACE_MOST (256u << 20)

static const char *machine_name = "nehalem-ep";
static bool quiet;

static unsigned replay_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--machine", OPTION_TEXT, &machine_name, "NAME|FILE", NULL, 0, 0, "the simulated machine"},
		{"--findings", OPTION_SWITCH, &quiet, NULL, NULL, 0, 0, "print only lines that are not simply accepted"},
	};
	for (unsigned i = 0; i < COUNT_OF(all) && i < most; i++)
		list[i] = all[i];
	return COUNT_OF(all);
}

/* One pass over the text: first to see that each line reads (s NULL), then to carry it out. */
static int replay_text(const struct command *c, struct sim *s, const char *path, const char *text, size_t bytes, uint64_t *count)
{
	unsigned line = 0;
	for (const char *at = text, *end = text + bytes; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop ? stop : end) - at);
		struct replay_access a;
		struct replay_result r;
		const char *problem;
		enum status st = replay_parse(at, n, &a, &problem);
		line++;
		if (st == ST_SYNTAX) {
			complain(c, "%s:%u: %s", path, line, problem);
			return EXIT_BAD_INPUT;
		}
		if (st == ST_OK && s) {
			if (replay_run(s, &a, &r)) {
				complain(c, "%s:%u: no core %u: the machine has %u, from 0", path, line, a.core, sim_access(s)->cores);
				return EXIT_BAD_INPUT;
			}
			count[r.verdict]++;
			if (!quiet || r.verdict != REPLAY_ACCEPTED)
				printf("%u: %s: %.*s%s%s\n", line, replay_verdict_name(r.verdict), (int)n, at, *r.why ? ": " : "", r.why);
		}
		at += n + 1;
	}
	return EXIT_GOOD;
}

static int replay_command(const struct command *c, int operands, char **operand)
{
	static struct machine m;
	char problem[1024], *text;
	size_t bytes;
	struct backend b;
	uint64_t count[REPLAY_VERDICTS] = { 0 };
	if (operands != 1) {
		complain(c, "one trace file is wanted, %d given", operands);
		return EXIT_BAD_INPUT;
	}
	if (backend_machine(machine_name, &m, problem, sizeof(problem)) ||
	    file_read(operand[0], TRACE_MOST, &text, &bytes, problem, sizeof(problem))) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	int result = replay_text(c, NULL, operand[0], text, bytes, count);
	if (result == EXIT_GOOD && backend_open(&b, &m, problem, sizeof(problem))) {
		complain(c, "%s", problem);
		result = EXIT_BROKEN;
	} else if (result == EXIT_GOOD) {
		result = replay_text(c, b.sim, operand[0], text, bytes, count);
		backend_close(&b);
	}
	free(text);
	if (result != EXIT_GOOD)
		return result;
	uint64_t accesses = 0, findings = 0;
	for (unsigned v = 0; v < REPLAY_VERDICTS; v++)
		accesses += count[v];
	if (!accesses) {
		complain(c, "%s: no access is in it; expected lines such as \"wrmsr CORE MSR VALUE\"", operand[0]);
		return EXIT_BAD_INPUT;
	}
	for (unsigned v = 0; v < REPLAY_VERDICTS; v++) {
		printf("%s%" PRIu64 " %s", v ? ", " : "", count[v], replay_verdict_name((enum replay_verdict)v));
		findings += v == REPLAY_ACCEPTED ? 0 : count[v];
	}
	puts("");
	return findings ? EXIT_ROWS : EXIT_GOOD;
}

const struct command command_replay = {
	"replay", "TRACE", "Replays recorded register accesses on a simulated machine and judges each.",
	"TRACE has lines such as \"wrmsr CORE MSR VALUE\", or is the text of Linux's tracepoints\n"
	"msr:read_msr and msr:write_msr. Each line is accepted, or it faults, sets a reserved bit, uses a wrong\n"
	"counter, is ignored, asks for something that is not modelled, or misses a start-up sequence. Exit status\n"
	"1 on any finding.\n",
	replay_options, replay_command,
};
