/* bench/suite.c: runs the rows that were asked for and writes what they gave, as it comes. */
#include "bench/matrix.h"
#include "bench/report.h"

#define SEED_DEFAULT 20090330u  /* any will do; fixed, so that runs can be compared */
#define TEXT_BYTES (1u << 20)   /* the results file: some 1 KiB a row and the registers of all cores */
#define LINE_BYTES 10240u       /* a row with all sixteen data sources of its records */
#define CELL_BYTES 80u           /* of a matrix, as text */

/* --- which rows -------------------------------------------------------------------------------- */

static unsigned suite_bit(const char *s, size_t n)
{
	if (n == 5 && !memcmp(s, "quick", 5))
		return SUITE_QUICK;
	if (n == 4 && !memcmp(s, "full", 4))
		return SUITE_FULL;
	return 0;
}

/* The next piece of a comma list: *at moves behind it. False at the end. */
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

static bool piece_matches(const char *piece, size_t n, const struct row *r)
{
	char pattern[64];

	if (suite_bit(piece, n))
		return r->suites & suite_bit(piece, n);
	if (n >= sizeof(pattern))
		return false;
	memcpy(pattern, piece, n);
	pattern[n] = 0;
	return str_glob(pattern, r->name);
}

static const char *suite_text(const struct suite_settings *s)
{
	return s->suite && s->suite[0] ? s->suite : "quick";
}

bool suite_selects(const struct suite_settings *s, const struct row *r)
{
	const char *at = suite_text(s), *piece;
	size_t n;

	while (next_piece(&at, &piece, &n))
		if (piece_matches(piece, n, r))
			return true;
	return false;
}

/* --- what is expected -------------------------------------------------------------------------- */

static bool status_of_name(const char *s, size_t n, enum row_status *out)
{
	for (unsigned i = 0; i < ROW_STATUS_COUNT; i++)
		if (str_length(row_status_name(i)) == n && !memcmp(row_status_name(i), s, n)) {
			*out = i;
			return true;
		}
	return false;
}

