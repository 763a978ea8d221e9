/* runner/data/trace_*.c: lines of every trace format are parsed, each verdict is given on the line that causes it, and a trace's
 * processors are mapped to the machine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "runner/data/trace_replay.h"
#include "runner/host/backend.h"

static void test_trace_lines_of_every_form(void **state)
{
	(void)state;
	static const struct { const char *line; enum status st; enum trace_form_op op; unsigned core; uint64_t address, value; bool failed; } rows[] = {
		{ "rdmsr 3 0x38f 0x7", ST_OK, TRACED_RDMSR, 3, 0x38F, 7, 0 }, { "  wrmsr\t0 911 15 fault\r", ST_OK, TRACED_WRMSR, 0, 911, 15, 1 },
		{ "rdpmc 1 0x40000000 5", ST_OK, TRACED_RDPMC, 1, 0x40000000, 5, 0 }, { "wrmsr 0 911 15 # global", ST_OK, TRACED_WRMSR, 0, 911, 15, 0 },
		{ "wrmsr 0 911 15 ok", ST_OK, TRACED_WRMSR, 0, 911, 15, 0 }, { "mmio_write 0xfed00000 4 0x12", ST_OK, TRACED_MMIO_WRITE, 0, 0xFED00000, 0x12, 0 },
		{ "pci_read32 0000:ff:03.4+50 0x1", ST_OK, TRACED_PCI_READ32, 0, 0, 1, 0 }, { "run 2 0x1 0x2", ST_OK, TRACED_RUN, 2, 0, 0, 0 },
		{ " a-1 [012] d..1. 1.5: write_msr: 38f, value 70000000f", ST_OK, TRACED_WRMSR, 12, 0x38F, 0x70000000F, 0 },
		{ "perf 1 [000] 2.5: msr:read_msr: 1a4, value 0 #GP", ST_OK, TRACED_RDMSR, 0, 0x1A4, 0, 1 },
		/* a task's name may contain brackets, blanks, colons or a tracepoint's name */
		{ " Web [7] Content-4711 [003] d..1. 87.123: read_msr: 38f, value 7", ST_OK, TRACED_RDMSR, 3, 0x38F, 7, 0 },
		{ " 1.5: write_msr-9 [001] .... 87.123: read_msr: 38f, value 7", ST_OK, TRACED_RDMSR, 1, 0x38F, 7, 0 },
		{ "<...>-1   [005]   87.123456: write_msr:            38f, value f", ST_OK, TRACED_WRMSR, 5, 0x38F, 15, 0 }, /* trace-cmd */
		{ "stress  4711 [002]    87.123456:  msr:write_msr: 38f, value 70000000f", ST_OK, TRACED_WRMSR, 2, 0x38F, 0x70000000F, 0 },
		{ "CPU:3 [LOST 1234 EVENTS]", ST_OK, TRACED_LOST, 3, 0, 0, 0 }, { "CPU:12 [77 EVENTS DROPPED]", ST_OK, TRACED_LOST, 12, 0, 0, 0 },
		{ "a-1 [003] d..1. 4711: write_msr: 38f, value 7", ST_OK, TRACED_WRMSR, 3, 0x38F, 7, 0 }, /* trace_clock counter, x86-tsc */
		{ "a-1 [003] d..1. 4711: sched_switch: prev_comm=a", ST_MISSING, 0, 0, 0, 0, 0 }, { "foo 12: bar", ST_SYNTAX, 0, 0, 0, 0, 0 },
		{ "MARK 0.000000 Lost 12 events.", ST_OK, TRACED_LOST, TRACE_CPU_MOST, 0, 0, 0 }, { "MARK 1.5 my mark", ST_MISSING, 0, 0, 0, 0, 0 },
		{ "a 1 [002] 87.1: PERF_RECORD_LOST lost 12", ST_OK, TRACED_LOST, 2, 0, 0, 0 },
		{ "R 4 162.635211 1 0xfebe0014 0x1f 0x0 0", ST_OK, TRACED_MMIO_READ, 0, 0xFEBE0014, 0x1F, 0 },
		{ "W 1 162.635211 1 0xfebe0014 0x1f 0x0 0", ST_OK, TRACED_MMIO_WRITE, 0, 0xFEBE0014, 0x1F, 0 },
		{ "cpus 0-1=2-3", ST_OK, TRACED_CPUS, 0, 0, 0, 0 },
		{ "", ST_MISSING, 0, 0, 0, 0, 0 }, { "  # wrmsr", ST_MISSING, 0, 0, 0, 0, 0 }, { "cpuid 0 1 0 1 2 3 4", ST_MISSING, 0, 0, 0, 0, 0 },
		{ " bash-1 [003] d..2. 123.4: sched_switch: prev_comm=a prev_pid=1", ST_MISSING, 0, 0, 0, 0, 0 },
		{ " bash-1 [003] d..2. 123.4: <stack trace>", ST_MISSING, 0, 0, 0, 0, 0 }, { " => x86_pmu_enable", ST_MISSING, 0, 0, 0, 0, 0 },
		{ "\tffffffff8100b0c1 native_write_msr+0x1 ([kernel.kallsyms])", ST_MISSING, 0, 0, 0, 0, 0 },
		{ "cpus=8", ST_MISSING, 0, 0, 0, 0, 0 }, { "CPU 3 is empty", ST_MISSING, 0, 0, 0, 0, 0 }, { "MAP 1.5 1 0xfe 0xff 0x10 0x0 0", ST_MISSING, 0, 0, 0, 0, 0 },
		{ "rdmsr 3 0x38f", ST_SYNTAX, 0, 0, 0, 0, 0 }, { "rdmsr 3 0x1ffffffff 0", ST_SYNTAX, 0, 0, 0, 0, 0 },
		{ "rdmsr x 1 1", ST_SYNTAX, 0, 0, 0, 0, 0 }, { "wrmsr 0 1 1 maybe", ST_SYNTAX, 0, 0, 0, 0, 0 },
		{ "wrmsr 0 1 # 1", ST_SYNTAX, 0, 0, 0, 0, 0 }, { "wrmsr 0 1 1 #fault", ST_SYNTAX, 0, 0, 0, 0, 0 },
		{ "wrmsr 0 1 1 fault fault", ST_SYNTAX, 0, 0, 0, 0, 0 }, { "poke 1", ST_SYNTAX, 0, 0, 0, 0, 0 },
		{ "pci_read32 0000:ff:20.4+50 0x1", ST_SYNTAX, 0, 0, 0, 0, 0 }, { "pci_read32 0000:ff:03.4+52 1", ST_SYNTAX, 0, 0, 0, 0, 0 },
		{ "mmio_read 0 3 0", ST_SYNTAX, 0, 0, 0, 0, 0 }, { "R 3 1.5 1 0x1 0x1 0x0 0", ST_SYNTAX, 0, 0, 0, 0, 0 },
		{ "a 1: write_msr: 38f, value 1", ST_SYNTAX, 0, 0, 0, 0, 0 }, { "a [0] 1.5: write_msr: 38f, value", ST_SYNTAX, 0, 0, 0, 0, 0 },
	};
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct traced a;
		const char *problem;
		enum status st = trace_text_read(rows[i].line, strlen(rows[i].line), &a, &problem);
		if (st != rows[i].st)
			fail_msg("\"%s\": %d", rows[i].line, st);
		if (st == ST_SYNTAX)
			assert_true(problem[0]);
		if (st == ST_OK && (a.op != rows[i].op || a.core != rows[i].core || a.address != rows[i].address || a.value != rows[i].value ||
		                    a.failed != rows[i].failed))
			fail_msg("\"%s\" misread", rows[i].line);
	}
}

