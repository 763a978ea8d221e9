/* pmu/backend/trace.c: every access is recorded as a line of text and passed on unchanged. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/backend/trace.h"
#include "tests/unit/support/fake_access.h"

static void test_trace_records_every_access_as_a_line(void **state)
{
	(void)state;
	static const char *const want[] = {
		"rdmsr 1 0x186 0x4300C0", "wrmsr 1 0x186 0x420001", "rdmsr 0 0x999 0x0 fault", "wrmsr 0 0x999 0x5 fault",
		"rdpmc 1 0x40000001 0x123456789A", "rdtsc 0", "cpuid 0 0xA 0x1 0x1 0x2 0x3 0x4",
		"pci_read32 0000:FF:1F.3+0x9C 0x9C", "pci_write32 0001:FF:1F.3+0x9C 0x7", "mmio_read 0xFED00000 4 0xFED00000",
		"mmio_write 0xFED00000 8 0xFFFFFFFFFFFFFFFF", "run 1 0x200000000000 0x200010010000 unsupported",
	};
	static const struct fake_leaf leaves[] = { { 0xA, 1, { 1, 2, 3, 4 } } };
	struct fake f;
	struct trace t;
	struct trace_entry entries[COUNT_OF(want)];
	struct cpuid_regs r;
	struct job job = { .core = 1, .entry = SPACE_CODE, .argument = SPACE_CONTROL + CONTROL_BYTES };
	struct pci_address pci = { 0, 0xFF, 0x1F, 3, 0x9C };
	uint64_t v;
	uint32_t d;
	fake_init(&f, 2);
	f.leaves = leaves;
	f.leaf_count = 1;
	fake_msr(&f, 1, 0x186, 0x4300C0);
	fake_msr(&f, 1, 0x30A, 0x123456789A);
	trace_init(&t, &f.access, entries, COUNT_OF(entries));
	const struct access_ops *o = t.access.ops;
	void *self = t.access.self;
	assert_int_equal(o->rdmsr(self, 1, 0x186, &v), ST_OK);
	assert_int_equal(v, 0x4300C0);
	assert_int_equal(o->wrmsr(self, 1, 0x186, 0x420001), ST_OK);
	assert_int_equal(fake_value(&f, 1, 0x186), 0x420001);
	assert_int_equal(o->rdmsr(self, 0, 0x999, &v), ST_FAULT);
	assert_int_equal(o->wrmsr(self, 0, 0x999, 5), ST_FAULT);
	assert_int_equal(o->rdpmc(self, 1, 1u << 30 | 1, &v), ST_OK);
	assert_int_equal(o->rdtsc(self, 0, &v), ST_OK);
	assert_int_equal(o->cpuid(self, 0, 0xA, 1, &r), ST_OK);
	assert_int_equal(r.edx, 4);
	assert_int_equal(o->pci_read32(self, pci, &d), ST_OK);
	pci.segment = 1;
	assert_int_equal(o->pci_write32(self, pci, 7), ST_OK);
	assert_int_equal(o->mmio_read(self, 0xFED00000, 4, &v), ST_OK);
	assert_int_equal(o->mmio_write(self, 0xFED00000, 8, ~0ull), ST_OK);
	assert_int_equal(o->run(self, &job, 1, 0), ST_UNSUPPORTED);
	assert_int_equal(t.count, COUNT_OF(want));
	for (unsigned i = 0; i < COUNT_OF(want); i++) {
		char line[128];
		struct text text;
		text_init(&text, line, sizeof(line));
		trace_line(&text, &entries[i]);
		assert_string_equal(line, want[i]);
	}
	assert_int_equal(t.dropped, 0);
	assert_int_equal(o->wrmsr(self, 1, 0x186, 9), ST_OK); /* full: the access is made and counted, but not recorded */
	assert_int_equal(fake_value(&f, 1, 0x186), 9);
	assert_int_equal(t.dropped, 1);
	assert_int_equal(t.count, COUNT_OF(want));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_trace_records_every_access_as_a_line) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
