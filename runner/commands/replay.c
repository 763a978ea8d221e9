/* runner/commands/replay.c: `stallmeter replay`, the register lint: replays recorded accesses on a simulated machine. */
#include <stdlib.h>
#include <string.h>

#include "runner/options/command.h"
#include "runner/commands/replay_report.h"
#include "runner/data/file.h"
#include "runner/host/backend.h"

#define TRACE_MOST (256u << 20)

static const char *machine_name, *format = "text", *cpus_map = "";
static bool quiet, strict;

static unsigned replay_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--machine", OPTION_TEXT, &machine_name, "NAME|FILE", NULL, 0, 0, "the simulated machine"},
		{"--findings", OPTION_SWITCH, &quiet, NULL, NULL, 0, 0, "print only lines with a finding"},
		{"--strict", OPTION_SWITCH, &strict, NULL, NULL, 0, 0, "exit status 1 also for unmodelled registers and properties of the simulator"},
		{"--cpus", OPTION_TEXT, &cpus_map, "MAP", NULL, 0, 0, "processors: machine, linux, or a list as 0-3=0-3,8=4"},
		{"--format", OPTION_CHOICE, &format, NULL, "text|json|junit|sarif", 0, 0, "how findings are printed"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

struct trace { const struct command *c; const char *path, *text; size_t bytes; };

/* Called for each line, in a first pass to record the processors and in a second to replay. */
typedef int line_use(void *self, const struct trace *t, unsigned line, const char *at, size_t bytes, const struct traced *a);

static int each_line(const struct trace *t, line_use *use, void *self)
{
	unsigned line = 0;
	for (const char *at = t->text, *end = t->text + t->bytes; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop ? stop : end) - at);
		struct traced a;
		const char *problem;
		enum status st = trace_text_read(at, n, &a, &problem);
		line++;
		if (st == ST_SYNTAX) {
			complain(t->c, "%s:%u: %s", t->path, line, problem);
			return EXIT_BAD_INPUT;
		}
		int result = st == ST_OK ? use(self, t, line, at, n, &a) : EXIT_GOOD;
		if (result != EXIT_GOOD)
			return result;
		at += n + 1;
	}
	return EXIT_GOOD;
}

static int see(void *self, const struct trace *t, unsigned line, const char *at, size_t bytes, const struct traced *a)
{
	struct trace_cpus *cpus = self;
	(void)at, (void)bytes;
	if (a->op == TRACED_CPUS && !cpus_map[0] && trace_cpus_map(cpus, a->text, a->text_bytes) != ST_OK) {
		complain(t->c, "%s:%u: reads: cpus machine, linux, or a list as 0-3=0-3,8=4", t->path, line);
		return EXIT_BAD_INPUT;
	}
	if ((a->op == TRACED_RDMSR || a->op == TRACED_WRMSR || a->op == TRACED_RDPMC) && trace_cpus_see(cpus, a->core, a->numbered_by_linux) != ST_OK) {
		complain(t->c, "%s:%u: processor %u: at most %u are understood", t->path, line, a->core, TRACE_CPUS_MOST);
		return EXIT_BAD_INPUT;
	}
	return EXIT_GOOD;
}

struct session { struct trace_replay *replay; struct replay_report report; };

static int carry_out(void *self, const struct trace *t, unsigned line, const char *at, size_t bytes, const struct traced *a)
{
	struct session *s = self;
	static struct trace_verdict v;
	if (trace_replay_step(s->replay, line, a, &v) != ST_OK) {
		complain(t->c, "%s:%u: no memory for it", t->path, line);
		return EXIT_BROKEN;
	}
	if (a->op != TRACED_RUN && a->op != TRACED_LOST && a->op != TRACED_CPUS)
		replay_report_access(&s->report, line, at, bytes, &v);
	return EXIT_GOOD;
}

static int judge(const struct trace *t, const struct machine *m, const struct trace_cpus *cpus)
{
	char problem[1024];
	struct backend b;
	struct session s = { .report = { .format = format, .trace = t->path, .machine = m->name, .quiet = quiet, .strict = strict } };
	if (backend_open(&b, m, problem, sizeof(problem))) {
		complain(t->c, "%s", problem);
		return EXIT_BROKEN;
	}
	int result = EXIT_BROKEN;
	if (trace_replay_open(&s.replay, b.sim, m, cpus) == ST_OK) {
		replay_report_begin(&s.report);
		result = each_line(t, carry_out, &s);
		if (result == EXIT_GOOD)
			replay_report_end(&s.report);
		trace_replay_close(s.replay);
	}
	backend_close(&b);
	return result == EXIT_GOOD && s.report.findings ? EXIT_ROWS : result;
}

static int replay_command(const struct command *c, int operands, char **operand)
{
	static struct machine m;
	static struct trace_cpus cpus;
	char problem[1024], *text;
	struct trace t = { .c = c };
	if (operands != 1) {
		complain(c, "one trace file is expected, %d given", operands);
		return EXIT_BAD_INPUT;
	}
	trace_cpus_init(&cpus);
	if (cpus_map[0] && trace_cpus_map(&cpus, cpus_map, strlen(cpus_map)) != ST_OK) {
		complain(c, "--cpus \"%s\": machine, linux, or a list as 0-3=0-3,8=4", cpus_map);
		return EXIT_BAD_INPUT;
	}
	if (backend_machine(machine_name, &m, problem, sizeof(problem)) ||
	    file_read(strcmp(operand[0], "-") ? operand[0] : "/dev/stdin", TRACE_MOST, &text, &t.bytes, problem, sizeof(problem))) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	t.text = text;
	t.path = operand[0];
	int result = each_line(&t, see, &cpus);
	if (result == EXIT_GOOD && trace_cpus_settle(&cpus, &m) != ST_OK) {
		complain(c, "%s: names %u processors, the highest %u, and not all have a counterpart: %s has %u; --cpus maps them", t.path, cpus.seen,
		         cpus.highest, m.name, (unsigned)(m.topology_sockets * m.topology_cores * m.topology_threads));
		result = EXIT_BAD_INPUT;
	}
	if (result == EXIT_GOOD && !cpus.seen && !memmem(t.text, t.bytes, "pci_", 4) && !memmem(t.text, t.bytes, "mmio_", 5) &&
	    !memmem(t.text, t.bytes, "\nR ", 3) && !memmem(t.text, t.bytes, "\nW ", 3)) {
		complain(c, "%s: no access is in it; expected lines such as \"wrmsr CORE MSR VALUE\"", t.path);
		result = EXIT_BAD_INPUT;
	}
	if (result == EXIT_GOOD && cpus.paired)
		fprintf(stderr, "stallmeter replay: %s got two threads a core for the processors of this trace\n", m.name);
	if (result == EXIT_GOOD)
		result = judge(&t, &m, &cpus);
	free(text);
	return result;
}

const struct command command_replay = {
	"replay", "TRACE", "Replays recorded register accesses on a simulated machine and checks each.",
	"TRACE has lines such as \"wrmsr CORE MSR VALUE\", or is the text of Linux's tracepoints msr:read_msr and msr:write_msr\n"
	"(other events in it are ignored) or of mmiotrace; \"-\" is standard input. A mistake is reported where it takes\n"
	"effect, with the line that it conflicts with: docs/replay.md has the forms, docs/lint.md the classes of findings. Exit\n"
	"status 1 on any finding, except unmodelled registers and properties of the simulator.\n",
	replay_options, replay_command,
};
