/* efi/storage/saved_results.h: what a run wrote, kept in memory: to be shown, and to be saved once more (on another stick, or on one that
 * was write-protected). */
#ifndef EFI_KEPT_H
#define EFI_KEPT_H

#include "bench/report/screen_pages.h"
#include "efi/storage/files.h"

struct saved_results_text { char *at; size_t bytes, pages_bytes; bool lost; };

struct saved_results {
	struct saved_results_text journal, machine, results;
	struct document document;          /* of `results`; count 0: none */
	size_t node_bytes, string_bytes;
};

/* Memory that is short loses what is kept, and nothing else. */
void saved_results_append(struct saved_results_text *t, const void *bytes, size_t n);
void saved_results_write(struct saved_results_text *t, const void *bytes, size_t n);
/* Reads the results, to be shown. False: there are none. */
bool saved_results_open(struct saved_results *k);
void saved_results_put(struct saved_results *k);
/* All files of the run into a new directory PREFIX-NNNN of the volume that is there now. ST_MISSING: nothing whole was
 * kept, or there is no volume. */
MUST_CHECK enum status saved_results_save(struct saved_results *k, struct files *files, const char *prefix);

#endif
