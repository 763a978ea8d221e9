/* efi/firmware/string.c: functions that gcc may call implicitly and the firmware lacks. They use 8-byte words: an emulator
 * executes a string instruction element by element, each slower than a store. */
#include "pmu/base.h"

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	void *at = to;
	size_t words = bytes / 8;
	__asm__ volatile("rep movsq" : "+D"(at), "+S"(from), "+c"(words) : : "memory");
	bytes %= 8;
	__asm__ volatile("rep movsb" : "+D"(at), "+S"(from), "+c"(bytes) : : "memory");
	return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
	uint8_t *t = to;
	const uint8_t *f = from;
	if (t <= f || t >= f + bytes)
		return memcpy(to, from, bytes);
	for (; bytes >= 8; bytes -= 8) { /* from the end; nothing that is yet to be read lies behind what was read last */
		uint64_t eight;
		__builtin_memcpy(&eight, f + bytes - 8, 8);
		__builtin_memcpy(t + bytes - 8, &eight, 8);
	}
	while (bytes--)
		t[bytes] = f[bytes];
	return to;
}

void *memset(void *to, int value, size_t bytes)
{
	void *at = to;
	size_t blocks = bytes / 64, words = bytes % 64 / 8;
	uint64_t eight = 0x0101010101010101ull * (uint8_t)value;
	if (blocks)
		__asm__ volatile("1: mov %2, (%0)\n\tmov %2, 8(%0)\n\tmov %2, 16(%0)\n\tmov %2, 24(%0)\n\t"
		                 "mov %2, 32(%0)\n\tmov %2, 40(%0)\n\tmov %2, 48(%0)\n\tmov %2, 56(%0)\n\t"
		                 "add $64, %0\n\tdec %1\n\tjnz 1b"
		                 : "+D"(at), "+c"(blocks) : "a"(eight) : "memory", "cc");
	__asm__ volatile("rep stosq" : "+D"(at), "+c"(words) : "a"(eight) : "memory");
	bytes %= 8;
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(bytes) : "a"(eight) : "memory");
	return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
	const uint8_t *x = a, *y = b;
	for (size_t i = 0; i < bytes; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}
