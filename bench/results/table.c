/* bench/results/table.c: the penalty table as text. */
#include "bench/results/table.h"

#include "bench/curves/sweep2d.h"
#include "bench/measure/reduce.h"
#include "bench/catalogue/series.h"
#include "bench/sampling/sample.h"
#include "bench/uncore/latency_loaded.h"
#include "bench/uncore/traffic.h"
#include "bench/uncore/uncore_latency.h"

void table_title(struct text *t, const struct access *a, const struct cpu *cpu)
{
	text_fmt(t, "Stallmeter %s on ", report_build());
	text_words(t, cpu->brand[0] ? cpu->brand : cpu->vendor);
	text_fmt(t, ",\n%u core%s, %u node%s, TSC ", a->cores, a->cores == 1 ? "" : "s", a->nodes, a->nodes == 1 ? "" : "s");
	text_fixed(t, mul_div((int64_t)a->tsc_hz, 1, 1000000), 3);
	text_fmt(t, " GHz\n");
	if (a->kind == ACCESS_SIM)
		text_fmt(t, "SIMULATED machine (%s): it says nothing about real hardware\n", a->name);
	else
		text_fmt(t, "backend %s%s; descriptor %s, confirmed on hardware by: %s\n", a->name, cpu->hypervisor ? ", in a virtual machine" : "",
		         cpu->processor->name, cpu->processor->confirmed);
}

#define NAME_COLUMNS 32
#define ROW_SHOWN_MS 2000 /* a shorter row needs no clock of its own */

void table_head(struct text *t)
{
	text_fmt(t, "%-*s %8s %-7s %6s %8s %s\n", NAME_COLUMNS, "row", "value", "unit", "spread", "ns", "verdict");
}

/* Right-aligned, with as many of three decimals as there is room for. */
static void table_fixed(struct text *t, int width, int64_t milli)
{
	char number[32];
	struct text n;
	unsigned decimals = 3;

	for (int64_t v = milli; decimals; decimals--, v = v / 10) {
		text_init(&n, number, sizeof(number));
		text_fixed(&n, v, decimals);
		if (n.length <= (size_t)width)
			break;
	}
	if (!decimals) {
		text_init(&n, number, sizeof(number));
		text_fmt(&n, "%lld", (long long)(milli / 1000));
	}
	text_fmt(t, " %*s", width, number);
}

/* The number of the reason, from 1; 0: all numbers are taken. `fresh`: it was not printed before. */
static unsigned reason_number(struct table *table, const char *reason, bool *fresh)
{
	uint64_t hash = fnv1a64(FNV1A64_START, reason, str_length(reason));

	*fresh = false;
	for (unsigned i = 0; i < table->reasons; i++)
		if (table->reason[i] == hash)
			return i + 1;
	*fresh = true;
	if (table->reasons == TABLE_REASONS)
		return 0;
	table->reason[table->reasons++] = hash;
	return table->reasons;
}

static void row_line(struct text *t, struct table *table, const struct row_result *r)
{
	int64_t divisor = r->unit == UNIT_BYTES_PER_SECOND ? 1000000000 : 1;
	const char *unit = r->unit == UNIT_BYTES_PER_SECOND ? "GB/s" : r->unit == UNIT_INSTRUCTIONS ? "instr." : row_unit_name(r->unit);
	unsigned number = 0;
	bool fresh = false;

	const int columns = (int)(str_length(r->name) + (r->core_kind ? 1 + str_length(r->core_kind) : 0));

	text_fmt(t, columns > NAME_COLUMNS ? "%s%s%s\n%*s" : "%s%s%s%*s", r->name, r->core_kind ? "@" : "", r->core_kind ? r->core_kind : "",
	         columns > NAME_COLUMNS ? NAME_COLUMNS : NAME_COLUMNS - columns, "");
	if (row_has_value(r) && r->cycles_open) {
		text_fmt(t, " %8s %-7s %6s", "-", unit, "-");
		table_fixed(t, 8, r->ns_milli);
	} else if (row_has_value(r)) {
		table_fixed(t, 8, mul_div(r->value_milli, 1, divisor));
		text_fmt(t, " %-7s", unit);
		table_fixed(t, 6, mul_div(r->spread_milli, 1, divisor));
		if (r->unit == UNIT_CYCLES)
			table_fixed(t, 8, r->ns_milli);
		else
			text_fmt(t, " %8s", "");
	} else {
		text_fmt(t, " %8s %-7s %6s %8s", "-", unit, "-", "-");
	}
	text_fmt(t, " %s", row_status_name(r->status));
	if (r->status != ROW_OK)
		number = reason_number(table, r->reason, &fresh);
	if (number)
		text_fmt(t, " %u", number);
	text_char(t, '\n');
	if (r->status == ROW_OK && table->proofs)
		text_fmt(t, "  %s\n", r->proof);
	if (number && fresh)
		text_fmt(t, "  %u: %s\n", number, r->reason);
	else if (fresh)
		text_fmt(t, "  %s\n", r->reason);
}

