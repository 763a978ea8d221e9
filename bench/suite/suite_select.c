/* bench/suite/suite_select.c: the rows that settings select, the status expected of each, and checks of names against the machine. */
#include "pmu/amd/ibs.h"
#include "bench/catalogue/kernel.h"
#include "bench/measure/vector_width.h"
#include "bench/suite/suite_select.h"
#include "bench/suite/suite_sections.h"
#include "bench/workloads/profile.h"
#include "bench/results/writer.h"

/* --- selected rows ----------------------------------------------------------------------------- */

static unsigned suite_bit(const char *s, size_t n)
{
	if (n == 5 && !memcmp(s, "quick", 5))
		return SUITE_QUICK;
	if (n == 4 && !memcmp(s, "full", 4))
		return SUITE_FULL;
	return 0;
}

/* The next piece of a comma list; *at moves past it. False at the end. */
static bool next_piece(const char **at, const char **piece, size_t *n)
{
	if (!**at)
		return false;
	*piece = *at;
	while (**at && **at != ',')
		(*at)++;
	*n = (size_t)(*at - *piece);
	if (**at)
		(*at)++;
	while (*n && **piece == ' ')
		(*piece)++, (*n)--;
	while (*n && (*piece)[*n - 1] == ' ')
		(*n)--;
	return true;
}

static bool piece_matches_name(const char *piece, size_t n, const char *name, unsigned suites)
{
	char pattern[64];

	if (suite_bit(piece, n))
		return suites & suite_bit(piece, n);
	if (n >= sizeof(pattern))
		return false;
	memcpy(pattern, piece, n);
	pattern[n] = 0;
	return str_glob(pattern, name);
}

static bool piece_matches(const char *piece, size_t n, const struct row *r)
{
	return piece_matches_name(piece, n, r->name, r->suites);
}

bool suite_selects_name(const struct suite_settings *s, const char *name, unsigned suites)
{
	const char *at = settings_rows(s), *piece;
	size_t n;

	while (next_piece(&at, &piece, &n))
		if (piece_matches_name(piece, n, name, suites))
			return true;
	return false;
}

bool suite_selects(const struct suite_settings *s, const struct row *r)
{
	return suite_selects_name(s, r->name, r->suites) || (!s->profile && suite_section_wants_row(s, r));
}

/* --- expected status --------------------------------------------------------------------------- */

static bool status_of_name(const char *s, size_t n, enum row_status *out)
{
	for (unsigned i = 0; i < ROW_STATUS_COUNT; i++)
		if (str_length(row_status_name(i)) == n && !memcmp(row_status_name(i), s, n)) {
			*out = i;
			return true;
		}
	return false;
}

/* Whether a key of expected results names the row, on all kinds of cores or on the kind after its @. */
static bool key_matches(const char *key, size_t n, const struct row *r, const char *core_kind)
{
	size_t at = 0;

	while (at < n && key[at] != '@')
		at++;
	return piece_matches(key, at, r) &&
	       (at == n || !core_kind || (str_length(core_kind) == n - at - 1 && !memcmp(core_kind, key + at + 1, n - at - 1)));
}

unsigned suite_expected(const char *expect, const struct row *r, const char *core_kind)
{
	struct ini ini;
	unsigned allowed = 0;

	if (!expect)
		return 0;
	ini_init(&ini, expect, str_length(expect));
	while (ini_next(&ini) == ST_OK) {
		if (!key_matches(ini.key, ini.key_length, r, core_kind))
			continue;
		allowed = 0; /* the last matching line decides */
		for (size_t at = 0, from = 0; at <= ini.value_length; at++)
			if (at == ini.value_length || ini.value[at] == '|') {
				enum row_status st;

				if (status_of_name(ini.value + from, at - from, &st))
					allowed |= 1u << st;
				from = at + 1;
			}
	}
	return allowed;
}

static enum status check_expect(const char *expect, struct text *problem)
{
	struct ini ini;
	enum status st;

	ini_init(&ini, expect, str_length(expect));
	while ((st = ini_next(&ini)) == ST_OK) {
		bool known = false;

		for (unsigned i = 0; i < rows_count && !known; i++)
			known = key_matches(ini.key, ini.key_length, &rows[i], NULL);
		if (!known) {
			text_fmt(problem, "expected results, line %u: no row is called \"%.*s\"", ini.line, (int)ini.key_length, ini.key);
			return ST_SYNTAX;
		}
		for (size_t at = 0, from = 0; at <= ini.value_length; at++)
			if (at == ini.value_length || ini.value[at] == '|') {
				enum row_status row_status;

				if (!status_of_name(ini.value + from, at - from, &row_status)) {
					text_fmt(problem, "expected results, line %u: \"%.*s\" is no status: ok, noisy, unproven, unsupported, "
					         "fault, timeout, failed or crashed, several separated by |", ini.line, (int)(at - from), ini.value + from);
					return ST_SYNTAX;
				}
				from = at + 1;
			}
	}
	if (st == ST_MISSING)
		return ST_OK;
	text_fmt(problem, "expected results, line %u: %s", ini.line, ini.problem ? ini.problem : "not \"row = status\"");
	return ST_SYNTAX;
}

