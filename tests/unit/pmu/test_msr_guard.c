/* pmu/backend/msr_guard.c: writes that are not listed are refused, registers that were changed are restored. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/backend/msr_guard.h"
#include "pmu/sampling_gate.h"
#include "tests/unit/support/fake_access.h"

static const struct writable_msr msrs[] = {
	{ 0x186, 0x189, 0xFFFFFFFF, 1, "select", "test" },
	{ 0x1A4, 0x1A4, 0xF, 1, "prefetch", "test" },
	{ 0x390, 0x390, 0xF, 0, "write 1 to clear", "test" },
	{ 0x38F, 0x38F, 0xFF, 1, "global", "test" },
};
static const struct processor processor = { .name = "test", .msrs = msrs, .msr_count = COUNT_OF(msrs) };

struct bench { struct fake fake; struct msr_guard guard; struct msr_guard_saved saved[8]; };

static enum status wr(struct bench *b, unsigned core, uint32_t msr, uint64_t value)
{
	return b->guard.access.ops->wrmsr(b->guard.access.self, core, msr, value);
}

static int setup(void **state)
{
	static struct bench b;
	fake_init(&b.fake, 2);
	for (unsigned core = 0; core < 2; core++) {
		fake_msr(&b.fake, core, 0x186, 0x4300C0);
		fake_msr(&b.fake, core, 0x187, 0);
		fake_msr(&b.fake, core, 0x1A4, 0x30);
		fake_msr(&b.fake, core, 0x390, 0);
		fake_msr(&b.fake, core, 0x38F, 0xF);
		fake_msr(&b.fake, core, 0x1A0, 0x850089);
	}
	msr_guard_init(&b.guard, &b.fake.access, &processor, b.saved, COUNT_OF(b.saved));
	*state = &b;
	return 0;
}

static void test_guard_refuses_what_is_not_listed(void **state)
{
	struct bench *b = *state;
	assert_int_equal(wr(b, 0, 0x1A0, 0x850089), ST_REFUSED);
	assert_int_equal(b->guard.access.ops->pci_write32(b->guard.access.self, (struct pci_address){ 0 }, 1), ST_REFUSED);
	assert_int_equal(b->guard.access.ops->mmio_write(b->guard.access.self, 0xFED00000, 4, 1), ST_REFUSED);
	assert_int_equal(b->guard.refused, 3);
	assert_int_equal(b->fake.log_count, 0);
}

static void test_guard_refuses_bits_outside_the_mask(void **state)
{
	struct bench *b = *state;
	assert_int_equal(wr(b, 0, 0x1A4, 0xF), ST_REFUSED);         /* would clear bits 4 and 5, which were set */
	assert_int_equal(wr(b, 0, 0x1A4, 0x7F), ST_REFUSED);        /* would set bit 6 */
	assert_int_equal(wr(b, 0, 0x390, 0x10), ST_REFUSED);
	assert_int_equal(b->guard.refused, 3);
	assert_int_equal(b->fake.log_count, 0);
	assert_int_equal(b->guard.count, 0);                        /* nothing changed, nothing to restore */
	assert_int_equal(wr(b, 0, 0x1A4, 0x3F), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0x1A4), 0x3F);
}

/* Registers that a job itself writes are checked against the list before it runs, and are restored. */
static void test_guard_knows_what_a_job_writes(void **state)
{
	struct bench *b = *state;
	struct sampling_gate gate = { .count = 0 };
	struct job job = { .gate = &gate };
	sampling_gate_add(&gate, 0x38F, 0x1F, 0);
	assert_int_not_equal(b->guard.access.ops->run(b->guard.access.self, &job, 1, 0), ST_REFUSED); /* the layer below runs nothing */
	assert_int_equal(b->guard.count, 1);
	fake_msr(&b->fake, 0, 0x38F, 0x1F); /* as a job that ended early leaves it */
	assert_int_equal(msr_guard_restore(&b->guard), ST_OK);
	uint64_t value = 0;
	assert_int_equal(b->guard.access.ops->rdmsr(b->guard.access.self, 0, 0x38F, &value), ST_OK);
	assert_int_equal(value, 0xF);
	gate.list[0].on = 0x10F; /* a bit outside the mask */
	assert_int_equal(b->guard.access.ops->run(b->guard.access.self, &job, 1, 0), ST_REFUSED);
	gate.list[0].on = 0xF;
	gate.list[0].msr = 0x1A0; /* not listed */
	assert_int_equal(b->guard.access.ops->run(b->guard.access.self, &job, 1, 0), ST_REFUSED);
}

