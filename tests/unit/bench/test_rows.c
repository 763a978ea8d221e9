/* The benchmark table: its rows are complete, and a changed method has a changed revision. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/measure.h"
#include "tests/unit/support/fingerprint.h"
#include "pmu/core/concept.h"
#include "tests/unit/support/table_find.h"

static void test_rows_are_complete(void **state)
{
	(void)state;
	for (unsigned i = 0; i < rows_count; i++) {
		const struct row *r = &rows[i];
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(r->name, rows[k].name);
		assert_true(strlen(r->name) < 48);
		assert_true(r->asks[0] && r->source < SOURCE_COUNT && r->budget && r->revision && r->suites && r->window);
		assert_non_null(r->kernels[0]);
		for (const char *const *k = r->kernels; *k; k++)
			assert_non_null(kernel_find(*k));
		assert_true(r->order == ORDER_PAIR ? r->pair != NULL : !r->pair || r->order == ORDER_STREAMS);
		if (r->pair) { /* a stream's pair names the kernel of its baseline */
			assert_int_equal(r->window % r->pair->events, 0);
			assert_true(!r->pair->base || kernel_find(r->pair->base));
			assert_true(!r->pair->counted || r->proofs);
		} else if (r->order != ORDER_STREAMS && r->order != ORDER_MULTICORE && r->order != ORDER_NODES && r->order != ORDER_CURVE && r->order != ORDER_GATHER && r->kind != KIND_SAMPLED)
			assert_int_equal(r->window % kernel_find(r->kernels[0])->loads, 0);
		assert_int_equal(r->kind == KIND_PENALTY, r->baseline != BASELINE_NONE);
		assert_int_equal(r->order == ORDER_CURVE, r->curve != NULL);
		assert_int_equal(r->kind == KIND_SIZE, r->unit == UNIT_ENTRIES);
		assert_int_equal(r->kind == KIND_SAMPLED, r->unit == UNIT_INSTRUCTIONS || r->unit == UNIT_LINES || r->unit == UNIT_COUNTERS);
		assert_int_equal(r->kind == KIND_THROUGHPUT, r->unit == UNIT_BYTES_PER_SECOND);
		if (r->confirmed_by) {
			bool found = false;
			for (unsigned k = 0; k < rows_count; k++)
				found = found || !strcmp(rows[k].name, r->confirmed_by);
			assert_true(found);
		}
	}
}

/* The instructions that a whole suite may take on a simulated Nehalem-EP, which runs 0.5 to 1 million instructions per
 * second under QEMU's TCG. */
#define QUICK_MOST 9000000u
#define FULL_MOST  120000000u
static void test_rows_budgets_keep_to_the_suites(void **state)
{
	(void)state;
	uint64_t quick = 0, full = 0;
	for (unsigned i = 0; i < rows_count; i++) {
		quick += rows[i].suites & SUITE_QUICK ? rows[i].budget : 0;
		full += rows[i].suites & SUITE_FULL ? rows[i].budget : 0;
	}
	if (quick > QUICK_MOST || full > FULL_MOST)
		print_error("budgets: quick %llu of %u, full %llu of %u\n", (unsigned long long)quick, QUICK_MOST, (unsigned long long)full, FULL_MOST);
	assert_true(quick <= QUICK_MOST);
	assert_true(full <= FULL_MOST);
}

/* Each row's fingerprint is the one that tests/methods.txt ("name revision fingerprint") has for its revision. */
static void test_rows_changed_method_has_changed_revision(void **state)
{
	(void)state;
	FILE *f = fopen("tests/methods.txt", "r");
	char name[64];
	unsigned revision, bad = 0;
	unsigned long long print;
	bool seen[256] = { false };

	assert_non_null(f);
	while (fscanf(f, "%63s %u %llx", name, &revision, &print) == 3)
		for (unsigned i = 0; i < rows_count; i++)
			if (!strcmp(rows[i].name, name) && rows[i].revision == revision) {
				seen[i] = true;
				if (print != fingerprint_row(&rows[i])) {
					print_error("%s: kernel or parameters have changed: raise its revision, and add\n%s %u %016llx\n",
					            name, name, revision + 1, (unsigned long long)fingerprint_row(&rows[i]));
					bad++;
				}
			}
	fclose(f);
	for (unsigned i = 0; i < rows_count; i++)
		if (!seen[i]) {
			print_error("tests/methods.txt lacks this line:\n%s %u %016llx\n", rows[i].name, rows[i].revision,
			            (unsigned long long)fingerprint_row(&rows[i]));
			bad++;
		}
	assert_int_equal(bad, 0);
}

