/* tests/judge/guest.c: runs the calls of a plan under QEMU's icount and says how many TSC ticks each took.
 *
 * With -icount shift=N,sleep=off the TSC advances by exactly 2^N ticks of 1 ns an instruction while
 * interrupts are off, so the difference between a call and one of k_empty is a count of instructions that is
 * independent of this project's interpreter. Prints "NAME TICKS" lines and "end" on port 0xE9. */
#include "asm/kernel.h"
#include "pmu/access.h"
#include "tests/judge/plan.h"

#define EXIT_PORT 0xF4 /* isa-debug-exit */

void judge_main(const uint32_t *multiboot);

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	void *at = to;
	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	void *at = to;
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(value) : "memory");
	return to;
}

static void out(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}

static void print(const char *s)
{
	while (*s)
		out(0xE9, (uint8_t)*s++);
}

static void print_number(uint64_t v)
{
	char digits[24];
	unsigned n = sizeof(digits);
	digits[--n] = 0;
	do
		digits[--n] = (char)('0' + v % 10);
	while (v /= 10);
	print(digits + n);
}

/* Instruction sets of this (emulated) processor that kernels may need: those that calls require. */
static uint32_t isa_here(void)
{
	uint32_t a = 1, b, c = 0, d, isa = ISA_CLFLUSHOPT | ISA_PREFETCHW | ISA_RDTSCP;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	isa |= (c & 1u << 19 ? ISA_SSE41 : 0) | (c & 1u << 9 ? ISA_SSSE3 : 0) | (c & 1u << 23 ? ISA_POPCNT : 0);
	isa |= (c & 1u << 28 ? ISA_AVX : 0) | (c & 1u << 12 ? ISA_FMA : 0);
	a = 7, c = 0;
	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return isa | (b & 1u << 5 ? ISA_AVX2 : 0) | (b & 1u << 16 ? ISA_AVX512 : 0);
}

/* The multiboot information: flag 3, module count at 20, address of the list at 24 (section 3.3). */
void judge_main(const uint32_t *multiboot)
{
	const struct judge_plan *plan = NULL;
	if (multiboot[0] & 8 && multiboot[5])
		plan = (const struct judge_plan *)(uintptr_t)*(const uint32_t *)(uintptr_t)multiboot[6];
	if (!plan || plan->magic != JUDGE_MAGIC) {
		print("no plan\n");
		out(EXIT_PORT, 1);
		return;
	}
	const uint8_t *memory = (const uint8_t *)&plan->call[plan->calls];
	struct measure_block *block = (struct measure_block *)SPACE_CONTROL;
	uint64_t (*measure)(struct measure_block *) = (uint64_t (*)(struct measure_block *))(SPACE_CODE + plan->measure);
	uint32_t isa = isa_here();

	memcpy((void *)SPACE_CODE, kernel_code, (size_t)(kernel_code_end - kernel_code));
	for (uint32_t i = 0; i < plan->calls; i++) {
		const struct judge_call *c = &plan->call[i];
		print(c->kernel);
		if (c->isa & ~isa) {
			print(" unsupported\n");
			continue;
		}
		memcpy((void *)SPACE_DATA, memory, plan->memory_bytes);
		memset(block, 0, sizeof(*block));
		block->kernel = SPACE_CODE + c->offset;
		memcpy(block->argument, c->argument, sizeof(c->argument));
		measure(block);
		print(" ");
		print_number(block->tsc_after - block->tsc_before);
		print("\n");
	}
	print("end\n");
	out(EXIT_PORT, 0x10);
}
