/* The event tables against libpfm4, which is no source of theirs where the documents have the event.
 *
 * Each event of a processor is asked of libpfm4 under the name that the table's name gives
 * (A.B is pmu::A:B), or under the name that tables/processors/PROCESSOR/reviewed.csv gives. The codes must be
 * equal, or the reviewed list must say why they are not. A reviewed line that says `differs` or
 * `unknown` of an event that agrees is a failure too: the list holds nothing stale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/text.h"
#include "tables/processor.h"
#include "tests/unit/support/reviewed.h"

/* Bits of PERFEVTSEL that make an event what it is: select, umask, edge, any, inv, cmask. */
#define MEANING 0xFFA4FFFFu

static void default_name(const char *pmu, const struct event *e, char *out, size_t capacity)
{
	char rest[128];
	const char *dot = strchr(e->name, '.');
	str_copy(rest, sizeof(rest), dot ? dot + 1 : "");
	for (char *c = rest; *c; c++)
		if (*c == '.')
			*c = '_';
	snprintf(out, capacity, "%s::%.*s%s%s", pmu, dot ? (int)(dot - e->name) : (int)strlen(e->name), e->name, dot ? ":" : "", rest);
}

/* OFFCORE_RESPONSE_0 is a matrix of bits there too: one libpfm4 name a bit. */
static void offcore_name(const char *pmu, const struct event *e, char *out, size_t capacity)
{
	static const char *const bits[16] = { "DMND_DATA_RD", "DMND_RFO", "DMND_IFETCH", "WB", "PF_DATA_RD", "PF_RFO",
		"PF_IFETCH", "OTHER", "UNCORE_HIT", "OTHER_CORE_HIT_SNP", "OTHER_CORE_HITM", "REMOTE_CACHE_HITM",
		"REMOTE_CACHE_FWD", "REMOTE_DRAM", "LOCAL_DRAM", "NON_DRAM" };
	size_t n = (size_t)snprintf(out, capacity, "%s::OFFCORE_RESPONSE_0", pmu);
	for (unsigned i = 0; i < 16; i++)
		if (e->extra_value >> i & 1)
			n += (size_t)snprintf(out + n, capacity - n, ":%s", bits[i]);
	assert_true(n < capacity);
}

static uint64_t our_code(const struct event *e)
{
	return e->select | (uint64_t)e->umask << 8 | (uint64_t)e->edge << 18 | (uint64_t)e->any << 21 |
	       (uint64_t)e->inv << 23 | (uint64_t)e->cmask << 24;
}

static void compare(const char *pmu, const struct event *e)
{
	char name[512];
	uint64_t codes[2];
	const struct review *r = reviewed_find(e->name);
	if (r && r->oracle[0])
		str_copy(name, sizeof(name), r->oracle);
	else if (strncmp(e->name, "OFFCORE_RESPONSE_0.", 19) == 0)
		offcore_name(pmu, e, name, sizeof(name));
	else
		default_name(pmu, e, name, sizeof(name));
	bool known = reviewed_ask_libpfm(name, codes, 2);
	bool same = (codes[0] & MEANING) == our_code(e) && (!e->extra_msr || codes[1] == e->extra_value);
	reviewed_judge(r, e->name, name, known, same, our_code(e), codes[0] & MEANING);
}

static void compare_all(const char *processor, const char *pmu, unsigned least)
{
	const struct processor *p = NULL;
	for (unsigned i = 0; i < processor_count; i++)
		if (str_equal(processors[i].name, processor))
			p = &processors[i];
	assert_non_null(p);
	char list[64];
	snprintf(list, sizeof(list), "%s/reviewed", processor);
	reviewed_read(list);
	for (unsigned i = 0; i < p->event_count; i++)
		compare(pmu, &p->events[i]);
	const struct reviewed_counts sum = reviewed_sum(processor, "libpfm4");
	reviewed_check_stale();
	assert_int_equal(sum.bad, 0);
	assert_true(sum.agree >= least);
}

static void test_events_of_nehalem_agree_with_libpfm4(void **state)
{
	(void)state;
	compare_all("nehalem-ep", "nhm", 500);
}

static void test_events_of_haswell_ep_agree_with_libpfm4(void **state)
{
	(void)state;
	compare_all("haswell-ep", "hsw_ep", 60);
}

static void test_events_of_skylake_sp_agree_with_libpfm4(void **state)
{
	(void)state;
	compare_all("skylake-sp", "skx", 60);
}

static void test_events_of_core_2_agree_with_libpfm4(void **state)
{
	(void)state;
	compare_all("core2", "core", 40);
}

static void test_events_of_any_intel_processor_agree_with_libpfm4(void **state)
{
	(void)state;
	compare_all("intel", "core", 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_of_nehalem_agree_with_libpfm4),
		cmocka_unit_test(test_events_of_haswell_ep_agree_with_libpfm4),
		cmocka_unit_test(test_events_of_skylake_sp_agree_with_libpfm4),
		cmocka_unit_test(test_events_of_core_2_agree_with_libpfm4),
		cmocka_unit_test(test_events_of_any_intel_processor_agree_with_libpfm4),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
