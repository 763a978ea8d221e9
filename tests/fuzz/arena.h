/* tests/fuzz/arena.h: libjansson's memory from one block that each execution begins anew: the reader's own allocations stay the
 * sanitizer's, the library's took most of the time. What the reader does not give back to the library ends the program. */
#ifndef FUZZ_ARENA_H
#define FUZZ_ARENA_H

#include <jansson.h>
#include <stdlib.h>

static struct { _Alignas(16) unsigned char at[1 << 20]; size_t used, live; } arena;

static void *arena_get(size_t n)
{
	n = (n + 15) & ~(size_t)15;
	if (n > sizeof(arena.at) - arena.used)
		return NULL;
	arena.live++;
	arena.used += n;
	return arena.at + arena.used - n;
}

static void arena_put(void *p)
{
	arena.live -= p != NULL;
}

static void arena_begin(void)
{
	json_set_alloc_funcs(arena_get, arena_put);
	arena.used = arena.live = 0;
}

static void arena_end(void)
{
	if (arena.live)
		abort();
}

#endif
