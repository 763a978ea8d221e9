/* efi/network/transfer.h: transfers a file from or to a server by HTTP, HTTPS or TFTP. The time is limited to TRANSFER_S seconds, plus a
 * second for each TRANSFER_BYTES_S bytes sent. */
#ifndef EFI_NETWORK_TRANSFER_H
#define EFI_NETWORK_TRANSFER_H

#include "efi/network/network.h"

#define TRANSFER_S       10u
#define TRANSFER_BYTES_S 100000u

/* The outcome. TRANSFER_DONE: the server has the file. TRANSFER_EXISTS: the server had a file of this name. */
enum transfer { TRANSFER_DONE, TRANSFER_EXISTS, TRANSFER_MISSING, TRANSFER_REFUSED, TRANSFER_FAILED };
struct transfer_answer {
	enum transfer is;
	unsigned code;            /* HTTP's status, or TFTP's error code; 0: no answer */
	enum status status;       /* ST_OK: the server answered; else why not */
	bool no_tls;              /* https, and the firmware has no TLS */
	size_t bytes;             /* of the downloaded file */
};

/* Reads at most `most` bytes; a longer file is TRANSFER_FAILED with ST_FULL. */
void transfer_get(const struct network *n, const char *address, char *to, size_t most, struct transfer_answer *out);
void transfer_put(const struct network *n, const char *address, const void *bytes, size_t count, struct transfer_answer *out);
/* Writes why a transfer failed, in one line. */
void transfer_reason(char *to, size_t capacity, const struct transfer_answer *a);

/* By protocol; transfer_get and transfer_put choose. `to` NULL: `bytes` are sent. */
struct transfer_job { const struct address *address; const char *text; char *to; const void *bytes; size_t count; };
void transfer_http(const struct network *n, const struct transfer_job *j, struct transfer_answer *out);
void transfer_tftp(const struct network *n, const struct transfer_job *j, struct transfer_answer *out);

#endif
