/* efi/storage/files.h: the volume that the application was booted from: reads settings, writes results. */
#ifndef EFI_FILES_H
#define EFI_FILES_H

#include "efi/firmware/uefi.h"

#define FILE_NAME_MAX 96
#define RUN_PATH_MAX  200

/* Our folder on the volume; a name without a leading backslash is relative to it. */
#define FILES_FOLDER "\\stallmeter"

struct files {
	EFI_FILE_HANDLE root;        /* NULL: no volume */
	EFI_FILE_HANDLE run;         /* this run's directory, NULL until files_begin_run */
	char run_path[RUN_PATH_MAX]; /* "\stallmeter\results\NAME" */
	EFI_FILE_HANDLE journal;     /* NULL until the first line of a new run */
	uint64_t journal_bytes;      /* of complete lines; an incomplete one may follow */
	enum status state;           /* why results cannot be written, ST_OK if they can. A failed medium is not accessed
	                                again before files_again, since each attempt can take a minute */
};

/* Opens the volume of the loaded image; if that came from no volume, such as over a network, the first volume that has our folder.
 * ST_MISSING: none. */
MUST_CHECK enum status files_open(struct files *f);
void files_close(struct files *f);
/* Reads a whole file of at most `most` bytes into pages that the caller frees (*pages_bytes). ST_MISSING, ST_FULL (too long or no
 * memory), ST_IO. An empty file is ST_OK with *bytes = 0. */
MUST_CHECK enum status files_read(struct files *f, const char *path, size_t most, char **text, size_t *bytes,
                                  size_t *pages_bytes);
/* Creates \stallmeter\results\PREFIX-NNNN with the next free number; changes nothing that exists. */
MUST_CHECK enum status files_begin_run(struct files *f, const char *prefix);
/* Name of the run PREFIX-NNNN with the highest number. ST_MISSING: there is none. */
MUST_CHECK enum status files_last_run(struct files *f, const char *prefix, char *name, size_t capacity);
/* Opens an existing run; its journal continues after that many bytes. */
MUST_CHECK enum status files_continue_run(struct files *f, const char *name, uint64_t journal_bytes);
/* Reopens volume, run and journal after a failure; the journal continues after its complete lines. `journal`: the text that was to be
 * written, so that a run of the same name on another medium is not changed. */
MUST_CHECK enum status files_again(struct files *f, const char *journal, size_t bytes);
/* Writes a text of at most FILES_SAVED_BYTES to a file of constant length in \stallmeter, padded with line feeds; possible before a
 * run, too. ST_RANGE: it is longer. */
#define FILES_SAVED_BYTES 512u
MUST_CHECK enum status files_save(struct files *f, const char *name, const void *bytes, size_t n);
/* The same in the directory of the open run (NULL) or of the run of that name. */
MUST_CHECK enum status files_save_of_run(struct files *f, const char *run, const char *name, const void *bytes, size_t n);
/* Calls `each` with the name of each run's directory. ST_OK even if there is none. */
MUST_CHECK enum status files_each_run(struct files *f, void (*each)(void *self, const char *run), void *self);
/* Write into the run's directory. files_append: to journal.jsonl, flushed before it returns. files_write: a complete file,
 * written with the extension .tmp, flushed, then renamed: a file with the final name is complete. An existing file with the
 * same content stays, one with other content gets the extension .old (or .ol2, ...). */
MUST_CHECK enum status files_append(struct files *f, const void *bytes, size_t n);
MUST_CHECK enum status files_write(struct files *f, const char *name, const void *bytes, size_t n);

#endif
