/* bench/results/report.c: results as text: JSON for the journal and the results file, CSV, the table.
 * The schema is in results/SCHEMA.md. Only the environment block depends on the platform. */
#include "bench/results/report.h"

#include "bench/build.h"
#include "bench/curves/curve.h"
#include "bench/measure/reduce.h"
#include "bench/catalogue/series.h"
#include "bench/multicore/matrix.h"
#include "bench/sampling/sample.h"
#include "bench/uncore/latency_loaded.h"
#include "bench/uncore/traffic.h"
#include "bench/uncore/uncore_latency.h"

static const char *backend_kind(const struct access *a)
{
	return a->kind == ACCESS_SIM ? "true" : "false";
}

static void json_string(struct text *t, const char *key, const char *value)
{
	text_fmt(t, "\"%s\": \"", key);
	text_json(t, value);
	text_char(t, '"');
}

/* --- the run ----------------------------------------------------------------------------------- */

static void json_caches(struct text *t, const struct cpu *cpu)
{
	text_fmt(t, "\"caches\": [");
	for (unsigned i = 0; i < cpu->cache_count; i++) {
		const struct cpu_cache *c = &cpu->caches[i];

		text_fmt(t, "%s{\"level\": %u, \"type\": \"%c\", \"bytes\": %llu, \"ways\": %u, \"line_bytes\": %u, "
		         "\"shared_by\": %u, \"inclusive\": %s}", i ? ", " : "", c->level, c->type,
		         (unsigned long long)c->bytes, c->ways, c->line_bytes, c->shared_by, c->inclusive ? "true" : "false");
	}
	text_fmt(t, "]");
}

static void json_machine(struct text *t, const struct access *a, const struct cpu *cpu)
{
	text_fmt(t, "\"machine\": {");
	json_string(t, "vendor", cpu->vendor);
	text_fmt(t, ", ");
	json_string(t, "brand", cpu->brand);
	text_fmt(t, ", \"signature\": \"0x%08x\", \"family\": %u, \"model\": %u, \"stepping\": %u, "
	         "\"microcode\": \"0x%x\", \"virtual\": %s, ", cpu->signature, cpu->family, cpu->model, cpu->stepping,
	         cpu->microcode, cpu->hypervisor ? "true" : "false");
	json_string(t, "descriptor", cpu->processor->name);
	text_fmt(t, ", ");
	json_string(t, "confirmed", cpu->processor->confirmed ? cpu->processor->confirmed : "none");
	text_fmt(t, ", \"tsc_hz\": %llu, \"cores\": %u, \"nodes\": %u, ", (unsigned long long)a->tsc_hz, a->cores, a->nodes);
	json_caches(t, cpu);
	text_fmt(t, ", \"tlb\": {\"dtlb_4k\": %u, \"dtlb_2m\": %u, \"dtlb_1g\": %u, \"stlb_4k\": %u, \"itlb_4k\": %u}",
	         cpu->tlb.dtlb_4k, cpu->tlb.dtlb_2m, cpu->tlb.dtlb_1g, cpu->tlb.stlb_4k, cpu->tlb.itlb_4k);
	text_fmt(t, ", \"pmu\": {\"version\": %u, \"general\": %u, \"general_bits\": %u, \"fixed\": %u, \"fixed_bits\": %u}}",
	         cpu->pmu_version, cpu->general_counters, cpu->general_width, cpu->fixed_counters, cpu->fixed_width);
}

static bool has_subleaves(uint32_t leaf)
{
	static const uint32_t leaves[] = { 4, 7, 0xB, 0xD, 0x10, 0x12, 0x14, 0x18, 0x1F, 0x23, 0x8000001D, 0x80000020,
		0x80000026 };

	for (unsigned i = 0; i < COUNT_OF(leaves); i++)
		if (leaves[i] == leaf)
			return true;
	return false;
}