static void test_guard_restores_newest_first_and_leaves_counts_alone(void **state)
{
	struct bench *b = *state;
	assert_int_equal(wr(b, 0, 0x38F, 0), ST_OK);
	assert_int_equal(wr(b, 0, 0x390, 0xF), ST_OK);
	assert_int_equal(wr(b, 0, 0x186, 0x420001), ST_OK);
	assert_int_equal(wr(b, 1, 0x186, 0x420002), ST_OK);
	assert_int_equal(wr(b, 0, 0x186, 0x420003), ST_OK);
	b->fake.log_count = 0;
	assert_int_equal(msr_guard_restore(&b->guard), ST_OK);
	assert_int_equal(b->fake.log_count, 3);
	assert_int_equal(b->fake.log[0].msr, 0x186);
	assert_int_equal(b->fake.log[0].core, 1);
	assert_int_equal(b->fake.log[1].msr, 0x186);
	assert_int_equal(b->fake.log[1].core, 0);
	assert_int_equal(b->fake.log[2].msr, 0x38F);
	assert_int_equal(fake_value(&b->fake, 0, 0x186), 0x4300C0);
	assert_int_equal(fake_value(&b->fake, 1, 0x186), 0x4300C0);
	assert_int_equal(fake_value(&b->fake, 0, 0x38F), 0xF);
	b->fake.log_count = 0;
	assert_int_equal(msr_guard_restore(&b->guard), ST_OK); /* nothing is left to do */
	assert_int_equal(b->fake.log_count, 0);
}

static void test_guard_restores_after_a_fault_in_the_middle(void **state)
{
	struct bench *b = *state;
	assert_int_equal(wr(b, 0, 0x38F, 0), ST_OK);
	b->fake.fault_after = 1;
	assert_int_equal(wr(b, 0, 0x186, 0x420001), ST_FAULT);
	b->fake.fault_after = 0;
	assert_int_equal(msr_guard_restore(&b->guard), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0x38F), 0xF);
	assert_int_equal(fake_value(&b->fake, 0, 0x186), 0x4300C0);
}

static void test_guard_goes_on_after_a_register_that_does_not_come_back(void **state)
{
	struct bench *b = *state;
	assert_int_equal(wr(b, 0, 0x38F, 0), ST_OK);
	assert_int_equal(wr(b, 0, 0x1A4, 0x3F), ST_OK);
	fake_find(&b->fake, 0, 0x1A4)->stuck = true;
	assert_int_equal(msr_guard_restore(&b->guard), ST_BROKEN);
	assert_int_equal(fake_value(&b->fake, 0, 0x38F), 0xF);
	assert_int_equal(b->guard.count, 1);
	fake_find(&b->fake, 0, 0x1A4)->stuck = false;
	assert_int_equal(msr_guard_restore(&b->guard), ST_OK);
	assert_int_equal(fake_value(&b->fake, 0, 0x1A4), 0x30);
}

