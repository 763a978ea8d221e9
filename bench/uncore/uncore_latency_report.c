/* bench/uncore/uncore_latency_report.c: a load's residence in the uncore's queue, as JSON and as lines of the table. */
#include "bench/uncore/uncore_latency.h"

const char *uncore_latency_verdict_name(enum uncore_latency_verdict v)
{
	static const char *const texts[] = { "none", "ok", "unproven", "unsupported", "fault", "timeout", "failed" };
	return (unsigned)v < COUNT_OF(texts) ? texts[v] : "?";
}

enum uncore_latency_verdict uncore_latency_verdict_of(enum status st)
{
	return st == ST_FAULT ? UNCORE_LATENCY_FAULT : st == ST_TIMEOUT ? UNCORE_LATENCY_TIMEOUT : UNCORE_LATENCY_FAILED;
}

static bool has_numbers(const struct uncore_latency_result *q) { return q->samples > 0; }

static void json_milli(struct text *t, const char *key, int64_t milli, bool there)
{
	text_fmt(t, ", \"%s\": ", key);
	text_fixed_or_null(t, milli, 3, there);
}

void uncore_latency_json(struct text *t, const struct uncore_latency_result *q)
{
	const bool there = has_numbers(q);

	if (q->verdict == UNCORE_LATENCY_NONE) {
		text_fmt(t, "null");
		return;
	}
	text_fmt(t, "{\"verdict\": \"%s\", \"reason\": \"", uncore_latency_verdict_name(q->verdict));
	text_json(t, q->reason);
	text_fmt(t, "\"");
	json_milli(t, "uncore_cycles", q->uncore_milli, there);
	json_milli(t, "cycles", q->cycles_milli, there);
	json_milli(t, "core_to_queue", q->offset_milli, there);
	json_milli(t, "inserts", q->inserts_milli, there);
	json_milli(t, "l3_response", q->response_milli, there && q->response_milli >= 0);
	json_milli(t, "miss", q->miss_milli, there && q->miss_milli >= 0);
	json_milli(t, "home", q->home_milli, there && q->home_milli >= 0);
	text_fmt(t, ", \"uncore_hz\": %llu, \"samples\": %u, \"parts\": ", (unsigned long long)q->uncore_hz, q->samples);
	latency_breakdown_json(t, &q->breakdown);
	text_char(t, '}');
}

void uncore_latency_table_line(struct text *t, const struct uncore_latency_result *q)
{
	char number[32];
	struct text n;

	if (q->verdict == UNCORE_LATENCY_NONE || q->verdict == UNCORE_LATENCY_UNSUPPORTED)
		return;
	text_init(&n, number, sizeof(number));
	if (has_numbers(q))
		text_fixed(&n, q->cycles_milli, 3);
	else
		text_char(&n, '-');
	text_fmt(t, "  %-30s %8s %-7s %6s %8s %s\n    ", q->bus ? "in the bus' queue" : "in the uncore's queue", number, "cycles", "", "", uncore_latency_verdict_name(q->verdict));
	if (q->verdict != UNCORE_LATENCY_OK) {
		text_fmt(t, "%s\n", q->reason);
		return;
	}
	text_fixed(t, q->uncore_milli, 3);
	text_fmt(t, q->bus ? " clocks from entry to deallocation" : " uncore cycles from entry to deallocation");
	if (q->home_milli >= 0 && q->miss_milli < 0) {
		text_fmt(t, " (home ");
		text_fixed(t, q->home_milli, 3);
		text_fmt(t, ")");
	}
	if (q->miss_milli >= 0) {
		text_fmt(t, " (L3 ");
		text_fixed(t, q->response_milli, 3);
		text_fmt(t, ", beyond ");
		text_fixed(t, q->miss_milli, 3);
		text_fmt(t, ")");
	}
	text_fmt(t, ", core to queue and back ");
	text_fixed(t, q->offset_milli, 3);
	text_fmt(t, " cycles\n");
	latency_breakdown_table_line(t, &q->breakdown);
}
