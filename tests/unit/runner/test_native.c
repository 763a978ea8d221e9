/* The native backend runs kernels, maps pages of the requested size, and returns faults and time-outs as statuses. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cmocka.h>

#include "asm/kernel.h"
#include "pmu/text.h"
#include "runner/host/native.h"
#include "tests/unit/support/kernel_run.h"

static struct native *native;
static const struct access *a;

/* Called by the test, not as its set-up: cmocka installs its own signal handlers around each function that it calls. */
static void open_native(void)
{
	char problem[128] = "";
	if (native_open(&native, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	a = native_access(native);
}

static int close_native(void **state)
{
	(void)state;
	if (native)
		native_close(native);
	native = NULL;
	return 0;
}

#define NATIVE_TEST(test) cmocka_unit_test_teardown(test, close_native)

/* Measures k_add_chain on a core; returns the block. */
static struct measure_block *add_chain(unsigned core, uint64_t iterations, struct job *job)
{
	struct measure_block *b = a->ops->control(a->self, core);
	memset(b, 0, sizeof(*b));
	b->kernel = kernel_at("k_add_chain");
	b->argument[0] = iterations;
	*job = (struct job){.core = core, .entry = kernel_at("k_measure"),
	                    .argument = SPACE_CONTROL + core * CONTROL_BYTES};
	return b;
}

static void test_native_runs_the_measuring_wrapper(void **state)
{
	(void)state;
	open_native();
	struct job job;
	for (unsigned core = 0; core < a->cores; core++) {
		struct measure_block *b = add_chain(core, 1000, &job);
		assert_int_equal(a->ops->run(a->self, &job, 1, 0), ST_OK);
		assert_int_equal(job.status, ST_OK);
		assert_int_equal(b->result, 16000);
		assert_true(b->tsc_after > b->tsc_before);
	}
}

/* Else each job costs two interrupts that wake a processor. Where cores take turns the caller does not follow them. */
static void test_native_waits_on_the_processor_of_a_core_that_works_alone(void **state)
{
	(void)state;
	cpu_set_t before, during, after, all;
	CPU_ZERO(&all);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	open_native();
	for (unsigned core = a->cores; core-- > 0;) {
		struct job job;
		for (unsigned i = 0; i < 10; i++) {
			(void)add_chain(core, 1000, &job);
			assert_int_equal(a->ops->run(a->self, &job, 1, 0), ST_OK);
			assert_int_equal(sched_getaffinity(0, sizeof(during), &during), 0);
			assert_true(i >= 4 || CPU_EQUAL(&before, &during));
		}
		assert_int_equal(CPU_COUNT(&during), 1);
		assert_true(CPU_ISSET(sched_getcpu(), &during));
		CPU_OR(&all, &all, &during);
		struct cpuid_regs leaf;
		assert_int_equal(a->ops->cpuid(a->self, core, 0, 0, &leaf), ST_OK);
	}
	assert_int_equal(CPU_COUNT(&all), a->cores);
	assert_int_equal(close_native(state), 0);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

static void test_native_runs_all_cores_together(void **state)
{
	(void)state;
	open_native();
	struct job jobs[512];
	unsigned close = 0;
	if (a->cores < 2)
		skip();
	/* Other processes delay a core's start, so only some of the runs must start both cores together. */
	for (unsigned i = 0; i < 200; i++) {
		struct measure_block *b[2] = {add_chain(0, 100, &jobs[0]), add_chain(1, 100, &jobs[1])};
		assert_int_equal(a->ops->run(a->self, jobs, 2, 0), ST_OK);
		assert_int_equal(b[0]->result, 1600);
		assert_int_equal(b[1]->result, 1600);
		uint64_t apart = b[0]->tsc_before > b[1]->tsc_before ? b[0]->tsc_before - b[1]->tsc_before :
		                 b[1]->tsc_before - b[0]->tsc_before;
		close += apart < 400;
	}
	print_message("# started within 400 TSC ticks: %u of 200\n", close);
	assert_in_range(close, 5, 200);
}

static void test_native_tsc_runs_at_the_calibrated_rate(void **state)
{
	(void)state;
	open_native();
	/* Reads both clocks in succession, and again if that took too long; not through the core's thread, which may have to wait for
	 * the processor. */
	uint64_t tsc[2], ns[2], between;
	for (unsigned i = 0; i < 2; i++) {
		do {
			struct timespec t;
			tsc[i] = __rdtsc();
			clock_gettime(CLOCK_MONOTONIC_RAW, &t);
			between = __rdtsc() - tsc[i];
			ns[i] = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		} while (between > a->tsc_hz / 100000); /* 10 us */
		if (i == 0)
			nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
	}
	uint64_t hz = (uint64_t)((unsigned __int128)(tsc[1] - tsc[0]) * 1000000000u / (ns[1] - ns[0]));
	/* An error of 10 us in these 100 ms and one in the calibration's 50 ms add up to 300 ppm. */
	assert_in_range(a->tsc_hz, hz - hz / 2000, hz + hz / 2000);
	uint64_t of_core;
	assert_int_equal(a->ops->rdtsc(a->self, 0, &of_core), ST_OK);
	assert_in_range(of_core, tsc[1], __rdtsc());
}

static void test_native_answers_cpuid(void **state)
{
	(void)state;
	open_native();
	struct cpuid_regs r;
	assert_int_equal(a->ops->cpuid(a->self, 0, 0, 0, &r), ST_OK);
	assert_true(r.eax >= 1);
	assert_true(r.ebx != 0);
	assert_int_equal(a->ops->cpuid(a->self, a->cores, 0, 0, &r), ST_RANGE);
}

/* Maps the scratch area and copies the test's code into it. */
static struct mapping scratch(const uint8_t *code, size_t bytes)
{
	struct mapping m = {.va = SPACE_SCRATCH, .bytes = PAGE_4K, .page_bytes = PAGE_4K, .executable = true};
	assert_int_equal(a->ops->map(a->self, &m), ST_OK);
	memcpy(m.host, code, bytes);
	return m;
}

static void test_native_fault_is_a_status(void **state)
{
	(void)state;
	open_native();
	static const uint8_t ud2[] = {0x90, 0x0F, 0x0B}; /* nop; ud2 */
	static const uint8_t page_fault[] = {0x48, 0x8B, 0x07, 0xC3}; /* mov rax, [rdi]; ret */
	static const uint8_t general[] = {0xF4}; /* hlt in user mode */
	static const uint8_t divide[] = {0x31, 0xC9, 0x31, 0xD2, 0xF7, 0xF1}; /* xor ecx, ecx; xor edx, edx; div ecx */
	static const struct { const uint8_t *code; size_t bytes; uint8_t vector, at; } cases[] = {
		{ud2, sizeof(ud2), 6, 1}, {page_fault, sizeof(page_fault), 14, 0}, {general, sizeof(general), 13, 0},
		{divide, sizeof(divide), 0, 4},
	};
	for (unsigned core = 0; core < a->cores && core < 2; core++) {
		for (unsigned i = 0; i < COUNT_OF(cases); i++) {
			struct mapping m = scratch(cases[i].code, cases[i].bytes);
			struct job job = {.core = core, .entry = SPACE_SCRATCH, .argument = SPACE_DATA};
			assert_int_equal(a->ops->run(a->self, &job, 1, 0), ST_FAULT);
			assert_int_equal(job.status, ST_FAULT);
			assert_int_equal(job.vector, cases[i].vector);
			assert_int_equal(job.ip, SPACE_SCRATCH + cases[i].at);
			assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
			/* the core still runs jobs */
			struct measure_block *b = add_chain(core, 10, &job);
			assert_int_equal(a->ops->run(a->self, &job, 1, 0), ST_OK);
			assert_int_equal(b->result, 160);
		}
	}
}

static void test_native_endless_kernel_is_a_timeout(void **state)
{
	(void)state;
	open_native();
	static const uint8_t forever[] = {0xEB, 0xFE}; /* jmp $ */
	struct mapping m = scratch(forever, sizeof(forever));
	struct job job = {.core = 0, .entry = SPACE_SCRATCH};
	assert_int_equal(a->ops->run(a->self, &job, 1, a->tsc_hz / 100), ST_TIMEOUT);
	assert_int_equal(job.ip, SPACE_SCRATCH);
	assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
	struct measure_block *b = add_chain(0, 10, &job);
	assert_int_equal(a->ops->run(a->self, &job, 1, 0), ST_OK);
	assert_int_equal(b->result, 160);
}

static void test_native_maps_at_the_window_zeroed(void **state)
{
	(void)state;
	open_native();
	struct mapping m = {.va = SPACE_DATA + PAGE_1G, .bytes = 16 * PAGE_4K, .page_bytes = PAGE_4K};
	assert_int_equal(a->ops->map(a->self, &m), ST_OK);
	assert_int_equal((uintptr_t)m.host, SPACE_DATA + PAGE_1G);
	for (size_t i = 0; i < m.bytes; i++)
		assert_int_equal(((uint8_t *)m.host)[i], 0);
	struct mapping again = m;
	assert_int_equal(a->ops->map(a->self, &again), ST_REFUSED);
	assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
}

/* KiB of huge pages that the kernel reports for the mapping at an address; 0: none, or unknown. */
static unsigned long huge_kib(uint64_t va)
{
	char line[512];
	unsigned long kib, sum = 0;
	bool inside = false;
	FILE *f = fopen("/proc/self/smaps", "r");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long from, to;
		char c;
		if (sscanf(line, "%lx-%lx %c", &from, &to, &c) == 3)
			inside = from <= va && va < to;
		else if (inside && (sscanf(line, "AnonHugePages: %lu", &kib) == 1 ||
		                    sscanf(line, "ShmemPmdMapped: %lu", &kib) == 1 ||
		                    sscanf(line, "Shared_Hugetlb: %lu", &kib) == 1 || sscanf(line, "Private_Hugetlb: %lu", &kib) == 1))
			sum += kib;
	}
	if (f)
		fclose(f);
	return sum;
}

static void test_native_large_pages_are_large_or_refused(void **state)
{
	(void)state;
	open_native();
	struct mapping m = {.va = SPACE_DATA, .bytes = 4 * PAGE_2M, .page_bytes = PAGE_2M};
	enum status s = a->ops->map(a->self, &m);
	if (s == ST_OK) {
		assert_int_equal(huge_kib(m.va), 4 * PAGE_2M / 1024);
		assert_int_equal(m.pa % PAGE_2M, 0);
		assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
	} else {
		assert_int_equal(s, ST_UNSUPPORTED);
	}
	m.page_bytes = PAGE_4K;
	assert_int_equal(a->ops->map(a->self, &m), ST_OK);
	assert_int_equal(huge_kib(m.va), 0);
	assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
	m.page_bytes = m.bytes = PAGE_1G;
	s = a->ops->map(a->self, &m);
	if (s == ST_OK)
		assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
	else
		assert_int_equal(s, ST_UNSUPPORTED);
}

/* Whether the kernel backs a memfd with a page of 2 MiB, tried without the backend. */
static bool file_pages_can_be_large(void)
{
	int fd = memfd_create("probe", MFD_CLOEXEC);
	uint8_t *at = (uint8_t *)(uintptr_t)(SPACE_DATA + PAGE_1G);
	bool large = fd >= 0 && !ftruncate(fd, PAGE_2M) &&
	             mmap(at, PAGE_2M, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd, 0) == at;
	if (large) {
		at[0] = 1;
		(void)madvise(at, PAGE_2M, 25); /* MADV_COLLAPSE (include/uapi/asm-generic/mman-common.h) */
		large = huge_kib((uint64_t)(uintptr_t)at) == PAGE_2M / 1024;
		munmap(at, PAGE_2M);
	}
	if (fd >= 0)
		close(fd);
	return large;
}

static void test_native_repeated_pages_are_large_and_the_same(void **state)
{
	(void)state;
	open_native();
	struct mapping m = {.va = SPACE_DATA, .bytes = 300 * PAGE_2M, .page_bytes = PAGE_2M, .repeats = true};
	assert_int_equal(a->ops->map(a->self, &m), ST_OK);
	if (!m.repeats) {
		assert_false(file_pages_can_be_large());
		assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
		skip(); /* the kernel backs no memfd with pages of 2 MiB */
	}
	assert_int_equal(huge_kib(m.va + 299 * PAGE_2M), PAGE_2M / 1024);
	for (uint64_t i = 0; i < 300; i++) {
		uint64_t *at = mapping_at(&m, i * PAGE_2M + i * 64);
		assert_int_equal(*at, 0);
		*at = i + 1;
	}
	for (uint64_t i = 0; i < 300; i++)
		assert_int_equal(*(volatile uint64_t *)(uintptr_t)(m.va + (299 - i) * PAGE_2M + i * 64), i + 1);
	struct mapping again = {.va = m.va + 299 * PAGE_2M, .bytes = PAGE_2M, .page_bytes = PAGE_2M, .repeats = true};
	assert_int_equal(a->ops->map(a->self, &again), ST_REFUSED);
	assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
	/* the whole range is free again after unmap, and after a mapping that is refused because a part is in use */
	m = (struct mapping){.va = SPACE_DATA + 3 * PAGE_2M, .bytes = PAGE_4K, .page_bytes = PAGE_4K};
	assert_int_equal(a->ops->map(a->self, &m), ST_OK);
	again = (struct mapping){.va = SPACE_DATA, .bytes = 4 * PAGE_2M, .page_bytes = PAGE_2M, .repeats = true};
	assert_int_equal(a->ops->map(a->self, &again), ST_REFUSED);
	assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
	assert_int_equal(a->ops->map(a->self, &again), ST_OK);
	assert_int_equal(a->ops->unmap(a->self, &again), ST_OK);
}

static void test_native_refuses_wrong_mappings(void **state)
{
	(void)state;
	open_native();
	struct mapping m = {.va = SPACE_DATA + 1, .bytes = PAGE_4K, .page_bytes = PAGE_4K};
	assert_int_equal(a->ops->map(a->self, &m), ST_RANGE);
	m = (struct mapping){.va = SPACE_DATA, .bytes = PAGE_4K, .page_bytes = PAGE_2M};
	assert_int_equal(a->ops->map(a->self, &m), ST_RANGE);
	m = (struct mapping){.va = SPACE_CODE, .bytes = PAGE_4K, .page_bytes = PAGE_4K};
	assert_int_equal(a->ops->map(a->self, &m), ST_RANGE);
	m = (struct mapping){.va = SPACE_END - PAGE_4K, .bytes = 2 * PAGE_4K, .page_bytes = PAGE_4K};
	assert_int_equal(a->ops->map(a->self, &m), ST_RANGE);
	m = (struct mapping){.va = SPACE_DATA, .bytes = PAGE_4K, .page_bytes = PAGE_4K, .node = a->nodes};
	assert_int_equal(a->ops->map(a->self, &m), ST_RANGE);
	struct job jobs[2] = {{.core = 0, .entry = SPACE_CODE}, {.core = 0, .entry = SPACE_CODE}};
	assert_int_equal(a->ops->run(a->self, jobs, 2, 0), ST_RANGE);
}

static void test_native_has_no_registers(void **state)
{
	(void)state;
	open_native();
	uint64_t value;
	assert_int_equal(a->ops->rdmsr(a->self, 0, 0x10, &value), ST_UNSUPPORTED);
	assert_int_equal(a->ops->wrmsr(a->self, 0, 0x186, 0), ST_UNSUPPORTED);
	assert_int_equal(a->ops->rdpmc(a->self, 0, 0, &value), ST_UNSUPPORTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		NATIVE_TEST(test_native_runs_the_measuring_wrapper),
		NATIVE_TEST(test_native_waits_on_the_processor_of_a_core_that_works_alone),
		NATIVE_TEST(test_native_runs_all_cores_together),
		NATIVE_TEST(test_native_tsc_runs_at_the_calibrated_rate),
		NATIVE_TEST(test_native_answers_cpuid),
		NATIVE_TEST(test_native_fault_is_a_status),
		NATIVE_TEST(test_native_endless_kernel_is_a_timeout),
		NATIVE_TEST(test_native_maps_at_the_window_zeroed),
		NATIVE_TEST(test_native_large_pages_are_large_or_refused),
		NATIVE_TEST(test_native_repeated_pages_are_large_and_the_same),
		NATIVE_TEST(test_native_refuses_wrong_mappings),
		NATIVE_TEST(test_native_has_no_registers),
	};
	return cmocka_run_group_tests_name("native", tests, NULL, NULL);
}
