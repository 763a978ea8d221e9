/* pmu/sim/machine/machine.c: reads a machine file, checks it as a whole, derives the clocks.
 *
 * A figure that nobody has published reads `unknown`: the field's preset then stands for it,
 * and the file says so. Fields without a preset must be given.
 *
 * Not modelled: whether figures fit each other as those of a machine that somebody built; only what the model cannot
 * do without is checked. */
#include "pmu/sim/machine/machine.h"
#include "pmu/access.h"
#include "pmu/sim/counters/counter_event.h"
#include "pmu/sim/uncore/uncore_map.h"
#include "pmu/text.h"

#define LINE_BYTES 64

struct field {
	const char *section, *name;
	uint64_t least, most, preset;
	size_t offset;       /* in struct machine */
	const char *text;    /* preset of a text; NULL for a number */
};

#define NUMBER(s, n, low, high, pre, what) { #s, #n, low, high, pre, offsetof(struct machine, s##_##n), NULL },
#define TEXT(s, n, pre, what) { #s, #n, 0, 0, 0, offsetof(struct machine, s##_##n), pre },
static const struct field fields[] = {
#include "pmu/sim/machine/machine.def"
};
#undef NUMBER
#undef TEXT

static const struct { const char *name; struct exec_cost preset; } classes[UC_COUNT] = {
#define CLASS(id, name, latency, ports, busy) [UC_##id] = { #name, { latency, ports, busy } },
#include "pmu/sim/machine/machine_class.def"
#undef CLASS
};

#define NODE_BYTES_LEAST 0x1000000u /* code, and what a row maps at the least */

struct reading {
	const char *file;
	struct machine *m;
	struct text problem;
	uint32_t field_line[COUNT_OF(fields)]; /* where a field was given, 0 = it was not */
	uint32_t exec_line[UC_COUNT];
	uint32_t last_line;
};

static uint64_t *number_at(struct machine *m, const struct field *f)
{
	return (uint64_t *)(void *)((char *)m + f->offset);
}

static bool same(const char *s, size_t n, const char *name)
{
	return str_length(name) == n && !memcmp(s, name, n);
}

/* Starts the one line of the problem; the caller adds what is wrong. */
static struct text *say(struct reading *r, unsigned line)
{
	text_fmt(&r->problem, "%s:%u: ", r->file, line);
	return &r->problem;
}

/* ---- single lines --------------------------------------------------------------------------- */

static enum status read_field(struct reading *r, const struct ini *ini, const struct field *f)
{
	if (f->text && same(ini->value, ini->value_length, "unknown"))
		return ST_OK; /* the preset stands */
	if (f->text) {
		char *to = (char *)r->m + f->offset;
		if (ini->value_length >= MACHINE_TEXT) {
			text_fmt(say(r, ini->line), "%s.%s: too long, at most %d bytes", f->section, f->name, MACHINE_TEXT - 1);
			return ST_RANGE;
		}
		for (size_t i = 0; i < ini->value_length; i++)
			if (ini->value[i] < ' ' || ini->value[i] > '~') {
				text_fmt(say(r, ini->line), "%s.%s: byte %u is not printable ASCII", f->section, f->name, (unsigned)i + 1);
				return ST_SYNTAX;
			}
		memset(to, 0, MACHINE_TEXT);
		memcpy(to, ini->value, ini->value_length);
		return ST_OK;
	}
	if (same(ini->value, ini->value_length, "unknown")) {
		if (f->preset == REQUIRED) {
			text_fmt(say(r, ini->line), "%s.%s: must be known, a number from %llu to %llu", f->section, f->name,
			         (unsigned long long)f->least, (unsigned long long)f->most);
			return ST_RANGE;
		}
		return ST_OK; /* the preset stands */
	}
	uint64_t v;
	enum status st = parse_u64(ini->value, ini->value_length, &v);
	if (st == ST_OK && (v < f->least || v > f->most))
		st = ST_RANGE;
	for (size_t i = 0; st && i < ini->value_length; i++)
		if (!ini->value[i]) {
			text_fmt(say(r, ini->line), "%s.%s: byte %u is NUL: a text file expected", f->section, f->name, (unsigned)i + 1);
			return st;
		}
	if (st) {
		text_fmt(say(r, ini->line), "%s.%s: '%.*s' is not a number from %llu to %llu%s", f->section, f->name,
		         (int)(ini->value_length < LINE_BYTES ? ini->value_length : LINE_BYTES), ini->value,
		         (unsigned long long)f->least, (unsigned long long)f->most,
		         f->preset == REQUIRED ? "" : " nor 'unknown'");
		return st;
	}
	*number_at(r->m, f) = v;
	return ST_OK;
}

