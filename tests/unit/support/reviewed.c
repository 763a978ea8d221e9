/* tests/unit/support/reviewed.c: lists of reviewed differences; libpfm4 as an oracle. */
#include "tests/unit/support/reviewed.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/pfmlib.h>

#include "pmu/text.h"

static struct review reviews[600];
static unsigned review_count;
static char list_path[128];
static char pmu_named[32];
static bool pmu_said;
static struct reviewed_counts counts;

static void next_field(char **at, char *to, size_t capacity)
{
	char *end = strchr(*at, ',');
	size_t n = end ? (size_t)(end - *at) : strlen(*at);
	assert_true(n < capacity);
	memcpy(to, *at, n);
	to[n] = 0;
	*at = end ? end + 1 : *at + n;
}

void reviewed_read(const char *list)
{
	char line[800];
	snprintf(list_path, sizeof(list_path), "tables/processors/%s.csv", list);
	FILE *f = fopen(list_path, "r");
	review_count = 0;
	pmu_named[0] = 0;
	pmu_said = false;
	memset(&counts, 0, sizeof(counts));
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
		assert_true(review_count < sizeof(reviews) / sizeof(reviews[0]));
		struct review *r = &reviews[review_count++];
		char *at = line;
		memset(r, 0, sizeof(*r));
		next_field(&at, r->name, sizeof(r->name));
		next_field(&at, r->kind, sizeof(r->kind));
		next_field(&at, r->oracle, sizeof(r->oracle));
		assert_true(strlen(at) < sizeof(r->reason));
		strcpy(r->reason, at);
		if (strlen(r->reason) < 10)
			fail_msg("%s: %s has no reason", list_path, r->name);
		if (str_equal(r->kind, "pmu")) {
			str_copy(pmu_named, sizeof(pmu_named), r->oracle);
			pmu_said = true;
			review_count--;
		}
	}
	fclose(f);
}

const char *reviewed_pmu(void)
{
	return pmu_said ? pmu_named : NULL;
}

struct review *reviewed_find(const char *name)
{
	for (unsigned i = 0; i < review_count; i++)
		if (str_glob(reviews[i].name, name)) {
			reviews[i].used = true;
			return &reviews[i];
		}
	return NULL;
}

void reviewed_check_stale(void)
{
	for (unsigned i = 0; i < review_count; i++) {
		bool absent = str_equal(reviews[i].kind, "absent");
		if (reviews[i].used == absent)
			fail_msg("%s: %s (%s) is stale", list_path, reviews[i].name, reviews[i].kind);
	}
}

void reviewed_judge(const struct review *r, const char *name, const char *asked, bool known, bool same, uint64_t ours, uint64_t theirs)
{
	bool says_differs = r && str_equal(r->kind, "differs"), says_unknown = r && str_equal(r->kind, "unknown");
	if (known && same && !says_differs && !says_unknown) {
		counts.agree++;
	} else if (known && !same && says_differs) {
		counts.differ++;
		printf("# differs (reviewed)  %-40s %08" PRIx64 ", %08" PRIx64 ": %s\n", name, ours, theirs, r->reason);
	} else if (!known && says_unknown) {
		counts.unknown++;
		printf("# unknown (reviewed)  %-40s %08" PRIx64 ": %s\n", name, ours, r->reason);
	} else {
		counts.bad++;
		printf("# NOT EXPLAINED       %-40s %08" PRIx64 ", %s %s %08" PRIx64 "\n", name, ours, asked, known ? "says" : "is not known", theirs);
	}
}

struct reviewed_counts reviewed_sum(const char *what, const char *oracle)
{
	printf("# %s: %u agree, %u differ (reviewed), %u unknown to %s (reviewed), %u not explained\n", what, counts.agree, counts.differ,
	       counts.unknown, oracle, counts.bad);
	return counts;
}

static void start_libpfm(void)
{
	static bool ready;
	if (ready)
		return;
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* encode events of processors other than the host's */
	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
	ready = true;
}

bool reviewed_ask_libpfm(const char *name, uint64_t *codes, unsigned most)
{
	pfm_pmu_encode_arg_t a;
	start_libpfm();
	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	memset(codes, 0, most * sizeof(*codes));
	if (pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_NONE, &a) != PFM_SUCCESS)
		return false;
	for (unsigned i = 0; i < (unsigned)a.count && i < most; i++)
		codes[i] = a.codes[i];
	free(a.codes);
	return true;
}

static void ask_and_call(const char *name, void (*each)(const char *name, const uint64_t codes[2]))
{
	uint64_t codes[2];
	if (reviewed_ask_libpfm(name, codes, 2))
		each(name, codes);
}

void reviewed_walk_libpfm(const char *pmu, void (*each)(const char *name, const uint64_t codes[2]))
{
	pfm_pmu_info_t p;
	start_libpfm();
	for (int k = 0; k < PFM_PMU_MAX; k++) {
		memset(&p, 0, sizeof(p));
		p.size = sizeof(p);
		if (pfm_get_pmu_info((pfm_pmu_t)k, &p) != PFM_SUCCESS || !str_equal(p.name, pmu))
			continue;
		for (int e = p.first_event; e != -1; e = pfm_get_event_next(e)) {
			pfm_event_info_t event = { .size = sizeof(event) };
			char name[256];
			if (pfm_get_event_info(e, PFM_OS_NONE, &event) != PFM_SUCCESS)
				continue;
			snprintf(name, sizeof(name), "%s::%s", pmu, event.name);
			ask_and_call(name, each);
			for (int i = 0; i < event.nattrs; i++) {
				pfm_event_attr_info_t unit = { .size = sizeof(unit) };
				if (pfm_get_event_attr_info(e, i, PFM_OS_NONE, &unit) != PFM_SUCCESS || unit.type != PFM_ATTR_UMASK)
					continue;
				snprintf(name, sizeof(name), "%s::%s:%s", pmu, event.name, unit.name);
				ask_and_call(name, each);
			}
		}
	}
}
