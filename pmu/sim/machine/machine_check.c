/* pmu/sim/machine/machine_check.c: checks the figures of a machine file against each other.
 *
 * Not checked: whether such a machine could have been built; only what the model requires is. */
#include "pmu/sim/machine/event_map.h"
#include "pmu/sim/machine/machine_reading.h"
#include "pmu/sim/machine/uncore_map.h"

#define NODES_MOST 8 /* memory nodes of the machine, as the model numbers lines */
#define MESH_BUSES 3 /* of a socket after its first, uncore.bus apart, with boxes */
#define NODE_BYTES_LEAST 0x1000000u /* code, and the least that a row maps */

static bool power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

/* Sets of a cache of 64-byte lines; 0 if the geometry does not divide evenly. */
static uint64_t sets_of(uint64_t bytes, uint64_t ways, uint64_t slices)
{
	uint64_t way = ways * slices * 64;
	return bytes % way ? 0 : bytes / way;
}

/* Checks the small cores, which another built-in machine file describes. */
static enum status check_small(struct machine_reading *r)
{
	struct machine *m = r->m;
	if (str_equal(m->topology_small, "none") != !m->topology_small_cores)
		return machine_wrong(r, &m->topology_small_cores, "0 where topology.small is none, else at least 1");
	if (m->topology_small_cores && (m->topology_sockets > 1 || m->topology_complexes > 1 || m->topology_threads > 1 || m->topology_small_cores >= m->topology_cores))
		return machine_wrong(r, &m->topology_small_cores, "fewer than topology.cores, of one socket and complex with one thread a core");
	if (m->topology_small_cores && (m->topology_cores - m->topology_small_cores) % m->l2_cores)
		return machine_wrong(r, &m->l2_cores, "large cores are a multiple of those that share an L2");
	if (m->topology_small_cores) {
		const struct machine_file *small = machine_builtin(m->topology_small);
		struct ini ini;
		uint64_t shared = 1;
		if (!small || str_equal(m->topology_small, m->name))
			return machine_wrong(r, (const uint64_t *)(const void *)m->topology_small, "another machine that is built in");
		ini_init(&ini, small->text, small->bytes);
		while (ini_next(&ini) == ST_OK)
			if (ini.section_length == 2 && !memcmp(ini.section, "l2", 2) && ini.key_length == 5 && !memcmp(ini.key, "cores", 5) &&
			    parse_u64(ini.value, ini.value_length, &shared) != ST_OK)
				shared = 1;
		if (m->topology_small_cores % shared)
			return machine_wrong(r, &m->topology_small_cores, "a multiple of the small cores that share an L2");
	}
	return ST_OK;
}

static enum status check_cores(struct machine_reading *r)
{
	struct machine *m = r->m;
	if (str_length(m->cpuid_vendor) != 12)
		return machine_wrong(r, (const uint64_t *)(const void *)m->cpuid_vendor, "CPUID vendor has exactly 12 letters");
	if (str_length(m->machine_brand) > 47)
		return machine_wrong(r, (const uint64_t *)(const void *)m->machine_brand, "a CPUID brand string has at most 47 letters");
	if (m->topology_sockets * m->topology_cores * m->topology_threads > MACHINE_THREADS_MAX)
		return machine_wrong(r, &m->topology_cores, "sockets * cores * threads is at most " MACHINE_THREADS_MAX_TEXT);
	if (!m->topology_small_cores && m->topology_cores % m->l2_cores)
		return machine_wrong(r, &m->l2_cores, "topology.cores is a multiple of the cores that share an L2");
	if (!m->topology_small_cores && m->topology_cores % (m->topology_complexes * m->l2_cores))
		return machine_wrong(r, &m->topology_complexes, "topology.cores is a multiple of complexes * l2.cores");
	if (m->topology_complexes % m->topology_dies)
		return machine_wrong(r, &m->topology_dies, "topology.complexes is a multiple of the dies");
	if (m->topology_complexes > 1 && (!m->l3_bytes || m->l3_inclusive))
		return machine_wrong(r, &m->topology_complexes, "more than one needs an L3 that is not inclusive");
	if (m->topology_complexes > 1 && (str_equal(m->pmu_uncore, "boxes") || str_equal(m->pmu_uncore, "mesh") || str_equal(m->pmu_uncore, "socket")))
		return machine_wrong(r, &m->topology_complexes, "1 with the uncore counters of sockets and boxes");
	if (m->core_rs > m->core_rob)
		return machine_wrong(r, &m->core_rs, "at most core.rob");
	if (m->core_load_buffers > m->core_rob)
		return machine_wrong(r, &m->core_load_buffers, "at most core.rob");
	if (m->core_store_buffers > m->core_rob)
		return machine_wrong(r, &m->core_store_buffers, "at most core.rob");
	for (unsigned c = 0; c < UC_COUNT; c++)
		if (m->exec[c].port_mask >> m->core_ports) {
			text_fmt(machine_problem(r, r->exec_line[c] ? r->exec_line[c] : r->last_line),
			         "exec.%s: %s a port beyond core.ports, ports are 0 to %u", machine_class_name(c),
			         r->exec_line[c] ? "names" : "is not given and its preset needs", (unsigned)m->core_ports - 1);
			return ST_RANGE;
		}
	return ST_OK;
}

