/* The event tables against libpfm4, which is no source of theirs where the documents have the event.
 *
 * Each event of a processor is asked of libpfm4 under the name that the table's name gives
 * (A.B is pmu::A:B), or under the name that tables/reviewed/PROCESSOR.csv gives. The codes must be
 * equal, or the reviewed list must say why they are not. A reviewed line that says `differs` or
 * `unknown` of an event that agrees is a failure too: the list holds nothing stale. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/pfmlib.h>

#include "pmu/text.h"
#include "tables/processor.h"

/* Bits of PERFEVTSEL that make an event what it is: select, umask, edge, any, inv, cmask. */
#define MEANING 0xFFA4FFFFu

/* kind: same (only another name), differs, unknown (to libpfm4), absent (from our table on purpose) */
struct review { char name[96], kind[16], libpfm[256], reason[256]; bool used; };
static struct review reviews[600];
static unsigned review_count;

static void next_field(char **at, char *to, size_t capacity)
{
	char *end = strchr(*at, ',');
	size_t n = end ? (size_t)(end - *at) : strlen(*at);
	assert_true(n < capacity);
	memcpy(to, *at, n);
	to[n] = 0;
	*at = end ? end + 1 : *at + n;
}

static void read_reviews(const char *processor)
{
	char path[128], line[800];
	snprintf(path, sizeof(path), "tables/reviewed/%s.csv", processor);
	FILE *f = fopen(path, "r");
	review_count = 0;
	if (!f)
		return;
	bool header = true;
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (line[0] == '#' || line[0] == 0)
			continue;
		if (header) {
			assert_string_equal(line, "name,kind,libpfm,reason");
			header = false;
			continue;
		}
		assert_true(review_count < COUNT_OF(reviews));
		struct review *r = &reviews[review_count++];
		char *at = line;
		memset(r, 0, sizeof(*r));
		next_field(&at, r->name, sizeof(r->name));
		next_field(&at, r->kind, sizeof(r->kind));
		next_field(&at, r->libpfm, sizeof(r->libpfm));
		assert_true(strlen(at) < sizeof(r->reason));
		strcpy(r->reason, at);
		if (strlen(r->reason) < 10)
			fail_msg("%s: %s has no reason", path, r->name);
	}
	fclose(f);
}

static struct review *review_of(const char *name)
{
	for (unsigned i = 0; i < review_count; i++)
		if (str_glob(reviews[i].name, name))
			return &reviews[i];
	return NULL;
}

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

static bool ask(const char *name, uint64_t codes[2])
{
	pfm_pmu_encode_arg_t a;
	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	codes[0] = codes[1] = 0;
	if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &a) != PFM_SUCCESS)
		return false;
	for (int i = 0; i < a.count && i < 2; i++)
		codes[i] = a.codes[i];
	free(a.codes);
	return true;
}

static uint64_t our_code(const struct event *e)
{
	return e->select | (uint64_t)e->umask << 8 | (uint64_t)e->edge << 18 | (uint64_t)e->any << 21 |
	       (uint64_t)e->inv << 23 | (uint64_t)e->cmask << 24;
}

static unsigned agree, reviewed_differ, reviewed_unknown, bad;

static void compare(const char *pmu, const struct event *e)
{
	char name[512];
	uint64_t codes[2];
	struct review *r = review_of(e->name);
	bool offcore = strncmp(e->name, "OFFCORE_RESPONSE_0.", 19) == 0;
	if (r)
		r->used = true;
	if (r && r->libpfm[0])
		str_copy(name, sizeof(name), r->libpfm);
	else if (offcore)
		offcore_name(pmu, e, name, sizeof(name));
	else
		default_name(pmu, e, name, sizeof(name));
	bool known = ask(name, codes);
	bool same = known && (codes[0] & MEANING) == our_code(e) && (!e->extra_msr || codes[1] == e->extra_value);
	bool says_differs = r && str_equal(r->kind, "differs"), says_unknown = r && str_equal(r->kind, "unknown");
	if (same && !says_differs && !says_unknown) {
		agree++;
	} else if (known && !same && says_differs) {
		reviewed_differ++;
		printf("# differs (reviewed)  %-40s %08" PRIx64 ", libpfm4 %08" PRIx64 ": %s\n", e->name, our_code(e),
		       codes[0] & MEANING, r->reason);
	} else if (!known && says_unknown) {
		reviewed_unknown++;
		printf("# unknown (reviewed)  %-40s %08" PRIx64 ": %s\n", e->name, our_code(e), r->reason);
	} else {
		bad++;
		printf("# NOT EXPLAINED       %-40s %08" PRIx64 " %" PRIx64 ", libpfm4 %s %s %08" PRIx64 " %" PRIx64 "\n", e->name,
		       our_code(e), e->extra_value, name, known ? "says" : "does not know it", codes[0] & MEANING, codes[1]);
	}
}

static void compare_all(const char *processor, const char *pmu, unsigned least)
{
	const struct processor *p = NULL;
	for (unsigned i = 0; i < processor_count; i++)
		if (str_equal(processors[i].name, processor))
			p = &processors[i];
	assert_non_null(p);
	read_reviews(processor);
	agree = reviewed_differ = reviewed_unknown = bad = 0;
	for (unsigned i = 0; i < p->event_count; i++)
		compare(pmu, &p->events[i]);
	printf("# %s: %u agree, %u differ (reviewed), %u unknown to libpfm4 (reviewed), %u not explained\n", processor,
	       agree, reviewed_differ, reviewed_unknown, bad);
	for (unsigned i = 0; i < review_count; i++) {
		bool absent = str_equal(reviews[i].kind, "absent");
		if (reviews[i].used == absent)
			fail_msg("tables/reviewed/%s.csv: %s (%s) is stale", processor, reviews[i].name, reviews[i].kind);
	}
	assert_int_equal(bad, 0);
	assert_true(agree >= least);
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

static int start(void **state)
{
	(void)state;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* encode for processors that this machine is not */
	return pfm_initialize() == PFM_SUCCESS ? 0 : -1;
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
	return cmocka_run_group_tests(tests, start, NULL);
}
