/* Every interpreted kernel ends with the registers and memory of a native run, and with those of its reference in C, and its record
 * in asm/ has the interpreter's counts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/measure/layout.h"
#include "bench/measure/measure.h"
#include "pmu/sim/isa/exec.h"
#include "runner/host/native.h"
#include "tests/unit/support/kernel_start.h"

#define RETURN_TO 0x1234567812345678ull /* the return address of an interpreted kernel, which is unmapped */
#define SHADOW_STACK (SPACE_CONTROL + 0x8000)
#define GPRS 16

/* --- in C --------------------------------------------------------------------------------------- */

/* Computes one element of a stream: of array a from b and c, which follow it in memory. */
static void stream_in_c(const struct kernel *k, uint8_t *arrays, uint64_t at, unsigned e)
{
	double *a = (double *)(arrays + at), b = *(double *)(arrays + START_ARRAY + at);

	if (!strncmp(k->name, "k_triad", 7)) {
		const double c = *(double *)(arrays + 2 * START_ARRAY + at);
		volatile double product = 3.0 * c; /* rounded twice, as in the kernel; a fused kernel rounds once */
		*a = strstr(k->name, "_fma") ? fma(3.0, c, b) : b + product;
	} else if (!strncmp(k->name, "k_write", 7)) {
		*a = 3.0;
	} else if (!strncmp(k->name, "k_copy", 6)) {
		*a = b;
	} else if (!strncmp(k->name, "k_warm", 6) && k->stores) {
		if (e % 64 == 0) /* a word of each line */
			*a = 0;
	} else if (!strncmp(k->name, "k_store", 7) && e < k->data_bytes) {
		*a = 0;
	}
}

/* Computes a kernel's memory and *result in C. False: the kernel has no reference in C. */
static bool in_c(const struct kernel *k, enum kernel_start form, uint64_t iterations, uint8_t *memory, uint64_t *result)
{
	uint64_t at = 512, *p = (uint64_t *)(memory + START_ARRAY);

	switch (form) {
	case START_NONE:
		*result = k->instructions ? 16 * iterations : 0;
		if (!strcmp(k->name, "k_imul_chain")) {
			uint32_t product = 3;

			for (uint64_t i = 0; i < 16 * iterations; i++)
				product *= 3;
			*result = product;
		}
		return true;
	case START_CHASE:
		*result = SPACE_DATA;
		for (uint64_t i = 0; i < iterations * k->loads; i++)
			*result = *(uint64_t *)(memory + (*result - SPACE_DATA));
		return true;
	case START_STEP:
		*result = k->loads ? *(uint64_t *)(memory + 64 * (iterations - 1)) : SPACE_DATA + 64 * iterations;
		return true;
	case START_STREAMS:
		if (!strcmp(k->name, "k_store_wait") || !strcmp(k->name, "k_store_rfo")) {
			for (uint64_t left = iterations; left; left--, at = (5 * at + 128) & 4095)
				memcpy(memory + START_ARRAY + at + (at & 1024 ? 64 : 0), &left, 8);
			*result = at;
			return true;
		}
		for (uint64_t i = 0; i < iterations; i++, at = (at + k->step_bytes) & 4095)
			for (unsigned e = 0; e < k->step_bytes; e += 8)
				stream_in_c(k, memory + START_ARRAY, at + e, e);
		*result = at;
		return true;
	case START_CHASE_STOP:
		*result = SPACE_DATA;
		for (uint64_t i = 0; i < iterations * k->loads; i++)
			*result = *(uint64_t *)(memory + (*result - SPACE_DATA));
		p[0] = 7;
		return true;
	case START_SHARE:
		p[0] += iterations * k->stores;
		*result = 0;
		if (k->stores > 1)
			p[128] = 7;
		return k->stores == 1;
	case START_INJECT:
		*result = iterations;
		return true;
	case START_ZERO:
		*result = 0;
		return true;
	case START_UNKNOWN:
	case START_COUNT:
	case START_BUFFER:
	case START_CODE:
	case START_CHOICES:
	case START_MIXED:
		break;
	}
	return false;
}