/* A replay on a machine, with the number of the last line and its verdict. */
struct lint { struct machine m; struct trace_cpus cpus; struct backend b; struct trace_replay *replay; unsigned line; struct trace_verdict v; };

static void open_lint(struct lint *l, const char *machine)
{
	char problem[512] = "";
	memset(l, 0, sizeof(*l));
	assert_int_equal(backend_machine(machine, &l->m, problem, sizeof(problem)), ST_OK);
	trace_cpus_init(&l->cpus);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(trace_cpus_see(&l->cpus, i, false), ST_OK);
	assert_int_equal(trace_cpus_settle(&l->cpus, &l->m), ST_OK);
	assert_int_equal(backend_open(&l->b, &l->m, problem, sizeof(problem)), ST_OK);
	assert_int_equal(trace_replay_open(&l->replay, l->b.sim, &l->m, &l->cpus), ST_OK);
}

static void step(struct lint *l, const char *line)
{
	struct traced a;
	const char *problem;
	assert_int_equal(trace_text_read(line, strlen(line), &a, &problem), ST_OK);
	assert_int_equal(trace_replay_step(l->replay, ++l->line, &a, &l->v), ST_OK);
}

static void close_lint(struct lint *l)
{
	trace_replay_close(l->replay);
	backend_close(&l->b);
}

