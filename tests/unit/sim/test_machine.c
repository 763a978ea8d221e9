/* pmu/sim/machine/machine.c: built-in machines are valid, each bad line is reported in one line, FORMAT.md lists every field. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/sim/machine/machine.h"
#include "tests/unit/support/sim_names.h"

/* The shortest valid machine file. */
#define LEAST "[cpuid]\nfamily = 6\nmodel = 26\n[clock]\nbus_hz_times_3 = 400000000\ncore_ratio = 22\nuncore_ratio = 20\ntsc_ratio = 22\n"

static enum status read_text(const char *text, struct machine *m, char *problem, size_t capacity)
{
	return machine_read("dir/my-machine.machine", text, strlen(text), m, problem, capacity);
}

static void test_machine_built_in_files_are_valid_and_complete(void **state)
{
	(void)state;
	assert_true(machine_files_count >= 1);
	for (unsigned i = 0; i < machine_files_count; i++) {
		static struct machine m;
		char problem[512] = "";
		enum status st = machine_read(machine_files[i].name, machine_files[i].text, machine_files[i].bytes,
		                              &m, problem, sizeof(problem));
		assert_string_equal(problem, "");
		assert_int_equal(st, ST_OK);
		assert_string_equal(m.name, machine_files[i].name);
		assert_ptr_equal(machine_builtin(m.name), &machine_files[i]);
	}
	assert_null(machine_builtin("no-such-machine"));
}

static void test_machine_presets_clocks_and_name(void **state)
{
	(void)state;
	static struct machine m;
	char problem[512] = "";
	enum status st = read_text(LEAST "[exec]\nfp_div64 = 22 0 22\nint=1 015 1\nnop = 0 - 0\n[l1d]\ncycles = unknown\n", &m, problem, sizeof(problem));
	assert_string_equal(problem, "");
	assert_int_equal(st, ST_OK);
	assert_string_equal(m.name, "my-machine");
	assert_int_equal(m.l1d_cycles, 4);
	assert_int_equal(m.exec[UC_FP_DIV64].busy, 22);
	assert_int_equal(m.exec[UC_INT].port_mask, 0x23);
	assert_int_equal(m.exec[UC_NOP].port_mask, 0);
	/* lcm(22, 20, 22) = 220 ticks a bus clock */
	assert_int_equal(m.tick_per_core_cycle, 10);
	assert_int_equal(m.tick_per_uncore_cycle, 11);
	assert_int_equal(m.tick_per_tsc, 10);
	assert_int_equal(m.core_hz, 2933333333u);
	assert_int_equal(m.uncore_hz, 2666666666u);
}