/* --- natively ---------------------------------------------------------------------------------- */

/* Calls entry with the general registers, except RSP, of gpr[] and vector registers of zero; stores them and vector registers 0 and 15. */
static void call_native(uint64_t entry, uint64_t gpr[GPRS], uint64_t vec[16][4], bool avx)
{
	uint64_t block[2] = { entry, avx }, *block_at = block;

	__asm__ volatile(
		"lea -256(%%rsp), %%rsp\n\t" /* beyond the red zone */
		"push %%rbx\n\tpush %%rbp\n\tpush %%r12\n\tpush %%r13\n\tpush %%r14\n\tpush %%r15\n\t"
		"push %%rdx\n\tpush %%rcx\n\tpush %%rsi\n\t" /* vec, block, gpr: with the entry 10 pushes, which keep the stack aligned for the call */
		"cmpq $0, 8(%%rcx)\n\tje 1f\n\tvzeroall\n\tjmp 2f\n"
		"1:\n\t"
		"pxor %%xmm0, %%xmm0\n\tpxor %%xmm15, %%xmm15\n"
		"2:\n\t"
		"mov %%rsi, %%r15\n\t"
		"mov 0(%%r15), %%rax\n\tmov 8(%%r15), %%rcx\n\tmov 16(%%r15), %%rdx\n\tmov 24(%%r15), %%rbx\n\t"
		"mov 40(%%r15), %%rbp\n\tmov 48(%%r15), %%rsi\n\tmov 56(%%r15), %%rdi\n\tmov 64(%%r15), %%r8\n\t"
		"mov 72(%%r15), %%r9\n\tmov 80(%%r15), %%r10\n\tmov 88(%%r15), %%r11\n\tmov 96(%%r15), %%r12\n\t"
		"mov 104(%%r15), %%r13\n\tmov 112(%%r15), %%r14\n\tmov 120(%%r15), %%r15\n\t"
		"push %%rax\n\tmov 16(%%rsp), %%rax\n\tmov (%%rax), %%rax\n\txchg %%rax, (%%rsp)\n\t" /* entry on the stack */
		"call *(%%rsp)\n\t"
		"xchg %%rax, 8(%%rsp)\n\t" /* saves RAX, loads gpr */
		"mov %%rcx, 8(%%rax)\n\tmov %%rdx, 16(%%rax)\n\tmov %%rbx, 24(%%rax)\n\tmov %%rbp, 40(%%rax)\n\t"
		"mov %%rsi, 48(%%rax)\n\tmov %%rdi, 56(%%rax)\n\tmov %%r8, 64(%%rax)\n\tmov %%r9, 72(%%rax)\n\t"
		"mov %%r10, 80(%%rax)\n\tmov %%r11, 88(%%rax)\n\tmov %%r12, 96(%%rax)\n\tmov %%r13, 104(%%rax)\n\t"
		"mov %%r14, 112(%%rax)\n\tmov %%r15, 120(%%rax)\n\t"
		"mov 8(%%rsp), %%rcx\n\tmov %%rcx, 0(%%rax)\n\t"
		"add $16, %%rsp\n\tpop %%rcx\n\tpop %%rdx\n\t"
		"cmpq $0, 8(%%rcx)\n\tje 3f\n\t"
		"vmovdqu %%ymm0, (%%rdx)\n\tvmovdqu %%ymm15, 480(%%rdx)\n\tjmp 4f\n"
		"3:\n\t"
		"movdqu %%xmm0, (%%rdx)\n\tmovdqu %%xmm15, 480(%%rdx)\n"
		"4:\n\t"
		"pop %%r15\n\tpop %%r14\n\tpop %%r13\n\tpop %%r12\n\tpop %%rbp\n\tpop %%rbx\n\t"
		"lea 256(%%rsp), %%rsp"
		: "+S"(gpr), "+c"(block_at), "+d"(vec) : : "rax", "rdi", "r8", "r9", "r10", "r11", "memory", "cc",
		"xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",
		"xmm13", "xmm14", "xmm15");
}

