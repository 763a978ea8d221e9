/* pmu/text.c: formatting and strict parsing. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/text.h"

static void test_text_fmt_matches_printf_subset(void **state)
{
	(void)state;
	char got[64];
	struct text t;
	text_init(&t, got, sizeof(got));
	text_fmt(&t, "%5d|%-5u|%05d|%x|%.*s|%c%%|%zu", -42, 7u, -42, 0xBEEFu, 2, "abc", 'z', (size_t)9);
	assert_string_equal(got, "  -42|7    |-0042|beef|ab|z%|9");
	assert_false(t.full);
}

static void test_text_overflow_is_said_and_terminated(void **state)
{
	(void)state;
	char got[4];
	struct text t;
	text_init(&t, got, sizeof(got));
	text_fmt(&t, "%s", "abcdef");
	assert_string_equal(got, "abc");
	assert_true(t.full);
}

static void test_text_fixed_keeps_sign_and_zeros(void **state)
{
	(void)state;
	char got[64];
	struct text t;
	text_init(&t, got, sizeof(got));
	text_fixed(&t, -5, 3);
	text_char(&t, ' ');
	text_fixed(&t, 39067, 3);
	text_char(&t, ' ');
	text_fixed(&t, 12, 0);
	assert_string_equal(got, "-0.005 39.067 12");
}

static void test_text_json_escapes_and_replaces(void **state)
{
	(void)state;
	char got[64];
	struct text t;
	text_init(&t, got, sizeof(got));
	text_json(&t, "a\"\\\n\xFFz\xC3\xA9");
	assert_string_equal(got, "a\\\"\\\\\\u000a\xEF\xBF\xBDz\xC3\xA9");
}

static void test_parse_numbers_are_whole_or_refused(void **state)
{
	(void)state;
	uint64_t v = 0;
	assert_int_equal(parse_u64("123", 3, &v), ST_OK);
	assert_int_equal(v, 123);
	assert_int_equal(parse_u64("0xfF", 4, &v), ST_OK);
	assert_int_equal(v, 255);
	assert_int_equal(parse_u64("", 0, &v), ST_SYNTAX);
	assert_int_equal(parse_u64("12x", 3, &v), ST_SYNTAX);
	assert_int_equal(parse_u64("-1", 2, &v), ST_SYNTAX);
	assert_int_equal(parse_u64("18446744073709551616", 20, &v), ST_RANGE);
}

static void test_glob_matches_whole_strings(void **state)
{
	(void)state;
	assert_true(str_glob("load.*", "load.l1.latency"));
	assert_true(str_glob("*l?.*", "load.l1.latency"));
	assert_false(str_glob("load", "load.l1"));
	assert_true(str_glob("*", ""));
}

static void test_ini_skips_a_byte_order_mark(void **state)
{
	(void)state;
	static const char text[] = "\xEF\xBB\xBF# made by an editor\na = 1\n", key[] = "\xEF\xBB\xBF" "b = 2\n", late[] = "c = 3\n\xEF\xBB\xBF\n";
	struct ini r;

	ini_init(&r, text, sizeof(text) - 1);
	assert_int_equal(ini_next(&r), ST_OK);
	assert_int_equal(r.line, 2);
	ini_init(&r, key, sizeof(key) - 1);
	assert_int_equal(ini_next(&r), ST_OK);
	assert_int_equal(r.key_length, 1);
	assert_int_equal(r.key[0], 'b');
	ini_init(&r, late, sizeof(late) - 1);
	assert_int_equal(ini_next(&r), ST_OK);
	assert_int_equal(ini_next(&r), ST_SYNTAX);
}

static void test_ini_reads_lines_and_names_bad_ones(void **state)
{
	(void)state;
	static const char text[] = "# c\r\na = 1\r\n[sec ]\n b=two words \nbad\n";
	struct ini r;
	ini_init(&r, text, sizeof(text) - 1);
	assert_int_equal(ini_next(&r), ST_OK);
	assert_int_equal(r.line, 2);
	assert_memory_equal(r.key, "a", r.key_length);
	assert_int_equal(r.section_length, 0);
	assert_int_equal(ini_next(&r), ST_OK);
	assert_int_equal(r.section_length, 3);
	assert_int_equal(r.value_length, 9);
	assert_int_equal(ini_next(&r), ST_SYNTAX);
	assert_int_equal(r.line, 5);
	assert_non_null(r.problem);
	assert_int_equal(ini_next(&r), ST_MISSING);
}

static void folded(const char *lines, unsigned columns, unsigned hang, const char *expected)
{
	char got[256];
	struct text t;
	text_init(&t, got, sizeof(got));
	while (text_fold(&t, &lines, columns, hang)) { }
	assert_string_equal(got, expected);
}

static void test_text_fold_breaks_at_blanks(void **state)
{
	(void)state;
	folded("short\n", 10, 4, "short\n");
	folded("exactly te\nnext", 10, 4, "exactly te\nnext");
	folded("one two three four\n", 10, 4, "one two\n    three\n    four\n");
	folded("  one two three\n\nx\n", 10, 2, "  one two\n    three\n\nx\n");
	folded("a_word_of_many_letters b\n", 10, 2, "a_word_of_many_letters\n  b\n");
	folded("  a_word_of_many_letters\n", 10, 2, "  a_word_of_many_letters\n");
	folded("ab      cd\n", 5, 1, "ab\n cd\n");
	folded("", 5, 1, "");
	char got[64];
	struct text t;
	text_init(&t, got, sizeof(got));
	text_words(&t, " Intel(R)  CPU       X5570 ");
	assert_string_equal(got, "Intel(R) CPU X5570");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_fmt_matches_printf_subset),
		cmocka_unit_test(test_text_overflow_is_said_and_terminated),
		cmocka_unit_test(test_text_fixed_keeps_sign_and_zeros),
		cmocka_unit_test(test_text_fold_breaks_at_blanks),
		cmocka_unit_test(test_text_json_escapes_and_replaces),
		cmocka_unit_test(test_parse_numbers_are_whole_or_refused),
		cmocka_unit_test(test_glob_matches_whole_strings),
		cmocka_unit_test(test_ini_reads_lines_and_names_bad_ones),
		cmocka_unit_test(test_ini_skips_a_byte_order_mark),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