uint32_t suite_too_wide(unsigned bits)
{
	return !bits || bits >= 512 ? 0 : bits >= 256 ? ISA_AVX512 : ISA_AVX512 | ISA_AVX2 | ISA_FMA | ISA_AVX;
}

/* Whether some row is a stream that chooses among several kernels, this one among them. */
static bool is_choice(const char *kernel)
{
	for (unsigned i = 0; i < rows_count; i++)
		for (const char *const *k = rows[i].kernels; k && vector_width_is_chosen(&rows[i]) && rows[i].kernels[1] && *k; k++)
			if (str_equal(*k, kernel))
				return true;
	return false;
}

/* Checks the kernels that a setting names; `isa`: the instruction sets that may be used. */
static enum status check_kernels(const char *list, uint32_t isa, const char *lacks, struct text *problem)
{
	const char *piece;
	size_t n;

	while (list && next_piece(&list, &piece, &n)) {
		char name[48] = "";

		if (n < sizeof(name))
			memcpy(name, piece, n);
		if (!is_choice(name)) {
			text_fmt(problem, "kernels: \"%.*s\" is no kernel that streams choose, such as k_read_avx512, k_write_avx, k_copy_nt_sse2 or k_triad_avx_fma", (int)n, piece);
			return ST_MISSING;
		}
		if (kernel_find(name)->isa & ~isa) {
			text_fmt(problem, "kernels: %s has instructions that %s", name, lacks);
			return ST_UNSUPPORTED;
		}
	}
	return ST_OK;
}

enum status suite_check(const struct suite_settings *s, char *problem, size_t capacity)
{
	const char *at = settings_rows(s), *piece;
	struct text t;
	size_t n;

	text_init(&t, problem, capacity);
	while (next_piece(&at, &piece, &n)) {
		bool known = false;

		for (unsigned i = 0; i < rows_count && !known; i++)
			known = piece_matches(piece, n, &rows[i]);
		for (unsigned i = 0; i < SUITE_SECTIONS && !known && !s->profile; i++)
			known = piece_matches_name(piece, n, writer_section_name(i), SUITE_FULL);
		if (!known) {
			text_fmt(&t, "suite: \"%.*s\" is neither quick, full nor the name or pattern of a row", (int)n, piece);
			for (unsigned i = 0; i < SUITE_SECTIONS && s->profile; i++)
				if (piece_matches_name(piece, n, writer_section_name(i), SUITE_FULL)) {
					text_fmt(&t, ", which a profile counts alone; account.NAME: `stallmeter stat -w`");
					break;
				}
			return ST_MISSING;
		}
	}
	if (s->repetitions > SAMPLES_MAX) {
		text_fmt(&t, "repetitions: %u is more than %u", s->repetitions, SAMPLES_MAX);
		return ST_RANGE;
	}
	if (s->vector_bits && s->vector_bits != 128 && s->vector_bits != 256 && s->vector_bits != 512) {
		text_fmt(&t, "vector_bits: %u is none of 128, 256, 512", s->vector_bits);
		return ST_RANGE;
	}
	if (s->ibs_misses > 1 && (s->ibs_misses % IBS_THRESHOLD_STEP || s->ibs_misses > IBS_THRESHOLD_MOST)) {
		text_fmt(&t, "ibs_misses: %u is none of 0, 1 and %u to %u in steps of %u", s->ibs_misses, IBS_THRESHOLD_STEP, IBS_THRESHOLD_MOST, IBS_THRESHOLD_STEP);
		return ST_RANGE;
	}
	const enum status st = check_kernels(s->kernels, ~suite_too_wide(s->vector_bits), "vector_bits excludes", &t);
	if (st != ST_OK)
		return st;
	return s->expect ? check_expect(s->expect, &t) : ST_OK;
}

enum status suite_check_processor(const struct cpu *cpu, const struct suite_settings *s, char *problem, size_t capacity)
{
	struct profile_plan plan;
	struct text t;

	text_init(&t, problem, capacity);
	const enum status st = check_kernels(s->kernels, cpu->isa, "this processor lacks", &t);
	if (st != ST_OK)
		return st;
	return s->profile ? profile_find(cpu, s->profile, &plan, problem, capacity) : ST_OK;
}

enum status suite_check_cpuset(const struct access *a, const struct suite_settings *s, char *problem, size_t capacity)
{
	struct cpuset p;

	return s->counting ? cpuset_cores(a, s->cores, &p, problem, capacity) : cpuset_choose(a, s->cores, s->nodes, &p, problem, capacity);
}

bool suite_asks_for_all(const struct suite_settings *s)
{
	const char *at = settings_rows(s), *piece;
	size_t n;

	while (next_piece(&at, &piece, &n))
		if (suite_bit(piece, n) == SUITE_FULL)
			return true;
	return false;
}
