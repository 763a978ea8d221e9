/* pmu/sim/machine/replay.c: both texts read; each verdict on a line that earns it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/sim/machine/replay.h"
#include "runner/host/backend.h"

static void test_replay_reads_both_formats(void **state)
{
	(void)state;
	static const struct { const char *line; enum status st; enum replay_op op; unsigned core; uint64_t address, value; } rows[] = {
		{ "rdmsr 3 0x38f 0x7", ST_OK, REPLAY_RDMSR, 3, 0x38F, 7 },
		{ "  wrmsr\t0 911 15 fault\r", ST_OK, REPLAY_WRMSR, 0, 911, 15 },
		{ "rdpmc 1 0x40000000 5", ST_OK, REPLAY_RDPMC, 1, 0x40000000, 5 },
		{ "wrmsr 0 911 15 # global", ST_OK, REPLAY_WRMSR, 0, 911, 15 }, { "wrmsr 0 911 15 fault # it does", ST_OK, REPLAY_WRMSR, 0, 911, 15 },
		{ "mmio_write 0xfed00000 4 0x12", ST_OK, REPLAY_MMIO_WRITE, 0, 0xFED00000, 0x12 },
		{ "pci_read32 0000:ff:03.4+50 0x1", ST_OK, REPLAY_PCI_READ32, 0, 0, 1 },
		{ " a-1 [012] d..1. 1.5: write_msr: 38f, value 70000000f", ST_OK, REPLAY_WRMSR, 12, 0x38F, 0x70000000F },
		{ "perf 1 [000] 2.5: msr:read_msr: 1a4, value 0 #GP", ST_OK, REPLAY_RDMSR, 0, 0x1A4, 0 },
		{ "", ST_MISSING, 0, 0, 0, 0 }, { "  # wrmsr", ST_MISSING, 0, 0, 0, 0 }, { "cpuid 0 1 0 1 2 3 4", ST_MISSING, 0, 0, 0, 0 },
		{ "rdmsr 3 0x38f", ST_SYNTAX, 0, 0, 0, 0 }, { "rdmsr 3 0x1ffffffff 0", ST_SYNTAX, 0, 0, 0, 0 },
		{ "rdmsr x 1 1", ST_SYNTAX, 0, 0, 0, 0 }, { "wrmsr 0 1 1 maybe", ST_SYNTAX, 0, 0, 0, 0 },
		{ "wrmsr 0 1 # 1", ST_SYNTAX, 0, 0, 0, 0 }, { "wrmsr 0 1 1 #fault", ST_SYNTAX, 0, 0, 0, 0 },
		{ "wrmsr 0 1 1 fault fault", ST_SYNTAX, 0, 0, 0, 0 }, { "poke 1", ST_SYNTAX, 0, 0, 0, 0 },
		{ "pci_read32 0000:ff:20.4+50 0x1", ST_SYNTAX, 0, 0, 0, 0 }, { "pci_read32 0000:ff:03.4+52 1", ST_SYNTAX, 0, 0, 0, 0 },
		{ "mmio_read 0 3 0", ST_SYNTAX, 0, 0, 0, 0 },
		{ "a 1: write_msr: 38f, value 1", ST_SYNTAX, 0, 0, 0, 0 }, { "a [0] 1: write_msr: 38f, value", ST_SYNTAX, 0, 0, 0, 0 },
	};
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		struct replay_access a;
		const char *problem;
		enum status st = replay_parse(rows[i].line, strlen(rows[i].line), &a, &problem);
		if (st != rows[i].st)
			fail_msg("\"%s\": %d", rows[i].line, st);
		if (st == ST_SYNTAX)
			assert_true(problem[0]);
		if (st == ST_OK && (a.op != rows[i].op || a.core != rows[i].core || a.address != rows[i].address || a.value != rows[i].value))
			fail_msg("\"%s\" misread", rows[i].line);
	}
}

static void test_replay_judges_each_access(void **state)
{
	(void)state;
	static const struct { const char *line; enum replay_verdict verdict; } rows[] = {
		{ "wrmsr 0 0x38f 0", REPLAY_ACCEPTED }, { "wrmsr 0 0x188 0x420151", REPLAY_WRONG_COUNTER },
		{ "wrmsr 0 0x38f 0x10", REPLAY_RESERVED }, { "wrmsr 0 0x186 0x4201d4", REPLAY_UNMODELLED },
		{ "wrmsr 0 0x186 0x4100c0", REPLAY_IGNORED }, { "wrmsr 0 0x186 0x4200c0", REPLAY_ACCEPTED },
		{ "wrmsr 0 0x38f 1", REPLAY_NO_LATCH }, { "rdmsr 0 0x999 0", REPLAY_FAULTS }, { "wrmsr 0 0x38e 0", REPLAY_FAULTS },
		{ "rdpmc 0 9 0", REPLAY_FAULTS }, { "wrmsr 7 0x186 0x4200c0", REPLAY_ACCEPTED },
	};
	static struct machine m;
	char problem[512] = "";
	struct backend b;
	assert_int_equal(backend_machine("nehalem-ep", &m, problem, sizeof(problem)), ST_OK);
	assert_int_equal(backend_open(&b, &m, problem, sizeof(problem)), ST_OK);
	for (unsigned round = 0; round < 60; round++) /* more findings than the machine keeps */
		for (unsigned i = 0; i < COUNT_OF(rows); i++) {
			struct replay_access a;
			struct replay_result r;
			const char *what;
			assert_int_equal(replay_parse(rows[i].line, strlen(rows[i].line), &a, &what), ST_OK);
			assert_int_equal(replay_run(b.sim, &a, &r), ST_OK);
			if (r.verdict != rows[i].verdict || (r.verdict != REPLAY_ACCEPTED && !r.why[0]))
				fail_msg("\"%s\": %s, %s", rows[i].line, replay_verdict_name(r.verdict), r.why);
		}
	struct replay_access beyond = { .op = REPLAY_RDMSR, .core = 8, .address = 0x10 };
	struct replay_result r;
	assert_int_equal(replay_run(b.sim, &beyond, &r), ST_RANGE);
	backend_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay_reads_both_formats),
		cmocka_unit_test(test_replay_judges_each_access),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