/* The next blank-separated word of a value. */
static size_t word(const char **at, const char *end, const char **start)
{
	while (*at < end && (**at == ' ' || **at == '\t'))
		(*at)++;
	*start = *at;
	while (*at < end && **at != ' ' && **at != '\t')
		(*at)++;
	return (size_t)(*at - *start);
}

/* Port list: hexadecimal digits, one a port, ascending; '-' is none. */
static bool read_ports(const char *s, size_t n, uint16_t *mask)
{
	*mask = 0;
	if (n == 1 && *s == '-')
		return true;
	for (size_t i = 0; i < n; i++) {
		uint64_t port;
		char digit[3] = { '0', 'x', s[i] };
		if (parse_u64(digit, 3, &port) || *mask >> port)
			return false;
		*mask |= (uint16_t)(1u << port);
	}
	return n > 0;
}

static enum status read_exec(struct reading *r, const struct ini *ini)
{
	unsigned c = 0;
	while (c < UC_COUNT && !same(ini->key, ini->key_length, classes[c].name))
		c++;
	if (c == UC_COUNT) {
		text_fmt(say(r, ini->line), "exec.%.*s: no such class; known are",
		         (int)(ini->key_length < LINE_BYTES ? ini->key_length : LINE_BYTES), ini->key);
		for (unsigned i = 0; i < UC_COUNT; i++)
			text_fmt(&r->problem, " %s", classes[i].name);
		return ST_MISSING;
	}
	if (r->exec_line[c]) {
		text_fmt(say(r, ini->line), "exec.%s: given twice, first in line %u", classes[c].name, r->exec_line[c]);
		return ST_SYNTAX;
	}
	r->exec_line[c] = ini->line;
	if (same(ini->value, ini->value_length, "unknown"))
		return ST_OK;
	const char *at = ini->value, *end = at + ini->value_length, *w;
	uint64_t latency = 0, busy = 0;
	uint16_t mask = 0;
	size_t n = word(&at, end, &w);
	bool good = parse_u64(w, n, &latency) == ST_OK && latency <= 1000;
	n = word(&at, end, &w);
	good = good && read_ports(w, n, &mask);
	n = word(&at, end, &w);
	good = good && parse_u64(w, n, &busy) == ST_OK && busy <= 1000;
	n = word(&at, end, &w);
	if (!good || n) {
		text_fmt(say(r, ini->line), "exec.%s: '%.*s' is not 'LATENCY PORTS BUSY': cycles 0 to 1000, "
		         "ports as ascending hexadecimal digits or '-', cycles 0 to 1000", classes[c].name,
		         (int)(ini->value_length < LINE_BYTES ? ini->value_length : LINE_BYTES), ini->value);
		return ST_SYNTAX;
	}
	r->m->exec[c] = (struct exec_cost){ (uint16_t)latency, mask, (uint16_t)busy };
	return ST_OK;
}