/* --- interpreted ------------------------------------------------------------------------------- */

struct interpreted {
	uint8_t *memory;                 /* START_BYTES bytes at SPACE_DATA */
	uint8_t stack[4096];             /* below SHADOW_STACK */
	uint64_t instructions, loads, stores, bytes;
};

static void *shadow(void *self, uint64_t va, unsigned bytes, bool write)
{
	struct interpreted *s = self;

	(void)write;
	if (va >= SPACE_DATA && va + bytes <= SPACE_DATA + START_BYTES)
		return s->memory + (va - SPACE_DATA);
	if (va >= SHADOW_STACK - sizeof(s->stack) && va + bytes <= SHADOW_STACK)
		return s->stack + (va - (SHADOW_STACK - sizeof(s->stack)));
	return NULL;
}

/* Interprets a kernel up to its return and counts; the return's load is not counted. */
static void interpret(struct interpreted *s, struct hart_regs *regs)
{
	static const struct exec_range none[EXEC_RANGES];
	struct exec_env env = { .self = s, .memory = shadow, .ranges = none };
	size_t code_bytes = (size_t)(kernel_code_end - kernel_code);

	regs->gpr[RN_RSP] = SHADOW_STACK - 8;
	memcpy(s->stack + sizeof(s->stack) - 8, &(uint64_t){ RETURN_TO }, 8);
	while (regs->rip != RETURN_TO) {
		struct insn in;
		struct effects e;
		uint8_t vector = 0;
		unsigned bad = 0;
		uint64_t offset = regs->rip - SPACE_CODE;

		if (offset >= code_bytes)
			fail_msg("RIP 0x%llx is outside the kernels", (unsigned long long)regs->rip);
		if (decode(kernel_code + offset, code_bytes - offset, &in, &bad) != ST_OK)
			fail_msg("offset 0x%llx: not decoded", (unsigned long long)offset);
		memset(&e, 0, sizeof(e));
		if (exec(regs, &in, &env, &e, &vector) != ST_OK)
			fail_msg("offset 0x%llx: vector %u", (unsigned long long)offset, vector);
		s->instructions++;
		if (regs->rip == RETURN_TO)
			break;
		s->loads += in.load;
		s->stores += in.store;
		s->bytes += (in.load ? e.load_bytes : 0) + (in.store ? e.store_bytes : 0);
	}
}

/* --- the comparison ---------------------------------------------------------------------------- */

static void gprs_of(const struct kernel *k, enum kernel_start form, uint64_t iterations, uint64_t gpr[GPRS])
{
	static const unsigned order[6] = { RN_RDI, RN_RSI, RN_RDX, RN_RCX, 8, 9 };
	uint64_t a[6];

	for (unsigned i = 0; i < GPRS; i++)
		gpr[i] = 0x1111111111111111ull * i; /* only the arguments may affect the result */
	kernel_start_arguments(k, form, iterations, a);
	for (unsigned i = 0; i < 6; i++)
		gpr[order[i]] = a[i];
}

static enum kernel_start start_of(const struct kernel *k)
{
	enum kernel_start start = kernel_start_find(k->name);
	if (start == START_UNKNOWN)
		fail_msg("%s has no start in kernel_start.c: give it one", k->name);
	return start;
}

static bool is_wrapper(const struct kernel *k)
{
	return !strncmp(k->name, "k_measure", 9); /* it calls kernels, and every measurement of the suite runs it */
}

/* Interprets a kernel from the common start. */
static void run_interpreted(const struct kernel *k, uint64_t iterations, struct interpreted *s, struct hart_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	memset(s->stack, 0, sizeof(s->stack));
	s->instructions = s->loads = s->stores = s->bytes = 0;
	kernel_start_fill(s->memory);
	gprs_of(k, start_of(k), iterations, regs->gpr);
	regs->rip = SPACE_CODE + k->offset;
	regs->rflags = 2;
	regs->mxcsr = 0x1F80;
	regs->x87.control = 0x37F; /* as FNINIT leaves it */
	regs->x87.tag = 0xFFFF;
	interpret(s, regs);
}

