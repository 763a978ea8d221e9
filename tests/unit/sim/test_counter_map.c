/* pmu/sim/machine/event_map.c and event_find.c: the built-in maps against libpfm4, and the problem that is reported for
 * each bad line of a map; off-core responses against perfmon's names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <perfmon/pfmlib.h>

#include "pmu/sim/machine/event_map.h"
#include "tables/processor.h"

static unsigned encoded, modelled;

/* Reads a built-in map. The caller frees *at. */
static struct event_map built_in(const char *name, void **at)
{
	struct event_map map;
	char problem[256] = "";
	for (unsigned i = 0; i < machine_maps_count; i++)
		if (!strcmp(machine_maps[i].name, name)) {
			*at = malloc(event_map_bytes(machine_maps[i].text, machine_maps[i].bytes));
			assert_non_null(*at);
			enum status st = event_map_read(name, machine_maps[i].text, machine_maps[i].bytes, *at, &map, problem, sizeof(problem));
			assert_string_equal(problem, "");
			assert_int_equal(st, ST_OK);
			return map;
		}
	fail_msg("no map %s", name);
	return (struct event_map){ 0 };
}

static void hold(const char *name, const struct event_map *map)
{
	pfm_pmu_encode_arg_t arg = { .size = sizeof(arg) };
	if (pfm_get_os_event_encoding(name, PFM_PLM0, PFM_OS_NONE, &arg) != PFM_SUCCESS)
		fail_msg("libpfm does not encode %s", name);
	const struct sim_event *rows[EVENT_ROWS];
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

static void hold_pmu(const char *pmu, const char *map_name)
{
	void *at;
	const struct event_map map = built_in(map_name, &at);
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
				hold(name, &map);
			}
			snprintf(name, sizeof(name), "%s::%s", pmu, event.name);
			if (!umasks)
				hold(name, &map);
		}
	}
	free(at);
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

static void test_event_maps_built_in_are_read_as_they_are_written(void **state)
{
	(void)state;
	assert_true(machine_maps_count >= 6);
	for (unsigned m = 0; m < machine_maps_count; m++) {
		void *at;
		const struct event_map map = built_in(machine_maps[m].name, &at);
		unsigned lines = 0;
		for (const char *s = machine_maps[m].text; *s; s = strchr(s, '\n') + 1)
			lines += *s != '#';
		assert_int_equal(map.count + 1, lines); /* and the line of the columns' names */
		assert_int_equal(map.units, !strcmp(machine_maps[m].name, "netburst"));
		for (unsigned i = 0; i < map.count; i++) {
			const struct sim_event *e = &map.rows[i];
			for (unsigned s = 0; s < e->signal_count && !(e->flags & EVENT_REQUESTS); s++)
				assert_in_range(e->signals[s], 0, SIG_COUNT - 1);
			assert_true(e->name[0]);
		}
		free(at);
	}
}

