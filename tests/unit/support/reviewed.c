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
	}
	fclose(f);
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

bool reviewed_ask_libpfm(const char *name, uint64_t *codes, unsigned most)
{
	static bool ready;
	pfm_pmu_encode_arg_t a;
	if (!ready) {
		setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* encode for processors that this machine is not */
		assert_int_equal(pfm_initialize(), PFM_SUCCESS);
		ready = true;
	}
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