static void json_cpuid(struct text *t, const struct access *a)
{
	static const struct { uint32_t first, most; } ranges[] = { { 0, 0x40 }, { 0x80000000u, 0x40 } };
	bool comma = false;

	text_fmt(t, "\"cpuid\": [");
	for (unsigned i = 0; i < COUNT_OF(ranges); i++) {
		struct cpuid_regs r;
		uint32_t last;

		if (a->ops->cpuid(a->self, 0, ranges[i].first, 0, &r) != ST_OK || r.eax < ranges[i].first)
			continue;
		last = r.eax - ranges[i].first > ranges[i].most ? ranges[i].first + ranges[i].most : r.eax;
		for (uint32_t leaf = ranges[i].first; leaf <= last; leaf++)
			for (uint32_t sub = 0; sub < (has_subleaves(leaf) ? 8 : 1); sub++) {
				if (a->ops->cpuid(a->self, 0, leaf, sub, &r) != ST_OK || !(r.eax | r.ebx | r.ecx | r.edx))
					continue;
				text_fmt(t, "%s[\"0x%x\", %u, \"0x%08x\", \"0x%08x\", \"0x%08x\", \"0x%08x\"]", comma ? ", " : "",
				         leaf, sub, r.eax, r.ebx, r.ecx, r.edx);
				comma = true;
			}
	}
	text_fmt(t, "]");
}

static void json_register(struct text *t, const struct access *a, unsigned core, uint32_t msr)
{
	uint64_t value;
	enum status st = a->ops->rdmsr(a->self, core, msr, &value);

	if (st == ST_OK)
		text_fmt(t, "\"0x%llx\"", (unsigned long long)value);
	else
		text_fmt(t, "\"%s\"", status_name(st));
}

/* The initial value of every register that the descriptor lists as writable: one value when all cores agree, else one per core. */
static void json_registers(struct text *t, const struct access *a, const struct cpu *cpu)
{
	const struct processor *p = cpu->processor;
	bool comma = false;

	text_fmt(t, "\"registers\": {");
	for (unsigned i = 0; a->kind != ACCESS_NATIVE && i < p->msr_count; i++)
		for (uint32_t msr = p->msrs[i].first; msr <= p->msrs[i].last; msr++) {
			uint64_t first = 0, other = 0;
			enum status st = a->ops->rdmsr(a->self, 0, msr, &first);
			bool differ = false;

			for (unsigned core = 1; core < a->cores && !differ; core++) {
				enum status st_other = a->ops->rdmsr(a->self, core, msr, &other);

				differ = st_other != st || (st == ST_OK && other != first);
			}
			text_fmt(t, "%s\"0x%x\": ", comma ? ", " : "", msr);
			comma = true;
			if (!differ) {
				json_register(t, a, 0, msr);
				continue;
			}
			for (unsigned core = 0; core < a->cores; core++) {
				text_fmt(t, core ? ", " : "[");
				json_register(t, a, core, msr);
			}
			text_char(t, ']');
		}
	text_fmt(t, "}");
}

void report_head(struct text *t, const struct access *a, const struct cpu *cpu, const struct suite_settings *s,
                 uint64_t seed)
{
	text_fmt(t, "\"schema\": \"stallmeter-results\",\n\"version\": %u,\n\"simulated\": %s,\n", RESULTS_VERSION,
	         backend_kind(a));
	json_string(t, "backend", a->name);
	text_fmt(t, ",\n");
	json_string(t, "build", BUILD_ID);
	text_fmt(t, ",\n");
	json_string(t, "label", s->label ? s->label : "");
	text_fmt(t, ",\n\"settings\": {");
	json_string(t, "suite", settings_rows(s));
	text_fmt(t, ", ");
	json_string(t, "profile", s->profile ? s->profile : "");
	if (s->cores && s->cores[0]) {
		text_fmt(t, ", ");
		json_string(t, "cores", s->cores);
	}
	if (s->nodes && s->nodes[0]) {
		text_fmt(t, ", ");
		json_string(t, "nodes", s->nodes);
	}
	if (s->vector_bits)
		text_fmt(t, ", \"vector_bits\": %u", s->vector_bits);
	if (s->kernels && s->kernels[0]) {
		text_fmt(t, ", ");
		json_string(t, "kernels", s->kernels);
	}
	if (s->ibs_misses)
		text_fmt(t, ", \"ibs_misses\": %u", s->ibs_misses);
	text_fmt(t, ", \"repetitions\": %u, \"seed\": %llu},\n", s->repetitions, (unsigned long long)seed);
	json_machine(t, a, cpu);
	text_fmt(t, ",\n");
	json_cpuid(t, a);
	text_fmt(t, ",\n");
	json_registers(t, a, cpu);
}