/* Several memory nodes a socket. */
static enum status check_nodes(struct machine_reading *r)
{
	struct machine *m = r->m;
	const uint64_t n = m->topology_nodes;
	if (n == 1)
		return ST_OK;
	if (m->topology_sockets * n > NODES_MOST)
		return machine_wrong(r, &m->topology_nodes, "sockets * nodes is at most 8");
	if (m->topology_complexes > 1 || m->topology_small_cores || !m->l3_bytes || m->l3_inclusive)
		return machine_wrong(r, &m->topology_nodes, "more than one needs sockets of one complex and one kind of cores, and an L3 that is not inclusive");
	if (!str_equal(m->pmu_uncore, "none") && !str_equal(m->pmu_uncore, "mesh"))
		return machine_wrong(r, &m->topology_nodes, "1 with another uncore than none or mesh");
	if (m->topology_cores % (n * m->l2_cores) || m->l3_slices % n || m->dram_channels % n)
		return machine_wrong(r, &m->topology_nodes, "divides topology.cores / l2.cores, l3.slices and dram.channels");
	return ST_OK;
}

static enum status check_caches(struct machine_reading *r)
{
	struct machine *m = r->m;
	if (!power_of_two(sets_of(m->l1d_bytes, m->l1d_ways, 1)))
		return machine_wrong(r, &m->l1d_bytes, "bytes / (64 * ways), the number of sets, is a power of two");
	if (!power_of_two(sets_of(m->l1i_bytes, m->l1i_ways, 1)))
		return machine_wrong(r, &m->l1i_bytes, "bytes / (64 * ways), the number of sets, is a power of two");
	if (m->l2_bytes && !power_of_two(sets_of(m->l2_bytes, m->l2_ways, 1)))
		return machine_wrong(r, &m->l2_bytes, "bytes / (64 * ways), the number of sets, is a power of two");
	if (m->l3_bytes && !power_of_two(sets_of(m->l3_bytes, m->l3_ways, m->l3_slices)))
		return machine_wrong(r, &m->l3_bytes, "bytes / (64 * ways * slices), the number of sets of a slice, is a power of two");
	if (m->l3_bytes && !m->l2_bytes)
		return machine_wrong(r, &m->l3_bytes, "an L3 needs an L2");
	if (m->l2_bytes && m->l2_bytes <= m->l1d_bytes)
		return machine_wrong(r, &m->l2_bytes, "larger than l1d.bytes");
	if (m->l3_bytes && m->l3_bytes <= m->l2_bytes)
		return machine_wrong(r, &m->l3_bytes, "larger than l2.bytes");
	if (m->l3_bytes && m->l3_inclusive && m->l3_bytes < m->l2_bytes * (m->topology_cores / m->l2_cores))
		return machine_wrong(r, &m->l3_bytes, "an inclusive L3 holds the L2s of all its cores");
	if (m->l2_bytes && m->l2_cycles <= m->l1d_cycles)
		return machine_wrong(r, &m->l2_cycles, "more than l1d.cycles");
	if (m->dtlb_ways > m->dtlb_entries || !power_of_two(sets_of(m->dtlb_entries * 64, m->dtlb_ways, 1)))
		return machine_wrong(r, &m->dtlb_entries, "entries / ways, the number of sets, is a power of two");
	if (m->stlb_entries && (m->stlb_ways > m->stlb_entries || !power_of_two(sets_of(m->stlb_entries * 64, m->stlb_ways, 1))))
		return machine_wrong(r, &m->stlb_entries, "entries / ways, the number of sets, is a power of two");
	if (m->l3_bytes && m->l3_core_cycles + (m->l3_uncore_cycles * m->clock_core_ratio + m->clock_uncore_ratio - 1) / m->clock_uncore_ratio <= m->l2_cycles)
		return machine_wrong(r, &m->l3_core_cycles, "with l3.uncore_cycles in core cycles more than l2.cycles");
	if (m->topology_sockets > 1 && m->dram_remote_ps < m->dram_local_ps)
		return machine_wrong(r, &m->dram_remote_ps, "at least dram.local_ps");
	if (m->dram_open_page && m->dram_page_hit_ps > m->dram_local_ps)
		return machine_wrong(r, &m->dram_page_hit_ps, "at most dram.local_ps");
	if (m->dram_page_bytes % 64)
		return machine_wrong(r, &m->dram_page_bytes, "a multiple of 64");
	return ST_OK;
}

