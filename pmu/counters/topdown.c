/* pmu/counters/topdown.c: see topdown.h.
 *
 * Source: SDM volume 3B, "Performance Monitoring", PERF_METRICS; order of clearing and which processors have the second level: Linux 6.12, events/intel/core.c
 * (facts only). */
#include "pmu/counters/topdown.h"

#define IA32_FIXED_CTR3   0x30C
#define IA32_PERF_METRICS 0x329
#define IA32_PERF_GLOBAL_CTRL 0x38F
#define CAPABILITY_METRICS (1ull << 15)

/* A share is a byte, or what a byte leaves of another one. */
struct share { const char *name; uint8_t byte; bool rest; uint8_t less; };
static const struct share shares[TOPDOWN_SHARES] = {
	{ "retiring", 0, false, 0 }, { "bad_speculation", 1, false, 0 }, { "frontend_bound", 2, false, 0 }, { "backend_bound", 3, false, 0 },
	{ "retiring.heavy_operations", 4, false, 0 }, { "retiring.light_operations", 0, true, 4 },
	{ "bad_speculation.branch_mispredicts", 5, false, 0 }, { "bad_speculation.machine_clears", 1, true, 5 },
	{ "frontend_bound.fetch_latency", 6, false, 0 }, { "frontend_bound.fetch_bandwidth", 2, true, 6 },
	{ "backend_bound.memory_bound", 7, false, 0 }, { "backend_bound.core_bound", 3, true, 7 },
};

unsigned topdown_bytes(const struct cpu *cpu)
{
	const bool there = cpu->pmu_version >= 5 && (cpu->perf_capabilities & CAPABILITY_METRICS) && cpu->fixed_mask >> TOPDOWN_FIXED & 1;
	return there && cpu->processor ? cpu->processor->topdown_metrics : 0;
}

void topdown_plan(struct plan *plan)
{
	*plan = (struct plan){ .runs = 1, .count = 1, .slots = { { .fixed = true, .counter = TOPDOWN_FIXED, .rdpmc_index = 1u << 30 | TOPDOWN_FIXED } } };
}

enum status topdown_gate(const struct access *a, unsigned core, struct sampling_gate *gate)
{
	uint64_t on = 0;
	enum status st = a->ops->rdmsr(a->self, core, IA32_PERF_GLOBAL_CTRL, &on);
	const uint64_t off = on & ~(1ull << TOPDOWN_GLOBAL | 1ull << (32 + TOPDOWN_FIXED));

	*gate = (struct sampling_gate){ .count = 0 };
	sampling_gate_add(gate, IA32_PERF_GLOBAL_CTRL, on, off);
	return st == ST_OK ? a->ops->wrmsr(a->self, core, IA32_PERF_GLOBAL_CTRL, off) : st;
}

enum status topdown_clear(const struct access *a, unsigned core)
{
	const enum status st = a->ops->wrmsr(a->self, core, IA32_FIXED_CTR3, 0);
	return st == ST_OK ? a->ops->wrmsr(a->self, core, IA32_PERF_METRICS, 0) : st; /* in this order */
}

enum status topdown_read(const struct access *a, unsigned core, struct topdown *out)
{
	uint64_t bytes = 0;
	enum status st = a->ops->rdmsr(a->self, core, IA32_PERF_METRICS, &bytes);

	if (st == ST_OK)
		st = a->ops->rdmsr(a->self, core, IA32_FIXED_CTR3, &out->slots);
	for (unsigned i = 0; i < COUNT_OF(out->bytes); i++)
		out->bytes[i] = (uint8_t)(bytes >> 8 * i);
	return st;
}

void topdown_add(struct topdown_sum *sum, const struct topdown *t)
{
	sum->slots += t->slots;
	for (unsigned i = 0; i < COUNT_OF(t->bytes); i++)
		sum->parts[i] += t->slots * t->bytes[i];
}

bool topdown_share(const struct cpu *cpu, const struct topdown_sum *sum, unsigned i, const char **name, int64_t *share)
{
	const struct share *s = &shares[i];

	*name = s->name;
	if (!sum->slots || s->byte >= topdown_bytes(cpu) || (s->rest && s->less >= topdown_bytes(cpu)))
		return false;
	const uint64_t less = s->rest ? sum->parts[s->less] : 0, parts = sum->parts[s->byte];
	*share = (int64_t)((parts > less ? parts - less : 0) / TOPDOWN_WHOLE * 100000 / sum->slots);
	return true;
}