static void test_guard_writes_nothing_it_cannot_remember(void **state)
{
	struct bench *b = *state;
	b->guard.capacity = 1;
	assert_int_equal(wr(b, 0, 0x38F, 0), ST_OK);
	assert_int_equal(wr(b, 0, 0x186, 1), ST_FULL);
	assert_int_equal(wr(b, 0, 0x38F, 1), ST_OK);
	assert_int_equal(b->fake.log_count, 2);
	assert_int_equal(wr(b, 0, 0x188, 1), ST_FULL);
	b->guard.capacity = COUNT_OF(b->saved);
	assert_int_equal(wr(b, 0, 0x188, 1), ST_FAULT);
	assert_int_equal(b->guard.count, 1);
}

/* Two large cores, then a small one, whose registers of the same numbers have other meanings. */
static void test_guard_leaves_cores_of_another_kind_alone(void **state)
{
	struct bench *b = *state;
	static const uint32_t kinds[] = { 0x40000001, 0x40000001, 0x20000001, 0x40000001 };
	struct processor hybrid = processor;
	hybrid.core_type = 0x40;
	b->fake.access.cores = 4;
	b->fake.kinds = kinds;
	for (unsigned core = 2; core < 4; core++)
		fake_msr(&b->fake, core, 0x1A4, 0x30);
	msr_guard_init(&b->guard, &b->fake.access, &hybrid, b->saved, COUNT_OF(b->saved));
	assert_int_equal(b->guard.access.cores, 2);
	assert_int_equal(wr(b, 1, 0x1A4, 0x3F), ST_OK);
	assert_int_equal(wr(b, 2, 0x1A4, 0x3F), ST_REFUSED);
	assert_int_equal(fake_value(&b->fake, 2, 0x1A4), 0x30);
	/* a descriptor without a core type covers all cores */
	msr_guard_init(&b->guard, &b->fake.access, &processor, b->saved, COUNT_OF(b->saved));
	assert_int_equal(b->guard.access.cores, 4);
	/* a descriptor of any model covers only the first kind of core if the processor reports several: the others' counters are unknown */
	static const struct fake_leaf leaves[] = { { 0, 0, { 0x1A, 0, 0, 0 } }, { 7, 0, { 0, 0, 0, 1u << 15 } } };
	b->fake.leaves = leaves;
	b->fake.leaf_count = COUNT_OF(leaves);
	struct processor any = processor;
	any.models = NULL;
	any.model_count = 0;
	msr_guard_init(&b->guard, &b->fake.access, &any, b->saved, COUNT_OF(b->saved));
	assert_int_equal(b->guard.access.cores, 2);
	assert_int_equal(wr(b, 3, 0x1A4, 0x3F), ST_REFUSED);
}

/* --- memory-mapped registers -------------------------------------------------------------------- */

/* Two boxes 0x40 apart: selects at 4 and 8, counters of 8 bytes at 0x10 and 0x18, the box's control at 0x20; and one with a free-running counter. */
static const struct uncore_box boxes[] = {
	{ .name = "mapped", .space = UNCORE_MMIO, .instances = 2, .stride = 0x40, .control = 4, .counter = 0x10, .control_stride = 4, .counter_stride = 8,
	  .counters = 2, .width = 48, .enable = 0x400000, .selectable = 0x40FFFF, .box_control = 0x20, .box_freeze = 1, .map_register = 0x48,
	  .map_mask = 0xFFFFFFFFFFFFF000, .map_enable = 1, .source = "test" },
	{ .name = "free", .space = UNCORE_MMIO, .instances = 1, .free_running = 1, .counter = 0x30, .counter_stride = 8, .counters = 1, .width = 64,
	  .map_register = 0x48, .map_mask = 0xFFFFFFFFFFFFF000, .map_enable = 1, .source = "test" },
};
static const struct processor with_memory = { .name = "test", .boxes = boxes, .box_count = COUNT_OF(boxes) };
#define WINDOW 0x3FFED10000ull

static enum status wm(struct bench *b, uint64_t offset, unsigned bytes, uint64_t value)
{
	return b->guard.access.ops->mmio_write(b->guard.access.self, WINDOW + offset, bytes, value);
}

