/* tests/judge/stream.c: the chase that cachegrind watches: stream WORDS PASSES SEED
 *
 * The buffer starts on a 2 MiB boundary, so that its lines have the same set numbers as in a 2 MiB page of
 * the simulated machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "asm/kernel.h"
#include "tests/judge/ring.h"

#define MAXIMUM_BYTES 0x200000u

int main(int count, char **words)
{
	if (count != 4)
		return 2;
	uint32_t n = (uint32_t)strtoul(words[1], NULL, 10);
	uint64_t passes = strtoul(words[2], NULL, 10), seed = strtoul(words[3], NULL, 10);
	uint8_t *raw = mmap(NULL, 3 * MAXIMUM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t *order = malloc(n * sizeof(*order));
	size_t code_bytes = (size_t)(kernel_code_end - kernel_code);
	uint8_t *code = mmap(NULL, code_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (raw == MAP_FAILED || code == MAP_FAILED || !order || 8ull * n > MAXIMUM_BYTES)
		return 2;
	uint8_t *buffer = raw + (-(uintptr_t)raw & (MAXIMUM_BYTES - 1));
	ring_link((uint64_t *)buffer, (uint64_t)(uintptr_t)buffer, n, seed, order);
	memcpy(code, kernel_code, code_bytes);
	if (mprotect(code, code_bytes, PROT_READ | PROT_EXEC))
		return 2;
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (!strcmp(k->name, "k_chase")) {
			uint64_t (*chase)(uint64_t, uint64_t) = (uint64_t (*)(uint64_t, uint64_t))(uintptr_t)(code + k->offset);
			return chase((uint64_t)(uintptr_t)buffer, passes * n / k->loads) == 0;
		}
	return 2;
}
