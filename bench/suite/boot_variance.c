/* bench/suite/boot_variance.c: see boot_variance.h. */
#include "bench/suite/boot_variance.h"
#include "bench/results/writer.h"
#include "bench/measure/reduce.h"

void boot_variance_add(struct boot_variance *b, const char *run, const char *journal, size_t bytes)
{
	struct journal j;
	struct journal_line line;

	if (b->run_count == BOOT_VARIANCE_RUNS)
		return;
	str_copy(b->runs[b->run_count], sizeof(b->runs[0]), run);
	b->run_count++;
	journal_open(&j, journal, bytes);
	while (journal_next(&j, &line)) {
		struct json row, name, value, status;
		int64_t milli;

		if (line.event != JOURNAL_ROW || !json_get(line.object, "row", &row) || !json_get(row, "name", &name) ||
		    !json_get(row, "value", &value) || !json_get(row, "status", &status) || !json_milli(value, &milli))
			continue;
		const unsigned kind = writer_kind_named(name, &name);
		for (unsigned i = 0; kind < CORE_KIND_NAMES && i < rows_count && kind * rows_count + i < BOOT_VARIANCE_ROWS; i++) {
			const unsigned at = kind * rows_count + i;

			if (writer_is(name, rows[i].name) && b->rows[at].count < b->run_count) {
				b->rows[at].ok += json_is(status, row_status_name(ROW_OK));
				b->rows[at].values[b->rows[at].count++] = milli;
			}
		}
	}
}

struct spread { int64_t median, mad, least, most; };

static struct spread spread_of(const struct boot_variance *b, unsigned row)
{
	int64_t values[BOOT_VARIANCE_RUNS], work[BOOT_VARIANCE_RUNS];
	unsigned n = b->rows[row].count;
	struct spread s;

	memcpy(values, b->rows[row].values, n * sizeof(values[0]));
	s.median = reduce_median(values, n); /* sorts */
	s.mad = reduce_mad(values, n, s.median, work);
	s.least = values[0];
	s.most = values[n - 1];
	return s;
}

static unsigned entries(void) { return CORE_KIND_NAMES * rows_count < BOOT_VARIANCE_ROWS ? CORE_KIND_NAMES * rows_count : BOOT_VARIANCE_ROWS; }

static void full_name(struct text *t, unsigned at)
{
	text_fmt(t, "%s%s%s", rows[at % rows_count].name, at / rows_count ? "@" : "", core_kind_names[at / rows_count]);
}

static void member(struct text *t, const char *key, int64_t milli)
{
	text_fmt(t, ", \"%s\": ", key);
	text_fixed(t, milli, 3);
}

void boot_variance_json(struct text *t, const struct boot_variance *b)
{
	bool comma = false;

	text_fmt(t, "{\n\"schema\": \"stallmeter-boots\",\n\"version\": 1,\n\"boots\": %u,\n\"runs\": [", b->run_count);
	for (unsigned i = 0; i < b->run_count; i++) {
		text_fmt(t, "%s\"", i ? ", " : "");
		text_json(t, b->runs[i]);
		text_char(t, '"');
	}
	text_fmt(t, "],\n\"rows\": [");
	for (unsigned i = 0; i < entries(); i++) {
		if (!b->rows[i].count)
			continue;
		struct spread s = spread_of(b, i);
		text_fmt(t, "%s\n{\"name\": \"", comma ? "," : "");
		full_name(t, i);
		text_fmt(t, "\", \"unit\": \"%s\", \"values\": %u, \"ok\": %u", row_unit_name(rows[i % rows_count].unit), b->rows[i].count, b->rows[i].ok);
		member(t, "median", s.median);
		member(t, "spread", s.mad);
		member(t, "least", s.least);
		member(t, "most", s.most);
		text_char(t, '}');
		comma = true;
	}
	text_fmt(t, "\n]\n}\n");
}

void boot_variance_csv(struct text *t, const struct boot_variance *b)
{
	text_fmt(t, "name,unit,values,ok,median,spread,least,most\r\n");
	for (unsigned i = 0; i < entries(); i++) {
		if (!b->rows[i].count)
			continue;
		struct spread s = spread_of(b, i);
		const int64_t all[] = { s.median, s.mad, s.least, s.most };
		full_name(t, i);
		text_fmt(t, ",%s,%u,%u", row_unit_name(rows[i % rows_count].unit), b->rows[i].count, b->rows[i].ok);
		for (unsigned k = 0; k < COUNT_OF(all); k++) {
			text_char(t, ',');
			text_fixed(t, all[k], 3);
		}
		text_fmt(t, "\r\n");
	}
}
