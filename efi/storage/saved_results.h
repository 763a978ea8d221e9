/* efi/storage/saved_results.h: a run's files, kept in memory to be shown and saved again (on another stick, or on one that
 * was write-protected). */
#ifndef EFI_SAVED_RESULTS_H
#define EFI_SAVED_RESULTS_H

#include "bench/report/screen_pages.h"
#include "efi/storage/files.h"

struct saved_results_text { char *at; size_t bytes, pages_bytes; bool lost; };

struct saved_results {
	struct saved_results_text journal, machine, results;
	struct document document;          /* of `results`; count 0: none */
	size_t node_bytes, string_bytes;
};

/* Append to and replace the copy of a file. If memory runs out, only the copy is lost. */
void saved_results_append(struct saved_results_text *t, const void *bytes, size_t n);
void saved_results_write(struct saved_results_text *t, const void *bytes, size_t n);
/* Parses the results for display. False: there are none. */
bool saved_results_open(struct saved_results *k);
void saved_results_put(struct saved_results *k);
/* Saves all files of the run in a new directory PREFIX-NNNN of the current volume. ST_MISSING: the kept copy is incomplete,
 * or there is no volume. */
MUST_CHECK enum status saved_results_save(struct saved_results *k, struct files *files, const char *prefix);

#endif