#define COLUMNS "# a map\nselect,umask,counters,flags,condition,name,signals\n"
#define UNITS "unit,select,mask,flags,condition,name,signals,why\n"
static const struct { const char *text, *problem; } bad[] = {
	{ "", "bad.map:1: no line names the columns" },
	{ "select,umask,code\n", "bad.map:1: 'code': no such column; columns are unit select" },
	{ "select,umask,select\n", "bad.map:1: 'select': this column is there twice" },
	{ "select,umask\n", "bad.map:1: the columns are select" },
	{ COLUMNS "0x01,0x01,0xF,exact,,A\n", "bad.map:3: fewer cells" },
	{ COLUMNS "0x01,0x01,0xF,exact,,A,CYCLES,\n", "bad.map:3: more cells" },
	{ COLUMNS "0x1000,0x01,0xF,exact,,A,CYCLES\n", "bad.map:3: select: '0x1000' is not a number from 0 to 0xFFF" },
	{ COLUMNS "0x01,x,0xF,exact,,A,CYCLES\n", "bad.map:3: umask: 'x' is not a number" },
	{ COLUMNS "0x01,0x10000,0xF,exact,,A,CYCLES\n", "bad.map:3: umask: '0x10000' is not a number from 0 to 0xFFFF" },
	{ COLUMNS "0x01,0x101,0xF,,,A,CYCLES\n0x101,0x01,0xF,,,B,CYCLES\n0x01,0x01,0xF,,,C,CYCLES\n0x01,0x101,0xF,,,D,CYCLES\n", "bad.map:6: an earlier line has the same code" },
	{ COLUMNS "0x01,0x01,0x1FF,exact,,A,CYCLES\n", "bad.map:3: counters: '0x1FF' is not a mask" },
	{ COLUMNS "0x01,0x01,0xF,exakt,,A,CYCLES\n", "bad.map:3: flags: 'exakt' is not a name" },
	{ COLUMNS "0x01,0x01,0xF,,load,A,CYCLES\n", "bad.map:3: condition: 'load' is not a name" },
	{ COLUMNS "0x01,0x01,0xF,,,A,CYCLE\n", "bad.map:3: signals: 'CYCLE' is not a name" },
	{ COLUMNS "0x01,0x01,0xF,,,A,CYCLES  BACLEAR\n", "bad.map:3: signals: '' is not a name" },
	{ COLUMNS "0x01,0x01,0xF,,,,CYCLES\n", "bad.map:3: name: missing" },
	{ COLUMNS "0x01,0x01,0xF,,,A,\n", "bad.map:3: signals: none" },
	{ COLUMNS "0x01,0x01,0xF,retirement,,A,\n", "bad.map:3: condition: missing" },
	{ COLUMNS "0x01,0x01,0xF,requests,,A,0x100\n", "bad.map:3: signals: '0x100' is not a mask of request types" },
	{ COLUMNS "0x01,0x01,0xF,,,A,CYCLES\n\n# the same\n1,1,0xF,,,B,CYCLES\n", "bad.map:6: an earlier line has the same code" },
	{ UNITS "CRU1,0x01,0,,,A,CYCLES,\n", "bad.map:2: unit: 'CRU1' is not a name" },
	{ UNITS "CRU0,0x01,16,,,A,CYCLES,\n", "bad.map:2: mask: '16' is not the number of a mask's bit" },
	{ UNITS "CRU0,0x01,x,,,A,CYCLES,\n", "bad.map:2: mask: 'x' is not the number" },
	{ UNITS "CRU0,0x01,2/1,,,A,CYCLES,\n", "bad.map:2: mask: '2/1' is not the number of a mask's bit, 0 to 15, nor VALUE/BITS" },
	{ UNITS "CRU0,0x01,1/0x10000,,,A,CYCLES,\n", "bad.map:2: mask: '1/0x10000' is not" },
	{ UNITS "CRU0,0x01,1/,,,A,CYCLES,\n", "bad.map:2: mask: '1/' is not" },
	{ UNITS "CRU0,0x01,1/1,unmodelled,,A,,\n", "bad.map:2: why: missing" },
	{ UNITS "CRU0,0x01,,escr1,,A,,\n", "bad.map:2: why: missing" },
	{ UNITS "CRU0,0x01,0,metric=1,,A,CYCLES,\n", "bad.map:2: flags: 'metric=1' is not metric=ENABLE/VERT" },
	{ UNITS "CRU0,0x01,0,metric=0/1,,A,CYCLES,\n", "bad.map:2: flags: 'metric=0/1' is not metric=ENABLE/VERT" },
	{ UNITS "CRU0,0x01,0,metric,,A,CYCLES,\n", "bad.map:2: flags: 'metric' is not metric=ENABLE/VERT" },
	{ UNITS "CRU0,0x01,0,beside=CRU1/0/1/1,,A,CYCLES,B\n", "bad.map:2: flags: 'CRU1' is not a name" },
	{ UNITS "CRU0,0x01,0,beside=CRU0/3/1/1,,A,CYCLES,B\n", "bad.map:2: flags: 'beside=CRU0/3/1/1' is not beside=UNIT/ESCR/SELECT/MASK" },
	{ UNITS "CRU0,0x01,0,beside=CRU0/any/same/1,,A,CYCLES,B\n", "bad.map:2: flags: 'beside=CRU0/any/same/1' is not beside=" },
	{ UNITS "CRU0,0x01,0,beside=CRU0/any/1/same/2,,A,CYCLES,B\n", "bad.map:2: flags: 'beside=CRU0/any/1/same/2' is not" },
	{ UNITS "CRU0,0x01,0,escr1=1,,A,CYCLES,B\n", "bad.map:2: flags: 'escr1=1' is not" },
	{ UNITS "RAT,0x01,0,tags_front_end,,A,CYCLES,\n", "bad.map:2: condition: missing" },
	{ UNITS "CRU0,0x01,0,,,A,CYCLES,\nCRU0,0x01,1/1,,,A,CYCLES,\nCRU0,1,0,,,A,CYCLES,\n", "bad.map:4: an earlier line has the same code" },
	{ COLUMNS "0x01,0x01,0xF,unless,,A,CYCLES\n", "bad.map:3: flags: 'unless' is not a name" },
	{ COLUMNS "0x120,0x01,0xF,exact,,A,CYCLES\n0x20,0x01,0xF,exact,,B,CYCLES\n0x120,0x01,0xF,exact,,C,CYCLES\n", "bad.map:5: an earlier line has the same code" },
	{ UNITS "CRU0,0x40,0,,,A,CYCLES,\n", "bad.map:2: select: more than 0x3F" },
};

