/* bench/sampling/sample_report.c: the sampling results as JSON and as a line of the table. Schema: results/SCHEMA.md. */
#include "bench/sampling/sample.h"
#include "bench/measure/reduce.h"
#include "tables/processor.h"

static const char *name_of(const struct latency_source *names, unsigned code)
{
	for (unsigned i = 0; names && i < SAMPLE_SOURCES; i++)
		if (names[i].code == code)
			return names[i].name;
	return "?";
}

static bool has_numbers(const struct sample_result *s)
{
	return s->records && (s->verdict == SAMPLE_AGREES || s->verdict == SAMPLE_DIFFERS || s->verdict == SAMPLE_UNPROVEN);
}

static void json_milli_or_null(struct text *t, const char *key, int64_t milli, bool there)
{
	text_fmt(t, ", \"%s\": ", key);
	text_fixed_or_null(t, milli, 3, there);
}

static void json_milli(struct text *t, const char *key, int64_t milli) { json_milli_or_null(t, key, milli, true); }

static void json_source(struct text *t, const struct sample_source *s, const char *name)
{
	text_fmt(t, "\"%s\": {\"count\": %u", name, s->count);
	json_milli(t, "mean", s->mean_milli);
	text_fmt(t, ", \"median\": %u, \"p10\": %u, \"p90\": %u, \"p99\": %u, \"histogram\": [", s->median, s->p10, s->p90, s->p99);
	for (unsigned i = 0; i < SAMPLE_BUCKETS; i++)
		text_fmt(t, "%s%u", i ? ", " : "", s->histogram[i]);
	text_fmt(t, "]}");
}

/* Written only if records hold it and an event counts these loads: tools know the latency by that event's name. */
static void json_retire(struct text *t, const struct sample_result *s)
{
	if (!s->retire.count || !s->beside[0])
		return;
	text_fmt(t, ", \"retire_latency\": {\"event\": \"%s\", \"count\": %u, \"min\": %u", s->beside, s->retire.count, s->retire.least);
	json_milli(t, "mean", mul_div((int64_t)s->retire.sum, 1000, s->retire.count));
	text_fmt(t, ", \"max\": %u}", s->retire.most);
}

void sample_json(struct text *t, const struct sample_result *s, const struct latency_source *names)
{
	bool there = has_numbers(s), comma = false;

	if (s->verdict == SAMPLE_NONE) {
		text_fmt(t, "null");
		return;
	}
	text_fmt(t, "{\"verdict\": \"%s\", \"reason\": \"", sample_verdict_name(s->verdict));
	text_json(t, s->reason);
	text_fmt(t, "\", \"event\": \"%s\", \"threshold\": %u", s->event, s->threshold);
	json_milli_or_null(t, "value", s->value_milli, there);
	json_milli_or_null(t, "difference", s->difference_milli, there && s->verdict != SAMPLE_UNPROVEN);
	text_fmt(t, ", \"records\": %u, \"outside\": %u, \"wrong_address\": %u, \"rejected\": %u, \"full\": %s, \"lost\": ", s->records,
	         s->outside, s->wrong_address, s->rejected, s->full ? "true" : "false");
	if (s->lost_known)
		text_fmt(t, "%u", s->lost);
	else
		text_fmt(t, "null");
	json_milli_or_null(t, "shadow", s->shadow_milli, s->lost_known);
	json_milli_or_null(t, "fraction", s->fraction_milli, there && s->fraction_milli >= 0);
	text_fmt(t, ", \"normalised_by\": \"%s\"", s->beside);
	json_retire(t, s);
	text_fmt(t, ", \"sources\": {");
	for (unsigned code = 0; code < SAMPLE_SOURCES; code++)
		if (s->sources[code].count) {
			text_fmt(t, comma ? ", " : "");
			json_source(t, &s->sources[code], name_of(names, code));
			comma = true;
		}
	text_fmt(t, "}");
	if (s->l3.verdict != SAMPLE_NONE) {
		text_fmt(t, ", \"l3\": {\"verdict\": \"%s\", \"lines\": %u, \"unit\": \"%s\"", sample_verdict_name(s->l3.verdict), s->l3.lines, s->l3.ns ? "ns" : "cycles");
		json_milli_or_null(t, "value", s->l3.value_milli, s->l3.lines > 0);
		json_milli_or_null(t, "difference", s->l3.difference_milli, s->l3.verdict == SAMPLE_AGREES || s->l3.verdict == SAMPLE_DIFFERS);
		text_fmt(t, "}");
	}
	text_fmt(t, "}");
}

static void l3_line(struct text *t, const struct sample_l3 *s)
{
	char number[32];
	struct text n;

	text_init(&n, number, sizeof(number));
	if (s->lines)
		text_fixed(&n, s->value_milli, 3);
	else
		text_char(&n, '-');
	text_fmt(t, "  %-30s %8s %-7s %6s %8s %s\n    ", "by the L3's sampling", number, "cycles", "", "", sample_verdict_name(s->verdict));
	if (s->verdict == SAMPLE_AGREES || s->verdict == SAMPLE_DIFFERS) {
		text_fmt(t, s->difference_milli < 0 ? "" : "+");
		text_fixed(t, s->difference_milli, 1);
		text_fmt(t, " %%; ");
	}
	text_fmt(t, "%u lines, told in %s\n", s->lines, s->ns ? "ns" : "cycles");
}

void sample_table_line(struct text *t, const struct sample_result *s, const struct latency_source *names)
{
	char number[32];
	struct text n;
	bool comma = false;

	if (s->verdict == SAMPLE_NONE || s->verdict == SAMPLE_UNSUPPORTED)
		return;
	text_init(&n, number, sizeof(number));
	if (has_numbers(s))
		text_fixed(&n, s->value_milli, 3);
	else
		text_char(&n, '-');
	text_fmt(t, "  by %-27s %8s %-7s %6s %8s %s\n    ", s->by_op ? s->event : "the latency event", number, "cycles", "", "", sample_verdict_name(s->verdict));
	if (s->verdict == SAMPLE_AGREES || s->verdict == SAMPLE_DIFFERS) {
		text_fmt(t, s->difference_milli < 0 ? "" : "+");
		text_fixed(t, s->difference_milli, 1);
		text_fmt(t, " %%; ");
	} else {
		text_fmt(t, "%s; ", s->reason);
	}
	for (unsigned code = 0; code < SAMPLE_SOURCES; code++)
		if (s->sources[code].count) {
			text_fmt(t, "%s%s %u", comma ? ", " : "", name_of(names, code), s->sources[code].count);
			comma = true;
		}
	if (has_numbers(s) && !s->by_op) {
		text_fmt(t, s->lost_known ? "; %u lost, shadow " : s->lost_most ? "; loss unknown, at most %u" : "; loss unknown",
		         s->lost_known ? s->lost : s->lost_most);
		if (s->lost_known) {
			text_fixed(t, s->shadow_milli, 3);
			text_fmt(t, " loads");
		}
		if (s->fraction_milli >= 0) {
			text_fmt(t, "; sampled ");
			text_fixed(t, s->fraction_milli, 3);
			text_fmt(t, " of the loads");
		}
		if (s->full)
			text_fmt(t, "; the buffer filled");
	}
	text_fmt(t, "\n");
	if (s->l3.verdict != SAMPLE_NONE)
		l3_line(t, &s->l3);
}