void table_line(struct text *t, struct table *table, const struct row_result *r)
{
	char at[4096];
	struct text whole;
	const char *line = at;

	text_init(&whole, at, sizeof(at));
	row_line(&whole, table, r);
	series_table_line(&whole, &r->series);
	if (r->remark[0])
		text_fmt(&whole, "  %s\n", r->remark);
	sweep2d_table_lines(&whole, &r->curve);
	sample_table_line(&whole, &r->sample, r->latency_sources);
	traffic_table_lines(&whole, &r->traffic);
	uncore_latency_table_line(&whole, &r->queue);
	latency_loaded_table_line(&whole, &r->loaded);
	while (text_fold(t, &line, TABLE_COLUMNS, TABLE_HANG)) { }
}

unsigned table_progress(struct text *t, const struct progress *p, uint64_t before_ms, uint64_t row_ms)
{
	/* In thousandths, so that nothing overflows for any duration. */
	const uint64_t unit = p->work_total / 1000 + 1, done = p->work_done / unit, row = p->row ? p->row->budget / unit : 0;
	const uint64_t all_ms = done ? before_ms * 1000 / done : 0, row_all_ms = all_ms * row / 1000, later_ms = done + row < 1000 ? all_ms * (1000 - done - row) / 1000 : 0;
	/* A row that takes longer than its budget is assumed to have a fifth left. */
	const uint64_t row_left_ms = row_ms < row_all_ms ? row_all_ms - row_ms : row_ms / 4;

	text_fmt(t, "[%u/%u] %s", p->done + 1 > p->total ? p->total : p->done + 1, p->total, progress_name(p));
	if (row_ms >= ROW_SHOWN_MS)
		text_fmt(t, ": %llu s", (unsigned long long)(row_ms / 1000));
	if (!p->row)
		return 1000;
	if (done)
		text_fmt(t, ", about %llu s left", (unsigned long long)((row_left_ms + later_ms) / 1000 + 1));
	return (unsigned)(done + row * row_ms / (row_ms + row_left_ms + 1));
}

void table_summary(struct text *t, const struct access *a, const struct suite_summary *s)
{
	known_program_lines(t, &s->study);
	boxes_table_lines(t, &s->boxes);
	if (s->last_level_nodes > 1)
		text_fmt(t, "%u memory nodes share each last-level cache: its size in rows is a node's part\n", s->last_level_nodes);
	text_fmt(t, "%u row%s:", s->rows, s->rows == 1 ? "" : "s");
	for (unsigned i = 0; i < ROW_STATUS_COUNT; i++)
		if (s->by_status[i])
			text_fmt(t, " %u %s", s->by_status[i], row_status_name(i));
	if (s->unexpected)
		text_fmt(t, "; %u not as expected", s->unexpected);
	if (s->stopped)
		text_fmt(t, "; stopped by the user");
	if (s->boots > 1)
		text_fmt(t, "; in %u boots", s->boots);
	if (s->instructions)
		text_fmt(t, "; %llu simulated instructions", (unsigned long long)s->instructions);
	text_fmt(t, "%s\n", a->kind == ACCESS_SIM ? " (simulated)" : "");
	if (s->files != ST_OK)
		text_fmt(t, "results could not be written: %s\n", status_name(s->files));
}
