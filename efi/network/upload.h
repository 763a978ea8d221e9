/* efi/network/upload.h: uploads a run's journal and files during the run: PUT by HTTP or HTTPS, or TFTP's write.
 *
 * Names. Each run has its own folder below the address in the settings, NAME-MAC-NNNN: NAME as on the stick; MAC of the network
 * card, so that two machines never use the same folder; NNNN the first unused number, under which the server accepts run.txt, the
 * first file of each run. If the server does not create folders (it answers 409, RFC 4918 9.7.1; TFTP has none), the last slash is a
 * dash. The journal is sent in pieces, journal-OFFSET.jsonl, named after their offset in it, and finally as a whole, as journal.jsonl,
 * with the other files.
 *
 * A piece or file counts as sent if the server answered 2xx (TFTP: acknowledged the last block) or, if its bytes had been sent before
 * without an answer, if the server answers that it exists. The rest is kept and sent again: at the next row after 5, 10, 20,
 * 40, 60 s, at the end for UPLOAD_END_S seconds, and from the stick in a later boot: upload.txt in the run's directory records what the
 * server has. */
#ifndef EFI_NETWORK_UPLOAD_H
#define EFI_NETWORK_UPLOAD_H

#include "efi/network/transfer.h"
#include "efi/platform/clock.h"
#include "efi/storage/files.h"

#define UPLOAD_EVERY_S  5u    /* between two pieces of the journal */
#define UPLOAD_END_S    120u  /* of attempts after the run */
#define UPLOAD_FILES    12u
#define UPLOAD_NAME     64u
#define UPLOAD_DIR      (ADDRESS_TEXT + FILE_NAME_MAX)

struct upload_file { char name[UPLOAD_NAME]; char *at; size_t bytes; bool tried; };

struct upload {
	const struct network *network;
	const struct clock *clock;
	struct files *files;
	char to[ADDRESS_TEXT];        /* from the settings, with a slash at the end */
	char run[FILE_NAME_MAX];      /* NAME-MAC */
	char dir[UPLOAD_DIR];         /* address of the run's folder, with its slash or dash; "" until the server has accepted run.txt */
	unsigned number;
	char separator;
	const char *journal;          /* all of it; the caller keeps the memory */
	size_t journal_bytes, sent;   /* the server has its first `sent` bytes */
	size_t piece_end;             /* end of the piece being sent, so that a retry sends the same bytes; 0: none */
	unsigned piece_again;         /* number of pieces of this offset that the server already has from an earlier boot */
	struct upload_file file[UPLOAD_FILES]; /* not sent yet */
	unsigned count;
	bool resumed;                 /* an earlier boot may have sent any of its files: one that exists on the server is this run's */
	bool lost;                    /* memory ran out, and a file is not kept */
	bool hopeless;                /* the firmware cannot reach such an address at all: there are no further attempts */
	bool conflict;                /* the server has a file of another machine in our folder */
	unsigned failures;            /* consecutive */
	uint64_t next;                /* earliest time of the next attempt, ms of the TSC */
	char printed[ADDRESS_TEXT];      /* the last reason that was printed */
};

/* `to`: an address that address_parse accepts. `name`: the run's, without its number. Sends nothing yet. */
void upload_open(struct upload *u, const struct network *n, const struct clock *clock, struct files *files, const char *to, const char *name);
/* Continues the upload that an earlier boot began for the run that `files` has open, if upload.txt records one. */
void upload_resume(struct upload *u);
/* Reports the journal's new length, and uploads the parts that are due. */
void upload_journal(struct upload *u, const char *journal, size_t bytes);
/* Queues a complete file; it is sent with the next transfers that are due. */
void upload_file(struct upload *u, const char *name, const void *bytes, size_t n);
/* Uploads the rest, calling `feed` (for the watchdog) between attempts; Esc ends it. ST_OK: the server has all. */
MUST_CHECK enum status upload_finish(struct upload *u, void (*feed)(const void *self), const void *self);
/* Sends the runs on the stick that the server does not have completely, as long as it answers. */
void upload_earlier(struct upload *u, void (*feed)(const void *self), const void *self);
void upload_close(struct upload *u);

#endif