static void test_guard_writes_listed_registers_in_memory_and_puts_them_back(void **state)
{
	struct bench *b = *state;
	static const uint64_t before[8] = { 0x1234ull << 32, 0x8001, 5, 6, 0, 0, 0, 7 };
	b->fake.window = WINDOW | 1;
	memcpy(b->fake.mapped, before, sizeof(before));
	msr_guard_init(&b->guard, &b->fake.access, &with_memory, b->saved, COUNT_OF(b->saved));
	assert_int_equal(wm(b, 4, 4, 0x400301), ST_OK);
	assert_int_equal(wm(b, 0x10, 8, 0), ST_OK);
	assert_int_equal(wm(b, 0x10, 8, 99), ST_OK);
	assert_int_equal(wm(b, 0x44, 4, 0x400302), ST_OK); /* of the second box */
	assert_int_equal(wm(b, 0x20, 4, 1), ST_OK);        /* freezes the box: not restored */
	assert_int_equal(b->guard.count, 3);
	assert_int_equal(b->fake.mapped[0] >> 32, 0x400301);
	assert_int_equal(b->fake.mapped[2], 99);
	assert_int_equal(b->fake.mapped[1], 0x8001);       /* the adjacent select was not touched */
	assert_int_equal(msr_guard_restore(&b->guard), ST_OK);
	assert_int_equal(b->fake.mapped[0], before[0]);
	assert_int_equal(b->fake.mapped[2], before[2]);
	assert_int_equal(b->fake.mapped[8] >> 32, 0);
	assert_int_equal(b->guard.refused, 0);
}

static void test_guard_refuses_other_registers_in_memory(void **state)
{
	struct bench *b = *state;
	b->fake.window = WINDOW | 1;
	memset(b->fake.mapped, 0, sizeof(b->fake.mapped));
	msr_guard_init(&b->guard, &b->fake.access, &with_memory, b->saved, COUNT_OF(b->saved));
	assert_int_equal(wm(b, 0, 4, 1), ST_REFUSED);          /* no register */
	assert_int_equal(wm(b, 0x14, 4, 1), ST_REFUSED);       /* half a counter */
	assert_int_equal(wm(b, 4, 8, 1), ST_REFUSED);          /* two selects at once */
	assert_int_equal(wm(b, 4, 4, 1u << 31), ST_REFUSED);   /* a bit that it lacks */
	assert_int_equal(wm(b, 0x10, 8, 1ull << 48), ST_REFUSED);
	assert_int_equal(wm(b, 0x20, 4, 2), ST_REFUSED);
	assert_int_equal(wm(b, 0x30, 8, 1), ST_REFUSED);       /* a free-running counter */
	assert_int_equal(wm(b, 0x84, 4, 1), ST_REFUSED);       /* a third box */
	b->fake.window = WINDOW;                                /* the window is closed */
	assert_int_equal(wm(b, 4, 4, 1), ST_REFUSED);
	assert_int_equal(b->guard.refused, 9);
	assert_int_equal(b->fake.mapped_writes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_guard_refuses_what_is_not_listed, setup),
		cmocka_unit_test_setup(test_guard_refuses_bits_outside_the_mask, setup),
		cmocka_unit_test_setup(test_guard_knows_what_a_job_writes, setup),
		cmocka_unit_test_setup(test_guard_restores_newest_first_and_leaves_counts_alone, setup),
		cmocka_unit_test_setup(test_guard_restores_after_a_fault_in_the_middle, setup),
		cmocka_unit_test_setup(test_guard_goes_on_after_a_register_that_does_not_come_back, setup),
		cmocka_unit_test_setup(test_guard_writes_nothing_it_cannot_remember, setup),
		cmocka_unit_test_setup(test_guard_leaves_cores_of_another_kind_alone, setup),
		cmocka_unit_test_setup(test_guard_writes_listed_registers_in_memory_and_puts_them_back, setup),
		cmocka_unit_test_setup(test_guard_refuses_other_registers_in_memory, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
