/* efi/app/resume.h: the state that earlier boots left: an interrupted run, boots that completed nothing, a series of boots.
 *
 * \stallmeter\state.txt holds `starts`, the number of consecutive starts that completed nothing, and, while a run is
 * repeated over several boots, `series` (the runs' numbers) and `key` (of suite_key). `processors` is the first method of starting
 * the other processors that has not hung, `starting` tells that a start is in progress. If the file is missing or damaged, there is
 * no state. */
#ifndef EFI_RESUME_H
#define EFI_RESUME_H

#include "efi/app/config.h"
#include "efi/network/upload.h"

#define STARTS_MAX 3u /* after this many starts that completed nothing, the next one does not run */

struct resume_state {
	unsigned starts;
	uint64_t key;
	unsigned series[BOOT_VARIANCE_MAX], done; /* runs of the series so far */
	enum start processors;            /* the first method that has not hung */
	bool starting;
	bool saved;                       /* the last write of the file succeeded */
};

/* Reads the state and counts this start. False: too many consecutive starts completed nothing; the count is reset. */
bool resume_begin(struct resume_state *s, struct files *files);
/* A row has ended, or the application ended by itself: this start has completed something. */
void resume_progress(struct resume_state *s, struct files *files);
/* Chooses the method of starting the processors, not an earlier one than `wish`, and records it before it is used. resume_started: it returned. */
enum start resume_start(struct resume_state *s, struct files *files, enum start wish);
void resume_started(struct resume_state *s, struct files *files);
/* Records a run of a series of `boots`; returns whether another boot follows. */
bool resume_series(struct resume_state *s, struct files *files, uint64_t key, unsigned boots);

/* The series is over. */
void resume_end(struct resume_state *s, struct files *files);

enum resume { RESUME_NEW, RESUME_ROWS, RESUME_FILES };
struct earlier_run {
	char name[FILE_NAME_MAX];
	char *journal;
	size_t bytes, all_bytes, pages_bytes; /* of its complete lines; with an incomplete last one, which the run overwrites */
};
/* Examines the last run of the prefix: RESUME_ROWS: it has this key and no end; RESUME_FILES: it has its end but not all
 * its files; else RESUME_NEW. Damage is reported in one line. resume_put frees the memory. */
enum resume resume_find(struct files *files, const char *prefix, uint64_t key, struct earlier_run *out);
void resume_put(struct earlier_run *e);

/* Writes the spread between the boots of a series into the run's directory, and to the server if `u` is not NULL: boots.json
 * and boots.csv. */
MUST_CHECK enum status resume_series_write(const struct resume_state *s, struct files *files, const char *prefix, struct upload *u);

#endif
