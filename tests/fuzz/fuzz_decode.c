/* Fuzzes the decoder and the interpreter: any bytes, no more of them read than there are, every decoded
 * instruction carried out on a small memory. The first 8 bytes of the input choose registers. max_len=40 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "pmu/sim/isa/decode.h"
#include "pmu/sim/isa/exec.h"
#include "pmu/sim/isa/ops.h"
#include "tests/unit/support/sim_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BASE 0x200000000000ull
#define BYTES 1024u

static uint8_t *memory_bytes;

static void *memory(void *self, uint64_t va, unsigned bytes, bool write)
{
	(void)self;
	(void)write;
	if (va < BASE || va - BASE > BYTES - bytes)
		return NULL;
	return memory_bytes + (va - BASE);
}

static enum status number(void *self, uint32_t index, uint64_t *value)
{
	(void)self;
	*value = index * 0x9E3779B97F4A7C15ull;
	return index & 1 ? ST_FAULT : ST_OK;
}

static enum status tsc(void *self, uint64_t *value)
{
	(void)self;
	*value = 12345;
	return ST_OK;
}

static enum status cpuid(void *self, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	(void)self;
	out[0] = leaf, out[1] = subleaf, out[2] = 0, out[3] = 0;
	return ST_OK;
}

/* What every decoded instruction must obey. */
static void check(const struct insn *in, size_t available)
{
	unsigned i;

	if (!in->length || in->length > 15 || in->length > available || in->op >= OP_COUNT || in->class >= UC_COUNT)
		abort();
	if (in->read_count > COUNT_OF(in->reads) || in->write_count > COUNT_OF(in->writes) || in->kind >= KIND_COUNT)
		abort();
	for (i = 0; i < in->read_count; i++)
		if (in->reads[i] >= RN_COUNT)
			abort();
	for (i = 0; i < in->write_count; i++)
		if (in->writes[i] >= RN_COUNT)
			abort();
	if ((in->load || in->store) && (!in->memory_bytes || in->memory_bytes > 64))
		abort();
	if (in->operand_bytes & (in->operand_bytes - 1) || in->operand_bytes > 64 || in->vdst > 31 || in->vsrc1 > 31 || in->vsrc2 > 31)
		abort();
	if (*op_name(in->op) == 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct exec_range none[EXEC_RANGES];
	const struct exec_env env = {.memory = memory, .rdpmc = number, .rdtsc = tsc, .cpuid = cpuid, .ranges = none};
	struct hart_regs regs;
	uint64_t seed = 1;
	uint8_t *bytes;
	size_t at = 0;
	unsigned i, failures = 0;

	if (size < 9 || size > 256)
		return 0;
	memcpy(&seed, data, 8);
	data += 8;
	size -= 8;
	bytes = malloc(size); /* its own block: the sanitizer sees a byte too far */
	memcpy(bytes, data, size);
	memory_bytes = malloc(BYTES);
	exec_reset(&regs);
	for (i = 0; i < BYTES; i++)
		memory_bytes[i] = (uint8_t)((seed >> (i & 7) * 8) + i * (seed & 7));
	for (i = 0; i < 16; i++)
		regs.gpr[i] = seed >> i & 1 ? BASE + (seed >> (i + 8) & 0x3F) * 8 : seed * (2 * i + 1) >> (seed >> 16 & 63);
	for (i = 0; i < 32 * 8; i++)
		regs.vec[i / 8][i % 8] = (seed ^ i << (seed & 31)) * (i | 1);
	regs.mxcsr = 0x1F80 | (uint32_t)(seed & 0xE07F);
	while (at < size) {
		struct insn in;
		struct effects effects;
		unsigned bad = 99;
		uint8_t vector;
		uint64_t before = BASE + at;

		if (decode(bytes + at, size - at, &in, &bad) != ST_OK) {
			if (bad > 15 || bad > size - at)
				abort();
			if (++failures == 3) /* the rest of such an input teaches little */
				break;
			at++;
			continue;
		}
		check(&in, size - at);
		regs.rip = before;
		if (exec(&regs, &in, &env, &effects, &vector) == ST_OK) {
			if (effects.next_rip != regs.rip || regs.zero)
				abort();
			if (!in.branch && regs.rip != before + in.length)
				abort();
			if (in.load && in.op != OP_MOVS && effects.load_bytes != in.memory_bytes)
				abort();
			if (in.store && effects.store_bytes != in.memory_bytes)
				abort();
			if (!in.load && effects.load_bytes)
				abort();
			if (!in.store && effects.store_bytes)
				abort();
		} else if (regs.rip != before) {
			abort();
		}
		at += in.length;
	}
	free(memory_bytes);
	free(bytes);
	return 0;
}