void report_kind(struct text *t, const struct access *a, const struct cpu *cpu)
{
	text_fmt(t, "{\"name\": \"%s\", \"first\": %u, ", a->core_kind, a->first);
	json_machine(t, a, cpu);
	text_fmt(t, ", ");
	json_cpuid(t, a);
	text_fmt(t, ", ");
	json_registers(t, a, cpu);
	text_char(t, '}');
}

void report_environment(struct text *t, const struct suite_host *host)
{
	text_fmt(t, "{");
	for (unsigned i = 0; i < host->environment_lines; i++) {
		text_fmt(t, "%s\"", i ? ", " : "");
		text_json(t, host->environment[i].key);
		text_fmt(t, "\": \"");
		text_json(t, host->environment[i].value);
		text_char(t, '"');
	}
	text_fmt(t, "}");
}

static void json_locks(struct text *t, const struct freq_locks *locks, const char *core_kind, bool *comma)
{
	for (unsigned i = 0; i < locks->count; i++) {
		const struct freq_lock_state *p = &locks->list[i];

		text_fmt(t, "%s{\"name\": \"%s\", \"msr\": \"0x%x\", \"bits\": [%u, %u]", *comma ? ", " : "", p->lock->name, p->lock->msr, p->lock->low, p->lock->high);
		*comma = true;
		if (core_kind)
			text_fmt(t, ", \"core_kind\": \"%s\"", core_kind);
		if (p->absent)
			text_fmt(t, ", \"absent\": \"%s\"}", p->absent);
		else
			text_fmt(t, ", \"found\": %llu, \"wanted\": %llu, \"already\": %u, \"set\": %u, \"refused\": %u}",
			         (unsigned long long)p->found, (unsigned long long)p->wanted, p->already, p->set, p->refused);
	}
}

void report_summary(struct text *t, const struct suite_summary *s)
{
	bool comma = false;

	text_fmt(t, "{\"rows\": %u", s->rows);
	for (unsigned i = 0; i < ROW_STATUS_COUNT; i++)
		text_fmt(t, ", \"%s\": %u", row_status_name(i), s->by_status[i]);
	text_fmt(t, ", \"unexpected\": %u, \"stopped\": %s, \"boots\": %u, \"simulated_instructions\": %llu", s->unexpected, s->stopped ? "true" : "false", s->boots,
	         (unsigned long long)s->instructions);
	text_fmt(t, ", \"windows\": %u, \"windows_clock_moved\": %u, \"windows_hot\": %u, \"windows_modulated\": %u, \"windows_by_smis\": [",
	         s->disturbances.windows, s->disturbances.clock, s->disturbances.thermal, s->disturbances.modulated);
	for (unsigned i = 0; i < SMI_BINS; i++)
		text_fmt(t, "%s%u", i ? ", " : "", s->disturbances.smi[i]);
	text_char(t, ']');
	if (s->last_level_nodes > 1)
		text_fmt(t, ", \"last_level_nodes\": %u", s->last_level_nodes);
	text_fmt(t, ", \"hwp\": %s, \"pinned\": [", s->locks.hwp ? "true" : "false");
	for (unsigned i = 0; i < s->kinds_before; i++)
		json_locks(t, &s->locks_before[i].locks, s->locks_before[i].core_kind, &comma);
	json_locks(t, &s->locks, s->core_kind, &comma);
	text_fmt(t, "], \"uncore\": ");
	boxes_json(t, &s->boxes);
	text_char(t, '}');
}

/* --- rows -------------------------------------------------------------------------------------- */

static void json_fixed(struct text *t, const char *key, int64_t milli, bool there)
{
	text_fmt(t, ", \"%s\": ", key);
	if (there)
		text_fixed(t, milli, 3);
	else
		text_fmt(t, "null");
}