static void test_machine_each_error_names_line_key_and_what_is_allowed(void **state)
{
	(void)state;
	/* LEAST has 8 lines */
	static const struct { const char *text; enum status st; const char *problem; } rows[] = {
		{ LEAST "[l1d]\nbytes = 1\n", ST_RANGE, ":10: l1d.bytes: '1' is not a number from 1024 to 1048576 nor 'unknown'" },
		{ LEAST "[l1d]\nbytes = 32K\n", ST_SYNTAX, ":10: l1d.bytes: '32K' is not a number from 1024" },
		{ LEAST "[l1d]\nbytes =\n", ST_SYNTAX, ":10: l1d.bytes: '' is not a number" },
		{ LEAST "[l1d]\nsize = 1\n", ST_MISSING, ":10: l1d.size: no such key; known are bytes ways cycles" },
		{ LEAST "[level]\nsize = 1\n", ST_MISSING, ":10: [level]: no such section; known are exec machine cpuid" },
		{ "size = 1\n" LEAST, ST_MISSING, ":1: 'size' stands before any section" },
		{ LEAST "[dram]\nnode_bytes = 16777216\n", ST_RANGE, ":10: dram.node_bytes: at least 16 MiB and, beyond these, 128 KiB for each logical processor" },
		{ "[cpuid]\nfamily = 6\n[clock]\nbus_hz_times_3 = 3\n", ST_MISSING, ":2: cpuid.model: must be given" },
		{ LEAST "[l1d]\nways = 8\n\nways = 8\n", ST_SYNTAX, ":12: l1d.ways: given twice, first in line 10" },
		{ LEAST "nonsense\n", ST_SYNTAX, ":9: a line reads key = value" },
		{ LEAST "[nonsense\n", ST_SYNTAX, ":9: a section reads [name]" },
		{ LEAST "[l1d]\nways = 7\n", ST_RANGE, "l1d.bytes: bytes / (64 * ways), the number of sets, is a power of two" },
		{ LEAST "[l2]\nbytes = 16384\n", ST_RANGE, ":10: l2.bytes: larger than l1d.bytes" },
		{ LEAST "[l2]\ncycles = 4\n", ST_RANGE, ":10: l2.cycles: more than l1d.cycles" },
		{ LEAST "[l3]\nbytes = 262144\n", ST_RANGE, ":10: l3.bytes: larger than l2.bytes" },
		{ LEAST "[l3]\nbytes = 524288\n[topology]\ncores=4\n", ST_RANGE, ":10: l3.bytes: an inclusive L3 holds the L2s" },
		{ LEAST "[l3]\nbytes = 3145728\n", ST_RANGE, ":10: l3.bytes: bytes / (64 * ways * slices)" },
		{ LEAST "[topology]\nsockets=8\ncores=64\nthreads=2\n", ST_RANGE, ":11: topology.cores: sockets * cores * threads is at most 512" },
		{ LEAST "[core]\nrs = 200\n", ST_RANGE, ":10: core.rs: at most core.rob" },
		{ LEAST "[core]\nports = 3\n", ST_RANGE, ":10: exec.int: is not given and its preset needs a port beyond core.ports, ports are 0 to 2" },
		{ LEAST "[exec]\nint = 1 7 1\n", ST_RANGE, ":10: exec.int: names a port beyond core.ports, ports are 0 to 5" },
		{ LEAST "[exec]\nint = 1 10 1\n", ST_SYNTAX, ":10: exec.int: '1 10 1' is not 'LATENCY PORTS BUSY'" },
		{ LEAST "[exec]\nint = 1 0 1 1\n", ST_SYNTAX, ":10: exec.int: '1 0 1 1' is not 'LATENCY PORTS BUSY'" },
		{ LEAST "[exec]\nint = 1 0\n", ST_SYNTAX, ":10: exec.int: '1 0' is not 'LATENCY PORTS BUSY'" },
		{ LEAST "[exec]\nfpdiv = 1 0 1\n", ST_MISSING, ":10: exec.fpdiv: no such class; known are nop int shift" },
		{ LEAST "[exec]\nint = 1 0 1\nint = 1 0 1\n", ST_SYNTAX, ":11: exec.int: given twice, first in line 10" },
		{ "[cpuid]\nfamily = 6\nmodel = 26\n", ST_MISSING, ":3: clock.bus_hz_times_3: must be given, a number from 1 to 3000000000" },
		{ "[cpuid]\nfamily = unknown\n", ST_RANGE, ":2: cpuid.family: must be known" },
		{ LEAST "[cpuid]\nvendor = Intel\n", ST_RANGE, ":10: cpuid.vendor: CPUID vendor has exactly 12 letters" },
		{ LEAST "[machine]\nbrand = 0123456789012345678901234567890123456789012345678\n", ST_RANGE, ":10: machine.brand: a CPUID brand string has at most 47 letters" },
		{ LEAST "[machine]\nbrand = 01234567890123456789012345678901234567890123456789012345678901234\n", ST_RANGE, ":10: machine.brand: too long, at most 63 bytes" },
		{ LEAST "[machine]\nbrand = caf\xc3\xa9\n", ST_SYNTAX, ":10: machine.brand: byte 4 is not printable ASCII" },
		{ LEAST "[pmu]\nversion = 0\n", ST_RANGE, "pmu.general: 0 where pmu.version is 0" },
		{ LEAST "[pmu]\npebs_format = 7\n", ST_RANGE, ":10: pmu.pebs_format: 0 to 6 or 255" },
		{ LEAST "[pmu]\nsecond_mask = 1\n", ST_RANGE, ":10: pmu.second_mask: 0 before version 5 or without leaf 35" },
		{ LEAST "[control]\nhighest_leaf = 35\n[pmu]\nsecond_mask = 1\n", ST_RANGE, ":12: pmu.second_mask: 0 before version 5" },
		{ LEAST "[pmu]\nversion = 5\nsecond_mask = 1\n", ST_RANGE, ":11: pmu.second_mask: 0 before version 5 or without leaf 35" },
		{ LEAST "[pmu]\nretire_latency = 1\n", ST_RANGE, ":10: pmu.retire_latency: 0 without adaptive records" },
		{ LEAST "[topology]\nsmall_cores = 4\n", ST_RANGE, ":10: topology.small_cores: 0 where topology.small is none, else at least 1" },
		{ LEAST "[pmu]\nload_latency = 1\n", ST_RANGE, ":10: pmu.load_latency: needs PEBS record format 1 or later" },
		{ LEAST "[pmu]\nevents = zen\n", ST_RANGE, ":10: pmu.events: no such map beside this file; built in are alder-lake-e alder-lake-p architectural" },
		{ LEAST "[pmu]\nevents = netburst\n", ST_RANGE, ":10: pmu.events: a map with units needs pmu.netburst = 1" },
		{ LEAST "[pmu]\nversion = 0\ngeneral = 0\nfixed = 0\nnetburst = 1\n", ST_RANGE, ": pmu.events: with pmu.netburst = 1 a map that names units" },
		{ LEAST "[fault]\ncounter_stuck = 5\n", ST_RANGE, ":10: fault.counter_stuck: at most pmu.general" },
		{ LEAST "[fault]\ndead_core = 1\n", ST_RANGE, ":10: fault.dead_core: " },
		{ LEAST "[dram]\nremote_ps = 50000\n[topology]\nsockets = 2\n", ST_RANGE, ":10: dram.remote_ps: at least dram.local_ps" },
		{ LEAST "[front]\ndecode_bytes = 24\n", ST_RANGE, ":10: front.decode_bytes: a power of two" },
		{ LEAST "[predictor]\nentries = 1000\n", ST_RANGE, ":10: predictor.entries: a power of two" },
		{ LEAST "[itlb]\nentries = 48\n", ST_RANGE, ":10: itlb.entries: entries / ways, the number of sets, is a power of two" },
		{ LEAST "[dtlb]\nlarge_entries = 33\n", ST_RANGE, ":10: dtlb.large_entries: entries / ways, the number of sets, is a power of two" },
		{ LEAST "[dram]\npage_bytes = 100\n", ST_RANGE, ":10: dram.page_bytes: a multiple of 64" },
		{ LEAST "[dram]\nopen_page = 1\npage_hit_ps = 60001\n", ST_RANGE, ":11: dram.page_hit_ps: at most dram.local_ps" },
		{ LEAST "[l3]\nbytes = 8388608\ncore_cycles = 4\nuncore_cycles = 5\n", ST_RANGE, ":11: l3.core_cycles: with l3.uncore_cycles in core cycles more than l2.cycles" },
		{ LEAST "[control]\nturbo_ratio = 21\n", ST_RANGE, ":10: control.turbo_ratio: 0 or at least clock.core_ratio" },
	};
	for (unsigned i = 0; i < COUNT_OF(rows); i++) {
		static struct machine m;
		char problem[1024] = "";
		enum status st = read_text(rows[i].text, &m, problem, sizeof(problem));
		if (!strstr(problem, rows[i].problem) || strncmp(problem, "dir/my-machine.machine:", 23) || strchr(problem, '\n'))
			fail_msg("row %u: \"%s\" has not \"%s\"", i, problem, rows[i].problem);
		assert_int_equal(st, rows[i].st);
	}
}

