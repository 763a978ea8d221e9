/* efi/firmware/serial.h: sends the lines of a run's files over the serial line, so that its log is a complete copy of the run.
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
	void (*working)(void *self); /* called after each part: a line of all pairs of hundreds of processors takes minutes. NULL: none */
	void *self;
};

/* Begins a run, or continues one after its journal, whose last line is sent again: it may not have reached the serial line when the machine
 * stopped. */
void serial_begin(struct serial *s, const char *run, const char *journal, size_t n);
/* Sends complete lines that were appended to the journal. */
void serial_journal(struct serial *s, const char *bytes, size_t n);
/* Sends all lines of another file. */
void serial_file(const struct serial *s, char file, const char *bytes, size_t n);

#endif
