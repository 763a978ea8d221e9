/* Uncore boxes located by the machine's tables: the registers that the guard permits, their restoration, and invalid tables, which are rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/backend/box_place.h"
#include "tests/unit/rigs/core_bench.h"
#include "tests/unit/rigs/uncore_rig.h"
#include "tests/unit/support/table_find.h"

static struct machine small(const char *name)
{
	struct machine m = core_bench_machine(name);
	m.l3_bytes = m.l3_bytes / m.l3_slices * 2;
	m.topology_cores = m.l3_slices = 2;
	m.topology_nodes = 1;
	m.fault_firmware_counting = 1;
	return m;
}

/* --- the guard ------------------------------------------------------------------------------------ */

static void test_box_place_guard_lets_described_registers_through_and_no_others(void **state)
{
	(void)state;
	static struct uncore_rig r;
	const struct machine m = small("sapphire-rapids");
	static const struct { uint32_t msr; uint64_t value; enum status status; } msrs[] = {
		{ 0x2002, 0xC817FE00400136, ST_OK }, { 0x2008, 5, ST_OK }, { 0x200E, 3, ST_OK }, { 0x2000, 0x300, ST_OK }, { 0x2012, 0x400001, ST_OK }, { 0x2FF0, 1, ST_OK }, { 0x2FF0, 0, ST_OK },
		{ 0x2001, 0, ST_REFUSED }, { 0x2006, 0, ST_REFUSED }, { 0x200C, 0, ST_REFUSED }, { 0x2000, 4, ST_REFUSED }, { 0x2002, 1ull << 20, ST_REFUSED }, { 0x2008, 1ull << 48, ST_REFUSED },
		{ 0x2022, 0, ST_REFUSED } /* a third CHA, which this table lacks */ };
	static const struct { uint64_t address; unsigned bytes; uint64_t value; enum status status; } words[] = {
		{ 0x3100022840, 4, 0x40CF05, ST_OK }, { 0x3100022808, 8, 7, ST_OK }, { 0x3100022800, 4, 0x300, ST_OK }, { 0x310002A840, 4, 0x40CF05, ST_OK },
		{ 0x3100022840, 8, 0, ST_REFUSED }, { 0x3100022804, 4, 0, ST_REFUSED }, { 0x3100022840, 4, 1u << 20, ST_REFUSED }, { 0x3000000000, 8, 0, ST_REFUSED } };
	static const struct { uint8_t bus, device, function; uint16_t reg; uint32_t value; enum status status; } functions[] = {
		{ 126, 12, 0, 0x468, 0x400137, ST_OK }, { 126, 12, 0, 0x46C, 7, ST_OK }, { 126, 12, 0, 0x440, 9, ST_OK }, { 126, 1, 1, 0x350, 0x400F02, ST_OK },
		{ 126, 12, 0, 0x460, 0, ST_REFUSED }, { 126, 3, 0, 0x10, 0, ST_REFUSED }, { 126, 12, 0, 0x46C, 1u << 31, ST_REFUSED } };
	uncore_rig_open(&r, &m);
	const struct access_ops *ops = r.a->ops;
	const unsigned refused = r.guard.refused;
	unsigned expected = 0;
	uint64_t found[COUNT_OF(words)];
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(sim_access(r.sim)->ops->mmio_read(sim_access(r.sim)->self, words[i].address, words[i].bytes, &found[i]), ST_OK);
	for (unsigned i = 0; i < COUNT_OF(msrs); i++, expected += msrs[i - 1].status == ST_REFUSED)
		if (ops->wrmsr(r.a->self, 0, msrs[i].msr, msrs[i].value) != msrs[i].status)
			fail_msg("MSR %X <- %llX", msrs[i].msr, (unsigned long long)msrs[i].value);
	for (unsigned i = 0; i < COUNT_OF(words); i++, expected += words[i - 1].status == ST_REFUSED)
		if (ops->mmio_write(r.a->self, words[i].address, words[i].bytes, words[i].value) != words[i].status)
			fail_msg("%llX <- %llX", (unsigned long long)words[i].address, (unsigned long long)words[i].value);
	for (unsigned i = 0; i < COUNT_OF(functions); i++, expected += functions[i - 1].status == ST_REFUSED) {
		const struct pci_address at = { .bus = functions[i].bus, .device = functions[i].device, .function = functions[i].function, .reg = functions[i].reg };
		if (ops->pci_write32(r.a->self, at, functions[i].value) != functions[i].status)
			fail_msg("%u:%u.%u+%X <- %X", at.bus, at.device, at.function, at.reg, functions[i].value);
	}
	assert_int_equal(r.guard.refused - refused, expected);
	r.guard.refused = refused;
	assert_int_equal(msr_guard_restore(&r.guard), ST_OK);
	for (unsigned i = 0; i < 4; i++) {
		uint64_t now;
		assert_int_equal(sim_access(r.sim)->ops->mmio_read(sim_access(r.sim)->self, words[i].address, words[i].bytes, &now), ST_OK);
		if (words[i].address != 0x3100022800) /* reads as 0 */
			assert_int_equal(now, found[i]);
	}
	uncore_rig_close(&r);
}