/* A folder with one map. */
static bool find_map(void *self, const char *name, struct machine_file *map)
{
	const struct machine_file *one = self;
	*map = *one;
	return !strcmp(name, one->name);
}

static void test_machine_event_map_beside_comes_before_the_built_in_one(void **state)
{
	(void)state;
	static const char good[] = "select,umask,counters,flags,condition,name,signals\n0x3C,0x00,0xF,,,CORE_CYCLES,CYCLES\n";
	static const char wrong[] = "select,umask,counters,flags,condition,name,signals\n0x3C,0x00,0xF,,,CORE_CYCLES,CLOCKS\n";
	static const char text[] = LEAST "[pmu]\nevents = nehalem\n";
	static struct machine built_in, m;
	char problem[256] = "";
	assert_int_equal(machine_read("m.machine", text, sizeof(text) - 1, &built_in, problem, sizeof(problem)), ST_OK);
	struct machine_file file = { "nehalem", good, sizeof(good) - 1 };
	const struct machine_beside beside = { &file, find_map };
	assert_int_equal(machine_read_beside("m.machine", text, sizeof(text) - 1, &beside, &m, problem, sizeof(problem)), ST_OK);
	assert_ptr_equal(m.map.text, good);
	assert_true(m.text_hash != built_in.text_hash); /* so it counts as another machine */
	file.text = wrong;
	file.bytes = sizeof(wrong) - 1;
	assert_int_equal(machine_read_beside("m.machine", text, sizeof(text) - 1, &beside, &m, problem, sizeof(problem)), ST_SYNTAX);
	assert_non_null(strstr(problem, "nehalem:2: signals: 'CLOCKS' is not a name"));
	problem[0] = 0;
	file.name = "other";
	assert_int_equal(machine_read_beside("m.machine", text, sizeof(text) - 1, &beside, &m, problem, sizeof(problem)), ST_OK);
	assert_ptr_equal(m.map.text, built_in.map.text);
	assert_int_equal(m.text_hash, built_in.text_hash);
}

static void test_machine_every_class_has_a_name_of_its_own(void **state)
{
	(void)state;
	for (unsigned c = 0; c < UC_COUNT; c++) {
		assert_non_null(machine_class_name(c));
		for (unsigned d = 0; d < c; d++)
			assert_string_not_equal(machine_class_name(c), machine_class_name(d));
	}
	assert_null(machine_class_name(UC_COUNT));
}

