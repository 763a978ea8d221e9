/* efi/app/send.h: sends a run's results to the server that the settings name. Without one nothing happens. */
#ifndef EFI_SEND_H
#define EFI_SEND_H

#include "efi/app/run.h"

/* Opens the network card and the upload of the run that r->files has open, if any; then sends the files that earlier boots of the stick left. A
 * failure is reported in one line, and the run continues without an upload. */
void send_begin(struct run *r);
/* The journal has grown. */
void send_journal(struct run *r, const struct saved_results_text *journal);
void send_file(struct run *r, const char *name, const void *bytes, size_t n);
/* Sends the remaining files. ST_OK: the server has all (*to: address of the run's folder), or no server was named (*to is ""). */
MUST_CHECK enum status send_end(struct run *r, char *to, size_t capacity);
/* All of the above for a run of one file. */
MUST_CHECK enum status send_alone(struct run *r, const char *name, const void *bytes, size_t n);

#endif
