/* pmu/base.h: definitions for every layer: integer types, statuses, a few helpers.
 *
 * The layers below efi/ and runner/ use no operating system and no C library: they are compiled freestanding, once, and the
 * same objects are linked into the UEFI application and the host command. */
#ifndef PMU_BASE_H
#define PMU_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The outcome of a call. Results go through pointers; no status is dropped. */
enum status {
	ST_OK = 0,
	ST_FAULT,       /* the processor raised #GP, #UD, #PF, #MC, ... */
	ST_TIMEOUT,     /* a limit ran out; a core did not answer */
	ST_UNSUPPORTED, /* this machine or backend has no such thing */
	ST_REFUSED,     /* a register or address that the description does not list */
	ST_RANGE,       /* a number outside the allowed range */
	ST_SYNTAX,      /* a text that does not parse */
	ST_FULL,        /* no space: buffer, file system, table */
	ST_IO,          /* a device or file failed to do what was requested */
	ST_MISSING,     /* a name that does not exist */
	ST_BROKEN,      /* an invariant of our own does not hold */
	ST_STOPPED,     /* the user asked to stop */
	ST_COUNT
};

/* Name of a status in lower case, for messages and results files. */
const char *status_name(enum status s);

#define MUST_CHECK __attribute__((warn_unused_result))
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* gcc may emit calls to these by itself; efi/ supplies them, the host has libc's. */
void *memcpy(void *restrict to, const void *restrict from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);

/* An emulator chains blocks of translated code without a lookup only within a page (QEMU, translator_use_goto_tb). So a
 * function that runs for each simulated instruction or line begins on its own page. */
#define OWN_PAGE __attribute__((noinline, aligned(4096)))

#endif
