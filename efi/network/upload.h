/* efi/network/upload.h: uploads a run's journal and files during the run: PUT by HTTP or HTTPS, or TFTP's write.
 *
 * Names. Each run has a folder of its own below the settings' address, NAME-MAC-NNNN: NAME as on the stick, MAC of the network
 * card, so that no two machines ever want the same one, NNNN the first number that the server has no run of: under which it takes
 * run.txt, the first file of each. Where the server
 * makes no folders (it says 409, RFC 4918 9.7.1; TFTP has none) the last slash is a dash. The journal comes in pieces,
 * journal-OFFSET.jsonl, whose bytes stand there in it; when it is complete, whole, as journal.jsonl, with the other files.
 *
 * What counts as sent. A piece or file for which the server answered 2xx (TFTP: the last block was acknowledged), or, when its
 * bytes had been put before without an answer, that it exists. All else is kept and put again: at the next row after 5, 10, 20,
 * 40, 60 s, at the end for UPLOAD_END_S seconds, and, with a stick, in a later boot of it: upload.txt beside the run says what the
 * server has. */
#ifndef EFI_NETWORK_UPLOAD_H
#define EFI_NETWORK_UPLOAD_H

#include "efi/network/transfer.h"
#include "efi/platform/clock.h"
#include "efi/storage/files.h"

#define UPLOAD_EVERY_S  5u    /* between two pieces of the journal */
#define UPLOAD_END_S    120u  /* of trying when the run is over */
#define UPLOAD_FILES    12u
#define UPLOAD_NAME     64u
#define UPLOAD_DIR      (ADDRESS_TEXT + FILE_NAME_MAX)

struct upload_file { char name[UPLOAD_NAME]; char *at; size_t bytes; bool tried; };

struct upload {
	const struct network *network;
	const struct clock *clock;
	struct files *files;
	char to[ADDRESS_TEXT];        /* from the settings, with a slash at its end */
	char run[FILE_NAME_MAX];      /* NAME-MAC */
	char dir[UPLOAD_DIR];         /* address of the run's folder, with its slash or dash; "" until the server has taken a first file */
	unsigned number;
	char separator;
	const char *journal;          /* the whole, in memory that the caller keeps */
	size_t journal_bytes, sent;   /* of it the server has the first `sent` bytes */
	size_t piece_end;             /* the piece being sent ends there: a piece that is sent again has the same bytes; 0: none */
	unsigned piece_again;         /* that many pieces of this offset, of an earlier boot, are there already */
	struct upload_file file[UPLOAD_FILES]; /* not sent yet */
	unsigned count;
	bool resumed;                 /* an earlier boot may have sent any of its files: one that is there is ours */
	bool lost;                    /* a file could not be kept for want of memory */
	bool hopeless;                /* the firmware cannot reach such an address at all: not tried again */
	bool conflict;                /* the server has a file of another machine in our folder */
	unsigned failures;            /* in a row */
	uint64_t next;                /* TSC before which nothing is tried */
	char printed[ADDRESS_TEXT];      /* the last reason that was printed */
};

/* `to`: an address that address_parse takes. `name`: the run's, without its number. No traffic yet. */
void upload_open(struct upload *u, const struct network *n, const struct clock *clock, struct files *files, const char *to, const char *name);
/* Continues the upload that an earlier boot began for the run that `files` has open, if upload.txt records one. */
void upload_resume(struct upload *u);
/* Reports the journal's new length, and uploads the parts that are due. */
void upload_journal(struct upload *u, const char *journal, size_t bytes);
/* A complete file: put at once, or kept. */
void upload_file(struct upload *u, const char *name, const void *bytes, size_t n);
/* Uploads the rest, with a call of `feed` (of the watchdog) between attempts; Esc ends it. ST_OK: the server has all. */
MUST_CHECK enum status upload_finish(struct upload *u, void (*feed)(const void *self), const void *self);
/* Runs on the stick that the server does not have whole: sent now, as far as it answers. */
void upload_earlier(struct upload *u, void (*feed)(const void *self), const void *self);
void upload_close(struct upload *u);

#endif
