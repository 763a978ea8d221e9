/* efi/storage/resume.h: what earlier boots left: a run that broke off, starts that came to nothing, a series of boots.
 *
 * \stallmeter\state.txt holds `starts`, how many starts in succession did not end a single row, and, while a run is
 * repeated over several boots, `series` (the runs' numbers) and `key` (of suite_key). It may be missing or damaged:
 * then all of it is none. */
#ifndef EFI_RESUME_H
#define EFI_RESUME_H

#include "efi/app/config.h"

#define STARTS_MAX 3u /* a start that follows so many that came to nothing does not run */

struct state {
	unsigned starts;
	uint64_t key;
	unsigned series[BOOT_VARIANCE_MAX], done; /* runs of the series so far */
	bool kept;                        /* the file could be written last time */
};

/* Reads the state and counts this start. False: there were too many in succession; the count starts anew. */
bool state_begin(struct state *s, struct files *files);
/* A row has ended: this start has come to something. */
void state_progress(struct state *s, struct files *files);
/* Notes a run of a series of `boots` and whether another boot is to follow. */
bool state_series(struct state *s, struct files *files, uint64_t key, unsigned boots);

/* The series is over. */
void state_end(struct state *s, struct files *files);

enum resume { RESUME_NEW, RESUME_ROWS, RESUME_FILES };
struct earlier_run {
	char name[FILE_NAME_MAX];
	char *journal;            /* whole lines */
	size_t bytes, pages_bytes;
};
/* Looks at the last run of the prefix: RESUME_ROWS, it is of this key and has no end; RESUME_FILES, it has its end but
 * not all its files; else RESUME_NEW. What is damaged is told in one line. resume_put gives the memory back. */
enum resume resume_find(struct files *files, const char *prefix, uint64_t key, struct earlier_run *out);
void resume_put(struct earlier_run *e);

/* Spread between the boots of a series, into the run's directory: boots.json and boots.csv. */
MUST_CHECK enum status series_write(const struct state *s, struct files *files, const char *prefix);

#endif