/* Whether the geometry of an optional TLB is valid; with no more entries than ways it is fully associative. */
static bool sets_fit(uint64_t entries, uint64_t ways)
{
	return ways >= entries || power_of_two(sets_of(entries * 64, ways, 1));
}

static enum status check_tables(struct machine_reading *r)
{
	struct machine *m = r->m;
	const uint64_t *const powers[] = { &m->front_decode_bytes, &m->front_uop_cache_window, &m->predictor_entries, &m->predictor_targets, &m->predictor_indirect };
	for (unsigned i = 0; i < COUNT_OF(powers); i++)
		if (!power_of_two(*powers[i]))
			return machine_wrong(r, powers[i], "a power of two");
	if (!sets_fit(m->dtlb_large_entries, m->dtlb_large_ways))
		return machine_wrong(r, &m->dtlb_large_entries, "entries / ways, the number of sets, is a power of two");
	if (!sets_fit(m->itlb_entries, m->itlb_ways))
		return machine_wrong(r, &m->itlb_entries, "entries / ways, the number of sets, is a power of two");
	return ST_OK;
}

#define BOX(name) || str_equal(text, #name)
static bool uncore_known(const char *text)
{
	return str_equal(text, "none")
#include "pmu/sim/machine/boxes.def"
		;
}
#undef BOX

/* Checks the uncore's figures where it has boxes. */
static enum status check_boxes(struct machine_reading *r)
{
	const struct machine *m = r->m;
	if (str_equal(m->pmu_uncore, "boxes")) {
		if (m->topology_sockets > 8 || m->uncore_bus + (m->topology_sockets - 1) * m->uncore_bus_step > 255)
			return machine_wrong(r, &m->uncore_bus, "the last socket's bus is at most 255, the sockets at most 8");
		if (m->uncore_sbos == 3)
			return machine_wrong(r, &m->uncore_sbos, "2 or 4");
		if (m->uncore_home_agents > 2)
			return machine_wrong(r, &m->uncore_home_agents, "at most 2");
		if (m->l3_slices < 1 || m->l3_slices > 24)
			return machine_wrong(r, &m->l3_slices, "at most 24 with uncore boxes");
		if (m->dram_channels % m->uncore_home_agents || m->dram_channels / m->uncore_home_agents > 4)
			return machine_wrong(r, &m->dram_channels, "with uncore boxes up to 4 a home agent, as many for each");
	}
	if (str_equal(m->pmu_uncore, "mesh") && m->uncore_layout > 3)
		return machine_wrong(r, &m->uncore_layout, "at most 3 with a mesh");
	if (str_equal(m->pmu_uncore, "mesh") && m->uncore_layout) {
		const uint64_t most = m->uncore_layout == 1 ? 40 : 60;
		if (m->topology_sockets > 8 || m->uncore_bus + 1 + (m->topology_sockets - 1) * m->uncore_bus_step > 255)
			return machine_wrong(r, &m->uncore_bus, "the last socket's second bus is at most 255, the sockets at most 8");
		if (m->l3_slices < 1 || m->l3_slices > most)
			return machine_wrong(r, &m->l3_slices, "at most 40, or 60 with a discovery table");
		if (m->dram_channels % m->uncore_home_agents || m->dram_channels / m->uncore_home_agents > 4 || m->dram_channels > 8)
			return machine_wrong(r, &m->dram_channels, "with an uncore's mesh of this layout up to 8, as many for each home agent");
	} else if (str_equal(m->pmu_uncore, "mesh")) {
		if (m->uncore_home_agents > 2)
			return machine_wrong(r, &m->uncore_home_agents, "at most 2");
		if (m->topology_sockets > 8 || MESH_BUSES * m->uncore_bus + (m->topology_sockets - 1) * m->uncore_bus_step > 255 || MESH_BUSES * m->uncore_bus >= m->uncore_bus_step)
			return machine_wrong(r, &m->uncore_bus, "the last socket's fourth bus is at most 255, and those of a socket below the next one's; sockets at most 8");
		if (m->l3_slices < 1 || m->l3_slices > 28)
			return machine_wrong(r, &m->l3_slices, "at most 28 with an uncore's mesh");
		if (m->dram_channels % m->uncore_home_agents || m->dram_channels / m->uncore_home_agents > 3)
			return machine_wrong(r, &m->dram_channels, "with an uncore's mesh up to 3 a home agent, as many for each");
	}
	return ST_OK;
}

