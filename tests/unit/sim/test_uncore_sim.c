/* pmu/sim/uncore/uncore_nhm.c, box.c, uncore_tap.c: registers bit by bit, scope, counts against known traffic, the map
 * against libpfm4. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/pfmlib.h>

#include "pmu/sim/backend/sim.h"
#include "pmu/sim/machine/uncore_map.h"
#include "tests/unit/rigs/core_bench.h"
#include "asm/kernel.h"
#include "tests/unit/support/host_pages.h"
#include "tests/unit/support/sim_look.h"
#include "tests/unit/support/kernel_run.h"

struct rig { struct sim *sim; const struct access *a; struct mapping data, far; };

static struct rig rig_open(const struct machine *m)
{
	struct rig r = { .data = { .va = SPACE_DATA, .bytes = 16 * PAGE_2M, .page_bytes = PAGE_2M },
	                 .far = { .va = SPACE_DATA + PAGE_1G, .bytes = 16 * PAGE_2M, .page_bytes = PAGE_2M, .node = 1 } };
	assert_int_equal(sim_open(m, &host_pages, &r.sim), ST_OK);
	r.a = sim_access(r.sim);
	assert_int_equal(r.a->ops->map(r.a->self, &r.data), ST_OK);
	assert_int_equal(r.a->ops->map(r.a->self, &r.far), ST_OK);
	return r;
}

static enum status try(struct rig *r, unsigned core, uint32_t msr, uint64_t value) { return r->a->ops->wrmsr(r->a->self, core, msr, value); }

static void set(struct rig *r, unsigned core, uint32_t msr, uint64_t value)
{
	if (try(r, core, msr, value) != ST_OK)
		fail_msg("wrmsr %x = %llx", msr, (unsigned long long)value);
}

static uint64_t get(struct rig *r, unsigned core, uint32_t msr)
{
	uint64_t v = 0xDEAD;
	if (r->a->ops->rdmsr(r->a->self, core, msr, &v) != ST_OK)
		fail_msg("rdmsr %x", msr);
	return v;
}

static void run(struct rig *r, unsigned core, const char *kernel, uint64_t a0, uint64_t a1)
{
	(void)kernel_run(r->a, core, kernel, (const uint64_t[]){ a0, a1 }, 2);
}

/* Line i of the mapping points to line i + 1, the last one to itself. */
static void link_lines(struct mapping *m, unsigned lines)
{
	for (unsigned i = 0; i < lines; i++)
		*(uint64_t *)((uint8_t *)m->host + 64 * i) = m->va + 64 * (i + 1 < lines ? i + 1 : i);
}

static const char *last_finding(struct rig *r, enum finding_kind *kind)
{
	const struct sim_finding *last;
	const uint64_t n = sim_last_finding(r->sim, &last);
	if (kind && n)
		*kind = last->kind;
	return n ? last->why : NULL;
}

static void test_registers_keep_their_legal_bits_and_fault_on_the_others(void **state)
{
	(void)state;
	static const struct { uint32_t msr; uint64_t legal; } regs[] = {
		{ 0x391, 0x800F0001000000FFull }, { 0x395, 0x5 }, { 0x396, 0xE000FFFFFFFFFFF8ull }, { 0x301, 0xFF },
		{ 0x3C0, 0xFFD4FFFF }, { 0x3C7, 0xFFD4FFFF }, { 0x394, 0xFFFFFFFFFFFFull }, { 0x3B0, 0xFFFFFFFFFFFFull }, { 0x3B7, 0xFFFFFFFFFFFFull },
	};
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	for (unsigned i = 0; i < COUNT_OF(regs); i++)
		for (unsigned bit = 0; bit < 64; bit++) {
			const uint64_t v = 1ull << bit;
			const bool legal = regs[i].legal & v || ((regs[i].msr & ~7u) == 0x3C0 && bit == 17);
			if (try(&r, 0, regs[i].msr, v) != (legal ? ST_OK : ST_FAULT))
				fail_msg("%x bit %u", regs[i].msr, bit);
			if (legal && get(&r, 0, regs[i].msr) != (regs[i].legal & v) && !(regs[i].msr == 0x394 || (regs[i].msr & ~7u) == 0x3B0))
				fail_msg("%x bit %u does not stay", regs[i].msr, bit);
			set(&r, 0, 0x391, 0);
			set(&r, 0, regs[i].msr, 0);
		}
	assert_int_equal(try(&r, 0, 0x392, 0), ST_FAULT); /* read-only */
	assert_int_equal(get(&r, 0, 0x393), 0);
	assert_int_equal(try(&r, 0, 0x393, 1ull << 8), ST_FAULT);
	uint64_t v;
	assert_int_equal(r.a->ops->rdmsr(r.a->self, 0, 0x3B8, &v), ST_FAULT);
	assert_int_equal(r.a->ops->rdmsr(r.a->self, 0, 0x397, &v), ST_FAULT);
	/* a machine without an uncore PMU has none of them */
	sim_close(r.sim);
	strcpy(m.pmu_uncore, "none");
	r = rig_open(&m);
	assert_int_equal(r.a->ops->rdmsr(r.a->self, 0, 0x391, &v), ST_FAULT);
	assert_int_equal(try(&r, 0, 0x3C0, 0), ST_FAULT);
	sim_close(r.sim);
}