static void test_event_map_bad_lines_name_line_column_and_what_is_allowed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < COUNT_OF(bad); i++) {
		char problem[256] = "";
		enum status st = event_map_read("bad.map", bad[i].text, strlen(bad[i].text), NULL, NULL, problem, sizeof(problem));
		if (!st || !strstr(problem, bad[i].problem))
			fail_msg("%u: '%s', not '%s'", i, problem, bad[i].problem);
	}
}

static void test_event_map_good_lines_may_end_in_cr_and_without_newline(void **state)
{
	(void)state;
	static const char text[] = "select,umask,counters,flags,condition,name,signals\r\n0x0B,0x10,0x7,tagged cycles,latency,A.B,\r\n"
		"12,3,0xF,,,C,L1I_HIT L1I_MISS";
	struct event_map map;
	char problem[256] = "";
	void *at = malloc(event_map_bytes(text, sizeof(text) - 1));
	assert_int_equal(event_map_read("good.map", text, sizeof(text) - 1, at, &map, problem, sizeof(problem)), ST_OK);
	assert_int_equal(map.count, 2);
	assert_int_equal(map.rows[0].select, 0x0B);
	assert_int_equal(map.rows[0].umask, 0x10);
	assert_int_equal(map.rows[0].counters, 7);
	assert_int_equal(map.rows[0].flags, EVENT_TAGGED | EVENT_CYCLES);
	assert_int_equal(map.rows[0].precise, PRECISE_LATENCY);
	assert_string_equal(map.rows[0].name, "A.B");
	assert_int_equal(map.rows[0].signal_count, 0);
	assert_int_equal(map.rows[1].select, 12);
	assert_int_equal(map.rows[1].signal_count, 2);
	assert_int_equal(map.rows[1].signals[0], SIG_L1I_HIT);
	assert_int_equal(map.rows[1].signals[1], SIG_L1I_MISS);
	assert_string_equal(map.rows[1].name, "C");
	free(at);
}

static void test_event_find_takes_umasks_apart_where_bits_combine(void **state)
{
	(void)state;
	void *at;
	const struct sim_event *rows[EVENT_ROWS];
	const struct event_map map = built_in("nehalem", &at);
	assert_int_equal(sim_event_find(&map, 0xCB, 0x03, rows), 2);
	assert_string_equal(rows[0]->name, "MEM_LOAD_RETIRED.L1D_HIT");
	assert_string_equal(rows[1]->name, "MEM_LOAD_RETIRED.L2_HIT");
	assert_int_equal(sim_event_find(&map, 0x24, 0xAA, rows), 4);
	assert_int_equal(sim_event_find(&map, 0xA2, 0x06, rows), 0); /* cycles of two conditions do not add */
	assert_int_equal(sim_event_find(&map, 0xFF, 0x01, rows), 0);
	free(at);
}