/* The page's expected rows, as tables: the compiler gets data, not a function of a thousand calls. */
static const struct number { const char *section, *name; uint64_t low, high, preset; const char *what; } numbers[] = {
#define NUMBER(section, name, low, high, pre, what) { #section, #name, low, high, (uint64_t)(pre), what },
#define TEXT(section, name, pre, what)
#include "pmu/sim/machine/machine.def"
#undef NUMBER
#undef TEXT
};
static const struct text { const char *section, *name, *preset, *what; } texts[] = {
#define NUMBER(section, name, low, high, pre, what)
#define TEXT(section, name, pre, what) { #section, #name, pre, what },
#include "pmu/sim/machine/machine.def"
#undef NUMBER
#undef TEXT
};
static const struct class { const char *name; int latency, mask, busy; } classes[] = {
#define CLASS(id, name, latency, mask, busy) { #name, latency, mask, busy },
#include "pmu/sim/machine/machine_class.def"
#undef CLASS
};
static const struct signal { const char *name, *kind, *of, *what; } signals[] = {
#define SIGNAL(name, kind, what) { #name, #kind, NULL, what },
#include "pmu/sim/signals/signals.def"
#undef SIGNAL
#define UNCORE_SIGNAL(name, kind, of, what) { #name, #kind, #of, what },
#include "pmu/sim/signals/uncore_signals.def"
#undef UNCORE_SIGNAL
};
static const char *const tags[] = {
#define UNCORE_TAG(name, what) #name,
#include "pmu/sim/signals/uncore_tags.def"
#undef UNCORE_TAG
};

__attribute__((format(printf, 2, 3)))
static void row_stands(const char *page, const char *format, ...)
{
	char row[512];
	va_list values;
	va_start(values, format);
	vsnprintf(row, sizeof(row), format, values);
	va_end(values);
	if (!strstr(page, row))
		fail_msg("FORMAT.md lacks (run: make machine-format) %s", row);
}

static void class_stands(const char *page, const struct class *c)
{
	static const char digits[] = "0123456789abcdef";
	char ports[17] = "";
	for (unsigned i = 0, at = 0; i < 16; i++)
		if (c->mask >> i & 1)
			ports[at++] = digits[i];
	row_stands(page, "| %s | %d %s %d |\n", c->name, c->latency, c->mask ? ports : "-", c->busy);
}

static void signal_stands(const char *page, const struct signal *s)
{
	const char *kind = s->kind[0] == 'P' ? "pulse" : "level";
	char unit[16];
	if (!s->of) {
		row_stands(page, "| %s | %s | %s |\n", s->name, kind, s->what);
		return;
	}
	snprintf(unit, sizeof(unit), "%s", s->of);
	for (char *c = unit; *c; c++)
		*c = (char)(*c | 0x20);
	row_stands(page, "| %s | %s | %s | %s |\n", s->name, kind, unit, s->what);
}

static void test_machine_format_page_lists_every_field(void **state)
{
	(void)state;
	FILE *f = fopen("tables/machines/FORMAT.md", "r");
	assert_non_null(f);
	static char page[1 << 17];
	size_t n = fread(page, 1, sizeof(page) - 1, f), rows = 0;
	fclose(f);
	page[n] = 0;
	for (unsigned i = 0; i < COUNT_OF(numbers); i++) {
		const struct number *v = &numbers[i];
		char preset[32];
		snprintf(preset, sizeof(preset), "%llu", (unsigned long long)v->preset);
		row_stands(page, "| %s | %s | %llu | %llu | %s | %s |\n", v->section, v->name, (unsigned long long)v->low, (unsigned long long)v->high,
		           v->preset == REQUIRED ? "must be given" : preset, v->what);
	}
	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		row_stands(page, "| %s | %s | text | text | %s | %s |\n", texts[i].section, texts[i].name, texts[i].preset, texts[i].what);
	for (unsigned i = 0; i < COUNT_OF(classes); i++)
		class_stands(page, &classes[i]);
	for (unsigned i = 0; i < COUNT_OF(signals); i++)
		signal_stands(page, &signals[i]);
	for (const char *s = page; (s = strstr(s, "\n| ")) != NULL; s++)
		rows++;
	assert_int_equal(rows, COUNT_OF(numbers) + COUNT_OF(texts) + COUNT_OF(classes) + COUNT_OF(signals) + COUNT_OF(tags) + 5); /* and the tables' headers */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_machine_built_in_files_are_valid_and_complete),
		cmocka_unit_test(test_machine_presets_clocks_and_name),
		cmocka_unit_test(test_machine_each_error_names_line_key_and_what_is_allowed),
		cmocka_unit_test(test_machine_event_map_beside_comes_before_the_built_in_one),
		cmocka_unit_test(test_machine_every_class_has_a_name_of_its_own),
		cmocka_unit_test(test_machine_format_page_lists_every_field),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