static enum status check_pmu(struct machine_reading *r)
{
	struct machine *m = r->m;
	if (!m->pmu_version && (m->pmu_general || m->pmu_fixed))
		return machine_wrong(r, m->pmu_general ? &m->pmu_general : &m->pmu_fixed, "0 where pmu.version is 0");
	if (m->dram_node_bytes < NODE_BYTES_LEAST + m->topology_sockets * m->topology_cores * m->topology_threads * (CONTROL_BYTES + DS_BYTES))
		return machine_wrong(r, &m->dram_node_bytes, "at least 16 MiB and, beyond these, 128 KiB for each logical processor");
	if (m->pmu_version && !m->pmu_general)
		return machine_wrong(r, &m->pmu_general, "at least 1 where there is a PMU");
	if (m->pmu_version == 1 && m->pmu_fixed)
		return machine_wrong(r, &m->pmu_fixed, "fixed counters came with version 2");
	if (m->pmu_pebs_format > 6 && m->pmu_pebs_format != 255)
		return machine_wrong(r, &m->pmu_pebs_format, "0 to 6 or 255");
	if (m->pmu_retire_latency && (m->pmu_pebs_format < 4 || m->pmu_pebs_format == 255))
		return machine_wrong(r, &m->pmu_retire_latency, "0 without adaptive records");
	if (m->pmu_metrics && (m->pmu_version < 5 || m->pmu_fixed < 4 || !m->pmu_capabilities || m->pmu_general > 8 || m->pmu_metrics % 4))
		return machine_wrong(r, &m->pmu_metrics, "0, 4 or 8, and 0 without pmu.capabilities, a fourth fixed counter, or before version 5");
	if (m->pmu_second_mask && (m->pmu_version < 5 || m->control_highest_leaf < 0x23))
		return machine_wrong(r, &m->pmu_second_mask, "0 before version 5 or without leaf 35");
	if (m->pmu_pebs_format != 255 && m->pmu_version < 2 && !m->pmu_netburst)
		return machine_wrong(r, &m->pmu_pebs_format, "PEBS of this model needs pmu.version 2 or later");
	if (m->pmu_pebs_format > 0 && m->pmu_pebs_format != 255 && !m->pmu_capabilities)
		return machine_wrong(r, &m->pmu_pebs_format, "formats above 0 are reported by pmu.capabilities = 1");
	if (m->pmu_load_latency && (m->pmu_pebs_format == 255 || m->pmu_pebs_format == 0))
		return machine_wrong(r, &m->pmu_load_latency, "needs PEBS record format 1 or later");
	if (m->pmu_full_width && !m->pmu_capabilities)
		return machine_wrong(r, &m->pmu_full_width, "is told by pmu.capabilities = 1");
	if (m->pmu_lbr_pairs && !power_of_two(m->pmu_lbr_pairs))
		return machine_wrong(r, &m->pmu_lbr_pairs, "a power of two");
	if (m->pmu_lbr_architectural && (m->pmu_amd || m->pmu_lbr_pairs < 8 || m->pmu_lbr_select || m->pmu_lbr_format != 63 || m->control_highest_leaf < 0x1C))
		return machine_wrong(r, &m->pmu_lbr_architectural, "needs 8, 16 or 32 pairs of Intel's, lbr_format = 63, lbr_select = 0 and leaf 28");
	if (m->pmu_amd && (m->pmu_version < 1 || m->pmu_version > 2))
		return machine_wrong(r, &m->pmu_version, "1 or 2 with pmu.amd");
	if (m->pmu_amd && m->pmu_fixed)
		return machine_wrong(r, &m->pmu_fixed, "0 with pmu.amd");
	if (m->pmu_amd && (m->pmu_pebs_format != 255 || m->pmu_capabilities || m->pmu_offcore_msrs))
		return machine_wrong(r, &m->pmu_amd, "has neither PEBS, IA32_PERF_CAPABILITIES nor registers of off-core responses");
	if (m->pmu_amd && m->pmu_lbr_pairs && (m->pmu_version < 2 || m->pmu_lbr_pairs > 16))
		return machine_wrong(r, &m->pmu_lbr_pairs, "at most 16, with pmu.version = 2, of pmu.amd");
	if (m->pmu_version && !m->pmu_amd && m->control_highest_leaf < 10)
		return machine_wrong(r, &m->control_highest_leaf, "at least 10 where there is a PMU");
	if (m->control_x2apic && m->control_highest_leaf < 11)
		return machine_wrong(r, &m->control_highest_leaf, "at least 11 with x2APIC");
	if (m->control_least_ratio > m->clock_core_ratio)
		return machine_wrong(r, &m->control_least_ratio, "at most clock.core_ratio");
	if (m->control_turbo_ratio && m->control_turbo_ratio < m->clock_core_ratio)
		return machine_wrong(r, &m->control_turbo_ratio, "0 or at least clock.core_ratio");
	if (m->fault_counter_stuck > m->pmu_general)
		return machine_wrong(r, &m->fault_counter_stuck, "at most pmu.general");
	if (m->fault_dead_core > m->topology_sockets * m->topology_cores * m->topology_threads)
		return machine_wrong(r, &m->fault_dead_core, "at most the number of logical processors");
	if (m->fault_dead_core == 1)
		return machine_wrong(r, &m->fault_dead_core, "core 0 runs the program: 0 or 2 and above");
	if (m->pmu_netburst && m->pmu_version)
		return machine_wrong(r, &m->pmu_version, "0 with pmu.netburst");
	if (!uncore_known(m->pmu_uncore))
		return machine_wrong(r, (const uint64_t *)(const void *)m->pmu_uncore, "none, socket, boxes, mesh, fabric or client");
	if (str_equal(m->pmu_uncore, "fabric") && (!m->pmu_amd || !m->l3_bytes || m->topology_sockets * m->topology_complexes > 16))
		return machine_wrong(r, (const uint64_t *)(const void *)m->pmu_uncore, "fabric needs an AMD PMU, an L3, and at most 16 complexes in all");
	if (str_equal(m->pmu_uncore, "client") && (m->topology_sockets > 1 || m->topology_complexes > 1 || !m->l3_bytes))
		return machine_wrong(r, (const uint64_t *)(const void *)m->pmu_uncore, "client needs one socket, one complex and an L3");
	if (m->uncore_window & 0x7FFF)
		return machine_wrong(r, &m->uncore_window, "a multiple of 32 KiB");
	return check_boxes(r);
}