static const uint64_t counts[] = { 1, 3, 17 };

static void test_kernels_compute_what_their_pseudo_code_says(void **state)
{
	(void)state;
	struct interpreted *s = calloc(1, sizeof(*s));
	uint8_t *reference = malloc(START_BYTES);
	s->memory = malloc(START_BYTES);
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		for (unsigned i = 0; i < COUNT_OF(counts) && !is_wrapper(k); i++) {
			struct hart_regs regs;
			uint64_t result = 0;
			run_interpreted(k, counts[i], s, &regs);
			kernel_start_fill(reference);
			if (!in_c(k, start_of(k), counts[i], reference, &result))
				continue; /* compared with the processor's own result below */
			if (regs.gpr[RN_RAX] != result || memcmp(reference, s->memory, START_BYTES))
				fail_msg("%s, %llu iterations: result 0x%llx instead of 0x%llx, or memory differs", k->name,
				         (unsigned long long)counts[i], (unsigned long long)regs.gpr[RN_RAX], (unsigned long long)result);
		}
	free(reference);
	free(s->memory);
	free(s);
}

static void test_kernels_counts_are_what_their_records_say(void **state)
{
	(void)state;
	struct interpreted *s = calloc(1, sizeof(*s));
	s->memory = malloc(START_BYTES);
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++) {
		struct hart_regs regs;
		struct interpreted few, many;
		if (is_wrapper(k))
			continue;
		run_interpreted(k, 3, s, &regs);
		few = *s;
		run_interpreted(k, 17, s, &regs);
		many = *s;
		const uint64_t found[] = { (many.instructions - few.instructions) / 14, (many.loads - few.loads) / 14,
			(many.stores - few.stores) / 14, (many.bytes - few.bytes) / 14, many.instructions - 17ull * k->instructions };
		const uint64_t recorded[] = { k->instructions, k->loads, k->stores, k->data_bytes, k->fixed_instructions };
		for (unsigned i = 0; i < COUNT_OF(recorded); i++)
			if (found[i] != recorded[i])
				fail_msg("%s: %s: the record says %llu, counted %llu", k->name,
				         (const char *[]){ "instructions", "loads", "stores", "bytes", "fixed instructions" }[i],
				         (unsigned long long)recorded[i], (unsigned long long)found[i]);
		assert_int_equal(many.instructions - few.instructions, 14ull * k->instructions);
	}
	free(s->memory);
	free(s);
}