static enum trace_class first_class(const struct lint *l) { return l->v.count ? l->v.finding[0].class : TRACE_ACCEPTED; }

static void test_replay_judges_each_access(void **state)
{
	(void)state;
	static struct lint l;
	static const struct { const char *line; enum trace_class class; } rows[] = {
		{ "wrmsr 0 0x38f 0", TRACE_ACCEPTED }, { "wrmsr 0 0x188 0x420151", TRACE_WRONG_COUNTER },
		{ "wrmsr 0 0x38f 0x10", TRACE_RESERVED_FAULTS }, { "wrmsr 0 0x186 0x4201d4", TRACE_UNMODELLED },
		{ "wrmsr 0 0x186 0x4100c0", TRACE_SIMULATOR }, { "wrmsr 0 0x186 0x4000c0", TRACE_IGNORED },
		{ "wrmsr 0 0x186 0x4200c0", TRACE_ACCEPTED }, { "wrmsr 0 0x38f 1", TRACE_NO_LATCH }, { "rdmsr 0 0x999 0", TRACE_UNMODELLED },
		{ "rdmsr 0 0xc0000100 0", TRACE_UNMODELLED }, { "rdmsr 0 0x18b 0", TRACE_FAULTS }, { "wrmsr 0 0x38e 0", TRACE_FAULTS },
		{ "rdpmc 0 9 0", TRACE_FAULTS }, { "wrmsr 7 0x186 0x4200c0", TRACE_ACCEPTED }, { "mmio_read 0xfebe0000 4 0", TRACE_UNMODELLED },
	};
	open_lint(&l, "nehalem-ep");
	for (unsigned round = 0; round < 60; round++) /* so that there are more findings than the machine keeps */
		for (unsigned i = 0; i < COUNT_OF(rows); i++) {
			step(&l, rows[i].line);
			if (first_class(&l) != rows[i].class || (l.v.count && !l.v.finding[0].text[0]))
				fail_msg("\"%s\": %s", rows[i].line, trace_class_name(first_class(&l)));
		}
	close_lint(&l);
}

static void test_replay_holds_recorded_outcomes_against_the_machine(void **state)
{
	(void)state;
	static struct lint l;
	open_lint(&l, "nehalem-ep");
	static const struct { const char *line; enum trace_class class; } rows[] = {
		{ "wrmsr 0 0x186 0x4200c0", TRACE_ACCEPTED },
		{ "rdmsr 0 0x186 0x4200c0", TRACE_ACCEPTED }, { "rdmsr 0 0x186 0x4200c1", TRACE_DIFFERS },
		{ "rdmsr 1 0x186 0x4200c1", TRACE_ACCEPTED },                /* the trace did not write this processor's register */
		{ "wrmsr 0 0x186 0x4200c4 fault", TRACE_DIFFERS }, { "rdmsr 0 0x186 0x4200c0", TRACE_ACCEPTED }, /* the write that faulted changed nothing */
		{ "rdmsr 0 0x345 0x1", TRACE_DIFFERS }, { "rdmsr 0 0x18b 0 fault", TRACE_ACCEPTED },  /* both fault */
		{ "wrmsr 0 0x38f 0x10 fault", TRACE_ACCEPTED }, { "rdmsr 0 0xc1 0x5", TRACE_ACCEPTED }, /* a count */
		{ "wrmsr 0 0x1d9 0x1", TRACE_ACCEPTED }, { "rdmsr 0 0x1d9 0x0", TRACE_DIFFERS },
		{ "wrmsr 0 0x1d9 0x801", TRACE_ACCEPTED }, { "rdmsr 0 0x1d9 0x800", TRACE_ACCEPTED }, /* an overflow may have cleared the LBR bit */
	};
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		step(&l, rows[i].line);
		if (first_class(&l) != rows[i].class)
			fail_msg("\"%s\": %s", rows[i].line, trace_class_name(first_class(&l)));
	}
	step(&l, "CPU:0 [LOST 3 EVENTS]"); /* any register may have been written */
	step(&l, "rdmsr 0 0x186 0x4200c1");
	assert_int_equal(first_class(&l), TRACE_ACCEPTED);
	close_lint(&l);
}

