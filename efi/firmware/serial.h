/* efi/firmware/serial.h: the lines of a run's files on the serial line, so that its log is a complete copy of the run.
 *
 *   @sm TAG FILE LINE PART PARTS SUM TEXT
 *
 * TAG: 8 hex digits, a hash of the run's name, the same for all of its lines; FILE: n (one line, the run's directory), j
 * (journal.jsonl) or m (machine.txt); LINE from 1; a long line is split into PARTS, PART from 1; SUM: 8 hex digits over
 * everything from TAG to PARTS, a blank and TEXT (fnv1a64, both halves xored). runner/commands/fetch.c reads it. */
#ifndef EFI_SERIAL_H
#define EFI_SERIAL_H

#include "pmu/base.h"

struct serial {
	uint32_t tag;
	unsigned journal_line;
	void (*working)(void *self); /* called now and then: a line of all pairs of hundreds of processors takes minutes. NULL: nothing */
	void *self;
};

/* A run begins, or continues behind the journal that it has. The last line of that may not have reached the line when the machine stopped. */
void serial_begin(struct serial *s, const char *run, const char *journal, size_t n);
/* Bytes appended to the journal, complete lines. */
void serial_journal(struct serial *s, const char *bytes, size_t n);
/* All lines of another file. */
void serial_file(const struct serial *s, char file, const char *bytes, size_t n);

#endif