static enum status read_line(struct reading *r, const struct ini *ini)
{
	if (same(ini->section, ini->section_length, "exec"))
		return read_exec(r, ini);
	bool section = false;
	for (unsigned i = 0; i < COUNT_OF(fields); i++) {
		if (!same(ini->section, ini->section_length, fields[i].section))
			continue;
		section = true;
		if (!same(ini->key, ini->key_length, fields[i].name))
			continue;
		if (r->field_line[i]) {
			text_fmt(say(r, ini->line), "%s.%s: given twice, first in line %u", fields[i].section,
			         fields[i].name, r->field_line[i]);
			return ST_SYNTAX;
		}
		r->field_line[i] = ini->line;
		return read_field(r, ini, &fields[i]);
	}
	int n = (int)(ini->section_length < LINE_BYTES ? ini->section_length : LINE_BYTES);
	struct text *t = say(r, ini->line);
	if (!ini->section_length) {
		text_fmt(t, "'%.*s' stands before any section", (int)(ini->key_length < LINE_BYTES ? ini->key_length : LINE_BYTES), ini->key);
		return ST_MISSING;
	}
	if (!section) {
		text_fmt(t, "[%.*s]: no such section; known are exec", n, ini->section);
		for (unsigned i = 0; i < COUNT_OF(fields); i++)
			if (!i || !str_equal(fields[i].section, fields[i - 1].section))
				text_fmt(t, " %s", fields[i].section);
	} else {
		text_fmt(t, "%.*s.%.*s: no such key; known are", n, ini->section,
		         (int)(ini->key_length < LINE_BYTES ? ini->key_length : LINE_BYTES), ini->key);
		for (unsigned i = 0; i < COUNT_OF(fields); i++)
			if (same(ini->section, ini->section_length, fields[i].section))
				text_fmt(t, " %s", fields[i].name);
	}
	return ST_MISSING;
}

/* ---- the whole file ------------------------------------------------------------------------- */

/* Where a field was given, or else the last one of its section; of a section that is not there, the file's end. */
static uint32_t line_of(const struct reading *r, unsigned field)
{
	uint32_t line = 0;
	if (r->field_line[field])
		return r->field_line[field];
	for (unsigned i = 0; i < COUNT_OF(fields); i++)
		if (str_equal(fields[i].section, fields[field].section) && r->field_line[i] > line)
			line = r->field_line[i];
	return line ? line : r->last_line ? r->last_line : 1;
}

/* Complains about a field. */
static enum status wrong(struct reading *r, const uint64_t *at, const char *what)
{
	for (unsigned i = 0; i < COUNT_OF(fields); i++)
		if (number_at(r->m, &fields[i]) == at || (const char *)r->m + fields[i].offset == (const char *)at) {
			text_fmt(say(r, line_of(r, i)), "%s.%s: %s",
			         fields[i].section, fields[i].name, what);
			return ST_RANGE;
		}
	return ST_BROKEN;
}

static bool power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

/* Sets of a cache of 64-byte lines; 0 when the geometry does not divide. */
static uint64_t sets_of(uint64_t bytes, uint64_t ways, uint64_t slices)
{
	uint64_t way = ways * slices * 64;
	return bytes % way ? 0 : bytes / way;
}

static enum status check_cores(struct reading *r)
{
	struct machine *m = r->m;
	if (str_length(m->cpuid_vendor) != 12)
		return wrong(r, (const uint64_t *)(const void *)m->cpuid_vendor, "CPUID vendor has exactly 12 letters");
	if (str_length(m->machine_brand) > 47)
		return wrong(r, (const uint64_t *)(const void *)m->machine_brand, "a CPUID brand string has at most 47 letters");
	if (m->topology_sockets * m->topology_cores * m->topology_threads > MACHINE_THREADS_MAX)
		return wrong(r, &m->topology_cores, "sockets * cores * threads is at most " MACHINE_THREADS_MAX_TEXT);
	if (m->topology_cores % m->l2_cores)
		return wrong(r, &m->l2_cores, "topology.cores is a multiple of the cores that share an L2");
	if (m->core_rs > m->core_rob)
		return wrong(r, &m->core_rs, "at most core.rob");
	if (m->core_load_buffers > m->core_rob)
		return wrong(r, &m->core_load_buffers, "at most core.rob");
	if (m->core_store_buffers > m->core_rob)
		return wrong(r, &m->core_store_buffers, "at most core.rob");
	for (unsigned c = 0; c < UC_COUNT; c++)
		if (m->exec[c].port_mask >> m->core_ports) {
			text_fmt(say(r, r->exec_line[c] ? r->exec_line[c] : r->last_line),
			         "exec.%s: %s a port beyond core.ports, ports are 0 to %u", classes[c].name,
			         r->exec_line[c] ? "names" : "is not given and its preset needs", (unsigned)m->core_ports - 1);
			return ST_RANGE;
		}
	return ST_OK;
}