static void test_box_place_windows_are_each_socket_s(void **state)
{
	(void)state;
	static struct uncore_rig r;
	const struct machine m = small("ice-lake-sp");
	uncore_rig_open(&r, &m);
	const struct processor *p = r.cpu.processor;
	unsigned imc = 0;
	while (strcmp(p->boxes[imc].name, "imc"))
		imc++;
	assert_int_equal(r.u.places.count, 16);
	assert_int_equal(r.u.places.tellers, 2);
	assert_true(r.u.teller[0] != r.u.teller[1]);
	for (unsigned s = 0; s < 2; s++) {
		assert_int_equal(r.u.present[s][imc], 0xFF);
		assert_int_equal(r.u.places.teller[r.u.teller[s]].bus, s ? 254 : 126);
		assert_int_equal(box_place_of(&r.u.places, imc, r.u.teller[s], 0)->base, (0x4000ull + s) << 23 | 0x40 << 12);
	}
	assert_int_equal(r.a->ops->mmio_write(r.a->self, (0x4000ull << 23) + (0x40 << 12) + 0x22840 + 0x4000, 4, 0x400F04), ST_OK);
	assert_int_equal(r.a->ops->mmio_write(r.a->self, (0x4000ull << 23) + (0x40 << 12) + 0x22840 + 0x8000, 4, 0x400F04), ST_REFUSED);
	r.guard.refused = 0;
	uncore_rig_close(&r);
}

/* --- tables --------------------------------------------------------------------------------------- */

#define BASE 0x40000000ull
struct table { uint64_t quad[4 * 16]; uint32_t entry, where, header; };

static enum status pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	const struct table *t = self;
	*value = UINT32_MAX;
	if (at.segment || at.bus)
		return ST_UNSUPPORTED;
	if (at.device || at.function)
		return ST_OK;
	*value = at.reg == 0 ? 0x09A78086 : at.reg == 0x10 ? (uint32_t)BASE | 4 : at.reg == 0x100 ? t->header : at.reg == 0x104 ? 0x8086 : at.reg == 0x108 ? t->entry : at.reg == 0x10C ? t->where : 0;
	return ST_OK;
}

static enum status mmio_read(void *self, uint64_t address, unsigned bytes, uint64_t *value)
{
	const struct table *t = self;
	assert_int_equal(bytes, 8);
	assert_true(address >= BASE && address - BASE < sizeof(t->quad));
	*value = t->quad[(address - BASE) / 8];
	return ST_OK;
}

static const struct access_ops ops = { .pci_read32 = pci_read32, .mmio_read = mmio_read };

/* A valid table of one CHA. */
static struct table good(void)
{
	struct table t = { .entry = 1, .header = 0x23 | 1 << 16 };
	t.quad[0] = 4 << 8 | 3 << 16, t.quad[1] = 0x2FF0, t.quad[2] = 1;
	t.quad[8] = 4 | 2 << 8 | 48 << 16 | 8ull << 24, t.quad[9] = 0x2030, t.quad[10] = 3 << 16; /* the second entry; the first is empty */
	return t;
}

static struct box_places read_table(struct table *t)
{
	static struct box_places l;
	const struct access a = { .ops = &ops, .self = t };
	assert_int_equal(box_place_find(&a, processor_named("sapphire-rapids"), &l), ST_OK);
	return l;
}

static void test_box_place_wrong_tables_give_nothing(void **state)
{
	(void)state;
	struct table t = good();
	struct box_places l = read_table(&t);
	assert_int_equal(l.count, 1);
	assert_int_equal(l.list[0].base, 0x2030);
	assert_int_equal(l.list[0].instance, 3);
	assert_null(l.why);
	static const struct { unsigned quad; uint64_t value; const char *why; } wrong[] = {
		{ 8, 3 | 2 << 8 | 48 << 16 | 8ull << 24, "fewer counters" }, { 8, 4 | 2 << 8 | 56 << 16 | 8ull << 24, "another width" }, { 8, 4 | 0 << 8 | 48 << 16 | 8ull << 24, "no offset" },
		{ 9, 0x1A0, "cannot be the box's" }, { 9, 0x3FFC, "cannot be the box's" }, { 9, 0xFFFFFFFFFFFFFFF0, "cannot be the box's" }, { 10, 64ull << 16, "a higher number" }, { 8, 4 | 250 << 8 | 48 << 16 | 255ull << 24, NULL },
		{ 10, 99, NULL }, { 8, UINT64_MAX, NULL }, { 9, 0, NULL }, { 8, 4 | 2 << 8 | 48 << 16 | 8ull << 24 | 1ull << 62, NULL }, { 0, 2 << 8 | 3 << 16, "overlap" }, { 0, 0, "empty" } };
	for (unsigned i = 0; i < COUNT_OF(wrong); i++) {
		t = good();
		t.quad[wrong[i].quad] = wrong[i].value;
		l = read_table(&t);
		if (wrong[i].quad == 8 && !wrong[i].why && (wrong[i].value >> 8 & 0xFF) == 250) { /* distant, but valid for a CHA */
			assert_int_equal(l.count, 1);
			continue;
		}
		if (l.count || (wrong[i].why ? !l.why || !strstr(l.why, wrong[i].why) : l.why != NULL))
			fail_msg("case %u: %u boxes, '%s' for '%s'", i, l.count, l.why ? l.why : "", wrong[i].why ? wrong[i].why : "");
	}
	t = good();
	memcpy(&t.quad[12], &t.quad[8], 24);
	l = read_table(&t);
	assert_int_equal(l.count, 1);
	assert_string_equal(l.why, "the machine's table has a box twice");
	static const struct { uint32_t header, entry, where; } capabilities[] = { { 0x23 | 1 << 16, 2, 0 }, { 0xB | 1 << 16, 1, 0 }, { 0x23 | 1 << 16, 1, 6 }, { 0xB | 0x100 << 20, 1, 0 } };
	for (unsigned i = 0; i < COUNT_OF(capabilities); i++) {
		t = good();
		t.header = capabilities[i].header, t.entry = capabilities[i].entry, t.where = capabilities[i].where;
		assert_int_equal(read_table(&t).tellers, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_box_place_guard_lets_described_registers_through_and_no_others),
		cmocka_unit_test(test_box_place_windows_are_each_socket_s),
		cmocka_unit_test(test_box_place_wrong_tables_give_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