/* Fingerprints hash names, so that enumerations may be reordered: each value has a name, which is unique in its field. */
static void test_rows_each_value_has_a_name_of_its_own(void **state)
{
	(void)state;
	static const unsigned counts[FIELD_COUNT] = {
		[FIELD_KIND] = ROW_KIND_COUNT, [FIELD_UNIT] = UNIT_COUNT, [FIELD_TARGET] = TARGET_COUNT, [FIELD_ORDER] = ORDER_COUNT,
		[FIELD_PREPARE] = PREPARE_COUNT, [FIELD_BASELINE] = BASELINE_COUNT, [FIELD_STATISTIC] = STATISTIC_COUNT, [FIELD_PREFETCH] = PREFETCH_COUNT,
		[FIELD_SOURCE] = SOURCE_COUNT, [FIELD_PER] = PER_COUNT, [FIELD_FILL] = FILL_COUNT, [FIELD_CODE] = CODE_COUNT, [FIELD_CURVE] = CURVE_COUNT,
		[FIELD_FILLER] = FILLER_COUNT, [FIELD_VALUE] = VALUE_COUNT };
	for (unsigned f = 0; f < FIELD_COUNT; f++) {
		assert_true(counts[f] > 1);
		for (unsigned v = 0; v < counts[f]; v++) {
			const char *name = row_value_name((enum row_field)f, v);
			assert_true(name && name[0]);
			for (unsigned k = 0; k < v; k++)
				assert_string_not_equal(name, row_value_name((enum row_field)f, k));
		}
		assert_null(row_value_name((enum row_field)f, counts[f]));
	}
}

static void test_rows_fingerprint_sees_every_parameter(void **state)
{
	(void)state;
	static const struct row_proof_set other[] = { { .proofs = { { "load.hit.l1", 1, 2, PER_UNIT } } }, { .proofs = { { NULL, 0, 0, PER_UNIT } } } };
	const struct row *base = &rows[0];
	uint64_t print = fingerprint_row(base);
	struct row r = *base;
	r.window *= 2;
	assert_true(fingerprint_row(&r) != print);
	r = *base, r.order = ORDER_PAGES;
	assert_true(fingerprint_row(&r) != print);
	r = *base, r.prepare = PREPARE_FLUSH;
	assert_true(fingerprint_row(&r) != print);
	r = *base, r.statistic = STAT_MEDIAN;
	assert_true(fingerprint_row(&r) != print);
	r = *base, r.proofs = other;
	assert_true(fingerprint_row(&r) != print);
	static const struct row_pair pair = { .base = "k_nop", .events = 1, .iterations = 1 }, wider = { .base = "k_nop", .events = 2, .iterations = 1 };
	r = *base, r.pair = &pair;
	print = fingerprint_row(&r);
	r.pair = &wider;
	assert_true(fingerprint_row(&r) != print);
	print = fingerprint_row(base);
	r = *base, r.asks = "another wording";
	assert_true(fingerprint_row(&r) == print);
}

/* Whether a processor's events can prove all concepts of a set; if not, *why is the first one that they cannot. */
static bool can_prove(const struct processor *p, const struct row_proof_set *set, const struct expression **why)
{
	for (unsigned i = 0; i < ROW_PROOFS_MAX && set->proofs[i].concept; i++) {
		const struct expression *x = concept_find(p, set->proofs[i].concept);

		if (!x || !expression_proves(x, set->proofs[i].low_milli, set->proofs[i].high_milli)) {
			*why = *why ? *why : x;
			return false;
		}
	}
	return true;
}

