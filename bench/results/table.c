/* bench/results/table.c: the penalty table as text. */
#include "bench/results/table.h"

#include "bench/curves/sweep2d.h"
#include "bench/measure/reduce.h"
#include "bench/catalogue/series.h"
#include "bench/sampling/sample.h"
#include "bench/uncore/traffic.h"
#include "bench/uncore/uncore_latency.h"

void table_title(struct text *t, const struct access *a, const struct cpu *cpu)
{
	text_fmt(t, "Stallmeter %s on %s, %u cores, %u nodes, TSC ", report_build(), cpu->brand[0] ? cpu->brand : cpu->vendor,
	         a->cores, a->nodes);
	text_fixed(t, mul_div((int64_t)a->tsc_hz, 1, 1000000), 3);
	text_fmt(t, " GHz\n");
	if (a->kind == ACCESS_SIM)
		text_fmt(t, "SIMULATED machine (%s): these numbers say nothing about real hardware\n", a->name);
	else
		text_fmt(t, "backend %s%s; descriptor %s, confirmed on hardware by: %s\n", a->name, cpu->hypervisor ? ", in a virtual machine" : "",
		         cpu->processor->name, cpu->processor->confirmed);
}

void table_head(struct text *t)
{
	text_fmt(t, "%-27s %11s %-6s %8s %9s  %-11s %s\n", "row", "value", "unit", "spread", "ns", "verdict", "proof, or why not");
}

static void table_fixed(struct text *t, int width, int64_t milli)
{
	char number[32];
	struct text n;

	text_init(&n, number, sizeof(number));
	text_fixed(&n, milli, 3);
	text_fmt(t, " %*s", width, number);
}

void table_line(struct text *t, const struct row_result *r)
{
	int64_t divisor = r->unit == UNIT_BYTES_PER_SECOND ? 1000000000 : 1;
	const char *unit = r->unit == UNIT_BYTES_PER_SECOND ? "GB/s" : row_unit_name(r->unit);

	text_fmt(t, "%-27s", r->name);
	if (row_has_value(r)) {
		table_fixed(t, 11, mul_div(r->value_milli, 1, divisor));
		text_fmt(t, " %-6s", unit);
		table_fixed(t, 8, mul_div(r->spread_milli, 1, divisor));
		if (r->unit == UNIT_CYCLES)
			table_fixed(t, 9, r->ns_milli);
		else
			text_fmt(t, " %9s", "");
	} else {
		text_fmt(t, " %11s %-6s %8s %9s", "-", unit, "-", "-");
	}
	text_fmt(t, "  %-11s %s\n", row_status_name(r->status), r->status == ROW_OK ? r->proof : r->reason);
	series_table_line(t, &r->series);
	sweep2d_table_lines(t, &r->curve);
	sample_table_line(t, &r->sample, r->latency_sources);
	traffic_table_lines(t, &r->traffic);
	uncore_latency_table_line(t, &r->queue);
}

void table_summary(struct text *t, const struct access *a, const struct suite_summary *s)
{
	known_program_lines(t, &s->study);
	boxes_table_lines(t, &s->boxes);
	text_fmt(t, "%u rows:", s->rows);
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
