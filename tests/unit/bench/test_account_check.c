/* bench/workloads/workload_account_check.c: an event that is programmed with another's code contradicts what the workload is known to do,
 * and the accounting is not ok. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/workloads/workload_account.h"
#include "tests/unit/rigs/work_rig.h"

static struct work_rig rig;
static int64_t penalties[512];
static struct account_result a;

/* The machine's processor, but with another event code for `concept`. */
static struct processor wrong;
static struct expression expressions[512];
static struct expression_term term;
static struct event event;

/* `code`: the umask, and above it another event select (0: the same). */
static void plant(const char *concept, unsigned code)
{
	const struct processor *right = rig.run.cpu.processor;
	wrong = *right;
	assert_true(right->expression_count <= COUNT_OF(expressions));
	memcpy(expressions, right->expressions, right->expression_count * sizeof(expressions[0]));
	for (unsigned i = 0; i < right->expression_count; i++)
		if (!strcmp(expressions[i].concept, concept)) {
			term = expressions[i].terms[0];
			event = *term.event;
			event.umask = (uint8_t)code;
			event.select = code > 0xFF ? (uint8_t)(code >> 8) : event.select;
			term.event = &event;
			expressions[i].terms = &term;
		}
	wrong.expressions = expressions;
	rig.bench.own.processor = &wrong;
}

static void account(enum work_kind kind)
{
	const struct account_penalties p = { penalties };
	for (unsigned i = 0; i < COUNT_OF(penalties); i++)
		penalties[i] = -1;
	workload_account_run(&rig.bench, kind, &p, &a);
}

static void test_account_of_right_events_is_ok(void **state)
{
	(void)state;
	work_rig_open(&rig, loop_built_in("nehalem-ep"));
	for (unsigned kind = 0; kind < WORK_KINDS; kind++) {
		account(kind);
		if (a.status != ROW_OK)
			fail_msg("%s: %s", work_name(kind), a.reason);
	}
	work_rig_close(&rig);
}

static void test_account_of_a_wrong_code_is_contradicted(void **state)
{
	(void)state;
	static const struct { const char *concept; unsigned code; enum work_kind kind; const char *expected; } planted[] = {
		{ "uops.issued", 0x02, WORK_LATENCY, "UOPS_ISSUED.ANY: " },           /* fused ones alone */
		{ "resource.stall", 0x02, WORK_LATENCY, "RESOURCE_STALLS.ANY: " },    /* load buffers alone */
		{ "uops.retired", 0x04, WORK_LATENCY, "UOPS_RETIRED.ANY: " },         /* macro-fused ones alone */
		{ "retire.active", 0x04, WORK_BANDWIDTH, "UOPS_RETIRED.STALL_CYCLES: " },
		{ "l1d.pending", 0xC201, WORK_LATENCY, "L1D_PEND_MISS.PENDING: " }, /* uops retired */
	};
	for (unsigned i = 0; i < COUNT_OF(planted); i++) {
		work_rig_open(&rig, loop_built_in("nehalem-ep"));
		plant(planted[i].concept, planted[i].code);
		account(planted[i].kind);
		print_message("%s with %02X: %s: %s\n", planted[i].concept, planted[i].code, row_status_name(a.status), a.reason);
		assert_int_equal(a.status, ROW_UNPROVEN);
		assert_ptr_equal(strstr(a.reason, planted[i].expected), a.reason);
		work_rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_account_of_right_events_is_ok),
		cmocka_unit_test(test_account_of_a_wrong_code_is_contradicted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