/* Proofs use known concepts with non-empty ranges, and a processor that can prove a row by none of its sets has a reason. */
static void test_rows_ask_for_concepts(void **state)
{
	(void)state;
	unsigned bad = 0, processors_seen = 0;

	for (unsigned i = 0; i < rows_count; i++)
		for (const struct row_proof_set *set = rows[i].proofs; set && set->proofs[0].concept; set++)
			for (unsigned k = 0; k < ROW_PROOFS_MAX && set->proofs[k].concept; k++)
				if (!concept_known(set->proofs[k].concept) || set->proofs[k].low_milli >= set->proofs[k].high_milli) {
					print_error("%s: %s\n", rows[i].name, set->proofs[k].concept);
					bad++;
				}
	for (unsigned n = 0; n < processor_count; n++) {
		unsigned proven = 0;

		if (!processors[n].expression_count)
			continue;
		for (unsigned i = 0; i < rows_count; i++) {
			const struct expression *why = NULL;
			bool any = false;

			for (const struct row_proof_set *set = rows[i].proofs; set && set->proofs[0].concept && !any; set++)
				any = can_prove(&processors[n], set, &why);
			proven += any;
			if (rows[i].proofs && !any && (!why || !why->why[0])) {
				print_error("%s: %s is not proved, without a reason\n", processors[n].name, rows[i].name);
				bad++;
			}
		}
		print_message("%s: %u rows of %u can be proved\n", processors[n].name, proven, rows_count);
		processors_seen++;
	}
	assert_true(processors_seen >= 5);
	assert_int_equal(bad, 0);
}

/* Whether a paragraph's title ("**name, name.**" at the start of a line) has the name, with or without its kind. */
static bool titled(const char *page, const char *name)
{
	char stem[64];
	snprintf(stem, sizeof(stem), "%s", name);
	*strrchr(stem, '.') = 0;
	for (const char *at = page; (at = strstr(at, "\n**")); at++) {
		const char *end = strstr(at + 3, "**");
		for (const char *in = at; end && (in = strstr(in, stem)) && in < end; in++) {
			const char *behind = in + strlen(stem);
			bool whole = !strchr("_abcdefghijklmnopqrstuvwxyz0123456789", in[-1]) && !strchr("_abcdefghijklmnopqrstuvwxyz0123456789", *behind);
			if (whole && (*behind != '.' || !strncmp(in, name, strlen(name)) || behind[1] == '*'))
				return true;
		}
	}
	return false;
}

/* docs/penalties.md has a paragraph and a line in the table for each row. */
static void test_rows_each_has_its_paragraph(void **state)
{
	(void)state;
	FILE *f = fopen("docs/penalties.md", "r");
	static char page[1 << 18];
	unsigned bad = 0;

	assert_non_null(f);
	page[fread(page, 1, sizeof(page) - 1, f)] = 0;
	fclose(f);
	assert_false(titled(page, "load.l9.latency"));
	for (unsigned i = 0; i < rows_count; i++) {
		char line[80];
		snprintf(line, sizeof(line), "\n| %s |", rows[i].name);
		if (!titled(page, rows[i].name) || !strstr(page, line)) {
			print_error("%s: docs/penalties.md has no %s\n", rows[i].name, strstr(page, line) ? "paragraph" : "line in its table (make penalties)");
			bad++;
		}
	}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_complete),
		cmocka_unit_test(test_rows_budgets_keep_to_the_suites),
		cmocka_unit_test(test_rows_changed_method_has_changed_revision),
		cmocka_unit_test(test_rows_each_value_has_a_name_of_its_own),
		cmocka_unit_test(test_rows_fingerprint_sees_every_parameter),
		cmocka_unit_test(test_rows_ask_for_concepts),
		cmocka_unit_test(test_rows_each_has_its_paragraph),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