static enum status check_caches(struct reading *r)
{
	struct machine *m = r->m;
	if (!power_of_two(sets_of(m->l1d_bytes, m->l1d_ways, 1)))
		return wrong(r, &m->l1d_bytes, "bytes / (64 * ways), the number of sets, is a power of two");
	if (!power_of_two(sets_of(m->l1i_bytes, m->l1i_ways, 1)))
		return wrong(r, &m->l1i_bytes, "bytes / (64 * ways), the number of sets, is a power of two");
	if (m->l2_bytes && !power_of_two(sets_of(m->l2_bytes, m->l2_ways, 1)))
		return wrong(r, &m->l2_bytes, "bytes / (64 * ways), the number of sets, is a power of two");
	if (m->l3_bytes && !power_of_two(sets_of(m->l3_bytes, m->l3_ways, m->l3_slices)))
		return wrong(r, &m->l3_bytes, "bytes / (64 * ways * slices), the number of sets of a slice, is a power of two");
	if (m->l3_bytes && !m->l2_bytes)
		return wrong(r, &m->l3_bytes, "an L3 needs an L2");
	if (m->l2_bytes && m->l2_bytes <= m->l1d_bytes)
		return wrong(r, &m->l2_bytes, "larger than l1d.bytes");
	if (m->l3_bytes && m->l3_bytes <= m->l2_bytes)
		return wrong(r, &m->l3_bytes, "larger than l2.bytes");
	if (m->l3_bytes && m->l3_inclusive && m->l3_bytes < m->l2_bytes * (m->topology_cores / m->l2_cores))
		return wrong(r, &m->l3_bytes, "an inclusive L3 holds the L2s of all its cores");
	if (m->l2_bytes && m->l2_cycles <= m->l1d_cycles)
		return wrong(r, &m->l2_cycles, "more than l1d.cycles");
	if (m->dtlb_ways > m->dtlb_entries || !power_of_two(sets_of(m->dtlb_entries * 64, m->dtlb_ways, 1)))
		return wrong(r, &m->dtlb_entries, "entries / ways, the number of sets, is a power of two");
	if (m->stlb_entries && (m->stlb_ways > m->stlb_entries || !power_of_two(sets_of(m->stlb_entries * 64, m->stlb_ways, 1))))
		return wrong(r, &m->stlb_entries, "entries / ways, the number of sets, is a power of two");
	if (m->l3_bytes && m->l3_core_cycles + (m->l3_uncore_cycles * m->clock_core_ratio + m->clock_uncore_ratio - 1) / m->clock_uncore_ratio <= m->l2_cycles)
		return wrong(r, &m->l3_core_cycles, "with l3.uncore_cycles in core cycles more than l2.cycles");
	if (m->topology_sockets > 1 && m->dram_remote_ps < m->dram_local_ps)
		return wrong(r, &m->dram_remote_ps, "at least dram.local_ps");
	if (m->dram_open_page && m->dram_page_hit_ps > m->dram_local_ps)
		return wrong(r, &m->dram_page_hit_ps, "at most dram.local_ps");
	if (m->dram_page_bytes % 64)
		return wrong(r, &m->dram_page_bytes, "a multiple of 64");
	return ST_OK;
}

