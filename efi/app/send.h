/* efi/app/send.h: a run's results to the server that the settings name. Without one nothing happens. */
#ifndef EFI_SEND_H
#define EFI_SEND_H

#include "efi/app/run.h"

/* Opens the network card and the upload of the run that r->files has open, if any; then sends what earlier boots of the stick
 * left. What cannot be had is said in one line, and the run goes on without. */
void send_begin(struct run *r);
/* The journal has grown. */
void send_journal(struct run *r, const struct saved_results_text *journal);
void send_file(struct run *r, const char *name, const void *bytes, size_t n);
/* Sends what is left. ST_OK: the server has all, or no server was named; then *to is the address of the run's folder, "" without. */
MUST_CHECK enum status send_end(struct run *r, char *to, size_t capacity);
/* All of the above for a run of one file. */
MUST_CHECK enum status send_alone(struct run *r, const char *name, const void *bytes, size_t n);

#endif