static void test_registers_belong_to_the_socket_and_overflow_at_48_bits(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	set(&r, 1, 0x3C2, 0x4000FF);
	assert_int_equal(get(&r, 3, 0x3C2), 0x4000FF);
	assert_int_equal(get(&r, 4, 0x3C2), 0);
	set(&r, 0, 0x395, 1);
	set(&r, 0, 0x394, 0xFFFFFFFFFFF0ull);
	set(&r, 0, 0x3B2, 0);
	assert_int_equal(get(&r, 0, 0x394), 0xFFFFFFFFFFF0ull); /* it does not count before the global control enables it */
	set(&r, 0, 0x391, 1ull << 32 | 4);
	assert_int_equal(get(&r, 0, 0x392), 0);
	link_lines(&r.data, 64);
	run(&r, 0, "k_chase", SPACE_DATA, 64);
	assert_true(get(&r, 0, 0x394) < 1u << 30);
	assert_true(get(&r, 0, 0x3B2) > 100);
	assert_int_equal(get(&r, 0, 0x392), 1ull << 32);
	assert_int_equal(get(&r, 4, 0x392), 0);
	set(&r, 0, 0x393, 1ull << 32);
	assert_int_equal(get(&r, 0, 0x392), 0);
	set(&r, 0, 0x391, 0);
	/* both counted the same clock while both were on */
	uint64_t fixed = get(&r, 0, 0x394) + 16, general = get(&r, 0, 0x3B2);
	assert_int_equal(fixed & 0xFFFFFFFFFFFFull, general);
	run(&r, 0, "k_chase", SPACE_DATA, 64);
	assert_int_equal(get(&r, 0, 0x3B2), general); /* off means off */
	sim_close(r.sim);
}

/* Reads of lines that no cache has: each is one insert, one miss, one read of its channel; the occupancy is
 * the machine's L3 lookup and memory beyond it. */
static void test_counts_are_the_traffic(void **state)
{
	(void)state;
	enum { LINES = 999 };
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	set(&r, 0, 0x1A4, 0xF);
	link_lines(&r.data, LINES);
	static const uint16_t events[8] = { 0x0102, 0x0103, 0x0203, 0x0109, 0x012C, 0x022C, 0x042C, 0x0308 };
	for (unsigned i = 0; i < 8; i++)
		set(&r, 0, 0x3C0 + i, 0x400000u | events[i]);
	run(&r, 0, "k_split_lock", SPACE_DATA + 8 * PAGE_2M, 1);
	for (unsigned i = 0; i < 8; i++)
		set(&r, 0, 0x3B0 + i, 0);
	uint64_t v[8], before[8];
	run(&r, 0, "k_chase", SPACE_DATA, 1); /* code and stack are cached from here on */
	run(&r, 0, "k_flush_chain", SPACE_DATA, LINES);
	set(&r, 0, 0x391, 0xFF);
	for (unsigned i = 0; i < 8; i++)
		before[i] = get(&r, 0, 0x3B0 + i);
	run(&r, 0, "k_chase", SPACE_DATA, LINES / 16);
	for (unsigned i = 0; i < 8; i++)
		v[i] = get(&r, 0, 0x3B0 + i) - before[i];
	const unsigned loads = LINES / 16 * 16;
	print_message("# %u loads: inserts %u, L3 misses %u, hits %u, channels %u %u %u, residence %u milli-uncore-cycles\n", loads,
	              (unsigned)v[1], (unsigned)v[3], (unsigned)v[7], (unsigned)v[4], (unsigned)v[5], (unsigned)v[6], (unsigned)(v[0] * 1000 / v[1]));
	assert_in_range(v[1], loads, loads + loads / 100);
	assert_in_range(v[2], loads, loads + loads / 100);
	assert_in_range(v[3], loads, loads + loads / 100);
	for (unsigned c = 4; c < 7; c++)
		assert_in_range(v[c], loads / 3 - 1, loads / 3 + loads / 300 + 1);
	const uint64_t expect = m.l3_uncore_cycles * 1000 + m.dram_local_ps * (m.uncore_hz / 1000000) / 1000;
	assert_in_range(v[0] * 1000 / v[1], expect * 99 / 100, expect * 101 / 100);
	sim_close(r.sim);
}