/* Looks a row up in the expect text: bits of the statuses that are allowed, 0 when it says nothing. */
static unsigned expected_statuses(const char *expect, const struct row *r)
{
	struct ini ini;
	unsigned allowed = 0;

	if (!expect)
		return 0;
	ini_init(&ini, expect, str_length(expect));
	while (ini_next(&ini) == ST_OK) {
		if (!piece_matches(ini.key, ini.key_length, r))
			continue;
		allowed = 0; /* the last line that matches counts */
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
			known = piece_matches(ini.key, ini.key_length, &rows[i]);
		if (!known) {
			text_fmt(problem, "expected results, line %u: no row is called \"%.*s\"", ini.line, (int)ini.key_length, ini.key);
			return ST_SYNTAX;
		}
		for (size_t at = 0, from = 0; at <= ini.value_length; at++)
			if (at == ini.value_length || ini.value[at] == '|') {
				enum row_status row_status;

				if (!status_of_name(ini.value + from, at - from, &row_status)) {
					text_fmt(problem, "expected results, line %u: \"%.*s\" is no status: ok, noisy, unproven, unsupported, "
					         "fault or crashed, several separated by |", ini.line, (int)(at - from), ini.value + from);
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

enum status suite_check(const struct suite_settings *s, char *problem, size_t capacity)
{
	const char *at = suite_text(s), *piece;
	struct text t;
	size_t n;

	text_init(&t, problem, capacity);
	while (next_piece(&at, &piece, &n)) {
		bool known = false;

		for (unsigned i = 0; i < rows_count && !known; i++)
			known = piece_matches(piece, n, &rows[i]);
		if (!known) {
			text_fmt(&t, "suite: \"%.*s\" is neither quick, full nor the name or pattern of a row", (int)n, piece);
			return ST_MISSING;
		}
	}
	if (s->repetitions > SAMPLES_MAX) {
		text_fmt(&t, "repetitions: %u is more than %u", s->repetitions, SAMPLES_MAX);
		return ST_RANGE;
	}
	return s->expect ? check_expect(s->expect, &t) : ST_OK;
}

/* --- writing ----------------------------------------------------------------------------------- */

struct writer {
	const struct access *a;
	const struct suite_host *host;
	struct suite_summary *out;
	struct text json, csv;  /* of TEXT_BYTES each */
	bool comma;
};

static void file_failed(struct writer *w, enum status st)
{
	if (st != ST_OK && w->out->files == ST_OK)
		w->out->files = st;
}

static void journal(struct writer *w, const struct text *line)
{
	if (line->full)
		file_failed(w, ST_FULL);
	else if (w->host->append)
		file_failed(w, w->host->append(w->host->self, "journal.jsonl", line->at, line->length));
}

/* The journal begins with the run as results.json describes it, on one line. */
static void journal_run(struct writer *w)
{
	struct text line;
	char *at = w->host->get(w->host->self, TEXT_BYTES);

	if (!at) {
		file_failed(w, ST_FULL);
		return;
	}
	text_init(&line, at, TEXT_BYTES);
	text_fmt(&line, "{\"event\": \"run\", ");
	for (size_t i = 2; i < w->json.length; i++) /* behind "{\n" */
		text_char(&line, w->json.at[i] == '\n' ? ' ' : w->json.at[i]);
	text_fmt(&line, "}\n{\"event\": \"environment\", \"environment\": ");
	report_environment(&line, w->host);
	text_fmt(&line, "}\n");
	journal(w, &line);
	w->host->put(w->host->self, at, TEXT_BYTES);
}

static void journal_start(struct writer *w, const struct row *r)
{
	char at[160];
	struct text line;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"start\", \"name\": \"%s\"}\n", r->name);
	journal(w, &line);
}

static void write_row(struct writer *w, const struct row_result *r)
{
	char at[LINE_BYTES], *large = NULL;
	size_t bytes = r->matrix ? LINE_BYTES + r->matrix->cells * CELL_BYTES : LINE_BYTES;
	struct text line;

	if (r->matrix)
		large = w->host->get(w->host->self, bytes);
	text_init(&line, large ? large : at, large ? bytes : LINE_BYTES);
	text_fmt(&line, "{\"event\": \"row\", \"row\": ");
	report_row(&line, w->a, r);
	text_fmt(&line, "}\n");
	journal(w, &line);
	if (large)
		w->host->put(w->host->self, large, bytes);
	text_fmt(&w->json, "%s\n", w->comma ? "," : "");
	report_row(&w->json, w->a, r);
	w->comma = true;
	report_csv_row(&w->csv, w->a, r);
}

static void write_end(struct writer *w)
{
	char at[512];
	struct text line;

	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"end\", \"summary\": ");
	report_summary(&line, w->out);
	text_fmt(&line, "}\n");
	journal(w, &line);
	text_fmt(&w->json, "\n],\n\"summary\": ");
	report_summary(&w->json, w->out);
	text_fmt(&w->json, ",\n\"study\": ");
	study_json(&w->json, &w->out->study);
	text_fmt(&w->json, ",\n\"environment\": ");
	report_environment(&w->json, w->host);
	text_fmt(&w->json, "\n}\n");
	if (w->json.full || w->csv.full)
		file_failed(w, ST_FULL);
	if (!w->host->write)
		return;
	if (!w->json.full)
		file_failed(w, w->host->write(w->host->self, "results.json", w->json.at, w->json.length));
	if (!w->csv.full)
		file_failed(w, w->host->write(w->host->self, "penalties.csv", w->csv.at, w->csv.length));
}

/* --- running ----------------------------------------------------------------------------------- */

static bool unexpected(const struct access *a, const struct suite_settings *s, const struct row_result *r)
{
	unsigned allowed = expected_statuses(s->expect, r->row);

	if (allowed)
		return !(allowed & 1u << r->status);
	if (a->kind != ACCESS_SIM)
		return false;
	return r->status != ROW_OK && !(r->status == ROW_UNSUPPORTED && r->absent);
}

static void run_rows(struct writer *w, struct bench *b, const struct suite_settings *s)
{
	struct progress p = { 0 };

	for (unsigned i = 0; i < rows_count; i++)
		if (suite_selects(s, &rows[i])) {
			p.total++;
			p.work_total += rows[i].budget;
		}
	for (unsigned i = 0; i < rows_count; i++) {
		struct row_result r;

		if (!suite_selects(s, &rows[i]))
			continue;
		if (w->host->stop && w->host->stop(w->host->self)) {
			w->out->stopped = true;
			break;
		}
		p.row = &rows[i];
		if (w->host->progress)
			w->host->progress(w->host->self, &p);
		journal_start(w, &rows[i]);
		bench_row(b, &rows[i], &r);
		w->out->rows++;
		w->out->by_status[r.status]++;
		if (unexpected(w->a, s, &r))
			w->out->unexpected++;
		write_row(w, &r);
		if (w->host->row_done)
			w->host->row_done(w->host->self, &r);
		if (r.matrix)
			w->host->put(w->host->self, r.matrix, matrix_bytes(b));
		p.done++;
		p.work_done += rows[i].budget;
	}
}

static bool asks_for_all(const struct suite_settings *s)
{
	const char *at = suite_text(s), *piece;
	size_t n;

	while (next_piece(&at, &piece, &n))
		if (suite_bit(piece, n) == SUITE_FULL)
			return true;
	return false;
}

/* Behind the rows of the full suite. On a simulated machine all of it must work that the machine has. */
static void run_study(struct writer *w, struct bench *b, const struct suite_settings *s)
{
	char at[LINE_BYTES];
	struct text line;

	if (!asks_for_all(s) || w->out->stopped || w->a->kind == ACCESS_NATIVE)
		return;
	study_run(b, &w->out->study);
	for (unsigned p = 0; w->a->kind == ACCESS_SIM && p < STUDY_PARTS; p++)
		if (w->out->study.parts[p].status != ST_OK && w->out->study.parts[p].status != ST_UNSUPPORTED)
			w->out->unexpected++;
	text_init(&line, at, sizeof(at));
	text_fmt(&line, "{\"event\": \"study\", \"study\": ");
	study_json(&line, &w->out->study);
	text_fmt(&line, "}\n");
	journal(w, &line);
}

enum status suite_run(const struct access *a, const struct cpu *cpu, const struct suite_settings *s,
                      const struct suite_host *host, struct suite_summary *out)
{
	struct writer w = { .a = a, .host = host, .out = out };
	uint64_t seed = s->seed ? s->seed : SEED_DEFAULT;
	struct bench *b = host->get(host->self, sizeof(*b));
	/* two matrices, of clean and of modified lines, have a cell for each pair of cores */
	size_t json_bytes = TEXT_BYTES + 2 * (size_t)a->cores * a->cores * CELL_BYTES;
	char *json = host->get(host->self, json_bytes), *csv = host->get(host->self, TEXT_BYTES);
	enum status st = ST_FULL;

	memset(out, 0, sizeof(*out));
	if (b && json && csv) {
		text_init(&w.json, json, json_bytes);
		text_init(&w.csv, csv, TEXT_BYTES);
		text_fmt(&w.json, "{\n");
		report_head(&w.json, a, cpu, s, seed);
		journal_run(&w);
		text_fmt(&w.json, ",\n\"rows\": [");
		report_csv_head(&w.csv);
		bench_init(b, a, cpu, host, s->repetitions, seed);
		run_rows(&w, b, s);
		run_study(&w, b, s);
		write_end(&w);
		st = ST_OK;
	}
	if (csv)
		host->put(host->self, csv, TEXT_BYTES);
	if (json)
		host->put(host->self, json, json_bytes);
	if (b)
		host->put(host->self, b, sizeof(*b));
	return st;
}