static void test_event_find_distinguishes_second_masks(void **state)
{
	(void)state;
	static const char text[] = "select,umask,counters,flags,condition,name,signals\n0x12,0x20,0xF,exact,,LOW,CYCLES\n0x12,0x320,0xF,exact,,BOTH,CYCLES\n"
		"0xC4,0x01,0xF,,,BACK,CYCLES\n0xC4,0x100,0xF,,,FORTH,CYCLES\n0xC4,0x8000,0xF,exact,,ALONE,CYCLES\n";
	static const struct { unsigned select, umask, rows; const char *first; } finds[] = {
		{ 0x12, 0x20, 1, "LOW" }, { 0x12, 0x320, 1, "BOTH" }, { 0x12, 0x300, 0, NULL }, { 0x12, 0x220, 0, NULL },
		{ 0xC4, 0x101, 2, "BACK" }, { 0xC4, 0x100, 1, "FORTH" }, { 0xC4, 0x8000, 1, "ALONE" }, { 0xC4, 0x8001, 0, NULL }, { 0xC4, 0x103, 0, NULL },
	};
	const struct sim_event *rows[EVENT_ROWS];
	struct machine with = { .pmu_second_mask = 1 }, without = { .pmu_second_mask = 0 };
	struct event_map map;
	char problem[256] = "";
	void *at = malloc(event_map_bytes(text, sizeof(text) - 1));
	assert_int_equal(event_map_read("two.map", text, sizeof(text) - 1, at, &map, problem, sizeof(problem)), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(finds); i++) {
		if (sim_event_find(&map, finds[i].select, finds[i].umask, rows) != finds[i].rows)
			fail_msg("0x%X,0x%X: not %u rows", finds[i].select, finds[i].umask, finds[i].rows);
		if (finds[i].first)
			assert_string_equal(rows[0]->name, finds[i].first);
	}
	free(at);
	assert_int_equal(sim_event_umask(&with, 0xA5C3FF40EF12ull), 0xA5EF);
	assert_int_equal(sim_event_umask(&without, 0xA5C3FF40EF12ull), 0xEF);
	assert_int_equal(sim_event_code(&with, 0xA5C3FF40EF12ull), 0xA5EF12);
}

static void listens(const struct machine *m, uint64_t value, unsigned only)
{
	uint64_t listen[(SIG_COUNT + 63) / 64] = { 0 };
	assert_true(sim_offcore_signals(m, value, listen));
	for (unsigned s = 0; s < SIG_COUNT; s++)
		assert_int_equal(listen[s / 64] >> s % 64 & 1, s == only);
}

static void test_offcore_response_follows_the_machines_fields(void **state)
{
	(void)state;
	static struct machine m; /* pmu.offcore_format = 0 */
	uint64_t listen[(SIG_COUNT + 63) / 64] = { 0 };
	listens(&m, 0x4001, SIG_OFFCORE_DATA_LOCAL_DRAM);
	listens(&m, 0x4080, SIG_OFFCORE_OTHER_LOCAL_DRAM);
	m.pmu_offcore_nt_clean = 1;
	listens(&m, 0x4001, SIG_OFFCORE_DATA_LOCAL_DRAM);
	listens(&m, 0x4080, SIG_OFFCORE_OTHER_OTHER_CORE_HIT);
	m.pmu_offcore_format = 1;
	assert_false(sim_offcore_signals(&m, 0x400001, listen));
	assert_true(sim_offcore_signals(&m, 0x10001, listen));
	for (m.pmu_offcore_format = 2; m.pmu_offcore_format <= 3; m.pmu_offcore_format++) {
		listens(&m, m.pmu_offcore_format == 2 ? 0x600400001 : 0x604000001, SIG_OFFCORE_DATA_LOCAL_DRAM);
		listens(&m, m.pmu_offcore_format == 2 ? 0x63F800001 : 0x63B800001, SIG_OFFCORE_DATA_REMOTE_DRAM);
		/* beside data reads: lines written back, reserved, others; locks alone; no response */
		static const uint64_t unknown[] = { 0x10009, 0x11001, 0x18001, 0x10400, 0x1 };
		for (unsigned i = 0; i < COUNT_OF(unknown); i++)
			assert_false(sim_offcore_signals(&m, unknown[i], listen));
	}
}

/* ---- off-core responses by perfmon's names -------------------------------------------------- */