static void test_occupancy_without_a_bus_lock_is_wrong_and_flagged(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	enum finding_kind kind = FIND_COUNT;
	uint64_t wrong, right;
	set(&r, 0, 0x1A4, 0xF);
	link_lines(&r.data, 64);
	set(&r, 0, 0x3C0, 0x400102);
	set(&r, 0, 0x391, 1);
	assert_non_null(last_finding(&r, &kind));
	assert_int_equal(kind, FIND_SIMULATOR);
	run(&r, 0, "k_flush_chain", SPACE_DATA, 64);
	set(&r, 0, 0x3B0, 0);
	run(&r, 0, "k_chase", SPACE_DATA, 4);
	wrong = get(&r, 0, 0x3B0);
	set(&r, 0, 0x391, 0);
	run(&r, 0, "k_split_lock", SPACE_DATA + PAGE_2M, 1);
	set(&r, 0, 0x391, 1);
	run(&r, 0, "k_flush_chain", SPACE_DATA, 64);
	set(&r, 0, 0x3B0, 0);
	run(&r, 0, "k_chase", SPACE_DATA, 4);
	right = get(&r, 0, 0x3B0);
	print_message("# four times 16 loads from memory: %u without a bus lock, %u with one\n", (unsigned)wrong, (unsigned)right);
	assert_true(wrong > right + right / 2);
	/* the select's own reset bit does it as well, and reads 0 */
	set(&r, 0, 0x391, 0);
	set(&r, 0, 0x3C0, 0);
	set(&r, 0, 0x3C0, 0x420102);
	assert_int_equal(get(&r, 0, 0x3C0), 0x400102);
	set(&r, 0, 0x391, 1);
	run(&r, 0, "k_flush_chain", SPACE_DATA, 64);
	set(&r, 0, 0x3B0, 0);
	run(&r, 0, "k_chase", SPACE_DATA, 4);
	assert_in_range(get(&r, 0, 0x3B0), right - right / 100, right + right / 100);
	sim_close(r.sim);
}

/* cmask 1 of an occupancy is the busy event; a dependent chase holds one entry at a time. */
static void test_thresholds_apply_to_each_uncore_cycle(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	set(&r, 0, 0x1A4, 0xF);
	link_lines(&r.data, 256);
	static const uint32_t selects[5] = { 0x420102, 0x01420102, 0x02420102, 0x400101, 0x01460102 };
	for (unsigned i = 0; i < 5; i++)
		set(&r, 0, 0x3C0 + i, selects[i]);
	set(&r, 0, 0x3C5, 0x400103);
	run(&r, 0, "k_chase", SPACE_DATA, 16);
	run(&r, 0, "k_flush_chain", SPACE_DATA, 256);
	set(&r, 0, 0x391, 0x3F);
	run(&r, 0, "k_chase", SPACE_DATA, 16);
	set(&r, 0, 0x391, 0);
	const uint64_t sum = get(&r, 0, 0x3B0), busy = get(&r, 0, 0x3B1), two = get(&r, 0, 0x3B2), edges = get(&r, 0, 0x3B4), inserts = get(&r, 0, 0x3B5);
	assert_int_equal(busy, get(&r, 0, 0x3B3));
	assert_in_range(busy, sum * 98 / 100, sum);
	assert_true(two <= sum / 50);
	assert_in_range(edges, inserts * 97 / 100, inserts);
	sim_close(r.sim);
}