/* Whether a TLB that need not be there can be: with fewer entries than ways it is fully associative. */
static bool sets_fit(uint64_t entries, uint64_t ways)
{
	return ways >= entries || power_of_two(sets_of(entries * 64, ways, 1));
}

static enum status check_tables(struct reading *r)
{
	struct machine *m = r->m;
	const uint64_t *const powers[] = { &m->front_decode_bytes, &m->front_uop_cache_window, &m->predictor_entries, &m->predictor_targets, &m->predictor_indirect };
	for (unsigned i = 0; i < COUNT_OF(powers); i++)
		if (!power_of_two(*powers[i]))
			return wrong(r, powers[i], "a power of two");
	if (!sets_fit(m->dtlb_large_entries, m->dtlb_large_ways))
		return wrong(r, &m->dtlb_large_entries, "entries / ways, the number of sets, is a power of two");
	if (!sets_fit(m->itlb_entries, m->itlb_ways))
		return wrong(r, &m->itlb_entries, "entries / ways, the number of sets, is a power of two");
	return ST_OK;
}

#define BOX(name) || str_equal(text, #name)
static bool uncore_known(const char *text)
{
	return str_equal(text, "none")
#include "pmu/sim/uncore/boxes.def"
		;
}
#undef BOX

static enum status check_pmu(struct reading *r)
{
	struct machine *m = r->m;
	if (!m->pmu_version && (m->pmu_general || m->pmu_fixed))
		return wrong(r, m->pmu_general ? &m->pmu_general : &m->pmu_fixed, "0 where pmu.version is 0");
	if (m->dram_node_bytes < NODE_BYTES_LEAST + m->topology_sockets * m->topology_cores * m->topology_threads * (CONTROL_BYTES + DS_BYTES))
		return wrong(r, &m->dram_node_bytes, "at least 16 MiB, and 128 KiB for each logical processor");
	if (m->pmu_version && !m->pmu_general)
		return wrong(r, &m->pmu_general, "at least 1 where there is a PMU");
	if (m->pmu_version == 1 && m->pmu_fixed)
		return wrong(r, &m->pmu_fixed, "fixed counters came with version 2");
	if (m->pmu_pebs_format > 3 && m->pmu_pebs_format != 255)
		return wrong(r, &m->pmu_pebs_format, "0, 1, 2, 3 or 255");
	if (m->pmu_pebs_format != 255 && m->pmu_version < 2 && !m->pmu_netburst)
		return wrong(r, &m->pmu_pebs_format, "PEBS of this model needs pmu.version 2 or later");
	if (m->pmu_pebs_format > 0 && m->pmu_pebs_format != 255 && !m->pmu_capabilities)
		return wrong(r, &m->pmu_pebs_format, "formats above 0 are told by pmu.capabilities = 1");
	if (m->pmu_load_latency && (m->pmu_pebs_format == 255 || m->pmu_pebs_format == 0))
		return wrong(r, &m->pmu_load_latency, "needs PEBS record format 1 or later");
	if (m->pmu_full_width && !m->pmu_capabilities)
		return wrong(r, &m->pmu_full_width, "is told by pmu.capabilities = 1");
	if (m->pmu_lbr_pairs && !power_of_two(m->pmu_lbr_pairs))
		return wrong(r, &m->pmu_lbr_pairs, "a power of two");
	if (m->pmu_amd && (m->pmu_version < 1 || m->pmu_version > 2))
		return wrong(r, &m->pmu_version, "1 or 2 with pmu.amd");
	if (m->pmu_amd && m->pmu_fixed)
		return wrong(r, &m->pmu_fixed, "0 with pmu.amd");
	if (m->pmu_amd && (m->pmu_pebs_format != 255 || m->pmu_capabilities || m->pmu_lbr_pairs || m->pmu_offcore_msrs))
		return wrong(r, &m->pmu_amd, "has neither PEBS, IA32_PERF_CAPABILITIES, OFFCORE_RESPONSE nor last-branch records");
	if (m->pmu_version && !m->pmu_amd && m->control_highest_leaf < 10)
		return wrong(r, &m->control_highest_leaf, "at least 10 where there is a PMU");
	if (m->control_x2apic && m->control_highest_leaf < 11)
		return wrong(r, &m->control_highest_leaf, "at least 11 with x2APIC");
	if (m->control_least_ratio > m->clock_core_ratio)
		return wrong(r, &m->control_least_ratio, "at most clock.core_ratio");
	if (m->control_turbo_ratio && m->control_turbo_ratio < m->clock_core_ratio)
		return wrong(r, &m->control_turbo_ratio, "0 or at least clock.core_ratio");
	if (m->fault_counter_stuck > m->pmu_general)
		return wrong(r, &m->fault_counter_stuck, "at most pmu.general");
	if (m->fault_dead_core > m->topology_sockets * m->topology_cores * m->topology_threads)
		return wrong(r, &m->fault_dead_core, "at most the number of logical processors");
	if (m->fault_dead_core == 1)
		return wrong(r, &m->fault_dead_core, "core 0 runs the program: 0 or 2 and above");
	if (m->pmu_netburst && m->pmu_version)
		return wrong(r, &m->pmu_version, "0 with pmu.netburst");
	if (!uncore_known(m->pmu_uncore))
		return wrong(r, (const uint64_t *)(const void *)m->pmu_uncore, "none, socket or boxes");
	if (str_equal(m->pmu_uncore, "boxes")) {
		if (m->topology_sockets > 8 || m->uncore_bus + (m->topology_sockets - 1) * m->uncore_bus_step > 255)
			return wrong(r, &m->uncore_bus, "the last socket's bus is at most 255, the sockets at most 8");
		if (m->uncore_sbos == 3)
			return wrong(r, &m->uncore_sbos, "2 or 4");
		if (m->l3_slices < 1 || m->l3_slices > 18)
			return wrong(r, &m->l3_slices, "at most 18 with uncore boxes");
		if (m->dram_channels % m->uncore_home_agents || m->dram_channels / m->uncore_home_agents > 4)
			return wrong(r, &m->dram_channels, "with uncore boxes up to 4 a home agent, as many for each");
	}
	return ST_OK;
}

