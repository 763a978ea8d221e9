/* pmu/sim/counters/counter_events.c against libpfm4: every event of its Nehalem PMU has a row, and every row
 * of the maps is well formed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/pfmlib.h>

#include "pmu/sim/counters/counter_event.h"

static unsigned encoded, modelled;

static void hold(const char *name, const char *map)
{
	pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
	if (pfm_get_os_event_encoding(name, PFM_PLM0, PFM_OS_NONE, &arg) != PFM_SUCCESS)
		fail_msg("libpfm does not encode %s", name);
	const struct sim_event *rows[8];
	unsigned n = sim_event_find(map, (uint8_t)arg.codes[0], (uint8_t)(arg.codes[0] >> 8), rows);
	if (!n)
		fail_msg("%s (%04llx) is neither mapped nor listed as unmodelled", name, (unsigned long long)arg.codes[0] & 0xFFFF);
	encoded++;
	bool all = true;
	for (unsigned i = 0; i < n; i++)
		all = all && !(rows[i]->flags & EVENT_UNMODELLED);
	modelled += all;
	free(arg.codes);
}

static void hold_pmu(const char *pmu, const char *map)
{
	encoded = modelled = 0;
	for (int i = 0; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };
		if (pfm_get_pmu_info((pfm_pmu_t)i, &info) != PFM_SUCCESS || strcmp(info.name, pmu))
			continue;
		for (int e = info.first_event; e != -1; e = pfm_get_event_next(e)) {
			pfm_event_info_t event = { .size = sizeof(event) };
			assert_int_equal(pfm_get_event_info(e, PFM_OS_NONE, &event), PFM_SUCCESS);
			unsigned umasks = 0;
			char name[256];
			for (int a = 0; a < event.nattrs; a++) {
				pfm_event_attr_info_t attr = { .size = sizeof(attr) };
				assert_int_equal(pfm_get_event_attr_info(e, a, PFM_OS_NONE, &attr), PFM_SUCCESS);
				if (attr.type != PFM_ATTR_UMASK)
					continue;
				umasks++;
				snprintf(name, sizeof(name), "%s::%s:%s", pmu, event.name, attr.name);
				hold(name, map);
			}
			snprintf(name, sizeof(name), "%s::%s", pmu, event.name);
			if (!umasks)
				hold(name, map);
		}
	}
}

static void test_event_map_covers_libpfm_nehalem_and_core2(void **state)
{
	(void)state;
	hold_pmu("nhm", "nehalem");
	assert_int_equal(encoded, 342);
	assert_true(modelled > 200);
	hold_pmu("core", "core2");
	assert_true(encoded > 300);
}

static void test_event_maps_are_well_formed(void **state)
{
	(void)state;
	static const char *const maps[] = { "architectural", "core2", "nehalem", "haswell", "skylake" };
	for (unsigned m = 0; m < COUNT_OF(maps); m++) {
		unsigned n;
		const struct sim_event *rows = sim_event_map(maps[m], &n);
		assert_non_null(rows);
		for (unsigned i = 0; i < n; i++) {
			const struct sim_event *e = &rows[i];
			for (unsigned k = 0; k < i; k++)
				if (rows[k].select == e->select && rows[k].umask == e->umask)
					fail_msg("%s: %02x/%02x twice", maps[m], e->select, e->umask);
			bool special = e->flags & (EVENT_OFFCORE_0 | EVENT_OFFCORE_1 | EVENT_TAGGED | EVENT_RETIREMENT | EVENT_UNMODELLED);
			if (!special && !e->signal_count)
				fail_msg("%s: %s counts nothing and does not say so", maps[m], e->name);
			for (unsigned s = 0; s < e->signal_count && !(e->flags & EVENT_REQUESTS); s++)
				assert_in_range(e->signals[s], 0, SIG_COUNT - 1);
			if ((e->flags & (EVENT_TAGGED | EVENT_RETIREMENT)) && !e->precise)
				fail_msg("%s: %s is counted at retirement by no condition", maps[m], e->name);
		}
	}
	assert_null(sim_event_map("zen", &(unsigned){ 0 }));
}

static void test_event_find_takes_umasks_apart_where_bits_combine(void **state)
{
	(void)state;
	const struct sim_event *rows[8];
	assert_int_equal(sim_event_find("nehalem", 0xCB, 0x03, rows), 2);
	assert_string_equal(rows[0]->name, "MEM_LOAD_RETIRED.L1D_HIT");
	assert_string_equal(rows[1]->name, "MEM_LOAD_RETIRED.L2_HIT");
	assert_int_equal(sim_event_find("nehalem", 0x24, 0xAA, rows), 4);
	assert_int_equal(sim_event_find("nehalem", 0xA2, 0x06, rows), 0); /* cycles of two conditions do not add */
	assert_int_equal(sim_event_find("nehalem", 0xFF, 0x01, rows), 0);
	uint64_t listen[(SIG_COUNT + 63) / 64] = { 0 };
	assert_true(sim_offcore_signals("nehalem", 0x4001, listen)); /* demand data from local memory */
	for (unsigned s = 0; s < SIG_COUNT; s++)
		assert_int_equal(listen[s / 64] >> s % 64 & 1, s == SIG_OFFCORE_DATA_LOCAL_DRAM);
	assert_false(sim_offcore_signals("haswell", 0x400001, listen));
}

int main(void)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* PMUs of other processors too */
	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_map_covers_libpfm_nehalem_and_core2),
		cmocka_unit_test(test_event_maps_are_well_formed),
		cmocka_unit_test(test_event_find_takes_umasks_apart_where_bits_combine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