/* The words of perfmon's names, and the signals that they mean: requests by row and responses by column of OFFCORE_ROW (signals.def). */
#define DATA  0x01u
#define RFO   0x02u
#define CODE  0x04u
#define PF_DATA 0x10u
#define PF_RFO  0x20u
#define PF_CODE 0x40u
#define OTHER 0x80u
#define UNMODELLED 0x100u /* the whole event is */
static const struct word { const char *name; unsigned set; } requests[] = {
	{ "DEMAND_DATA_RD", DATA }, { "DEMAND_RFO", RFO }, { "DEMAND_CODE_RD", CODE },
	{ "PF_L2_DATA_RD", PF_DATA }, { "PF_L2_RFO", PF_RFO }, { "PF_L2_CODE_RD", PF_CODE },
	{ "PF_LLC_DATA_RD", 0 }, { "PF_LLC_RFO", 0 }, { "PF_LLC_CODE_RD", 0 }, { "PF_L3_DATA_RD", 0 }, { "PF_L3_RFO", 0 },
	{ "ALL_PF_DATA_RD", PF_DATA }, { "ALL_PF_RFO", PF_RFO },
	{ "ALL_DATA_RD", DATA | PF_DATA }, { "ALL_RFO", RFO | PF_RFO }, { "ALL_CODE_RD", CODE | PF_CODE },
	{ "ALL_READS", DATA | RFO | CODE | PF_DATA | PF_RFO | PF_CODE },
	{ "ALL_DEMAND_MLC_PREF_READS", DATA | RFO | CODE | PF_DATA | PF_RFO | PF_CODE },
	{ "STREAMING_STORES", OTHER },
	{ "ALL_REQUESTS", UNMODELLED }, { "COREWB", UNMODELLED }, { "OTHER", UNMODELLED }, { "SPLIT_LOCK_UC_LOCK", UNMODELLED }, { "PF_L1D_AND_SW", UNMODELLED },
};
#define L3          0x07u
#define CLEAN       0x02u
#define MODIFIED    0x04u
#define REMOTE_M    0x08u
#define REMOTE_C    0x10u
#define REMOTE_DRAM 0x20u
#define LOCAL_DRAM  0x40u
static const struct word answers[] = {
	{ "ANY_RESPONSE", 0xFF },
	{ "LLC_HIT.ANY_RESPONSE", L3 }, { "L3_HIT.ANY_SNOOP", L3 },
	{ "LLC_HIT.NO_SNOOP_NEEDED", 1 }, { "L3_HIT.NO_SNOOP_NEEDED", 1 }, { "LLC_HIT.SNOOP_MISS", 1 },
	{ "LLC_HIT.HIT_OTHER_CORE_NO_FWD", CLEAN }, { "L3_HIT.HIT_OTHER_CORE_NO_FWD", CLEAN },
	{ "L3_HIT.HIT_OTHER_CORE_FWD", 0 }, { "L3_HIT.SNOOP_HIT_WITH_FWD", 0 }, /* the L3's copy is taken */
	{ "LLC_HIT.HITM_OTHER_CORE", MODIFIED }, { "L3_HIT.HITM_OTHER_CORE", MODIFIED },
	{ "LLC_MISS.ANY_RESPONSE", REMOTE_M | REMOTE_C | REMOTE_DRAM | LOCAL_DRAM }, { "L3_MISS.ANY_SNOOP", REMOTE_M | REMOTE_C | REMOTE_DRAM | LOCAL_DRAM },
	{ "LLC_MISS.ANY_DRAM", REMOTE_DRAM | LOCAL_DRAM }, { "L3_MISS.SNOOP_MISS_OR_NO_FWD", REMOTE_DRAM | LOCAL_DRAM },
	{ "LLC_MISS.LOCAL_DRAM", LOCAL_DRAM }, { "L3_MISS_LOCAL_DRAM.SNOOP_MISS_OR_NO_FWD", LOCAL_DRAM },
	{ "LLC_MISS.REMOTE_DRAM", REMOTE_DRAM }, { "L3_MISS_REMOTE_DRAM.SNOOP_MISS_OR_NO_FWD", REMOTE_DRAM },
	{ "LLC_MISS.REMOTE_HITM", REMOTE_M }, { "L3_MISS.REMOTE_HITM", REMOTE_M },
	{ "LLC_MISS.REMOTE_HIT_FORWARD", REMOTE_C }, { "L3_MISS.REMOTE_HIT_FORWARD", REMOTE_C },
	{ "LLC_MISS.REMOTE_HITM_HIT_FORWARD", REMOTE_M | REMOTE_C },
};

static unsigned meaning(const struct word *words, unsigned count, const char *event, const char *name, size_t length)
{
	for (unsigned i = 0; i < count; i++)
		if (strlen(words[i].name) == length && !memcmp(words[i].name, name, length))
			return words[i].set;
	fail_msg("%s: no word for %.*s", event, (int)length, name);
	return 0;
}