/* The map of a name, beside the machine file or built in; key: the field that names it. */
static enum status find_map(struct reading *r, const struct machine_beside *beside, const char *name, const struct machine_file *built_in,
                            unsigned n, struct machine_file *map)
{
	if (beside && beside->find(beside->self, name, map)) {
		r->m->text_hash = fnv1a64(r->m->text_hash, map->text, map->bytes);
		return ST_OK;
	}
	for (unsigned i = 0; i < n; i++)
		if (str_equal(built_in[i].name, name)) {
			*map = built_in[i];
			return ST_OK;
		}
	enum status st = wrong(r, (const uint64_t *)(const void *)name, "no such map beside this file; built in are");
	for (unsigned i = 0; i < n; i++)
		text_fmt(&r->problem, " %s", built_in[i].name);
	return st;
}

static enum status check_map(struct reading *r, const struct machine_beside *beside)
{
	struct machine *m = r->m;
	struct event_map map;
	enum status st = find_map(r, beside, m->pmu_events, machine_maps, machine_maps_count, &m->map);
	if (st == ST_OK)
		st = event_map_read(m->map.name, m->map.text, m->map.bytes, NULL, &map, r->problem.at, r->problem.capacity);
	if (st == ST_OK && map.units != (m->pmu_netburst != 0))
		return wrong(r, (const uint64_t *)(const void *)m->pmu_events, map.units ? "a map with units needs pmu.netburst = 1" : "with pmu.netburst = 1 a map that names units");
	if (st || str_equal(m->pmu_uncore, "none"))
		return st;
	st = find_map(r, beside, m->pmu_uncore_events, machine_uncore_maps, machine_uncore_maps_count, &m->uncore_map);
	return st ? st : uncore_map_read(m->uncore_map.name, m->uncore_map.text, m->uncore_map.bytes, NULL, NULL, r->problem.at, r->problem.capacity);
}

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t t = a % b;
		a = b;
		b = t;
	}
	return a;
}