static void test_replay_names_the_line_that_clashes(void **state)
{
	(void)state;
	static struct lint l;
	open_lint(&l, "nehalem-ep");
	const char *const lines[] = { "wrmsr 2 0x38f 0", "wrmsr 2 0x187 0x24300c0", "wrmsr 2 0x3f1 2" };
	for (unsigned i = 0; i < COUNT_OF(lines); i++) {
		step(&l, lines[i]);
		assert_int_equal(l.v.count, 0);
	}
	step(&l, "CPU:2 [LOST 3 EVENTS]");
	step(&l, "wrmsr 2 0x38f 2");
	assert_int_equal(l.v.count, 3); /* the cmask, the missing debug store area, the missing start-up sequence */
	const struct trace_finding *f = NULL;
	for (unsigned i = 0; i < l.v.count; i++)
		if (strstr(l.v.finding[i].text, "cmask"))
			f = &l.v.finding[i];
	assert_non_null(f);
	assert_int_equal(f->class, TRACE_UNDEFINED);
	assert_string_equal(f->where, "counter 1");
	assert_string_equal(f->event, "INSTRUCTION_RETIRED");
	assert_int_equal(f->clash_line, 3);
	assert_int_equal(f->lost_line, 4);
	assert_non_null(strstr(f->clash, "IA32_PEBS_ENABLE"));
	assert_non_null(f->paragraph);
	close_lint(&l);
}

static void test_cpus_are_mapped(void **state)
{
	(void)state;
	static struct machine m;
	static struct trace_cpus c;
	char problem[512];
	assert_int_equal(backend_machine("nehalem-ep", &m, problem, sizeof(problem)), ST_OK);
	const unsigned cores = (unsigned)(m.topology_sockets * m.topology_cores);
	trace_cpus_init(&c); /* twice as many as the machine's cores: two threads per core, in Linux's numbering */
	for (unsigned i = 0; i < 2 * cores; i++)
		assert_int_equal(trace_cpus_see(&c, i, true), ST_OK);
	assert_int_equal(trace_cpus_settle(&c, &m), ST_OK);
	assert_true(c.paired && m.topology_threads == 2);
	assert_true(c.map[0] == 0 && c.map[cores] == 1 && c.map[1] == 2 && c.map[2 * cores - 1] == 2 * cores - 1);
	trace_cpus_init(&c); /* the machine's own numbering */
	assert_int_equal(trace_cpus_see(&c, 5, false), ST_OK);
	assert_int_equal(trace_cpus_settle(&c, &m), ST_OK);
	assert_int_equal(c.map[5], 5);
	trace_cpus_init(&c); /* a few processors of a large machine are mapped in order of appearance */
	assert_int_equal(trace_cpus_see(&c, 112, true), ST_OK);
	assert_int_equal(trace_cpus_see(&c, 40, true), ST_OK);
	assert_int_equal(trace_cpus_settle(&c, &m), ST_OK);
	assert_true(c.map[112] == 0 && c.map[40] == 1);
	trace_cpus_init(&c);
	assert_int_equal(trace_cpus_map(&c, " 0-3=4-7,100=0", 14), ST_OK);
	assert_int_equal(trace_cpus_see(&c, 2, true), ST_OK);
	assert_int_equal(trace_cpus_see(&c, 100, true), ST_OK);
	assert_int_equal(trace_cpus_settle(&c, &m), ST_OK);
	assert_true(c.map[2] == 6 && c.map[100] == 0);
	assert_int_equal(trace_cpus_see(&c, 50, true), ST_OK); /* not in the list */
	assert_int_equal(trace_cpus_settle(&c, &m), ST_RANGE);
	assert_int_equal(trace_cpus_see(&c, TRACE_CPUS_MOST, true), ST_RANGE);
	static const char *const bad[] = { "", "0", "0=", "0-3=0-2", "3-0=3-0", "0=1;2=3", "a=b", "0=99999" };
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		trace_cpus_init(&c);
		assert_int_equal(trace_cpus_map(&c, bad[i], strlen(bad[i])), ST_SYNTAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_lines_of_every_form),
		cmocka_unit_test(test_replay_judges_each_access),
		cmocka_unit_test(test_replay_holds_recorded_outcomes_against_the_machine),
		cmocka_unit_test(test_replay_names_the_line_that_clashes),
		cmocka_unit_test(test_cpus_are_mapped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
