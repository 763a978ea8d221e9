/* The event tables, judged by libpfm4, which is not their source for events that the documents have.
 *
 * Each event of each processor is looked up in libpfm4 under the name that follows from the table's
 * (A.B is pmu::A:B), or under the name that tables/processors/PROCESSOR/reviewed.csv gives. The codes must be
 * equal, or the reviewed list must say why they are not. A line that says `differs` or `unknown` of an
 * event that agrees also fails the test, so that the list has no stale lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/text.h"
#include "tables/processor.h"
#include "tests/unit/support/reviewed.h"

/* Bits of PERFEVTSEL that define an event: select, umask, edge, any, inv, cmask. */
#define MEANING 0xFFFA4FFFFull /* and AMD's bits 11:8 of the select */

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

/* libpfm4 too has OFFCORE_RESPONSE_0 as a matrix of bits, with a name for each. */
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
	return (e->select & 0xFFu) | (uint64_t)(e->select >> 8) << 32 | (uint64_t)(e->umask & 0xFF) << 8 | (uint64_t)(e->umask >> 8) << 40 | (uint64_t)e->edge << 18 | (uint64_t)e->any << 21 |
	       (uint64_t)e->inv << 23 | (uint64_t)e->cmask << 24;
}

/* libpfm4's codes of one PMU, and the bits of the off-core response registers that it knows. */
static struct { uint64_t code[4000]; unsigned count; uint64_t response; } theirs;

static void keep(const char *name, const uint64_t codes[2])
{
	assert_true(theirs.count < COUNT_OF(theirs.code));
	theirs.code[theirs.count++] = codes[0] & MEANING;
	if (strstr(name, "::OFFCORE_RESPONSE") || strstr(name, "::OCR"))
		theirs.response |= codes[1];
}

static bool has_code(uint64_t code)
{
	for (unsigned i = 0; i < theirs.count; i++)
		if (theirs.code[i] == code)
			return true;
	return false;
}

/* Whether libpfm4's units of the same select combine to the umask. */
static bool has_units(const struct event *e)
{
	unsigned made = 0;
	for (unsigned i = 0; i < theirs.count; i++)
		if ((theirs.code[i] & ~0xFF00ull) == (our_code(e) & ~0xFF00ull) && !(theirs.code[i] >> 8 & 0xFF & ~(unsigned)e->umask))
			made |= theirs.code[i] >> 8 & 0xFF;
	return made && made == e->umask;
}

/* Numbers of events that agree under their name, and of those that libpfm4 lacks under it: by the code of another name, by units that combine to
 * the umask, by select and umask without modifiers, or by the bits of an off-core response. */
static unsigned by_name, by_code, by_units, by_plain, by_bits;

static bool agrees_otherwise(const struct event *e)
{
	if (e->extra_msr == 0x1A6) {
		const bool known = has_code(e->select | (uint64_t)e->umask << 8) && !(e->extra_value & ~theirs.response);
		by_bits += known;
		return known;
	}
	if (has_code(our_code(e)))
		by_code++;
	else if (has_units(e))
		by_units++;
	else if ((e->cmask || e->any) && has_code(e->select | (uint64_t)e->umask << 8))
		by_plain++;
	else
		return false;
	return true;
}

/* The threshold is a modifier in libpfm4: EVENT.LOAD_LATENCY_GT_4 is EVENT:LOAD_LATENCY:ldlat=4. */
static void latency_name(const char *pmu, const struct event *e, char *out, size_t capacity)
{
	default_name(pmu, e, out, capacity);
	char *end = strrchr(out, '_');
	assert_non_null(end);
	if (end - out > 3 && !strncmp(end - 3, "_GT", 3))
		end -= 3;
	snprintf(end, capacity - (size_t)(end - out), ":ldlat=%u", (unsigned)e->extra_value);
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
	else if (e->pebs == 3)
		latency_name(pmu, e, name, sizeof(name));
	else
		default_name(pmu, e, name, sizeof(name));
	bool known = reviewed_ask_libpfm(name, codes, 2);
	bool same = (codes[0] & MEANING) == our_code(e) && (!e->extra_msr || codes[1] == e->extra_value);
	by_name += known && same;
	if (!known && !r && agrees_otherwise(e))
		return;
	reviewed_judge(r, e->name, name, known, same, our_code(e), codes[0] & MEANING);
}

static unsigned compare_all(const struct processor *p)
{
	char list[64];
	snprintf(list, sizeof(list), "%s/reviewed", p->name);
	reviewed_read(list);
	if (!reviewed_pmu())
		fail_msg("tables/processors/%s.csv has no line of the kind pmu: libpfm4's name of the processor", list);
	if (!reviewed_pmu()[0]) {
		printf("# %s: %u events that libpfm4 cannot be asked for\n", p->name, p->event_count);
		return 0;
	}
	memset(&theirs, 0, sizeof(theirs));
	reviewed_walk_libpfm(reviewed_pmu(), keep);
	by_name = by_code = by_units = by_plain = by_bits = 0;
	for (unsigned i = 0; i < p->event_count; i++)
		compare(reviewed_pmu(), &p->events[i]);
	printf("# %s: %u by name; without one %u by code, %u by units put together, %u without modifiers, %u by bits of a response\n", p->name,
	       by_name, by_code, by_units, by_plain, by_bits);
	const struct reviewed_counts sum = reviewed_sum(p->name, "libpfm4");
	reviewed_check_stale();
	unsigned named = 0;
	for (unsigned i = 0; i < p->event_count; i++)
		named += p->events[i].extra_msr != 0x1A6;
	/* Otherwise the names are parsed wrongly, and nothing is compared. AMD's events have perf's names here and the manual's in libpfm4. */
	assert_true((by_name + by_code) * 2 > named);
	return sum.bad;
}

/* Compares every processor whose events PERFEVTSEL selects. */
static void test_events_agree_with_libpfm4(void **state)
{
	(void)state;
	unsigned bad = 0;
	for (unsigned i = 0; i < processor_count; i++)
		if (processors[i].event_count && !processors[i].detector_count)
			bad += compare_all(&processors[i]);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_agree_with_libpfm4),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