/* Registers and memory after the native run equal the interpreted ones. */
static void test_kernels_native_and_interpreted_end_equal(void **state)
{
	(void)state;
	struct native *native;
	struct cpu cpu;
	char problem[128] = "";
	struct interpreted *s = calloc(1, sizeof(*s));
	s->memory = malloc(START_BYTES);
	if (native_open(&native, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	const struct access *a = native_access(native);
	struct mapping m = { .va = SPACE_DATA, .bytes = START_BYTES, .page_bytes = PAGE_4K };
	unsigned compared = 0;
	assert_int_equal(cpu_identify(a, &cpu), ST_OK);
	assert_int_equal(a->ops->map(a->self, &m), ST_OK);
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		for (unsigned i = 0; i < COUNT_OF(counts) && !is_wrapper(k); i++) {
			struct hart_regs regs;
			uint64_t gpr[GPRS], vec[16][4] = { { 0 } };
			bool avx = cpu.isa & ISA_AVX;
			if (k->isa & ~cpu.isa) {
				if (i == 0)
					print_message("# %s: this processor cannot run it\n", k->name);
				continue;
			}
			run_interpreted(k, counts[i], s, &regs);
			kernel_start_fill(m.host);
			gprs_of(k, start_of(k), counts[i], gpr);
			__builtin_ia32_ldmxcsr(0x1F80); /* clears the sticky flags of earlier code */
			call_native(SPACE_CODE + k->offset, gpr, vec, avx);
			for (unsigned r = 0; r < GPRS; r++)
				if (r != RN_RSP && gpr[r] != regs.gpr[r])
					fail_msg("%s: register %u: native 0x%llx, interpreted 0x%llx", k->name, r,
					         (unsigned long long)gpr[r], (unsigned long long)regs.gpr[r]);
			for (unsigned w = 0; w < (avx ? 4u : 2u); w++)
				if (vec[0][w] != regs.vec[0][w] || vec[15][w] != regs.vec[15][w])
					fail_msg("%s: vector register 0 or 15 differs in word %u", k->name, w);
			assert_memory_equal(m.host, s->memory, START_BYTES);
			compared++;
		}
	assert_true(compared >= 30);
	assert_int_equal(a->ops->unmap(a->self, &m), ST_OK);
	native_close(native);
	free(s->memory);
	free(s);
}

/* --- placement of jumps ------------------------------------------------------------------------- */

#define JUMPS_MAX 64u
#define LINE_OF_JUMPS 32u

struct jump { uint64_t from, end, target; }; /* from: start of the jump, or of the instruction that may fuse with it */

/* The jumps of a kernel's code at their addresses in SPACE_CODE, in order. */
static unsigned jumps_of(const struct kernel *k, struct jump *out)
{
	const uint8_t *code = kernel_code + k->offset;
	unsigned n = 0, bad;
	struct insn in, before = { 0 };
	bool falls = true; /* INT3 fills the bytes after a jump */

	for (uint32_t at = 0; at < k->bytes; at += in.length) {
		if (!falls && code[at] == 0xCC) {
			in.length = 1;
			continue;
		}
		assert_int_equal(decode(code + at, k->bytes - at, &in, &bad), ST_OK);
		const uint64_t va = SPACE_CODE + k->offset + at;
		falls = !in.branch || in.conditional || in.call;
		if (in.branch) {
			assert_true(n < JUMPS_MAX);
			out[n++] = (struct jump){ in.conditional && before.fusible_first ? va - before.length : va, va + in.length,
				in.indirect ? UINT64_MAX : va + in.length + (uint64_t)in.immediate };
		}
		before = in;
	}
	return n;
}

/* The erratum of jumps (asm/kernel.inc): no jump in a loop crosses a multiple of 32 bytes or ends at one. */
static void test_kernels_jumps_of_loops_lie_within_32_bytes(void **state)
{
	(void)state;
	struct jump jumps[JUMPS_MAX];
	unsigned looked = 0, wrong = 0;

	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++) {
		const unsigned n = is_wrapper(k) || !strncmp(k->name, "k_warm", 6) ? 0 : jumps_of(k, jumps); /* warm-up runs outside windows */
		for (unsigned i = 0; i < n; i++) {
			bool repeated = false;
			for (unsigned l = 0; l < n; l++)
				repeated |= jumps[l].target <= jumps[l].from && jumps[l].target <= jumps[i].from && i <= l;
			looked += repeated;
			if (!repeated || jumps[i].from / LINE_OF_JUMPS == jumps[i].end / LINE_OF_JUMPS)
				continue;
			fprintf(stderr, "%s: a jump from 0x%llx to 0x%llx\n", k->name, (unsigned long long)jumps[i].from, (unsigned long long)jumps[i].end);
			wrong++;
		}
	}
	fprintf(stderr, "%u jumps\n", looked);
	assert_int_equal(wrong, 0);
	assert_true(looked >= kernel_table_end - kernel_table - 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernels_compute_what_their_pseudo_code_says),
		cmocka_unit_test(test_kernels_counts_are_what_their_records_say),
		cmocka_unit_test(test_kernels_native_and_interpreted_end_equal),
		cmocka_unit_test(test_kernels_jumps_of_loops_lie_within_32_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