void report_row(struct text *t, const struct access *a, const struct row_result *r)
{
	bool there = row_has_value(r), known = there && !r->cycles_open;

	text_fmt(t, "{\"name\": \"%s%s%s\"", r->name, r->core_kind ? "@" : "", r->core_kind ? r->core_kind : "");
	text_fmt(t, ", \"kind\": \"%s\", \"unit\": \"%s\"", row_kind_name(r->kind), row_unit_name(r->unit));
	json_fixed(t, "value", r->value_milli, known);
	json_fixed(t, "spread", r->spread_milli, known);
	json_fixed(t, "cycles", r->cycles_milli, known && r->unit == UNIT_CYCLES);
	json_fixed(t, "ns", r->ns_milli, there && r->unit == UNIT_CYCLES);
	text_fmt(t, ", \"status\": \"%s\", ", row_status_name(r->status));
	json_string(t, "reason", r->reason);
	text_fmt(t, ", ");
	json_string(t, "proof", r->proof);
	text_fmt(t, ", \"noise\": \"%s\", \"samples\": %u, \"rejected\": %u, ", there ? r->noisy ? "noisy" : "clean" : "none",
	         r->samples, r->rejected);
	json_string(t, "asks", r->row->asks);
	text_fmt(t, ", ");
	json_string(t, "source", row_source_name(r->row->source));
	text_fmt(t, ", ");
	json_string(t, "confirmed_by", r->row->confirmed_by ? r->row->confirmed_by : "");
	text_fmt(t, ", ");
	json_string(t, "kernel", r->kernel);
	text_fmt(t, ", \"revision\": %u, \"footprint_bytes\": %llu, \"page_bytes\": %llu, \"core_hz\": %llu, ", r->revision,
	         (unsigned long long)r->footprint_bytes, (unsigned long long)r->page_bytes, (unsigned long long)r->core_hz);
	json_string(t, "remark", r->remark);
	if (r->curve.count) {
		text_fmt(t, ", \"curve\": ");
		curve_json(t, &r->curve);
	}
	if (r->matrix) {
		text_fmt(t, ", \"matrix\": ");
		matrix_json(t, r->matrix);
	}
	if (r->series.points) {
		text_fmt(t, ", \"series\": ");
		series_json(t, &r->series);
	}
	text_fmt(t, ", \"latency_event\": ");
	sample_json(t, &r->sample, r->latency_sources);
	text_fmt(t, ", \"uncore_queue\": ");
	uncore_latency_json(t, &r->queue);
	if (r->loaded.verdict != UNCORE_LATENCY_NONE) {
		text_fmt(t, ", \"loaded\": ");
		latency_loaded_json(t, &r->loaded);
	}
	text_fmt(t, ", \"memory_channels\": ");
	traffic_channels_json(t, &r->traffic);
	text_fmt(t, ", \"socket_links\": ");
	traffic_links_json(t, &r->traffic);
	text_fmt(t, ", \"simulated\": %s}", backend_kind(a));
}

/* RFC 4180: quoted, quotes doubled. */
static void csv_char(struct text *t, char c)
{
	if (c == '"')
		text_char(t, '"');
	text_char(t, c);
}

static void csv_string(struct text *t, const char *s)
{
	text_char(t, '"');
	for (; *s; s++)
		csv_char(t, *s);
	text_char(t, '"');
}

void report_csv_head(struct text *t)
{
	text_fmt(t, "name,kind,unit,value,spread,cycles,ns,status,noise,samples,rejected,revision,backend,simulated,"
	         "reason,proof\r\n");
}

/* A member as in the JSON text, strings without quotes: names and numbers. null gives an empty field. */
static void csv_plain(struct text *t, struct json row, const char *key)
{
	struct json v;

	if (!json_get(row, key, &v) || (v.bytes == 4 && !memcmp(v.at, "null", 4)))
		return;
	if (v.at[0] == '"')
		json_string_of(t, v);
	else
		text_bytes(t, v.at, v.bytes);
}

static void csv_text(struct text *t, struct json row, const char *key)
{
	char at[320];
	struct text plain;
	struct json v;

	text_init(&plain, at, sizeof(at));
	if (json_get(row, key, &v))
		json_string_of(&plain, v);
	csv_string(t, at);
}

void report_csv_row(struct text *t, const char *backend, struct json row)
{
	static const char *const plain[] = { "name", "kind", "unit", "value", "spread", "cycles", "ns", "status", "noise",
		"samples", "rejected", "revision" };

	for (unsigned i = 0; i < COUNT_OF(plain); i++) {
		csv_plain(t, row, plain[i]);
		text_char(t, ',');
	}
	csv_string(t, backend);
	text_char(t, ',');
	csv_plain(t, row, "simulated");
	text_char(t, ',');
	csv_text(t, row, "reason");
	text_char(t, ',');
	csv_text(t, row, "proof");
	text_fmt(t, "\r\n");
}

const char *report_build(void)
{
	return BUILD_ID;
}