static void test_snoops_and_uncached_writes_are_told_to_the_home(void **state)
{
	(void)state;
	struct machine m = core_bench_machine("nehalem-ep");
	struct rig r = rig_open(&m);
	set(&r, 0, 0x1A4, 0xF);
	set(&r, 4, 0x1A4, 0xF);
	link_lines(&r.data, 256);
	/* socket 1 reads lines homed in socket 0, then socket 0 reads them: E becomes S there, forwarded */
	set(&r, 4, 0x301, 2);
	set(&r, 4, 0x3C0, 0x40040C); /* lines that become S, from the states in 0x301: E */
	set(&r, 4, 0x3C1, 0x400407); /* responses to a remote home: forwarded, kept in S */
	set(&r, 0, 0x396, 0x40001A0000000000ull);
	set(&r, 0, 0x3C0, 0x400235); /* RspFwdS of remote agents */
	run(&r, 4, "k_chase", SPACE_DATA, 15);
	set(&r, 4, 0x391, 3);
	set(&r, 0, 0x391, 1);
	run(&r, 0, "k_chase", SPACE_DATA, 15);
	assert_int_equal(get(&r, 4, 0x3B1), get(&r, 0, 0x3B0));
	assert_in_range(get(&r, 4, 0x3B0), 240, 260);
	assert_in_range(get(&r, 4, 0x3B1), 240, 260);
	/* opcodes that the model does not tell apart are flagged */
	enum finding_kind kind = FIND_COUNT;
	set(&r, 0, 0x396, 0x4000110000000000ull);
	last_finding(&r, &kind);
	assert_int_equal(kind, FIND_UNMODELLED);
	sim_close(r.sim);
}

static void test_map_covers_libpfm4(void **state)
{
	(void)state;
	unsigned encoded = 0, modelled = 0, n;
	struct machine m = core_bench_machine("nehalem-ep");
	void *at = calloc(1, uncore_map_load_bytes(&m));
	assert_int_equal(uncore_map_load(&m, at), ST_OK);
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	assert_int_equal(pfm_initialize(), PFM_SUCCESS);
	for (int i = 0; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };
		if (pfm_get_pmu_info((pfm_pmu_t)i, &info) != PFM_SUCCESS || strcmp(info.name, "nhm_unc"))
			continue;
		for (int e = info.first_event; e != -1; e = pfm_get_event_next(e)) {
			pfm_event_info_t event = { .size = sizeof(event) };
			assert_int_equal(pfm_get_event_info(e, PFM_OS_NONE, &event), PFM_SUCCESS);
			for (int a = -1; a < event.nattrs; a++) {
				pfm_event_attr_info_t attr = { .size = sizeof(attr) };
				pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
				const struct uncore_row *rows[8];
				char name[256];
				if (a >= 0 && (pfm_get_event_attr_info(e, a, PFM_OS_NONE, &attr) != PFM_SUCCESS || attr.type != PFM_ATTR_UMASK))
					continue;
				snprintf(name, sizeof(name), "nhm_unc::%s%s%s", event.name, a < 0 ? "" : ":", a < 0 ? "" : attr.name);
				if (pfm_get_os_event_encoding(name, PFM_PLM0, PFM_OS_NONE, &arg) != PFM_SUCCESS)
					continue;
				n = uncore_map_find(m.uncore, UNCORE_BOX_SOCKET, arg.codes[0] & 0xFF, (uint8_t)(arg.codes[0] >> 8), rows);
				if (!n)
					fail_msg("%s (%04llx) is neither mapped nor listed as unmodelled", name, (unsigned long long)arg.codes[0] & 0xFFFF);
				encoded++;
				modelled += rows[0]->how != UNCORE_UNMODELLED;
				free(arg.codes);
			}
		}
	}
	print_message("# libpfm4 nhm_unc: %u encodings known, %u of them modelled\n", encoded, modelled);
	assert_true(encoded >= 170 && modelled >= 80);
	for (unsigned i = 0; i < m.uncore->count; i++)
		for (unsigned k = 0; k < i; k++)
			if (m.uncore->rows[k].code == m.uncore->rows[i].code && m.uncore->rows[k].umask == m.uncore->rows[i].umask)
				fail_msg("%02x/%02x twice", m.uncore->rows[i].code, (unsigned)m.uncore->rows[i].umask);
	assert_int_equal(uncore_map_find(m.uncore, UNCORE_BOX_SOCKET, 0x29, 0x07, (const struct uncore_row *[8]){ 0 }), 0); /* cycles do not add */
	free(at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers_keep_their_legal_bits_and_fault_on_the_others),
		cmocka_unit_test(test_registers_belong_to_the_socket_and_overflow_at_48_bits),
		cmocka_unit_test(test_counts_are_the_traffic),
		cmocka_unit_test(test_occupancy_without_a_bus_lock_is_wrong_and_flagged),
		cmocka_unit_test(test_thresholds_apply_to_each_uncore_cycle),
		cmocka_unit_test(test_snoops_and_uncached_writes_are_told_to_the_home),
		cmocka_unit_test(test_map_covers_libpfm4),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