/* The common tick is bus * lcm(ratios): each clock's period is a whole number of ticks. */
static void derive(struct machine *m)
{
	uint64_t l = m->clock_core_ratio;
	l = l / gcd(l, m->clock_uncore_ratio) * m->clock_uncore_ratio;
	l = l / gcd(l, m->clock_tsc_ratio) * m->clock_tsc_ratio;
	m->tick_per_core_cycle = l / m->clock_core_ratio;
	m->tick_per_uncore_cycle = l / m->clock_uncore_ratio;
	m->tick_per_tsc = l / m->clock_tsc_ratio;
	m->core_hz = m->clock_bus_hz_times_3 * m->clock_core_ratio / 3;
	m->uncore_hz = m->clock_bus_hz_times_3 * m->clock_uncore_ratio / 3;
	m->tsc_hz = m->clock_bus_hz_times_3 * m->clock_tsc_ratio / 3;
}

/* The machine is called what its file is called, without folder and extension. */
static void name_of(const char *file, char *to, size_t capacity)
{
	const char *start = file;
	for (const char *s = file; *s; s++)
		if (*s == '/' || *s == '\\')
			start = s + 1;
	size_t n = 0;
	while (start[n] && start[n] != '.' && n + 1 < capacity)
		n++;
	memset(to, 0, capacity);
	memcpy(to, start, n);
}

enum status machine_read(const char *file_name, const char *text, size_t bytes, struct machine *out,
                         char *problem, size_t capacity)
{
	return machine_read_beside(file_name, text, bytes, NULL, out, problem, capacity);
}

enum status machine_read_beside(const char *file_name, const char *text, size_t bytes, const struct machine_beside *beside,
                                struct machine *out, char *problem, size_t capacity)
{
	struct reading r = { .file = file_name, .m = out };
	text_init(&r.problem, problem, capacity);
	memset(out, 0, sizeof(*out));
	name_of(file_name, out->name, sizeof(out->name));
	out->text_hash = fnv1a64(FNV1A64_START, text, bytes);
	for (unsigned i = 0; i < COUNT_OF(fields); i++) {
		if (fields[i].text)
			str_copy((char *)out + fields[i].offset, MACHINE_TEXT, fields[i].text);
		else
			*number_at(out, &fields[i]) = fields[i].preset;
	}
	for (unsigned c = 0; c < UC_COUNT; c++)
		out->exec[c] = classes[c].preset;
	struct ini ini;
	ini_init(&ini, text, bytes);
	enum status st;
	while ((st = ini_next(&ini)) == ST_OK) {
		st = read_line(&r, &ini);
		if (st)
			return st;
	}
	if (st == ST_SYNTAX) {
		text_fmt(say(&r, ini.line), "%s", ini.problem);
		return st;
	}
	r.last_line = ini.line;
	for (unsigned i = 0; i < COUNT_OF(fields); i++)
		if (!r.field_line[i] && !fields[i].text && fields[i].preset == REQUIRED) {
			text_fmt(say(&r, line_of(&r, i)), "%s.%s: must be given, a number from %llu to %llu", fields[i].section,
			         fields[i].name, (unsigned long long)fields[i].least, (unsigned long long)fields[i].most);
			return ST_MISSING;
		}
	st = check_cores(&r);
	if (!st)
		st = check_caches(&r);
	if (!st)
		st = check_tables(&r);
	if (!st)
		st = check_pmu(&r);
	if (!st)
		st = check_map(&r, beside);
	if (!st)
		derive(out);
	return st;
}

const struct machine_file *machine_builtin(const char *name)
{
	for (unsigned i = 0; i < machine_files_count; i++)
		if (str_equal(machine_files[i].name, name))
			return &machine_files[i];
	return NULL;
}