/* Finds a map, beside the machine file or built in; `name`: the field of r->m that names it. */
static enum status find_map(struct machine_reading *r, const struct machine_beside *beside, const char *name, const struct machine_file *built_in,
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
	enum status st = machine_wrong(r, (const uint64_t *)(const void *)name, "no such map beside this file; built in are");
	for (unsigned i = 0; i < n; i++)
		text_fmt(&r->problem, " %s", built_in[i].name);
	return st;
}

static enum status check_map(struct machine_reading *r, const struct machine_beside *beside)
{
	struct machine *m = r->m;
	struct event_map map;
	enum status st = find_map(r, beside, m->pmu_events, machine_maps, machine_maps_count, &m->map);
	if (st == ST_OK)
		st = event_map_read(m->map.name, m->map.text, m->map.bytes, NULL, &map, r->problem.at, r->problem.capacity);
	if (st == ST_OK && map.units != (m->pmu_netburst != 0))
		return machine_wrong(r, (const uint64_t *)(const void *)m->pmu_events, map.units ? "a map with units needs pmu.netburst = 1" : "with pmu.netburst = 1 a map that names units");
	if (st || str_equal(m->pmu_uncore, "none"))
		return st;
	st = find_map(r, beside, m->pmu_uncore_events, machine_uncore_maps, machine_uncore_maps_count, &m->uncore_map);
	return st ? st : uncore_map_read(m->uncore_map.name, m->uncore_map.text, m->uncore_map.bytes, NULL, NULL, r->problem.at, r->problem.capacity);
}

enum status machine_check(struct machine_reading *r, const struct machine_beside *beside)
{
	enum status st = check_cores(r);
	if (!st)
		st = check_small(r);
	if (!st)
		st = check_nodes(r);
	if (!st)
		st = check_caches(r);
	if (!st)
		st = check_tables(r);
	if (!st)
		st = check_pmu(r);
	return st ? st : check_map(r, beside);
}