static void hold_responses(const char *name, unsigned least)
{
	static struct machine m;
	char problem[256] = "";
	unsigned compared = 0;
	const struct machine_file *file = machine_builtin(name);
	assert_non_null(file);
	assert_int_equal(machine_read(file->name, file->text, file->bytes, &m, problem, sizeof(problem)), ST_OK);
	const struct processor *p = processors;
	while (strcmp(p->name, name))
		assert_true(++p < processors + processor_count);
	for (unsigned i = 0; i < p->event_count; i++) {
		const struct event *e = &p->events[i];
		const char *request = e->name + strlen("OFFCORE_RESPONSE.");
		if (strncmp(e->name, "OFFCORE_RESPONSE.", strlen("OFFCORE_RESPONSE.")))
			continue;
		if (e->extra_value == 0x105B3) /* Sandy Bridge-EP's ALL_DATA_RD.ANY_RESPONSE has requests for ownership too */
			continue;
		assert_int_equal(e->extra_msr, 0x1A6);
		const char *dot = strchr(request, '.');
		assert_non_null(dot);
		const unsigned asked = meaning(requests, COUNT_OF(requests), e->name, request, (size_t)(dot - request));
		uint64_t listen[(SIG_COUNT + 63) / 64] = { 0 };
		const bool known = sim_offcore_signals(&m, e->extra_value, listen);
		if (known != !(asked & UNMODELLED))
			fail_msg("%s: %s (%llx) is %s", name, e->name, (unsigned long long)e->extra_value, known ? "modelled" : "not modelled");
		if (!known)
			continue;
		const unsigned answered = meaning(answers, COUNT_OF(answers), e->name, dot + 1, strlen(dot + 1));
		for (unsigned s = 0; s < SIG_COUNT; s++) {
			const unsigned n = s - SIG_OFFCORE_DATA_UNCORE_HIT;
			const bool expected = n < 64 && (asked >> n / 8 & 1) && (answered >> n % 8 & 1), listens = listen[s / 64] >> s % 64 & 1;
			if (expected != listens)
				fail_msg("%s: %s (%llx) %s request %u, response %u", name, e->name, (unsigned long long)e->extra_value,
				         listens ? "counts" : "misses", n / 8, n % 8);
		}
		compared++;
	}
	fprintf(stderr, "%s: %u off-core responses\n", name, compared);
	assert_true(compared >= least);
}

static void test_offcore_response_counts_what_perfmons_name_says(void **state)
{
	(void)state;
	hold_responses("sandy-bridge-ep", 60);
	hold_responses("haswell-ep", 47);
	hold_responses("broadwell-ep", 29);
	hold_responses("skylake-sp", 133);
}

static void test_offcore_response_tells_the_nodes_of_a_socket_apart(void **state)
{
	(void)state;
	static struct machine m;
	m.pmu_offcore_format = 3; /* the values are perfmon's of Sapphire Rapids */
	m.topology_nodes = 4;
	listens(&m, 0x104000001, SIG_OFFCORE_DATA_LOCAL_DRAM); /* LOCAL_DRAM: of the near cluster alone */
	listens(&m, 0x708000001, SIG_OFFCORE_DATA_NEAR_DRAM);  /* SNC_DRAM */
	listens(&m, 0x730000001, SIG_OFFCORE_DATA_REMOTE_DRAM); /* REMOTE_DRAM */
	listens(&m, 0x808000001, SIG_OFFCORE_DATA_NEAR_FORWARD); /* SNC_CACHE.HIT_WITH_FWD */
	listens(&m, 0x1008000002, SIG_OFFCORE_RFO_NEAR_HITM);  /* SNC_CACHE.HITM */
	m.topology_nodes = 1; /* bit 27 is one of another socket's */
	listens(&m, 0x708000001, SIG_OFFCORE_DATA_REMOTE_DRAM);
}

int main(void)
{
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1); /* PMUs of other processors too */
	if (pfm_initialize() != PFM_SUCCESS)
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event_map_covers_libpfm_nehalem_and_core2),
		cmocka_unit_test(test_event_maps_built_in_are_read_as_they_are_written),
		cmocka_unit_test(test_event_map_bad_lines_name_line_column_and_what_is_allowed),
		cmocka_unit_test(test_event_map_good_lines_may_end_in_cr_and_without_newline),
		cmocka_unit_test(test_event_find_takes_umasks_apart_where_bits_combine),
		cmocka_unit_test(test_event_find_distinguishes_second_masks),
		cmocka_unit_test(test_offcore_response_follows_the_machines_fields),
		cmocka_unit_test(test_offcore_response_counts_what_perfmons_name_says),
		cmocka_unit_test(test_offcore_response_tells_the_nodes_of_a_socket_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
